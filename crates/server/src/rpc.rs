//! The JSON-lines protocol: one object per line, requests in, responses and updates out.
//!
//! [`serve`] reads requests, runs them concurrently, and answers each when it is done. What a request does is up to
//! the session and the tool; this module only tracks requests and their clients.

mod dispatch;
mod files;
mod in_flight;
mod job_watch;
mod outbox;
mod read;
mod refused;
mod updates;

pub use agent_bash_protocol::line::MAX_LINE;
pub use agent_bash_protocol::message::{
    RpcCall, RpcId, RpcRequest, RpcResponse, RpcUpdate, Stream,
};
pub use agent_bash_protocol::name::Name;
pub use agent_bash_protocol::{MAX_REQUEST_BYTES, MAX_REQUESTS, data, message};

use agent_bash::Session;
use agent_bash::adapters::Adapted;
use agent_bash::core::{Cancel, Clock};
use agent_bash::in_order::Tickets;
use agent_bash::panics::caught_in;
use agent_bash::process::SystemClock;
use agent_bash::running::Running;
use agent_bash_protocol::Hello;
use agent_bash_protocol::line::{Line, Lines};
use files::Uploads;
use in_flight::{InFlight, Kind};
use job_watch::JobWatch;
use message::Response;
use outbox::Outbox;
use read::Asked;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

/// Time allowed for ending commands, on top of their grace period.
const AFTER_GRACE: Duration = Duration::from_secs(2);

/// How long a client that does not read may delay our exit.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves one client until its input ends, it disconnects, or `stop` is triggered. Running commands are cancelled
/// then, and answered if the client still reads; background jobs live on.
///
/// Requests start in the order in which they arrive and run concurrently. Their memory is bounded by
/// [`MAX_REQUESTS`] and [`MAX_REQUEST_BYTES`], and by a bounded queue towards a client that does not read.
///
/// # Errors
/// The input cannot be read.
pub async fn serve<R, W>(
    input: R,
    output: W,
    session: Arc<Session>,
    stop: &Cancel,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    // Calls of adapters may continue after their answers, but not after their client has disconnected.
    let end = stop.child();
    let running = Arc::new(Running::new(end.clone()));
    let grace = session.tool().profile().grace;
    let (outbox, writing) = Outbox::new(output);
    let adapted = Adapted::new(
        Arc::clone(&session),
        Arc::clone(&running),
        Arc::clone(&clock),
    );
    let mut serving = Serving {
        session,
        adapted,
        outbox,
        tools: None,
        uploads: Arc::default(),
        job_watch: None,
        end: end.clone(),
        in_flight: InFlight::default(),
        tickets: Tickets::default(),
        tasks: JoinSet::new(),
    };
    let read = serving.read_all(input, stop).await;

    serving.in_flight.cancel_all();
    end.cancel();
    let all_done = async {
        serving.all_done().await;
        running.all_done().await;
    };
    tokio::select! {
        biased;
        () = all_done => {}
        () = clock.sleep(grace + AFTER_GRACE) => {}
    }
    // Dropping the remaining tasks ends their commands without a grace period.
    serving.tasks.shutdown().await;
    drop(serving);
    tokio::select! {
        biased;
        () = writing.finish() => {}
        () = clock.sleep(LAST_WORDS) => {}
    }
    read
}

fn response(id: Option<RpcId>, kind: &str, answer: dispatch::Answer) -> Response {
    match answer {
        Ok(data) => RpcResponse::success(id, kind, data),
        Err(refused) => RpcResponse::failure(id, kind, refused.error).with_code(refused.code),
    }
}

struct Serving {
    session: Arc<Session>,
    adapted: Adapted,
    outbox: Outbox,
    /// The model's other tools, once `hello` has named them.
    tools: Option<Vec<String>>,
    uploads: Arc<Uploads>,
    /// Once `hello` has named the protocol.
    job_watch: Option<JobWatch>,
    /// Triggered when the client has gone.
    end: Cancel,
    in_flight: InFlight,
    /// Makes requests start in the order in which they are read.
    tickets: Tickets,
    tasks: JoinSet<()>,
}

impl Serving {
    /// Reads and starts requests until the input ends.
    async fn read_all<R: AsyncRead + Unpin>(&mut self, input: R, stop: &Cancel) -> io::Result<()> {
        let mut lines = Lines::new(input);
        loop {
            let line = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = self.outbox.gone() => return Ok(()),
                Some(done) = self.tasks.join_next() => {
                    if let Err(error) = done {
                        tracing::error!(%error, "a request was not answered");
                    }
                    continue;
                }
                line = lines.next() => line?,
            };
            let answer = match line {
                Line::End => return Ok(()),
                Line::TooLong(head) => {
                    let limit = MAX_LINE >> 20;
                    let error = format!("the line is longer than {limit} MiB and was not read");
                    Some(read::refusal_of(head, error))
                }
                Line::Whole(line) => self.take(&line),
            };
            let Some(answer) = answer else { continue };
            // Backpressure: nothing more is read until there is room for the answer. A signal is still noticed.
            tokio::select! {
                biased;
                () = self.outbox.send(&answer) => {}
                () = stop.cancelled() => return Ok(()),
            }
        }
    }

    /// Starts the request on a line. Answers at once if it concerns other requests or is invalid.
    fn take(&mut self, line: &[u8]) -> Option<Response> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let Asked { id, kind, call } = match read::request(line) {
            Ok(asked) => asked,
            Err(refusal) => return Some(*refusal),
        };
        if let Some(answer) = dispatch::control(&call, &self.in_flight) {
            return Some(response(id, &kind, answer));
        }
        // Handled here, so that it applies to all requests after it.
        if let RpcCall::Hello(hello) = call {
            return Some(response(id, &kind, self.hello(&hello)));
        }
        let may_start_jobs = matches!(
            call,
            RpcCall::ToolCall { .. } | RpcCall::Bash { .. } | RpcCall::AdapterCall { .. }
        );
        let what = match call {
            RpcCall::Bash { .. } => Kind::Bash,
            _ => Kind::Other,
        };
        match self.in_flight.begin(id.clone(), what, line.len()) {
            Err(refused) => Some(RpcResponse::failure(id, &kind, refused)),
            Ok(flight) => {
                let asking = dispatch::Asking {
                    id: id.clone(),
                    session: Arc::clone(&self.session),
                    adapted: self.adapted.clone(),
                    tools: self.tools.clone(),
                    outbox: self.outbox.clone(),
                    uploads: Arc::clone(&self.uploads),
                    cancel: flight.cancel.clone(),
                };
                let job_watch = self.job_watch.clone().filter(|_| may_start_jobs);
                let ticket = self.tickets.draw();
                self.tasks.spawn(async move {
                    let answer = ticket.serve(caught_in(asking.answer(call))).await;
                    let answer = answer.unwrap_or_else(|panicked| Err(panicked.to_string().into()));
                    flight.free_id();
                    asking.outbox.send(&response(id, &kind, answer)).await;
                    drop(flight);
                    if let Some(watch) = job_watch {
                        watch.look().await;
                    }
                });
                None
            }
        }
    }

    fn hello(&mut self, hello: &Hello) -> dispatch::Answer {
        let tools = hello.tools.as_ref().or(self.tools.as_ref());
        let answer = dispatch::hello(&self.session, hello, tools)?;
        self.tools = tools.cloned();
        if hello.protocol.is_some() && self.job_watch.is_none() {
            let watch = JobWatch::new(
                Arc::clone(&self.session),
                self.outbox.clone(),
                self.end.clone(),
            );
            self.job_watch = Some(watch.clone());
            self.tasks.spawn(async move { watch.look().await });
        }
        Ok(answer)
    }

    async fn all_done(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}
