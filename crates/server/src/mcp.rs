//! The Model Context Protocol over a pair of streams, with `rmcp`.
//!
//! The tools: `bash` runs commands. `bash_output`, `bash_input`, `bash_kill` and `bash_jobs`
//! control jobs and calls that continue after their answer. `read_artifact` (`view` under `paged`)
//! and the resources `artifact://…` read stored output. `bash_changes` shows and undoes changes, if
//! they are recorded. With an adapter, the server offers the adapter's tools instead.

mod adapter;
mod approval;
mod artifacts;
mod call_turn;
mod changes;
mod handler;
mod instructions;
mod job_texts;
mod jobs;
mod log;
mod message;
mod options;
mod ordered_handler;
mod output_so_far;
mod parameter_error;
mod progress;
mod prompt_page;
mod random_token;
mod remote;
mod tasks;
mod terminal;
mod tools;
mod transport;
mod windows;

pub use options::McpOptions;

use crate::{AFTER_GRACE_TIMEOUT, WRITE_TIMEOUT};
use agent_bash::Conversation;
use agent_bash::core::{Cancel, Clock};
use agent_bash::process::SystemClock;
use agent_bash_running::RunningCalls;
use handler::McpServer;
use ordered_handler::OrderedHandler;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use transport::{BoundedTransport, WriteStopper};

/// Serves one client until its input ends, it disconnects, or `stop` is triggered. Then running
/// commands are cancelled, including calls that continue after their answer; background jobs
/// continue.
///
/// # Errors
/// The client does not speak the protocol.
pub async fn serve<R, W>(
    input: R,
    output: W,
    session: Arc<Conversation>,
    options: McpOptions,
    stop: &Cancel,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let grace = session.tool().profile().grace;
    let stop_writing = WriteStopper::default();
    // Triggered by a signal and at the end of input.
    let end = stop.child();
    let output = stop_writing.stoppable(output);
    let transport = BoundedTransport::new(input, output, end.clone());
    let calls = Arc::new(RunningCalls::new(end.clone()));
    let server = McpServer::new(session, Arc::clone(&calls), Arc::clone(&clock), options);
    let running = tokio::select! {
        biased;
        running = rmcp::serve_server(OrderedHandler(server), transport) => running,
        () = stop.cancelled() => return Ok(()),
    };
    let running = match running {
        Ok(running) => running,
        // The client disconnected before its first message.
        Err(_) if end.is_cancelled() => return Ok(()),
        Err(error) => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                error.to_string(),
            ));
        }
    };
    let stop_service = running.cancellation_token();
    let waiting = running.waiting();
    tokio::pin!(waiting);
    let ended = tokio::select! {
        biased;
        ended = &mut waiting => Some(ended),
        () = end.cancelled() => None,
    };
    end.cancel();
    // Answers are still sent while the commands end.
    let limit = clock.sleep(grace + AFTER_GRACE_TIMEOUT);
    tokio::select! {
        biased;
        () = calls.all_done() => {}
        () = limit => {}
    }
    if ended.is_none() {
        stop_service.cancel();
        tokio::select! {
            biased;
            _ = &mut waiting => {}
            () = clock.sleep(WRITE_TIMEOUT) => {
                stop_writing.stop();
                // If the writer fails, the service ends too.
                let _ = waiting.await;
            }
        }
    }
    Ok(())
}
