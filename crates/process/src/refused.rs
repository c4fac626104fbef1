//! System errors, explained so that the reader can act on them.

use rustix::io::Errno;
use std::io;

/// The error, with what was requested and, if known, what may help.
pub(crate) fn refused(what: &str, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    let advice = advice(what, &error);
    io::Error::new(error.kind(), format!("{what}: {error}{advice}"))
}

/// Adds what may help to an error that already says what was requested.
pub(crate) fn explained(error: io::Error) -> io::Error {
    match advice("", &error) {
        "" => error,
        advice => io::Error::new(error.kind(), format!("{error}{advice}")),
    }
}

fn advice(what: &str, error: &io::Error) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::MFILE) => "; too many files are open, and `ulimit -n` says how many may be",
        Some(Errno::NFILE) => "; the system has no room for more open files",
        Some(Errno::AGAIN) => {
            "; the user's processes are probably as many as they may be (`ulimit -u`, or the limit of a container)"
        }
        Some(Errno::PERM | Errno::NOSYS) if what == UNNAMED_FILE => {
            "; the script is handed over in such a file, and a filter of system calls (seccomp) seems to forbid them"
        }
        _ => "",
    }
}

/// How an anonymous file is requested.
pub(crate) const UNNAMED_FILE: &str = if cfg!(target_os = "linux") {
    "memfd_create"
} else {
    "a temporary file"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_was_refused_and_what_may_help() {
        for (what, error, says) in [
            (
                UNNAMED_FILE,
                Errno::PERM,
                "memfd_create: Operation not permitted (os error 1); the script is handed over in such a file, and a filter of system calls (seccomp) seems to forbid them",
            ),
            (
                "a pipe",
                Errno::MFILE,
                "a pipe: Too many open files (os error 24); too many files are open, and `ulimit -n` says how many may be",
            ),
            (
                "/bin/bash",
                Errno::NOENT,
                "/bin/bash: No such file or directory (os error 2)",
            ),
            (
                "/bin/bash",
                Errno::PERM,
                "/bin/bash: Operation not permitted (os error 1)",
            ),
        ] {
            let error = refused(what, error);
            assert_eq!(error.to_string(), says);
        }
    }
}
