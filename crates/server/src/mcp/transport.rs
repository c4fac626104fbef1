//! The transport for an MCP client: lines in, lines out. Unlike the transport of `rmcp`, it answers
//! invalid messages with their id, tolerates messages before the handshake, and stops reading while
//! the client does not read answers.

use super::message::{self, ParsedLine};
use super::ordered_handler;
use agent_bash::core::{Cancel, lock};
use agent_bash::in_order::Tickets;
use agent_bash_protocol::line::{InputLine, InputLines, MAX_LINE};
use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage,
    JsonRpcRequest, RequestId,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};

/// Maximum number of unanswered requests; at the maximum, reading stops. Twice the maximum of
/// running commands, so a client that reads its answers never reaches this maximum.
const MAX_UNANSWERED: usize = 512;

pub(super) struct BoundedTransport<R, W> {
    lines: InputLines<R>,
    output: Arc<AsyncMutex<StoppableWriter<W>>>,
    permits: Arc<Semaphore>,
    /// The permit for the next request.
    reserved: Option<OwnedSemaphorePermit>,
    /// The permit of each request without an answer.
    unanswered: Arc<Mutex<HashMap<RequestId, OwnedSemaphorePermit>>>,
    tickets: Tickets,
    /// True once the handshake has begun.
    has_begun_handshake: bool,
    /// Triggered at the end of input.
    ended: Cancel,
}

impl<R, W> BoundedTransport<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    pub(super) fn new(input: R, output: StoppableWriter<W>, ended: Cancel) -> Self {
        Self {
            lines: InputLines::new(input),
            output: Arc::new(AsyncMutex::new(output)),
            permits: Arc::new(Semaphore::new(MAX_UNANSWERED)),
            reserved: None,
            unanswered: Arc::default(),
            tickets: Tickets::default(),
            has_begun_handshake: false,
            ended,
        }
    }

    /// Returns the next valid message. Cancel safe.
    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.reserved.is_none() {
                // Never fails: the semaphore is never closed.
                self.reserved = Arc::clone(&self.permits).acquire_owned().await.ok();
            }
            let line = match self.lines.next().await {
                Ok(InputLine::End) => return None,
                Ok(InputLine::Whole(line)) => message::read(&line),
                Ok(InputLine::TooLong(head)) => {
                    ParsedLine::Refused(message::too_long(&head, MAX_LINE))
                }
                Err(error) => {
                    tracing::error!(%error, "the input cannot be read");
                    return None;
                }
            };
            match line {
                ParsedLine::Message(message) => match self.duplicate_id(&message) {
                    Some(id) => self.refuse(message::duplicate_id(id)),
                    None if self.is_expected(&message) => return Some(*message),
                    None => {}
                },
                ParsedLine::Nothing => {}
                ParsedLine::Refused(answer) => self.refuse(answer),
            }
        }
    }

    /// Answers a line that is not passed to `rmcp`.
    fn refuse(&mut self, answer: Box<TxJsonRpcMessage<RoleServer>>) {
        // In a separate task, as the reading future may be dropped. The answer occupies a request's
        // permit until it is written.
        let (sending, permits) = (self.write(*answer), self.reserved.take());
        tokio::spawn(async move {
            // Without a client, the answer has no receiver.
            let _ = sending.await;
            drop(permits);
        });
    }

    /// Returns the id of a request, if an earlier unanswered request has the same id. `rmcp` would
    /// answer only one of the two.
    fn duplicate_id(&self, message: &RxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
        let JsonRpcMessage::Request(JsonRpcRequest { id, .. }) = message else {
            return None;
        };
        let is_in_use = lock(&self.unanswered).contains_key(id);
        is_in_use.then(|| id.clone())
    }

    /// True if the message is passed to `rmcp`, which fails if the first message is not a request.
    fn is_expected(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        if let JsonRpcMessage::Request(JsonRpcRequest { request, .. }) = message {
            self.has_begun_handshake |= matches!(request, ClientRequest::InitializeRequest(_))
                || !matches!(request, ClientRequest::DiscoverRequest(_))
                    && request.get_meta().protocol_version().is_some();
            return true;
        }
        self.has_begun_handshake
    }

    /// Writes a message as a line.
    fn write(
        &self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut output = output.lock().await;
            output.write_all(&line).await?;
            output.flush().await
        }
    }
}

impl<R, W> Transport<RoleServer> for BoundedTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        // A client that has read the answer may reuse the id. The permit is held until the answer
        // is written.
        let permits = answered.and_then(|id| lock(&self.unanswered).remove(&id));
        let sending = self.write(message);
        async move {
            let sent = sending.await;
            drop(permits);
            sent
        }
    }

    /// Cancel safe.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut message = self.next().await;
        match &mut message {
            None => self.ended.cancel(),
            Some(JsonRpcMessage::Request(request)) => {
                ordered_handler::attach(&mut self.tickets, request.request.extensions_mut());
                if let Some(permits) = self.reserved.take() {
                    lock(&self.unanswered).insert(request.id.clone(), permits);
                }
            }
            Some(JsonRpcMessage::Notification(notification)) => {
                // A cancelled request is not answered.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    lock(&self.unanswered).remove(id);
                }
            }
            Some(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => {}
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

/// An output stream whose pending writes can be aborted.
#[derive(Debug)]
pub(super) struct StoppableWriter<W> {
    output: W,
    stop: WriteStopper,
}

/// Aborts the writes of a [`StoppableWriter`].
#[derive(Debug, Clone, Default)]
pub(super) struct WriteStopper(Arc<Mutex<StopState>>);

#[derive(Debug, Default)]
struct StopState {
    is_stopped: bool,
    waiting: Option<Waker>,
}

impl WriteStopper {
    pub(super) fn stoppable<W>(&self, output: W) -> StoppableWriter<W> {
        let stop = self.clone();
        StoppableWriter { output, stop }
    }

    /// Makes pending and future writes fail.
    pub(super) fn stop(&self) {
        let mut state = lock(&self.0);
        state.is_stopped = true;
        if let Some(waker) = state.waiting.take() {
            waker.wake();
        }
    }
}

impl<W: AsyncWrite + Unpin> StoppableWriter<W> {
    /// Polls the output, or returns an error if the writes were stopped.
    fn unless_stopped<T>(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut W>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let this = self.get_mut();
        // Register the waker before writing, so that a stop that arrives meanwhile wakes this task.
        let mut state = lock(&this.stop.0);
        if state.is_stopped {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        state.waiting = Some(context.waker().clone());
        drop(state);
        poll(Pin::new(&mut this.output), context)
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for StoppableWriter<W> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.unless_stopped(context, |output, context| output.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.unless_stopped(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.unless_stopped(context, AsyncWrite::poll_shutdown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ServerResult;
    use std::fmt::Write as _;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// True if `future` is ready now.
    async fn is_ready<T>(future: impl Future<Output = T>) -> bool {
        tokio::select! {
            biased;
            _ = future => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn reading_stops_at_maximum_of_unanswered_requests() {
        let (mut client_in, input) = tokio::io::duplex(1 << 20);
        let (output, mut client_out) = tokio::io::duplex(1 << 20);
        let ended = Cancel::new();
        let output = WriteStopper::default().stoppable(output);
        let mut transport = BoundedTransport::new(input, output, ended.clone());
        let mut send = String::new();
        for id in 0..MAX_UNANSWERED + 2 {
            let _ = writeln!(
                send,
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}"
            );
        }
        client_in.write_all(send.as_bytes()).await.unwrap();
        for _ in 0..MAX_UNANSWERED {
            assert!(transport.receive().await.is_some());
        }
        assert!(!is_ready(transport.receive()).await);
        // A written answer makes room for one more request.
        let answer = JsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(7));
        transport.send(answer).await.unwrap();
        assert!(client_out.read_u8().await.is_ok());
        assert!(transport.receive().await.is_some());
        assert!(!is_ready(transport.receive()).await);
        // A written error also makes room for one more request.
        let error = rmcp::ErrorData::internal_error("", None);
        let error = JsonRpcMessage::error(error, Some(RequestId::Number(8)));
        transport.send(error).await.unwrap();
        assert!(transport.receive().await.is_some());
        assert!(!ended.is_cancelled());
    }

    #[tokio::test]
    async fn cancelled_request_frees_permit_and_end_of_input_is_reported() {
        let (mut client_in, input) = tokio::io::duplex(1 << 20);
        let (output, _client_out) = tokio::io::duplex(8);
        let ended = Cancel::new();
        let output = WriteStopper::default().stoppable(output);
        let mut transport = BoundedTransport::new(input, output, ended.clone());
        transport.has_begun_handshake = true;
        for id in 0..2 * MAX_UNANSWERED {
            let lines = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n\
                 {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
            );
            client_in.write_all(lines.as_bytes()).await.unwrap();
            for _ in 0..2 {
                assert!(transport.receive().await.is_some(), "{id}");
            }
        }
        drop(client_in);
        assert!(transport.receive().await.is_none());
        assert!(ended.is_cancelled());
    }

    #[tokio::test]
    async fn pending_write_fails_when_stopped() {
        let (output, _client_out) = tokio::io::duplex(8);
        let stop = WriteStopper::default();
        let mut output = stop.stoppable(output);
        let writing = tokio::spawn(async move { output.write_all(&[0; 9]).await });
        tokio::task::yield_now().await;
        stop.stop();
        assert!(writing.await.unwrap().is_err());
    }
}
