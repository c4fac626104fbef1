//! Change sets in the pipeline: the input of the executor, the handling of trials and traces, and
//! the texts. Tests in `agent-bash-exec` show with the kernel that changes are held.

use crate::scripted::{Scripted, builder_with, outcome};
use agent_bash::core::changes::{
    Changes, ChangesBy, ChangesId, ChangesLevel, ChangesState, FileName, TraceState,
};
use agent_bash::core::{
    Cancel, Executor, NotStarted, Outcome, OutputConsumer, RunSpec, ScriptEnding, Status, Survivor,
    ToolResult,
};
use agent_bash::session::{Conversation, SessionParts};
use agent_bash::{
    Approval, Approver, BashToolBuilder, ChangeSets, ChangesRefused, ChangesSettings, CommitBy,
    Proposal, profiles,
};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Writes a file as a command would: into the workspace, or where that is held back.
struct Writing {
    script: Arc<Scripted>,
    holds: Result<(), NotStarted>,
    /// True if the executor reports that it held the changes.
    says_held: bool,
    /// Another process writes this file of the workspace meanwhile.
    meanwhile: Option<PathBuf>,
}

#[async_trait]
impl Executor for Writing {
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        let mut outcome = self.script.run(spec, out, cancel).await?;
        let to = spec.trial.as_ref().map_or(&spec.cwd, |trial| &trial.upper);
        let content = spec.script.strip_prefix("make ").unwrap_or("new");
        std::fs::write(to.join("new"), content).unwrap();
        if let Some(path) = &self.meanwhile {
            std::fs::write(path, "another process").unwrap();
        }
        outcome.held_back = spec.trial.is_some() && self.says_held;
        outcome.traced = spec.trace.as_ref().map(|_| TraceState::complete());
        Ok(outcome)
    }

    async fn check_trials(&self) -> Result<(), NotStarted> {
        self.holds.clone()
    }
}

/// A tool in a repository.
struct Case {
    root: tempfile::TempDir,
    ending: ScriptEnding,
    survivors: Vec<Survivor>,
    holds: Result<(), NotStarted>,
    says_held: bool,
    meanwhile: bool,
    script: Arc<Scripted>,
}

impl Case {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("repo/.git")).unwrap();
        Self {
            root,
            ending: ScriptEnding::Exited { code: 0 },
            survivors: Vec::new(),
            holds: Ok(()),
            says_held: true,
            meanwhile: false,
            script: Scripted::exits(0, b""),
        }
    }

    fn repo(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("repo")
    }

    fn is_written(&self) -> bool {
        self.repo().join("new").exists()
    }

    async fn run(&mut self, request: Value) -> ToolResult {
        let state = self.root.path().join("state");
        self.run_with(request, |builder| builder.changes_in(state, "s"))
            .await
    }

    async fn run_with(
        &mut self,
        request: Value,
        add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
    ) -> ToolResult {
        let mut ended = outcome(self.ending.clone());
        ended.survivors.clone_from(&self.survivors);
        self.script = Scripted::new(Vec::new(), Ok(ended));
        let executor = Arc::new(Writing {
            script: Arc::clone(&self.script),
            holds: self.holds.clone(),
            says_held: self.says_held,
            meanwhile: self.meanwhile.then(|| self.repo().join("new")),
        });
        let builder = builder_with(&profiles::STANDARD, executor, &self.repo());
        let tool = add(builder).build();
        tool.execute(request, &Cancel::new()).await
    }
}

fn tried(how: &Value) -> Value {
    json!({"command": "make", "trial": how})
}

fn state(result: &ToolResult) -> Option<ChangesState> {
    result.changes.as_ref().map(|changes| changes.state)
}

#[tokio::test]
async fn trial_is_held_and_listed() {
    let mut case = Case::new();
    let result = case.run(tried(&json!(true))).await;
    assert_eq!(state(&result), Some(ChangesState::Held), "{result:?}");
    assert!(!case.is_written());
    let changes = result.changes.as_ref().unwrap();
    assert_eq!(
        (changes.by, changes.counts.created),
        (ChangesBy::Overlay, 1)
    );
    assert!(
        result
            .text
            .contains("[Trial 1: nothing applied yet. 1 created. Details: changes://1]"),
        "{}",
        result.text
    );
    let spec = case.script.last();
    assert_eq!(
        spec.trial.map(|trial| trial.root.clone()),
        Some(case.repo())
    );
    assert_eq!(spec.trace, None);
    // The negative control.
    let result = case.run(json!({"command": "make"})).await;
    assert!(case.is_written() && result.changes.is_none());
}

/// However the call ended: its upper directory shows that it changed nothing.
#[tokio::test]
async fn trial_without_changes_is_not_held() {
    for ending in [ScriptEnding::Exited { code: 0 }, ScriptEnding::Cancelled] {
        let mut case = Case::new();
        std::fs::write(case.repo().join("new"), "new").unwrap();
        case.ending = ending;
        let result = case.run(tried(&json!(true))).await;
        assert_eq!(state(&result), Some(ChangesState::Discarded), "{result:?}");
        let text = &result.text;
        assert!(text.contains("[Trial 1: it changes no file in "), "{text}");
        let state = case.root.path().join("state");
        let sets = ChangeSets::in_state(state, "s", case.repo());
        assert_eq!(sets.list().unwrap(), []);
    }
}

/// As in a record: on one line, cut, and without secrets.
#[tokio::test]
async fn change_set_has_its_command() {
    let mut case = Case::new();
    let long = "x".repeat(300);
    let command = format!("TOKEN=tok-1234567 make\n{long}");
    let request = json!({"command": command, "trial": true, "env": {"API_TOKEN": "tok-1234567"}});
    let result = case.run(request).await;
    assert_eq!(result.changes.unwrap().command, None, "the call has it");
    let sets = ChangeSets::in_state(case.root.path().join("state"), "s", case.repo());
    let kept = sets.list().unwrap().remove(0).changes.command.unwrap();
    let (begin, end) = kept.split_at(kept.find("make").unwrap());
    assert!(
        begin.starts_with("TOKEN=") && !begin.contains("tok-1"),
        "{kept}"
    );
    assert!(end.starts_with("make⏎xxx") && end.ends_with('…'), "{kept}");
    assert_eq!(kept.chars().count(), 201);
    assert_eq!(sets.show(ChangesId(1)).unwrap().command, Some(kept));
}

/// A model is told the sentence that it knows, a person what it was.
#[tokio::test]
async fn conflict_of_a_commit_names_the_later_call() {
    let mut case = Case::new();
    case.run(tried(&json!(true))).await;
    let state = case.root.path().join("state");
    let sets = ChangeSets::in_state(state.clone(), "s", case.repo());
    // Another trial, which is committed.
    let request = json!({"command": "make other", "trial": "atomic"});
    case.run(request).await;
    let refused = sets.commit(ChangesId(1)).unwrap_err();
    let want_text = "[Trial 1 not applied: new was changed by another process meanwhile.]";
    assert_eq!(refused.to_string(), want_text);
    let conflict = |refused| match refused {
        ChangesRefused::Conflict(conflict) => conflict,
        other => panic!("{other}"),
    };
    let conflict = conflict(refused);
    let expected_text = "[Trial 1 not applied: new was changed since, by: make other]";
    assert_eq!(conflict.user_text(), expected_text);
    // Of several files each is named with that, whether or not it is known of the first.
    let mut several = conflict;
    several.conflicts = ["new", "b", "c"].map(FileName::new).to_vec();
    several.by = vec![several.by[0].clone(), None, Some("make c".to_owned())];
    let others = "changed, too: b\nc was changed since, by: make c";
    assert_eq!(several.user_text(), format!("{expected_text}\n{others}"));
    several.by[0] = None;
    assert_eq!(several.user_text(), format!("{want_text}\n{others}"));
    // By an unknown process.
    std::fs::write(case.repo().join("new"), "mine, and longer").unwrap();
    let refused = sets.commit(ChangesId(1)).unwrap_err();
    assert!(matches!(&refused, ChangesRefused::Conflict(it) if it.user_text() == want_text));
}

#[tokio::test]
async fn atomic_trial_is_committed_on_success_and_dropped_on_failure() {
    let mut case = Case::new();
    let result = case.run(tried(&json!("atomic"))).await;
    assert_eq!(state(&result), Some(ChangesState::Done), "{result:?}");
    assert!(case.is_written() && result.text.contains("[Trial 1 applied: 1 created.]"));
    let stuck = Survivor::new(7, "stuck", false);
    for (ending, survivors) in [
        (ScriptEnding::Exited { code: 1 }, vec![]),
        (ScriptEnding::Cancelled, vec![]),
        (
            ScriptEnding::TimedOut {
                after: Duration::from_secs(1),
            },
            vec![],
        ),
        (
            ScriptEnding::Lost {
                reason: String::new(),
            },
            vec![],
        ),
        // A running process may still write.
        (ScriptEnding::Exited { code: 0 }, vec![stuck]),
    ] {
        let mut case = Case::new();
        (case.ending, case.survivors) = (ending, survivors);
        let result = case.run(tried(&json!("atomic"))).await;
        assert_eq!(state(&result), Some(ChangesState::Discarded), "{result:?}");
        assert!(!case.is_written());
        assert!(result.text.contains("nothing was applied"), "{result:?}");
    }
}

#[tokio::test]
async fn commit_does_not_overwrite_files_changed_meanwhile() {
    let mut case = Case::new();
    case.meanwhile = true;
    let result = case.run(tried(&json!("atomic"))).await;
    assert_eq!(state(&result), Some(ChangesState::Held), "{result:?}");
    let expected_text = "[Trial 1 not applied: new was changed by another process meanwhile.]";
    assert!(result.text.contains(expected_text), "{}", result.text);
    let kept = std::fs::read_to_string(case.repo().join("new")).unwrap();
    assert_eq!(kept, "another process");
}

#[tokio::test]
async fn impossible_trial_is_refused() {
    let mut case = Case::new();
    let reason = "no user namespaces".to_owned();
    case.holds = Err(NotStarted::Trial { reason });
    let result = case.run(tried(&json!(true))).await;
    let expected_text = "a trial is not possible here: no user namespaces";
    assert!(
        matches!(&result.status, Status::NotStarted { reason } if reason == expected_text),
        "{result:?}"
    );
    assert!(case.script.runs() == 0 && !case.is_written());

    let mut case = Case::new();
    for (more, why) in [
        (json!({"session": "a"}), "persistent shell"),
        (json!({"mode": "background"}), "background"),
    ] {
        let mut request = tried(&json!(true));
        request.as_object_mut().unwrap().extend(
            more.as_object()
                .unwrap()
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        let result = case
            .run_with(request, |builder| builder.sessions(true))
            .await;
        let is_refused = matches!(result.status, Status::NotStarted { .. });
        assert!(is_refused && result.text.contains(why), "{result:?}");
        assert_eq!(case.script.runs(), 0);
    }
    // Nowhere to keep it.
    let result = case.run_with(tried(&json!(true)), |builder| builder).await;
    assert!(result.text.contains("no state directory"), "{result:?}");
    assert_eq!(case.script.runs(), 0);
}

/// An executor that was asked to hold back and did not is not believed.
#[tokio::test]
async fn result_reports_a_trial_that_was_not_held_back() {
    let mut case = Case::new();
    case.says_held = false;
    for how in [json!(true), json!("atomic")] {
        let result = case.run(tried(&how)).await;
        assert_eq!(result.changes, None);
        let expected_text = "The file changes of this call are not known: the executor did not hold back the command's file changes";
        assert!(result.text.contains(expected_text), "{}", result.text);
    }
}

#[tokio::test]
async fn ordinary_calls_are_recorded_at_the_level_of_the_settings() {
    for level in [ChangesLevel::Off, ChangesLevel::List, ChangesLevel::Undo] {
        let mut case = Case::new();
        let state = case.root.path().join("state");
        let settings = ChangesSettings {
            level: Some(level),
            ..ChangesSettings::default()
        };
        let result = case
            .run_with(json!({"command": "make"}), |builder| {
                builder.changes(settings).changes_in(state, "s")
            })
            .await;
        let spec = case.script.last();
        assert_eq!(spec.trace.is_some(), level != ChangesLevel::Off);
        // Nothing was recorded here, which does not mean that nothing was changed.
        assert!(case.is_written(), "{result:?}");
    }
}

#[tokio::test]
async fn result_has_the_reason_why_a_call_is_untraced() {
    let mut case = Case::new();
    let settings = ChangesSettings {
        level: Some(ChangesLevel::Undo),
        ..ChangesSettings::default()
    };
    let result = case
        .run_with(json!({"command": "make"}), |builder| {
            builder.changes(settings)
        })
        .await;
    let expected_text = "The file changes of this call are not known: there is no state directory";
    assert!(result.text.contains(expected_text), "{}", result.text);
    assert_eq!(result.status, Status::Exited { code: 0 });
}

/// A host records changes by default: if it cannot, a call that did not ask for a record has no
/// notice.
#[tokio::test]
async fn default_level_records_without_notices() {
    for is_level_set in [false, true] {
        let settings = ChangesSettings {
            level: is_level_set.then_some(ChangesLevel::Undo),
            ..ChangesSettings::default()
        };
        let unasked = |builder: BashToolBuilder| {
            builder
                .changes(settings.clone())
                .default_changes_level(ChangesLevel::Undo)
        };
        let mut case = Case::new();
        let state = case.root.path().join("state");
        let kept = case
            .run_with(json!({"command": "make"}), |builder| {
                unasked(builder).changes_in(state, "s")
            })
            .await;
        assert!(
            kept.changes.is_some() && kept.notices.is_empty(),
            "{kept:?}"
        );
        // Nowhere to keep it.
        let mut case = Case::new();
        let lost = case.run_with(json!({"command": "make"}), unasked).await;
        assert!(case.is_written() && lost.changes.is_none());
        assert_eq!(lost.notices.is_empty(), !is_level_set, "{lost:?}");
    }
    // A caller that asks for no record gets none.
    let mut case = Case::new();
    let state = case.root.path().join("state");
    let settings = ChangesSettings {
        level: Some(ChangesLevel::Off),
        ..ChangesSettings::default()
    };
    let result = case
        .run_with(json!({"command": "make"}), |builder| {
            builder
                .changes(settings)
                .default_changes_level(ChangesLevel::Undo)
                .changes_in(state, "s")
        })
        .await;
    assert_eq!(result.changes, None);
}

/// Allows what it is told to, and counts how often it is asked to commit.
struct RequestedApproval {
    allows: bool,
    times: AtomicUsize,
}

#[async_trait]
impl Approver for RequestedApproval {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Allow
    }

    async fn commit(&self, trial: &Changes) -> Approval {
        assert_eq!((trial.id, trial.counts.created), (ChangesId(1), 1));
        self.times.fetch_add(1, Ordering::Relaxed);
        if self.allows {
            Approval::Allow
        } else {
            let reason = "not this one".to_owned();
            Approval::Deny { reason }
        }
    }
}

#[tokio::test]
async fn commit_for_model_follows_the_setting_and_the_approver() {
    for (by, allows, asked, is_done) in [
        (CommitBy::Model, false, 0, true),
        (CommitBy::Ask, true, 1, true),
        (CommitBy::Ask, false, 1, false),
        (CommitBy::User, true, 0, false),
    ] {
        let case = Case::new();
        let approver = Arc::new(RequestedApproval {
            allows,
            times: AtomicUsize::new(0),
        });
        let executor = Arc::new(Writing {
            script: Scripted::exits(0, b""),
            holds: Ok(()),
            says_held: true,
            meanwhile: None,
        });
        let settings = ChangesSettings {
            commit: by,
            ..ChangesSettings::default()
        };
        let tool = builder_with(&profiles::STANDARD, executor, &case.repo())
            .changes(settings)
            .changes_in(case.root.path().join("state"), "s")
            .approver(Arc::clone(&approver) as Arc<dyn Approver>)
            .build();
        let session = Conversation::new(tool, SessionParts::default());
        let trial = tried(&json!(true));
        session.tool().execute(trial, &Cancel::new()).await;
        let committed = session.commit_for_model(ChangesId(1), &Cancel::new()).await;
        assert_eq!(case.is_written(), is_done, "{by:?}: {committed:?}");
        assert_eq!(approver.times.load(Ordering::Relaxed), asked, "{by:?}");
        let refused = matches!(committed, Err(ChangesRefused::NotAllowed(_)));
        assert_eq!(refused, !is_done, "{committed:?}");
        // A person always may.
        let by_hand = session.changes().commit(ChangesId(1));
        assert_eq!(by_hand.is_ok(), !is_done, "{by_hand:?}");
        assert!(case.is_written());
    }
}
