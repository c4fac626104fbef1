//! Refusals, the stage of each, and that nothing was started.

use crate::scripted::{Scripted, builder};
use agent_bash::core::{Cancel, Status, ToolResult};
use agent_bash::{
    APPROVAL_RULE, Approval, Approver, BashTool, BashToolBuilder, Proposal, profiles,
};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Makes the call with a tool modified by `change`; returns whether anything was started.
async fn call(
    input: Value,
    cancel: &Cancel,
    change: impl FnOnce(BashToolBuilder) -> BashTool,
) -> (ToolResult, bool) {
    let executor = Scripted::exits(0, b"ran");
    let tool = change(builder(&profiles::STANDARD, &executor, Path::new("/")));
    let result = tool.execute(input, cancel).await;
    (result, executor.runs() > 0)
}

#[tokio::test]
async fn refused_call_starts_nothing_and_suggests_an_alternative() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let file = file.path().to_str().unwrap();
    for (input, want) in [
        (json!({}), "`command` is missing; give the script to run as a string".to_owned()),
        (json!(""), "`command` is empty; give the script to run".to_owned()),
        (json!("  \n "), "`command` is empty; give the script to run".to_owned()),
        (
            json!("a\u{0}b"),
            "`command` has a NUL byte at offset 1, which no shell can read; remove it".to_owned(),
        ),
        (json!(5), "a call is a JSON object with a `command`, or the command as a string; got a number".to_owned()),
        (
            json!({"command": "x", "cwd": "/no/such/place"}),
            "Working directory does not exist: /no/such/place".to_owned(),
        ),
        (
            json!({"command": "x", "cwd": file}),
            format!("Working directory is not a directory: {file}"),
        ),
        (
            json!({"command": "x", "mode": "background"}),
            "background jobs are not offered here; run it in the foreground, with mode `slow` if it takes long".to_owned(),
        ),
    ] {
        let (result, started) = call(input.clone(), &Cancel::new(), BashToolBuilder::build).await;
        assert!(!started, "{input}");
        assert_eq!(result.text, want);
        assert_eq!(result.status, Status::NotStarted { reason: want });
        assert!(result.is_error);
    }
    // Control: the same call without the fault runs.
    let (result, started) = call(json!("x"), &Cancel::new(), BashToolBuilder::build).await;
    assert_eq!((started, result.text.as_str()), (true, "ran"));
}

#[tokio::test]
async fn rule_blocks_with_its_message_and_the_command() {
    let (result, started) = call(
        json!("git push --force"),
        &Cancel::new(),
        BashToolBuilder::build,
    )
    .await;
    assert!(!started);
    assert_eq!(
        result.status,
        Status::Blocked {
            rule: "no_force_push".into(),
            suggested_tool: None
        }
    );
    assert_eq!(result.rule.as_deref(), Some("no_force_push"));
    assert_eq!(
        result.text,
        "Blocked: permission denied: git push --force is not allowed. Use --force-with-lease for safer force pushes, \
         or push without force\n\nOriginal command: git push --force"
    );
}

#[tokio::test]
async fn rules_are_checked_before_the_directory() {
    let input = json!({"command": "git push --force", "cwd": "/no/such/place"});
    let (result, _) = call(input, &Cancel::new(), BashToolBuilder::build).await;
    assert!(matches!(result.status, Status::Blocked { .. }));
}

#[tokio::test]
async fn missing_shell_is_reported_by_the_call() {
    let (result, started) = call(json!("x"), &Cancel::new(), |b| {
        b.shell("/no/such/shell".into()).build()
    })
    .await;
    assert!(!started);
    assert_eq!(
        result.text,
        "shell `/no/such/shell` is not an executable file"
    );
}

/// Denies commands that contain `secret`, and records what it was requests.
#[derive(Default)]
struct Host {
    requests: Mutex<Vec<String>>,
}

#[async_trait]
impl Approver for Host {
    async fn approve(&self, proposal: &Proposal<'_>) -> Approval {
        self.requests
            .lock()
            .unwrap()
            .push(proposal.command.to_owned());
        if proposal.command.contains("secret") {
            let reason = "the user said no".to_owned();
            return Approval::Deny { reason };
        }
        Approval::Allow
    }
}

#[tokio::test]
async fn approver_decides_except_about_blocked_calls() {
    let host = Arc::new(Host::default());
    for (command, runs) in [
        ("cat secret", false),
        ("ls", true),
        ("git push --force", false),
    ] {
        let host = Arc::clone(&host);
        let (result, started) =
            call(json!(command), &Cancel::new(), |b| b.approver(host).build()).await;
        assert_eq!(started, runs, "{command}");
        if command == "cat secret" {
            assert_eq!(result.rule.as_deref(), Some(APPROVAL_RULE));
            assert_eq!(
                result.text,
                "Blocked: the user said no\n\nOriginal command: cat secret"
            );
        }
    }
    assert_eq!(*host.requests.lock().unwrap(), ["cat secret", "ls"]);
}

/// Never answers.
struct Silent;

#[async_trait]
impl Approver for Silent {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        std::future::pending().await
    }
}

#[tokio::test]
async fn cancelled_call_does_not_wait_for_the_approver() {
    let cancel = Cancel::new();
    let later = cancel.clone();
    tokio::spawn(async move { later.cancel() });
    let (result, started) = call(json!("ls"), &cancel, |b| {
        b.approver(Arc::new(Silent)).build()
    })
    .await;
    assert_eq!((started, result.status), (false, Status::Cancelled));
    assert_eq!(result.text, "[Command cancelled]\n(no output)");
}
