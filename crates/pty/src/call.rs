//! One call on a terminal: output is read, input is written, the end is awaited. What comes after the end is in `clear_up`.

mod clear_up;

use crate::detect;
use crate::executor::PtyOptions;
use crate::script::ScriptFile;
use crate::session::{PtyEnd, PtySession, Shared};
use crate::terminal::{ProgramSide, Terminal};
use agent_bash_call::{Reason, Watchdog, cancelled_before, ending, fired};
use agent_bash_core::{
    Clock, Ending, Flow, NotStarted, Notice, NoticeKind, Outcome, OutputConsumer, RunSpec,
    StreamId, Survivor, Timestamp,
};
use agent_bash_process::supervisor::{Event, Gone, ShellEnd, Supervised};
use clear_up::Left;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Bytes read at once. A terminal gives 4096 at the most.
const BUFFER: usize = 16 * 1024;

/// The caller has its answer at the latest this long after the grace, whatever the processes do.
const AFTER_GRACE: Duration = Duration::from_secs(1);

/// A consumer that has enough gets output for at most this long …
const AFTER_STOP: Duration = Duration::from_secs(1);

/// … and this far; then the terminal is hung up.
const AFTER_STOP_BYTES: usize = 1 << 20;

/// Silence after which it is looked whether the command waits for input.
const SILENCE: Duration = Duration::from_secs(2);

/// The first pause between two looks while the command does something else in silence; each is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// A command on its terminal, started. It goes on only while [`PtyRun::finish`] is awaited; dropping it ends the command
/// as a cancellation without grace does.
pub struct PtyRun {
    spec: RunSpec,
    options: PtyOptions,
    supervised: Supervised,
    terminal: Arc<Terminal>,
    /// Held until the shell has ended, so that a command that closes all its descriptors does not end the terminal.
    program_side: Option<ProgramSide>,
    script: ScriptFile,
    watchdog: Option<Watchdog>,
    ended: EndTold,
    shared: Arc<Shared>,
    reader: Reader,
    started_at: Timestamp,
    started: Duration,
}

/// What a call consists of.
pub(crate) struct Parts {
    pub(crate) spec: RunSpec,
    pub(crate) options: PtyOptions,
    pub(crate) supervised: Supervised,
    pub(crate) terminal: Arc<Terminal>,
    pub(crate) program_side: ProgramSide,
    pub(crate) script: ScriptFile,
    pub(crate) watchdog: Watchdog,
    pub(crate) shared: Arc<Shared>,
    pub(crate) started_at: Timestamp,
    pub(crate) started: Duration,
}

/// Says how the session ended, also where nobody waited for it.
struct EndTold {
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
}

/// The state of reading.
#[derive(Debug)]
struct Reader {
    buffer: Box<[u8]>,
    /// All was read, or nothing more will be.
    ended: bool,
    /// Bytes pushed since the consumer said stop.
    after_stop: Option<usize>,
    /// When something was last written or typed.
    active: Duration,
    /// What went wrong on our side.
    error: Option<String>,
}

/// What is known of the shell's end.
#[derive(Debug, Default)]
struct End {
    /// `None`: the supervisor is gone, or the answer was due before the end.
    shell: Option<ShellEnd>,
    /// No process of the call is left.
    empty: bool,
    /// Who withstood SIGKILL.
    stuck: Vec<Survivor>,
    /// What the command waited for when its time was up.
    waited_for: Option<crate::WaitingFor>,
    /// It was hung up since its consumer had enough.
    closed_early: bool,
}

impl PtyRun {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts {
            spec,
            options,
            supervised,
            terminal,
            program_side,
            script,
            watchdog,
            shared,
            started_at,
            started,
        } = parts;
        Self {
            ended: EndTold {
                shared: Arc::clone(&shared),
                clock: Arc::clone(&options.clock),
            },
            reader: Reader {
                buffer: vec![0; BUFFER].into(),
                ended: false,
                after_stop: None,
                active: started,
                error: None,
            },
            spec,
            options,
            supervised,
            terminal,
            program_side: Some(program_side),
            script,
            watchdog: Some(watchdog),
            shared,
            started_at,
            started,
        }
    }

    /// A handle to it, for whoever shows it and types.
    pub fn session(&self) -> PtySession {
        self.shared.session()
    }

    /// Follows the command to its end, and pushes what it writes into `out` as [`StreamId::Merged`]: as it is, except
    /// that what is drawn on the alternate screen is left out, and the text of its last state put in its place.
    ///
    /// # Errors
    /// The script was never run: its directory could not be entered.
    pub async fn finish(mut self, out: &mut dyn OutputConsumer) -> Result<Outcome, NotStarted> {
        let end = self.until_ended(out).await;
        let duration = self.options.clock.now().saturating_sub(self.started);
        let reason = self.reason();
        self.program_side = None;
        let may_have_refused = reason.is_none() && end.shell.is_some();
        let refusal = may_have_refused.then(|| self.script.refusal(&self.spec));
        let (result, empty) = if let Some(refusal) = refusal.flatten() {
            (Err(refusal), true)
        } else {
            let (outcome, empty) = self.outcome(end, reason, duration, out).await;
            (Ok(outcome), empty)
        };
        self.ended.tell(PtyEnd {
            result: result.clone(),
            killed: reason == Some(Reason::Kill),
        });
        if empty {
            // A program that ends next would leave nobody to reap the supervisor.
            self.supervised.close().await;
        }
        result
    }

    async fn outcome(
        &mut self,
        end: End,
        reason: Option<Reason>,
        duration: Duration,
        out: &mut dyn OutputConsumer,
    ) -> (Outcome, bool) {
        let ending = self.ending(&end, reason);
        let Left { survivors, empty } = self.clear_up(&end, reason, &ending, out).await;
        let mut outcome = Outcome::new(ending, self.started_at, duration);
        outcome.closed_early = end.closed_early;
        outcome.shell_signal = end.shell.and_then(ShellEnd::signal);
        if let Some(waited_for) = end.waited_for {
            outcome
                .notices
                .push(Notice::from(NoticeKind::WaitingForInput {
                    state: waited_for.as_str().to_owned(),
                }));
        }
        outcome.name_survivors(survivors);
        (outcome, empty)
    }

    /// Reads and writes until the shell has ended and, where it is being ended, its whole tree.
    async fn until_ended(&mut self, out: &mut dyn OutputConsumer) -> End {
        let clock = Arc::clone(&self.options.clock);
        let mut end = End::default();
        let mut give_up = None;
        let mut close_stopped = None;
        let mut pause = FIRST_PAUSE;
        let mut look = Some(clock.sleep(SILENCE));
        loop {
            let has_input = self.shared.has_input();
            tokio::select! {
                biased;
                event = self.supervised.event() => match event {
                    Ok((Event::Ended { end: shell, empty, .. }, _)) => {
                        end.shell = Some(shell);
                        end.empty = empty;
                    }
                    Ok((Event::Empty, _)) => end.empty = true,
                    Ok((Event::Stuck { survivors }, _)) => end.stuck = survivors,
                    Ok(_) => {}
                    Err(Gone) => return end,
                },
                reason = fired(&mut self.watchdog), if give_up.is_none() => {
                    if reason == Reason::Timeout {
                        end.waited_for = self.shared.waiting();
                    }
                    self.supervised.wake();
                    give_up = Some(clock.sleep(self.spec.grace + AFTER_GRACE));
                }
                () = optional(&mut give_up) => return end,
                () = optional(&mut close_stopped) => {
                    close_stopped = None;
                    self.hang_up(&mut end);
                }
                // Before reading: who floods the terminal can still be interrupted.
                written = self.terminal.write_from(&self.shared.input), if has_input => {
                    if written.is_err() {
                        self.shared.drop_input();
                    }
                    self.reader.active = clock.now();
                    self.shared.set_waiting(None);
                }
                () = self.shared.wake.notified() => {}
                () = optional(&mut look) => {
                    let silent = clock.now().saturating_sub(self.reader.active);
                    let next = if silent < SILENCE {
                        Some(SILENCE.saturating_sub(silent))
                    } else {
                        self.look();
                        let next = pause;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                        self.shared.waiting().is_none().then_some(next)
                    };
                    look = next.map(|next| clock.sleep(next));
                    continue;
                }
                chunk = self.terminal.read(&mut self.reader.buffer), if !self.reader.ended => {
                    if self.take(chunk, out) == Some(Flow::Stop) {
                        close_stopped = Some(clock.sleep(AFTER_STOP));
                    }
                    if self.reader.after_stop.is_some_and(|bytes| bytes > AFTER_STOP_BYTES) {
                        self.hang_up(&mut end);
                    }
                    if self.reader.error.is_some() && give_up.is_none() {
                        let _ = self.supervised.link().terminate(Duration::ZERO);
                        give_up = Some(clock.sleep(AFTER_GRACE));
                    }
                }
            }
            // Something happened: what the command waits for has to be found out again, and soon.
            if self.shared.waiting().is_none() && (look.is_none() || pause > FIRST_PAUSE) {
                pause = FIRST_PAUSE;
                look = Some(clock.sleep(SILENCE));
            }
            let being_ended = self.reason().is_some();
            if end.shell.is_some() && (end.empty || !being_ended || !end.stuck.is_empty()) {
                return end;
            }
        }
    }

    /// Looks whether the command waits for input.
    fn look(&self) {
        let session = i32::try_from(self.supervised.pid()).unwrap_or(0);
        let waiting = detect::look(&self.terminal, session, self.shared.is_alternate());
        self.shared.set_waiting(waiting);
    }

    /// Takes what was read. `Some(Flow::Stop)` when the consumer says so for the first time.
    fn take(
        &mut self,
        chunk: std::io::Result<usize>,
        out: &mut dyn OutputConsumer,
    ) -> Option<Flow> {
        let count = match chunk {
            Ok(0) => {
                self.reader.ended = true;
                return None;
            }
            Ok(count) => count,
            Err(error) => {
                self.reader.ended = true;
                self.reader.error = Some(format!("the terminal could not be read: {error}"));
                return None;
            }
        };
        self.reader.active = self.options.clock.now();
        let shown = self.shared.process(&self.reader.buffer[..count]);
        self.push(&shown, out)
    }

    fn push(&mut self, shown: &[u8], out: &mut dyn OutputConsumer) -> Option<Flow> {
        if shown.is_empty() {
            return None;
        }
        if let Some(bytes) = &mut self.reader.after_stop {
            *bytes += shown.len();
        }
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.guard();
        }
        let flow = out.chunk(StreamId::Merged, shown);
        if flow == Flow::Stop && self.reader.after_stop.is_none() {
            self.reader.after_stop = Some(0);
            return Some(Flow::Stop);
        }
        None
    }

    /// The consumer has enough: there is no pipe to close, so the terminal is hung up.
    fn hang_up(&mut self, end: &mut End) {
        if !end.closed_early {
            end.closed_early = true;
            let _ = self.supervised.link().terminate(self.spec.grace);
        }
    }

    fn reason(&self) -> Option<Reason> {
        self.watchdog.as_ref().and_then(Watchdog::reason)
    }

    fn ending(&self, end: &End, reason: Option<Reason>) -> Ending {
        if let Some(error) = &self.reader.error {
            return Ending::Lost {
                reason: error.clone(),
            };
        }
        ending(reason, end.shell, self.spec.timeout)
    }
}

impl EndTold {
    fn tell(&self, end: PtyEnd) {
        self.shared.end(end);
    }
}

impl Drop for EndTold {
    fn drop(&mut self) {
        let killed = self.shared.kill.is_cancelled();
        self.shared.end(PtyEnd {
            result: Ok(cancelled_before(&*self.clock)),
            killed,
        });
    }
}

/// A wait that may not be set: never ends then.
async fn optional<F: Future<Output = ()> + Unpin>(wait: &mut Option<F>) {
    match wait {
        Some(wait) => wait.await,
        None => std::future::pending().await,
    }
}
