//! Records of a call: in the journal, and beside an output.

use crate::scripted::{Scripted, builder};
use agent_bash::core::sandbox::SandboxLevel;
use agent_bash::core::{
    ArtifactError, ArtifactMeta, ArtifactStore, ArtifactWriter, Cancel, StreamId,
};
use agent_bash::journals::{
    Escalation, Journal, JournalEntry, JournalLevel, JournalOptions, MaskSecrets, recordings,
};
use agent_bash::{
    Approval, Approver, BashToolBuilder, CallOptions, Proposal, SandboxSettings, profiles,
};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex};

struct Answers(Option<&'static str>);

#[async_trait]
impl Approver for Answers {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Allow
    }

    async fn escalate(&self, _: &Proposal<'_>, _: &str) -> Approval {
        match self.0 {
            None => Approval::Allow,
            Some(reason) => Approval::Deny {
                reason: reason.to_owned(),
            },
        }
    }
}

/// Returns the record of a call.
async fn recorded(
    call: Value,
    options: CallOptions<'_>,
    add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
) -> JournalEntry {
    let state = tempfile::tempdir().unwrap();
    let hide: MaskSecrets = Arc::new(|text| Cow::Borrowed(text));
    let journal = Journal::new(JournalOptions {
        is_shared: false,
        state: state.path().to_owned(),
        session: "chat".to_owned(),
        level: JournalLevel::Full,
        max_bytes: 1 << 20,
        mask_secrets: hide,
    });
    let executor = Scripted::exits(0, b"hunter16 was read\n");
    let tool = builder(&profiles::STANDARD, &executor, Path::new("/")).journal(Arc::new(journal));
    let tool = add(tool).build();
    tool.execute_with(call, options, &Cancel::new()).await;
    let recording = &recordings(state.path(), None)[0];
    recording.read().unwrap().entries.remove(0)
}

#[tokio::test]
async fn escalation_is_recorded_with_reason_and_answer() {
    for (answer, allowed) in [(None, true), (Some("not today"), false)] {
        let options = CallOptions {
            escalation: Some("needs the network".to_owned()),
            ..CallOptions::default()
        };
        let entry = recorded(json!("true"), options, |tool| {
            tool.sandbox(SandboxSettings {
                level: SandboxLevel::ReadOnly,
                escalation: agent_bash::Escalation::Ask,
                ..SandboxSettings::default()
            })
            .approver(Arc::new(Answers(answer)))
        });
        let Escalation {
            reason,
            allowed: was_allowed,
            answer: recorded,
            ..
        } = entry.await.escalation.unwrap();
        assert_eq!(
            (&*reason, was_allowed),
            ("needs the network", Some(allowed))
        );
        let recorded = recorded.unwrap_or_default();
        assert!(recorded.contains(answer.unwrap_or_default()), "{recorded}");
    }
    let entry = recorded(json!("true"), CallOptions::default(), |tool| tool).await;
    assert_eq!(entry.escalation, None);
}

#[tokio::test]
async fn secret_of_a_request_is_not_recorded() {
    let call = json!({"command": "curl -d hunter16 x", "env": {"API_TOKEN": "hunter16"}});
    let entry = recorded(call, CallOptions::default(), |tool| tool).await;
    let text = serde_json::to_string(&entry).unwrap();
    assert!(!text.contains("hunter16"), "{text}");
    assert_eq!(entry.command, "curl -d [hidden] x");
    assert!(entry.result.text.starts_with("[hidden] was read"));
}

/// Has no room, and remembers what for.
#[derive(Debug, Default)]
struct Remembers(Mutex<Vec<String>>);

impl ArtifactStore for Remembers {
    fn create(
        &self,
        meta: &ArtifactMeta,
        _: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError> {
        self.0.lock().unwrap().push(meta.command.clone());
        Err(ArtifactError::Limit("No space left on device".into()))
    }
}

#[tokio::test]
async fn metadata_of_an_artifact_has_no_secret() {
    let store = Arc::new(Remembers::default());
    let executor = Scripted::exits(0, &b"line\n".repeat(100_000));
    let tool = builder(&profiles::STANDARD, &executor, Path::new("/"))
        .artifacts(store.clone())
        .build();
    tool.execute(json!("curl -u bob:hunter7 x"), &Cancel::new())
        .await;
    assert_eq!(*store.0.lock().unwrap(), ["curl -u bob:[hidden] x"]);
}
