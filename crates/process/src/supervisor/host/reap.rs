//! Reaps supervisors. If a supervisor was killed, ends its remaining processes.

use crate::private_directory;
use crate::proc_scan;
use agent_bash_core::lock;
use agent_bash_os::{ProcessHandle, ProcessInfo};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::oneshot;

/// Kills the remaining processes of the session of `leader`, and processes that can write to the
/// pipes of `output`. Returns their number. `leader` must not be reaped yet.
pub(super) fn sweep(leader: i32, output: &[BorrowedFd<'_>]) -> usize {
    /// Maximum number of rounds. Each round kills processes that were forked during the previous
    /// one.
    const MAX_ROUNDS: usize = 100;
    let pipes = output.iter().copied();
    let pipes: Vec<u64> = pipes.filter_map(proc_scan::inode_of_pipe).collect();
    let is_leftover = |process: &ProcessInfo| {
        process.pid != leader
            && !process.zombie
            && (process.session == leader || proc_scan::writes_to(process.pid, &pipes))
    };
    let mut ended = 0;
    for _ in 0..MAX_ROUNDS {
        let mut found = false;
        for process in proc_scan::processes().into_iter().filter(is_leftover) {
            let Ok(handle) = ProcessHandle::open(process.pid) else {
                continue;
            };
            if ProcessInfo::read(process.pid).is_some_and(|now| is_leftover(&now))
                && handle.signal(Signal::KILL.as_raw()).is_ok()
            {
                found = true;
                ended += 1;
            }
        }
        if !found {
            break;
        }
    }
    ended
}

/// The number of supervisors that are not reaped yet, with a notification for each change. Clones
/// share the count.
#[derive(Debug, Clone, Default)]
pub(super) struct UnreapedCount(Arc<(Mutex<usize>, Condvar)>);

/// Counts one supervisor until it is dropped.
#[derive(Debug)]
pub(super) struct UnreapedSupervisor(UnreapedCount);

impl UnreapedCount {
    fn lock(&self) -> MutexGuard<'_, usize> {
        lock(&self.0.0)
    }

    /// Counts one more supervisor, until the returned value is dropped.
    pub(super) fn add(&self) -> UnreapedSupervisor {
        *self.lock() += 1;
        UnreapedSupervisor(self.clone())
    }

    /// Waits until the count is zero; false if it is not after `limit`.
    pub(super) fn is_zero_within(&self, limit: Duration) -> bool {
        let waited = self
            .0
            .1
            .wait_timeout_while(self.lock(), limit, |left| *left > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }
}

impl Drop for UnreapedSupervisor {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.0.1.notify_all();
    }
}

/// The process of a supervisor, which is always reaped: if the waiting task is dropped with its
/// runtime, a thread takes over.
#[derive(Debug)]
pub(super) struct SupervisorProcess {
    /// `None` once the supervisor is reaped.
    child: Option<Pid>,
    /// True if the supervisor may outlive its host.
    outlives_host: bool,
    unreaped: Option<UnreapedSupervisor>,
    /// The directory in which the supervisor creates directories for shells.
    directories: Option<PathBuf>,
}

impl SupervisorProcess {
    pub(super) fn new(child: Pid, unreaped: UnreapedSupervisor) -> Self {
        Self {
            child: Some(child),
            outlives_host: false,
            unreaped: Some(unreaped),
            directories: None,
        }
    }

    /// The pid of the supervisor; `None` once the supervisor is reaped.
    pub(super) fn pid(&self) -> Option<Pid> {
        self.child
    }

    /// Lets the supervisor outlive this program, which then does not wait for it.
    pub(super) fn set_outlives_host(&mut self) {
        self.outlives_host = true;
        self.unreaped = None;
    }

    /// Sets the directory in which the supervisor creates directories for shells.
    pub(super) fn set_shell_directories(&mut self, directory: PathBuf) {
        self.directories = Some(directory);
    }

    /// Sends the supervisor a signal, unless it is reaped.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.child {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// Reaps the supervisor if it has ended, and returns its exit status.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        let pid = self.child?;
        let (_, status) = waitpid(Some(pid), WaitOptions::NOHANG).ok()??;
        self.child = None;
        self.unreaped = None;
        Some(ExitStatus::from_raw(status.as_raw()))
    }

    /// Reaps the supervisor if it has ended; true if it is reaped. If the supervisor was killed,
    /// kills its remaining processes: the task that watches the socket may have ended.
    pub(super) fn try_reap(&mut self) -> bool {
        let Some(pid) = self.child else {
            return true;
        };
        // Look first without reaping, so that the session id is not reused during the sweep.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), options) {
            Ok(None) => return false,
            Ok(Some(status)) if status.exit_status() != Some(0) && !self.outlives_host => {
                let ended = sweep(pid.as_raw_pid(), &[]);
                if let Some(directories) = &self.directories {
                    private_directory::sweep_temporary(directories);
                }
                tracing::debug!(ended, "a supervisor was killed; its session was swept");
            }
            Ok(Some(_)) | Err(_) => {}
        }
        let reaped = !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None));
        if reaped {
            self.child = None;
            self.unreaped = None;
        }
        reaped
    }

    /// Waits for the end. Returns false if the system offers no way to wait without blocking a
    /// thread.
    async fn has_ended(&self) -> bool {
        let Some(pid) = self.child else {
            return true;
        };
        // A pidfd becomes readable like a pipe.
        let handle = ProcessHandle::open(pid.as_raw_pid()).ok();
        let pidfd = handle.and_then(ProcessHandle::into_pidfd);
        match pidfd.map(Receiver::from_owned_fd_unchecked) {
            Some(Ok(pidfd)) => pidfd.readable().await.is_ok(),
            Some(Err(_)) | None => false,
        }
    }

    /// Waits for the supervisor's end and reaps it.
    fn reap(mut self) {
        while !self.try_reap() {
            if let Some(pid) = self.child {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                let _ = waitid(WaitId::Pid(pid), options);
            }
        }
    }
}

impl Drop for SupervisorProcess {
    fn drop(&mut self) {
        if self.try_reap() {
            return;
        }
        let (child, outlives_host) = (self.child.take(), self.outlives_host);
        let (unreaped, directories) = (self.unreaped.take(), self.directories.take());
        let thread = std::thread::Builder::new().name("agent-bash-reap".to_owned());
        // Passed in parts: a `SupervisorProcess` dropped because its thread did not start would
        // start another thread.
        let reap = move || {
            let process = Self {
                child,
                outlives_host,
                unreaped,
                directories,
            };
            process.reap();
        };
        let _ = thread.spawn(reap);
    }
}

/// Waits for a supervisor's end and reaps it. A supervisor with adopted survivors may run for
/// hours; its end of the socket closes when it ends.
pub(super) async fn reap(ending: Option<SupervisorProcess>, socket: Arc<UnixStream>) {
    let mut unread = [0u8; 256];
    loop {
        match socket.try_read(&mut unread) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if socket.readable().await.is_err() {
                    break;
                }
            }
            Err(_) => break,
        }
    }
    let Some(mut ending) = ending else { return };
    // A process closes its descriptors a moment before it can be reaped.
    if ending.has_ended().await && ending.try_reap() {
        return;
    }
    let (sender, receiver) = oneshot::channel();
    let wait = move || {
        ending.reap();
        // The receiving task may have been dropped.
        let _ = sender.send(());
    };
    // If no thread can be started, the supervisor is not reaped.
    let _ = std::thread::Builder::new().spawn(wait);
    let _ = receiver.await;
}
