//! The description of the tool under the profile `paged`.

use crate::schema::words::words;
use agent_bash_core::{Profile, Truncation};

pub(crate) fn description(profile: &Profile, cwd: &str) -> String {
    let times = &profile.timeouts;
    let longest = if profile.schema_fields.contains(&"timeout") {
        format!(
            " unless `timeout` (in seconds) says otherwise; the longest is {} seconds",
            times.max.as_secs()
        )
    } else {
        String::new()
    };
    let limits = match profile.output.truncation {
        Truncation::HeadTail {
            max_bytes,
            max_lines,
            head_lines,
            tail_lines,
        } => format!(
            "Beyond {} KB or {max_lines} lines only the first {head_lines} and the last {tail_lines} lines are shown,\n",
            max_bytes / 1024
        ),
        _ => "Of a long output only a part is shown,\n".to_owned(),
    };
    format!(
        r"Runs a command in bash and returns its stdout, then its stderr.

The working directory is {cwd}.
`cd` and variables do not persist between calls.
A command is ended after {default}{longest}.
There is no terminal, and questions are not answered: use flags such as -y.

{limits}and all of it is kept in a file that the result names: read any section of it with the view tool (offset, limit).
Do not pipe into `head` or `tail`: that hides the exit code and loses the rest.",
        default = words(times.default),
    )
}
