//! Trials: the changes of a call and of all its processes are held back, however it ends. In all
//! other respects, a call with a trial is like one without. The crate `agent-bash-sandbox` tests
//! the mounts of a trial.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{
    cache, cache_of_short_calls, cache_with, command, run, run_in, run_with, soon, spec,
};
use crate::test_workspace::{has_own_mounts, mount};
use agent_bash_core::changes::Overlay;
use agent_bash_core::sandbox::{Plan, Tier, WriteLevel};
use agent_bash_core::{Cancel, NotStarted, RunSpec, ScriptEnding, SessionName, SurvivorPolicy};
use agent_bash_exec::{JobError, JobStdin};
use agent_bash_process::supervisor::Supervisor;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A workspace with a file, and the directories for changes to it.
struct TrialWorkspace {
    _temp: tempfile::TempDir,
    root: PathBuf,
    upper: PathBuf,
    work: PathBuf,
}

impl TrialWorkspace {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        let [root, upper, work] = ["root", "upper", "work"].map(|name| base.join(name));
        for directory in [&root, &upper, &work] {
            fs::create_dir(directory).unwrap();
        }
        fs::write(root.join("file"), "old\n").unwrap();
        Self {
            _temp: temp,
            root,
            upper,
            work,
        }
    }

    fn trial(&self, script: &str) -> RunSpec {
        spec(script).cwd(self.root.clone()).trial(Arc::new(Overlay {
            root: self.root.clone(),
            upper: self.upper.clone(),
            work: self.work.clone(),
        }))
    }

    /// Replaces the directories for changes by empty ones.
    fn renew(&mut self) {
        for directory in [&mut self.upper, &mut self.work] {
            directory.as_mut_os_string().push("+");
            fs::create_dir(directory).unwrap();
        }
    }

    /// True if the workspace contains only the file, unchanged.
    fn is_as_it_was(&self) -> bool {
        let names = fs::read_dir(&self.root).unwrap().count();
        names == 1 && fs::read(self.root.join("file")).is_ok_and(|text| text == b"old\n")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trial_changes_are_visible_to_the_call_and_not_applied() {
    let workspace = TrialWorkspace::new();
    let ran =
        run(&workspace.trial("echo new >>file; echo more >more; cat file more; exit 3")).await;
    assert_eq!(
        (&*ran.out, ran.exit_code()),
        ("old\nnew\nmore\n", 3),
        "{ran:?}"
    );
    assert!(ran.outcome.held_back && workspace.is_as_it_was());
    assert_eq!(fs::read(workspace.upper.join("more")).unwrap(), b"more\n");
    // The negative control: without a trial the same script makes them.
    let spec = workspace.trial("echo more >more").trial(None);
    let ran = run(&spec).await;
    assert!(!ran.outcome.held_back && workspace.root.join("more").exists());
}

/// Changes by a process outside of the trial are not held back: the result reports that the trial
/// connected to one.
#[tokio::test(flavor = "multi_thread")]
async fn trial_that_speaks_to_a_process_outside_says_so() {
    let (cache, cancel) = (cache_of_short_calls(1), Cancel::new());
    let mut workspace = TrialWorkspace::new();
    let program = env!("CARGO_BIN_EXE_exec-test-changing");
    let socket = workspace.root.with_file_name("socket");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let script = format!("{program} connect {}", socket.display());
    // The second call uses a warm shell.
    for _ in 0..2 {
        let trial = workspace.trial(&script);
        let run = run_with(&cache, &trial, &cancel);
        let accept = async {
            let listener = listener.try_clone().unwrap();
            tokio::task::spawn_blocking(move || drop(listener.accept()))
                .await
                .unwrap();
        };
        let (ran, ()) = tokio::join!(run, accept);
        let ran = ran.unwrap();
        assert!(
            ran.incomplete_reason()
                .is_some_and(|why| why.contains("socket")),
            "{ran:?}"
        );
        workspace.renew();
        let itself = workspace.trial(&format!("{program} connect-itself"));
        let ran = run_with(&cache, &itself, &cancel).await.unwrap();
        assert_eq!((&*ran.err, ran.incomplete_reason()), ("", None), "{ran:?}");
        workspace.renew();
        assert!(soon(|| cache.warm_shells() > 0).await);
    }
}

/// A warm shell waits in its own mount namespace, and gets the view of the trial when a call takes
/// the shell.
#[tokio::test(flavor = "multi_thread")]
async fn warm_shell_sees_the_files_at_the_start_of_its_trial() {
    let cache = cache_of_short_calls(1);
    let mut workspace = TrialWorkspace::new();
    let theirs = tempfile::tempdir().unwrap();
    fs::create_dir_all(workspace.root.join("d/e")).unwrap();
    fs::write(workspace.root.join("gone"), "").unwrap();
    let look = "cat file; ls -R; ls ../root/d; echo by $PPID >>file; echo new >new";
    let first = run_in(&cache, &workspace.trial(look)).await;
    let by = |workspace: &TrialWorkspace| fs::read_to_string(workspace.upper.join("file")).unwrap();
    let first_by = by(&workspace);
    assert!(first.outcome.held_back, "{first:?}");
    for round in 0..4 {
        assert!(soon(|| cache.warm_shells() > 0).await);
        // While the shell waits, another process changes contents, names and types, and replaces a
        // directory.
        let text = format!("theirs {round}\n");
        fs::write(workspace.root.join("file"), &text).unwrap();
        let _ = fs::remove_file(workspace.root.join("gone"));
        fs::write(workspace.root.join(format!("made{round}")), "").unwrap();
        fs::rename(
            workspace.root.join("d"),
            theirs.path().join(round.to_string()),
        )
        .unwrap();
        fs::create_dir_all(workspace.root.join(format!("d/e{round}"))).unwrap();
        workspace.renew();
        let ran = run_in(&cache, &workspace.trial(look)).await;
        let made: Vec<_> = (0..=round).map(|n| format!("made{n}")).collect();
        let made = made.join("\n");
        let expect =
            format!("{text}.:\nd\nfile\n{made}\n\n./d:\ne{round}\n\n./d/e{round}:\ne{round}\n");
        assert_eq!(ran.out, expect, "{ran:?}");
        assert!(ran.outcome.held_back, "{ran:?}");
        assert_eq!(
            fs::read_to_string(workspace.root.join("file")).unwrap(),
            text
        );
        assert!(!workspace.root.join("new").exists() && workspace.upper.join("new").exists());
        // The shell was not started for this call: it waited below the supervisor of the first
        // call.
        let same = first_by.lines().last().unwrap();
        assert_eq!(by(&workspace), format!("{text}{same}\n"));
    }
}

/// A file system that the host mounts while a shell waits is not visible to that shell, which is
/// therefore not used.
#[tokio::test(flavor = "multi_thread")]
async fn trial_has_the_hosts_mounts_at_its_start() {
    const THIS: &str = "trial::trial_has_the_hosts_mounts_at_its_start";
    if !has_own_mounts(THIS) {
        return;
    }
    let cache = cache_of_short_calls(1);
    let mut workspace = TrialWorkspace::new();
    let outside = tempfile::tempdir().unwrap();
    let by = "echo $PPID; ls";
    let script = format!("{by} {}", outside.path().display());
    let mut printed = Vec::new();
    for is_mounted in [false, false, true, true] {
        if is_mounted {
            mount(outside.path());
            fs::write(outside.path().join("mounted"), "").unwrap();
        }
        workspace.renew();
        let ran = run_in(&cache, &workspace.trial(&script)).await;
        assert!(ran.outcome.held_back, "{ran:?}");
        assert_eq!(ran.out.ends_with("mounted\n"), is_mounted, "{ran:?}");
        printed.push(ran.out.lines().next().unwrap().to_owned());
        assert!(soon(|| cache.warm_shells() > 0).await);
    }
    // The control: without further mounts, the warm shell is used.
    assert_eq!(printed[0], printed[1]);
}

/// An overlay would not show a mount below the workspace: neither a new shell nor a warm one runs
/// the command. Without the mount, both do.
#[tokio::test(flavor = "multi_thread")]
async fn mount_below_the_workspace_refuses_a_trial() {
    const THIS: &str = "trial::mount_below_the_workspace_refuses_a_trial";
    if !has_own_mounts(THIS) {
        return;
    }
    let cache = cache_of_short_calls(1);
    let mut workspace = TrialWorkspace::new();
    let below = workspace.root.join("below");
    fs::create_dir(&below).unwrap();
    for round in 0..2 {
        mount(&below);
        workspace.renew();
        let error = run_with(
            &cache,
            &workspace.trial("echo x >ran; echo x >below/ran"),
            &Cancel::new(),
        )
        .await;
        let error = error.unwrap_err().to_string();
        let expected_text = format!("something is mounted at `{}`", below.display());
        assert!(error.contains(&expected_text), "{round}: {error}");
        assert!(!workspace.root.join("ran").exists() && !below.join("ran").exists());
        assert!(command("umount").arg(&below).status().unwrap().success());
        workspace.renew();
        let ran = run_in(&cache, &workspace.trial("echo x >ran")).await;
        assert!(ran.outcome.held_back && !workspace.root.join("ran").exists());
        assert!(soon(|| cache.warm_shells() > 0).await);
    }
}

/// Trials and other calls have separate supervisors.
#[tokio::test(flavor = "multi_thread")]
async fn warm_shells_for_trials_serve_only_trials() {
    let cache = cache_of_short_calls(1);
    for round in 0..4 {
        let workspace = TrialWorkspace::new();
        let mut spec = workspace.trial("echo x >written");
        let is_trial = round % 2 == 1;
        if !is_trial {
            spec = spec.trial(None);
        }
        let ran = run_in(&cache, &spec).await;
        assert_eq!(ran.outcome.held_back, is_trial);
        assert_eq!(workspace.is_as_it_was(), is_trial, "{ran:?}");
        assert!(soon(|| cache.warm_shells() > 0).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_outlives_a_trial() {
    // The daemon also writes by the whole path, which leads to the view while the view exists.
    let daemon = "setsid sh -c 'trap \"\" TERM; exec >/dev/null 2>&1; (sleep 0.05; while :; do echo late >>file; echo late >>$PWD/file; sleep 0.02; done) &' &";
    let waiting = cache_with(|it| it.warm_shells = 1);
    for round in 0..4 {
        let policy = [SurvivorPolicy::Adopt, SurvivorPolicy::Kill][round % 2];
        let workspace = TrialWorkspace::new();
        let spec = workspace.trial(&format!(
            "exec 9>>file; {daemon} until grep -q late file; do sleep .02; done; echo $$"
        ));
        let spec = spec.grace(Duration::from_millis(100));
        // The later rounds use warm shells.
        let ran = if round == 0 {
            run(&spec.survivors(policy)).await
        } else {
            let ran = run_in(&waiting, &spec.survivors(policy)).await;
            assert!(soon(|| waiting.warm_shells() > 0).await);
            ran
        };
        assert!(ran.outcome.survivors.is_empty(), "{ran:?}");
        let held = || fs::read(workspace.upper.join("file")).unwrap();
        let then = held();
        assert!(then.len() > 4, "the daemon did not write at all");
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert_eq!(held(), then, "{policy:?}");
        assert!(workspace.is_as_it_was());
    }
    // The negative control: without a trial such a process lives on.
    let workspace = TrialWorkspace::new();
    let leaving = "while [[ -e file ]]; do :; done >/dev/null 2>&1 &";
    let spec = workspace.trial(leaving).trial(None);
    let ran = run(&spec.survivors(SurvivorPolicy::Adopt)).await;
    assert_eq!(ran.outcome.survivors.len(), 1, "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_out_or_cancelled_trial_changes_nothing() {
    let workspace = TrialWorkspace::new();
    let script = "echo x >x; (trap '' TERM; sleep 9) & sleep 9";
    let spec = workspace
        .trial(script)
        .timeout(Some(Duration::from_secs(3)));
    let ran = run(&spec.grace(Duration::from_millis(50))).await;
    assert!(
        matches!(ran.outcome.ending, ScriptEnding::TimedOut { .. }),
        "{ran:?}"
    );
    assert!(ran.outcome.held_back && ran.outcome.survivors.is_empty());
    assert!(workspace.is_as_it_was() && workspace.upper.join("x").exists());

    let workspace = TrialWorkspace::new();
    let cancel = Cancel::new();
    let later = cancel.clone();
    let cache = cache();
    let spec = workspace.trial(script).grace(Duration::from_millis(50));
    let (ran, ()) = tokio::join!(run_with(&cache, &spec, &cancel), async {
        assert!(soon(|| workspace.upper.join("x").exists()).await);
        later.cancel();
    });
    let ran = ran.unwrap();
    assert_eq!(ran.outcome.ending, ScriptEnding::Cancelled);
    assert!(ran.outcome.survivors.is_empty() && workspace.is_as_it_was());
}

#[tokio::test(flavor = "multi_thread")]
async fn stages_variables_and_directories_are_reported() {
    let mut workspace = TrialWorkspace::new();
    let mut spec =
        workspace.trial("mkdir d; cd d; echo $KEPT; false | (exit 3) | sh -c 'kill $$' | true");
    spec.env
        .changes
        .extend([("KEPT".into(), Some("kept".into()))]);
    let spec = spec.report_stages(true);
    // Cold, in a shell that waited, and as without a trial.
    let cache = cache_of_short_calls(1);
    for (round, is_trial) in [true, true, false].into_iter().enumerate() {
        workspace.renew();
        let again = workspace.trial(&spec.script).trial;
        let spec = spec.clone().trial(again.filter(|_| is_trial));
        let ran = run_in(&cache, &spec).await;
        let stages = ran.outcome.stages.iter().flatten();
        let codes: Vec<i32> = stages.map(|stage| stage.code).collect();
        assert_eq!(
            (&*ran.out, &codes[..]),
            ("kept\n", &[1, 3, 143, 0][..]),
            "{ran:?}"
        );
        assert_eq!(ran.outcome.final_cwd, Some(workspace.root.join("d")));
        assert_eq!(ran.outcome.held_back, is_trial);
        assert!(!is_trial || workspace.is_as_it_was());
        assert!(round > 1 || soon(|| cache.warm_shells() > 0).await);
    }
    // A directory that the call has removed below itself.
    let workspace = TrialWorkspace::new();
    let gone = workspace.trial("mkdir d; cd d; rmdir ../d; pwd; false | true");
    let ran = run(&gone.report_stages(true)).await;
    assert_eq!(ran.out, format!("{}\n", workspace.root.join("d").display()));
    assert!(workspace.is_as_it_was());
}

#[tokio::test(flavor = "multi_thread")]
async fn sandbox_and_trial_are_enforced_together() {
    for tier in [Tier::Base, Tier::Full] {
        let workspace = TrialWorkspace::new();
        let sibling = tempfile::tempdir().unwrap();
        let outside = sibling.path().join("outside");
        let plan = Plan {
            writable: vec![workspace.root.clone()],
            ..Plan::new(WriteLevel::WorkspaceWrite, tier)
        };
        let script = format!("echo in >in; echo out >{}; cat in", outside.display());
        let ran = run(&workspace.trial(&script).sandbox(Arc::new(plan))).await;
        assert_eq!(ran.out, "in\n", "{ran:?}");
        assert!(ran.outcome.held_back && ran.outcome.sandbox.is_some());
        assert!(workspace.is_as_it_was() && !outside.exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trial_without_an_overlay_runs_nothing() {
    let workspace = TrialWorkspace::new();
    let spec = workspace.trial("echo ran >ran; echo ran >&2");
    let session = spec.clone().session(SessionName("s".into()));
    let alone = cache_with(|it| it.supervisor = Supervisor::fallback());
    let missing = spec.clone().trial(Arc::new(Overlay {
        root: workspace.root.clone(),
        upper: workspace.upper.join("missing"),
        work: workspace.work.clone(),
    }));
    // The step that failed is named, wherever it did.
    for (cache, spec, step) in [
        (cache(), &session, "persistent shell"),
        (cache(), &missing, "missing`: No such file"),
        (cache_of_short_calls(1), &missing, "missing`: No such file"),
        (alone, &spec, "supervisor"),
    ] {
        let error = run_with(&cache, spec, &Cancel::new()).await.unwrap_err();
        let reason = match &error {
            NotStarted::Trial { reason } => reason.clone(),
            other => format!("not as a trial: {other:?}"),
        };
        assert!(reason.contains(step), "{reason}");
        assert!(workspace.is_as_it_was());
    }
    let job = cache()
        .start_job(&spec, JobStdin::Null, &Cancel::new())
        .await;
    let refused = matches!(job, Err(JobError::NotStarted(NotStarted::Trial { .. })));
    assert!(refused && workspace.is_as_it_was());
}
