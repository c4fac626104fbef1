//! Shell code used both on pipes and on terminals: entering the call's directory, closing our descriptors, and how
//! a shell other than bash takes its script.

use agent_bash_core::Definitions;
use agent_bash_process::quoted;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What a bash does if it lacks a required feature (`mapfile -d`).
#[macro_export]
macro_rules! if_too_old {
    ($($text:expr),+) => {
        concat!("case $BASH_VERSION in [1-3].*|4.[0-3].*) ", $($text),+, " ;; esac; ")
    };
}

/// Which shell evaluates a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Bash: builtins are called such that no function can shadow them.
    Bash,
    /// A shell of which only POSIX features can be assumed.
    Posix,
}

/// A list of commands that enters a directory, or fails and leaves the shell where it is. `word` is the directory's
/// path as a shell word. If the path cannot be resolved, it is tried relative to the working directory of the
/// shell's parent, a supervisor. The shell must not be changed by that, so it is done in a subshell and without
/// variables.
pub fn enter(word: &[u8], reader: Reader) -> Vec<u8> {
    // In bash, both builtins' error messages are redirected by the caller.
    let (own, message): (&[u8], &[u8]) = match reader {
        Reader::Bash => (br"\builtin ", b""),
        Reader::Posix => (b"", b" 2>/dev/null"),
    };
    let parts: [&[u8]; _] = [
        own,
        b"cd -- ",
        word,
        message,
        b" || ",
        own,
        b"cd -P -- \"$(",
        own,
        b"set -- ",
        word,
        b"/ /proc/$PPID/cwd \"$(",
        own,
        b"cd -P -- /proc/$PPID/cwd && ",
        own,
        b"pwd -P || ",
        own,
        b"echo .)\"; case $1 in \"$3\"/*) ",
        own,
        b"printf %s \"$2/${1#\"$3\"/}\" ;; *) ",
        own,
        b"printf %s \"$1\" ;; esac)\"",
    ];
    parts.concat()
}

/// The text for permanent redirections. `command` guards against a function named `exec`. But with it, bash before
/// 5.1 keeps copies of the redirected descriptors from 10 on, and closes whatever the script has put there instead.
pub fn exec(redirections: &str) -> String {
    format!(
        r"case $BASH_VERSION in 4.*|5.0.*) \exec {redirections} ;; *) \command exec {redirections} ;; esac"
    )
}

/// The command by which a bash loads functions and aliases of another one, followed by `; `. By `eval`, which reads line by line: what a
/// line switches on (`extglob`) is in force for the next one, and what one of them cannot define, the others do.
pub fn load(definitions: &Definitions) -> Vec<u8> {
    let text = quoted(OsStr::from_bytes(&definitions.text));
    [&br"{ \builtin eval "[..], &text, b"; } >/dev/null 2>&1; "].concat()
}

/// How a shell of which only POSIX features can be assumed takes the text of its script file, whose descriptor is
/// `{script_fd}`. The text is evaluated rather than sourced, so that `$0` is the shell's name and messages do not
/// mention our descriptor; they say `eval` instead. Such shells support only single-digit descriptors; others are
/// opened by path, which requires `/proc`. The dot preserves trailing newlines.
pub const PLAIN_TAKE: &str = concat!(
    "case {script_fd} in ",
    "?) __ab=$(command -p cat <&{script_fd} && echo .) || exit 125 ;; ",
    "*) __ab=$(command -p cat /dev/fd/{script_fd} && echo .) || exit 125 ;; ",
    r#"esac; eval "${__ab%.}""#,
);
