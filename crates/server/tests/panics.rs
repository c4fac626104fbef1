//! Panicking components: both servers answer every request, and go on to serve the next.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use agent_bash::core::{Cancel, Clock, Timestamp};
use agent_bash::process::SystemClock;
use agent_bash::session::SessionParts;
use agent_bash::tools::adapters;
use agent_bash::{BashTool, Conversation, HostContext, profiles};
use agent_bash_server::{mcp, rpc};
use agent_bash_test_kit::FaultyExecutor;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// Panics when asked for the time, so that not even a failure result can be made.
#[derive(Debug)]
struct FaultyClock;

#[async_trait]
impl Clock for FaultyClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Timestamp {
        panic!("a clock")
    }

    async fn sleep(&self, _: Duration) {}
}

fn session(clock: Arc<dyn Clock>) -> Arc<Conversation> {
    let host = HostContext::capture("/".into());
    let tool = BashTool::builder(profiles::STANDARD, host, Arc::new(FaultyExecutor), clock);
    let tool = tool.sessions(true).build();
    Arc::new(Conversation::new(tool, SessionParts::default()))
}

/// The client's side of a connection.
struct Client {
    requests: tokio::io::WriteHalf<DuplexStream>,
    answers: tokio::io::Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
}

impl Client {
    fn new(stream: DuplexStream) -> Self {
        let (answers, requests) = tokio::io::split(stream);
        let answers = BufReader::new(answers).lines();
        Self { requests, answers }
    }

    /// Sends a request and returns its response.
    async fn ask(&mut self, request: Value) -> Value {
        let line = format!("{request}\n");
        self.requests.write_all(line.as_bytes()).await.unwrap();
        let answer = tokio::time::timeout(Duration::from_secs(30), async {
            loop {
                let line = self.answers.next_line().await.unwrap();
                let answer: Value = serde_json::from_str(&line.expect("an answer")).unwrap();
                if answer["id"] == request["id"] && answer["type"] != "update" {
                    return answer;
                }
            }
        });
        answer.await.expect("every request is answered")
    }
}

#[tokio::test]
async fn over_rpc() {
    for (clock, of_a_call) in [
        (
            Arc::new(SystemClock::new()) as Arc<dyn Clock>,
            "an executor",
        ),
        (Arc::new(FaultyClock), "a clock"),
    ] {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(ours);
        let stop = Cancel::new();
        let (serving, end) = (stop.clone(), stop.clone());
        let session = session(clock);
        let served =
            tokio::spawn(async move { rpc::serve(input, output, session, &serving).await });
        let mut client = Client::new(theirs);
        for call in [
            json!({"type": "tool_call", "request": "x"}),
            json!({"type": "tool_call", "request": "x", "stream": true}),
            json!({"type": "tool_call", "request": {"command": "x", "session": "s"}}),
            json!({"type": "bash", "command": "x"}),
            json!({"type": "adapter_call", "adapter": "anthropic-bash", "tool": "bash", "input": {"command": "x"}}),
            json!({"type": "adapter_call", "adapter": "codex", "tool": "exec_command", "input": {"cmd": "x"}}),
        ] {
            for id in 0..2 {
                let mut request = call.clone();
                request["id"] = json!(id);
                let answer = client.ask(request).await.to_string();
                assert!(
                    answer.contains(of_a_call) || answer.contains("the call was given up"),
                    "{call}: {answer}"
                );
            }
        }
        let pong = client.ask(json!({"id": "last", "type": "ping"})).await;
        assert_eq!(pong["success"], true, "{pong}");
        end.cancel();
        served.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn over_mcp_with_and_without_an_adapter() {
    for (adapter, tool, input) in [
        (None, "bash", json!({"command": "x"})),
        (Some("anthropic-bash"), "bash", json!({"command": "x"})),
        (Some("codex"), "exec_command", json!({"cmd": "x"})),
        (Some("claude-code"), "Bash", json!({"command": "x"})),
    ] {
        for clock in [
            Arc::new(SystemClock::new()) as Arc<dyn Clock>,
            Arc::new(FaultyClock),
        ] {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let (from, to) = tokio::io::split(ours);
            let options = mcp::McpOptions {
                handle_after: Duration::ZERO,
                structured: false,
                adapter: adapter.map(|name| adapters::by_name(name).unwrap()),
                agent: None,
                asks: false,
            };
            let stop = Cancel::new();
            let (serving, session) = (stop.clone(), session(clock));
            let served =
                tokio::spawn(async move { mcp::serve(from, to, session, options, &serving).await });
            let mut client = Client::new(theirs);
            let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                               "clientInfo": {"name": "t", "version": "1"}});
            let request = |id: u64, method: &str, params: &Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            client.ask(request(0, "initialize", &hello)).await;
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            let ready = format!("{ready}\n");
            client.requests.write_all(ready.as_bytes()).await.unwrap();
            let call = json!({"name": tool, "arguments": input});
            for id in 1..3 {
                let answer = client.ask(request(id, "tools/call", &call)).await;
                let result = answer["result"].to_string();
                assert!(
                    ["missing exit status", "an executor", "given up", "unknown"]
                        .iter()
                        .any(|printed| result.contains(printed)),
                    "{adapter:?}: {answer}"
                );
            }
            let tools = client.ask(request(3, "tools/list", &json!({}))).await;
            assert!(tools["result"]["tools"].is_array(), "{tools}");
            stop.cancel();
            served.await.unwrap().unwrap();
        }
    }
}
