//! What shells on pipes and on terminals are told alike: how to get to the call's directory, how to be rid of what is ours, and how
//! to say that they cannot run the script.

use agent_bash_core::{NotStarted, RunSpec, Shell};
use std::os::fd::AsFd;

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

/// The text that redirects the shell for good. `command` is against a function by the name of `exec`; but bash before 5.1 keeps
/// copies of what it redirects by it in descriptors from 10 on, and closes what the script has put there in their place.
pub fn exec(redirections: &str) -> String {
    format!(
        r"case $BASH_VERSION in 4.*|5.0.*) \exec {redirections} ;; *) \command exec {redirections} ;; esac"
    )
}

/// What a shell that cannot enter its directory adds to its script file: nothing else can write there, since the descriptor is
/// closed before the script runs.
const NO_DIRECTORY: u8 = b'd';

/// What one adds that is too old, followed by its version.
pub const TOO_OLD: u8 = b'v';

/// Why the shell has not run its script, if it has said so behind the record, which ends at `length`.
pub fn refusal(script: impl AsFd, length: u64, spec: &RunSpec) -> Option<NotStarted> {
    let mut said = [0; 64];
    let count = rustix::io::pread(script, &mut said, length).ok()?;
    match said[..count].split_first()? {
        (&NO_DIRECTORY, []) => Some(NotStarted::new(format!(
            "`{}` could not be entered",
            spec.cwd.display()
        ))),
        (&TOO_OLD, version) => Some(too_old(&spec.shell, version)),
        _ => None,
    }
}

/// The shell is a bash that lacks what we need of it (`mapfile -d`).
pub fn too_old(shell: &Shell, version: &[u8]) -> NotStarted {
    NotStarted::new(format!(
        "bash 4.4 or later is needed, and `{}` is {}; name another as the shell",
        shell.path.display(),
        String::from_utf8_lossy(version)
    ))
}
