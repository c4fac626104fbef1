//! One call: the script is handed over, its output is read, its end is awaited, what is left is drained and named.

use crate::cache::ShellCacheOptions;
use crate::left_behind::LeftBehind;
use crate::pool::WaitingShell;
use crate::record::{self, Record, ShellNumbers};
use crate::snapshot::Snapshot;
use crate::streams::{AFTER_STOP, OutputStreams, Progress, Ready, optional};
use agent_bash_call::{Reason, Signals, Watchdog, ending, fired, notice_of_fallback};
use agent_bash_core::{
    Cancel, NotStarted, Outcome, OutputConsumer, RunSpec, Survivor, SurvivorPolicy, Timestamp,
};
use agent_bash_process::supervisor::{Event, Gone, ShellEnd, ShellFds, Supervised};
use rustix::fs::tell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

/// After the shell's end its output is drained until it ends, or is quiet for this long …
pub(crate) const QUIET: Duration = Duration::from_millis(100);

/// … or this long altogether.
pub(crate) const DRAIN: Duration = Duration::from_secs(1);

/// Processes that let go of the output and are not gone yet get this long to go, before they are called survivors.
pub(crate) const SETTLE: Duration = Duration::from_millis(50);

/// The caller has its answer at the latest this long after the grace, whatever the processes do.
pub(crate) const AFTER_GRACE: Duration = Duration::from_secs(1);

/// One call that was handed over.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    spec: &'a RunSpec,
    options: &'a ShellCacheOptions,
    supervised: Supervised,
    /// Process id of the shell, which leads a process group of its own.
    pid: u32,
    streams: OutputStreams,
    /// Until the shell's end is known; longer only where survivors are waited for.
    watchdog: Option<Watchdog>,
    script: OwnedFd,
    /// Length of the script file when it was handed over. A record that fails makes it longer.
    script_length: u64,
    /// Whether how far the shell has read it is to be seen.
    shares_place: bool,
    started_at: Timestamp,
    started: Duration,
}

/// What is known of the shell's end.
#[derive(Debug)]
struct End {
    /// `None`: the supervisor is gone, or the answer was due before the end.
    shell: Option<ShellEnd>,
    /// No process of the call is left.
    empty: bool,
    /// Who withstood SIGKILL.
    stuck: Vec<Survivor>,
    /// What the tail wrote.
    report: String,
}

/// A call at its end.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) result: Result<Outcome, Unstarted>,
    /// The supervisor, if nobody is left below it.
    pub(crate) supervised: Option<Supervised>,
}

/// Nothing of the script has run.
#[derive(Debug)]
pub(crate) enum Unstarted {
    /// The shell was gone before it took the script: another one can have it.
    Untaken(Untaken),
    /// It cannot be run like this.
    Refused(NotStarted),
}

/// The shell was gone before it took the script.
#[derive(Debug)]
pub(crate) struct Untaken {
    reason: String,
}

impl From<Untaken> for NotStarted {
    fn from(untaken: Untaken) -> Self {
        let reason = untaken.reason;
        Self::new(format!(
            "the script could not be handed to the shell: {reason}"
        ))
    }
}

/// What is left of a call.
#[derive(Debug)]
struct Left {
    survivors: Vec<Survivor>,
    /// Nobody: the supervisor can serve another call.
    empty: bool,
}

/// What goes into the script file of a waiting shell, and what then commits it. `exports`: the call's variables are set by
/// the record, since the shell was started without them.
pub(crate) fn script_file(
    spec: &RunSpec,
    fds: &ShellFds,
    snapshot: Option<&Snapshot>,
    exports: bool,
) -> (Vec<u8>, &'static [u8]) {
    if record::is_bash(&spec.shell) {
        let record = Record {
            cwd: &spec.cwd,
            exports: exports.then_some(&spec.env.changes),
            oldpwd: spec.env.get("OLDPWD"),
            tail: spec.report_stages && record::may_have_tail(&spec.script),
            snapshot,
            path_is_the_calls: spec.env.changes.contains_key(OsStr::new("PATH")),
            numbers: ShellNumbers {
                script: fds.script_fd,
                stdin: fds.stdin_fd,
            },
        };
        let content = record.with_script(&spec.script);
        (content, record::COMMIT)
    } else {
        (
            record::plain_script_file(&spec.script, &spec.cwd, fds.script_fd),
            record::PLAIN_COMMIT,
        )
    }
}

impl<'a> Call<'a> {
    /// Gives the waiting shell its script. From here on the script runs. `exports`: the call's variables are set by the
    /// record, since the shell was started without them.
    pub(crate) fn hand_over(
        spec: &'a RunSpec,
        shell: WaitingShell,
        exports: bool,
        options: &'a ShellCacheOptions,
        cancel: &Cancel,
    ) -> Result<Self, Untaken> {
        let WaitingShell {
            supervised,
            fds,
            snapshot,
        } = shell;
        let failed = |error: io::Error| Untaken {
            reason: error.to_string(),
        };
        let (content, commit) = script_file(spec, &fds, snapshot.as_deref(), exports);
        let pid = fds.pid;
        let shares_place = record::shares_place(&spec.shell, fds.script_fd);
        let script = File::from(fds.script);
        // The shell shares the place where it is read, so that must not move.
        script.write_all_at(&content, 0).map_err(failed)?;
        let streams = OutputStreams::of(fds.output).map_err(failed)?;
        let started_at = options.clock.wall();
        let started = options.clock.now();
        File::from(fds.control).write_all(commit).map_err(failed)?;
        let clock = Arc::clone(&options.clock);
        let watchdog = Watchdog::start(
            supervised.link(),
            clock,
            cancel.clone(),
            Signals::default(),
            spec,
        );
        Ok(Self {
            spec,
            options,
            supervised,
            pid,
            streams,
            watchdog: Some(watchdog),
            script: script.into(),
            script_length: content.len() as u64,
            shares_place,
            started_at,
            started,
        })
    }

    /// Follows the call to its end.
    pub(crate) async fn finish(mut self, out: &mut dyn OutputConsumer) -> Finished {
        out.started(self.pid, self.pid);
        let end = self.until_ended(out).await;
        let duration = self.options.clock.now().saturating_sub(self.started);
        let reason = self.reason();
        if self.spec.survivors != SurvivorPolicy::Wait {
            self.watchdog = None;
        }
        if let Some(unstarted) = self.unstarted(reason) {
            let supervised = end.empty.then_some(self.supervised);
            return Finished {
                result: Err(unstarted),
                supervised,
            };
        }
        let left = self.clear_up(&end, reason, out).await;
        let ending = ending(reason, end.shell, self.spec.timeout);
        let mut outcome = Outcome::new(ending, self.started_at, duration);
        if let Some(ShellEnd::Exited(code)) = end.shell {
            (outcome.stages, outcome.final_cwd) = record::read_report(&end.report, code).unzip();
        }
        outcome.closed_early = self.streams.closed_early();
        outcome.shell_signal = end.shell.and_then(ShellEnd::signal);
        outcome.notices.extend(notice_of_fallback(&self.supervised));
        outcome.name_survivors(left.survivors);
        Finished {
            result: Ok(outcome),
            supervised: left.empty.then_some(self.supervised),
        }
    }

    /// Whether, and why, nothing of the script has run. The script file knows: the shell reads it from the place that it
    /// shares with us, and a record that fails writes into it.
    fn unstarted(&self, reason: Option<Reason>) -> Option<Unstarted> {
        if let Some(refusal) = agent_bash_call::refusal(&self.script, self.script_length, self.spec)
        {
            return Some(Unstarted::Refused(refusal));
        }
        let untaken = self.shares_place && tell(&self.script) == Ok(0);
        (untaken && reason.is_none()).then(|| {
            Unstarted::Untaken(Untaken {
                reason: "it ended before it took it".to_owned(),
            })
        })
    }

    /// Reads output until the shell has ended and, where it is being ended, its whole tree.
    async fn until_ended(&mut self, out: &mut dyn OutputConsumer) -> End {
        let clock = Arc::clone(&self.options.clock);
        let mut end = End {
            shell: None,
            empty: false,
            stuck: Vec::new(),
            report: String::new(),
        };
        let mut close_stopped = None;
        let mut give_up = None;
        loop {
            tokio::select! {
                biased;
                event = self.supervised.event() => match event {
                    Ok((Event::Ended { end: shell, empty, report }, _)) => {
                        end.report = report;
                        end.shell = Some(shell);
                        end.empty = empty;
                    }
                    Ok((Event::Empty, _)) => end.empty = true,
                    Ok((Event::Stuck { survivors }, _)) => end.stuck = survivors,
                    Ok(_) => {}
                    Err(Gone) => return end,
                },
                _ = fired(&mut self.watchdog), if give_up.is_none() => {
                    self.supervised.wake();
                    give_up = Some(clock.sleep(self.spec.grace + AFTER_GRACE));
                }
                () = optional(&mut give_up) => return end,
                () = optional(&mut close_stopped) => {
                    close_stopped = None;
                    self.streams.close_stopped();
                }
                ready = self.streams.ready() => {
                    if self.take(ready, out) == Some(Progress::Stopped) {
                        close_stopped = Some(clock.sleep(AFTER_STOP));
                    }
                }
            }
            let being_ended = self.reason().is_some();
            if end.shell.is_some() && (end.empty || !being_ended || !end.stuck.is_empty()) {
                return end;
            }
        }
    }

    /// Pushes one chunk.
    fn take(&mut self, ready: Ready, out: &mut dyn OutputConsumer) -> Option<Progress> {
        self.guard();
        self.streams.read(ready, out)
    }

    fn guard(&mut self) {
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.guard();
        }
    }

    fn reason(&self) -> Option<Reason> {
        self.watchdog.as_ref().and_then(Watchdog::reason)
    }

    /// Drains what was printed, and deals with whoever is left.
    async fn clear_up(
        &mut self,
        end: &End,
        reason: Option<Reason>,
        out: &mut dyn OutputConsumer,
    ) -> Left {
        if end.shell.is_none() {
            if reason.is_none() {
                let output: Vec<_> = self.streams.open().map(|(_, pipe)| pipe).collect();
                let ended = self.supervised.sweep(&output);
                tracing::warn!(ended, "the supervisor is gone; its session was swept");
            }
            self.drain(out, true).await;
            return Left {
                survivors: end.stuck.clone(),
                empty: false,
            };
        }
        let empty = self.drain(out, end.empty).await;
        if empty || reason.is_some() {
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
            survivors,
            empty: false,
        }
    }

    /// Reads on until the end of all streams, or quiet, or the limit; then lets the last processes go. Returns whether
    /// nobody is left.
    async fn drain(&mut self, out: &mut dyn OutputConsumer, mut empty: bool) -> bool {
        self.guard();
        self.streams.read_now(out);
        let clock = Arc::clone(&self.options.clock);
        let mut limit = clock.sleep(DRAIN);
        let mut quiet = clock.sleep(QUIET);
        while !self.streams.ended() {
            tokio::select! {
                biased;
                () = &mut limit => break,
                ready = self.streams.ready() => {
                    if self.take(ready, out).is_some() {
                        quiet = clock.sleep(QUIET);
                    }
                }
                event = self.supervised.event(), if !empty => {
                    empty = matches!(event, Ok((Event::Empty, _)) | Err(Gone));
                }
                () = &mut quiet => break,
            }
        }
        let mut settle = clock.sleep(SETTLE);
        while !empty && self.streams.ended() {
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

    /// Names the survivors and leaves them to the supervisor, their output included.
    async fn adopt(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        let Ok(mut survivors) = self.supervised.survivors().await else {
            return Vec::new();
        };
        if survivors.is_empty() {
            return survivors;
        }
        let left = LeftBehind {
            spec: self.spec,
            options: self.options,
            started_at: self.started_at,
            supervised: &mut self.supervised,
            alone: true,
            streams: &self.streams,
        };
        left.adopt(&mut survivors, out).await;
        survivors
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
        let mut give_up = self.options.clock.sleep(grace + AFTER_GRACE);
        loop {
            tokio::select! {
                biased;
                event = self.supervised.event() => match event {
                    Ok((Event::Empty, _)) | Err(Gone) => break,
                    Ok((Event::Stuck { survivors }, _)) => return survivors,
                    Ok(_) => {}
                },
                ready = self.streams.ready() => {
                    self.take(ready, out);
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
                _ = fired(&mut self.watchdog) => return self.end_survivors(out, self.spec.grace).await,
                ready = self.streams.ready() => {
                    self.take(ready, out);
                }
            }
        }
    }
}
