//! The server instructions, which a client may pass on to its model: how the tools work together.
//! The instructions mention only features that the profile offers.

use agent_bash::core::{Profile, short_duration};
use agent_bash::profiles;
use std::time::Duration;

/// Returns the instructions of a server with `profile`. `records_changes`: the server records
/// changes. `handle_after`: the time after which a running call is answered with a handle.
pub(super) fn text(profile: &Profile, records_changes: bool, handle_after: Duration) -> String {
    let offers = |field| profile.schema_fields.contains(&field);
    let reader = profiles::tool(profile.name).reader;
    let reader = format!(
        "`{}` ({}, offset, limit, pattern)",
        reader.name, reader.field
    );
    let mut parts = vec![format!(
        "\
`bash` is the shell: run and execute terminal commands with it. The result ends with how the command ended; do not append `echo $?`, `|| true` or `2>&1`.
A long output is shown only in part and kept whole: read further lines of it, or search it, with {reader}. Do not pipe into \
`head`, `tail` or a file to shorten it, and do not run a command again to see more of its output."
    )];
    if offers("mode") {
        let input = if offers("stdin") {
            "write to it with `bash_input` (started with `stdin: pipe`), "
        } else {
            ""
        };
        parts.push(format!(
            "For servers, watchers and other commands that do not end by themselves use `mode: background`: the call returns a \
             job at once. Follow it with `bash_output`, which gives what is new since the last time (`wait`: up to so many \
             seconds for its end), {input}end it with `bash_kill`, see all with `bash_jobs`. End the jobs that you no longer \
             need."
        ));
    }
    let session = if offers("session") {
        " To keep `cd`, variables and activated environments, give the calls the same `session` name."
    } else {
        ""
    };
    parts.push(format!(
        "Each call is a fresh shell in the same directory.{session}\n\
         Without `pty: true` there is no terminal, and prompts are not answered: use flags such as -y. A refusal says what to do instead; \
         do not work around it."
    ));
    if records_changes {
        parts.push(
            "Changes to files are recorded: `bash_changes` shows and undoes them.".to_owned(),
        );
    }
    if !handle_after.is_zero() {
        let after = short_duration(handle_after);
        parts.push(format!(
            "A call that takes longer than {after} answers with a handle (`call-1`) while the command goes on: use \
             `bash_output` with `wait` until it has ended, or `bash_kill`."
        ));
    }
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_name_only_what_the_profile_offers() {
        for profile in profiles::ALL {
            let first = text(profile, true, Duration::ZERO);
            let first = first.split(". ").next().unwrap_or_default();
            // Clients that search for tools match such words.
            for word in ["bash", "shell", "run", "execute", "terminal", "command"] {
                assert!(first.contains(word), "{first}");
            }
            let plain = text(profile, false, Duration::from_secs(50));
            let text = text(profile, true, Duration::from_secs(50));
            assert!(text.contains("`bash_changes`") && !plain.contains("`bash_changes`"));
            for (field, word) in [
                ("mode", "`mode: background`"),
                ("stdin", "`stdin: pipe`"),
                ("session", "`session`"),
            ] {
                let offered = profile.schema_fields.contains(&field);
                assert_eq!(text.contains(word), offered, "{:?}: {word}", profile.name);
            }
            let paged = profile == &profiles::PAGED;
            assert_eq!(text.contains("`view`"), paged, "{text}");
            assert_eq!(text.contains("`read_artifact`"), !paged, "{text}");
        }
    }
}
