//! Starts a shell that is traced from its first instruction.
//!
//! A seccomp filter belongs to a thread and its children: a dedicated thread installs the filter
//! and starts the shell. This needs no launcher, which would be executed before the shell. If equal
//! shells follow one another, each after the end of the former shell's processes, that thread
//! starts all of them, and the tracer is reused.

use super::Tracer;
use super::filtered::FilteredThread;
use crate::supervisor::server::sandboxed_start::NotLaunched;
use crate::supervisor::server::shell_command::{PreparedShell, ShellCommand};
use agent_bash_sandbox::trace::memory;
use agent_bash_sandbox::{SandboxError, TraceScope};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Display;
use std::os::fd::OwnedFd;

/// The tracer that the next shell may reuse.
#[derive(Debug)]
pub(in crate::supervisor::server) enum TracerReuse {
    /// A new tracer is started: there is no former shell, or it was started differently.
    NewTracer,
    /// The tracer of an equal former shell without remaining processes. More such shells may
    /// follow.
    Same(Option<Tracer>),
}

/// Starts a shell as [`ShellCommand::spawn`] does. Returns its pid and its tracer.
pub(in crate::supervisor::server) fn start(
    command: &ShellCommand<'_>,
    standard: [OwnedFd; 3],
    inherited: &[&OwnedFd],
    tracer_reuse: TracerReuse,
    scope: TraceScope,
) -> Result<(i32, Tracer), NotLaunched> {
    let command = command.prepare(standard, inherited)?;
    let (more_follow, reusable) = match tracer_reuse {
        TracerReuse::NewTracer => (false, None),
        TracerReuse::Same(tracer) => (true, tracer),
    };
    if let Some(mut tracer) = reusable.filter(Tracer::is_idle)
        && let Some(filtered) = tracer.filtered.take()
    {
        tracer.trace_another();
        let (pid, _) = start_in(&filtered, command)?;
        tracer.filtered = Some(filtered);
        check_readable(pid).inspect_err(|_| kill(pid))?;
        return Ok((pid, tracer));
    }
    let (filtered, thread) = FilteredThread::new(scope).map_err(|error| untraced_error(&error))?;
    let (pid, listener) = start_in(&filtered, command)?;
    let tracer = check_readable(pid).and_then(|()| {
        let listener = listener.ok_or_else(|| untraced_error(&"no listener"))?;
        Tracer::start(listener, scope, None, Vec::new(), None)
            .map_err(|error| untraced_error(&error))
    });
    let mut tracer = tracer.inspect_err(|_| kill(pid))?;
    if more_follow {
        tracer.filtered = Some(filtered);
    } else {
        drop(filtered);
        // The shell must become a child of the main thread before the main thread looks for it.
        let _ = thread.join();
    }
    Ok((pid, tracer))
}

/// Starts a shell. Returns its pid and, with the first shell of the thread, the listener.
fn start_in(
    filtered: &FilteredThread,
    command: PreparedShell,
) -> Result<(i32, Option<OwnedFd>), NotLaunched> {
    let started = filtered
        .start(command)
        .map_err(|error| untraced_error(&error))?;
    Ok(started?)
}

/// Kills a shell without a tracer, as its traced system calls would fail. The shell must not be
/// reaped yet.
fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Checks that the memory of a process can be read, without which no change could be recorded.
fn check_readable(pid: i32) -> Result<(), NotLaunched> {
    memory::is_readable(pid)
        .map_err(|error| untraced_error(&format_args!("reading the shell's memory: {error}")))
}

fn untraced_error(reason: &dyn Display) -> NotLaunched {
    SandboxError::Untraced(reason.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_changes::Store;
    use agent_bash_core::changes::{ChangesLevel, TraceState};
    use rustix::process::{WaitOptions, waitpid};
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::time::Duration;

    fn started(script: &str, tracer_reuse: TracerReuse) -> (i32, Tracer) {
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
            tracer_reuse,
            TraceScope::Changes,
        );
        started.map_err(|_| "it was not started").unwrap()
    }

    /// Creates a root of change sets and their store below a directory.
    fn root_and_store(directory: &Path) -> (PathBuf, Store) {
        let base = fs::canonicalize(directory).unwrap();
        let [state, root] = ["state", "root"].map(|name| base.join(name));
        fs::create_dir(&state).unwrap();
        fs::create_dir(&root).unwrap();
        (root, Store::open(&state).unwrap())
    }

    fn reap(pid: i32) {
        waitpid(Pid::from_raw(pid), WaitOptions::empty()).unwrap();
    }

    /// Waits until this is true. False after a minute.
    #[expect(
        clippy::disallowed_methods,
        reason = "there is no runtime whose clock it could wait by"
    )]
    fn soon(is_true: impl Fn() -> bool) -> bool {
        (0..6000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            is_true()
        })
    }

    /// Waits until the process sleeps in this system call, or has ended.
    fn waits_in(pid: i32, number: i64) -> bool {
        soon(|| {
            let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
            let is_within = call.starts_with(&format!("{number} "));
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            is_within && stat.contains(") S ") || stat.contains(") Z ")
        })
    }

    /// The order to record and the script go to different processes, so a script may begin before
    /// its record.
    #[test]
    fn connection_before_record_begins_waits_for_record() {
        let temp = tempfile::tempdir().unwrap();
        let (root, store) = root_and_store(temp.path());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
        let (pid, tracer) = started(&script, TracerReuse::NewTracer);
        assert!(waits_in(pid, nix::libc::SYS_connect));
        let set = store.begin_trace("s", &root, ChangesLevel::Undo).unwrap();
        tracer.record(set.dir().to_owned(), None);
        reap(pid);
        let incomplete_reason = tracer.stop(None).incomplete_reason.unwrap_or_default();
        assert!(
            incomplete_reason.contains(&format!("127.0.0.1:{port}")),
            "{incomplete_reason}"
        );
    }

    /// The first shell is started by a thread of its own, the next ones by a shared thread. Each
    /// waits for its change set.
    #[test]
    fn following_shells_are_traced_by_one_thread() {
        let temp = tempfile::tempdir().unwrap();
        let (root, store) = root_and_store(temp.path());
        let file = root.join("file");
        fs::write(&file, "0").unwrap();
        let mut tracer_reuse = TracerReuse::NewTracer;
        let mut threads = Vec::new();
        for round in 1..=4 {
            let script = format!("echo {round} >{}", file.display());
            let (pid, tracer) = started(&script, tracer_reuse);
            assert!(waits_in(pid, nix::libc::SYS_openat), "{round}");
            let content = fs::read_to_string(&file).unwrap();
            assert_eq!(content.trim(), (round - 1).to_string());
            let set = store.begin_trace("s", &root, ChangesLevel::Undo).unwrap();
            tracer.record(set.dir().to_owned(), None);
            reap(pid);
            assert_eq!(tracer.stop(None), TraceState::complete());
            let changes = store.finish(set).unwrap();
            assert_eq!(changes.counts.changed, 1, "{round}");
            assert_eq!(tracer.filtered.is_some(), round > 1);
            threads.push(tracer.thread.thread().id());
            tracer_reuse = TracerReuse::Same(Some(tracer));
        }
        assert_ne!(threads[0], threads[1]);
        assert_eq!(threads[1], threads[2]);
        assert_eq!(threads[2], threads[3]);
        // A tracer with an unfinished record is not reused.
        let TracerReuse::Same(Some(tracer)) = tracer_reuse else {
            return;
        };
        let set = store.begin_trace("s", &root, ChangesLevel::Undo).unwrap();
        tracer.record(set.dir().to_owned(), None);
        let shared_with_thread = Arc::downgrade(&tracer.has_survivors);
        let (pid, tracer) = started("true", TracerReuse::Same(Some(tracer)));
        reap(pid);
        assert_ne!(threads[3], tracer.thread.thread().id());
        // The thread of the former tracer writes to its change set until it ends.
        assert!(soon(|| shared_with_thread.strong_count() == 0));
    }
}
