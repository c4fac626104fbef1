//! The channel to a remote host: concurrent requests and answers by id, over one pair of streams.
//!
//! Data from the remote host is untrusted: its size is bounded, and an invalid line closes the
//! channel. When the channel is closed, a request that was written may have run; other requests
//! have not run.

mod incoming;
mod state;

pub use incoming::{MAX_LINE, OutputUpdate};
pub use state::RequestFailure;

use agent_bash_core::{Cancel, Clock};
use agent_bash_process::TransportProcess;
use incoming::Incoming;
use serde::Serialize;
use serde_json::value::RawValue;
use state::{SharedState, WaitingRequest};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinHandle;

/// The timeouts of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelTimeouts {
    /// The interval between two pings to the remote host.
    pub ping: Duration,
    /// The channel is closed if nothing arrives for this time.
    pub silence: Duration,
    /// The time after which a cancelled call without an answer is lost.
    pub cancelled: Duration,
}

impl Default for ChannelTimeouts {
    fn default() -> Self {
        Self {
            ping: Duration::from_secs(10),
            silence: Duration::from_secs(25),
            cancelled: Duration::from_secs(30),
        }
    }
}

/// The channel to a remote host. Dropping the channel ends the transport at once.
#[derive(Debug)]
pub struct Channel {
    shared: Arc<SharedState>,
    clock: Arc<dyn Clock>,
    timeouts: ChannelTimeouts,
    task: JoinHandle<()>,
}

impl Channel {
    /// Creates a channel over the streams of this program on a remote host. The process `transport`
    /// ends with the channel.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn over(
        input: impl AsyncWrite + Unpin + Send + 'static,
        output: impl AsyncBufRead + Unpin + Send + 'static,
        transport: Option<TransportProcess>,
        clock: Arc<dyn Clock>,
        timeouts: ChannelTimeouts,
    ) -> Self {
        let shared = Arc::new(SharedState::new(clock.now()));
        let task = tokio::spawn(run(
            Arc::clone(&shared),
            input,
            output,
            transport,
            Arc::clone(&clock),
            timeouts,
        ));
        Self {
            shared,
            clock,
            timeouts,
            task,
        }
    }

    /// Returns the reason why the channel is closed, if it is.
    pub fn closed(&self) -> Option<String> {
        self.shared.closed_reason()
    }

    /// Sends a request of the type `kind` with the fields of `body`, a JSON object, and waits for
    /// the data of the answer. `live` receives the output that arrives before the answer. `cancel`
    /// asks the remote host to end the request; the remote host then still answers.
    ///
    /// Dropping the future cancels the request and ignores its answer.
    ///
    /// # Errors
    /// [`RequestFailure`].
    pub async fn ask(
        &self,
        kind: &str,
        body: &impl Serialize,
        live: &mut (dyn FnMut(OutputUpdate) + Send),
        cancel: &Cancel,
    ) -> Result<Option<Box<RawValue>>, RequestFailure> {
        let waiting = self.shared.begin(kind, body)?;
        let mut is_cancelled = false;
        loop {
            // The listener is created before the state is read, so that it misses no notification.
            let wakes = waiting.wake().notified_owned();
            let (updates, answer) = waiting.take();
            updates.into_iter().for_each(&mut *live);
            if let Some(answer) = answer {
                return answer;
            }
            tokio::select! {
                biased;
                () = wakes => {}
                () = cancel.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    waiting.cancel();
                }
                () = self.clock.sleep(self.timeouts.cancelled), if is_cancelled => {
                    let reason = "the target did not answer a cancellation".to_owned();
                    return Err(RequestFailure::ConnectionLost(reason));
                }
            }
        }
    }

    /// Closes the channel in order: the remote host reads the end of its input, ends running
    /// requests, and answers. After `limit` at the latest, the transport is ended.
    pub async fn close(mut self, limit: Duration) {
        self.shared.finish_requests();
        tokio::select! {
            biased;
            _ = &mut self.task => return,
            () = self.clock.sleep(limit) => {}
        }
        // Waits for the aborted task: dropping the task kills the transport, which must not outlive
        // a process that exits next.
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.close("agent-bash closed the connection");
    }
}

/// Serves the channel until it is closed, and reports the reason to all waiting requests.
async fn run(
    shared: Arc<SharedState>,
    input: impl AsyncWrite + Unpin,
    output: impl AsyncBufRead + Unpin,
    mut transport: Option<TransportProcess>,
    clock: Arc<dyn Clock>,
    timeouts: ChannelTimeouts,
) {
    let writing = async {
        write_all(&shared, input).await;
        // The remote host may still answer pending requests, so the reader decides when to end.
        std::future::pending::<String>().await
    };
    let end = tokio::select! {
        end = read_all(&shared, output, &*clock) => end,
        why = writing => ChannelEnd::Fault(why),
        why = keep_alive(&shared, &*clock, timeouts) => ChannelEnd::Fault(why),
    };
    match end {
        ChannelEnd::InputEnded => shared.close("the connection was cut"),
        ChannelEnd::Fault(why) => return shared.close(&why),
    }
    if let Some(transport) = &mut transport
        && shared.is_finished()
    {
        transport.ended().await;
    }
}

async fn write_all(shared: &SharedState, mut input: impl AsyncWrite + Unpin) {
    while let Some((id, line)) = shared.next_line().await {
        let mut written = 0;
        while written < line.len() {
            match input.write(&line[written..]).await {
                Ok(0) | Err(_) => return,
                Ok(length) => written += length,
            }
            // The last byte ends the line, and also marks the end of the input.
            if written + 1 >= line.len() {
                shared.mark_written(id);
            }
        }
        if input.flush().await.is_err() {
            return;
        }
    }
    let _ = input.shutdown().await;
}

enum ChannelEnd {
    /// The input has ended. If this process finished the requests before, the transport ends soon.
    InputEnded,
    /// Another reason, as text: the transport is unusable.
    Fault(String),
}

/// Reads until the end of the input or an invalid line. Returns the reason.
async fn read_all(
    shared: &SharedState,
    mut output: impl AsyncBufRead + Unpin,
    clock: &dyn Clock,
) -> ChannelEnd {
    let mut line = Vec::new();
    loop {
        let available = match output.fill_buf().await {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return ChannelEnd::Fault(format!("the connection failed: {error}")),
        };
        if available.is_empty() {
            return ChannelEnd::InputEnded;
        }
        shared.set_last_heard(clock.now());
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = end.unwrap_or(available.len());
        line.extend_from_slice(&available[..part]);
        output.consume(part + usize::from(end.is_some()));
        if line.len() > MAX_LINE {
            let max_mib = MAX_LINE >> 20;
            return ChannelEnd::Fault(format!("the target sent a line longer than {max_mib} MiB"));
        }
        if end.is_some() {
            let handled = Incoming::read(&line).and_then(|incoming| shared.handle(incoming));
            if let Err(fault) = handled {
                return ChannelEnd::Fault(fault);
            }
            line.clear();
            line.shrink_to(64 * 1024);
        }
    }
}

/// Sends pings, and returns when the remote host has been silent for too long.
async fn keep_alive(
    shared: &Arc<SharedState>,
    clock: &dyn Clock,
    timeouts: ChannelTimeouts,
) -> String {
    let mut last_ping = clock.now();
    let mut ping: Option<WaitingRequest> = None;
    loop {
        let silent = clock.now().saturating_sub(shared.last_heard());
        let Some(remaining) = timeouts
            .silence
            .checked_sub(silent)
            .filter(|remaining| !remaining.is_zero())
        else {
            return format!("the target sent nothing for {} s", silent.as_secs());
        };
        let since_ping = clock.now().saturating_sub(last_ping);
        let until_ping = timeouts.ping.saturating_sub(since_ping);
        if until_ping.is_zero() {
            last_ping = clock.now();
            // No second ping is sent while one is unanswered.
            if ping.as_ref().is_none_or(WaitingRequest::is_answered) {
                ping = shared.begin("ping", &serde_json::json!({})).ok();
            }
            continue;
        }
        clock.sleep(remaining.min(until_ping)).await;
    }
}

#[cfg(test)]
#[path = "channel/channel_tests.rs"]
mod tests;
