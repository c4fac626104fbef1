//! A trial or a record that grows beyond what a set may take: the call is ended, and says why.

use crate::scripted::{Stopped, builder_by, outcome};
use agent_bash::core::changes::{ChangesLevel, ChangesState, TraceState};
use agent_bash::core::{
    Cancel, Clock, Executor, NotStarted, Notice, NoticeKind, Outcome, OutputConsumer, RunSpec,
    ScriptEnding, Status, Timestamp, ToolResult,
};
use agent_bash::{ChangesSettings, profiles};
use agent_bash_changes::{Recorder, Touch};
use async_trait::async_trait;
use serde_json::json;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(500);

/// The pauses between two looks at what a trial has written are over at once, and counted; no other
/// wait ends.
#[derive(Debug, Default)]
struct Prompt(AtomicUsize);

#[async_trait]
impl Clock for Prompt {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Timestamp {
        Stopped.wall()
    }

    async fn sleep(&self, duration: Duration) {
        if duration != PAUSE {
            return Stopped.sleep(duration).await;
        }
        self.0.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
}

/// Writes 3 MiB, and ends on a signal or after a number of readings.
struct Writing {
    clock: Arc<Prompt>,
    traced: Option<TraceState>,
}

#[async_trait]
impl Executor for Writing {
    async fn run(
        &self,
        spec: &RunSpec,
        _: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        if let Some(set) = &spec.trace {
            let mut recorder = Recorder::open(set).unwrap();
            recorder
                .before(&spec.cwd.join("one"), Touch::Content)
                .unwrap();
            recorder.finish().unwrap();
        }
        let to = spec.trial.as_ref().map_or(&spec.cwd, |trial| &trial.upper);
        fs::create_dir_all(to.join("a/b")).unwrap();
        for name in ["one", "a/two", "a/b/three"] {
            fs::write(to.join(name), vec![b'x'; 1 << 20]).unwrap();
        }
        let begun = self.clock.0.load(Ordering::Relaxed);
        let until = tokio::time::Instant::now() + Duration::from_secs(10);
        let is_over = || tokio::time::Instant::now() > until;
        while !cancel.is_cancelled() && spec.trial.is_some() && !is_over() {
            if self.clock.0.load(Ordering::Relaxed) > begun + 4 {
                break;
            }
            tokio::task::yield_now().await;
        }
        let mut ended = outcome(if cancel.is_cancelled() {
            ScriptEnding::Cancelled
        } else {
            ScriptEnding::Exited { code: 0 }
        });
        ended.held_back = spec.trial.is_some();
        ended.traced.clone_from(&self.traced);
        Ok(ended)
    }

    async fn check_trials(&self) -> Result<(), NotStarted> {
        Ok(())
    }
}

async fn result(trial: bool, max_set_mb: u64, traced: Option<TraceState>) -> ToolResult {
    let temp = tempfile::tempdir().unwrap();
    let repo = temp.path().canonicalize().unwrap().join("repo");
    fs::create_dir_all(repo.join(".git")).unwrap();
    let clock = Arc::new(Prompt::default());
    let executor = Arc::new(Writing {
        clock: Arc::clone(&clock),
        traced,
    });
    let settings = ChangesSettings {
        level: Some(ChangesLevel::Undo),
        max_set_mb,
        ..ChangesSettings::default()
    };
    let tool = builder_by(&profiles::STANDARD, executor, &repo, clock)
        .changes(settings)
        .changes_in(temp.path().join("state"), "s")
        .build();
    let request = json!({"command": "make", "trial": trial.then_some(true)});
    tool.execute(request, &Cancel::new()).await
}

const SAID: &str = "The command was ended, as the former contents of the changed files exceed 2 MiB (`changes.max_set_mb`)";

#[tokio::test]
async fn trial_above_the_size_limit_is_ended_with_a_notice() {
    let ended = result(true, 2, None).await;
    assert_eq!(ended.status, Status::Cancelled, "{ended:?}");
    assert!(ended.text.contains(SAID), "{}", ended.text);
    let limit = |it: &Notice| it.kind == NoticeKind::ChangesLimit { max_mb: 2 };
    assert!(ended.notices.iter().any(limit));
    // The changes until then are held.
    let held = ended.changes.unwrap();
    assert_eq!((held.state, held.counts.created), (ChangesState::Held, 3));
    // The control: where there is room, it goes on to its end.
    let whole = result(true, 4, None).await;
    assert_eq!(whole.status, Status::Exited { code: 0 });
    assert!(!whole.text.contains("max_set_mb"), "{}", whole.text);
}

#[tokio::test]
async fn record_above_the_size_limit_gets_a_notice() {
    let mut full = TraceState::incomplete("there was too much");
    full.reached_limit = true;
    let ended = result(false, 2, Some(full)).await;
    assert!(ended.text.contains(SAID), "{}", ended.text);
    assert_eq!(ended.changes.map(|it| it.counts.created), Some(1));
    // The control.
    let whole = result(false, 2, Some(TraceState::complete())).await;
    assert!(!whole.text.contains("max_set_mb"), "{}", whole.text);
}
