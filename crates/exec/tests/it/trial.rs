//! Trials: what a call changes is held back, whatever it starts and however it ends; and all else of a call is as it is
//! without one. How the view is made is tested where that is done.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails may stop"
)]

use crate::support::{Ran, cache, options, run, run_with, soon, spec};
use agent_bash_core::changes::Overlay;
use agent_bash_core::sandbox::{Level, Network, Plan, Tier};
use agent_bash_core::{Cancel, Ending, NotStarted, RunSpec, SessionName, SurvivorPolicy};
use agent_bash_exec::{JobError, JobStdin, ShellCache, ShellCacheOptions};
use agent_bash_process::supervisor::Supervisor;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A workspace with a file, and where changes to it go.
struct Place {
    _temp: tempfile::TempDir,
    root: PathBuf,
    upper: PathBuf,
    work: PathBuf,
}

impl Place {
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

    /// Nothing but the file, as it was.
    fn is_as_it_was(&self) -> bool {
        let names = fs::read_dir(&self.root).unwrap().count();
        names == 1 && fs::read(self.root.join("file")).is_ok_and(|text| text == b"old\n")
    }
}

fn code(ran: &Ran) -> i32 {
    match ran.outcome.ending {
        Ending::Exited { code } => code,
        ref other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_seen_by_the_call_and_not_made() {
    let place = Place::new();
    let ran = run(&place.trial("echo new >>file; echo more >more; cat file more; exit 3"))
        .await
        .unwrap();
    assert_eq!((&*ran.out, code(&ran)), ("old\nnew\nmore\n", 3), "{ran:?}");
    assert!(ran.outcome.held_back && place.is_as_it_was());
    assert_eq!(fs::read(place.upper.join("more")).unwrap(), b"more\n");
    // The negative control: without a trial the same script makes them.
    let spec = place.trial("echo more >more").trial(None);
    let ran = run(&spec).await.unwrap();
    assert!(!ran.outcome.held_back && place.root.join("more").exists());
}

/// A shell that waits has a supervisor of its own, which serves a trial no less than an ordinary call before and after.
#[tokio::test(flavor = "multi_thread")]
async fn no_waiting_shell_serves_a_trial_nor_is_one_left_by_it() {
    let cache = ShellCache::new(ShellCacheOptions {
        warm_shells: 1,
        ..options()
    });
    let cancel = Cancel::new();
    for round in 0..4 {
        let place = Place::new();
        let mut spec = place.trial("echo x >written");
        let is_trial = round % 2 == 1;
        if !is_trial {
            spec = spec.trial(None);
        }
        let ran = run_with(&cache, &spec, &cancel).await.unwrap();
        assert_eq!(ran.outcome.held_back, is_trial);
        assert_eq!(place.is_as_it_was(), is_trial, "{ran:?}");
        assert!(soon(|| cache.warm() > 0).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_outlives_a_trial() {
    let daemon = "setsid sh -c 'exec >/dev/null 2>&1; (sleep 0.05; while :; do echo late >>file; sleep 0.02; done) &' &";
    for policy in [SurvivorPolicy::Adopt, SurvivorPolicy::Kill] {
        let place = Place::new();
        let spec = place.trial(&format!("exec 9>>file; {daemon} sleep 0.2; echo $$"));
        let ran = run(&spec.survivors(policy)).await.unwrap();
        assert!(ran.outcome.survivors.is_empty(), "{ran:?}");
        let held = || fs::read(place.upper.join("file")).unwrap();
        let then = held();
        assert!(then.len() > 4, "the daemon did not write at all");
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert_eq!(held(), then, "{policy:?}");
        assert!(place.is_as_it_was());
    }
    // The negative control: without a trial such a process lives on.
    let place = Place::new();
    let spec = place.trial("sleep 0.4 >/dev/null 2>&1 &").trial(None);
    let ran = run(&spec.survivors(SurvivorPolicy::Adopt)).await.unwrap();
    assert_eq!(ran.outcome.survivors.len(), 1, "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_limit_and_a_cancellation_leave_everything_as_it_was() {
    let place = Place::new();
    let script = "echo x >x; (trap '' TERM; sleep 9) & sleep 9";
    let spec = place
        .trial(script)
        .timeout(Some(Duration::from_millis(200)));
    let ran = run(&spec.grace(Duration::from_millis(50))).await.unwrap();
    assert!(
        matches!(ran.outcome.ending, Ending::TimedOut { .. }),
        "{ran:?}"
    );
    assert!(ran.outcome.held_back && ran.outcome.survivors.is_empty());
    assert!(place.is_as_it_was() && place.upper.join("x").exists());

    let place = Place::new();
    let cancel = Cancel::new();
    let later = cancel.clone();
    let cache = cache();
    let spec = place.trial(script).grace(Duration::from_millis(50));
    let (ran, ()) = tokio::join!(run_with(&cache, &spec, &cancel), async {
        assert!(soon(|| place.upper.join("x").exists()).await);
        later.cancel();
    });
    let ran = ran.unwrap();
    assert_eq!(ran.outcome.ending, Ending::Cancelled);
    assert!(ran.outcome.survivors.is_empty() && place.is_as_it_was());
}

#[tokio::test(flavor = "multi_thread")]
async fn stages_variables_and_directories_are_reported() {
    let place = Place::new();
    let mut spec = place.trial("mkdir d; cd d; echo $KEPT; false | true");
    spec.env
        .changes
        .extend([("KEPT".into(), Some("kept".into()))]);
    let ran = run(&spec.report_stages(true)).await.unwrap();
    let codes = ran.outcome.stages.as_deref().map(<[_]>::len);
    assert_eq!((&*ran.out, codes), ("kept\n", Some(2)), "{ran:?}");
    assert_eq!(ran.outcome.final_cwd, Some(place.root.join("d")));
    // A directory that the call has removed below itself.
    let place = Place::new();
    let gone = place.trial("mkdir d; cd d; rmdir ../d; pwd; false | true");
    let ran = run(&gone.report_stages(true)).await.unwrap();
    assert_eq!(ran.out, format!("{}\n", place.root.join("d").display()));
    assert!(place.is_as_it_was());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_box_and_a_trial_hold_at_once() {
    for tier in [Tier::Base, Tier::Full] {
        let place = Place::new();
        let beside = tempfile::tempdir().unwrap();
        let outside = beside.path().join("outside");
        let plan = Plan {
            level: Level::WorkspaceWrite,
            network: Network::Off,
            tier,
            writable: vec![place.root.clone()],
            hidden: Vec::new(),
            protected: Vec::new(),
            devices: Vec::new(),
        };
        let script = format!("echo in >in; echo out >{}; cat in", outside.display());
        let ran = run(&place.trial(&script).sandbox(Arc::new(plan)))
            .await
            .unwrap();
        assert_eq!(ran.out, "in\n", "{ran:?}");
        assert!(ran.outcome.held_back && ran.outcome.sandbox.is_some());
        assert!(place.is_as_it_was() && !outside.exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_can_be_held_back_nothing_runs() {
    let place = Place::new();
    let spec = place.trial("echo ran >ran; echo ran >&2");
    let session = spec.clone().session(SessionName("s".into()));
    let alone = ShellCache::new(ShellCacheOptions {
        supervisor: Supervisor::fallback(),
        ..options()
    });
    let cancel = Cancel::new();
    let missing = spec.clone().trial(Arc::new(Overlay {
        root: place.root.clone(),
        upper: place.upper.join("missing"),
        work: place.work.clone(),
    }));
    for (cache, spec) in [(cache(), &session), (cache(), &missing), (alone, &spec)] {
        let error = run_with(&cache, spec, &cancel).await.unwrap_err();
        assert!(matches!(error, NotStarted::Trial { .. }), "{error:?}");
        assert!(place.is_as_it_was());
    }
    let job = cache().start_job(&spec, JobStdin::Null, &cancel).await;
    let refused = matches!(job, Err(JobError::NotStarted(NotStarted::Trial { .. })));
    assert!(refused && place.is_as_it_was());
}
