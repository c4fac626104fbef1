//! The command line by which an agent calls agent-bash.

use std::path::Path;

/// The command that blocks a call if agent-bash fails, valid in any shell. The exit code alone is
/// not sufficient: Codex and Gemini CLI let a command run if stderr is empty. The text also follows
/// the reason of a hook that refuses by exit code 2.
const FALLBACK: &str = "sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'";

/// The command that lets a prompt pass if agent-bash fails. An exit code of 2 would block the
/// prompt.
const REPORT_FALLBACK: &str = "true";

/// The command line by which the agent's shell calls the hook, without a fallback.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HookCommand(String);

impl HookCommand {
    pub(super) fn new(agent: &str, program: &str, options: &str) -> Self {
        let program = shlex::try_quote(program).unwrap_or_default();
        Self(format!("{program} hook {agent}{options}"))
    }

    /// Returns the command of a line that agent-bash wrote.
    pub(super) fn of_line(line: &str) -> Self {
        let ends = [FALLBACK, REPORT_FALLBACK].into_iter();
        let mut commands = ends.filter_map(|end| line.strip_suffix(end)?.strip_suffix(" || "));
        Self(commands.next().unwrap_or(line).to_owned())
    }

    /// Returns the text of an entry, with the command line in place of `LINE` or `REPORT`, quoted
    /// by `quote`.
    ///
    /// In place of `LINE`, any failure of agent-bash blocks the call. The fallback also covers a
    /// missing program, for which the shell's exit code blocks nothing.
    pub(super) fn in_entry(&self, entry: &str, quote: impl Fn(String) -> String) -> String {
        let line = |fallback| quote(format!("{} || {fallback}", self.0));
        let with_line = |text: &str| text.replacen("LINE", &line(FALLBACK), 1);
        match entry.split_once("REPORT") {
            Some((before, after)) => with_line(before) + &line(REPORT_FALLBACK) + after,
            None => with_line(entry),
        }
    }
}

/// True if the command line calls the agent's hook.
pub(super) fn is_ours(agent: &str, hook_command: &str) -> bool {
    let words = shlex::split(hook_command).unwrap_or_default();
    words.windows(3).any(|words| {
        let program = Path::new(&words[0]).file_name();
        program.is_some_and(|name| name == "agent-bash") && words[1] == "hook" && words[2] == agent
    })
}
