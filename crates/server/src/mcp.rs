//! The Model Context Protocol over a pair of streams, by `rmcp`.
//!
//! Six tools: `bash` is the session's own; `bash_output`, `bash_input`, `bash_kill` and `bash_jobs` are for what goes on
//! after its call; `read_artifact` (`view` under `paged`) and the resources `artifact://…` are what was kept. Or the tools are an
//! adapter's.

mod adapter;
mod handler;
mod instructions;
mod jobs;
mod log;
mod message;
mod reading;
mod served;
mod so_far;
mod tools;
mod transport;
mod windows;

use agent_bash::Session;
use agent_bash::adapters::Adapter;
use agent_bash::core::{Cancel, Clock};
use agent_bash::process::SystemClock;
use agent_bash::running::Running;
use handler::Server;
use served::Served;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use transport::{Bounded, Stop};

/// What the ending of commands takes beside the grace that they have.
const AFTER_GRACE: Duration = Duration::from_secs(2);

/// How long a client that does not read may keep us from ending.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a client is served.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// A call that takes longer is answered with a handle and goes on; zero lets every call take as long as it may.
    pub handle_after: Duration,
    /// Answers have the result as data beside the text, and `bash` has a schema of it. For programs: agents that find data
    /// show their model the JSON of it in place of the text.
    pub structured: bool,
    /// The tools are this adapter's, in place of our own. Its calls take as long as they may: their answers have no handles but
    /// their own.
    pub adapter: Option<&'static Adapter>,
}

/// Serves one client until its input ends, it goes away, or `stop` is given. Commands that run are cancelled then, those with
/// a handle too; background jobs live on.
///
/// # Errors
/// The client does not speak the protocol.
pub async fn serve<R, W>(
    input: R,
    output: W,
    session: Arc<Session>,
    options: Options,
    stop: &Cancel,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let grace = session.tool().profile().grace;
    let stop_writing = Stop::default();
    // Given by a signal and by the end of input.
    let end = stop.child();
    let output = stop_writing.stoppable(output);
    let transport = Bounded::new(input, output, end.clone());
    let calls = Arc::new(Running::new(end.clone()));
    let server = Server::new(session, Arc::clone(&calls), Arc::clone(&clock), options);
    let running = tokio::select! {
        biased;
        running = rmcp::serve_server(Served(server), transport) => running,
        () = stop.cancelled() => return Ok(()),
    };
    let running = match running {
        Ok(running) => running,
        // It went away before it said anything.
        Err(_) if end.is_cancelled() => return Ok(()),
        Err(error) => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                error.to_string(),
            ));
        }
    };
    let protocol = running.cancellation_token();
    let waiting = running.waiting();
    tokio::pin!(waiting);
    let over = tokio::select! {
        biased;
        over = &mut waiting => Some(over),
        () = end.cancelled() => None,
    };
    end.cancel();
    // Their answers go out while they end.
    let limit = clock.sleep(grace + AFTER_GRACE);
    tokio::select! {
        biased;
        () = calls.all_done() => {}
        () = limit => {}
    }
    if over.is_none() {
        protocol.cancel();
        tokio::select! {
            biased;
            _ = &mut waiting => {}
            () = clock.sleep(LAST_WORDS) => {
                stop_writing.stop();
                // A writer that fails lets it come to its end.
                let _ = waiting.await;
            }
        }
    }
    Ok(())
}
