//! Asks a shell that is there which functions, aliases and options it has by now, as the one that
//! has read the configuration is asked.

use super::compose;
use super::dump::{ASK_BEFORE, ASK_NEW, ShellDump};
use super::filter;
use agent_bash_core::{Definitions, Shell};
use agent_bash_process::quoted;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The byte before the answer: a trap or a trace may print before it, but no NUL.
const BEGIN_BYTE: u8 = 0;

/// The script by which a shell says it. It changes nothing there: it runs in a subshell.
pub(crate) fn question(shell: &Shell) -> String {
    let path = quoted(shell.path.as_os_str());
    [ASK_BEFORE, &String::from_utf8_lossy(&path), ASK_NEW].concat()
}

/// Parses the answer; `None` if it is incomplete.
pub(crate) fn answer(said: &[u8]) -> Option<Definitions> {
    let begin = said.iter().position(|byte| *byte == BEGIN_BYTE)?;
    let mut dump = ShellDump::parse(&said[begin + 1..])?;
    // The definitions are not stored on disk, so secrets may stay.
    let ShellDump { before, after, .. } = &mut dump;
    for list in [&mut after.functions, &mut after.aliases] {
        list.retain(|definition| filter::may_stay(definition, None));
    }
    // A trace would show this text.
    for state in [&mut *before, &mut *after] {
        state
            .options
            .set
            .retain(|name| !compose::PRINTING_OPTIONS.contains(&&**name));
    }
    let (options, _) = compose::option_commands(&before.options, &after.options, true);
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

    /// Returns the answer of a bash that ran these commands.
    #[expect(clippy::disallowed_methods, reason = "bash is asked itself")]
    fn told(commands: &str) -> (Definitions, String) {
        let script = question(&Shell::bash("/bin/bash"));
        let script = format!("{commands}\n{script}\necho after: $? $-");
        let asked = Command::new("/bin/bash").args(["-c", &script]).output();
        let said = asked.unwrap().stdout;
        let after = String::from_utf8_lossy(&said);
        let after = after.rsplit('\0').next().unwrap_or_default().to_owned();
        (answer(&said).expect("an answer"), after)
    }

    #[test]
    fn a_shell_says_what_it_has_and_stays_as_it_is() {
        let own =
            "shopt -s expand_aliases globstar; set -o noclobber; set -x; trap 'echo trapped' DEBUG
            f() { case $1 in @(a|b)) echo \"it's\";; esac; }
            alias v='vim -p' ls='ls -l'; declare -rf f";
        let own = own.replace("f() {", "shopt -s extglob\nf() {");
        let (told, after) = told(&own);
        let text = String::from_utf8(told.text).unwrap();
        assert!(text.contains("echo \"it's\""), "{text}");
        assert!(text.contains("\\builtin alias -- 'v=vim -p'\n"), "{text}");
        assert!(!text.contains("ls=") && !text.contains("__ab"), "{text}");
        assert_eq!(
            String::from_utf8(told.options).unwrap(),
            "\\builtin shopt -s extglob globstar expand_aliases; \\builtin set -o noclobber; "
        );
        assert!(after.contains("after: 0 "), "{after}");
    }

    #[test]
    fn what_is_not_whole_is_nothing() {
        assert_eq!(answer(b""), None);
        assert_eq!(answer(b"trapped\n\0a\0b\0/bin\0end\0"), None);
        assert!(answer(b"trapped\n\0a\0b\0/bin\0end\0a\0b\0/bin\0end\0").is_some());
    }
}
