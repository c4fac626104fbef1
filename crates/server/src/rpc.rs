//! The JSON-lines protocol: one object per line, requests in, responses and updates out.
//!
//! [`serve`] reads requests, runs them concurrently, and answers each when it is done. The session
//! and the tool perform the requests; this module only tracks requests and their clients.

mod answer;
mod dispatch;
mod in_flight;
mod job_watch;
mod outbox;
mod parse_line;
mod prompts;
mod request_error;
mod requests;
mod updates;
pub mod worker;

pub use agent_bash_protocol::line::MAX_LINE;
pub use agent_bash_protocol::message::{RpcCall, RpcId, RpcRequest, RpcResponse, Stream};
pub use agent_bash_protocol::name::Name;
pub use agent_bash_protocol::update::RpcUpdate;
pub use agent_bash_protocol::{
    BUILD_NAME, MAX_REQUEST_BYTES, MAX_REQUESTS, PROTOCOL_VERSION, data, message,
};

use self::answer::RpcAnswer;
use crate::{AFTER_GRACE_TIMEOUT, WRITE_TIMEOUT};
use agent_bash::Conversation;
use agent_bash::core::{Cancel, Clock};
use agent_bash::in_order::Tickets;
use agent_bash::panics::await_catching_panic;
use agent_bash::process::SystemClock;
use agent_bash_protocol::line::{InputLine, InputLines};
use agent_bash_protocol::{ErrorCode, Hello};
use agent_bash_running::{ClientAdapters, RunningCalls};
use dispatch::ServedRequest;
use in_flight::{RequestKind, RequestsInFlight};
use job_watch::JobWatch;
use message::Response;
use outbox::{Outbox, WriterTask};
use parse_line::ParsedRequest;
use request_error::ErrorReply;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

/// Serves one client until its input ends, it disconnects, or `stop` is triggered. Then running
/// commands are cancelled, and answered if the client still reads; background jobs continue.
///
/// Requests start in the order in which they arrive and run concurrently. Their memory is bounded
/// by [`MAX_REQUESTS`] and [`MAX_REQUEST_BYTES`], and by a bounded queue towards a client that does
/// not read.
///
/// # Errors
/// The input cannot be read.
pub async fn serve<R, W>(
    input: R,
    output: W,
    session: Arc<Conversation>,
    stop: &Cancel,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (outbox, writing) = Outbox::new(output);
    let clock = Arc::new(SystemClock::new());
    let serving = RpcService::new(session, outbox, clock, stop.child());
    serving.serve(InputLines::new(input), writing).await
}

/// Converts an answer to a response.
fn response(id: Option<RpcId>, kind: &str, answer: RpcAnswer) -> Response {
    match answer {
        Ok(data) => RpcResponse::success(id, kind, data),
        Err(refused) => RpcResponse::failure(id, kind, refused.error).with_code(refused.code),
    }
}

/// The server of one client: its state and its requests.
struct RpcService {
    /// The parts that all requests share. Each request has its own id and cancellation.
    template: ServedRequest,
    /// True after a worker's host has violated the protocol: no more of its requests are served.
    is_protocol_violated: bool,
    /// Present once `hello` has named the protocol.
    job_watch: Option<JobWatch>,
    /// Triggered when the client has disconnected.
    end: Cancel,
    in_flight: RequestsInFlight,
    /// Makes requests start in the order in which they are read.
    tickets: Tickets,
    tasks: JoinSet<()>,
}

impl RpcService {
    /// Creates a service, which runs until `end` is triggered. The service triggers `end` itself
    /// when the client disconnects.
    fn new(session: Arc<Conversation>, outbox: Outbox, clock: Arc<dyn Clock>, end: Cancel) -> Self {
        let running = Arc::new(RunningCalls::new(end.clone()));
        let adapted = ClientAdapters::new(
            Arc::clone(&session),
            Arc::clone(&running),
            Arc::clone(&clock),
        );
        let template = ServedRequest {
            id: None,
            session,
            adapted,
            running,
            clock,
            is_worker: false,
            tools: None,
            outbox,
            uploads: Arc::default(),
            prompts: None,
            cancel: end.clone(),
        };
        Self {
            template,
            is_protocol_violated: false,
            job_watch: None,
            end,
            in_flight: RequestsInFlight::default(),
            tickets: Tickets::default(),
            tasks: JoinSet::new(),
        }
    }

    /// Serves the requests on these lines. Returns when all requests have ended and all answers
    /// were written.
    async fn serve<R: AsyncRead + Unpin>(
        mut self,
        lines: InputLines<R>,
        writing: WriterTask,
    ) -> io::Result<()> {
        let read = self.read_all(lines).await;
        self.in_flight.cancel_all();
        self.end.cancel();
        let ServedRequest { clock, running, .. } = self.template.clone();
        let grace = self.template.session.tool().profile().grace;
        let all_done = async {
            while self.tasks.join_next().await.is_some() {}
            running.all_done().await;
        };
        tokio::select! {
            biased;
            () = all_done => {}
            () = clock.sleep(grace + AFTER_GRACE_TIMEOUT) => {}
        }
        // Dropping the remaining tasks ends their commands without a grace period.
        self.tasks.shutdown().await;
        drop(self);
        wait_until_written(writing, &*clock).await;
        read
    }

    /// Reads and starts requests until the input ends.
    async fn read_all<R: AsyncRead + Unpin>(&mut self, mut lines: InputLines<R>) -> io::Result<()> {
        let stop = self.end.clone();
        loop {
            if self.is_protocol_violated {
                return Ok(());
            }
            let line = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = self.template.outbox.disconnected() => return Ok(()),
                Some(done) = self.tasks.join_next() => {
                    if let Err(error) = done {
                        tracing::error!(%error, "a request was not answered");
                    }
                    continue;
                }
                line = lines.next() => line?,
            };
            let answer = match line {
                InputLine::End => return Ok(()),
                InputLine::TooLong(head) => {
                    let limit = MAX_LINE >> 20;
                    let error = format!("the line is longer than {limit} MiB and was not read");
                    self.is_protocol_violated = self.template.is_worker;
                    Some(parse_line::refusal_of(head, error))
                }
                InputLine::Whole(line) => self.start_request(&line),
            };
            let Some(answer) = answer else { continue };
            // Backpressure: reading pauses until there is room for the answer. `stop` still works.
            tokio::select! {
                biased;
                () = self.template.outbox.send(&answer) => {}
                () = stop.cancelled() => return Ok(()),
            }
        }
    }

    /// Starts the request on a line. Returns an immediate answer if the request is invalid or
    /// concerns other requests.
    fn start_request(&mut self, line: &[u8]) -> Option<Response> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let ParsedRequest { id, kind, call } = match parse_line::request(line) {
            Ok(parsed) => parsed,
            Err(refusal) => {
                self.is_protocol_violated = self.template.is_worker;
                return Some(*refusal);
            }
        };
        if let Some(answer) = dispatch::control(&call, &self.in_flight) {
            return Some(response(id, &kind, answer));
        }
        // `hello` is handled in order, so that it applies to all later requests.
        if let RpcCall::Hello(hello) = call {
            return Some(response(id, &kind, self.hello(&hello)));
        }
        let may_start_jobs = matches!(
            call,
            RpcCall::ToolCall { .. }
                | RpcCall::Bash { .. }
                | RpcCall::AdapterCall { .. }
                | RpcCall::TerminalStart { .. }
                | RpcCall::TerminalEnd { .. }
        );
        let request_kind = match call {
            RpcCall::Bash { .. } => RequestKind::Bash,
            _ => RequestKind::Other,
        };
        match self.in_flight.begin(id.clone(), request_kind, line.len()) {
            Err(refused) => Some(RpcResponse::failure(id, &kind, refused)),
            Ok(flight) => {
                let served_request = ServedRequest {
                    id: id.clone(),
                    cancel: flight.cancel.clone(),
                    ..self.template.clone()
                };
                let job_watch = self.job_watch.clone().filter(|_| may_start_jobs);
                let ticket = self.tickets.draw();
                self.tasks.spawn(async move {
                    let answer = ticket
                        .serve(await_catching_panic(served_request.answer(call)))
                        .await;
                    let answer = answer.unwrap_or_else(|panicked| Err(panicked.to_string().into()));
                    flight.free_id();
                    served_request
                        .outbox
                        .send(&response(id, &kind, answer))
                        .await;
                    drop(flight);
                    if let Some(watch) = job_watch {
                        watch.watch_running_jobs().await;
                    }
                });
                None
            }
        }
    }

    /// Answers `hello` to a server that is not a worker, and applies it to later requests.
    fn hello(&mut self, hello: &Hello) -> RpcAnswer {
        if self.template.is_worker {
            let error = "a worker accepts `hello` only once, as its first request";
            return Err(ErrorReply::new(ErrorCode::Protocol, error));
        }
        let tools = hello.tools.as_ref().or(self.template.tools.as_ref());
        let answer = dispatch::hello(&self.template.session, hello, tools, None)?;
        self.template.tools = tools.cloned();
        if hello.prompts == Some(true) {
            self.template.prompts.get_or_insert_default();
        }
        if hello.protocol.is_some() {
            self.watch_jobs();
        }
        Ok(answer)
    }

    /// Starts to notify the client when a job ends.
    fn watch_jobs(&mut self) {
        if self.job_watch.is_some() {
            return;
        }
        let watch = JobWatch::new(
            Arc::clone(&self.template.session),
            self.template.outbox.clone(),
            self.end.clone(),
        );
        self.job_watch = Some(watch.clone());
        self.tasks
            .spawn(async move { watch.watch_running_jobs().await });
    }
}

/// Waits until all answers are written, or for [`WRITE_TIMEOUT`]. All clones of the outbox must be
/// dropped before.
async fn wait_until_written(writing: WriterTask, clock: &dyn Clock) {
    tokio::select! {
        biased;
        () = writing.finish() => {}
        () = clock.sleep(WRITE_TIMEOUT) => {}
    }
}
