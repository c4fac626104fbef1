//! Calls in a sandbox: denied accesses fail, everything else of a call still works, and no shell of
//! another sandbox serves the call. The crate `agent-bash-sandbox` tests how a sandbox withstands
//! attacks.

use crate::support::{self, cache, cache_with, run, run_in, run_with, spec};
use agent_bash_core::sandbox::{Network, Plan, Tier, WriteLevel};
use agent_bash_core::{Cancel, Executor, NotStarted, RunSpec, ScriptEnding, SessionName};
use agent_bash_process::supervisor::Supervisor;
use agent_bash_test_kit::test_workspace::{TIERS, TestWorkspace};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn sandboxed(workspace: &TestWorkspace, script: &str) -> RunSpec {
    workspace.in_sandbox(spec(script), Tier::Base)
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_workspace_is_written() {
    let workspace = TestWorkspace::new();
    for tier in TIERS {
        let name = format!("{tier:?}");
        let plan = Plan {
            tier,
            ..workspace.plan()
        };
        let script = workspace.writes(&name);
        let spec = sandboxed(&workspace, &script).sandbox(Arc::new(plan));
        let ran = run(&spec).await;
        assert_eq!(workspace.written(&name), (true, false), "{ran:?}");
        assert_eq!(
            ran.outcome
                .sandbox
                .as_ref()
                .map(|confined| confined.report.tier),
            Some(tier)
        );
        // Without a sandbox, the same script writes both files.
        let ran = run(&spec.sandbox(None)).await;
        assert_eq!(workspace.written(&name), (true, true), "{ran:?}");
        assert_eq!(ran.outcome.sandbox, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn shell_of_another_sandbox_is_not_used() {
    let workspace = TestWorkspace::new();
    let cache = cache_with(|it| it.warm_shells = 1);
    for round in 0..6 {
        let script = workspace.writes(&format!("{round}"));
        let mut spec = sandboxed(&workspace, &script);
        let is_sandboxed = round % 2 == 1;
        if !is_sandboxed {
            spec = spec.sandbox(None);
        }
        run_in(&cache, &spec).await;
        assert_eq!(
            workspace.written(&format!("{round}")),
            (true, !is_sandboxed)
        );
        assert!(support::soon(|| cache.warm_shells() > usize::from(round > 0)).await);
    }
    let before = cache.warm_shells();
    let alone = sandboxed(&workspace, "true").sandbox(Arc::new(Plan {
        network: Network::On,
        ..workspace.plan()
    }));
    run_in(&cache, &alone.pool(None)).await;
    assert_eq!(
        cache.warm_shells(),
        before,
        "a call that is not pooled left a shell"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stages_and_directory_of_a_sandboxed_call_are_reported() {
    let workspace = TestWorkspace::new();
    let ran = run(&sandboxed(&workspace, "cd /usr; false | true").report_stages(true)).await;
    let stages = ran.outcome.stages.as_deref().map(<[_]>::len);
    assert_eq!(
        (stages, ran.outcome.final_cwd),
        (Some(2), Some("/usr".into()))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn temporary_directory_is_private_and_removed_with_the_call() {
    let workspace = TestWorkspace::new();
    let script = r#"mktemp && printf '%s\n' "$TMPDIR" "$TMUX_TMPDIR" "$CHROME_CONFIG_HOME""#;
    let ran = run(&sandboxed(&workspace, script)).await;
    let lines: Vec<&str> = ran.out.lines().collect();
    let [file, directory, of_tmux, of_chromium] = lines[..] else {
        panic!("{ran:?}");
    };
    assert!(Path::new(file).starts_with(directory), "{ran:?}");
    assert_eq!([of_tmux, of_chromium], [directory; 2]);
    assert!(
        support::soon(|| !Path::new(directory).exists()).await,
        "{directory}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn session_stays_in_its_sandbox() {
    let workspace = TestWorkspace::new();
    let cache = cache();
    let name = SessionName("s".into());
    let call = |script: &str| sandboxed(&workspace, script).session(name.clone());
    run_in(&cache, &call("kept=1; mkdir sub; cd sub")).await;
    let script = workspace.writes("session");
    let ran = run_in(
        &cache,
        &call(&format!("echo $kept; pwd; cd ..; {script}")).enter_cwd(false),
    )
    .await;
    assert_eq!(
        ran.out,
        format!("1\n{}\n", workspace.workspace.join("sub").display())
    );
    assert_eq!(workspace.written("session"), (true, false), "{ran:?}");
    assert!(ran.outcome.sandbox.is_some());
}

/// No message names the file, and no changes are recorded.
#[tokio::test(flavor = "multi_thread")]
async fn refused_writes_of_an_unrecorded_read_only_call_are_observed() {
    let workspace = TestWorkspace::new();
    let file = workspace.sibling.join("file");
    let script = format!(
        "echo x >$TMPDIR/x; {{ mkdir {}; }} 2>/dev/null",
        file.display()
    );
    for tier in TIERS {
        let cache = cache();
        let plan = Arc::new(Plan::new(WriteLevel::ReadOnly, tier));
        let spec = |script: &str| spec(script).cwd(workspace.workspace.clone());
        let read_only = |script: &str| spec(script).sandbox(Some(Arc::clone(&plan)));
        let in_session = |script: &str| read_only(script).session(SessionName("s".into()));
        let existing = workspace.workspace.join("existing");
        fs::write(&existing, "").unwrap();
        // Only mounts refuse such a query. A refused write is more likely to be the reason.
        let query = format!("[ -w {} ]", existing.display());
        let asked = [existing].into_iter().filter(|_| tier == Tier::Full);
        let asked: Vec<_> = asked.collect();
        for (call, refused) in [
            (read_only(&query), asked),
            (read_only(&format!("{query}; {script}")), vec![file.clone()]),
            (read_only(&script), vec![file.clone()]),
            (in_session(&script), vec![file.clone()]),
            (in_session("true"), Vec::new()),
        ] {
            let ran = run_in(&cache, &call).await;
            let observed = ran.outcome.traced.as_ref();
            let observed = observed.map(|traced| traced.refused_writes.clone());
            assert_eq!(observed, Some(refused), "{tier:?}: {ran:?}");
        }
        // The negative control: a call that may write the workspace is not observed.
        let writing = workspace.in_sandbox(spec(&script), tier);
        let ran = run_in(&cache, &writing).await;
        assert_eq!(ran.outcome.traced, None, "{tier:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_box_nothing_runs() {
    let workspace = TestWorkspace::new();
    let plan = Plan {
        hidden: vec![workspace.workspace.clone()].into(),
        ..workspace.plan()
    };
    for session in [None, Some(SessionName("s".into()))] {
        let spec = sandboxed(&workspace, "echo ran >ran").sandbox(Arc::new(plan.clone()));
        let error = run_with(&cache(), &spec.session(session), &Cancel::new()).await;
        let error = error.unwrap_err();
        let NotStarted::Sandbox { reason } = &error else {
            panic!("{error:?}");
        };
        assert!(reason.contains("is to be hidden"), "{reason}");
        assert_eq!(workspace.written("ran"), (false, false));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requested_library_is_not_loaded_before_the_sandbox() {
    let workspace = TestWorkspace::new();
    let mut spec = sandboxed(&workspace, "true");
    let preload = ("LD_PRELOAD".into(), Some("/nonexistent.so".into()));
    spec.env.changes.extend([preload]);
    let ran = run(&spec).await;
    // The loader complains once: in bash, and not in the launcher that executed bash.
    assert_eq!(ran.err.matches("nonexistent.so").count(), 1, "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_and_signals_are_the_scripts() {
    let workspace = TestWorkspace::new();
    assert_eq!(run(&sandboxed(&workspace, "exit 3")).await.exit_code(), 3);
    let ran = run(&sandboxed(&workspace, "kill -TERM $$")).await;
    assert_eq!(ran.outcome.shell_signal, Some(15));
}

#[tokio::test(flavor = "multi_thread")]
async fn enforcement_is_known_before_the_first_call() {
    let found = cache().sandbox_report().await.unwrap();
    // A call in this sandbox reports the same.
    let workspace = TestWorkspace::new();
    let plan = Plan {
        tier: found.tier,
        ..workspace.plan()
    };
    let ran = run(&sandboxed(&workspace, "true").sandbox(Arc::new(plan))).await;
    assert_eq!(
        ran.outcome.sandbox.map(|confined| confined.report),
        Some(found)
    );
    // Without a supervisor there is no sandbox.
    let alone = cache_with(|it| it.supervisor = Supervisor::fallback());
    assert!(matches!(
        alone.sandbox_report().await,
        Err(NotStarted::SandboxLacks { .. })
    ));
    let error = run_with(
        &alone,
        &sandboxed(&workspace, "echo ran >ran"),
        &Cancel::new(),
    )
    .await;
    assert!(
        matches!(error, Err(NotStarted::SandboxLacks { .. })),
        "{error:?}"
    );
    assert_eq!(workspace.written("ran"), (false, false));
}

/// Writes the private directory of the sandbox, and the pid of the supervisor, to a file.
const WHERE: &str = "echo $TMPDIR $PPID >where; sleep 60";

#[tokio::test(flavor = "multi_thread")]
async fn directory_of_a_killed_supervisor_is_removed() {
    let workspace = TestWorkspace::new();
    let file = workspace.workspace.join("where");
    let spec = sandboxed(&workspace, WHERE);
    let call = tokio::spawn(async move { run(&spec).await });
    let whole = || fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'));
    assert!(support::soon(whole).await);
    let text = fs::read_to_string(&file).unwrap();
    let (directory, supervisor) = text.trim().split_once(' ').unwrap();
    let directory = Path::new(directory).parent().unwrap();
    assert!(directory.is_dir());
    let supervisor = rustix::process::Pid::from_raw(supervisor.parse().unwrap()).unwrap();
    rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
    let ran = call.await.unwrap();
    assert!(
        matches!(ran.outcome.ending, ScriptEnding::Lost { .. }),
        "{ran:?}"
    );
    assert!(support::soon(|| !directory.exists()).await);
}

/// If host and supervisor were killed, the next host removes the directory.
#[tokio::test(flavor = "multi_thread")]
async fn unused_directory_is_removed_by_a_later_call() {
    let workspace = TestWorkspace::new();
    let temp = tempfile::tempdir().unwrap();
    let left = temp.path().join("agent-bash-sandbox-1-0");
    fs::create_dir_all(left.join("tmp")).unwrap();
    let cache = cache_with(|it| it.directory = temp.path().to_owned());
    run_in(&cache, &sandboxed(&workspace, "true")).await;
    assert!(support::soon(|| !left.exists()).await);
}

/// The sandbox of an expected call also answers `sandbox_report`: no other sandbox is started for
/// that.
#[tokio::test(flavor = "multi_thread")]
async fn sandbox_of_an_expected_call_reports_what_is_enforced() {
    let workspace = TestWorkspace::new();
    let cache = cache();
    let call = sandboxed(&workspace, "echo x >file");
    let plan = call.sandbox.clone();
    cache.start_in_advance(
        &call.shell, &call.env.base, call.streams, call.limits, plan, false,
    );
    // The tier of the expected sandbox differs from the tier that `sandbox_report` otherwise
    // reports.
    assert_eq!(cache.sandbox_report().await.unwrap().tier, Tier::Base);
    assert_eq!(cache.sandbox_report().await.unwrap().tier, Tier::Full);
    assert_eq!(cache.warm_shells(), 1);
    let ran = run_in(&cache, &call).await;
    assert!(ran.outcome.sandbox.is_some(), "{ran:?}");
    assert_eq!(cache.warm_shells(), 0);

    // A sandbox that cannot be set up gives no answer.
    let refused = Plan {
        hidden: vec![workspace.workspace.clone()].into(),
        ..workspace.plan()
    };
    cache.start_in_advance(
        &call.shell,
        &call.env.base,
        call.streams,
        call.limits,
        Some(Arc::new(refused)),
        false,
    );
    assert_eq!(cache.sandbox_report().await.unwrap().tier, Tier::Full);
}
