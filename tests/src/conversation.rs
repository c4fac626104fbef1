//! A program that is talked to in lines of JSON: what a client of `agent-bash rpc` and `agent-bash mcp` is.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a program may take to end when its input has.
const END: Duration = Duration::from_secs(30);

/// One program, and what it says.
#[derive(Debug)]
pub struct Conversation {
    child: Child,
    input: Option<ChildStdin>,
    /// Its lines; one that is not JSON is an error.
    lines: Receiver<Result<Value, String>>,
    stderr: Option<JoinHandle<String>>,
    ids: u64,
}

/// How a conversation came to its end.
#[derive(Debug)]
pub struct Ended {
    /// Of the program.
    pub status: ExitStatus,
    /// What it still said.
    pub rest: Vec<Value>,
    /// What it said to its stderr.
    pub stderr: String,
}

impl Conversation {
    /// Starts the program.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(mut command: Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("stdout is piped")?;
        let mut errors = child.stderr.take().context("stderr is piped")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let said = match line {
                    Err(error) => Err(error.to_string()),
                    Ok(line) => serde_json::from_str(&line).map_err(|error| {
                        format!("stdout has a line that is not JSON: {error}: {line}")
                    }),
                };
                if sender.send(said).is_err() {
                    return;
                }
            }
        });
        let stderr = std::thread::spawn(move || {
            let mut text = Vec::new();
            // What was read before an error is of use, too.
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self {
            child,
            input,
            lines,
            stderr: Some(stderr),
            ids: 0,
        })
    }

    /// Process id of the program.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// An id that no request had so far.
    pub fn new_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// Sends a line.
    ///
    /// # Errors
    /// The program reads no more.
    pub fn send(&mut self, message: &Value) -> Result<()> {
        self.send_bytes(format!("{message}\n").as_bytes())
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The program reads no more.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.input.as_mut().context("the input was ended")?;
        Ok(input.write_all(bytes)?)
    }

    /// The next line.
    ///
    /// # Errors
    /// None came in time, the program has ended, or its line is not JSON.
    pub fn next(&self, patience: Duration) -> Result<Value> {
        match self.lines.recv_timeout(patience) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(error)) => bail!(error),
            Err(RecvTimeoutError::Timeout) => bail!("nothing was said within {patience:?}"),
            Err(RecvTimeoutError::Disconnected) => bail!("the program has ended"),
        }
    }

    /// The next line of which `is_meant` is true; those before it are dropped.
    ///
    /// # Errors
    /// As [`Self::next`].
    #[expect(clippy::disallowed_methods, reason = "a test waits for a real program")]
    pub fn next_where(
        &self,
        patience: Duration,
        is_meant: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        let begin = Instant::now();
        loop {
            let line = self.next(patience.saturating_sub(begin.elapsed()))?;
            if is_meant(&line) {
                return Ok(line);
            }
        }
    }

    /// Ends its input and waits for its end.
    ///
    /// # Errors
    /// It does not end (and is killed), or said what is not JSON.
    pub fn end(mut self) -> Result<Ended> {
        self.input = None;
        let status = self.wait()?;
        let rest: Result<Vec<Value>, String> = self.lines.iter().collect();
        let rest = rest.map_err(anyhow::Error::msg)?;
        let stderr = self.stderr.take().map(JoinHandle::join);
        Ok(Ended {
            status,
            rest,
            stderr: stderr.transpose().unwrap_or_default().unwrap_or_default(),
        })
    }

    fn wait(&mut self) -> Result<ExitStatus> {
        let child = &mut self.child;
        let status = crate::poll::until(END, || child.try_wait().transpose());
        ensure!(
            status.is_some(),
            "it goes on {END:?} after the end of its input"
        );
        status.transpose()?.context("it has ended")
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.input = None;
        if self.wait().is_err() {
            // It is reported by the census of its world, if by nobody else.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
