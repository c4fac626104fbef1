//! The description of the tool under `standard`.

use super::words;
use agent_bash_core::Profile;

pub(super) fn description(profile: &Profile, cwd: &str) -> String {
    let times = &profile.timeouts;
    format!(
        r#"Runs a command in bash and returns what it prints, stdout and stderr together.

The working directory is {cwd}; give `cwd` to run elsewhere.
`cd` and variables do not persist between calls, unless a `session` is named.

A command is ended after {default} unless `timeout` says otherwise ({min} to {max} seconds);
mode="slow" gives {slow} to builds, tests, downloads and installs.
mode="background" returns at once and is for servers and whatever has to stay running.
There is no terminal and nobody to answer questions: use flags such as -y.

The end of a long output is shown, and all of it is kept: the result names it as artifact://ID.
Read any part of that with the read_artifact tool instead of running the command again.
Do not pipe into `head` or `tail`: give the arguments `head` and `tail`, which keep the exit code."#,
        default = words(times.default),
        min = times.min.as_secs(),
        max = times.max.as_secs(),
        slow = words(times.slow),
    )
}
