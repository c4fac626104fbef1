//! The description of the tool under the profile `workspace`.

use crate::schema::words::words;
use agent_bash_core::{Profile, Truncation};

pub(crate) fn description(profile: &Profile, cwd: &str) -> String {
    let shown = match profile.output.truncation {
        Truncation::Head { bytes, .. } => format!("The first {} KB are shown", bytes / 1024),
        _ => "A part of a long output is shown".to_owned(),
    };
    format!(
        r"Executes a shell command in the workspace root and returns its stdout, then its stderr, then [Exit code: N].

The working directory is {cwd}.
`cd` and variables do not persist between calls.
A command is ended after {default}; run what takes longer in smaller steps.
There is no terminal, and questions are not answered: use flags such as -y.

{shown}; all of it is kept in a file that the result names.
Do not pipe into `head` or `tail`: that hides the exit code. 2>&1 is not needed.",
        default = words(profile.timeouts.default),
    )
}
