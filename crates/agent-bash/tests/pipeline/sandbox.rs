//! The sandbox in the pipeline: the executor's input, requests, and texts.

mod escalation;

use crate::scripted::{Scripted, builder_with, outcome};
use agent_bash::core::sandbox::{
    Enforced, MissingPromise, Network, ObservedSandbox, RefusedHost, Report, SandboxLevel, Tier,
    WriteLevel,
};
use agent_bash::core::{
    Cancel, Executor, NotStarted, NoticeKind, Outcome, OutputConsumer, Profile, RunSpec,
    ScriptEnding, Stage, Status, StreamId, ToolResult,
};
use agent_bash::session::{BangOptions, Conversation, SessionParts};
use agent_bash::{BashTool, BashToolBuilder, Escalation, LackingPolicy, SandboxSettings, profiles};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reports that it can sandbox commands, and that it did.
struct Confining {
    script: Arc<Scripted>,
    report: Result<Report, NotStarted>,
    network_refused: Option<u64>,
    refused_hosts: Vec<RefusedHost>,
    creates: Option<PathBuf>,
}

#[async_trait]
impl Executor for Confining {
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        if let Some(path) = &self.creates {
            std::fs::create_dir(path).unwrap();
        }
        let mut outcome = self.script.run(spec, out, cancel).await?;
        outcome.sandbox = spec.sandbox.as_ref().map(|_| {
            let mut confined = ObservedSandbox::new(self.report.clone().unwrap());
            confined.network_refused = self.network_refused;
            confined.refused_hosts.clone_from(&self.refused_hosts);
            confined
        });
        Ok(outcome)
    }

    async fn sandbox_report(&self) -> Result<Report, NotStarted> {
        self.report.clone()
    }
}

/// A repository, a home, and something else that the host can write.
struct TestProject {
    root: tempfile::TempDir,
}

impl TestProject {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["repo/.git", "repo/src", "home/.ssh", "other"] {
            std::fs::create_dir_all(root.path().join(name)).unwrap();
        }
        std::fs::write(root.path().join("home/.ssh/id"), "secret").unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }
}

/// A tool in the repository whose calls are confined like this.
pub(crate) struct Case {
    project: TestProject,
    profile: &'static Profile,
    settings: SandboxSettings,
    output: String,
    /// The exit codes of the last pipeline.
    exit_codes: Vec<i32>,
    report: Result<Report, NotStarted>,
    network_refused: Option<u64>,
    refused_hosts: Vec<RefusedHost>,
    creates: Option<PathBuf>,
    script: Arc<Scripted>,
}

impl Case {
    pub(crate) fn of(level: SandboxLevel) -> Self {
        Self {
            project: TestProject::new(),
            profile: &profiles::STANDARD,
            settings: SandboxSettings {
                level,
                ..SandboxSettings::default()
            },
            output: String::new(),
            exit_codes: vec![0],
            report: Ok(Report {
                tier: Tier::Full,
                missing: Vec::new(),
            }),
            network_refused: None,
            refused_hosts: Vec::new(),
            creates: None,
            script: Scripted::exits(0, b""),
        }
    }

    pub(crate) fn tool(
        &mut self,
        add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
    ) -> BashTool {
        let chunks = vec![(StreamId::Merged, self.output.clone().into_bytes())];
        let chunks = if self.profile.streams == agent_bash::core::Streams::Merged {
            chunks
        } else {
            vec![(StreamId::Stderr, self.output.clone().into_bytes())]
        };
        let code = self.exit_codes.last().copied().unwrap_or_default();
        let mut ended = outcome(ScriptEnding::Exited { code });
        ended.stages = Some(self.exit_codes.iter().copied().map(Stage::from).collect());
        self.script = Scripted::new(chunks, Ok(ended));
        let executor = Arc::new(Confining {
            script: Arc::clone(&self.script),
            report: self.report.clone(),
            network_refused: self.network_refused,
            refused_hosts: self.refused_hosts.clone(),
            creates: self.creates.clone(),
        });
        let builder = builder_with(self.profile, executor, &self.project.path("repo/src"));
        add(builder.sandbox(self.settings.clone())).build()
    }

    async fn run(&mut self, request: Value) -> ToolResult {
        self.run_with(request, |builder| builder).await
    }

    async fn run_with(
        &mut self,
        request: Value,
        add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
    ) -> ToolResult {
        self.tool(add).execute(request, &Cancel::new()).await
    }
}

fn with(sandbox: &Value) -> Value {
    json!({ "command": "true", "sandbox": sandbox })
}

#[tokio::test]
async fn call_without_a_sandbox_has_no_plan() {
    let mut case = Case::of(SandboxLevel::Off);
    let tool = case.tool(|builder| builder);
    let result = tool.execute(json!("true"), &Cancel::new()).await;
    assert_eq!(case.script.last().sandbox, None);
    let result = serde_json::to_value(&result).unwrap();
    assert_eq!(result.get("sandbox"), None);
    let schema = serde_json::to_string(&tool.schema()).unwrap();
    assert!(!schema.contains("sandbox"), "{schema}");
}

#[tokio::test]
async fn executor_gets_the_plan_and_the_result_has_its_observations() {
    let mut case = Case::of(SandboxLevel::WorkspaceWrite);
    case.report.as_mut().unwrap().missing = vec![MissingPromise::Stat];
    let tool = case.tool(|builder| builder);
    let first = tool.execute(json!("true"), &Cancel::new()).await;
    let plan = case.script.last().sandbox.unwrap();
    assert_eq!(plan.level, WriteLevel::WorkspaceWrite);
    assert_eq!(plan.writable, [case.project.path("repo")]);
    assert_eq!(plan.network, Network::Off);
    let json = serde_json::to_value(&first).unwrap();
    assert_eq!(
        json["sandbox"],
        json!({"level": "workspace_write", "network": "off", "enforced": "partial", "missing": ["stat"],
               "escalated": false, "denied": []})
    );
    assert!(tool.schema().description.contains("workspace_write"));
    // Missing promises are reported once.
    assert!(
        first
            .text
            .contains("Not enforced: names and sizes of secrets can be seen (stat)."),
        "{}",
        first.text
    );
    let second = tool.execute(json!("true"), &Cancel::new()).await;
    assert!(second.notices.is_empty(), "{:?}", second.notices);
    // Waiting shells are kept by the plan.
    assert!(Arc::ptr_eq(&plan, &case.script.last().sandbox.unwrap()));
}

#[tokio::test]
async fn call_without_its_sandbox_is_refused() {
    let lacks = || {
        Err(NotStarted::SandboxLacks {
            what: "Landlock".into(),
        })
    };
    let partial = || {
        Ok(Report {
            tier: Tier::Base,
            missing: vec![MissingPromise::Protected, MissingPromise::Ipc],
        })
    };
    let text = |what: &str| {
        format!(
            "This call was not run: the sandbox `read_only` needs {what}, which this system lacks. `agent-bash doctor` says more."
        )
    };
    for (report, lacking, network, want) in [
        (lacks(), LackingPolicy::Accept, Network::Off, Some(text("Landlock"))),
        (partial(), LackingPolicy::Refuse, Network::Off, Some(text("protected, ipc"))),
        (
            partial(),
            LackingPolicy::Accept,
            Network::Loopback,
            Some("This call was not run: the network `loopback` needs network namespaces, which this system does not allow; the network `off` does not.".to_owned()),
        ),
        (
            partial(),
            LackingPolicy::Accept,
            Network::Hosts,
            Some("This call was not run: a list of hosts as the network needs network namespaces, which this system does not allow; the networks `off` and `on` do not.".to_owned()),
        ),
        (partial(), LackingPolicy::Accept, Network::Off, None),
    ] {
        let mut case = Case::of(SandboxLevel::ReadOnly);
        (case.report, case.settings.lacking, case.settings.network) = (report, lacking, network);
        let result = case.run(json!("true")).await;
        assert_eq!(case.script.runs() == 0, want.is_some());
        if let Some(want) = want {
            assert_eq!(result.status, Status::NotStarted { reason: want.clone() });
            assert_eq!(result.text, want);
        }
    }
    // An executor that says nothing of confining can do nothing of it.
    let project = TestProject::new();
    let own = Case::of(SandboxLevel::ReadOnly).settings;
    let script = Scripted::exits(0, b"");
    let tool = builder_with(&profiles::STANDARD, script.clone(), &project.path("repo"));
    let tool = tool.sandbox(own).build();
    let result = tool.execute(json!("true"), &Cancel::new()).await;
    assert!(
        result
            .text
            .contains("an executor that can confine commands")
    );
    assert_eq!(script.runs(), 0);
}

#[tokio::test]
async fn call_may_always_request_a_stricter_sandbox() {
    use SandboxLevel::{Off, ReadOnly, WorkspaceWrite};
    for (own, network, request, want) in [
        (
            Off,
            Network::Off,
            json!({"level": "read_only"}),
            (WriteLevel::ReadOnly, Network::Off),
        ),
        (
            Off,
            Network::Off,
            json!({"level": "workspace_write", "network": "on", "writable": ["/var/tmp"]}),
            (WriteLevel::WorkspaceWrite, Network::On),
        ),
        (
            WorkspaceWrite,
            Network::On,
            json!({"level": "read_only"}),
            (WriteLevel::ReadOnly, Network::On),
        ),
        (
            ReadOnly,
            Network::On,
            json!({"network": "off"}),
            (WriteLevel::ReadOnly, Network::Off),
        ),
    ] {
        let mut case = Case::of(own);
        case.settings.network = network;
        let mut request = request;
        request["reason"] = "to be careful".into();
        let result = case.run(with(&request)).await;
        let plan = case.script.last().sandbox.unwrap();
        assert_eq!((plan.level, plan.network), want);
        let sandbox = result.sandbox.unwrap();
        assert_eq!(
            (sandbox.enforced, sandbox.escalated),
            (Enforced::Full, false)
        );
    }
}

#[tokio::test]
async fn contradictory_sandbox_requests_are_refused() {
    for (own, request, want) in [
        (
            SandboxLevel::Off,
            with(&json!({"network": "off", "reason": "r"})),
            "give a `level`, too",
        ),
        (
            SandboxLevel::Off,
            with(&json!({"writable": ["/tmp"], "reason": "r"})),
            "give a `level`, too",
        ),
        (
            SandboxLevel::ReadOnly,
            with(&json!({"writable": ["/tmp"], "reason": "r"})),
            "ask for the level `workspace_write`",
        ),
        (
            SandboxLevel::Off,
            with(&json!({"hosts": ["npm"], "reason": "r"})),
            "give a `level`, too",
        ),
        (
            SandboxLevel::ReadOnly,
            with(&json!({"network": "hosts", "reason": "r"})),
            "give `hosts` too",
        ),
        (
            SandboxLevel::ReadOnly,
            with(&json!({"network": "on", "hosts": ["npm"], "reason": "r"})),
            "leave out `network`, or `hosts`",
        ),
        (
            SandboxLevel::ReadOnly,
            with(&json!({"hosts": ["https://a.example"], "reason": "r"})),
            "`https://a.example` is no host",
        ),
        (
            SandboxLevel::ReadOnly,
            json!({"command": "true", "session": "a", "sandbox": {"level": "read_only", "reason": "r"}}),
            "leave out `session` or `sandbox`",
        ),
    ] {
        let mut case = Case::of(own);
        case.settings.escalation = Escalation::Ask;
        let result = case
            .run_with(request.clone(), |builder| {
                builder
                    .sessions(true)
                    .approver(Arc::new(escalation::Generous::default()))
            })
            .await;
        assert!(result.text.contains(want), "{request}: {}", result.text);
        assert_eq!(case.script.runs(), 0);
    }
}

#[tokio::test]
async fn workspace_does_not_follow_the_directory_of_a_request() {
    let mut case = Case::of(SandboxLevel::WorkspaceWrite);
    let other = case.project.path("other");
    let request = json!({"command": "true", "cwd": other});
    for (directory, workspace) in [(None, "repo"), (Some(other.clone()), "other")] {
        case.settings.directory = directory;
        case.run(request.clone()).await;
        let plan = case.script.last().sandbox.unwrap();
        assert_eq!(plan.writable, [case.project.path(workspace)]);
    }
}

#[tokio::test]
async fn warm_shell_is_discarded_after_a_protected_file_was_replaced() {
    for (tier, later) in [(Tier::Full, Some(1)), (Tier::Base, Some(0))] {
        let mut case = Case::of(SandboxLevel::WorkspaceWrite);
        case.report.as_mut().unwrap().tier = tier;
        let config = case.project.path("repo/.git/config");
        std::fs::write(&config, "first").unwrap();
        let tool = case.tool(|builder| builder);
        let call = async || {
            tool.execute(json!("true"), &Cancel::new()).await;
            case.script.last().pool
        };
        assert_eq!(call().await, Some(0));
        // The mount protects an unreplaced file.
        std::fs::write(&config, "second").unwrap();
        assert_eq!(call().await, Some(0));
        let new = case.project.path("new");
        std::fs::write(&new, "third").unwrap();
        std::fs::rename(&new, &config).unwrap();
        assert_eq!(call().await, later, "{tier:?}");
        // One from after it does.
        assert_eq!(call().await, later, "{tier:?}");
    }
    // Nor one for a box that only this call has.
    let mut case = Case::of(SandboxLevel::WorkspaceWrite);
    case.run(with(&json!({"level": "read_only", "reason": "r"})))
        .await;
    assert_eq!(case.script.last().pool, None);
}

#[tokio::test]
async fn workspace_remains_the_same_when_repositories_change() {
    let mut case = Case::of(SandboxLevel::WorkspaceWrite);
    let tool = case.tool(|builder| builder);
    for name in [".git", "repo/src/.git", "repo/.vscode"] {
        tool.execute(json!("true"), &Cancel::new()).await;
        let plan = case.script.last().sandbox.unwrap();
        assert_eq!(plan.writable, [case.project.path("repo")]);
        std::fs::create_dir(case.project.path(name)).unwrap();
    }
}

/// Returns the result of a call whose output names `path`.
async fn said_of(case: &mut Case, path: &Path) -> ToolResult {
    case.output = format!("bash: line 1: {}: Permission denied\n", path.display());
    case.run(json!("x")).await
}

#[tokio::test]
async fn denial_is_inferred_only_for_accesses_that_the_host_has() {
    let mut case = Case::of(SandboxLevel::WorkspaceWrite);
    case.settings.hidden = vec![case.project.path("home/.ssh")];
    let (other, secret) = (
        case.project.path("other/new"),
        case.project.path("home/.ssh/id"),
    );
    let hidden = case.project.path("home/.ssh");
    for (path, named, access) in [(&other, &other, "write"), (&secret, &hidden, "read")] {
        let result = said_of(&mut case, path).await;
        let denied = serde_json::to_value(result.sandbox.unwrap().denied).unwrap();
        assert_eq!(
            denied,
            json!([{"path": named, "access": access, "basis": "inferred"}])
        );
        assert!(
            matches!(&result.notices[..], [n] if matches!(n.kind, NoticeKind::SandboxDenied { .. }))
        );
        // The status stays the command's.
        assert_eq!(result.status, Status::Exited { code: 0 });
    }
    // To root, a secret in a covered directory is not there; of anything else that means nothing.
    for (path, is_secret) in [(&secret, true), (&other, false)] {
        case.output = format!("cat: {}: No such file or directory\n", path.display());
        let denied = case.run(json!("x")).await.sandbox.unwrap().denied;
        assert_eq!(!denied.is_empty(), is_secret, "{denied:?}");
    }
    // Controls: a writable path, a path that no user can write, and no message.
    let inside = case.project.path("repo/new");
    let elsewhere = ["/no/such/place", "/proc/version"].map(PathBuf::from);
    for path in std::iter::once(inside.clone()).chain(elsewhere) {
        let denied = said_of(&mut case, &path).await.sandbox.unwrap().denied;
        // Root could write both.
        let is_root = rustix::process::geteuid().is_root();
        assert!(denied.is_empty() || is_root && path != inside, "{denied:?}");
    }
    case.output = format!("{} is a file\n", other.display());
    assert!(
        case.run(json!("x"))
            .await
            .sandbox
            .unwrap()
            .denied
            .is_empty()
    );
    case.settings.level = SandboxLevel::Off;
    assert_eq!(said_of(&mut case, &other).await.sandbox, None);
}

#[tokio::test]
async fn failed_call_names_operations_that_the_sandbox_refuses() {
    let workspace_write = SandboxLevel::WorkspaceWrite;
    for (level, exit_codes, is_named) in [
        (workspace_write, vec![1], true),
        (workspace_write, vec![1, 0], true),
        (workspace_write, vec![141, 0], false),
        (workspace_write, vec![0], false),
        (SandboxLevel::Off, vec![1], false),
    ] {
        let mut case = Case::of(level);
        case.exit_codes.clone_from(&exit_codes);
        case.output = "unshare: unshare failed: Operation not permitted\n".to_owned();
        let notices = case.run(json!("x")).await.notices;
        let mut kinds = notices.iter().map(|notice| &notice.kind);
        let has_notice = kinds.any(|kind| matches!(kind, NoticeKind::SandboxOperations { .. }));
        assert_eq!(
            has_notice, is_named,
            "{level:?} {exit_codes:?}: {notices:?}"
        );
    }
}

#[tokio::test]
async fn each_profile_reports_the_sandbox() {
    for profile in profiles::ALL {
        let mut case = Case::of(SandboxLevel::WorkspaceWrite);
        case.profile = profile;
        case.report = Ok(Report {
            tier: Tier::Base,
            missing: vec![MissingPromise::Ipc],
        });
        case.network_refused = Some(4);
        case.creates = Some(case.project.path("repo/.vscode"));
        let other = case.project.path("other/new");
        let text = said_of(&mut case, &other).await.text;
        for want in [
            format!(
                "[The output names `{}`; this call may not write there (sandbox: workspace_write; setting sandbox.writable).]",
                other.display()
            ),
            "[4 attempts to reach the network were refused; this call has none (setting sandbox.network).]".to_owned(),
            "[The sandbox is only partly enforced here. Not enforced: shared memory of the user's other processes \
             can be reached (ipc).]"
                .to_owned(),
            format!(
                "[This call changed {}, which run or configure programs outside of the sandbox.]",
                case.project.path("repo/.vscode").display()
            ),
        ] {
            assert!(text.contains(&want), "{:?}: {want}: {text}", profile.name);
        }
        // Control: without a box, nothing of that.
        case.settings.level = SandboxLevel::Off;
        case.creates = None;
        let text = said_of(&mut case, &other).await.text;
        assert!(!text.contains("sandbox"), "{:?}: {text}", profile.name);
    }
}

#[tokio::test]
async fn users_command_is_never_sandboxed() {
    let mut case = Case::of(SandboxLevel::ReadOnly);
    let tool = case.tool(|builder| builder);
    let session = Conversation::new(tool, SessionParts::default());
    let message = session
        .execute_bash("true", BangOptions::default(), &Cancel::new())
        .await;
    assert!(message.is_ok(), "{message:?}");
    assert_eq!(case.script.last().sandbox, None);
    session.tool().execute(json!("true"), &Cancel::new()).await;
    assert!(case.script.last().sandbox.is_some());
}
