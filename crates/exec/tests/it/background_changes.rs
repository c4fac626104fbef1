//! Changes that surviving processes and jobs make after a call. They are in a separate change set,
//! which cannot be undone while one of these processes runs.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::jobs::world::World;
use crate::support::{cache, soon};
use crate::test_workspace::{SESSION, TestWorkspace, names};
use agent_bash_changes::{ChangesError, ListedChanges};
use agent_bash_core::changes::{ChangesId, ChangesLevel, ChangesState, TraceState};
use agent_bash_core::{Cancel, RunSpec, SessionName, SurvivorPolicy};
use agent_bash_exec::{JobState, JobStdin, ShellCache};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Adds options to a call.
type In = fn(RunSpec) -> RunSpec;

const FILES: &[(&str, &str)] = &[("one", "one\n"), ("two", "two\n")];

impl TestWorkspace {
    /// Runs a traced call. Returns its change set.
    async fn call(
        &self,
        cache: &ShellCache,
        script: &str,
        add: impl Fn(RunSpec) -> RunSpec,
    ) -> ChangesId {
        let adopting = |spec: RunSpec| add(spec.survivors(SurvivorPolicy::Adopt));
        let (ran, changes) = self.traced_call(cache, script, adopting).await;
        assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{ran:?}");
        changes.id
    }

    /// The background change sets of a call.
    fn after(&self, call: ChangesId) -> Vec<ListedChanges> {
        let mut all = self.store().list(SESSION).unwrap();
        all.retain(|listed| listed.after == Some(call));
        all
    }

    /// Creates the file that a script waits for outside of the root.
    fn go(&self) {
        fs::write(self.temp.path().join("go"), "").unwrap();
    }

    /// Waits until the call has one background change set, which is done.
    async fn done_after(&self, call: ChangesId) -> ListedChanges {
        let is_done = || {
            let after = self.after(call);
            after.len() == 1 && after[0].changes.state == ChangesState::Done
        };
        let listed = || self.store().list(SESSION);
        assert!(soon(is_done).await, "{:?}", listed());
        self.after(call).remove(0)
    }
}

/// The surviving process is in the background of the call's shell, is a daemon, or is in the
/// background of a session's shell.
#[tokio::test(flavor = "multi_thread")]
async fn processes_that_outlive_a_call_have_a_separate_set() {
    let session = |spec: RunSpec| spec.session(SessionName("a".into()));
    let ways: [(&str, In); 3] = [
        (
            "(until [[ -e ../go ]]; do sleep 0.02; done; echo late >late; echo more >>two) >/dev/null 2>&1 &",
            |it| it,
        ),
        (
            "setsid sh -c '(until [ -e ../go ]; do sleep 0.02; done; echo late >late; echo more >>two) &' >/dev/null 2>&1",
            |it| it,
        ),
        (
            "(until [[ -e ../go ]]; do sleep 0.02; done; echo late >late; echo more >>two) >/dev/null 2>&1 &",
            session,
        ),
    ];
    for (script, add) in ways {
        let (workspace, cache) = (TestWorkspace::with(FILES), cache());
        let call = workspace
            .call(&cache, &format!("echo x >>one; {script}"), add)
            .await;
        assert!(workspace.after(call).is_empty(), "nothing was written yet");
        workspace.go();
        let after = workspace.done_after(call).await.changes;
        assert_eq!(names(&after), ["late", "two"], "{script}");
        let store = workspace.store();
        // Each set can be undone alone.
        store.undo(SESSION, after.id, &[], false).unwrap();
        assert_eq!(
            (workspace.text("late"), workspace.text("two")),
            (String::new(), "two\n".into())
        );
        assert_eq!(workspace.text("one"), "one\nx\n");
        store.undo(SESSION, call, &[], false).unwrap();
        assert_eq!(workspace.text("one"), "one\n");
    }
}

/// Writes to a file that is open already are not traced: its content at the end of the call is
/// recorded.
#[tokio::test(flavor = "multi_thread")]
async fn open_descriptor_is_found() {
    let (workspace, cache) = (TestWorkspace::with(FILES), cache());
    let script = "(exec 3>>two; echo first >&3; touch ../ready; until [[ -e ../go ]]; do sleep 0.02; done; \
        echo late >&3) >/dev/null 2>&1 & until [[ -e ../ready ]]; do sleep 0.02; done";
    let call = workspace.call(&cache, script, |it| it).await;
    workspace.go();
    let after = workspace.done_after(call).await.changes;
    assert_eq!(names(&after), ["two"]);
    let store = workspace.store();
    // The call's own changes cannot be undone before the later ones.
    let refused = store.undo(SESSION, call, &[], false);
    assert!(
        matches!(refused, Err(ChangesError::Conflict { .. })),
        "{refused:?}"
    );
    store.undo(SESSION, after.id, &[], false).unwrap();
    assert_eq!(workspace.text("two"), "two\nfirst\n");
}

/// A command that waits for a file outside of the root.
fn until(name: &str) -> String {
    format!("until [[ -e ../{name} ]]; do sleep 0.02; done")
}

/// Survivors of two calls write while another call runs, between two calls, and by their children.
/// None of these changes belongs to the running call.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_survivors_belong_to_their_call_while_others_run() {
    let (workspace, cache) = (TestWorkspace::with(FILES), cache());
    let session = |spec: RunSpec| spec.session(SessionName("a".into())).enter_cwd(false);
    let file = |name: &str| workspace.temp.path().join(name);
    let writes = |go: &str, name: &str| {
        let until = until(go);
        format!(
            "({until}; echo x >{name}; sh -c 'echo y >>by_{name}'; touch ../{go}ed; sleep 60) >/dev/null 2>&1 &"
        )
    };
    let first = workspace.call(&cache, &writes("go1", "one"), session).await;
    // The survivor of the first call writes while this call runs, which also has a survivor.
    let script = format!(
        "{} touch ../go1; {}; echo own >own",
        writes("go2", "two"),
        until("go1ed")
    );
    let second = workspace.call(&cache, &script, session).await;
    fs::write(file("go2"), "").unwrap();
    assert!(soon(|| file("go2ed").exists()).await);
    // Later changes of the survivors go to further sets: the sets so far are closed.
    let third = workspace.call(&cache, "echo third >third", session).await;
    let own = |call| {
        let (_, files) = workspace.store().show_all(SESSION, call).unwrap();
        let names = files.into_iter().map(|file| file.name.path);
        names.collect::<Vec<_>>()
    };
    let listed = || workspace.store().list(SESSION).unwrap();
    assert_eq!(own(second), ["own"], "{:?}", listed());
    assert_eq!(own(third), ["third"], "{:?}", listed());
    for (call, wanted) in [(first, ["by_one", "one"]), (second, ["by_two", "two"])] {
        let after = workspace.after(call);
        assert_eq!(after.len(), 1, "{call}: {:?}", listed());
        assert_eq!(names(&after[0].changes), wanted, "{call}");
        let is_known = !after[0].maybe_earlier;
        assert!(is_known && after[0].changes.state == ChangesState::Done);
    }
    assert!(workspace.after(third).is_empty());
    for call in [first, second] {
        let set = workspace.after(call)[0].changes.id;
        workspace.store().undo(SESSION, set, &[], false).unwrap();
    }
    assert_eq!(
        (workspace.text("one"), workspace.text("two")),
        ("one\n".into(), "two\n".into())
    );
    assert_eq!(workspace.text("own"), "own\n");
}

/// A process with a parent that ended before the supervisor saw the process may belong to the
/// running call or to an earlier one.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_a_process_with_unknown_owner_name_no_call() {
    let session = |spec: RunSpec| spec.session(SessionName("a".into())).enter_cwd(false);
    // The inner subshell makes no traced system call before it has lost its parent. A program that
    // is executed there could: a starting bash opens the terminal, and would be seen below its
    // parent, if that is slow to end.
    let orphan = format!("( ({}; echo x >orphans) & ) >/dev/null 2>&1", until("go"));
    // The control: without other survivors, the process can only belong to the call.
    for is_alone in [false, true] {
        let (workspace, cache) = (TestWorkspace::with(FILES), cache());
        let left = if is_alone {
            "true"
        } else {
            "sleep 60 >/dev/null 2>&1 &"
        };
        let first = workspace.call(&cache, left, session).await;
        let script = format!("{orphan}; touch ../go; until [[ -e orphans ]]; do sleep 0.02; done");
        let second = workspace.call(&cache, &script, session).await;
        assert!(workspace.after(first).is_empty());
        let own = workspace.store().show(SESSION, second).unwrap();
        assert_eq!(own.counts.created, u64::from(is_alone), "{own:?}");
        let is_listed = || {
            let after = workspace.after(second);
            after.len() == 1 && after[0].maybe_earlier && names(&after[0].changes) == ["orphans"]
        };
        assert_eq!(is_listed(), !is_alone);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_refuses_a_process_that_still_writes_and_works_after_the_supervisor_was_killed() {
    let (workspace, cache) = (TestWorkspace::with(FILES), cache());
    let script = "read -r _ _ _ up _ </proc/$$/stat; echo $up >../up; \
        (until [[ -e ../go ]]; do sleep 0.02; done; echo late >late; sleep 60) >/dev/null 2>&1 &";
    let call = workspace.call(&cache, script, |it| it).await;
    workspace.go();
    assert!(soon(|| !workspace.text("late").is_empty()).await);
    let after = workspace.after(call);
    assert_eq!(
        (after[0].changes.state, names(&after[0].changes)),
        (ChangesState::Running, vec!["late"])
    );
    let (store, id) = (workspace.store(), after[0].changes.id);
    let refused = store.undo(SESSION, id, &[], false).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("belong to a command that is still running"),
        "{refused}"
    );
    let up = fs::read_to_string(workspace.temp.path().join("up")).unwrap();
    let up = nix::unistd::Pid::from_raw(up.trim().parse().unwrap());
    nix::sys::signal::kill(up, nix::sys::signal::Signal::SIGKILL).unwrap();
    let is_over = || workspace.after(call)[0].changes.state == ChangesState::Interrupted;
    assert!(soon(is_over).await);
    store.undo(SESSION, id, &[], false).unwrap();
    assert_eq!(workspace.text("late"), "");
}

/// The job has started processes since its last listing, and their parents have ended as well.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_a_job_can_be_undone_once_it_was_ended() {
    let session = |spec: RunSpec| spec.session(SessionName("a".into()));
    let ways: [(&str, In); 2] = [("its own shell", |it| it), ("a session's", session)];
    for (which, add) in ways {
        let (workspace, world) = (TestWorkspace::with(FILES), World::new());
        let until = until("go");
        let script =
            format!("({until}; echo tick >tick; sleep 60; echo over >tick) & echo started");
        let call = workspace.call(&world.cache, &script, add).await;
        workspace.go();
        assert!(soon(|| !workspace.text("tick").is_empty()).await);
        let jobs = world.jobs.list().unwrap();
        let job = world.kill(&jobs[0].id).await;
        assert!(matches!(job.state, JobState::Ended(_)), "{job:?}");
        assert_eq!(world.census.commands(), [], "{which}");
        let id = workspace.done_after(call).await.changes.id;
        workspace.store().undo(SESSION, id, &[], false).unwrap();
        assert_eq!(workspace.text("tick"), "");
    }
}

/// A process with parents that ended before the supervisor saw the process is in no job.
#[tokio::test(flavor = "multi_thread")]
async fn end_of_a_process_without_job_is_noticed() {
    let (workspace, world) = (TestWorkspace::with(FILES), World::new());
    let until = until("go");
    let script = format!("(sleep 0.2; ({until}; echo late >late) &) >/dev/null 2>&1 &");
    let session = |spec: RunSpec| spec.session(SessionName("a".into()));
    let call = workspace.call(&world.cache, &script, session).await;
    let jobs = world.jobs.list().unwrap();
    // If the supervisor saw the process in time, it is in that job, which continues.
    let (patience, never) = (Some(Duration::from_secs(1)), Cancel::new());
    let waited = world.jobs.wait(&jobs[0].id, patience, &never).await;
    waited.unwrap();
    assert!(workspace.after(call).is_empty());
    workspace.go();
    let after = workspace.done_after(call).await.changes;
    assert_eq!(names(&after), ["late"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn job_has_its_own_change_set_from_its_start() {
    let (workspace, world) = (TestWorkspace::with(FILES), World::new());
    let store = workspace.store();
    let set = store
        .begin_job(SESSION, &workspace.root, ChangesLevel::Undo)
        .unwrap();
    let id = set.id();
    let script = "echo x >>one; until [[ -e ../go ]]; do sleep 0.02; done; echo late >late";
    let spec = world.spec(script).cwd(workspace.root.clone());
    let spec = spec.trace(Some(set.dir().to_owned()));
    let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
    assert_eq!(job.unrecorded, None);
    // The job's supervisor has the set now.
    drop(set);
    assert!(soon(|| workspace.text("one") == "one\nx\n").await);
    let running = store.show(SESSION, id).unwrap();
    assert_eq!(
        (running.state, running.counts.changed),
        (ChangesState::Running, 1)
    );
    let refused = store.undo(SESSION, id, &[], false);
    assert!(
        matches!(refused, Err(ChangesError::Running { .. })),
        "{refused:?}"
    );
    workspace.go();
    world.end(&job.id).await;
    let is_done = || store.show(SESSION, id).unwrap().state == ChangesState::Done;
    assert!(soon(is_done).await);
    let done = store.show(SESSION, id).unwrap();
    assert!(done.exact, "{done:?}");
    assert_eq!((done.counts.changed, done.counts.created), (1, 1));
    // A change by another process after the job's end conflicts.
    fs::write(workspace.root.join("one"), "another's\n").unwrap();
    let refused = store.undo(SESSION, id, &[], false);
    assert!(matches!(refused, Err(ChangesError::Conflict { .. })));
    store
        .undo(SESSION, id, &[PathBuf::from("late")], false)
        .unwrap();
    assert_eq!(
        (workspace.text("late"), workspace.text("one")),
        (String::new(), "another's\n".into())
    );
    // The control: a job that is not to be recorded.
    let set = store
        .begin_job(SESSION, &workspace.root, ChangesLevel::Undo)
        .unwrap();
    let spec = world.spec("echo y >>two").cwd(workspace.root.clone());
    let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
    world.end(&job.id).await;
    let id = set.id();
    drop(set);
    assert_eq!(store.show(SESSION, id).unwrap().counts.total(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn job_that_cannot_be_recorded_runs_and_reports_the_reason() {
    let (workspace, world) = (TestWorkspace::with(FILES), World::new());
    // The negative control: if the set's directory exists, there is a record.
    for is_gone in [true, false] {
        let store = workspace.store();
        let set = store
            .begin_job(SESSION, &workspace.root, ChangesLevel::Undo)
            .unwrap();
        if is_gone {
            fs::remove_dir_all(set.dir()).unwrap();
        }
        let spec = world.spec("echo x >>one").cwd(workspace.root.clone());
        let spec = spec.trace(Some(set.dir().to_owned()));
        let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
        let why = job.unrecorded.unwrap_or_default();
        assert_eq!(why.contains("No such file"), is_gone, "{why:?}");
        assert_eq!(why.is_empty(), !is_gone, "{why:?}");
        world.end(&job.id).await;
    }
    assert_eq!(workspace.text("one"), "one\nx\nx\n");
}
