//! Panicking components: the call is answered with what is known, and the next one is unaffected.

#![expect(clippy::panic, reason = "it is about panics")]

use crate::scripted::{Memory, Scripted, builder_with};
use agent_bash::core::{
    ArtifactEnd, ArtifactError, ArtifactMeta, ArtifactRef, ArtifactStore, ArtifactWriter,
    AuditEntry, AuditLog, Cancel, ConsumerFlow, Executor, NoticeKind, OutputConsumer, Status,
    StreamId,
};
use agent_bash::session::{BangOptions, SessionParts};
use agent_bash::{Approval, Approver, CallOptions, Conversation, Proposal, profiles};
use agent_bash_test_kit::FaultyExecutor;
use async_trait::async_trait;
use serde_json::json;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Panics whenever it is called; as an executor, after printing something.
#[derive(Debug)]
struct Faulty;

#[async_trait]
impl Approver for Faulty {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        panic!("an approver")
    }
}

impl OutputConsumer for Faulty {
    fn chunk(&mut self, _: StreamId, _: &[u8]) -> ConsumerFlow {
        panic!("a watcher")
    }
}

impl ArtifactStore for Faulty {
    fn create(
        &self,
        _: &ArtifactMeta,
        _: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError> {
        panic!("a store")
    }
}

/// Panics when an artifact is finished, after the command has ended.
#[derive(Debug)]
struct FaultyInTheEnd;

impl ArtifactStore for FaultyInTheEnd {
    fn create(
        &self,
        _: &ArtifactMeta,
        _: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError> {
        Ok(Box::new(Self))
    }
}

impl ArtifactWriter for FaultyInTheEnd {
    fn write(&mut self, _: &[u8]) -> Result<(), ArtifactError> {
        Ok(())
    }

    fn file(&self) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn finish(self: Box<Self>, _: &ArtifactEnd) -> Result<ArtifactRef, ArtifactError> {
        panic!("a writer")
    }
}

impl AuditLog for Faulty {
    fn record(&self, _: &AuditEntry) -> io::Result<()> {
        panic!("a log")
    }
}

fn reason(status: &Status) -> (&'static str, &str) {
    match status {
        Status::NotStarted { reason } => ("not_started", reason),
        Status::Lost { reason, .. } => ("lost", reason),
        _ => ("", ""),
    }
}

#[tokio::test]
async fn panic_becomes_the_result_of_its_call() {
    for (part, kind) in [
        ("an executor", "lost"),
        ("an approver", "not_started"),
        ("a watcher", "lost"),
        ("a store", "lost"),
        ("a writer", "lost"),
    ] {
        let executor: Arc<dyn Executor> = match part {
            "an executor" => Arc::new(FaultyExecutor),
            _ => Scripted::exits(0, &b"x\n".repeat(100_000)),
        };
        let tool = builder_with(&profiles::STANDARD, executor, Path::new("/"));
        let tool = match part {
            "an approver" => tool.approver(Arc::new(Faulty)),
            "a store" => tool.artifacts(Arc::new(Faulty)),
            "a writer" => tool.artifacts(Arc::new(FaultyInTheEnd)),
            _ => tool,
        };
        let mut watcher = Faulty;
        let options = CallOptions {
            live: (part == "a watcher").then_some(&mut watcher),
            ..CallOptions::default()
        };
        let tool = tool.build();
        let result = tool.execute_with(json!("x"), options, &Cancel::new()).await;
        let (got, printed) = reason(&result.status);
        assert_eq!(got, kind, "{part}: {:?}", result.status);
        assert!(
            printed.contains(part) && printed.contains("report it"),
            "{printed}"
        );
        assert!(result.is_error && !result.text.is_empty(), "{part}");
        if part == "an executor" {
            assert!(result.text.contains("printed\n"), "{}", result.text);
        }
    }
}

#[tokio::test]
async fn panicking_log_becomes_a_notice() {
    let executor = Scripted::exits(0, b"x\n");
    let tool = builder_with(&profiles::STANDARD, executor, Path::new("/"));
    let tool = tool.audit(Arc::new(Faulty), false).build();
    let result = tool.execute(json!("x"), &Cancel::new()).await;
    assert_eq!(result.status, Status::Exited { code: 0 });
    let printed = result.notices.iter().find_map(|notice| match &notice.kind {
        NoticeKind::AuditFailed { reason } => Some(reason.as_str()),
        _ => None,
    });
    assert!(
        printed.is_some_and(|printed| printed.contains("a log")),
        "{printed:?}"
    );
}

#[tokio::test]
async fn panicking_user_command_is_recorded_and_the_next_one_runs() {
    let memory = Arc::new(Memory::default());
    let tool = builder_with(
        &profiles::STANDARD,
        Arc::new(FaultyExecutor),
        Path::new("/"),
    );
    let tool = tool.artifacts(memory).build();
    let session = Conversation::new(tool, SessionParts::default());
    for _ in 0..2 {
        let options = BangOptions::default();
        let message = session.execute_bash("x", options, &Cancel::new()).await;
        let message = message.unwrap();
        assert_eq!(reason(&message.status).0, "lost");
        assert_eq!(message.output, "printed\n");
    }
    assert_eq!(session.messages().len(), 2);
}

/// A host's runtime may lack timers if it supplies a clock of its own.
#[test]
fn cached_directory_needs_no_thread_and_no_timer() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    // If the kernel cannot tell without blocking, every directory is checked on a thread.
    if !agent_bash::process::is_known_directory(Path::new("/")) {
        assert!(!agent_bash::process::is_known_directory(Path::new("/tmp")));
        return;
    }
    let scripted = Scripted::exits(0, b"x\n");
    let host = agent_bash::HostContext::capture("/".into());
    let clock = Arc::new(agent_bash::process::SystemClock::new());
    let tool = agent_bash::BashTool::builder(profiles::STANDARD, host, scripted, clock).build();
    let result = runtime.block_on(tool.execute(json!("x"), &Cancel::new()));
    assert_eq!(result.status, Status::Exited { code: 0 });
}
