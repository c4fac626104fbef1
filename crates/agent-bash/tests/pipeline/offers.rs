//! Trials of what a rule refuses: offered where one would run, and let through only where all that
//! is refused is held back.

use crate::scripted::{Scripted, builder_with, outcome};
use agent_bash::core::changes::{ChangesLevel, ChangesState};
use agent_bash::core::{
    Cancel, Executor, NotStarted, Outcome, OutputConsumer, RunSpec, ScriptEnding, Status,
    ToolResult, async_trait,
};
use agent_bash::tools::adapters::by_name;
use agent_bash::{
    Approval, Approver, BashTool, BashToolBuilder, CallOptions, ChangesSettings, CommitBy,
    Proposal, Refusal, profiles,
};
use agent_bash_core::Profile;
use agent_bash_policy::{RuleSelection, SafeMode, Verdict};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

const OFFER: &str = r#"Or see what it would do: {"trial": true}"#;

/// Holds everything back, or nothing.
struct Holding {
    script: Arc<Scripted>,
    is_possible: bool,
    /// Trials that were run to find out.
    samples: Mutex<usize>,
}

#[async_trait]
impl Executor for Holding {
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        if spec.script == ":" {
            let trial = spec.trial.as_ref().unwrap();
            assert!(trial.upper.is_dir() && trial.work.is_dir() && trial.root == spec.cwd);
            *self.samples.lock().unwrap() += 1;
            if !self.is_possible {
                let reason = "no user namespaces".to_owned();
                return Err(NotStarted::Trial { reason });
            }
            let mut ended = outcome(ScriptEnding::Exited { code: 0 });
            ended.held_back = true;
            return Ok(ended);
        }
        let mut outcome = self.script.run(spec, out, cancel).await?;
        outcome.held_back = spec.trial.is_some();
        Ok(outcome)
    }

    async fn check_trials(&self) -> Result<(), NotStarted> {
        Ok(())
    }
}

/// A repository in which trials pass rules, and what is different in a case.
struct Case {
    temp: tempfile::TempDir,
    settings: ChangesSettings,
    profile: Profile,
    executor: Arc<Holding>,
}

impl Case {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(temp.path().join("repo/.git")).unwrap();
        Self {
            temp,
            settings: ChangesSettings {
                level: Some(ChangesLevel::Undo),
                trial_passes_rules: true,
                ..ChangesSettings::default()
            },
            profile: profiles::STANDARD.clone(),
            executor: Arc::new(Holding {
                script: Scripted::exits(0, b""),
                is_possible: true,
                samples: Mutex::default(),
            }),
        }
    }

    fn repo(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("repo")
    }

    fn tool_with(&self, add: impl FnOnce(BashToolBuilder) -> BashToolBuilder) -> BashTool {
        let executor = Arc::clone(&self.executor) as Arc<dyn Executor>;
        let builder = builder_with(&self.profile, executor, &self.repo())
            .sessions(true)
            .rules(RuleSelection::all())
            .changes(self.settings.clone())
            .changes_in(self.temp.path().join("state"), "s");
        add(builder).build()
    }

    async fn run(&self, request: Value) -> ToolResult {
        let tool = self.tool_with(|builder| builder);
        tool.execute(request, &Cancel::new()).await
    }

    async fn refused(&self, request: Value) -> ToolResult {
        let result = self.run(request).await;
        let blocked = matches!(result.status, Status::Blocked { .. });
        assert!(blocked && self.executor.script.runs() == 0, "{result:?}");
        result
    }
}

/// Whether the text offers a trial, and the data says the same.
fn offers(result: &ToolResult) -> bool {
    let printed = result.text.contains(OFFER);
    assert_eq!(result.offers_trial, printed, "{result:?}");
    printed
}

#[tokio::test]
async fn refusal_offers_a_trial_that_runs() {
    let case = Case::new();
    let refused = case.refused(json!({"command": "rm -rf .git"})).await;
    assert!(offers(&refused), "{}", refused.text);
    assert!(
        refused.text.contains(&format!("\n{OFFER}\n")),
        "{}",
        refused.text
    );
    let tried = json!({"command": "rm -rf .git", "trial": true});
    let tried = case.run(tried).await;
    // Nothing is removed here, so that nothing is held.
    assert_eq!(
        tried.changes.as_ref().map(|changes| changes.state),
        Some(ChangesState::Discarded),
        "{tried:?}"
    );
    // The trial has the first number: the test whether trials are possible took none, and left no
    // files.
    assert!(tried.text.contains("[Trial 1: "), "{}", tried.text);
    let session = case.temp.path().join("state/changes/s");
    let entries = std::fs::read_dir(session).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter(|name| name != ".next").collect();
    assert_eq!(names, ["1"]);
    assert_eq!(case.executor.script.runs(), 1);
    assert_eq!(case.executor.script.last().script, "rm -rf .git");
}

#[tokio::test]
async fn trial_is_offered_only_where_it_would_run() {
    let rm = || json!({"command": "rm -rf .git"});
    let off = |change: fn(&mut ChangesSettings)| {
        let mut case = Case::new();
        change(&mut case.settings);
        case
    };
    for case in [
        off(|settings| settings.offer_trial = false),
        off(|settings| settings.trial_passes_rules = false),
        // The model would commit what was refused to it.
        off(|settings| settings.commit = CommitBy::Model),
        // The model could not see the held changes.
        off(|settings| settings.level = Some(ChangesLevel::Off)),
    ] {
        let result = case.refused(rm()).await;
        assert!(!offers(&result), "{:?}: {}", case.settings, result.text);
        assert_eq!(*case.executor.samples.lock().unwrap(), 0);
    }
    let mut case = Case::new();
    Arc::get_mut(&mut case.executor).unwrap().is_possible = false;
    assert!(!offers(&case.refused(rm()).await));
    assert_eq!(*case.executor.samples.lock().unwrap(), 1);
    // The fields of that profile are fixed.
    let mut case = Case::new();
    case.profile = profiles::MODES.clone();
    assert!(!offers(&case.refused(rm()).await));

    let case = Case::new();
    for more in [json!({"session": "a"}), json!({"mode": "background"})] {
        let mut request = rm();
        let fields = more.as_object().unwrap().clone();
        request.as_object_mut().unwrap().extend(fields);
        let tool = case.tool_with(|builder| builder);
        let result = tool.execute(request, &Cancel::new()).await;
        assert!(!offers(&result), "{result:?}");
    }
    // The control.
    assert!(offers(&case.refused(rm()).await));
}

/// A person tries the same in a call of its own, whether or not the model is offered that.
#[tokio::test]
async fn can_be_tried_is_set_where_no_trial_is_offered() {
    let can_be_tried = async |case: &Case, request: Value| {
        let tool = case.tool_with(|builder| builder);
        let options = CallOptions::default();
        let finished_call = tool
            .execute_with_details(request, options, &Cancel::new())
            .await;
        let Some(Refusal::Rule(rule)) = finished_call.refusal else {
            panic!("{:?}", finished_call.result);
        };
        assert!(!rule.explanation.offers_trial && !offers(&finished_call.result));
        rule.explanation.can_be_tried
    };
    let mut case = Case::new();
    let in_session = |command| json!({"command": command, "session": "a"});
    assert!(can_be_tried(&case, in_session("rm -rf .git")).await);
    assert!(!can_be_tried(&case, in_session("rm -rf .git ../outside")).await);
    case.settings.offer_trial = false;
    assert!(can_be_tried(&case, json!({"command": "rm -rf .git"})).await);
    case.settings.trial_passes_rules = false;
    assert!(!can_be_tried(&case, in_session("rm -rf .git")).await);
}

#[tokio::test]
async fn trial_with_paths_outside_of_its_root_is_refused() {
    let case = Case::new();
    let outside = case.temp.path().join("outside");
    std::fs::create_dir_all(outside.join(".git")).unwrap();
    symlink(&outside, case.repo().join("link")).unwrap();
    // A worktree, whose repository is elsewhere.
    std::fs::create_dir(case.repo().join("worktree")).unwrap();
    std::fs::write(case.repo().join("worktree/.git"), "gitdir: /elsewhere").unwrap();
    for command in [
        "rm -rf /",
        "rm -rf .git ../outside",
        "rm -rf \"$DIR\"/*",
        "rm -rf link/.git",
        "cd link && rm -rf .git",
        "rm -rf nothing/../../outside/.git",
        "cd worktree && git reset --hard",
        "git push --force",
        "git reset --hard && git push",
        "curl https://x.example && rm -rf .git",
        "rm -rf .git && ls ../outside",
        "rm -rf .git; cat link/secret",
        "rm -rf .git; ls >../outside/list",
    ] {
        let refused = case.refused(json!({ "command": command })).await;
        assert!(!offers(&refused), "{command}: {}", refused.text);
        let refused = case
            .refused(json!({ "command": command, "trial": true }))
            .await;
        assert!(!offers(&refused), "{command}: {}", refused.text);
    }
    // An atomic trial does not show what it would do.
    let atomic = json!({"command": "rm -rf .git", "trial": "atomic"});
    assert!(!offers(&case.refused(atomic).await));
    let led = json!({"command": "git reset --hard", "env": {"GIT_DIR": "/elsewhere/.git"}});
    assert!(!offers(&case.refused(led).await));
    // The control.
    for command in [
        "git reset --hard",
        "cat a.txt && rm -rf .git; ls >list",
        "git status; rm -rf .git; echo https://x.example",
    ] {
        let own = case.refused(json!({ "command": command })).await;
        assert!(offers(&own), "{command}: {}", own.text);
    }
}

#[tokio::test]
async fn trial_does_not_pass_rules_without_the_setting() {
    for (passes, by, runs) in [
        (true, CommitBy::Ask, 1),
        (true, CommitBy::User, 1),
        (true, CommitBy::Model, 0),
        (false, CommitBy::Ask, 0),
    ] {
        let mut case = Case::new();
        (case.settings.trial_passes_rules, case.settings.commit) = (passes, by);
        let result = case
            .run(json!({"command": "rm -rf .git", "trial": true}))
            .await;
        assert_eq!(case.executor.script.runs(), runs, "{result:?}");
        assert_eq!(result.rule.is_some(), runs == 0, "{result:?}");
    }
    // Nor does it pass what safe mode does not list.
    let case = Case::new();
    let tool = case.tool_with(|builder| builder.safe_mode(SafeMode::default()));
    let tried = json!({"command": "rm -rf .git", "trial": true});
    let result = tool.execute(tried, &Cancel::new()).await;
    assert_eq!(result.rule.as_deref(), Some("no_dangerous_rm"));
    assert_eq!(case.executor.script.runs(), 0);
}

/// Notes what it is told of the rules' verdict.
#[derive(Default)]
struct RecordedOffers(Mutex<Vec<Option<String>>>);

#[async_trait]
impl Approver for RecordedOffers {
    async fn approve(&self, proposal: &Proposal<'_>) -> Approval {
        let rule = match proposal.verdict {
            Verdict::Block(finding) => Some(finding.rule.clone()),
            _ => None,
        };
        self.0.lock().unwrap().push(rule);
        Approval::Allow
    }
}

#[tokio::test]
async fn approver_sees_the_refusing_rule() {
    let case = Case::new();
    let offers = Arc::new(RecordedOffers::default());
    let approver = Arc::clone(&offers) as Arc<dyn Approver>;
    let tool = case.tool_with(|builder| builder.approver(approver));
    for request in [
        json!({"command": "rm -rf .git"}),
        json!({"command": "rm -rf .git", "trial": true}),
        json!({"command": "rm -rf build", "trial": true}),
    ] {
        tool.execute(request, &Cancel::new()).await;
    }
    let offers = offers.0.lock().unwrap().clone();
    assert_eq!(offers, [Some("no_dangerous_rm".to_owned()), None]);
}

#[tokio::test]
async fn adapter_tools_are_not_offered_trials() {
    let case = Case::new();
    let tool = case.tool_with(|builder| builder);
    let adapter = by_name("claude-code").unwrap();
    let limited = tool.with_profile(adapter.limits.profile(tool.profile()));
    for (tool, is_offered) in [(tool, true), (limited, false)] {
        let refused = tool.execute(json!("rm -rf .git"), &Cancel::new()).await;
        assert!(refused.is_error, "{refused:?}");
        assert_eq!(offers(&refused), is_offered, "{}", refused.text);
    }
}

#[tokio::test]
async fn schema_has_trials_where_they_are_possible() {
    let shows = async |case: &Case| {
        let tool = case.tool_with(|builder| builder);
        let schema = tool.offered_schema().await.input_schema;
        schema["properties"].get("trial").is_some()
    };
    for profile in profiles::ALL {
        let mut case = Case::new();
        case.profile = profile.clone();
        let is_fixed = case.profile.name == profiles::MODES.name;
        assert_eq!(shows(&case).await, !is_fixed, "{:?}", profile.name);
    }
    let mut case = Case::new();
    Arc::get_mut(&mut case.executor).unwrap().is_possible = false;
    assert!(!shows(&case).await);
    let mut case = Case::new();
    case.settings.level = Some(ChangesLevel::Off);
    assert!(!shows(&case).await);
    // The test runs once.
    let case = Case::new();
    let tool = case.tool_with(|builder| builder);
    for _ in 0..3 {
        tool.offered_schema().await;
    }
    assert_eq!(*case.executor.samples.lock().unwrap(), 1);
}
