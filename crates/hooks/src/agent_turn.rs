//! Records the turn of a hook call: the user's prompt to which the call belongs. The record is in
//! the same state directory in which `agent-bash shell` records the conversation's changes.

use super::agent::Agent;
use super::agent_prompt::{PROCESS_NAMES, PROMPT_NAMES, is_prompt};
use super::call_fields::{CallFields, is_of_vscode};
use super::take_over::ShellLink;
use crate::agent_shell::{
    conversation_name, conversation_of, conversation_with_id, names_conversation,
};
use agent_bash::HostContext;
use agent_bash::process::ProcessInfo;
use agent_bash_changes::{Store, TurnSign};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Names of the field for the conversation's id.
const CONVERSATION_NAMES: &[&str] = &["session_id", "sessionId"];

/// Records the turn of a call, if `agent-bash shell` may run the agent's commands: if a link to
/// agent-bash exists, or if the hook replaces commands (`is_rewriting`). Returns the name of the
/// state directory. A failure has no effect on the answer.
pub(super) fn record(
    agent: &Agent,
    fields: &CallFields,
    host: &HostContext,
    is_rewriting: bool,
) -> Option<String> {
    let exists = |link: ShellLink| link.path(host).is_some_and(|path| path.is_symlink());
    if !is_rewriting && !exists(ShellLink::Bash) && !exists(ShellLink::Prefix) {
        return None;
    }
    let start_time = |pid| ProcessInfo::read(pid).map(|process| process.start_time);
    let (conversation, sign) = turn_of(agent, fields, &host.env, start_time)?;
    let store = Store::open(&host.state_dir()?).ok()?;
    store.begin_turn(&conversation, sign).ok()?;
    Some(conversation)
}

/// Returns the name of the state directory of the call's conversation, if the agent names the
/// conversation to its hooks, but not to its commands. VS Code runs the hook of Copilot CLI, which
/// names the conversation to both.
pub(super) fn unnamed_conversation(agent: &Agent, fields: &CallFields) -> Option<String> {
    let is_named = names_conversation(agent.name) && !is_of_vscode(fields);
    let (_, id) = fields.first(CONVERSATION_NAMES).filter(|_| !is_named)?;
    conversation_with_id(agent.name, id.as_str()?)
}

/// Returns the name of the conversation's state directory, and the sign by which the store
/// recognises the turn. `start_time` returns the start time of a process.
fn turn_of<'f>(
    agent: &Agent,
    fields: &'f CallFields,
    environment: &BTreeMap<OsString, OsString>,
    start_time: impl Fn(i32) -> Option<u64>,
) -> Option<(String, TurnSign<'f>)> {
    let text = |names: &[&'static str]| fields.first(names).and_then(|(_, value)| value.as_str());
    let prompt = text(PROMPT_NAMES);
    let sign = if is_prompt(fields) {
        TurnSign::Prompt(prompt)
    } else {
        TurnSign::Call(prompt?)
    };
    if let Some((_, pid)) = fields.first(PROCESS_NAMES) {
        let pid = pid.as_i64().and_then(|pid| i32::try_from(pid).ok())?;
        let name = conversation_name(environment, (pid, start_time(pid)?));
        return Some((name, sign));
    }
    let id = text(CONVERSATION_NAMES)?;
    // An agent may call the hook of another agent. The environment names the agent that calls.
    let caller = conversation_of(environment).filter(|caller| caller.id == id);
    let agent = caller.map_or(agent.name, |caller| caller.agent);
    Some((conversation_with_id(agent, id)?, sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AUTO, by_name};

    fn environment(variables: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        let owned = |&(name, value): &(&str, &str)| (name.into(), value.into());
        variables.iter().map(owned).collect()
    }

    #[test]
    fn turn_is_found_in_the_calls_of_each_agent() {
        let claude_code = include_str!("captured/claude-code-2.1.332.json");
        let codex = include_str!("captured/codex-0.171.0.json");
        let qwen = include_str!("captured/qwen-0.24.4.json");
        let copilot = r#"{"sessionId": "5e-0b", "hookEventName": "userPromptSubmitted"}"#;
        let none = include_str!("captured/gemini-cli-0.61.0.json");
        let opencode = r#"{"hook_event_name": "UserPromptSubmit", "cwd": "/", "process_id": 7}"#;
        // Process 7 is the only one.
        let start_time = |pid| (pid == 7).then_some(70);
        let qwen_variables = [(
            "QWEN_CODE_SESSION_ID",
            "fe5f6c84-c32e-4a1c-abb6-fbab9cdc7aaa",
        )];
        for (agent, variables, call, expected) in [
            (
                "claude-code",
                &[][..],
                claude_code,
                Some((
                    "claude-code-c4dc3d50-908a-42e7-8bf2-f57f5aed115b",
                    TurnSign::Call("7d177c2c-3682-459f-8aef-d7c2fc5303af"),
                )),
            ),
            (
                "codex",
                &[],
                codex,
                Some((
                    "codex-01a21f6f-b8ac-7fa3-bb02-5fa1c6c5d469",
                    TurnSign::Call("01a21f6f-b943-7691-92af-ce6b7b96ada1"),
                )),
            ),
            (
                "claude-code",
                &qwen_variables,
                qwen,
                Some((
                    "qwen-fe5f6c84-c32e-4a1c-abb6-fbab9cdc7aaa",
                    TurnSign::Call("fe5f6c84-c32e-4a1c-abb6-fbab9cdc7aaa########0"),
                )),
            ),
            (
                "copilot",
                &[],
                copilot,
                Some(("copilot-5e-0b", TurnSign::Prompt(None))),
            ),
            (
                "opencode",
                &[],
                opencode,
                Some(("agent-7-70", TurnSign::Prompt(None))),
            ),
            (
                "opencode",
                &[("CLAUDE_CODE_SESSION_ID", "f83-0e")],
                opencode,
                Some(("claude-code-f83-0e", TurnSign::Prompt(None))),
            ),
            (
                "pi",
                &[],
                r#"{"hook_event_name": "UserPromptSubmit", "process_id": 8}"#,
                None,
            ),
            (
                "pi",
                &[],
                r#"{"hook_event_name": "UserPromptSubmit", "process_id": "7"}"#,
                None,
            ),
            ("gemini-cli", &[], none, None),
            (
                "claude-code",
                &[],
                r#"{"session_id": "../x", "prompt_id": "p"}"#,
                None,
            ),
        ] {
            let fields: CallFields = serde_json::from_str(call).unwrap();
            let agent_hook = &by_name(agent).unwrap().hook;
            let found = turn_of(agent_hook, &fields, &environment(variables), start_time);
            let expected = expected.map(|(name, sign)| (name.to_owned(), sign));
            assert_eq!(found, expected, "{agent}: {call}");
        }
        let fields: CallFields = serde_json::from_str(claude_code).unwrap();
        assert_eq!(turn_of(&AUTO, &fields, &environment(&[]), start_time), None);
    }
}
