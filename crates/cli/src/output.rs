//! Writing to our own stdout and stderr, all of it through here. A reader that went away is not an error: `agent-bash run … |
//! head -1`. A terminal gets clean text: what others have written (commands, outputs, files) is not for it to obey.

use agent_bash::core::{Cancel, Flow, OutputConsumer, StreamId};
use agent_bash::sink::TerminalText;
use std::fmt;
use std::io::{self, IsTerminal, Stderr, Stdout, Write};

/// Writes a text and flushes. On a terminal a last line gets its end.
///
/// # Errors
/// Stdout takes no more (a full disk), for another reason than a reader that went away.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = if out.is_terminal() {
        let mut clean = TerminalText::of(text.as_bytes());
        if clean.last().is_some_and(|last| *last != b'\n') {
            clean.push(b'\n');
        }
        out.write_all(&clean)
    } else {
        out.write_all(text.as_bytes())
    };
    let written = written.and_then(|()| out.flush());
    but_for_lost_readers(written).map_err(|error| Unwritten(error).into())
}

/// Stdout takes no more, for another reason than a reader that went away.
#[derive(Debug)]
pub(crate) struct Unwritten(io::Error);

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write to stdout: {}", self.0)
    }
}

impl std::error::Error for Unwritten {}

/// Writes a line to stderr, for a person; nobody to read it is no error.
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

/// A stream of bytes, written as it comes and as it is; clean where it goes to a terminal.
#[derive(Debug)]
pub(crate) struct Passed<W> {
    to: W,
    clean: Option<TerminalText>,
}

impl<W: Write + IsTerminal> Passed<W> {
    pub(crate) fn new(to: W) -> Self {
        let clean = to.is_terminal().then(TerminalText::default);
        Self { to, clean }
    }

    /// Writes the next part of it, and flushes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let clean = self.clean.as_mut().map(|clean| clean.push(bytes));
        self.to.write_all(clean.as_deref().unwrap_or(bytes))?;
        self.to.flush()
    }
}

/// Writes the next part of a stream to stdout. False if nobody reads it any more.
///
/// # Errors
/// As [`print()`].
pub(crate) fn pass(out: &mut Passed<Stdout>, bytes: &[u8]) -> anyhow::Result<bool> {
    match out.write(bytes) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written
            .map_err(Unwritten)
            .map(|()| true)
            .map_err(Into::into),
    }
}

fn but_for_lost_readers(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Live output: stdout and the merged stream to stdout, stderr to stderr; or all of it to stderr.
#[derive(Debug)]
pub(crate) struct Live {
    out: Passed<Stdout>,
    err: Passed<Stderr>,
    /// Stdout is kept for the JSON result.
    all_to_stderr: bool,
    /// Given when nobody reads any more, as SIGPIPE would end a program.
    pub(crate) cancel: Cancel,
    /// Nobody reads any more.
    pub(crate) lost_reader: bool,
    /// There is no room for what is printed, or the like.
    pub(crate) unwritten: Option<Unwritten>,
}

impl Live {
    pub(crate) fn new(all_to_stderr: bool, cancel: Cancel) -> Self {
        Self {
            out: Passed::new(io::stdout()),
            err: Passed::new(io::stderr()),
            all_to_stderr,
            cancel,
            lost_reader: false,
            unwritten: None,
        }
    }
}

impl OutputConsumer for Live {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> Flow {
        let written = if self.all_to_stderr || stream == StreamId::Stderr {
            self.err.write(bytes)
        } else {
            self.out.write(bytes)
        };
        if let Err(error) = written {
            match error.kind() {
                io::ErrorKind::BrokenPipe => self.lost_reader = true,
                _ => self.unwritten = Some(Unwritten(error)),
            }
            self.cancel.cancel();
            return Flow::Stop;
        }
        Flow::Continue
    }
}
