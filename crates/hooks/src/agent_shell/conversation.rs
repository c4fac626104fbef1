//! The conversation of an agent, from the environment of its commands.

use crate::agents::SUPPORTED;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// A conversation of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationId<'e> {
    /// The agent's name.
    pub agent: &'static str,
    /// The agent's identifier for the conversation: a safe path component of ASCII letters, digits,
    /// `-` and `_`.
    pub id: &'e str,
}

/// The longest accepted identifier, in bytes. A UUID has 36.
const MAX_ID_BYTES: usize = 64;

/// Returns the agents that pass a conversation's identifier to their commands, each with the
/// environment variable. opencode 1.18.33, Gemini CLI 0.61.0 and pi 0.73.1 set no such variable;
/// the
/// `PI_SESSION_ID` of pi 1.6.0 is not used, since a process of pi has the same name in all
/// versions.
fn conversation_variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    SUPPORTED
        .iter()
        .filter_map(|agent| Some((agent.hook.name, agent.conversation_variable?)))
}

/// Returns the conversation that a command with this environment belongs to. `None` if no known
/// variable has a valid value.
///
/// An agent that runs below another agent inherits the other agent's variables. If several
/// variables are set, the first row of the table with a valid value decides. All commands of the
/// inner agent thus get the same conversation.
pub fn conversation_of(environment: &BTreeMap<OsString, OsString>) -> Option<ConversationId<'_>> {
    conversation_variables().find_map(|(agent, variable)| {
        let id = environment.get(OsStr::new(variable))?.to_str()?;
        is_path_component(id).then_some(ConversationId { agent, id })
    })
}

/// The first part of the name of a conversation without an identifier.
const UNNAMED_PREFIX: &str = "agent";

/// Returns the name of the state directory of an agent's conversation. `process` is the pid and the
/// start time of the agent's process, which identify the conversation if the agent sets no
/// variable.
pub fn conversation_name(
    environment: &BTreeMap<OsString, OsString>,
    process: (i32, u64),
) -> String {
    match conversation_of(environment) {
        Some(known) => format!("{}-{}", known.agent, known.id),
        None => format!("{UNNAMED_PREFIX}-{}-{}", process.0, process.1),
    }
}

/// True if the agent passes a conversation's identifier to its commands.
pub(crate) fn names_conversation(agent: &str) -> bool {
    conversation_variables().any(|(known, _)| known == agent)
}

/// Returns the agents whose conversations may have a state directory named by an identifier: the
/// agent, or its hook that replaces commands, passes the identifier on.
fn agents_with_identifiers() -> impl Iterator<Item = &'static str> {
    SUPPORTED
        .iter()
        .filter(|agent| agent.conversation_variable.is_some() || agent.hook.can_rewrite)
        .map(|agent| agent.hook.name)
}

/// Returns the name of the state directory of an agent's conversation with this identifier. `None`
/// if this agent's identifiers do not reach its commands, or `id` is not a valid identifier.
pub(crate) fn conversation_with_id(agent: &str, id: &str) -> Option<String> {
    let is_known = agents_with_identifiers().any(|known| known == agent);
    (is_known && is_path_component(id)).then(|| format!("{agent}-{id}"))
}

/// True if a state directory with this name has the form of [`conversation_name`].
pub fn is_conversation_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let after_agent = |agent: &str| name.strip_prefix(agent)?.strip_prefix('-');
    let is_known = |agent: &str| after_agent(agent).is_some_and(is_path_component);
    let process = after_agent(UNNAMED_PREFIX).and_then(|rest| rest.split_once('-'));
    let is_process = process.is_some_and(|(pid, start)| is_number(pid) && is_number(start));
    is_process || agents_with_identifiers().any(is_known)
}

/// True if the identifier can be a part of a directory's name, see [`ConversationId::id`].
fn is_path_component(id: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(is_safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        let owned = |&(name, value): &(&str, &str)| (name.into(), value.into());
        variables.iter().map(owned).collect()
    }

    fn found(variables: &[(&str, &str)]) -> Option<(&'static str, String)> {
        conversation_of(&environment(variables)).map(|found| (found.agent, found.id.to_owned()))
    }

    #[test]
    fn conversation_of_reads_the_variables_of_each_agent() {
        let uuid = "f8302e06-0e2a-4ce6-969f-069bb463bdb1";
        let claude_code = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", uuid)];
        assert_eq!(found(&claude_code), Some(("claude-code", uuid.to_owned())));
        let codex = [("CODEX_SESSION_ID", uuid), ("CODEX_THREAD_ID", uuid)];
        assert_eq!(found(&codex), Some(("codex", uuid.to_owned())));
        let copilot_cli = [("COPILOT_CLI", "1"), ("COPILOT_AGENT_SESSION_ID", uuid)];
        assert_eq!(found(&copilot_cli), Some(("copilot", uuid.to_owned())));
        let qwen_code = [("QWEN_CODE", "1"), ("QWEN_CODE_SESSION_ID", uuid)];
        assert_eq!(found(&qwen_code), Some(("qwen", uuid.to_owned())));
    }

    #[test]
    fn is_conversation_name_accepts_only_its_own_form() {
        let known = environment(&[("CLAUDE_CODE_SESSION_ID", "f83-0e")]);
        for (environment, name) in [
            (&known, "claude-code-f83-0e"),
            (&environment(&[]), "agent-12-345"),
        ] {
            assert_eq!(conversation_name(environment, (12, 345)), name);
            assert!(is_conversation_name(name));
        }
        assert!(is_conversation_name("gemini-cli-23-4a"));
        for other in [
            "cli", "claude-code", "claude-code-", "mcp-project-1f0a", "agent-12", "agent-12-x",
            "agent--1", "my-codex-1", "kimi-1",
        ] {
            assert!(!is_conversation_name(other), "{other}");
        }
    }

    #[test]
    fn conversation_of_is_none_without_a_variable_of_a_conversation() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("OPENCODE", "1"), ("OPENCODE_PID", "5260")]), None);
        assert_eq!(found(&[("GEMINI_CLI", "1")]), None);
    }

    #[test]
    fn conversation_of_refuses_a_value_that_is_not_a_path_component() {
        let long = "a".repeat(MAX_ID_BYTES + 1);
        for id in [
            "", ".", "..", "a/b", "../../etc", "a b", "a\n", "a\0", "é", &long,
        ] {
            assert_eq!(found(&[("CLAUDE_CODE_SESSION_ID", id)]), None, "{id:?}");
        }
        let longest = "a".repeat(MAX_ID_BYTES);
        assert!(found(&[("CLAUDE_CODE_SESSION_ID", &longest)]).is_some());
    }

    #[test]
    fn conversation_of_takes_the_next_agent_if_a_value_is_invalid() {
        let variables = [("CLAUDE_CODE_SESSION_ID", "a/b"), ("CODEX_THREAD_ID", "c")];
        assert_eq!(found(&variables), Some(("codex", "c".to_owned())));
    }

    #[cfg(unix)]
    #[test]
    fn conversation_of_refuses_a_value_that_is_not_utf_8() {
        use std::os::unix::ffi::OsStringExt as _;
        let name = OsString::from("CLAUDE_CODE_SESSION_ID");
        let bytes = OsString::from_vec(vec![b'a', 0xff]);
        assert_eq!(conversation_of(&BTreeMap::from([(name, bytes)])), None);
    }
}
