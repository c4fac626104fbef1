//! Reads the functions, aliases and options that a running shell has now.

use super::compose;
use super::dump::{RUNNING_REPORT_BEGIN, RUNNING_REPORT_END, ShellDump};
use super::filter;
use agent_bash_core::{Definitions, Shell};
use agent_bash_process::quoted;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The byte before the report. A trap or a trace may print before it, but never a NUL.
const BEGIN_BYTE: u8 = 0;

/// Returns the script that makes a shell print its report. The script runs in a subshell and
/// changes nothing in the shell.
pub(crate) fn report_script(shell: &Shell) -> String {
    let path = quoted(shell.path.as_os_str());
    [
        RUNNING_REPORT_BEGIN,
        &String::from_utf8_lossy(&path),
        RUNNING_REPORT_END,
    ]
    .concat()
}

/// Parses the output of [`report_script`]; returns `None` if it is incomplete.
pub(crate) fn parse_report(output: &[u8]) -> Option<Definitions> {
    let begin = output.iter().position(|byte| *byte == BEGIN_BYTE)?;
    let mut dump = ShellDump::parse(&output[begin + 1..])?;
    // These definitions are not stored on disk, so secrets need not be excluded.
    let ShellDump { before, after, .. } = &mut dump;
    for list in [&mut after.functions, &mut after.aliases] {
        list.retain(|definition| filter::is_allowed(definition, None));
    }
    // A shell with `set -x` or `set -v` would print this text.
    for state in [&mut *before, &mut *after] {
        state
            .options
            .set
            .retain(|name| !compose::PRINTING_OPTIONS.contains(&&**name));
    }
    let (options, _) = compose::option_commands(&before.options, &after.options);
    let none = BTreeMap::new();
    Some(Definitions {
        text: compose::load_text(&none, &after.functions, &after.exported, &after.aliases),
        options,
        defined: Arc::new(after.defined()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Returns the report of a bash that ran these commands, and the text that it printed
    /// afterwards.
    #[expect(
        clippy::disallowed_methods,
        reason = "The test needs the report of a real bash"
    )]
    fn report_of(commands: &str) -> (Definitions, String) {
        let script = report_script(&Shell::bash("/bin/bash"));
        let script = format!("{commands}\n{script}\necho after: $? $-");
        let command = Command::new("/bin/bash").args(["-c", &script]).output();
        let output = command.unwrap().stdout;
        let after = String::from_utf8_lossy(&output);
        let after = after.rsplit('\0').next().unwrap_or_default().to_owned();
        (parse_report(&output).expect("a report"), after)
    }

    #[test]
    fn report_script_prints_definitions_and_changes_nothing() {
        let own =
            "shopt -s expand_aliases globstar; set -o noclobber; set -x; trap 'echo trapped' DEBUG
            f() { case $1 in @(a|b)) echo \"it's\";; esac; }
            alias v='vim -p' ls='ls -l'; declare -rf f";
        let own = own.replace("f() {", "shopt -s extglob\nf() {");
        let (report, after) = report_of(&own);
        let text = String::from_utf8(report.text).unwrap();
        assert!(text.contains("echo \"it's\""), "{text}");
        assert!(text.contains("\\builtin alias -- 'v=vim -p'\n"), "{text}");
        assert!(!text.contains("ls=") && !text.contains("__ab"), "{text}");
        assert_eq!(
            String::from_utf8(report.options).unwrap(),
            "\\builtin shopt -s extglob globstar expand_aliases; \\builtin set -o noclobber; "
        );
        assert!(after.contains("after: 0 "), "{after}");
    }

    #[test]
    fn parse_report_refuses_an_incomplete_report() {
        assert_eq!(parse_report(b""), None);
        assert_eq!(parse_report(b"trapped\n\0a\0b\0/bin\0end\0"), None);
        assert!(parse_report(b"trapped\n\0a\0b\0/bin\0end\0a\0b\0/bin\0end\0").is_some());
    }
}
