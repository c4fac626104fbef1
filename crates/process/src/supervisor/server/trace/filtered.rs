//! A thread with the seccomp filter of a trace: every program that it starts is traced.

use crate::supervisor::server::shell_command::PreparedShell;
use agent_bash_sandbox::{TraceScope, trace};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Stack size of the thread, in bytes. The thread makes few system calls, and builds argument
/// lists.
const STACK_BYTES: usize = 256 * 1024;

/// The thread. Dropping this value ends it.
#[derive(Debug)]
pub(super) struct FilteredThread {
    orders: Sender<PreparedShell>,
    started: Receiver<io::Result<io::Result<StartedProcess>>>,
}

/// The pid of a shell; with the first shell, also the listener of the filter.
type StartedProcess = (i32, Option<OwnedFd>);

impl FilteredThread {
    pub(super) fn new(scope: TraceScope) -> io::Result<(Self, JoinHandle<()>)> {
        let (orders, commands) = channel::<PreparedShell>();
        let (results, started) = channel();
        let run = move || {
            let mut listener = match trace::begin(scope) {
                Ok(listener) => Some(listener),
                // [`Self::start`] receives the error.
                Err(error) => return drop(results.send(Err(error))),
            };
            // Until the first shell runs, this thread must not make a traced system call: the
            // listener is not served yet.
            for command in commands {
                let pid = command.spawn();
                let started = pid.map(|pid| (pid, listener.take()));
                if results.send(Ok(started)).is_err() {
                    return;
                }
            }
        };
        let thread = Builder::new().name("agent-bash-start".to_owned());
        let thread = thread.stack_size(STACK_BYTES).spawn(run)?;
        Ok((Self { orders, started }, thread))
    }

    /// Starts a shell. The outer error means that the shell cannot be traced, the inner error that
    /// the shell cannot be started.
    pub(super) fn start(&self, command: PreparedShell) -> io::Result<io::Result<StartedProcess>> {
        // If the thread has ended, the receiver below fails.
        let _ = self.orders.send(command);
        let failed = |_| io::Error::other("starting the shell failed");
        self.started.recv().map_err(failed)?
    }
}
