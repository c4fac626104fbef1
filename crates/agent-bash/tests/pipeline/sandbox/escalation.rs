//! Requests for more than the settings' sandbox allows: the setting, the approval, the list of
//! hosts.

use super::{Case, with};
use agent_bash::core::sandbox::{Enforced, Network, RefusedHost, SandboxLevel};
use agent_bash::core::{AuditEntry, AuditLog, Cancel};
use agent_bash::{Approval, Approver, ESCALATION_RULE, Escalation, Proposal};
use async_trait::async_trait;
use serde_json::json;
use std::io;
use std::sync::{Arc, Mutex};

/// Approves every escalation, and records it.
#[derive(Default)]
pub(super) struct Generous(Mutex<Vec<String>>);

#[async_trait]
impl Approver for Generous {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Allow
    }

    async fn escalate(&self, proposal: &Proposal<'_>, reason: &str) -> Approval {
        let request = proposal.request.sandbox.as_ref().unwrap();
        let level = request.level.map_or("same", SandboxLevel::word);
        self.0.lock().unwrap().push(format!("{level}: {reason}"));
        Approval::Allow
    }
}

/// Keeps the entries.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<AuditEntry>>);

impl AuditLog for Log {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        self.0.lock().unwrap().push(entry.clone());
        Ok(())
    }
}

#[tokio::test]
async fn escalation_needs_the_setting_and_an_approval() {
    let more = [
        json!({"level": "off", "reason": "a build"}),
        json!({"network": "loopback", "reason": "a build"}),
        json!({"writable": ["~/.cargo"], "reason": "a build"}),
    ];
    for request in more {
        for (escalation, answers, runs) in [
            (Escalation::Never, true, false),
            (Escalation::Ask, false, false),
            (Escalation::Ask, true, true),
        ] {
            let mut case = Case::of(SandboxLevel::WorkspaceWrite);
            std::fs::create_dir(case.project.path("home/.cargo")).unwrap();
            case.settings.escalation = escalation;
            let mut request = request.clone();
            if request.get("writable").is_some() {
                request["writable"] = json!([case.project.path("home/.cargo")]);
            }
            let (generous, log) = (Arc::new(Generous::default()), Arc::new(Log::default()));
            let (approver, audit) = (Arc::clone(&generous), Arc::clone(&log));
            let result = case
                .run_with(with(&request), |builder| {
                    let builder = builder.audit(audit, false);
                    if answers {
                        builder.approver(approver)
                    } else {
                        builder
                    }
                })
                .await;
            assert_eq!(case.script.runs() > 0, runs, "{request} {escalation:?}");
            // The approver and the log receive the reason.
            let question_count = generous.0.lock().unwrap().len();
            assert_eq!(question_count > 0, runs);
            let logged = log.0.lock().unwrap()[0].sandbox.clone().unwrap();
            assert_eq!(logged.reason, "a build");
            if !runs {
                assert_eq!(result.rule.as_deref(), Some(ESCALATION_RULE));
                assert!(result.text.starts_with("Blocked: "), "{}", result.text);
                continue;
            }
            let sandbox = result.sandbox.unwrap();
            assert!(sandbox.escalated);
            let let_out = sandbox.level == SandboxLevel::Off;
            assert_eq!(case.script.last().sandbox.is_none(), let_out);
            assert_eq!(sandbox.enforced == Enforced::Nothing, let_out);
        }
    }
}

#[tokio::test]
async fn request_may_narrow_the_list_of_hosts_and_needs_an_approval_to_widen_it() {
    let own = ["npm", "*.a.example"];
    for (sandbox_request, want) in [
        (
            json!({"hosts": ["registry.npmjs.org"]}),
            Some(vec!["registry.npmjs.org"]),
        ),
        (
            json!({"network": "hosts", "hosts": ["b.a.example:443"]}),
            Some(vec!["b.a.example:443"]),
        ),
        (
            json!({"network": "hosts"}),
            Some(vec!["npm", "*.a.example"]),
        ),
        (json!({"network": "loopback"}), Some(vec![])),
        (json!({"hosts": ["npm", "evil.example"]}), None),
        (json!({"hosts": ["registry.npmjs.org:8443"]}), None),
        (json!({"network": "on"}), None),
    ] {
        let mut case = Case::of(SandboxLevel::WorkspaceWrite);
        case.settings.network = Network::Hosts;
        case.settings.hosts = own.map(str::to_owned).into();
        let mut request = sandbox_request.clone();
        request["reason"] = "a build".into();
        let result = case.run(with(&request)).await;
        let Some(hosts) = want else {
            assert_eq!(
                result.rule.as_deref(),
                Some(ESCALATION_RULE),
                "{sandbox_request}"
            );
            continue;
        };
        assert_eq!(
            case.script.last().sandbox.unwrap().hosts,
            hosts,
            "{sandbox_request}"
        );
    }
}

#[tokio::test]
async fn refused_hosts_are_in_the_result_and_in_one_notice() {
    let mut case = Case::of(SandboxLevel::ReadOnly);
    (case.settings.network, case.settings.hosts) = (Network::Hosts, vec!["npm".to_owned()]);
    case.refused_hosts = vec![RefusedHost {
        host: "evil.example:443".to_owned(),
        count: 2,
        secret: None,
    }];
    let result = case.run(json!("true")).await;
    let sandbox = result.sandbox.unwrap();
    assert_eq!(sandbox.network, Network::Hosts);
    assert_eq!(sandbox.refused_hosts, case.refused_hosts);
    let sentence = "[The sandbox refused 2 connections to hosts that are not listed: evil.example:443 (2 times); the user can allow them in the list `sandbox.network`: [\"evil.example\"].]";
    assert!(result.text.ends_with(sentence), "{}", result.text);
}

#[tokio::test]
async fn escalation_applies_to_one_call() {
    let mut case = Case::of(SandboxLevel::ReadOnly);
    case.settings.escalation = Escalation::Ask;
    let tool = case.tool(|builder| builder.approver(Arc::new(Generous::default())));
    let out = with(&json!({"level": "off", "reason": "once"}));
    for (request, confined) in [(json!("true"), true), (out, false), (json!("true"), true)] {
        tool.execute(request, &Cancel::new()).await;
        assert_eq!(case.script.last().sandbox.is_some(), confined);
    }
}

#[tokio::test]
async fn caller_with_an_escalation_requests_no_sandbox() {
    let mut case = Case::of(SandboxLevel::WorkspaceWrite);
    let options = || agent_bash::CallOptions {
        escalation: Some("May I?".into()),
        ..Default::default()
    };
    let tool = case.tool(|builder| builder);
    let never = tool
        .execute_with(json!("true"), options(), &Cancel::new())
        .await;
    assert_eq!(never.rule.as_deref(), Some(ESCALATION_RULE));
    case.settings.escalation = Escalation::Ask;
    let generous = Arc::new(Generous::default());
    let approver = Arc::clone(&generous);
    let tool = case.tool(|builder| builder.approver(approver));
    tool.execute_with(json!("true"), options(), &Cancel::new())
        .await;
    assert_eq!(*generous.0.lock().unwrap(), ["off: May I?"]);
    assert_eq!(case.script.last().sandbox, None);
}
