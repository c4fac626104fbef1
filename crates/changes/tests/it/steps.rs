//! Costs that do not depend on the number of stored change sets, and what replaces a walk over all
//! of them: the register of unfinished sets, the counter of a session, and a sweep in steps.

use crate::crash::soon;
use crate::support::{SESSION, TestTree};
use agent_bash_changes::{ChangeSet, Recorder, Store, Touch};
use agent_bash_core::changes::{Changes, ChangesId, ChangesLevel, ChangesState};
use rustix::fs::{FlockOperation, flock};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const TREE: &str = "echo one >a; echo two >b";

fn begin(store: &Store, tree: &TestTree, session: &str) -> ChangeSet {
    let set = store.begin_trace(session, &tree.root, ChangesLevel::Undo);
    set.unwrap()
}

/// A call of a process of its own that records these files, and then runs a script.
fn call(tree: &TestTree, touched: &[&str], script: &str) -> Changes {
    let store = tree.store();
    let set = begin(&store, tree, SESSION);
    let mut recorder = Recorder::open(set.dir()).unwrap();
    for path in touched {
        let path = tree.root.join(path);
        recorder.before(&path, Touch::Content).unwrap();
    }
    tree.sh(script);
    recorder.finish().unwrap();
    store.finish(set).unwrap()
}

/// Stores this number of change sets with a change, each by a process of its own.
fn store_sets(tree: &TestTree, number: usize) {
    for _ in 0..number {
        call(tree, &["a"], "echo more >>a");
    }
}

/// The files of the register.
fn entries(tree: &TestTree) -> usize {
    let register = fs::read_dir(tree.state.join("changes/.unfinished"));
    register.unwrap().count()
}

/// Waits until the lock of a change set is free: a process that another test has forked holds it
/// until it executes its program.
fn wait_until_unlocked(tree: &TestTree, number: u64) {
    let session = tree.state.join("changes").join(SESSION);
    let lock = session.join(number.to_string()).join("lock");
    let is_free = || {
        let lock = fs::File::open(&lock).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
    };
    assert!(soon(is_free), "{number} stays locked");
}

/// A time of access long ago, which shows whether a file or a directory was read since.
fn mark_unread(paths: &[PathBuf]) {
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for path in paths {
        fs::File::open(path)
            .unwrap()
            .set_times(fs::FileTimes::new().set_accessed(old))
            .unwrap();
    }
}

fn is_read(path: &PathBuf) -> bool {
    fs::metadata(path).unwrap().atime() != 1_000_000_000
}

/// The directory of the session, and the lock and the description of each stored set.
fn files(tree: &TestTree) -> Vec<PathBuf> {
    let session = tree.state.join("changes").join(SESSION);
    let sets = tree.ids().into_iter().flat_map(|id| {
        let set = session.join(id.to_string());
        ["lock", "meta.json"].map(|name| set.join(name))
    });
    sets.chain([session.clone()]).collect()
}

#[test]
fn call_of_a_new_process_reads_no_stored_set_and_lists_no_directory() {
    let tree = TestTree::new(TREE);
    store_sets(&tree, 20);
    let files = files(&tree);
    mark_unread(&files);
    let next = call(&tree, &["a"], "echo more >>a");
    assert_eq!(next.id, ChangesId(21));
    // The last one could have been reused.
    let last = Path::new(SESSION).join("20");
    let read = files.iter().filter(|path| is_read(path));
    let read: Vec<&PathBuf> = read
        .filter(|path| path.parent().is_none_or(|set| !set.ends_with(&last)))
        .collect();
    assert_eq!(read, [] as [&PathBuf; 0]);
    // The control: a list reads them.
    assert_eq!(tree.store().list(SESSION).unwrap().len(), 21);
    assert!(files.iter().all(is_read));
}

#[test]
fn calls_that_change_nothing_leave_one_set_whatever_their_number() {
    let tree = TestTree::new(TREE);
    let changed = call(&tree, &["a"], "echo more >>a");
    for number in 2..30 {
        let unchanged = call(&tree, &[], "true");
        wait_until_unlocked(&tree, number);
        assert_eq!((unchanged.id.0, unchanged.counts.total()), (number, 0));
        assert_eq!(tree.ids(), [1, number]);
        assert_eq!(entries(&tree), 1);
    }
    // Not with a record, nor while a process has it, nor for another directory.
    let (store, another) = (tree.store(), tree.store());
    let used = begin(&store, &tree, SESSION);
    assert_eq!((used.id().0, tree.ids()), (30, vec![1, 30]));
    let next = begin(&another, &tree, SESSION);
    assert_eq!((next.id().0, tree.ids()), (31, vec![1, 30, 31]));
    store.finish(used).unwrap();
    another.finish(next).unwrap();
    let next = begin(&tree.store(), &tree, SESSION);
    assert_eq!(tree.ids(), [1, 30, 31, 32], "a process has 31");
    drop((next, store, another));
    tree.sh("mkdir sub");
    let sub = tree.root.join("sub");
    let other = tree.store().begin_trace(SESSION, &sub, ChangesLevel::Undo);
    assert_eq!(other.unwrap().id().0, 33);
    let undone = tree.store().undo(SESSION, changed.id, &[], false);
    assert_eq!(undone.unwrap().id.0, 34);
}

#[test]
fn numbers_are_not_used_again() {
    let tree = TestTree::new(TREE);
    let session = tree.state.join("changes").join(SESSION);
    store_sets(&tree, 3);
    fs::remove_dir_all(session.join("3")).unwrap();
    assert_eq!(call(&tree, &["a"], "echo more >>a").id.0, 4);
    // A call that did not run has had no number.
    let store = tree.store();
    let set = begin(&store, &tree, SESSION);
    assert_eq!(set.id().0, 5);
    store.remove(set).unwrap();
    let (five, six) = (begin(&store, &tree, SESSION), begin(&store, &tree, SESSION));
    store.remove(five).unwrap();
    let seven = begin(&store, &tree, SESSION);
    assert_eq!((six.id().0, seven.id().0), (6, 7));
    drop((six, seven));
    // A counter that is missing, invalid, or too low.
    for (number, text) in [
        (8, None),
        (9, Some("x")),
        (10, Some("00000000000000000008\n")),
    ] {
        let counter = session.join(".next");
        match text {
            None => fs::remove_file(&counter).unwrap(),
            Some(text) => fs::write(&counter, text).unwrap(),
        }
        assert_eq!(call(&tree, &["a"], "echo more >>a").id.0, number);
    }
    // Several processes at a time.
    let mut numbers: Vec<u64> = std::thread::scope(|scope| {
        let take = || {
            let store = tree.store();
            let sets = (0..25).map(|_| begin(&store, &tree, SESSION).id().0);
            sets.collect::<Vec<_>>()
        };
        let takers: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
        takers
            .into_iter()
            .flat_map(|taker| taker.join().unwrap())
            .collect()
    });
    numbers.sort_unstable();
    assert_eq!(numbers, (11..111).collect::<Vec<_>>());
}

#[test]
fn opening_recovers_only_the_sets_of_dead_processes() {
    let tree = TestTree::new(TREE);
    store_sets(&tree, 2);
    let store = tree.store();
    let dead = begin(&store, &tree, SESSION);
    let mut recorder = Recorder::open(dead.dir()).unwrap();
    recorder
        .before(&tree.root.join("b"), Touch::Content)
        .unwrap();
    tree.sh("echo dead >b");
    let trial = store.begin_trial(SESSION, &tree.root).unwrap();
    let live = begin(&store, &tree, "other");
    let (dead_id, trial_id, upper) = (dead.id(), trial.id(), trial.upper());
    assert_eq!(entries(&tree), 3);
    drop((dead, recorder, trial));
    let others = files(&tree);
    let others: Vec<PathBuf> = others
        .into_iter()
        .filter(|path| {
            path.components()
                .any(|part| ["1", "2"].contains(&&*part.as_os_str().to_string_lossy()))
        })
        .collect();
    mark_unread(&others);
    let has_recovered = |live: usize| {
        // A child that another test is starting holds the locks until it executes its program.
        soon(|| {
            drop(tree.store());
            entries(&tree) == live
        })
    };
    assert!(has_recovered(1));
    assert!(!others.iter().any(is_read), "they are finished");
    let next = tree.store();
    // The recovery compares the files before later calls change them.
    call(&tree, &["b"], "echo later >b");
    let shown = next.show(SESSION, dead_id).unwrap();
    assert_eq!(
        (shown.state, shown.counts.changed),
        (ChangesState::Interrupted, 1)
    );
    assert_eq!(
        next.show(SESSION, trial_id).unwrap().state,
        ChangesState::Discarded
    );
    assert!(!upper.exists());
    assert!(
        next.undo(SESSION, dead_id, &[], false).is_err(),
        "changed since"
    );
    drop(live);
    assert!(has_recovered(0));
}

#[test]
fn finished_set_is_not_registered() {
    let tree = TestTree::new(TREE);
    let held = tree.hold("echo more >>a");
    assert_eq!(entries(&tree), 0);
    tree.commit(held.id);
    tree.undo(held.id);
    call(&tree, &["a"], "echo more >>a");
    let other = tree.hold("echo more >>a");
    tree.store().discard(SESSION, other.id).unwrap();
    let store = tree.store();
    let job = store
        .begin_job(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    assert_eq!(entries(&tree), 1);
    Recorder::open(job.dir()).unwrap().conclude().unwrap();
    assert_eq!(entries(&tree), 0);
}

#[test]
fn step_looks_at_some_sets_and_the_next_continues() {
    const SETS: u64 = 600;
    const AT_ONCE: u64 = 256;
    let tree = TestTree::new(TREE);
    store_sets(&tree, 1);
    let session = tree.state.join("changes").join(SESSION);
    for id in 2..=SETS {
        let copy = session.join(id.to_string());
        fs::create_dir(&copy).unwrap();
        for name in ["lock", "meta.json"] {
            fs::copy(session.join("1").join(name), copy.join(name)).unwrap();
        }
    }
    (1..=SETS).for_each(|id| tree.age(id));
    let begin_next = || {
        let store = tree.store();
        let set = store.begin_trial("another", &tree.root).unwrap();
        store.drop_trial(set).unwrap();
    };
    // Each call makes a step until all sets were counted once. The set of the other session is
    // looked at first.
    tree.make_sweep_due();
    for step in 1..=2 {
        begin_next();
        assert_eq!(tree.ids(), (step * AT_ONCE..=SETS).collect::<Vec<_>>());
    }
    begin_next();
    assert_eq!(tree.ids(), [] as [u64; 0]);
    store_sets(&tree, 1);
    let next = tree.ids();
    tree.age(next[0]);
    begin_next();
    assert_eq!(tree.ids(), next, "the next step is not due");
}
