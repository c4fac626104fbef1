//! Processes that withstand SIGKILL are named, in a call of its own and in a session. On Linux, a
//! debugger can cause that: the process has taken the signal, but is stopped before it is gone.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{self, run_with, soon, spec};
use agent_bash_core::{Cancel, ScriptEnding, SessionName};
use nix::sys::ptrace;
use nix::unistd::Pid;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Holds the end of a process as long as the tracing thread lives: until `done` is dropped.
fn hold(pid: i32, held: &Sender<()>, done: &Receiver<()>) {
    ptrace::seize(Pid::from_raw(pid), ptrace::Options::PTRACE_O_TRACEEXIT).unwrap();
    held.send(()).unwrap();
    // A thread detaches from its tracees when it ends.
    let _ = done.recv();
}

async fn pid_in(file: &Path) -> i32 {
    let read = || std::fs::read_to_string(file).ok()?.trim().parse().ok();
    assert!(soon(|| read().is_some()).await, "{}", file.display());
    read().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn process_that_survives_sigkill_is_named() {
    let own = spec("");
    let in_session = own.clone().session(SessionName("a".into()));
    for (way, is_held) in [
        (&own, true),
        (&in_session, true),
        (&own, false),
        (&in_session, false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let (file, gate) = (directory.path().join("pid"), directory.path().join("gate"));
        let cancel = Cancel::new();
        let spec = way
            .clone()
            .script(format!(
                "sleep 1000 & echo $! >{}; : >{}; wait",
                file.display(),
                gate.display()
            ))
            .grace(Duration::from_millis(200));
        let cache = support::cache();
        let (held, is_there) = channel();
        let (release, done) = channel::<()>();
        let ordered = cancel.clone();
        let follow = async {
            assert!(soon(|| gate.exists()).await);
            let pid = pid_in(&file).await;
            if is_held {
                std::thread::spawn(move || hold(pid, &held, &done));
                tokio::task::block_in_place(|| is_there.recv().unwrap());
            }
            ordered.cancel();
            pid
        };
        let (ran, pid) = tokio::join!(run_with(&cache, &spec, &cancel), follow);
        let outcome = ran.unwrap().outcome;
        assert_eq!(outcome.ending, ScriptEnding::Cancelled);
        let named: Vec<_> = outcome
            .survivors
            .iter()
            .map(|one| one.pid.cast_signed())
            .collect();
        let wanted = if is_held { vec![pid] } else { Vec::new() };
        assert_eq!(named, wanted, "{:?}: {outcome:?}", way.session);
        drop(release);
        assert!(soon(|| !Path::new(&format!("/proc/{pid}")).exists()).await);
    }
}
