//! What shells on pipes and on terminals are told alike: how to get to the call's directory, how to be rid of what is ours, and how
//! one that is not bash takes its script.

/// What a bash does that lacks what we need of it (`mapfile -d`).
#[macro_export]
macro_rules! if_too_old {
    ($($text:expr),+) => {
        concat!("case $BASH_VERSION in [1-3].*|4.[0-3].*) ", $($text),+, " ;; esac; ")
    };
}

/// Which shell reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Bash: no function takes the place of a command of its own.
    Bash,
    /// One that cannot be relied on to have more than POSIX.
    Posix,
}

/// A list of commands that enters a directory, or fails and leaves the shell where it is. `word` is the directory's path, as the
/// shell is to read it. If the path does not lead there, it is looked for from where the shell's parent stands, a supervisor. Nothing
/// of that is to be seen in the shell afterwards, so the work is done in one below, and without variables.
pub fn enter(word: &[u8], reader: Reader) -> Vec<u8> {
    // Bash is told for both what to do with their messages.
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

/// How a shell that cannot be relied on to have more than POSIX takes the text of its script file, whose number is `{script_fd}`.
/// The text is evaluated, and not read as a file, so that `$0` is the shell's name and messages name no descriptor of ours; they
/// say `eval` in its place. Such shells know descriptors of one digit only, and the path of another is there only with `/proc`; the
/// dot keeps newlines at the end.
pub const PLAIN_TAKE: &str = concat!(
    "case {script_fd} in ",
    "?) __ab=$(command -p cat <&{script_fd} && echo .) || exit 125 ;; ",
    "*) __ab=$(command -p cat /dev/fd/{script_fd} && echo .) || exit 125 ;; ",
    r#"esac; eval "${__ab%.}""#,
);
