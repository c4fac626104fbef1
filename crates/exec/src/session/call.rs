//! One call of a session: handshake, output, report, and what becomes of the shell.

use super::Remembered;
use super::live::{Asked, LiveShell, gone, read_status, until_gone};
use super::place::Place;
use super::record::{Record, Report, Run, read_report};
use crate::cache::ShellCacheOptions;
use crate::call::{AFTER_GRACE, DRAIN, QUIET};
use crate::record::may_have_tail;
use crate::streams::{AFTER_STOP, OutputStreams, Progress, optional};
use agent_bash_call::{Reason, Signals, TOO_OLD, Watchdog, fired, notice_of_fallback, too_old};
use agent_bash_core::{
    Cancel, Ending, NotStarted, Outcome, OutputConsumer, RunSpec, StreamId, Survivor, Timestamp,
};
use agent_bash_process::supervisor::{Event, Gone, ShellEnd};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a shell that waits may take to take a record. One that has taken it and says nothing for so long is asked whether it is
/// done.
const READY_WITHIN: Duration = Duration::from_secs(1);

/// How much longer one may take that is just being started.
const STARTED_WITHIN: Duration = Duration::from_secs(9);

/// Why a shell has not run a script though it has taken its record.
const UNREAD: &str =
    "its shell could not read the script, as where an alias stands in for a word of the language";

/// One call that a session's shell was given.
#[derive(Debug)]
pub(super) struct SessionCall<'a> {
    pub(super) spec: &'a RunSpec,
    pub(super) options: &'a ShellCacheOptions,
    pub(super) shell: LiveShell,
    pub(super) streams: OutputStreams,
    /// The FIFOs behind the streams, and our ends of them to write into, until the call has ended.
    paths: Vec<(StreamId, PathBuf)>,
    writers: Vec<OwnedFd>,
    watchdog: Option<Watchdog>,
    pub(super) cancel: Cancel,
    /// Where the session was before it; `None` where the call goes to a directory of its own.
    stands_in: Option<Place>,
    /// The shell had run nothing before.
    was_fresh: bool,
    /// Who withstood SIGKILL.
    stuck: Vec<Survivor>,
    pub(super) started_at: Timestamp,
    pub(super) started: Duration,
}

/// How a call left its session.
#[derive(Debug)]
pub(super) enum After {
    /// The shell waits for the next call.
    Alive {
        outcome: Box<Outcome>,
        shell: LiveShell,
        place: Place,
    },
    /// The call was the shell's last.
    Ended { outcome: Outcome, reason: String },
    /// The script was not run, and the shell, if it still is there, can take another.
    Refused {
        error: NotStarted,
        shell: Option<LiveShell>,
    },
    /// The script was not run, since the session's shell has ended and a new one cannot get to where that was.
    Displaced(Place),
    /// The script was not taken: another shell can have it.
    Untaken(String),
}

/// What the shell did with a script.
#[derive(Debug)]
enum Observed {
    /// It has run it.
    Report(Report),
    /// It has run it, or some of it, and is gone.
    End(Option<ShellEnd>),
    /// It has run it, or some of it, waits for the next, and cannot tell.
    Mute,
    /// It could not enter the directory.
    Refused,
    /// It is gone, or did not take it in time. Nothing of it has run.
    Untaken(String),
}

impl<'a> SessionCall<'a> {
    /// Gives the shell its record.
    ///
    /// # Errors
    /// What became of it instead. Nothing of the script has run.
    pub(super) fn hand_over(
        spec: &'a RunSpec,
        mut shell: LiveShell,
        remembered: Option<&Remembered>,
        options: &'a ShellCacheOptions,
        cancel: &Cancel,
    ) -> Result<Self, Box<After>> {
        let failed = |error: io::Error| {
            let why = format!("its shell could not take a script ({error})");
            Box::new(After::Untaken(why))
        };
        let pipes = shell.outputs(spec.streams).map_err(failed)?;
        let place = remembered.and_then(|remembered| remembered.place.as_ref());
        // A new shell goes where the last one was, else where the call wants it.
        let enters = spec.enter_cwd || place.is_none();
        let stands_in = place.filter(|_| !enters).cloned();
        let remembered = remembered.filter(|_| shell.fresh);
        let record = Record {
            script: &spec.script,
            cwd: enters.then_some(&*spec.cwd),
            remembered,
            is_new: shell.fresh && remembered.is_none(),
            oldpwd: spec.env.get("OLDPWD"),
            snapshot: shell.snapshot.as_deref().filter(|_| shell.fresh),
            last: shell.last,
            stages: spec.report_stages && may_have_tail(&spec.script),
            variables: &spec.env.changes,
            directory: &shell.directory,
        };
        let text = record.text();
        let (mut fds, mut paths, mut writers) = (Vec::new(), Vec::new(), Vec::new());
        for (stream, fifo) in pipes {
            fds.push((stream, fifo.read));
            paths.push((stream, fifo.path));
            writers.push(fifo.write);
        }
        let streams = OutputStreams::of(fds).map_err(failed)?;
        let started_at = options.clock.wall();
        let started = options.clock.now();
        shell.said.clear();
        if let Err(error) = shell.write(&text) {
            let refused = too_old_to_take(&mut shell, spec);
            return Err(refused.map_or_else(|| failed(error), Box::new));
        }
        let clock = Arc::clone(&options.clock);
        let watchdog = Watchdog::start(
            shell.supervised.link(),
            clock,
            cancel.clone(),
            Signals {
                // Close-on-exec: what the host starts meanwhile must not hold it.
                status: rustix::io::fcntl_dupfd_cloexec(&shell.status, 0).ok(),
                kill: None,
            },
            spec,
        );
        Ok(Self {
            spec,
            options,
            streams,
            paths,
            writers,
            watchdog: Some(watchdog),
            cancel: cancel.clone(),
            stands_in,
            was_fresh: shell.fresh,
            stuck: Vec::new(),
            started_at,
            started,
            shell,
        })
    }

    /// Follows the call to its end.
    pub(super) async fn finish(mut self, out: &mut dyn OutputConsumer) -> After {
        out.started(self.shell.pid, self.shell.pid);
        let observed = self.observe(out).await;
        self.writers.clear();
        let duration = self.options.clock.now().saturating_sub(self.started);
        let reason = self.watchdog.take().and_then(|watchdog| watchdog.reason());
        if !matches!(observed, Observed::Untaken(_)) {
            self.shell.fresh = false;
            self.drain(out).await;
        }
        match (observed, reason) {
            (Observed::Report(report), None) => self.alive(report, duration, out).await,
            (Observed::Report(_) | Observed::Refused, Some(reason)) => {
                // It finished in the moment in which it was to be ended; its shell is being ended all the same.
                self.until_gone().await;
                self.ended(None, Some(reason), duration, Vec::new())
            }
            (Observed::Refused, None) => self.refused(),
            (Observed::End(end @ Some(_)), None) => {
                let survivors = self.survivors_of_shell(out).await;
                self.ended(end, None, duration, survivors)
            }
            (Observed::Mute, None) => {
                let survivors = self.survivors_of_shell(out).await;
                self.mute(duration, survivors)
            }
            (Observed::Mute, reason) => self.ended(None, reason, duration, Vec::new()),
            (Observed::End(end), reason) => self.ended(end, reason, duration, Vec::new()),
            (Observed::Untaken(_), Some(Reason::Cancel)) => {
                self.ended(None, Some(Reason::Cancel), duration, Vec::new())
            }
            // Time that passed before the script was taken is not the script's.
            (Observed::Untaken(why), _) => {
                too_old_to_take(&mut self.shell, self.spec).unwrap_or(After::Untaken(why))
            }
        }
    }

    /// Reads output until the shell reports or ends; where it is being ended, until its tree is gone.
    async fn observe(&mut self, out: &mut dyn OutputConsumer) -> Observed {
        let clock = &self.options.clock;
        let mut close_stopped = None;
        let mut give_up = None;
        let mut end = None;
        let mut patience = self.shell.fresh.then_some(STARTED_WITHIN);
        let mut look = Some(clock.sleep(READY_WITHIN));
        let mut asked = None;
        let mut is_done = false;
        loop {
            if let Some(report) = read_report(&self.shell.said) {
                return match report.run {
                    Run::Yes => Observed::Report(report),
                    Run::NoDirectory => Observed::Refused,
                    Run::Unread => Observed::Untaken(UNREAD.to_owned()),
                };
            }
            if is_done {
                return Observed::Mute;
            }
            tokio::select! {
                biased;
                read = read_status(&self.shell.status, &mut self.shell.said) => if read.is_err() {
                    return self.end(end);
                },
                event = self.shell.supervised.event() => match event {
                    Ok((Event::Ended { end: shell, empty, .. }, _)) => {
                        end = Some(shell);
                        let ending = self.watchdog.as_ref().is_some_and(|dog| dog.reason().is_some());
                        if empty || !ending {
                            return self.end(end);
                        }
                    }
                    Ok((Event::Stuck { survivors }, _)) => {
                        self.stuck = survivors;
                        return self.end(end);
                    }
                    Ok((Event::Empty, _)) | Err(Gone) => return self.end(end),
                    Ok(_) => {}
                },
                _ = fired(&mut self.watchdog), if give_up.is_none() => {
                    self.shell.supervised.wake();
                    give_up = Some(clock.sleep(self.spec.grace + AFTER_GRACE));
                }
                () = optional(&mut give_up) => return self.end(end),
                () = optional(&mut look) => {
                    look = None;
                    if self.shell.has_taken() {
                        asked = self.shell.ask().ok();
                    } else if let Some(more) = patience.take() {
                        look = Some(clock.sleep(more));
                    } else if matches!(self.shell.take_back(), Ok(true)) {
                        return Observed::Untaken("its shell did not answer in time".to_owned());
                    } else {
                        look = Some(clock.sleep(READY_WITHIN));
                    }
                }
                () = answered(asked.as_ref()) => {
                    asked = None;
                    // What it has said it said before.
                    is_done = self.shell.listen().is_ok();
                }
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

    fn end(&self, end: Option<ShellEnd>) -> Observed {
        if self.shell.has_taken() {
            return Observed::End(end);
        }
        Observed::Untaken(gone(end))
    }

    /// A shell goes on, where it was. One that was new was nowhere yet.
    fn refused(mut self) -> After {
        if let Some(place) = self.stands_in {
            return After::Displaced(place);
        }
        self.shell.will_say_exports();
        self.keep_fifos();
        let cwd = self.spec.cwd.display();
        let error = NotStarted::new(format!("`{cwd}` could not be entered"));
        After::Refused {
            error,
            shell: Some(self.shell).filter(|_| !self.was_fresh),
        }
    }

    async fn until_gone(&mut self) {
        let limit = self.options.clock.sleep(self.spec.grace + AFTER_GRACE);
        tokio::select! {
            withstand = until_gone(&mut self.shell.supervised) => self.stuck = withstand,
            () = limit => {}
        }
    }

    /// Until the end of all streams, or quiet, or the limit.
    pub(super) async fn drain(&mut self, out: &mut dyn OutputConsumer) {
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
        let survivors = self.survivors(out).await;
        self.shell.last = report.code;
        self.shell.will_say_exports();
        self.keep_fifos();
        let place = Place::of(self.shell.pid, report.cwd);
        let mut outcome = self.outcome(Ending::Exited { code: report.code }, duration, survivors);
        outcome.final_cwd = Some(place.shown());
        outcome.stages = report.stages;
        After::Alive {
            outcome: Box::new(outcome),
            shell: self.shell,
            place,
        }
    }

    /// Those that nobody holds any more are the next call's; the others lose their paths.
    fn keep_fifos(&mut self) {
        let ended = self.streams.take_ended();
        for (stream, path) in std::mem::take(&mut self.paths) {
            if !ended.contains(&stream) {
                drop(std::fs::remove_file(path));
            }
        }
    }

    /// The shell is there and of no use any more.
    fn mute(self, duration: Duration, survivors: Vec<Survivor>) -> After {
        let reason = "its shell could not tell how the command ended, as after `set -n`, `set -r` or `enable -n printf`";
        let reason = reason.to_owned();
        let ending = Ending::Lost {
            reason: reason.clone(),
        };
        let outcome = self.outcome(ending, duration, survivors);
        After::Ended { outcome, reason }
    }

    /// The shell is gone.
    fn ended(
        mut self,
        end: Option<ShellEnd>,
        reason: Option<Reason>,
        duration: Duration,
        mut survivors: Vec<Survivor>,
    ) -> After {
        survivors.append(&mut self.stuck);
        let (ending, why) = match (reason, end) {
            (Some(Reason::Cancel | Reason::Kill), _) => {
                (Ending::Cancelled, "the command was cancelled".to_owned())
            }
            (Some(Reason::Timeout), _) => {
                let after = self.spec.timeout.unwrap_or_default();
                (
                    Ending::TimedOut { after },
                    "the command was ended by its time limit".to_owned(),
                )
            }
            (None, Some(shell)) => (shell.into(), gone(end)),
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
        let mut outcome = self.outcome(ending, duration, survivors);
        outcome.shell_signal = end.and_then(ShellEnd::signal);
        After::Ended {
            outcome,
            reason: why,
        }
    }

    fn outcome(&self, ending: Ending, duration: Duration, survivors: Vec<Survivor>) -> Outcome {
        let mut outcome = Outcome::new(ending, self.started_at, duration);
        outcome.initial_cwd = self.stands_in.as_ref().map(Place::shown);
        outcome.closed_early = self.streams.closed_early();
        let notice = notice_of_fallback(&self.shell.supervised);
        outcome.notices.extend(notice);
        outcome.name_survivors(survivors);
        outcome
    }
}

/// What becomes of a call whose shell has ended since it is too old, as it has said.
fn too_old_to_take(shell: &mut LiveShell, spec: &RunSpec) -> Option<After> {
    shell.listen().ok()?;
    let version = shell.said.strip_prefix(&[TOO_OLD])?;
    Some(After::Refused {
        error: too_old(&spec.shell, version),
        shell: None,
    })
}

/// Waits for the answer to a question; for ever, where none was asked. Cancel safe.
async fn answered(asked: Option<&Asked>) {
    match asked {
        Some(asked) => asked.answered().await,
        None => std::future::pending().await,
    }
}
