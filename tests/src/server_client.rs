//! A child process that speaks JSON lines: the client side of `agent-bash rpc` and `agent-bash
//! mcp`.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::any::Any;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time that a program may take to exit after its input has ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(30);

/// The program and its output.
#[derive(Debug)]
pub struct ServerClient {
    child: Child,
    input: Option<ChildStdin>,
    /// The output lines; a line that is not JSON is an error.
    lines: Receiver<Result<Value, String>>,
    stderr: Option<JoinHandle<String>>,
    ids: u64,
    /// Values that must live as long as the program, such as an engine.
    kept_alive: Vec<Box<dyn Any + Send + Sync>>,
}

/// The result of [`ServerClient::end`].
#[derive(Debug)]
pub struct ServerEnd {
    /// Exit status of the program.
    pub status: ExitStatus,
    /// The messages sent before the end.
    pub rest: Vec<Value>,
    /// The stderr of the program.
    pub stderr: String,
}

impl ServerClient {
    /// Starts the program.
    ///
    /// # Errors
    /// The program cannot be started.
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
                let message = match line {
                    Err(error) => Err(error.to_string()),
                    Ok(line) => serde_json::from_str(&line).map_err(|error| {
                        format!("stdout has a line that is not JSON: {error}: {line}")
                    }),
                };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stderr = std::thread::spawn(move || {
            let mut text = Vec::new();
            // The text read before an error is useful, too.
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self {
            child,
            input,
            lines,
            stderr: Some(stderr),
            ids: 0,
            kept_alive: Vec::new(),
        })
    }

    /// Keeps a value alive until the program has ended.
    #[must_use]
    pub fn keep_alive(mut self, needed: impl Any + Send + Sync) -> Self {
        self.kept_alive.push(Box::new(needed));
        self
    }

    /// Pid of the program.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns an unused id.
    pub fn new_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// Sends a line.
    ///
    /// # Errors
    /// The program has closed its input.
    pub fn send(&mut self, message: &Value) -> Result<()> {
        self.send_bytes(format!("{message}\n").as_bytes())
    }

    /// Sends raw bytes.
    ///
    /// # Errors
    /// The program has closed its input.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.input.as_mut().context("the input was ended")?;
        Ok(input.write_all(bytes)?)
    }

    /// Returns the next line.
    ///
    /// # Errors
    /// Timeout, the program has ended, or the line is not JSON.
    pub fn next(&self, patience: Duration) -> Result<Value> {
        match self.lines.recv_timeout(patience) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(error)) => bail!(error),
            Err(RecvTimeoutError::Timeout) => bail!("no line was sent within {patience:?}"),
            Err(RecvTimeoutError::Disconnected) => bail!("the program has ended"),
        }
    }

    /// Returns the next line for which `is_wanted` is true. Drops the lines before it.
    ///
    /// # Errors
    /// As [`Self::next`].
    #[expect(clippy::disallowed_methods, reason = "a test waits for a real program")]
    pub fn next_where(
        &self,
        patience: Duration,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        let begin = Instant::now();
        loop {
            let line = self.next(patience.saturating_sub(begin.elapsed()))?;
            if is_wanted(&line) {
                return Ok(line);
            }
        }
    }

    /// Closes the program's input and waits for it to exit.
    ///
    /// # Errors
    /// The program does not exit (and is killed), or sent a line that is not JSON.
    pub fn end(mut self) -> Result<ServerEnd> {
        self.input = None;
        let status = self.wait()?;
        let rest: Result<Vec<Value>, String> = self.lines.iter().collect();
        let rest = rest.map_err(anyhow::Error::msg)?;
        let stderr = self.stderr.take().map(JoinHandle::join);
        Ok(ServerEnd {
            status,
            rest,
            stderr: stderr.transpose().unwrap_or_default().unwrap_or_default(),
        })
    }

    fn wait(&mut self) -> Result<ExitStatus> {
        let child = &mut self.child;
        let status = crate::poll::until(EXIT_TIMEOUT, || child.try_wait().transpose());
        ensure!(
            status.is_some(),
            "the program still runs {EXIT_TIMEOUT:?} after the end of its input"
        );
        status.transpose()?.context("the program has ended")
    }
}

impl Drop for ServerClient {
    fn drop(&mut self) {
        self.input = None;
        if self.wait().is_err() {
            // The census of the world reports a program that survives.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
