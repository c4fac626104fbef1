//! The events of a command on its terminal: output, room to write typed input, and silence. After
//! some silence, this source checks whether the command waits for input.

use crate::detect;
use crate::session::SharedSession;
use crate::terminal::{ProgramSide, Terminal};
use agent_bash_call::{Alarm, EndReason, Progress, Source, StopLimit};
use agent_bash_core::{Clock, OutputConsumer, StreamId};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// Longest time for which a terminal is drained after the shell's end, unless it reaches EOF or is
/// quiet earlier. Shorter than for a pipe, because the user has already seen the output.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);

/// Bytes read at once. A terminal returns at most 4096.
const BUFFER_BYTES: usize = 16 * 1024;

/// More than the kernel buffers of a terminal's output. Any further output was written after the
/// shell's end.
const MAX_READ_NOW_BYTES: usize = 1 << 20;

/// The silence after which the source checks whether the command waits for input.
const SILENCE_PERIOD: Duration = Duration::from_secs(2);

/// The first pause between two checks while the command is silent without waiting for input;
/// doubled after each check.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two checks.
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// A terminal with a command on it.
pub(crate) struct TerminalSource {
    terminal: Arc<Terminal>,
    /// Held until the shell has ended, so that a command that closes all its descriptors does not
    /// cause EOF.
    program_side: Option<ProgramSide>,
    shared: Arc<SharedSession>,
    clock: Arc<dyn Clock>,
    /// The pid of the leader of the terminal session whose programs are examined.
    session_leader: i32,
    buffer: Box<[u8]>,
    /// True at EOF, or if reading has stopped.
    has_ended: bool,
    after_stop: StopLimit,
    /// True if the terminal was hung up because the output's consumer asked to stop.
    pub(crate) closed_early: bool,
    /// The error that ended the reading of the terminal.
    pub(crate) error: Option<String>,
    /// The input that the command was waiting for at its time limit.
    pub(crate) waited_for: Option<crate::WaitingFor>,
    alarm: Alarm,
    /// Time of the last output or input.
    last_activity: Duration,
    /// The time of the next check; `None` once the command is known to wait.
    next_check: Option<Duration>,
    check_pause: Duration,
}

/// An event of the terminal, which `read` handles.
#[derive(Debug)]
pub(crate) enum TerminalEvent {
    /// Number of bytes of output read; 0 at EOF.
    Chunk(io::Result<usize>),
    /// Typed input was written to the terminal.
    Typed(io::Result<()>),
    /// New input must be written.
    Woken,
    /// The time has come to check whether the command waits.
    CheckDue(Duration),
}

impl TerminalSource {
    pub(crate) fn new(
        terminal: Arc<Terminal>,
        program_side: ProgramSide,
        shared: Arc<SharedSession>,
        clock: Arc<dyn Clock>,
        session_leader: u32,
    ) -> Self {
        let now = clock.now();
        Self {
            terminal,
            program_side: Some(program_side),
            shared,
            alarm: Alarm::new(Arc::clone(&clock)),
            clock,
            session_leader: i32::try_from(session_leader).unwrap_or(0),
            buffer: vec![0; BUFFER_BYTES].into(),
            has_ended: false,
            after_stop: StopLimit::default(),
            closed_early: false,
            error: None,
            waited_for: None,
            last_activity: now,
            next_check: Some(now + SILENCE_PERIOD),
            check_pause: FIRST_PAUSE,
        }
    }

    /// Handles the shell's end. After that, the terminal reaches EOF when the last program closes
    /// the terminal.
    pub(crate) fn release_program_side(&mut self) {
        self.program_side = None;
    }

    /// Resets the check for waiting after activity.
    fn note_activity(&mut self) {
        self.last_activity = self.clock.now();
        self.check_pause = FIRST_PAUSE;
        self.next_check = Some(self.last_activity + SILENCE_PERIOD);
    }

    /// Checks whether the command waits for input.
    fn check_waiting(&mut self, now: Duration) {
        let waiting = detect::detect_waiting(
            &self.terminal,
            self.session_leader,
            self.shared.is_alternate(),
        );
        self.shared.set_waiting(waiting);
        self.next_check = waiting.is_none().then_some(now + self.check_pause);
        self.check_pause = (self.check_pause * 2).min(LONGEST_PAUSE);
    }

    /// Processes a chunk of the terminal's output, or its end.
    fn handle_chunk(&mut self, chunk: io::Result<usize>, out: &mut dyn OutputConsumer) -> Progress {
        match chunk {
            Ok(0) => {
                self.has_ended = true;
                Progress::Ended
            }
            Ok(count) => {
                self.note_activity();
                let modes = self.terminal.line_modes();
                let raw = modes.is_some_and(|modes| !modes.is_canonical);
                let reader_output =
                    self.shared
                        .process(&self.buffer[..count], self.last_activity, raw);
                self.push(&reader_output, out)
            }
            Err(error) => {
                self.has_ended = true;
                self.error = Some(format!("the terminal could not be read: {error}"));
                Progress::Unreadable
            }
        }
    }

    /// Passes output to the consumer.
    pub(crate) fn push(&mut self, reader_output: &[u8], out: &mut dyn OutputConsumer) -> Progress {
        if reader_output.is_empty() {
            return Progress::Chunk;
        }
        match self.after_stop.push(StreamId::Merged, reader_output, out) {
            Progress::Ended if self.closed_early => Progress::Chunk,
            Progress::Ended => self.close_stopped(),
            progress => progress,
        }
    }
}

impl Source for TerminalSource {
    type SourceEvent = TerminalEvent;

    async fn ready(&mut self) -> TerminalEvent {
        let has_input = self.shared.has_input();
        tokio::select! {
            biased;
            // Before reading, so that a command that floods its terminal can still be interrupted.
            typed = self.terminal.write_from(&self.shared.input), if has_input => TerminalEvent::Typed(typed),
            () = self.shared.wake.notified() => TerminalEvent::Woken,
            now = self.alarm.wait_until(self.next_check) => TerminalEvent::CheckDue(now),
            chunk = self.terminal.read(&mut self.buffer), if !self.has_ended => TerminalEvent::Chunk(chunk),
        }
    }

    fn read(&mut self, ready: TerminalEvent, out: &mut dyn OutputConsumer) -> Option<Progress> {
        match ready {
            TerminalEvent::Chunk(chunk) => return Some(self.handle_chunk(chunk, out)),
            TerminalEvent::Typed(typed) => {
                if typed.is_err() {
                    self.shared.drop_input();
                }
                self.shared.set_waiting(None);
                self.note_activity();
            }
            TerminalEvent::Woken => {}
            TerminalEvent::CheckDue(now) => self.check_waiting(now),
        }
        None
    }

    fn read_now(&mut self, out: &mut dyn OutputConsumer) -> bool {
        let mut read = 0;
        while !self.has_ended
            && read < MAX_READ_NOW_BYTES
            && let Some(chunk) = self.terminal.read_now(&mut self.buffer)
        {
            read += chunk.as_ref().map_or(0, |count| *count);
            self.handle_chunk(chunk, out);
        }
        read > 0
    }

    fn before_termination(&mut self, reason: EndReason) {
        if reason == EndReason::Timeout {
            self.waited_for = self.shared.waiting();
        }
    }

    fn conclude(&mut self, out: &mut dyn OutputConsumer) {
        let last = self.shared.finish(self.clock.now());
        self.push(&last, out);
    }

    fn ended(&self) -> bool {
        self.has_ended
    }

    /// Hangs up the terminal, as there is no pipe to close.
    fn close_stopped(&mut self) -> Progress {
        self.closed_early = true;
        Progress::HangUp
    }

    fn open_streams(&self) -> impl Iterator<Item = (StreamId, BorrowedFd<'_>)> {
        let master = (!self.has_ended).then(|| self.terminal.master());
        master.map(|master| (StreamId::Merged, master)).into_iter()
    }
}
