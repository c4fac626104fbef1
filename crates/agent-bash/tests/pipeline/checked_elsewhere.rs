//! Calls that passed the policy of another host.

use crate::scripted::{Scripted, builder, tool};
use agent_bash::core::sandbox::{SandboxLevel, SandboxRequest};
use agent_bash::core::{
    Cancel, Findings, Notice, NoticeKind, PolicyFindings, Request, Status, Streams,
};
use agent_bash::policy::RuleSelection;
use agent_bash::{Escalation, Input, SandboxSettings, profiles};
use serde_json::json;
use std::num::NonZeroU64;
use std::path::Path;

fn checked(request: Request, findings: Findings) -> Input {
    Input::Checked(Box::new(PolicyFindings { request, findings }))
}

#[tokio::test]
async fn rules_are_checked_again_unless_the_host_excepted_the_call() {
    // Only the scripted executor ever sees it.
    const SCRIPT: &str = "git reset --hard HEAD~3";
    let executor = Scripted::exits(0, b"ran\n");
    let tool = builder(&profiles::STANDARD, &executor, Path::new("/"))
        .rules(RuleSelection::all())
        .build();
    let cancel = Cancel::new();
    let own = tool.execute(json!(SCRIPT), &cancel).await;
    assert!(matches!(own.status, Status::Blocked { .. }), "{own:?}");
    assert_eq!(executor.runs(), 0, "the rule is in force here");
    let input = checked(Request::new(SCRIPT), Findings::default());
    let there = tool.execute(input, &cancel).await;
    assert_eq!(there.status, own.status);
    assert_eq!(executor.runs(), 0);
    let findings = Findings {
        excepted: true,
        ..Findings::default()
    };
    let input = checked(Request::new(SCRIPT), findings);
    let there = tool.execute(input, &cancel).await;
    assert_eq!(there.status, Status::Exited { code: 0 });
    assert_eq!(executor.last().script, SCRIPT);
}

#[tokio::test]
async fn findings_of_a_checked_call_are_used() {
    let output = b"1\n2\n3\n4\n";
    let given = "seq 4 | head -n 2";
    let here = Scripted::exits(1, output);
    let own = tool(&profiles::STANDARD, &here)
        .execute(json!(given), &Cancel::new())
        .await;
    let there = Scripted::exits(1, output);
    let request = Request::new("seq 4").head(NonZeroU64::new(2));
    let findings = Findings {
        command: Some(given.to_owned()),
        notices: vec![Notice::from(NoticeKind::Lifted {
            filter: "head -n 2".to_owned(),
        })],
        lifted: true,
        ..Findings::default()
    };
    let wire = serde_json::to_string(&findings).unwrap();
    let findings = serde_json::from_str(&wire).unwrap();
    let result = tool(&profiles::STANDARD, &there)
        .execute(checked(request, findings), &Cancel::new())
        .await;
    assert_eq!(there.last().script, "seq 4");
    assert_eq!(there.last().streams, Streams::Split);
    assert_eq!(
        (&result.text, &result.notices, &result.output),
        (&own.text, &own.notices, &own.output)
    );
}

#[tokio::test]
async fn only_an_approved_call_leaves_the_sandbox() {
    let executor = Scripted::exits(0, b"");
    let tool = builder(&profiles::STANDARD, &executor, Path::new("/"))
        .sandbox(SandboxSettings {
            level: SandboxLevel::ReadOnly,
            escalation: Escalation::Ask,
            ..SandboxSettings::default()
        })
        .build();
    for escalated in [false, true] {
        let request = Request::new("true").sandbox(Some(SandboxRequest {
            level: Some(SandboxLevel::Off),
            network: None,
            hosts: Vec::new(),
            writable: Vec::new(),
            reason: "because".to_owned(),
        }));
        let findings = Findings {
            escalated,
            ..Findings::default()
        };
        let result = tool
            .execute(checked(request, findings), &Cancel::new())
            .await;
        assert_eq!(executor.runs(), usize::from(escalated), "{result:?}");
    }
}

#[tokio::test]
async fn watched_call_of_another_host_has_no_time_limit() {
    for unlimited in [false, true] {
        let executor = Scripted::exits(0, b"");
        let findings = Findings {
            unlimited,
            ..Findings::default()
        };
        let wire = serde_json::to_string(&findings).unwrap();
        let findings = serde_json::from_str(&wire).unwrap();
        tool(&profiles::STANDARD, &executor)
            .execute(checked(Request::new("true"), findings), &Cancel::new())
            .await;
        assert_eq!(executor.last().timeout.is_none(), unlimited);
    }
}

#[tokio::test]
async fn invalid_checked_request_is_refused() {
    let executor = Scripted::exits(0, b"");
    let input = checked(Request::new(" "), Findings::default());
    let result = tool(&profiles::STANDARD, &executor)
        .execute(input, &Cancel::new())
        .await;
    assert!(
        matches!(
            result.status,
            Status::NotStarted { .. } | Status::Blocked { .. }
        ),
        "{result:?}"
    );
    assert_eq!(executor.runs(), 0);
}
