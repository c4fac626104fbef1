//! Writes to stdout and stderr of this process, for all commands. A closed pipe is not an error
//! (`agent-bash run … | head -1`). For a terminal, control sequences from commands and files are
//! removed.

use agent_bash::core::{Cancel, ConsumerFlow, OutputConsumer, StreamId};
use agent_bash::sink::TerminalText;
use std::fmt;
use std::io::{self, IsTerminal, Stderr, Stdout, Write};

/// Writes a text and flushes. On a terminal, adds a final newline if missing.
///
/// # Errors
/// Stdout cannot be written (a full disk), for a reason other than a closed pipe.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    if !io::stdout().is_terminal() {
        return print_bytes(text.as_bytes());
    }
    let mut clean = TerminalText::of(text.as_bytes());
    if clean.last().is_some_and(|last| *last != b'\n') {
        clean.push(b'\n');
    }
    print_bytes(&clean)
}

/// Writes bytes as they are, and flushes.
///
/// # Errors
/// As for [`print()`].
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(WriteFailed(error).into()),
        _ => Ok(()),
    }
}

/// Stdout cannot be written, for a reason other than a closed pipe.
#[derive(Debug)]
pub(crate) struct WriteFailed(io::Error);

impl fmt::Display for WriteFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write to stdout: {}", self.0)
    }
}

impl std::error::Error for WriteFailed {}

/// Writes a line for people to stderr; errors are ignored.
pub(crate) fn say(line: &str) {
    let mut err = io::stderr().lock();
    let _ = if err.is_terminal() {
        let mut clean = TerminalText::of(line.as_bytes());
        clean.push(b'\n');
        err.write_all(&clean)
    } else {
        writeln!(err, "{line}")
    };
}

/// Writes bytes as they arrive: unchanged, or on a terminal without control sequences.
#[derive(Debug)]
pub(crate) struct PassThrough<W> {
    to: W,
    clean: Option<TerminalText>,
}

impl<W: Write + IsTerminal> PassThrough<W> {
    pub(crate) fn new(to: W) -> Self {
        let clean = to.is_terminal().then(TerminalText::default);
        Self { to, clean }
    }

    /// Writes the next part and flushes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let clean = self.clean.as_mut().map(|clean| clean.push(bytes));
        self.to.write_all(clean.as_deref().unwrap_or(bytes))?;
        self.to.flush()
    }
}

/// Writes the next part of a stream to stdout. Returns false if the pipe is closed.
///
/// # Errors
/// As for [`print()`].
pub(crate) fn pass(out: &mut PassThrough<Stdout>, bytes: &[u8]) -> anyhow::Result<bool> {
    match out.write(bytes) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(WriteFailed(error).into()),
        Ok(()) => Ok(true),
    }
}

/// Prints a command's output as it arrives: stdout and merged output to stdout, stderr to stderr.
/// If stdout is reserved for the result, prints everything to stderr.
#[derive(Debug)]
pub(crate) struct LiveOutput {
    out: PassThrough<Stdout>,
    err: PassThrough<Stderr>,
    /// True if stdout is reserved for the JSON result.
    all_to_stderr: bool,
    /// Triggered when the pipe is closed: SIGPIPE would end other programs then.
    pub(crate) cancel: Cancel,
    /// True if the pipe is closed.
    pub(crate) lost_reader: bool,
    /// The error of a failed write, except one to a closed pipe: for example a full disk.
    pub(crate) write_error: Option<WriteFailed>,
}

impl LiveOutput {
    pub(crate) fn new(all_to_stderr: bool, cancel: Cancel) -> Self {
        Self {
            out: PassThrough::new(io::stdout()),
            err: PassThrough::new(io::stderr()),
            all_to_stderr,
            cancel,
            lost_reader: false,
            write_error: None,
        }
    }
}

impl OutputConsumer for LiveOutput {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        let written = if self.all_to_stderr || stream == StreamId::Stderr {
            self.err.write(bytes)
        } else {
            self.out.write(bytes)
        };
        if let Err(error) = written {
            match error.kind() {
                io::ErrorKind::BrokenPipe => self.lost_reader = true,
                _ => self.write_error = Some(WriteFailed(error)),
            }
            self.cancel.cancel();
            return ConsumerFlow::Stop;
        }
        ConsumerFlow::Continue
    }
}
