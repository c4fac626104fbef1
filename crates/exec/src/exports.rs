//! Determines which variables of a call can be set in a warm shell, so that a script sees them as
//! if they were in the shell's environment.

use agent_bash_core::words;
use agent_bash_process::quoted;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Names that bash handles specially at its start, or that cannot be set. A call that sets such a
/// variable gets a new shell. Patterns may end in `*`.
const START_NAMES: &[&str] = words![
    "_ BASH* CHILD_MAX COLUMNS COMP_* DIRSTACK ENV EPOCH* EUID EXECIGNORE FCEDIT FIGNORE FUNCNAME",
    "FUNCNEST GLOBIGNORE GROUPS HIST* HOSTFILE IFS IGNOREEOF INPUTRC LINENO LINES MAIL* MAPFILE",
    "OLDPWD OPT* PIPESTATUS POSIX* PPID PROMPT* PS0 PS1 PS2 PS3 PS4 PWD RANDOM READLINE* REPLY",
    "SECONDS SHELL SHELLOPTS SHLVL SRANDOM TIMEFORMAT TMOUT UID histchars ignoreeof auto_resume",
    "LC_* LANG",
];

/// Further variables that bash sets or reads, and no other program does. Patterns may end in `*`.
const BASH_NAMES: &[&str] = words![
    "BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARG* BASH_CMDS BASH_COMMAND BASH_COMPAT BASH_ENV",
    "BASH_EXECUTION_STRING BASH_FUNC_* BASH_LINENO BASH_LOADABLES_PATH BASH_MONOSECONDS",
    "BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO BASH_VERSION BASH_XTRACEFD",
    "COPROC OPTARG OPTERR OPTIND TERM __ab*",
];

/// Patterns of [`START_NAMES`] that also match variables of other programs, and the locale.
const SHARED_NAMES: &[&str] = &["BASH*", "OPT*", "LC_*", "LANG", "MAIL*", "SHELL"];

/// True if a variable belongs to bash, so that its value does not come from a configuration.
pub(crate) fn is_set_by_bash(name: &str) -> bool {
    let own = START_NAMES
        .iter()
        .filter(|pattern| !SHARED_NAMES.contains(pattern));
    let mut all = own.chain(BASH_NAMES).chain(DEFAULTED_NAMES).copied();
    all.any(|pattern| matches(pattern, name.as_bytes()))
}

/// True if a name matches a pattern, which may end in `*`.
fn matches(pattern: &str, name: &[u8]) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix.as_bytes()),
        None => name == pattern.as_bytes(),
    }
}

/// Names to which bash assigns a default at its start: unsetting such a variable differs from
/// starting bash without it.
const DEFAULTED_NAMES: &[&str] = &["HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE", "PATH", "TERM"];

/// Returns the first variable that a record cannot set or unset; `None` if the record can make all
/// changes.
pub(crate) fn unexportable(changes: &BTreeMap<OsString, Option<OsString>>) -> Option<&OsStr> {
    let mut refused = changes.iter().filter(|(name, value)| {
        let has_default = DEFAULTED_NAMES.iter().any(|other| **name == **other);
        !is_plain_name(name.as_bytes()) || (value.is_none() && has_default)
    });
    refused.next().map(|(name, _)| name.as_os_str())
}

/// True if a record can set a variable of this name.
fn is_plain_name(name: &[u8]) -> bool {
    let is_word_byte = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let Some(first) = name.first() else {
        return false;
    };
    let is_identifier = !first.is_ascii_digit() && name.iter().all(is_word_byte);
    let is_start_name = START_NAMES.iter().any(|pattern| matches(pattern, name));
    is_identifier && !is_start_name
}

/// Returns the commands that make the changes, each followed by `; `.
pub(crate) fn commands(changes: &BTreeMap<OsString, Option<OsString>>) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, value) in changes {
        let (verb, value): (&[u8], Option<&OsStr>) = match value {
            Some(value) => (b"export ", Some(value)),
            None => (b"unset -v ", None),
        };
        text.extend_from_slice(b"\\builtin ");
        text.extend_from_slice(verb);
        text.extend_from_slice(name.as_bytes());
        if let Some(value) = value {
            text.push(b'=');
            text.extend_from_slice(&quoted(value));
        }
        text.extend_from_slice(b"; ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_bash_reads_at_its_start_are_not_plain() {
        for name in ["FOO", "PATH", "HOME", "_x", "a1"] {
            assert!(is_plain_name(name.as_bytes()), "{name}");
        }
        for name in [
            "", "1A", "A-B", "BASH_ENV", "BASH_FUNC_x%%", "IFS", "SHELLOPTS", "UID", "_", "LC_ALL",
            "ä",
        ] {
            assert!(!is_plain_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn commands_quote_values() {
        let changes = [("A".into(), Some("it's".into())), ("B".into(), None)].into();
        assert_eq!(
            commands(&changes),
            b"\\builtin export A='it'\\''s'; \\builtin unset -v B; "
        );
    }

    #[test]
    fn unsetting_a_name_with_a_default_is_unexportable() {
        for (name, value, want) in [
            ("PATH", Some("/bin"), true),
            ("PATH", None, false),
            ("TERM", None, false),
            ("FOO", None, true),
        ] {
            let changes = [(name.into(), value.map(Into::into))].into();
            assert_eq!(unexportable(&changes).is_none(), want, "{name} {value:?}");
        }
    }
}
