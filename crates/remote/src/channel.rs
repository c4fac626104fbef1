//! The channel to a remote host: concurrent requests and answers by id, over one pair of streams.
//!
//! Data from the remote host is untrusted: everything is bounded, and an invalid line closes the
//! channel. Whether a request was written then decides its status.

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

/// The timeouts of the ends of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelTimeouts {
    /// Between two signs of life of ours.
    pub ping: Duration,
    /// A target that has not been heard for so long is gone.
    pub silence: Duration,
    /// A call that was cancelled and is not answered by then is lost.
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

/// A channel. Dropping it ends the transport at once.
#[derive(Debug)]
pub struct Channel {
    shared: Arc<SharedState>,
    clock: Arc<dyn Clock>,
    patience: ChannelTimeouts,
    running: JoinHandle<()>,
}

impl Channel {
    /// A channel over these streams to our program at a target. `carrier` ends with it.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn over(
        input: impl AsyncWrite + Unpin + Send + 'static,
        output: impl AsyncBufRead + Unpin + Send + 'static,
        carrier: Option<TransportProcess>,
        clock: Arc<dyn Clock>,
        patience: ChannelTimeouts,
    ) -> Self {
        let shared = Arc::new(SharedState::new(clock.now()));
        let running = tokio::spawn(run(
            Arc::clone(&shared),
            input,
            output,
            carrier,
            Arc::clone(&clock),
            patience,
        ));
        Self {
            shared,
            clock,
            patience,
            running,
        }
    }

    /// The reason why the channel is closed, if it is.
    pub fn closed(&self) -> Option<String> {
        self.shared.dead()
    }

    /// Asks for `kind` with the fields of `body`, an object, and waits for the data of the answer.
    /// `live` gets the output that comes before it. `cancel` asks the target to end the request,
    /// which it then answers.
    ///
    /// Dropping the future cancels the request, and forgets its answer.
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
            // Made before looking: what happens in between is not missed.
            let woken = waiting.wake().notified_owned();
            let (updates, answer) = waiting.take();
            updates.into_iter().for_each(&mut *live);
            if let Some(answer) = answer {
                return answer;
            }
            tokio::select! {
                biased;
                () = woken => {}
                () = cancel.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    waiting.cancel();
                }
                () = self.clock.sleep(self.patience.cancelled), if is_cancelled => {
                    return Err(RequestFailure::Cut("it did not answer to a cancellation".to_owned()));
                }
            }
        }
    }

    /// Ends it in order: the target hears the end of its input, ends what runs, and answers. At
    /// most `limit` later it is ended anyway.
    pub async fn close(mut self, limit: Duration) {
        self.shared.finish();
        tokio::select! {
            biased;
            _ = &mut self.running => return,
            () = self.clock.sleep(limit) => {}
        }
        // Dropping the task kills the transport, later than the abort. The process that ends next
        // must not leave it behind.
        self.running.abort();
        let _ = (&mut self.running).await;
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.running.abort();
        self.shared.die("it was closed here");
    }
}

/// Serves the channel until it is closed, and reports the reason to all waiting requests.
async fn run(
    shared: Arc<SharedState>,
    input: impl AsyncWrite + Unpin,
    output: impl AsyncBufRead + Unpin,
    mut carrier: Option<TransportProcess>,
    clock: Arc<dyn Clock>,
    patience: ChannelTimeouts,
) {
    let writing = async {
        write_all(&shared, input).await;
        // Pending requests may still be answered: the reader detects the end.
        std::future::pending::<String>().await
    };
    let end = tokio::select! {
        end = read_all(&shared, output, &*clock) => end,
        why = writing => ChannelEnd::Fault(why),
        why = stay_alive(&shared, &*clock, patience) => ChannelEnd::Fault(why),
    };
    match end {
        ChannelEnd::OfInput => shared.die("the connection was cut"),
        ChannelEnd::Fault(why) => return shared.die(&why),
    }
    if let Some(carrier) = &mut carrier
        && shared.is_finished()
    {
        carrier.ended().await;
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
            // The last byte is the line's end, and the end of all input is one too.
            if written + 1 >= line.len() {
                shared.written(id);
            }
        }
        if input.flush().await.is_err() {
            return;
        }
    }
    let _ = input.shutdown().await;
}

/// The end of a channel.
enum ChannelEnd {
    /// The input has ended: the transport is about to end, if it was asked to.
    OfInput,
    /// Anything else, and what: the transport is of no more use.
    Fault(String),
}

/// Reads until there is no more, or until something comes that does not belong. Returns which.
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
            return ChannelEnd::OfInput;
        }
        shared.heard(clock.now());
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = end.unwrap_or(available.len());
        line.extend_from_slice(&available[..part]);
        output.consume(part + usize::from(end.is_some()));
        if line.len() > MAX_LINE {
            let most = MAX_LINE >> 20;
            return ChannelEnd::Fault(format!("the target sent a line longer than {most} MiB"));
        }
        if end.is_some() {
            let taken = Incoming::read(&line).and_then(|incoming| shared.take(incoming));
            if let Err(fault) = taken {
                return ChannelEnd::Fault(fault);
            }
            line.clear();
            line.shrink_to(64 * 1024);
        }
    }
}

/// Says that we live, and finds out that the target does not. Returns that.
async fn stay_alive(
    shared: &Arc<SharedState>,
    clock: &dyn Clock,
    patience: ChannelTimeouts,
) -> String {
    let mut said = clock.now();
    let mut ping: Option<WaitingRequest> = None;
    loop {
        let silent = clock.now().saturating_sub(shared.last_heard());
        let Some(left) = patience
            .silence
            .checked_sub(silent)
            .filter(|left| !left.is_zero())
        else {
            return format!("nothing was heard of the target for {} s", silent.as_secs());
        };
        let quiet = clock.now().saturating_sub(said);
        let until_ping = patience.ping.saturating_sub(quiet);
        if until_ping.is_zero() {
            said = clock.now();
            // One that was not answered yet is still on its way.
            if ping.as_ref().is_none_or(WaitingRequest::is_answered) {
                ping = shared.begin("ping", &serde_json::json!({})).ok();
            }
            continue;
        }
        clock.sleep(left.min(until_ping)).await;
    }
}

#[cfg(test)]
#[path = "channel/channel_tests.rs"]
mod tests;
