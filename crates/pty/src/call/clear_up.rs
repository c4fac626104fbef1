//! After the shell's end: what was written is drained, and whoever is left is named and handed over, ended, or waited for.

use super::{AFTER_GRACE, End, PtyRun};
use agent_bash_call::{Reason, fired};
use agent_bash_core::{Ending, OutputConsumer, StreamId, Survivor, SurvivorPolicy};
use agent_bash_process::supervisor::{Event, Gone};
use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// After the shell's end its output is drained until it ends, or is quiet for this long …
const QUIET: Duration = Duration::from_millis(100);

/// … or this long altogether.
const DRAIN: Duration = Duration::from_millis(300);

/// More than the system keeps of a terminal's output. Who is still writing then is not the shell.
const MOST_AT_ONCE: usize = 1 << 20;

/// Processes that let go of the terminal and are not gone yet get this long to go, before they are called survivors.
const SETTLE: Duration = Duration::from_millis(50);

/// What is left of a call.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) survivors: Vec<Survivor>,
    /// Nobody: the supervisor ends when it is let go of.
    pub(super) empty: bool,
}

impl PtyRun {
    /// Drains what was written, shows the last screen, and deals with whoever is left.
    pub(super) async fn clear_up(
        &mut self,
        end: &End,
        reason: Option<Reason>,
        ending: &Ending,
        out: &mut dyn OutputConsumer,
    ) -> Left {
        if end.shell.is_none() && reason.is_none() {
            let ended = self.supervised.sweep(&[]);
            tracing::warn!(ended, "the supervisor is gone; its session was swept");
        }
        let empty = self.drain(out, end.empty || end.shell.is_none()).await;
        let last = self.shared.last_screen();
        self.push(&last, out);
        if let Ending::Lost { reason } = ending {
            let line = format!("\r\nPTY error: {reason}\r\n");
            self.push(line.as_bytes(), out);
        }
        if empty || reason.is_some() || end.shell.is_none() {
            return Left {
                survivors: end.stuck.clone(),
                empty,
            };
        }
        let survivors = match self.spec.survivors {
            SurvivorPolicy::Adopt => self.adopt(out).await,
            SurvivorPolicy::Kill => self.end_survivors(out, Duration::ZERO).await,
            SurvivorPolicy::Wait => self.wait_for_survivors(out).await,
        };
        Left {
            empty: survivors.is_empty(),
            survivors,
        }
    }

    /// Reads what was written up to now, whatever the time is: on a busy machine all limits may have passed before this task
    /// is looked at again. Then reads on until the terminal ends, or quiet, or the limit; then lets the last processes go. Returns whether nobody is
    /// left.
    async fn drain(&mut self, out: &mut dyn OutputConsumer, mut empty: bool) -> bool {
        let mut read = 0;
        while !self.reader.ended
            && read < MOST_AT_ONCE
            && let Some(chunk) = self.terminal.read_now(&mut self.reader.buffer)
        {
            read += chunk.as_ref().map_or(0, |count| *count);
            self.take(chunk, out);
        }
        let clock = Arc::clone(&self.options.clock);
        let mut limit = clock.sleep(DRAIN);
        let mut quiet = clock.sleep(QUIET);
        while !self.reader.ended {
            tokio::select! {
                biased;
                () = &mut limit => break,
                chunk = self.terminal.read(&mut self.reader.buffer) => {
                    self.take(chunk, out);
                    quiet = clock.sleep(QUIET);
                }
                event = self.supervised.event(), if !empty => {
                    empty = matches!(event, Ok((Event::Empty, _)) | Err(Gone));
                }
                () = &mut quiet => break,
            }
        }
        let mut settle = clock.sleep(SETTLE);
        while !empty && self.reader.ended {
            tokio::select! {
                biased;
                event = self.supervised.event() => {
                    empty = matches!(event, Ok((Event::Empty, _)) | Err(Gone));
                }
                () = &mut settle => break,
            }
        }
        empty
    }

    /// Names the survivors and leaves them to the supervisor, their terminal included.
    async fn adopt(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        let Ok(survivors) = self.supervised.survivors().await else {
            return Vec::new();
        };
        if survivors.is_empty() {
            return survivors;
        }
        // The host's last read is done; what comes from now on is the supervisor's.
        let master = [self.terminal.master()];
        let file: Option<File> = out.file_for_survivors(StreamId::Merged);
        let files: Vec<_> = file.iter().map(AsFd::as_fd).collect();
        let quota = self.options.survivor_quota;
        let adopted = self.supervised.adopt(&master, &files, true, quota).await;
        match adopted {
            // It was killed in this moment. Nobody reads on for them, but they live.
            Ok(()) | Err(_) => survivors,
        }
    }

    /// Ends whoever is left.
    async fn end_survivors(
        &mut self,
        out: &mut dyn OutputConsumer,
        grace: Duration,
    ) -> Vec<Survivor> {
        if self.supervised.link().terminate(grace).is_err() {
            return Vec::new();
        }
        let clock = Arc::clone(&self.options.clock);
        let mut give_up = clock.sleep(grace + AFTER_GRACE);
        loop {
            tokio::select! {
                biased;
                event = self.supervised.event() => match event {
                    Ok((Event::Empty, _)) | Err(Gone) => break,
                    Ok((Event::Stuck { survivors }, _)) => return survivors,
                    Ok(_) => {}
                },
                chunk = self.terminal.read(&mut self.reader.buffer), if !self.reader.ended => {
                    self.take(chunk, out);
                }
                () = &mut give_up => break,
            }
        }
        self.drain(out, true).await;
        Vec::new()
    }

    /// Waits until nobody is left, within the call's time.
    async fn wait_for_survivors(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        loop {
            tokio::select! {
                biased;
                event = self.supervised.event() => {
                    if matches!(event, Ok((Event::Empty, _)) | Err(Gone)) {
                        self.drain(out, true).await;
                        return Vec::new();
                    }
                }
                _ = fired(&mut self.watchdog) => {
                    return self.end_survivors(out, self.spec.grace).await;
                }
                chunk = self.terminal.read(&mut self.reader.buffer), if !self.reader.ended => {
                    self.take(chunk, out);
                }
            }
        }
    }
}
