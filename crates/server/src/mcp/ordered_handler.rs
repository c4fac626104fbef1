//! A layer between `rmcp`, which runs each request in its own task, and the handler. Requests start
//! in the order in which they were read, and a request whose handler panics is answered.

use agent_bash::core::lock;
use agent_bash::in_order::{Ticket, Tickets};
use agent_bash::panics::await_catching_panic;
use rmcp::model::{ClientRequest, Extensions, ProtocolVersion, ServerConfig};
use rmcp::service::{NotificationContext, RequestContext, ServiceRole};
use rmcp::{ErrorData, RoleServer, Service};
use std::borrow::Cow;
use std::sync::{Arc, Mutex};

/// The ticket of a request, attached to it as an `rmcp` extension.
#[derive(Debug, Clone)]
struct RequestTicket(Arc<Mutex<Option<Ticket>>>);

/// Attaches a ticket to a request.
pub(super) fn attach(tickets: &mut Tickets, extensions: &mut Extensions) {
    extensions.insert(RequestTicket(Arc::new(Mutex::new(Some(tickets.draw())))));
}

fn take_ticket(extensions: &Extensions) -> Option<Ticket> {
    let RequestTicket(ticket) = extensions.get()?;
    lock(ticket).take()
}

/// A handler wrapped in this layer.
#[derive(Debug)]
pub(super) struct OrderedHandler<S>(pub(super) S);

impl<S: Service<RoleServer>> Service<RoleServer> for OrderedHandler<S> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<<RoleServer as ServiceRole>::Resp, ErrorData> {
        let ticket = take_ticket(&context.extensions);
        let work = await_catching_panic(self.0.handle_request(request, context));
        let answer = match ticket {
            Some(ticket) => ticket.serve(work).await,
            None => work.await,
        };
        answer.unwrap_or_else(|panicked| Err(ErrorData::internal_error(panicked.to_string(), None)))
    }

    async fn handle_notification(
        &self,
        notification: <RoleServer as ServiceRole>::PeerNot,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let work = await_catching_panic(self.0.handle_notification(notification, context)).await;
        work.unwrap_or_else(|panicked| Err(ErrorData::internal_error(panicked.to_string(), None)))
    }

    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.0.supported_protocol_versions()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::ServerHandler;
    use rmcp::model::{ListToolsResult, PaginatedRequestParams};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

    struct Faulty;

    impl ServerHandler for Faulty {
        async fn list_tools(
            &self,
            _: Option<PaginatedRequestParams>,
            _: RequestContext<RoleServer>,
        ) -> Result<ListToolsResult, ErrorData> {
            panic!("a handler")
        }
    }

    #[tokio::test]
    async fn request_is_answered_if_its_handler_panics() {
        let (ours, theirs) = duplex(1 << 20);
        let served = tokio::spawn(async move {
            let served = rmcp::serve_server(OrderedHandler(Faulty), split(ours)).await?;
            served.waiting().await.map_err(std::io::Error::other)?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        });
        let (answers, mut requests) = split(theirs);
        let lines = [
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            "",
        ];
        requests
            .write_all(lines.join("\n").as_bytes())
            .await
            .unwrap();
        let mut answers = BufReader::new(answers).lines();
        answers.next_line().await.unwrap();
        let answer = answers.next_line().await.unwrap().unwrap();
        assert!(
            answer.contains(r#""id":1"#) && answer.contains("(a handler)"),
            "{answer}"
        );
        drop((answers, requests));
        served.await.unwrap().unwrap();
    }
}
