//! A server that answers each line with a line, and a client that measures the round-trip times.

use anyhow::{Context, Result};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server and its client.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) input: Option<Box<dyn Write>>,
    pub(crate) output: BufReader<Box<dyn Read>>,
}

impl Server {
    /// Starts the server with pipes as its streams.
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn()?;
        let input = child.stdin.take().context("stdin is piped")?;
        let output: Box<dyn Read> = Box::new(child.stdout.take().context("stdout is piped")?);
        Ok(Self {
            child,
            input: Some(Box::new(input)),
            output: BufReader::new(output),
        })
    }

    pub(crate) fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("it is open")?;
        Ok(input.write_all(format!("{message}\n").as_bytes())?)
    }

    pub(crate) fn ask(&mut self, message: &Value) -> Result<Value> {
        self.send(message)?;
        Ok(serde_json::from_str(&self.line()?)?)
    }

    /// Returns the next line of the server's output.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        // The server exits when its input ends.
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

pub(crate) fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let begin = now();
    work()?;
    Ok(begin.elapsed())
}

/// Returns the 10th percentile, the median, and the 90th percentile.
pub(crate) fn percentiles(mut times: Vec<Duration>) -> [Duration; 3] {
    times.sort_unstable();
    [1, 5, 9].map(|tenth| {
        times
            .get(times.len() * tenth / 10)
            .copied()
            .unwrap_or_default()
    })
}
