//! Calls that cannot be traced: the directory is scanned before and after if a record was
//! requested, and the result says so.

use crate::scripted::{Scripted, Stopped, builder_by, outcome};
use agent_bash::core::changes::{ChangesBy, ChangesLevel, ChangesState, TraceState, Undoable};
use agent_bash::core::{
    Cancel, Clock, Executor, NotStarted, NoticeKind, Outcome, OutputConsumer, RunSpec,
    ScriptEnding, Survivor, Timestamp, ToolResult,
};
use agent_bash::{BashTool, BashToolBuilder, ChangesSettings, profiles};
use async_trait::async_trait;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Writes and removes a file in its directory, without a trace.
struct Untraced {
    script: Arc<Scripted>,
    /// Whether it knows that before.
    knows: bool,
}

#[async_trait]
impl Executor for Untraced {
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        let mut outcome = self.script.run(spec, out, cancel).await?;
        fs::write(spec.cwd.join("new"), "new").unwrap();
        let _ = fs::remove_file(spec.cwd.join("old"));
        outcome.traced = spec
            .trace
            .as_ref()
            .map(|_| TraceState::untraced("an old kernel"));
        Ok(outcome)
    }

    async fn check_recording(&self) -> Result<(), String> {
        let known = self.knows.then(|| "an old kernel".to_owned());
        known.map_or(Ok(()), Err)
    }
}

struct TestProject {
    temp: tempfile::TempDir,
    script: Arc<Scripted>,
    knows: bool,
    clock: Arc<dyn Clock>,
}

/// A clock that advances by this many milliseconds at each reading.
#[derive(Debug)]
struct Hasty(u64, AtomicU64);

#[async_trait]
impl Clock for Hasty {
    fn now(&self) -> Duration {
        Duration::from_millis(self.1.fetch_add(self.0, Ordering::Relaxed))
    }

    fn wall(&self) -> Timestamp {
        Stopped.wall()
    }

    async fn sleep(&self, duration: Duration) {
        Stopped.sleep(duration).await;
    }
}

impl TestProject {
    fn new(knows: bool) -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("repo/.git")).unwrap();
        fs::write(temp.path().join("repo/old"), "old").unwrap();
        Self {
            temp,
            script: Scripted::new(Vec::new(), Ok(outcome(ScriptEnding::Exited { code: 0 }))),
            knows,
            clock: Arc::new(Stopped),
        }
    }

    fn repo(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("repo")
    }

    fn tool(&self, add: impl FnOnce(BashToolBuilder) -> BashToolBuilder) -> BashTool {
        let executor = Arc::new(Untraced {
            script: Arc::clone(&self.script),
            knows: self.knows,
        });
        let clock = Arc::clone(&self.clock);
        let builder = builder_by(&profiles::STANDARD, executor, &self.repo(), clock);
        let state = self.temp.path().join("state");
        add(builder.changes_in(state, "s").sessions(true)).build()
    }
}

fn settings_at(level: ChangesLevel) -> ChangesSettings {
    ChangesSettings {
        level: Some(level),
        ..ChangesSettings::default()
    }
}

async fn call(tool: &BashTool, session: Option<&str>) -> ToolResult {
    let request = json!({"command": "make", "session": session});
    tool.execute(request, &Cancel::new()).await
}

const NOT_KNOWN: &str = "The file changes of this call are not known: ";

#[tokio::test]
async fn untraced_call_is_scanned_with_a_notice() {
    for level in [ChangesLevel::List, ChangesLevel::Undo] {
        let project = TestProject::new(true);
        let tool = project.tool(|builder| builder.changes(settings_at(level)));
        let result = call(&tool, None).await;
        assert_eq!(project.script.last().trace, None);
        let changes = result.changes.as_ref().unwrap();
        assert_eq!(
            (changes.by, changes.state, changes.exact, changes.undo),
            (ChangesBy::Scan, ChangesState::Listed, false, Undoable::No)
        );
        assert_eq!((changes.counts.created, changes.counts.deleted), (1, 1));
        let expected_text = "[Files: about 1 deleted, 1 created: old (deleted), new (created) changes://1 (by scan, may be incomplete)]";
        assert!(result.text.contains(expected_text), "{}", result.text);
    }
}

/// Surviving processes of such a call are not traced, which the result of a scanned call says; a
/// traced one has its own change set.
#[tokio::test]
async fn survivors_of_a_scanned_call_are_named() {
    let notices = async |is_watched: bool, survivors: Vec<Survivor>| {
        let mut project = TestProject::new(!is_watched);
        let mut ended = outcome(ScriptEnding::Exited { code: 0 });
        ended.survivors = survivors;
        project.script = Scripted::new(Vec::new(), Ok(ended));
        let tool = project.tool(|builder| builder.changes(settings_at(ChangesLevel::List)));
        let result = call(&tool, None).await;
        let kinds = result.notices.into_iter().map(|notice| notice.kind);
        let untraced = kinds.filter(|kind| matches!(kind, NoticeKind::ChangesUntraced { .. }));
        (untraced.collect::<Vec<_>>(), result.text)
    };
    let left = || {
        vec![
            Survivor::new(7, "tail -f log", false),
            Survivor::new(9, "sh", false),
        ]
    };
    let (named, text) = notices(false, left()).await;
    assert_eq!(named, [NoticeKind::ChangesUntraced { pids: vec![7, 9] }]);
    let expected_text = "[The processes that still run (pid 7, 9) are not traced: their further file changes are in no list]";
    assert!(text.contains(expected_text), "{text}");
    assert_eq!(notices(false, Vec::new()).await.0, []);
    assert_eq!(notices(true, left()).await.0, []);
}

/// A scan is made only for a call that asks for it.
#[tokio::test]
async fn default_level_makes_no_scans() {
    let project = TestProject::new(true);
    let tool = project.tool(|builder| builder.default_changes_level(ChangesLevel::Undo));
    let result = call(&tool, None).await;
    assert_eq!((result.changes, result.notices), (None, Vec::new()));
    assert!(project.script.last().trace.is_some());
    assert!(project.repo().join("new").exists());
}

/// Where it shows only when a shell is started, the calls after that are compared; those of other
/// shells are not.
#[tokio::test]
async fn untraceable_shell_is_remembered() {
    let project = TestProject::new(false);
    let tool = project.tool(|builder| builder.changes(settings_at(ChangesLevel::Undo)));
    let first = call(&tool, None).await;
    assert!(
        first.text.contains(&format!("{NOT_KNOWN}an old kernel")),
        "{first:?}"
    );
    assert!(first.changes.is_none() && project.script.last().trace.is_some());
    fs::write(project.repo().join("old"), "again").unwrap();
    let second = call(&tool, None).await;
    assert_eq!(second.changes.map(|it| it.by), Some(ChangesBy::Scan));
    assert_eq!(project.script.last().trace, None);
    let other = call(&tool, Some("a")).await;
    assert!(project.script.last().trace.is_some(), "{other:?}");
}

/// A scan that takes too long is not made, and not tried again.
#[tokio::test]
async fn too_large_directory_is_not_scanned() {
    let mut project = TestProject::new(true);
    project.clock = Arc::new(Hasty(100, AtomicU64::new(0)));
    let tool = project.tool(|builder| builder.changes(settings_at(ChangesLevel::Undo)));
    for why in ["a scan can read in time", "has too many files"] {
        let result = call(&tool, None).await;
        assert_eq!(result.changes, None);
        let expected_text = format!("{NOT_KNOWN}an old kernel; a scan is not possible either");
        let is_said = result.text.contains(&expected_text) && result.text.contains(why);
        assert!(is_said, "{}", result.text);
    }
}
