//! Recognises a hook call that reports a prompt of the user, and records it for the agent's
//! process, where `agent-bash mcp` finds it. Commands of an agent that sets no variable with an
//! identifier of the conversation are recorded there, too.

use super::call_fields::{self, CallFields};
use crate::agent_shell::{conversation_of_caller, conversation_of_process};
use agent_bash::HostContext;
use agent_bash::process::ProcessInfo;
use agent_bash_changes::{Store, TurnSign};

/// Names of the field for the prompt's id: `prompt_id` in Claude Code 2.1.332 and Qwen Code 0.24.4,
/// `turn_id` in Codex 0.171.0.
pub(super) const PROMPT_NAMES: &[&str] = &["prompt_id", "turn_id"];

/// Names of the field for the pid of the agent's process. Our plugins for opencode and pi send it,
/// because these agents pass no conversation's id to their commands.
pub(super) const PROCESS_NAMES: &[&str] = &["process_id"];

/// Names of the events that report a new prompt of the user, in lowercase without punctuation.
/// `BeforeAgent` is Gemini CLI's.
const PROMPT_EVENTS: &[&str] = &["beforeagent", "userpromptsubmit", "userpromptsubmitted"];

/// Names of the field for the prompt's text. Copilot CLI 1.0.102 names no event.
const PROMPT_TEXT_NAMES: &[&str] = &["prompt"];

/// True if the call reports a prompt of the user. Such a call has no command.
pub(super) fn is_prompt(fields: &CallFields) -> bool {
    if fields.tool().is_some()
        || fields.input().is_some()
        || call_fields::scripts(&fields.0).next().is_some()
    {
        return false;
    }
    match fields.first(call_fields::EVENT_NAMES) {
        Some((_, event)) => {
            let event = call_fields::plain(event.as_str().unwrap_or_default());
            PROMPT_EVENTS.contains(&&*event)
        }
        None => fields.first(PROMPT_TEXT_NAMES).is_some(),
    }
}

/// Records the prompt of a call for the agent's process: the process that the call names, else the
/// program that called the hook. Does nothing if the turn was `recorded` in the same state
/// directory. A failure has no effect on the answer.
pub(super) fn record(fields: &CallFields, host: &HostContext, recorded: Option<&str>) {
    let conversation = match fields.first(PROCESS_NAMES) {
        Some((_, pid)) => {
            let pid = pid.as_i64().and_then(|pid| i32::try_from(pid).ok());
            let process = pid.and_then(|pid| Some((pid, ProcessInfo::read(pid)?.start_time)));
            process.map(conversation_of_process)
        }
        None => conversation_of_caller(host),
    };
    let prompt = fields.first(PROMPT_NAMES);
    let prompt = prompt.and_then(|(_, value)| value.as_str());
    let conversation = conversation.filter(|name| Some(&**name) != recorded);
    if let (Some(conversation), Some(state)) = (conversation, host.state_dir())
        && let Ok(store) = Store::open(&state)
    {
        let _ = store.begin_turn(&conversation, TurnSign::Prompt(prompt));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_of_all_agents_are_recognised() {
        for call in [
            include_str!("captured/claude-code-2.1.332-prompt.json"),
            include_str!("captured/copilot-1.0.102-prompt.json"),
            include_str!("captured/gemini-cli-0.61.0-prompt.json"),
            include_str!("captured/kimi-2.1.0-prompt.json"),
            r#"{"hook_event_name": "UserPromptSubmit", "cwd": "/", "process_id": 7}"#,
        ] {
            let fields: CallFields = serde_json::from_str(call).unwrap();
            assert!(is_prompt(&fields), "{call}");
        }
    }

    #[test]
    fn call_with_a_command_is_no_prompt() {
        for call in [
            include_str!("captured/claude-code-2.1.332.json"),
            include_str!("captured/gemini-cli-0.61.0.json"),
            r#"{"prompt": "x", "command": "ls"}"#,
            r#"{"hook_event_name": "UserPromptSubmit", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#,
            r#"{"hook_event_name": "BeforeAgent", "tool_input": {"command": "ls"}}"#,
            r#"{"hook_event_name": "PreToolUse", "prompt": "x"}"#,
            r#"{"cwd": "/"}"#,
        ] {
            let fields: CallFields = serde_json::from_str(call).unwrap();
            assert!(!is_prompt(&fields), "{call}");
        }
    }
}
