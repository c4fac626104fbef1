//! One call of a session: handshake, output, report, and what becomes of the shell.

use super::Remembered;
use super::live::{Fifo, LiveShell, gone, read_status, until_ended};
use super::record::{NO_DIRECTORY, READY, Record, Report, take_report};
use crate::cache::ShellCacheOptions;
use crate::call::{AFTER_GRACE, DRAIN, QUIET};
use crate::start;
use crate::streams::{AFTER_STOP, OutputStreams, Progress, optional};
use crate::watchdog::{self, Reason, Watchdog};
use agent_bash_core::{
    Cancel, Clock, Ending, NotStarted, Notice, NoticeKind, Outcome, OutputConsumer, RunSpec,
    StreamId, Streams, Survivor, Timestamp,
};
use agent_bash_process::signal_name;
use agent_bash_process::supervisor::{Event, Gone, ShellEnd};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a shell may take to say that it has taken a record.
const READY_WITHIN: Duration = Duration::from_secs(1);

/// One call that a session's shell has taken.
#[derive(Debug)]
pub(super) struct SessionCall<'a> {
    spec: &'a RunSpec,
    options: &'a ShellCacheOptions,
    shell: LiveShell,
    streams: OutputStreams,
    /// The FIFOs behind the streams.
    paths: Vec<(StreamId, PathBuf)>,
    watchdog: Option<Watchdog>,
    refused: bool,
    started_at: Timestamp,
    started: Duration,
}

/// How a call left its session.
#[derive(Debug)]
pub(super) enum After {
    /// The shell waits for the next call.
    Alive {
        outcome: Outcome,
        shell: LiveShell,
        cwd: Vec<u8>,
    },
    /// The call was the shell's last.
    Ended { outcome: Outcome, reason: String },
    /// The script was not run, and the shell, if it still is there, can take another.
    Refused {
        error: NotStarted,
        shell: Option<LiveShell>,
    },
    /// The script was not taken: another shell can have it.
    Untaken(String),
}

/// What the shell did after it took a script.
#[derive(Debug)]
enum Observed {
    Report(Report),
    End(Option<ShellEnd>),
}

impl<'a> SessionCall<'a> {
    /// Gives the shell its record, and waits until it has taken it.
    ///
    /// # Errors
    /// Why it did not: it is gone, or did not answer within a second. Nothing of the script has run.
    pub(super) async fn hand_over(
        spec: &'a RunSpec,
        mut shell: LiveShell,
        remembered: Option<&Remembered>,
        options: &'a ShellCacheOptions,
        cancel: &Cancel,
    ) -> Result<Self, String> {
        let failed = |error: io::Error| format!("its shell could not take a script ({error})");
        let stdout = shell.fifo().map_err(failed)?;
        let stderr = match spec.streams {
            Streams::Merged => None,
            Streams::Split => Some(shell.fifo().map_err(failed)?),
        };
        let status_path = shell.status_path();
        let remembered = remembered.filter(|_| shell.fresh);
        // A new shell goes where the last one was, else where the call wants it.
        let enters = spec.enter_cwd || (shell.fresh && remembered.is_none());
        let record = Record {
            script: &spec.script,
            cwd: enters.then_some(&*spec.cwd),
            remembered,
            snapshot: shell.snapshot.as_deref().filter(|_| shell.fresh),
            variables: &spec.env.changes,
            stdout: &stdout.path,
            stderr: stderr.as_ref().map(|fifo| &*fifo.path),
            status: &status_path,
        };
        let text = record.text();
        let pipes: Vec<_> = match stderr {
            None => vec![(StreamId::Merged, stdout)],
            Some(stderr) => vec![(StreamId::Stdout, stdout), (StreamId::Stderr, stderr)],
        };
        let (fds, paths) = pipes
            .into_iter()
            .map(|(stream, fifo)| ((stream, fifo.fd), (stream, fifo.path)))
            .unzip();
        let started_at = options.clock.wall();
        let started = options.clock.now();
        shell.said.clear();
        shell.write(&text).map_err(failed)?;
        let refused = !has_taken(&mut shell, &*options.clock).await?;
        shell.fresh = false;
        let watchdog = Watchdog::start_for_session(
            shell.supervised.link(),
            Arc::clone(&options.clock),
            cancel.clone(),
            spec.timeout,
            spec.grace,
        );
        Ok(Self {
            spec,
            options,
            // Not before: a FIFO without a writer, that once had one, is one at its end.
            streams: OutputStreams::of(fds).map_err(failed)?,
            paths,
            watchdog: Some(watchdog),
            refused,
            started_at,
            started,
            shell,
        })
    }

    /// Follows the call to its end.
    pub(super) async fn finish(mut self, out: &mut dyn OutputConsumer) -> After {
        if self.refused {
            self.keep_fifos();
            let cwd = self.spec.cwd.display();
            let error = NotStarted::new(format!("`{cwd}` could not be entered"));
            return After::Refused {
                error,
                shell: Some(self.shell),
            };
        }
        out.started(self.shell.pid, self.shell.pid);
        let observed = self.observe(out).await;
        let duration = self.options.clock.now().saturating_sub(self.started);
        let reason = self.watchdog.take().and_then(|watchdog| watchdog.reason());
        self.drain(out).await;
        match (observed, reason) {
            (Observed::Report(report), None) => self.alive(report, duration, out).await,
            (Observed::Report(_), Some(reason)) => {
                // It finished in the moment in which it was to be ended; its shell is being ended all the same.
                self.until_gone().await;
                self.ended(None, Some(reason), duration)
            }
            (Observed::End(end), reason) => self.ended(end, reason, duration),
        }
    }

    /// Reads output until the shell reports or ends; where it is being ended, until its tree is gone.
    async fn observe(&mut self, out: &mut dyn OutputConsumer) -> Observed {
        let clock = &self.options.clock;
        let mut close_stopped = None;
        let mut give_up = None;
        let mut end = None;
        loop {
            if let Some(report) = take_report(&mut self.shell.said) {
                return Observed::Report(report);
            }
            tokio::select! {
                biased;
                read = read_status(&self.shell.status, &mut self.shell.said) => if read.is_err() {
                    return Observed::End(end);
                },
                event = self.shell.supervised.event() => match event {
                    Ok((Event::Ended { end: shell, empty, .. }, _)) => {
                        end = Some(shell);
                        let ending = self.watchdog.as_ref().is_some_and(|dog| dog.reason().is_some());
                        if empty || !ending {
                            return Observed::End(end);
                        }
                    }
                    Ok((Event::Empty | Event::Stuck { .. }, _)) | Err(Gone) => {
                        return Observed::End(end);
                    }
                    Ok(_) => {}
                },
                _ = watchdog::fired(&mut self.watchdog), if give_up.is_none() => {
                    self.shell.supervised.wake();
                    give_up = Some(clock.sleep(self.spec.grace + AFTER_GRACE));
                }
                () = optional(&mut give_up) => return Observed::End(end),
                () = optional(&mut close_stopped) => {
                    close_stopped = None;
                    self.streams.close_stopped();
                }
                ready = self.streams.ready() => {
                    if let Some(watchdog) = &mut self.watchdog {
                        watchdog.guard();
                    }
                    if self.streams.read(ready, out) == Some(Progress::Stopped) {
                        close_stopped = Some(clock.sleep(AFTER_STOP));
                    }
                }
            }
        }
    }

    async fn until_gone(&mut self) {
        let limit = self.options.clock.sleep(self.spec.grace + AFTER_GRACE);
        tokio::select! {
            _ = until_ended(&mut self.shell.supervised) => {}
            () = limit => {}
        }
    }

    /// Until the end of all streams, or quiet, or the limit.
    async fn drain(&mut self, out: &mut dyn OutputConsumer) {
        self.streams.read_now(out);
        let clock = &self.options.clock;
        let mut limit = clock.sleep(DRAIN);
        let mut quiet = clock.sleep(QUIET);
        while !self.streams.ended() {
            tokio::select! {
                biased;
                () = &mut limit => return,
                ready = self.streams.ready() => {
                    if self.streams.read(ready, out).is_some() {
                        quiet = clock.sleep(QUIET);
                    }
                }
                () = &mut quiet => return,
            }
        }
    }

    /// The shell goes on. What it left in the background is named, and its output read on for.
    async fn alive(
        mut self,
        report: Report,
        duration: Duration,
        out: &mut dyn OutputConsumer,
    ) -> After {
        let mut survivors = Vec::new();
        if !self.streams.ended() || report.background != self.shell.background {
            survivors = self.background(out).await;
        }
        self.shell.background = report.background;
        self.shell.will_say_exports();
        self.keep_fifos();
        let final_cwd = OsStr::from_bytes(&report.cwd).into();
        let mut outcome = self.outcome(Ending::Exited { code: report.code }, duration, survivors);
        outcome.final_cwd = Some(final_cwd);
        After::Alive {
            outcome,
            shell: self.shell,
            cwd: report.cwd,
        }
    }

    /// Those that nobody holds any more are the next call's; the others lose their paths.
    fn keep_fifos(&mut self) {
        let mut ended = self.streams.take_ended();
        for (stream, path) in std::mem::take(&mut self.paths) {
            match ended.iter().position(|(ended, _)| *ended == stream) {
                Some(index) => {
                    let (_, fd) = ended.swap_remove(index);
                    self.shell.keep(Fifo { fd, path });
                }
                None => drop(std::fs::remove_file(path)),
            }
        }
    }

    /// Who runs beside the shell, and the reading of what they print handed to the supervisor.
    async fn background(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        let Ok(all) = self.shell.supervised.survivors().await else {
            return Vec::new();
        };
        let survivors = all
            .into_iter()
            .filter(|one| one.pid != self.shell.pid)
            .collect();
        let open: Vec<_> = self.streams.open().collect();
        let files: Vec<File> = open
            .iter()
            .filter_map(|(stream, _)| out.file_for_survivors(*stream))
            .collect();
        let pipes: Vec<BorrowedFd<'_>> = open.iter().map(|(_, pipe)| *pipe).collect();
        let files: Vec<BorrowedFd<'_>> = if files.len() == pipes.len() {
            files.iter().map(AsFd::as_fd).collect()
        } else {
            Vec::new()
        };
        let quota = self.options.survivor_quota;
        if !pipes.is_empty() {
            // Gone: then so is the shell, which the next call will find.
            let _ = self
                .shell
                .supervised
                .adopt(&pipes, &files, false, quota)
                .await;
        }
        survivors
    }

    /// The shell is gone.
    fn ended(self, end: Option<ShellEnd>, reason: Option<Reason>, duration: Duration) -> After {
        let (ending, why) = match (reason, end) {
            (Some(Reason::Cancel), _) => {
                (Ending::Cancelled, "the command was cancelled".to_owned())
            }
            (Some(Reason::Timeout), _) => {
                let after = self.spec.timeout.unwrap_or_default();
                (
                    Ending::TimedOut { after },
                    "the command was ended by its time limit".to_owned(),
                )
            }
            (None, Some(ShellEnd::Exited(code))) => (
                Ending::Exited { code },
                format!("its shell exited with code {code}"),
            ),
            (None, Some(ShellEnd::Signaled(number))) => {
                let signal = signal_name(number);
                let why = format!("its shell was ended by {signal}");
                (Ending::Signaled { signal, number }, why)
            }
            (None, None) => {
                let output: Vec<_> = self.streams.open().map(|(_, pipe)| pipe).collect();
                self.shell.supervised.sweep(&output);
                let reason = "the supervisor of the session was ended".to_owned();
                (
                    Ending::Lost {
                        reason: reason.clone(),
                    },
                    reason,
                )
            }
        };
        let mut outcome = self.outcome(ending, duration, Vec::new());
        outcome.shell_signal = end.and_then(ShellEnd::signal);
        After::Ended {
            outcome,
            reason: why,
        }
    }

    fn outcome(&self, ending: Ending, duration: Duration, survivors: Vec<Survivor>) -> Outcome {
        let mut notices: Vec<Notice> = start::notice(&self.shell.supervised).into_iter().collect();
        if !survivors.is_empty() {
            notices.push(Notice::from(NoticeKind::Survivors {
                survivors: survivors.clone(),
            }));
        }
        Outcome {
            ending,
            started_at: self.started_at,
            duration,
            stages: None,
            final_cwd: None,
            survivors,
            closed_early: self.streams.closed_early(),
            shell_signal: None,
            notices,
        }
    }
}

/// Waits until the shell has taken its record: whether it runs the script, since it could enter the directory.
async fn has_taken(shell: &mut LiveShell, clock: &dyn Clock) -> Result<bool, String> {
    let mut limit = clock.sleep(READY_WITHIN);
    while shell.said.is_empty() {
        tokio::select! {
            biased;
            read = read_status(&shell.status, &mut shell.said) => read.map_err(|error| error.to_string())?,
            end = until_ended(&mut shell.supervised) => return Err(gone(end)),
            () = &mut limit => return Err("its shell did not answer within a second".to_owned()),
        }
    }
    match shell.said.remove(0) {
        READY => Ok(true),
        NO_DIRECTORY => Ok(false),
        _ => Err("its shell answered nonsense".to_owned()),
    }
}
