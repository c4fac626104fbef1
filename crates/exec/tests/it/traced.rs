//! Traced calls: every file is recorded before a process of the call changes it, and files that are
//! only read are not recorded. In all other respects, a traced call is like an untraced one. The
//! crate `agent-bash-changes` tests the use of records.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{FinishedRun, cache, cache_with, run, run_in, run_with, soon, spec};
use crate::test_workspace::{TestWorkspace, has_own_mounts, mount};
use agent_bash_changes::{ChangeSet, Store, StoreLimits};
use agent_bash_core::changes::{ChangesLevel, TraceState};
use agent_bash_core::sandbox::{Plan, Tier, WriteLevel};
use agent_bash_core::{Cancel, Executor, RunSpec, ScriptEnding, SessionName};
use agent_bash_process::supervisor::Supervisor;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const FILES: &[(&str, &str)] = &[
    ("one", "content of one\n"),
    ("two", "content of two\n"),
    ("three", "content of three\n"),
    ("four", "content of four\n"),
    ("five", "content of five\n"),
    ("d/six", "content of d/six\n"),
];

impl TestWorkspace {
    fn set(&self) -> ChangeSet {
        self.store()
            .begin_trace("s", &self.root, ChangesLevel::Undo)
            .unwrap()
    }

    fn traced(&self, script: &str, set: &ChangeSet) -> RunSpec {
        let traced = Some(set.dir().to_owned());
        spec(script).cwd(self.root.clone()).trace(traced)
    }

    async fn run(&self, script: &str) -> (FinishedRun, SetFiles) {
        let set = self.set();
        let ran = run(&self.traced(script, &set)).await;
        (ran, SetFiles::of(&set))
    }
}

/// The bytes in the files of a change set.
struct SetFiles {
    index: Vec<u8>,
    preimages: Vec<u8>,
}

impl SetFiles {
    fn of(set: &ChangeSet) -> Self {
        let read = |name: &str| fs::read(set.dir().join(name)).unwrap_or_default();
        let mut preimages = read("pack");
        for link in fs::read_dir(set.dir().join("links")).unwrap() {
            preimages.extend(fs::read(link.unwrap().path()).unwrap());
        }
        Self {
            index: read("idx"),
            preimages,
        }
    }

    fn names(&self, name: &str) -> bool {
        has(&self.index, name)
    }

    fn keeps(&self, content: &str) -> bool {
        has(&self.preimages, content)
    }
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

fn code(ran: &FinishedRun) -> Option<i32> {
    match ran.outcome.ending {
        ScriptEnding::Exited { code } => Some(code),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_files_are_recorded_before_and_read_files_are_not() {
    let workspace = TestWorkspace::with(FILES);
    let script = "echo x >>one; rm two; mv three moved; cat five >/dev/null; \
        sed -i s/content/other/ d/six; mkdir new; ln -s one new/link; chmod 600 four; exit 4";
    let (ran, record) = workspace.run(script).await;
    assert_eq!(code(&ran), Some(4), "{ran:?}");
    assert_eq!(ran.outcome.traced, Some(TraceState::complete()));
    for name in ["one", "two", "three", "moved", "d/six", "new/link", "four"] {
        assert!(record.names(name), "{name}");
    }
    assert!(!record.names("five"));
    for name in ["one", "two", "three", "d/six"] {
        assert!(record.keeps(&format!("content of {name}\n")), "{name}");
    }
    assert!(!record.keeps("content of five") && !record.keeps("other of"));
    assert_eq!(
        fs::read(workspace.root.join("one")).unwrap(),
        b"content of one\nx\n"
    );
    // The negative control: an untraced call leaves the set empty.
    let workspace = TestWorkspace::with(FILES);
    let set = workspace.set();
    let ran = run(&workspace.traced(script, &set).trace(None)).await;
    assert_eq!((code(&ran), ran.outcome.traced), (Some(4), None));
    assert!(SetFiles::of(&set).index.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_by_all_processes_of_a_call_are_recorded() {
    let workspace = TestWorkspace::with(FILES);
    let script = "(cd d; exec 5<.; echo x >>/proc/self/fd/5/six); \
        setsid sh -c 'echo x >>one' & wait; \
        bash -c 'exec -a other sh -c \"echo x >>../root/two\"'; \
        find . -name three -exec truncate -s 3 {} +";
    let (ran, record) = workspace.run(script).await;
    assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{ran:?}");
    for name in ["one", "two", "three", "d/six"] {
        assert!(record.keeps(&format!("content of {name}\n")), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_else_of_a_call_is_different() {
    let workspace = TestWorkspace::with(FILES);
    let set = workspace.set();
    let mut spec = workspace.traced("cd d; echo $KEPT >/dev/stdout; false | true", &set);
    spec.env
        .changes
        .extend([("KEPT".into(), Some("kept".into()))]);
    let ran = run(&spec.report_stages(true)).await;
    let stages = ran.outcome.stages.as_deref().map(<[_]>::len);
    assert_eq!((&*ran.out, stages), ("kept\n", Some(2)), "{ran:?}");
    assert_eq!(ran.outcome.final_cwd, Some(workspace.root.join("d")));
    assert_eq!(ran.outcome.traced, Some(TraceState::complete()));
    // Files of this program and devices are not recorded.
    let record = SetFiles::of(&set);
    assert!(!record.names("agent-bash") && !record.names("dev"));
}

#[tokio::test(flavor = "multi_thread")]
async fn shells_that_wait_record_each_into_the_set_of_its_call() {
    let workspace = TestWorkspace::with(FILES);
    let cache = cache_with(|it| it.warm_shells = 1);
    for name in ["one", "two", "three"] {
        let set = workspace.set();
        let plain = spec("echo x >plain").cwd(workspace.root.clone());
        run_in(&cache, &plain).await;
        let script = format!("echo x >>{name}");
        let ran = run_in(&cache, &workspace.traced(&script, &set)).await;
        assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{ran:?}");
        let record = SetFiles::of(&set);
        assert!(record.keeps(&format!("content of {name}\n")), "{name}");
        assert!(!record.names("plain"));
        assert!(soon(|| cache.warm_shells() > 1).await);
    }
}

/// A warm shell opens devices for writing before it has a change set. The tracer lets these opens
/// continue, so the shell is ready and reads its control pipe before its call.
#[tokio::test(flavor = "multi_thread")]
async fn traced_warm_shell_starts_before_its_call() {
    let workspace = TestWorkspace::with(FILES);
    let cache = cache_with(|it| it.warm_shells = 1);
    let spec = workspace.traced("echo $PPID", &workspace.set());
    let ran = run_in(&cache, &spec).await;
    let supervisor = ran.out.trim().to_owned();
    let reads = || {
        let shell = children(&supervisor).concat();
        let call = fs::read_to_string(format!("/proc/{}/syscall", shell.trim()));
        let first = format!("{} 0x0 ", nix::libc::SYS_read);
        call.is_ok_and(|call| call.starts_with(&first))
    };
    assert!(soon(reads).await);
}

/// The children of each thread of the supervisor.
fn children(supervisor: &str) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{supervisor}/task")).unwrap();
    let of = |thread: PathBuf| fs::read_to_string(thread.join("children")).unwrap_or_default();
    threads.map(|thread| of(thread.unwrap().path())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn persistent_shell_records_each_call_into_its_own_change_set() {
    let (workspace, cache, cancel) = (TestWorkspace::with(FILES), cache(), Cancel::new());
    let session = |spec: RunSpec| spec.session(SessionName("a".into())).enter_cwd(false);
    let mut all = Vec::new();
    for (script, names) in [
        ("f() { echo x >>$1; }; f one", "one"),
        (
            "(until [[ -e ../go ]]; do sleep .01; done; f three) & f two",
            "two",
        ),
        ("exec 3>&1 >>four; echo y; exec >&3", "four"),
    ] {
        let set = workspace.set();
        let spec = session(workspace.traced(script, &set));
        let ran = run_with(&cache, &spec, &cancel).await.unwrap();
        assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{ran:?}");
        all.push((names, SetFiles::of(&set)));
        // Changes between two calls belong to neither.
        if names == "two" {
            fs::write(workspace.temp.path().join("go"), "").unwrap();
            let grown = || fs::metadata(workspace.root.join("three")).unwrap().len() > 18;
            assert!(soon(grown).await);
        }
    }
    for (own, record) in &all {
        for (name, _) in &all {
            let kept = record.keeps(&format!("content of {name}\n"));
            assert_eq!(kept, name == own, "{own}: {name}");
        }
        assert!(!record.names("three") && !record.names("agent-bash"));
    }
    // The negative control: a call of the same shell without a record.
    let ran = run_with(&cache, &session(spec("f d/six; echo $?")), &cancel).await;
    assert_eq!(ran.unwrap().outcome.traced, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn persistent_shell_is_untraced_once_a_command_takes_privileges() {
    let (workspace, cache, cancel) = (TestWorkspace::with(FILES), cache(), Cancel::new());
    let gives_up = "grep NoNewPrivs /proc/self/status | tr -dc 01; echo $kept";
    let say = async |script: &str, untraced| {
        let set = workspace.set();
        let spec = workspace
            .traced(script, &set)
            .session(SessionName("a".into()));
        let spec = if untraced {
            spec.trace(None).untraced(true)
        } else {
            spec
        };
        run_with(&cache, &spec, &cancel).await.unwrap()
    };
    let first = say("export kept=1; echo", false).await;
    assert_eq!(first.outcome.traced, Some(TraceState::complete()));
    let reset = |ran: &FinishedRun| {
        let notices = ran.outcome.notices.iter();
        notices
            .filter(|it| it.text.contains("gaining privileges"))
            .count()
    };
    let taking = say(gives_up, true).await;
    assert_eq!((&*taking.out, reset(&taking)), ("01\n", 1), "{taking:?}");
    // The untraced shell remains, and the result reports it.
    let later = say("echo $kept; echo x >>one", false).await;
    let incomplete_reason = later.incomplete_reason();
    assert!(incomplete_reason.is_some_and(|why| why.contains("cannot be traced")));
    let again = say(gives_up, true).await;
    assert_eq!((&*again.out, reset(&again)), ("01\n", 0), "{again:?}");
}

/// True if preimages are separate files. If no file is deleted, only clones are separate files.
fn has_clones(set: &Path) -> bool {
    fs::read_dir(set.join("links")).unwrap().next().is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn call_is_ended_before_it_changes_more_if_its_set_is_full() {
    // The negative control: with a larger limit, the call continues.
    for (limit, ends) in [(1 << 20, true), (1 << 30, false)] {
        let workspace = TestWorkspace::with(FILES);
        for name in ["large", "larger"] {
            fs::write(workspace.root.join(name), vec![b'x'; 800 << 10]).unwrap();
        }
        let mut limits = StoreLimits::default();
        limits.max_set_bytes = limit;
        let store = Store::open(&workspace.temp.path().join("state")).unwrap();
        let store = store.limits(limits);
        let set = store
            .begin_trace("s", &workspace.root, ChangesLevel::Undo)
            .unwrap();
        let script = "echo 1 >large; echo 2 >larger; echo 3 >one";
        let ran = run(&workspace.traced(script, &set)).await;
        let traced = ran.outcome.traced.clone().unwrap();
        // A clone is not a copy, and does not count.
        let ends = ends && !has_clones(set.dir());
        assert_eq!(traced.reached_limit, ends, "{ran:?}");
        assert_eq!(code(&ran).is_none(), ends, "{ran:?}");
        let size = |name: &str| fs::metadata(workspace.root.join(name)).unwrap().len();
        let untouched = size("larger") == 800 << 10 && size("one") == 15;
        assert_eq!((size("large"), untouched), (2, ends));
        let changes = store.finish(set).unwrap();
        store.undo("s", changes.id, &[], false).unwrap();
        assert_eq!(size("large"), 800 << 10);
    }
}

/// A mount below the workspace is another tree: the call is recorded all the same, writes to the
/// mount are counted, and an undo does not revert them.
#[tokio::test(flavor = "multi_thread")]
async fn changes_below_a_mount_are_counted_and_not_undone() {
    const THIS: &str = "traced::changes_below_a_mount_are_counted_and_not_undone";
    if !has_own_mounts(THIS) {
        return;
    }
    let workspace = TestWorkspace::with(FILES);
    let below = workspace.root.join("d/below");
    fs::create_dir(&below).unwrap();
    mount(&below);
    fs::write(below.join("in"), "in\n").unwrap();
    let set = workspace.set();
    let script = "echo x >>one; echo x >>d/below/in; echo x >d/below/new; mv two d/below/two; mv d/below/in three";
    let ran = run(&workspace.traced(script, &set)).await;
    assert_eq!(
        (code(&ran), ran.outcome.traced.clone()),
        (Some(0), Some(TraceState::complete())),
        "{ran:?}"
    );
    let store = workspace.store();
    let changes = store.finish(set).unwrap();
    assert_eq!((changes.counts.changed, changes.counts.deleted), (2, 1));
    // One is gone, and two are new.
    assert_eq!(changes.outside.values().sum::<u64>(), 3, "{changes:?}");
    store.undo("s", changes.id, &[], false).unwrap();
    let text = |path: &str| fs::read_to_string(workspace.root.join(path)).unwrap();
    for name in ["one", "two", "three"] {
        assert_eq!(text(name), format!("content of {name}\n"));
    }
    assert_eq!(
        (text("d/below/new"), text("d/below/two")),
        ("x\n".to_owned(), "content of two\n".to_owned())
    );
    assert!(!below.join("in").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_call_is_recorded() {
    let workspace = TestWorkspace::with(FILES);
    let set = workspace.set();
    let script = "while :; do echo x >>one; done";
    let spec = workspace.traced(script, &set);
    let spec = spec.timeout(Some(Duration::from_secs(2)));
    let ran = run(&spec.grace(Duration::from_millis(20))).await;
    assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{ran:?}");
    assert!(SetFiles::of(&set).keeps("content of one\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sandboxed_call_is_confined_and_traced() {
    for tier in [Tier::Base, Tier::Full] {
        let workspace = TestWorkspace::with(FILES);
        let set = workspace.set();
        let plan = Plan {
            writable: vec![workspace.root.join("d")],
            ..Plan::new(WriteLevel::WorkspaceWrite, tier)
        };
        let spec = workspace.traced("echo x >>d/six; echo x >>one", &set);
        let ran = run(&spec.sandbox(Arc::new(plan))).await;
        let want = TraceState {
            refused_writes: vec![workspace.root.join("one")],
            ..TraceState::complete()
        };
        assert_eq!(ran.outcome.traced, Some(want), "{ran:?}");
        assert!(ran.outcome.sandbox.is_some());
        assert!(SetFiles::of(&set).keeps("content of d/six\n"));
        assert_eq!(
            fs::read(workspace.root.join("one")).unwrap(),
            b"content of one\n"
        );
    }
}

/// A stored state would change the times of the files, and count as a change of a protected file.
#[tokio::test(flavor = "multi_thread")]
async fn refused_move_of_a_directory_with_a_protected_file_stores_no_state() {
    for is_protected in [true, false] {
        let workspace = TestWorkspace::with(FILES);
        let set = workspace.set();
        let protected = is_protected.then(|| workspace.root.join("d/six"));
        let plan = Plan {
            writable: vec![workspace.root.clone()],
            protected: protected.into_iter().collect(),
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        };
        let spec = workspace.traced("mv d moved; echo x >>one", &set);
        let ran = run(&spec.sandbox(Arc::new(plan))).await;
        assert_eq!(workspace.root.join("d").exists(), is_protected, "{ran:?}");
        let stored = SetFiles::of(&set);
        assert_eq!(stored.keeps("content of d/six\n"), !is_protected);
        assert!(stored.keeps("content of one\n"));
    }
}

/// Tracing needs a supervisor process, and a change set.
#[tokio::test(flavor = "multi_thread")]
async fn call_that_cannot_be_traced_runs_and_reports_the_reason() {
    let workspace = TestWorkspace::with(FILES);
    let set = workspace.set();
    let alone = cache_with(|it| it.supervisor = Supervisor::fallback());
    let spec = workspace.traced("echo x >>one; echo ran", &set);
    let ran = run_in(&alone, &spec).await;
    let incomplete_reason = ran.incomplete_reason();
    assert_eq!(ran.out, "ran\n");
    assert!(incomplete_reason.is_some_and(|why| why.contains("supervisor")));
    // The directory is not a change set.
    let missing = spec.trace(Some(workspace.root.join("d")));
    let ran = run(&missing).await;
    assert!(ran.incomplete_reason().is_some() && ran.out == "ran\n");
}

/// Each file with its attributes and its content.
fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = path.symlink_metadata().unwrap();
        let content = match meta.file_type() {
            kind if kind.is_file() => fs::read_to_string(&path).unwrap(),
            kind if kind.is_symlink() => fs::read_link(&path).unwrap().display().to_string(),
            _ => String::new(),
        };
        if meta.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            waiting.extend(entries.map(|entry| entry.unwrap().path()));
        }
        let seen = format!(
            "{:o} {}:{} {}.{:09} {content:?}",
            meta.mode(),
            meta.uid(),
            meta.gid(),
            meta.mtime(),
            meta.mtime_nsec(),
        );
        all.insert(path.strip_prefix(root).unwrap().to_owned(), seen);
    }
    all
}

/// Each change is recorded and can be undone, by whichever system call it is made.
#[tokio::test(flavor = "multi_thread")]
async fn every_call_that_changes_files_is_seen() {
    let workspace = TestWorkspace::with(FILES);
    let files = "openat2 truncated mapped shortened target this that moved saved removed linked mode mode2 times \
        attribute d/inner tree/a tree/b/c gone/a gone/b/c";
    let script = format!(
        "mkdir -p tree/b gone/b; for f in {files}; do echo before $f >$f; done; ln -s target link"
    );
    let made = run(&workspace.traced(&script, &workspace.set()).trace(None)).await;
    assert_eq!((&*made.err, code(&made)), ("", Some(0)));
    let before = tree(&workspace.root);
    let store = Store::open(&workspace.temp.path().join("state")).unwrap();
    let mut set = workspace.set();
    set.mark().unwrap();
    let program = env!("CARGO_BIN_EXE_exec-test-changing");
    let ran = run(&workspace.traced(program, &set)).await;
    assert_eq!((&*ran.err, code(&ran)), ("", Some(0)), "{ran:?}");
    assert_eq!(ran.outcome.traced, Some(TraceState::complete()));
    let after = tree(&workspace.root);
    let changes = store.finish(set).unwrap();
    let listed = changes.files.iter();
    let listed = listed.flat_map(|file| file.from.as_deref().into_iter().chain([&*file.name.path]));
    let named: BTreeSet<&str> = listed.collect();
    for path in before.keys().chain(after.keys()) {
        let (was, is) = (before.get(path), after.get(path));
        let is_file = [was, is]
            .iter()
            .flatten()
            .all(|seen| !seen.starts_with('4'));
        // A new time alone is recorded, but not listed.
        let speaks = is_file && was != is && path != Path::new("times");
        assert!(
            !speaks || named.contains(path.to_str().unwrap()),
            "{path:?}: {named:?}"
        );
    }
    assert!(!named.contains("passing") && !named.contains("target2"));
    store.undo("s", changes.id, &[], false).unwrap();
    let undone = tree(&workspace.root);
    for path in before.keys().chain(undone.keys()) {
        assert_eq!(before.get(path), undone.get(path), "{path:?}");
    }
}

/// The executor reports before a call whether the system allows tracing it.
#[tokio::test(flavor = "multi_thread")]
async fn whether_calls_can_be_watched_is_known_before() {
    assert_eq!(cache().check_recording().await, Ok(()));
    let alone = cache_with(|it| it.supervisor = Supervisor::fallback());
    assert!(alone.check_recording().await.is_err());
}
