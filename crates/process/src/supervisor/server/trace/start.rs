//! Starts a shell that is traced from its first instruction.
//!
//! A seccomp filter belongs to a thread and its children: a dedicated thread installs the filter
//! and starts the shell. This needs no launcher, which would be executed before the shell. If
//! shells follow one another, each once the former has no processes left, that thread starts all of
//! them, and the tracer continues with the next.

use super::filtered::FilteredThread;
use super::{Tracer, memory};
use crate::supervisor::server::sandboxed_start::NotLaunched;
use crate::supervisor::server::shell_command::{PreparedShell, ShellCommand};
use agent_bash_sandbox::{SandboxError, WatchScope};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Display;
use std::os::fd::OwnedFd;

/// The state before a shell.
#[derive(Debug)]
pub(in crate::supervisor::server) enum Before {
    /// No shell is waiting, or another one.
    Other,
    /// An equal shell without remaining processes, so that others may follow; with its tracer.
    Same(Option<Tracer>),
}

/// Starts it as [`ShellCommand::spawn`] does. Its pid, and by what it is watched.
pub(in crate::supervisor::server) fn start(
    command: &ShellCommand<'_>,
    standard: [OwnedFd; 3],
    inherited: &[&OwnedFd],
    before: Before,
    scope: WatchScope,
) -> Result<(i32, Tracer), NotLaunched> {
    let command = command.prepared(standard, inherited)?;
    let (more_follow, kept) = match before {
        Before::Other => (false, None),
        Before::Same(tracer) => (true, tracer),
    };
    if let Some(mut tracer) = kept.filter(Tracer::is_idle)
        && let Some(filtered) = tracer.filtered.take()
    {
        tracer.watch_another();
        let (pid, _) = begun(&filtered, command)?;
        tracer.filtered = Some(filtered);
        watchable(pid).inspect_err(|_| kill(pid))?;
        return Ok((pid, tracer));
    }
    let (filtered, thread) = FilteredThread::new(scope).map_err(|error| unwatched(&error))?;
    let (pid, listener) = begun(&filtered, command)?;
    let tracer = watchable(pid).and_then(|()| {
        let listener = listener.ok_or_else(|| unwatched(&"no listener"))?;
        let (apart, hidden) = (Vec::new(), Vec::new());
        Tracer::start(listener, scope, apart, hidden).map_err(|error| unwatched(&error))
    });
    let mut tracer = tracer.inspect_err(|_| kill(pid))?;
    if more_follow {
        tracer.filtered = Some(filtered);
    } else {
        drop(filtered);
        // The shell becomes a child of the main thread, where it is looked for.
        let _ = thread.join();
    }
    Ok((pid, tracer))
}

/// The shell's pid, and the listener if it is the first.
fn begun(
    filtered: &FilteredThread,
    command: PreparedShell,
) -> Result<(i32, Option<OwnedFd>), NotLaunched> {
    let started = filtered.start(command).map_err(|error| unwatched(&error))?;
    Ok(started?)
}

/// Kills a shell that has not been reaped, so that the pid is still its own: its calls would fail.
fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Checks that the memory of a process can be read: without it, every change would be unknown.
fn watchable(pid: i32) -> Result<(), NotLaunched> {
    memory::is_readable(pid)
        .map_err(|error| unwatched(&format_args!("reading the shell's memory: {error}")))
}

fn unwatched(reason: &dyn Display) -> NotLaunched {
    SandboxError::Unwatched(reason.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_changes::Store;
    use agent_bash_core::changes::{ChangesLevel, TraceState};
    use rustix::process::{WaitOptions, waitpid};
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::Duration;

    fn started(script: &str, before: Before) -> (i32, Tracer) {
        let command = ShellCommand {
            program: Path::new("/bin/sh"),
            arg0: OsStr::new("sh"),
            args: vec!["-c".into(), script.into()],
            env_changes: &[],
            group: 0,
        };
        let null = || OwnedFd::from(File::open("/dev/null").unwrap());
        let started = start(
            &command,
            [null(), null(), null()],
            &[],
            before,
            WatchScope::Changes,
        );
        started.map_err(|_| "it was not started").unwrap()
    }

    fn ended(pid: i32) {
        waitpid(Pid::from_raw(pid), WaitOptions::empty()).unwrap();
    }

    /// Waits until the process sleeps within this system call, or has ended. Returns whether it
    /// did.
    #[expect(
        clippy::disallowed_methods,
        reason = "there is no runtime whose clock it could wait by"
    )]
    fn stands_still(pid: i32, number: i64) -> bool {
        (0..6000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
            let is_within = call.starts_with(&format!("{number} "));
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            is_within && stat.contains(") S ") || stat.contains(") Z ")
        })
    }

    /// The order to record is given to one process and the script to another, so that a script may
    /// begin before its record does.
    #[test]
    fn connection_before_the_record_begins_waits_for_the_record() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        let (state, root) = (base.join("state"), base.join("root"));
        fs::create_dir(&state).unwrap();
        fs::create_dir(&root).unwrap();
        let store = Store::open(&state).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
        let (pid, tracer) = started(&script, Before::Other);
        assert!(stands_still(pid, nix::libc::SYS_connect));
        let set = store.begin_trace("s", &root, ChangesLevel::Undo).unwrap();
        tracer.record(set.dir().to_owned(), None);
        ended(pid);
        let lacking = tracer.stop(None).lacking.unwrap_or_default();
        assert!(lacking.contains(&format!("127.0.0.1:{port}")), "{lacking}");
    }

    /// The first shell, and its thread ends; then two of one thread, and each waits for its change
    /// set.
    #[test]
    fn a_shell_that_follows_is_watched_as_the_first_was() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        let (state, root) = (base.join("state"), base.join("root"));
        fs::create_dir(&state).unwrap();
        fs::create_dir(&root).unwrap();
        let file = root.join("file");
        fs::write(&file, "0").unwrap();
        let store = Store::open(&state).unwrap();
        let mut before = Before::Other;
        let mut threads = Vec::new();
        for round in 1..=4 {
            let script = format!("echo {round} >{}", file.display());
            let (pid, tracer) = started(&script, before);
            assert!(stands_still(pid, nix::libc::SYS_openat), "{round}");
            let there = fs::read_to_string(&file).unwrap();
            assert_eq!(there.trim(), (round - 1).to_string());
            let set = store.begin_trace("s", &root, ChangesLevel::Undo).unwrap();
            tracer.record(set.dir().to_owned(), None);
            ended(pid);
            assert_eq!(tracer.stop(None), TraceState::complete());
            let changes = store.finish(set).unwrap();
            assert_eq!(changes.counts.changed, 1, "{round}");
            assert_eq!(tracer.filtered.is_some(), round > 1);
            threads.push(tracer.thread.thread().id());
            before = Before::Same(Some(tracer));
        }
        assert_ne!(threads[0], threads[1]);
        assert_eq!(threads[1], threads[2]);
        assert_eq!(threads[2], threads[3]);
        // A tracer with an unfinished record traces no other shell.
        let Before::Same(Some(tracer)) = before else {
            return;
        };
        let set = store.begin_trace("s", &root, ChangesLevel::Undo).unwrap();
        tracer.record(set.dir().to_owned(), None);
        let (pid, tracer) = started("true", Before::Same(Some(tracer)));
        ended(pid);
        assert_ne!(threads[3], tracer.thread.thread().id());
    }
}
