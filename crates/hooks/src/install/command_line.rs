//! The command line by which an agent calls agent-bash.

use std::path::Path;

/// The command that blocks a call if agent-bash fails, valid in any shell. The exit code alone is
/// not sufficient: Codex and Gemini CLI let a command run if stderr is empty.
const FALLBACK: &str = "sh -c 'echo Not run: agent-bash gave no verdict >&2; exit 2'";

/// Returns the command line for the agent's shell. Any failure of agent-bash blocks the call. The
/// fallback also covers a missing program, for which the shell's exit code blocks nothing.
pub(super) fn hook_command(agent: &str, program: &str, options: &str) -> String {
    let program = shlex::try_quote(program).unwrap_or_default();
    format!("{program} hook {agent}{options} || {FALLBACK}")
}

/// True if the command line calls the agent's hook.
pub(super) fn is_ours(agent: &str, hook_command: &str) -> bool {
    let words = shlex::split(hook_command).unwrap_or_default();
    words.windows(3).any(|words| {
        let program = Path::new(&words[0]).file_name();
        program.is_some_and(|name| name == "agent-bash") && words[1] == "hook" && words[2] == agent
    })
}
