//! System errors, with advice so that the reader can act on them.

use rustix::io::Errno;
use std::io;
use std::os::unix::net::UnixStream;

/// Returns a system error with the name of the requested thing and, if known, advice.
pub(crate) fn system_error(requested: &str, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    let advice = advice(requested, &error);
    io::Error::new(error.kind(), format!("{requested}: {error}{advice}"))
}

/// Adds advice, if there is any, to an error that already names the requested thing.
pub(crate) fn with_advice(error: io::Error) -> io::Error {
    match advice("", &error) {
        "" => error,
        advice => io::Error::new(error.kind(), format!("{error}{advice}")),
    }
}

fn advice(requested: &str, error: &io::Error) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::MFILE) => "; too many files are open, and `ulimit -n` is the limit",
        Some(Errno::NFILE) => "; the system has no room for more open files",
        Some(Errno::AGAIN) => {
            "; the user's process limit (`ulimit -u`, or that of a container) is probably reached"
        }
        Some(Errno::PERM | Errno::NOSYS) if requested == UNNAMED_FILE => {
            "; the script is passed in such a file, and a seccomp filter probably forbids it"
        }
        Some(_) if NEEDED_CALLS.contains(&requested) => {
            "; a filter of system calls (seccomp) probably forbids it"
        }
        _ => "",
    }
}

/// System calls without which nothing can be run.
const NEEDED_CALLS: [&str; 3] = ["prlimit64", "socketpair", "pipe2"];

/// Makes the system calls whose refusal would end this program: libraries panic then.
///
/// # Errors
/// The system refuses a call, which the error names.
pub fn try_needed_calls() -> io::Result<()> {
    let [limits, sockets, pipe] = NEEDED_CALLS;
    // The function of `rustix` panics on an error.
    let got = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE);
    got.map_err(|error| system_error(limits, error))?;
    // `tokio` has such a pair for signals.
    UnixStream::pair().map_err(|error| system_error(sockets, error))?;
    io::pipe().map_err(|error| system_error(pipe, error))?;
    Ok(())
}

/// Returns why the system probably refuses another thread.
pub fn thread_refusal(error: &io::Error) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        // The C library falls back to `clone` on `ENOSYS` only.
        Some(Errno::PERM) => {
            "a filter of system calls (seccomp) forbids `clone3`, as in an old container engine"
        }
        _ => "the user's process limit (`ulimit -u`) is probably reached",
    }
}

/// The name, in errors, of the way to create an anonymous file.
pub(crate) const UNNAMED_FILE: &str = if cfg!(target_os = "linux") {
    "memfd_create"
} else {
    "a temporary file"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_error_names_the_request_and_adds_advice() {
        for (requested, error, expected) in [
            (
                UNNAMED_FILE,
                Errno::PERM,
                "memfd_create: Operation not permitted (os error 1); the script is passed in such a file, and a seccomp filter probably forbids it",
            ),
            (
                "a pipe",
                Errno::MFILE,
                "a pipe: Too many open files (os error 24); too many files are open, and `ulimit -n` is the limit",
            ),
            (
                "pipe2",
                Errno::NOSYS,
                "pipe2: Function not implemented (os error 38); a filter of system calls (seccomp) probably forbids it",
            ),
            (
                "socketpair",
                Errno::MFILE,
                "socketpair: Too many open files (os error 24); too many files are open, and `ulimit -n` is the limit",
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
            let error = system_error(requested, error);
            assert_eq!(error.to_string(), expected);
        }
        try_needed_calls().unwrap();
    }
}
