//! Shell code for pipes and terminals: entering the call's directory, closing descriptors of the
//! host, and reading the script in a shell other than bash.

use agent_bash_core::Definitions;
use agent_bash_process::quoted;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Commands that only a bash without a required feature (`mapfile -d`) runs.
#[macro_export]
macro_rules! if_too_old {
    ($($text:expr),+) => {
        concat!("case $BASH_VERSION in [1-3].*|4.[0-3].*) ", $($text),+, " ;; esac; ")
    };
}

/// The shell dialect of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellDialect {
    /// Bash: builtins are called in a form that functions cannot shadow.
    Bash,
    /// A shell with only the POSIX features.
    Posix,
}

/// Returns commands that enter a directory, or fail without a change of directory. `word` is the
/// path as a shell word.
///
/// If the path cannot be resolved, the commands try it relative to the working directory of the
/// shell's parent, the supervisor. They compute that path in a subshell, and set no variables.
pub fn enter_directory(word: &[u8], dialect: ShellDialect) -> Vec<u8> {
    // In bash, both builtins' error messages are redirected by the caller.
    let (builtin_prefix, message): (&[u8], &[u8]) = match dialect {
        ShellDialect::Bash => (br"\builtin ", b""),
        ShellDialect::Posix => (b"", b" 2>/dev/null"),
    };
    let parts: [&[u8]; _] = [
        builtin_prefix,
        b"cd -- ",
        word,
        message,
        b" || ",
        builtin_prefix,
        b"cd -P -- \"$(",
        builtin_prefix,
        b"set -- ",
        word,
        b"/ /proc/$PPID/cwd \"$(",
        builtin_prefix,
        b"cd -P -- /proc/$PPID/cwd && ",
        builtin_prefix,
        b"pwd -P || ",
        builtin_prefix,
        b"echo .)\"; case $1 in \"$3\"/*) ",
        builtin_prefix,
        b"printf %s \"$2/${1#\"$3\"/}\" ;; *) ",
        builtin_prefix,
        b"printf %s \"$1\" ;; esac)\"",
    ];
    parts.concat()
}

/// Returns the text for permanent redirections. `command` bypasses a function named `exec`. Bash
/// before 5.1 does not get `command`: with it, bash keeps copies of the redirected descriptors from
/// 10 on, and closes descriptors that the script opened there.
pub fn exec_redirections(redirections: &str) -> String {
    format!(
        r"case $BASH_VERSION in 4.*|5.0.*) \exec {redirections} ;; *) \command exec {redirections} ;; esac"
    )
}

/// Returns the command that loads functions and aliases of another bash, followed by `; `. `eval`
/// reads line by line: an option set by one line (`extglob`) holds for the next, and a line that
/// fails does not stop the others.
pub fn load_definitions(definitions: &Definitions) -> Vec<u8> {
    let text = quoted(OsStr::from_bytes(&definitions.text));
    [&br"{ \builtin eval "[..], &text, b"; } >/dev/null 2>&1; "].concat()
}

/// The command by which a POSIX shell reads its script file from descriptor `{script_fd}`. The
/// script is evaluated rather than sourced, so that `$0` is the shell's name and messages say
/// `eval` instead of a descriptor.
///
/// POSIX shells support only single-digit descriptors. Other descriptors are opened by path, which
/// requires `/proc`. The dot preserves trailing newlines.
pub const POSIX_READ_SCRIPT: &str = concat!(
    "case {script_fd} in ",
    "?) __ab=$(command -p cat <&{script_fd} && echo .) || exit 125 ;; ",
    "*) __ab=$(command -p cat /dev/fd/{script_fd} && echo .) || exit 125 ;; ",
    r#"esac; eval "${__ab%.}""#,
);
