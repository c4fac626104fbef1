//! Adapters with a scripted executor: what they ask of the pipeline, and calls that are answered
//! before their end.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use agent_bash::core::{
    Cancel, Clock, Executor, NotStarted, Outcome, OutputConsumer, RunSpec, ScriptEnding, Status,
    StreamId, Streams, Timestamp,
};
use agent_bash::remote::protocol::data::AdapterCallData;
use agent_bash::session::SessionParts;
use agent_bash::tools::adapters;
use agent_bash::{
    Approval, Approver, BashTool, BashToolBuilder, Conversation, HostContext, Proposal, profiles,
};
use agent_bash_running::{ClientAdapters, RunningCalls};
use agent_bash_test_kit::scripted::{Memory, Scripted, Stopped, outcome};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(20);

/// A clock whose waits are over at once.
#[derive(Debug)]
struct Impatient;

#[async_trait]
impl Clock for Impatient {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Timestamp {
        Timestamp(1000)
    }

    async fn sleep(&self, _: Duration) {}
}

/// Prints one part at once and the other when told to; then ends.
#[derive(Debug)]
struct InTwoParts {
    parts: [&'static [u8]; 2],
    may: Semaphore,
    printed: Semaphore,
}

impl InTwoParts {
    fn new(first: &'static [u8], second: &'static [u8]) -> Arc<Self> {
        Arc::new(Self {
            parts: [first, second],
            may: Semaphore::new(0),
            printed: Semaphore::new(0),
        })
    }
}

#[async_trait]
impl Executor for InTwoParts {
    async fn run(
        &self,
        _: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        out.chunk(StreamId::Merged, self.parts[0]);
        self.printed.add_permits(1);
        let ending = tokio::select! {
            _ = self.may.acquire() => ScriptEnding::Exited { code: 0 },
            () = cancel.cancelled() => ScriptEnding::Cancelled,
        };
        if ending != ScriptEnding::Cancelled {
            out.chunk(StreamId::Merged, self.parts[1]);
        }
        Ok(outcome(ending))
    }
}

/// A client of a session whose commands `executor` runs.
struct Client {
    adapted: ClientAdapters,
    stop: Cancel,
}

impl Client {
    fn new(
        executor: Arc<dyn Executor>,
        clock: Arc<dyn Clock>,
        add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
    ) -> Self {
        let host = HostContext {
            cwd: Path::new("/").to_path_buf(),
            home: Some("/home/nobody".into()),
            env: Arc::default(),
            tools: None,
            processes: Arc::default(),
        };
        let builder = BashTool::builder(profiles::STANDARD, host, executor, Arc::new(Stopped));
        let tool = add(builder.sessions(true)).build();
        let session = Arc::new(Conversation::new(tool, SessionParts::default()));
        let stop = Cancel::new();
        let running = Arc::new(RunningCalls::new(stop.clone()));
        Self {
            adapted: ClientAdapters::new(session, running, clock),
            stop,
        }
    }

    async fn call(&self, adapter: &str, tool: &str, input: Value) -> AdapterCallData {
        let adapter = adapters::by_name(adapter).unwrap();
        let cancel = Cancel::new();
        let call = self.adapted.call(adapter, tool, &input, &cancel);
        let answer = tokio::time::timeout(SOON, call).await;
        answer.expect("an answer, whether or not the command has ended")
    }

    /// Waits for a process of the adapter `codex` until it has ended; returns the last answer.
    async fn last_answer(&self, wait: &Value) -> AdapterCallData {
        loop {
            let answer = self.call("codex", "write_stdin", wait.clone()).await;
            if session_of(&answer).is_none() {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    }
}

fn session_of(answer: &AdapterCallData) -> Option<u64> {
    answer.structured.as_ref()?["session_id"].as_u64()
}

#[tokio::test]
async fn yielding_call_returns_before_its_command_ends() {
    let executor = InTwoParts::new(b"start\n", b"end\n");
    let client = Client::new(executor.clone(), Arc::new(Impatient), |builder| builder);
    let begun = client.call("codex", "exec_command", json!({ "cmd": "x" }));
    let begun = begun.await;
    let session = session_of(&begun).expect("a session to go on with");
    assert!(
        begun
            .content
            .contains("Process running with session ID 1\n")
    );
    assert_eq!(begun.result, None, "nothing is known of its end yet");

    drop(executor.printed.acquire().await.unwrap());
    let wait = json!({ "session_id": session });
    let waited = client.call("codex", "write_stdin", wait.clone()).await;
    assert_eq!(session_of(&waited), Some(session));
    let so_far =
        [&begun, &waited].map(|answer| answer.structured.as_ref().unwrap()["output"].clone());
    assert!(so_far.contains(&json!("start\n")), "{so_far:?}");

    executor.may.add_permits(1);
    let last = client.last_answer(&wait).await;
    assert!(
        last.content
            .ends_with("Process exited with code 0\nOriginal token count: 1\nOutput:\nend\n")
    );
    assert_eq!(last.result.unwrap().status, Status::Exited { code: 0 });
    let gone = client.call("codex", "write_stdin", wait).await;
    assert_eq!(gone.content, "write_stdin failed: Unknown process id 1");
    assert!(gone.is_error);
}

#[tokio::test]
async fn tool_without_yield_waits_for_the_end() {
    // Same command and same clock: only the adapter differs.
    let executor = InTwoParts::new(b"start\n", b"end\n");
    let client = Client::new(executor.clone(), Arc::new(Impatient), |builder| builder);
    let call = client.call("gemini", "run_shell_command", json!({ "command": "x" }));
    let release = async {
        drop(executor.printed.acquire().await.unwrap());
        executor.may.add_permits(1);
    };
    let (answer, ()) = tokio::join!(call, release);
    assert!(answer.content.contains("start\nend"), "{}", answer.content);
    assert!(answer.result.is_some());
}

#[tokio::test]
async fn cancelling_ends_a_call_but_not_a_wait() {
    let codex = adapters::by_name("codex").unwrap();
    let executor = InTwoParts::new(b"part", b"");
    let client = Client::new(executor.clone(), Arc::new(Stopped), |builder| builder);
    let cancel = Cancel::new();
    let input = json!({ "cmd": "x" });
    let call = client.adapted.call(codex, "exec_command", &input, &cancel);
    let call_off = async {
        drop(executor.printed.acquire().await.unwrap());
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(call, call_off);
    assert!(answer.content.contains("Process exited with code 130\n"));
    assert!(
        answer
            .content
            .ends_with("Output:\npart\n\n[Command cancelled]"),
        "{}",
        answer.content
    );
    assert_eq!(answer.result.unwrap().status, Status::Cancelled);

    let executor = InTwoParts::new(b"part", b"");
    let client = Client::new(executor, Arc::new(Impatient), |builder| builder);
    let begun = client.call("codex", "exec_command", input).await;
    let session = session_of(&begun).unwrap();
    let called_off = Cancel::new();
    called_off.cancel();
    let wait = json!({ "session_id": session });
    let waited = client
        .adapted
        .call(codex, "write_stdin", &wait, &called_off);
    assert_eq!(session_of(&waited.await), Some(session), "it goes on");

    // Nothing outlives its client.
    client.stop.cancel();
    loop {
        let answer = client.call("codex", "write_stdin", wait.clone()).await;
        if let Some(result) = answer.result {
            assert_eq!(result.status, Status::Cancelled);
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn output_omitted_by_a_wait_is_stored_and_linked_at_the_end() {
    // Far less than the call's window: it is the small budget of a single wait that hides output.
    for (budget, is_linked) in [(1, true), (1000, false)] {
        let executor = InTwoParts::new(b"0123456789", b"!");
        let client = Client::new(executor.clone(), Arc::new(Impatient), |builder| {
            builder.artifacts(Arc::new(Memory::default()))
        });
        let begun = client
            .call("codex", "exec_command", json!({ "cmd": "x" }))
            .await;
        let session = session_of(&begun).unwrap();
        drop(executor.printed.acquire().await.unwrap());
        // Unless it was already in the first answer.
        let shown = begun.content.contains("0123456789");
        assert!(!shown, "the command had no turn before the first answer");
        let wait = json!({ "session_id": session, "max_output_tokens": budget });
        let waited = client.call("codex", "write_stdin", wait.clone()).await;
        assert_eq!(
            waited.content.contains("tokens truncated"),
            is_linked,
            "{}",
            waited.content
        );
        executor.may.add_permits(1);
        let last = client.last_answer(&wait).await;
        let artifacts = last.result.unwrap().artifacts;
        assert_eq!(!artifacts.is_empty(), is_linked);
        assert_eq!(
            last.content.contains("[Full output: artifact://"),
            is_linked,
            "{}",
            last.content
        );
    }
}

/// Allows commands to run without a sandbox and records the reasons; never called for others.
#[derive(Debug, Default)]
struct Generous(Mutex<Vec<String>>);

#[async_trait]
impl Approver for Generous {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Deny {
            reason: "not asked for that".to_owned(),
        }
    }

    async fn escalate(&self, proposal: &Proposal<'_>, reason: &str) -> Approval {
        let mut requests = self.0.lock().unwrap();
        requests.push(format!("{}: {reason}", proposal.command));
        Approval::Allow
    }
}

#[tokio::test]
async fn escalation_of_an_adapter_needs_the_approver() {
    for (adapter, tool, input, reason) in [
        (
            "codex",
            "exec_command",
            json!({ "cmd": "ls", "sandbox_permissions": "require_escalated", "justification": "May I?" }),
            "ls: May I?",
        ),
        (
            "claude-code",
            "Bash",
            json!({ "command": "ls", "dangerouslyDisableSandbox": true, "description": "List files" }),
            "ls: List files",
        ),
    ] {
        let executor = Scripted::exits(0, b"");
        // Everything else is allowed.
        let client = Client::new(executor.clone(), Arc::new(Stopped), |builder| builder);
        let answer = client.call(adapter, tool, input.clone()).await;
        assert!(
            answer.is_error && answer.content.contains("escalated permissions"),
            "{}",
            answer.content
        );
        assert_eq!(executor.runs(), 0);

        let approver = Arc::new(Generous::default());
        let requests = approver.clone();
        let client = Client::new(executor.clone(), Arc::new(Stopped), |builder| {
            builder.approver(requests)
        });
        let answer = client.call(adapter, tool, input).await;
        assert!(!answer.is_error, "{}", answer.content);
        assert_eq!(
            (executor.runs(), &approver.0.lock().unwrap()[..]),
            (1, &[reason.to_owned()][..])
        );
    }
}

#[tokio::test]
async fn each_adapter_plans_its_fields() {
    let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
    for (adapter, tool, input, timeout, streams, session) in [
        (
            "anthropic-bash",
            "bash",
            json!({ "command": "x | head -1" }),
            minutes(2),
            Streams::Merged,
            Some("main"),
        ),
        (
            "anthropic-agent",
            "bash",
            json!({ "command": "x", "timeout_ms": 60_000 }),
            minutes(1),
            Streams::Merged,
            Some("main"),
        ),
        (
            "anthropic-agent",
            "bash",
            json!({ "command": "x", "timeout_ms": 0 }),
            minutes(2),
            Streams::Merged,
            Some("main"),
        ),
        (
            "claude-code",
            "Bash",
            json!({ "command": "x" }),
            minutes(2),
            Streams::Split,
            None,
        ),
        (
            "claude-code",
            "Bash",
            json!({ "command": "x", "timeout": 9_000_000 }),
            minutes(10),
            Streams::Split,
            None,
        ),
        (
            "openai-shell",
            "shell",
            json!({ "commands": ["x"] }),
            minutes(5),
            Streams::Split,
            None,
        ),
        (
            "openai-shell",
            "shell",
            json!({ "commands": ["x"], "timeout_ms": 0 }),
            minutes(60),
            Streams::Split,
            None,
        ),
        (
            "codex",
            "exec_command",
            json!({ "cmd": "x", "workdir": "tmp" }),
            minutes(24 * 60),
            Streams::Merged,
            None,
        ),
        (
            "gemini",
            "run_shell_command",
            json!({ "command": "x", "dir_path": "tmp" }),
            minutes(5),
            Streams::Merged,
            None,
        ),
    ] {
        let executor = Scripted::exits(0, b"");
        let client = Client::new(executor.clone(), Arc::new(Stopped), |builder| builder);
        let answer = client.call(adapter, tool, input.clone()).await;
        assert!(answer.result.is_some(), "{adapter}: {}", answer.content);
        let spec = executor.last();
        assert_eq!(
            (spec.timeout, spec.streams),
            (timeout, streams),
            "{adapter} {input}"
        );
        assert_eq!(
            spec.session.as_ref().map(|name| name.0.as_str()),
            session,
            "{adapter}"
        );
        if input["workdir"].is_string() || input["dir_path"].is_string() {
            assert_eq!(spec.cwd, Path::new("/tmp"), "{adapter}");
        }
        // As the model wrote it: no filter is lifted.
        let text = ["command", "cmd"]
            .into_iter()
            .find_map(|name| input[name].as_str());
        assert_eq!(spec.script, text.unwrap_or("x"), "{adapter}");
    }
}
