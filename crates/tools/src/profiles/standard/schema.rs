//! The description of the tool under the profile `standard`.

use crate::schema::words::words;
use agent_bash_core::Profile;

pub(crate) fn description(profile: &Profile, cwd: &str) -> String {
    let times = &profile.timeouts;
    // The description mentions only fields that the schema shows.
    let if_shown = |field: &str, text: String| {
        if profile.schema_fields.contains(&field) {
            text
        } else {
            String::new()
        }
    };
    let elsewhere = if_shown("cwd", "; give `cwd` to run elsewhere".to_owned());
    let named = if_shown("session", ", unless a `session` is named".to_owned());
    let limits = if_shown(
        "timeout",
        format!(
            " unless `timeout` says otherwise ({} to {} seconds)",
            times.min.as_secs(),
            times.max.as_secs()
        ),
    );
    let modes = if_shown(
        "mode",
        format!(
            ";\nmode=\"slow\" gives {} to builds, tests, downloads and installs.\n\
             mode=\"background\" returns at once and is for servers and whatever has to stay running",
            words(times.slow)
        ),
    );
    let has_both = ["head", "tail"]
        .iter()
        .all(|field| profile.schema_fields.contains(field));
    let instead = if has_both {
        "give the arguments `head` and `tail`, which keep the exit code."
    } else {
        "that hides the exit code."
    };
    format!(
        r"Runs a shell command in bash, as in a terminal, and returns what it prints, stdout and stderr together.

The working directory is {cwd}{elsewhere}.
`cd` and variables do not persist between calls{named}.

A command is ended after {default}{limits}{modes}.
There is no terminal, and questions are not answered: use flags such as -y.

The end of a long output is shown, and all of it is kept: the result names it as artifact://ID.
Read any part of that with the read_artifact tool instead of running the command again.
Do not pipe into `head` or `tail`: {instead}",
        default = words(times.default),
    )
}
