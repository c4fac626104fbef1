//! Interrupts a command as Ctrl+C on a terminal does: its processes get SIGINT, and the persistent
//! shell continues with its variables and functions. A command that does not end is cancelled,
//! which ends the shell.

use agent_bash::LiveFeed;
use agent_bash::core::{Cancel, Clock, ConsumerFlow, OutputConsumer, StreamId};
use agent_bash::process::{interrupt_below, ticks_since_boot};
use agent_bash::sink::LiveUpdates;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// How long an interrupted command may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// A running command, and the means to end it.
#[derive(Debug, Clone)]
pub(crate) struct InterruptibleCommand {
    pub(crate) cancel: Cancel,
    shell: Arc<ShellPid>,
}

/// The shell of a command; 0 before it is known.
#[derive(Debug, Default)]
struct ShellPid {
    pid: AtomicU32,
    /// Start time in ticks since boot.
    start_ticks: AtomicU64,
}

impl InterruptibleCommand {
    pub(crate) fn new() -> Self {
        Self {
            cancel: Cancel::new(),
            shell: Arc::default(),
        }
    }

    /// Returns a consumer of the command's output that also stores the pid of the command's shell.
    pub(crate) fn feed<'a>(&self, live: &'a LiveUpdates) -> OutputFeed<'a> {
        OutputFeed {
            live: LiveFeed(live),
            shell: Arc::clone(&self.shell),
        }
    }

    /// Marks the command as ended: there is nothing left to interrupt.
    pub(crate) fn mark_ended(&self) {
        // The process id of an ended command may be reused.
        self.cancel.cancel();
    }

    /// Interrupts the command. Cancels it if it does not end in time, or if no process can be
    /// interrupted.
    pub(crate) async fn interrupt(self, clock: Arc<dyn Clock>) {
        let shell = self.shell.pid.load(Ordering::Acquire);
        let since = self.shell.start_ticks.load(Ordering::Acquire);
        if shell != 0 && interrupt_below(shell, since) > 0 {
            // A command that has ended or was cancelled needs no wait, which would delay quitting.
            tokio::select! {
                () = self.cancel.cancelled() => return,
                () = clock.sleep(END_TIMEOUT) => {}
            }
        }
        self.cancel.cancel();
    }
}

/// Forwards output, and stores the pid of the shell.
pub(crate) struct OutputFeed<'a> {
    live: LiveFeed<'a>,
    shell: Arc<ShellPid>,
}

impl OutputConsumer for OutputFeed<'_> {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.live.chunk(stream, bytes)
    }

    fn started(&mut self, pid: u32, group: u32) {
        if let Some(since) = ticks_since_boot() {
            self.shell.start_ticks.store(since, Ordering::Release);
            self.shell.pid.store(pid, Ordering::Release);
        }
        self.live.started(pid, group);
    }

    fn file_for_survivors(&mut self, stream: StreamId) -> Option<File> {
        self.live.file_for_survivors(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_test_kit::driven_clock::DrivenClock;
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "a shell of the test's own")]
    async fn interrupt_returns_at_once_when_the_command_has_ended() {
        let mut shell = Command::new("bash")
            .args(["--norc", "-c", "trap '' INT; cat; :"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The shell has set its trap once `cat` has answered.
        let mut answer = [0];
        shell.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        let output = shell.stdout.as_mut().unwrap();
        output.read_exact(&mut answer).unwrap();
        let running = InterruptibleCommand::new();
        running.shell.pid.store(shell.id(), Ordering::Release);
        // Time passes only when the test says so.
        let clock = Arc::new(DrivenClock::holding(END_TIMEOUT));
        let interrupted = tokio::spawn(running.clone().interrupt(clock));
        running.mark_ended();
        interrupted.await.unwrap();
        drop(shell.stdin.take());
        shell.wait().unwrap();
    }
}
