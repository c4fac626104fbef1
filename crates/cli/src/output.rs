//! Writing to our own stdout and stderr. A reader that went away is not an error: `agent-bash run … | head -1`.

use agent_bash::core::{Cancel, Flow, OutputConsumer, StreamId};
use anyhow::Context;
use std::io::{self, IsTerminal, Write};

/// Writes a text and flushes. On a terminal a last line gets its end.
///
/// # Errors
/// Stdout takes no more (a full disk), for another reason than a reader that went away.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let end = if out.is_terminal() && !text.is_empty() && !text.ends_with('\n') {
        "\n"
    } else {
        ""
    };
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| out.write_all(end.as_bytes()))
        .and_then(|()| out.flush());
    but_for_lost_readers(written).context("cannot write the result to stdout")
}

/// Writes bytes as they are. False if nobody reads them any more.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.context("cannot write to stdout").map(|()| true),
    }
}

/// Writes a line to stderr, for a person; nobody to read it is no error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

fn but_for_lost_readers(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Live output, as raw as it comes: stdout and the merged stream to stdout, stderr to stderr; or all of it to stderr.
#[derive(Debug)]
pub(crate) struct Live {
    /// Stdout is kept for the JSON result.
    pub(crate) all_to_stderr: bool,
    /// Given when nobody reads any more, as SIGPIPE would end a program.
    pub(crate) cancel: Cancel,
    /// Nobody reads any more.
    pub(crate) lost_reader: bool,
}

impl OutputConsumer for Live {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> Flow {
        let written = if self.all_to_stderr || stream == StreamId::Stderr {
            io::stderr().lock().write_all(bytes)
        } else {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())
        };
        if written.is_err() {
            self.lost_reader = true;
            self.cancel.cancel();
            return Flow::Stop;
        }
        Flow::Continue
    }
}
