//! The process of an agent: the name of its conversation, and its hooks.

use super::conversation::conversation_name;
use agent_bash::HostContext;
use agent_bash::process::calling_program;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Returns the name of the state directory of the conversation of an agent's process: its pid and
/// its start time.
pub(crate) fn conversation_of_process(process: (i32, u64)) -> String {
    conversation_name(&BTreeMap::new(), process)
}

/// Returns the name for the program that called agent-bash; `None` if it is not known.
pub fn conversation_of_caller(host: &HostContext) -> Option<String> {
    let caller = &calling_program(&host.processes)?.identity;
    Some(conversation_of_process((caller.pid, caller.start_time)))
}

/// True if agent-bash was started for a hook of Gemini CLI 0.61.0 or Qwen Code 0.24.4, which start
/// hooks by the first `bash` in `PATH`. They set this variable for hooks only.
pub fn is_started_for_hook(environment: &BTreeMap<OsString, OsString>) -> bool {
    environment.contains_key(OsStr::new("GEMINI_PROJECT_DIR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_started_for_hook_is_true_for_hooks_and_false_for_commands() {
        let environment = |names: &[&str]| -> BTreeMap<OsString, OsString> {
            let variables = names.iter().map(|name| (name.into(), "x".into()));
            variables.collect()
        };
        // Of Gemini CLI 0.61.0.
        let hook = environment(&["GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID"]);
        assert!(is_started_for_hook(&hook));
        let command = environment(&["GEMINI_CLI", "GEMINI_CLI_NO_RELAUNCH"]);
        assert!(!is_started_for_hook(&command));
        assert_eq!(conversation_of_process((12, 345)), "agent-12-345");
    }
}
