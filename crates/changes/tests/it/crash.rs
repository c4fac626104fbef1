//! A kill at every step, forwards and backwards; a failure at every step; changes by another
//! process at every step.

mod redo_or_begin;

use crate::support::{SESSION, TestTree, Tree, difference};
use agent_bash_changes::{ChangesError, ChangesScope, Precautions, Step, Steps, Store};
use agent_bash_core::changes::{ChangesId, ChangesState, Undoable};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) const TREE: &str = "echo one >a; echo two >b; echo three >c; mkdir -p d/e; echo 4 >d/4; echo 5 >d/e/5; chmod 711 d; touch -d 2001-01-01 d a";
/// A script with each kind of operation, and with attributes.
pub(crate) const SCRIPT: &str =
    "echo more >>a; rm b; chmod 600 c; rm -r d/e; echo 6 >d/6; mkdir n; echo 7 >n/7; chmod 700 d";

/// An action at a step.
struct At<F>(F, AtomicUsize);

impl<F> std::fmt::Debug for At<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("At")
    }
}

impl<F: Fn(usize, Step) -> io::Result<()> + Send + Sync> Steps for At<F> {
    fn at(&self, step: Step) -> io::Result<()> {
        (self.0)(self.1.fetch_add(1, Ordering::Relaxed), step)
    }
}

pub(crate) fn acting_at(
    what: impl Fn(usize, Step) -> io::Result<()> + Send + Sync + 'static,
) -> Arc<dyn Steps> {
    Arc::new(At(what, AtomicUsize::new(0)))
}

/// Returns all steps of a commit of the held trial, in order. The commit is undone afterwards.
pub(crate) fn steps(tree: &TestTree, act: impl FnOnce(&Store)) -> Vec<Step> {
    let seen_steps: Arc<Mutex<Vec<Step>>> = Arc::default();
    let log = Arc::clone(&seen_steps);
    let logged = acting_at(move |_, step| {
        log.lock().unwrap().push(step);
        Ok(())
    });
    let store = tree.store().with_steps(logged, Precautions::default());
    act(&store);
    drop(store);
    Arc::into_inner(seen_steps).unwrap().into_inner().unwrap()
}

/// The action and the step of the kill, for the separate process.
const PLACE: &str = "CHANGES_TEST_PLACE";
const ACT: &str = "CHANGES_TEST_ACT";
const STEP: &str = "CHANGES_TEST_STEP";
const UNSYNCED: &str = "CHANGES_TEST_UNSYNCED";

/// The process that the tests below start and kill. Does nothing by itself.
#[test]
fn killed() {
    let value = |name: &str| std::env::var(name).ok();
    let Some(state) = value(PLACE).map(PathBuf::from) else {
        return;
    };
    let at: usize = value(STEP).unwrap().parse().unwrap();
    let power = value(UNSYNCED).map(|synced| synced == "synced");
    let journal = state.join("changes").join(SESSION).join("1/journal");
    let store = Store::open_without_recovery(&state).unwrap().with_steps(
        acting_at(move |number, step| {
            if number == at {
                // A power failure loses what was not synced.
                if power == Some(false) && !matches!(step, Step::Checked | Step::Drafted) {
                    let file = std::fs::OpenOptions::new().write(true).open(&journal);
                    let _ = file.map(|file| file.set_len(0));
                }
                rustix::process::kill_process(
                    rustix::process::getpid(),
                    rustix::process::Signal::KILL,
                )
                .unwrap();
            }
            Ok(())
        }),
        Precautions {
            synced: power != Some(false),
            ..Precautions::default()
        },
    );
    match value(ACT).unwrap().as_str() {
        "commit" => drop(store.commit(SESSION, ChangesId(1))),
        "undo" => drop(store.undo(SESSION, ChangesId(1), &[], false)),
        "redo" => drop(store.redo(SESSION, ChangesId(1))),
        "undo-all" => drop(store.undo_group(SESSION, &ChangesScope::From(ChangesId(1)), false)),
        "recover" => drop(Store::open(&state)),
        other => panic!("{other}"),
    }
}

/// Performs the action in another process, which is killed at that step. Returns true if it was
/// killed.
pub(crate) fn kill(tree: &TestTree, act: &str, at: usize, unsynced: Option<&str>) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "crash::killed"])
        .env(PLACE, &tree.state)
        .env(ACT, act)
        .env(STEP, at.to_string());
    if let Some(unsynced) = unsynced {
        command.env(UNSYNCED, unsynced);
    }
    let output = command.output().unwrap();
    std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9)
}

/// Returns true if both trees are equal, except for inodes of files that were only put.
pub(crate) fn is(tree: &Tree, other: &Tree) -> bool {
    difference(tree, other).is_empty()
}

#[test]
fn killed_commit_is_complete_or_changes_nothing() {
    killed_in_commit(TestTree::new);
}

#[test]
fn killed_commit_is_complete_or_changes_nothing_with_a_store_on_another_device() {
    killed_in_commit(TestTree::far);
}

fn killed_in_commit(new: fn(&str) -> TestTree) {
    let count = {
        let test_tree = new(TREE);
        let held = test_tree.hold(SCRIPT);
        steps(&test_tree, |store| {
            drop(store.commit(SESSION, held.id).unwrap());
        })
        .len()
    };
    assert!(count > 15, "{count}");
    let (mut forwards, mut not_at_all) = (0, 0);
    for at in 0..count {
        let test_tree = new(TREE);
        let before = test_tree.files();
        let held = test_tree.hold(SCRIPT);
        assert!(
            kill(&test_tree, "commit", at, None),
            "step {at} was not reached"
        );
        // The next process that opens the store completes it; a second one does nothing.
        drop(test_tree.store());
        let got = test_tree.files();
        if is(&before, &got) {
            not_at_all += 1;
            test_tree.commit(held.id);
        } else {
            forwards += 1;
        }
        let really = TestTree::new(TREE);
        really.sh(SCRIPT);
        let names = |tree: &Tree| -> Vec<_> {
            let of = |file: &crate::support::File| (file.mode, file.digest);
            tree.iter()
                .map(|(path, file)| (path.clone(), of(file)))
                .collect()
        };
        let committed = test_tree.files();
        assert_eq!(names(&committed), names(&really.files()), "step {at}");
        // The commit can be undone as usual.
        test_tree.undo(held.id);
        assert_eq!(
            difference(&before, &test_tree.files()),
            "",
            "step {at}: undone"
        );
        test_tree.redo(held.id);
        assert_eq!(
            difference(&committed, &test_tree.files()),
            "",
            "step {at}: redone"
        );
    }
    // A kill before the journal has its name changes nothing; afterwards, everything is done.
    assert_eq!((not_at_all, forwards), (3, count - 3));
}

#[test]
fn killed_undo_is_complete_or_changes_nothing() {
    killed_in_undo(TestTree::new);
}

#[test]
fn killed_undo_is_complete_or_changes_nothing_with_a_store_on_another_device() {
    killed_in_undo(TestTree::far);
}

fn killed_in_undo(new: fn(&str) -> TestTree) {
    let count = {
        let tree = new(TREE);
        let held = tree.hold(SCRIPT);
        tree.commit(held.id);
        steps(&tree, |store| {
            drop(store.undo(SESSION, held.id, &[], false).unwrap());
        })
        .len()
    };
    for at in 0..count {
        let tree = new(TREE);
        let before = tree.files();
        let held = tree.hold(SCRIPT);
        tree.commit(held.id);
        let after = tree.files();
        assert!(kill(&tree, "undo", at, None), "step {at} was not reached");
        drop(tree.store());
        let got = tree.files();
        if is(&after, &got) {
            assert!(at < 3, "step {at}: nothing was done");
            tree.undo(held.id);
        }
        assert_eq!(difference(&before, &tree.files()), "", "step {at}");
        tree.redo(held.id);
        assert_eq!(
            difference(&after, &tree.files()),
            "",
            "step {at}: done again"
        );
    }
}

#[test]
fn killed_recovery_is_completed_by_the_next_one() {
    let tree = TestTree::new(TREE);
    let held = tree.hold(SCRIPT);
    assert!(kill(&tree, "commit", 5, None));
    let mut times = 0;
    while kill(&tree, "recover", 0, None) {
        times += 1;
        assert!(times < 10);
    }
    drop(tree.store());
    tree.undo(held.id);
}

/// After a power failure, a journal without a sync is empty although the first file has already
/// changed.
#[test]
fn journal_is_synced_before_the_first_operation() {
    for (unsynced, whole) in [("synced", true), ("unsynced", false)] {
        let tree = TestTree::new(TREE);
        let before = tree.files();
        let held = tree.hold(SCRIPT);
        assert!(kill(&tree, "commit", 6, Some(unsynced)));
        let found = tree.store().show(SESSION, held.id);
        let is_damaged = matches!(found, Err(ChangesError::Damaged { .. }));
        let half = is_damaged && !is(&before, &tree.files());
        assert_eq!(half, !whole, "{unsynced}");
    }
}

#[test]
fn failed_commit_is_rolled_back() {
    let count = {
        let tree = TestTree::new(TREE);
        let held = tree.hold(SCRIPT);
        steps(&tree, |store| {
            drop(store.commit(SESSION, held.id).unwrap());
        })
        .len()
    };
    // After the last step but one it is done.
    for at in 0..count - 1 {
        let tree = TestTree::new(TREE);
        let before = tree.files();
        let held = tree.hold(SCRIPT);
        let store = tree.store().with_steps(
            acting_at(move |number, _| {
                if number == at {
                    return Err(rustix::io::Errno::NOSPC.into());
                }
                Ok(())
            }),
            Precautions::default(),
        );
        let error = store.commit(SESSION, held.id).unwrap_err().to_string();
        assert!(error.contains("No space left"), "step {at}: {error}");
        assert_eq!(difference(&before, &tree.files()), "", "step {at}");
        // The same trial can be committed when there is space.
        tree.commit(held.id);
        tree.undo(held.id);
        assert_eq!(difference(&before, &tree.files()), "", "step {at}: undone");
    }
}

/// Changes of another process at one of the steps of a commit. Its files remain afterwards.
fn meddle(
    tree: &TestTree,
    held: ChangesId,
    at: usize,
    care: Precautions,
    theirs: &'static str,
) -> Result<(), ChangesError> {
    let root = tree.root.clone();
    let store = tree.store().with_steps(
        acting_at(move |number, _| {
            if number == at {
                let done = Command::new("bash")
                    .args(["-euc", theirs])
                    .current_dir(&root)
                    .status();
                // Other differences are accepted: the tree may be half changed.
                let _ = done;
            }
            Ok(())
        }),
        care,
    );
    store.commit(SESSION, held).map(drop)
}

/// An editor saves a file, in place or by a rename; one of the files is created by the trial, too.
const SAVES: [&str; 4] = [
    "echo editor >>a",
    "echo editor >.t; mv .t a",
    "echo editor >d/6",
    "mkdir -p d/e; echo editor >d/e/9",
];

#[test]
fn file_saved_by_an_editor_during_a_commit_is_kept() {
    let count = {
        let tree = TestTree::new(TREE);
        let held = tree.hold(SCRIPT);
        steps(&tree, |store| {
            drop(store.commit(SESSION, held.id).unwrap());
        })
        .len()
    };
    for theirs in SAVES {
        for at in 0..count {
            let tree = TestTree::new(TREE);
            let held = tree.hold(SCRIPT);
            let done = meddle(&tree, held.id, at, Precautions::default(), theirs);
            let saved = |dir: &Path| {
                let printed = Command::new("grep")
                    .args(["-rl", "editor", "."])
                    .current_dir(dir)
                    .output()
                    .unwrap();
                !printed.stdout.is_empty()
            };
            assert!(saved(&tree.root), "{theirs} at step {at}: lost ({done:?})");
        }
    }
}

/// Each disabled precaution loses a change.
#[test]
fn each_disabled_precaution_loses_a_change() {
    let careless = |change: fn(&mut Precautions)| {
        let mut care = Precautions::default();
        change(&mut care);
        care
    };
    // Without conflict checks: a file saved during the trial is overwritten.
    let tree = TestTree::new(TREE);
    let held = tree.hold("echo mine >a");
    tree.sh("echo editor >>a");
    let commit = |care| {
        tree.store()
            .with_steps(acting_at(|_, _| Ok(())), care)
            .commit(SESSION, held.id)
    };
    assert!(matches!(
        commit(Precautions::default()),
        Err(ChangesError::Conflict { .. })
    ));
    commit(careless(|care| care.conflicts = false)).unwrap();
    assert_eq!(tree.text("a").as_deref(), Some("mine\n"));

    // Without `NOREPLACE`: a file created during the commit is overwritten.
    for (care, kept) in [
        (Precautions::default(), true),
        (careless(|care| care.no_replace = false), false),
    ] {
        let tree = TestTree::new("echo one >a");
        let held = tree.hold("echo mine >new");
        let done = meddle(&tree, held.id, 3, care, "echo editor >new");
        assert_eq!(
            tree.text("new").as_deref() == Some("editor\n"),
            kept,
            "{done:?}"
        );
    }

    // Without the second check: a file saved between the check and the rename is lost with the file
    // that is swapped out.
    for (care, kept) in [
        (Precautions::default(), true),
        (careless(|care| care.rechecks = false), false),
    ] {
        let tree = TestTree::new("echo one >a");
        let held = tree.hold("echo mine >>a");
        let done = meddle(&tree, held.id, 3, care, "echo editor >>a");
        assert_eq!(tree.text("a").unwrap().contains("editor"), kept, "{done:?}");
    }

    // Without their removal: attributes of the overlay stay on committed files.
    for (care, clean) in [
        (Precautions::default(), true),
        (careless(|care| care.stripped = false), false),
    ] {
        let tree = TestTree::new("echo one >a");
        let held = tree.hold("echo mine >>a");
        tree.store()
            .with_steps(acting_at(|_, _| Ok(())), care)
            .commit(SESSION, held.id)
            .unwrap();
        let marks = crate::support::attributes(&tree.root.join("a"));
        assert_eq!(marks.is_empty(), clean, "{marks:?}");
    }
}

/// A file that was changed at the moment of the mark counts as changed before the trial, because
/// the mark is a completed clock tick.
#[test]
fn change_at_the_moment_of_the_mark_counts_as_earlier() {
    let (mut conflicts, mut rounds) = (0, 0);
    for _ in 0..40 {
        let tree = TestTree::new("");
        let store = tree.store();
        let mut set = store.begin_trial(SESSION, &tree.root).unwrap();
        // This write is usually in the same clock tick as the mark.
        std::fs::write(tree.root.join("a"), "one\n").unwrap();
        set.mark().unwrap();
        let output = crate::support::in_view(&set, "echo two >>a");
        assert!(output.status.success());
        let id = store.hold(set).unwrap().id;
        rounds += 1;
        let care = Precautions {
            before_mark: false,
            ..Precautions::default()
        };
        let careless = tree.store().with_steps(acting_at(|_, _| Ok(())), care);
        conflicts += usize::from(careless.commit(SESSION, id).is_err());
        if conflicts > 0 {
            // The comparison must be `>`; `>=` would be a conflict.
            tree.commit(id);
            break;
        }
        tree.undo(id);
    }
    assert_eq!(conflicts, 1, "never in the same moment, in {rounds} rounds");
}

/// Returns true if the condition is met within a minute.
pub(crate) fn soon(is_so: impl Fn() -> bool) -> bool {
    (0..3000).any(|_| {
        let now = is_so();
        if !now {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        now
    })
}

#[test]
fn trial_of_a_dead_host_is_discarded() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let store = tree.store();
    let mut set = store.begin_trial(SESSION, &tree.root).unwrap();
    set.mark().unwrap();
    assert!(crate::support::in_view(&set, SCRIPT).status.success());
    let (id, upper) = (set.id(), set.upper());
    // While the trial runs, no other process can commit it.
    let error = tree.store().commit(SESSION, id).unwrap_err().to_string();
    assert!(
        error.contains("belong to a command that is still running"),
        "{error}"
    );
    assert!(upper.exists());
    drop(set);
    assert_eq!(difference(&before, &tree.files()), "");
    // A process that another test has forked holds the lock until it executes its program.
    let is_gone = || {
        drop(tree.store());
        !upper.exists()
    };
    assert!(soon(is_gone));
    let error = tree.store().commit(SESSION, id).unwrap_err().to_string();
    assert!(error.contains("discarded"), "{error}");
}

/// A commit that was killed and cannot be completed, because its tree is missing.
#[test]
fn unfinishable_commit_blocks_no_other_change_set() {
    let tree = TestTree::new(TREE);
    let held = tree.hold(SCRIPT);
    let journaled = {
        let tree = TestTree::new(TREE);
        let held = tree.hold(SCRIPT);
        let steps = steps(&tree, |store| {
            drop(store.commit(SESSION, held.id).unwrap());
        });
        let is_half = |step: &Step| *step == Step::Operated(2);
        steps.iter().position(is_half).unwrap()
    };
    assert!(kill(&tree, "commit", journaled, None));
    let away = tree.root.with_file_name("away");
    std::fs::rename(&tree.root, &away).unwrap();
    std::fs::create_dir(&tree.root).unwrap();

    // Other change sets work, and the error is reported only for this one.
    let other = tree.hold("echo other >o");
    tree.commit(other.id);
    let store = tree.store();
    let first = || store.list(SESSION).unwrap().swap_remove(0).changes;
    assert!(soon(|| first().state == ChangesState::Interrupted));
    let first = first();
    assert_eq!(first.undo, Undoable::No);
    assert_eq!(first.counts, held.counts);
    for done in [
        store.commit(SESSION, held.id),
        store.discard(SESSION, held.id),
        store.undo(SESSION, held.id, &[], false),
    ] {
        assert!(
            matches!(done, Err(ChangesError::Replaced { .. })),
            "{done:?}"
        );
    }

    // Once the tree exists again, the commit is completed.
    std::fs::remove_dir_all(&tree.root).unwrap();
    std::fs::rename(&away, &tree.root).unwrap();
    let again = store.commit(SESSION, held.id);
    assert!(
        matches!(again, Err(ChangesError::State { .. })),
        "{again:?}"
    );
    assert_eq!(
        store.show(SESSION, held.id).unwrap().state,
        ChangesState::Done
    );
    assert_eq!(tree.text("n/7").as_deref(), Some("7\n"));
    assert!(!tree.root.join("b").exists());
    tree.undo(held.id);
    assert!(!tree.root.join("n").exists());
    assert_eq!(tree.text("b").as_deref(), Some("two\n"));
}

/// Simulates a full disk in a namespace with a small file system for the tree and the store.
#[test]
fn commit_on_a_full_disk_changes_nothing() {
    if let Ok(dir) = std::env::var("CHANGES_TEST_FULL") {
        return full(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=4m tmpfs "$1" && exec "$2" --exact crash::commit_on_a_full_disk_changes_nothing --nocapture"#;
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", script, "sh"])
        .arg(dir.path())
        .arg(std::env::current_exe().unwrap())
        .env("CHANGES_TEST_FULL", dir.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{errors}");
}

fn full(dir: &Path) {
    let tree = TestTree::within(dir, TREE);
    let before = tree.files();
    // Many files, so that the journal is large.
    let held = tree.hold("rm b; for n in $(seq 300); do echo $n >f$n; done; dd if=/dev/zero of=big bs=64k count=8 status=none");
    // No space is left for a journal.
    let fill = Command::new("dd")
        .args(["if=/dev/zero", "bs=4k", "status=none"])
        .arg(format!("of={}", dir.join("fill").display()))
        .status()
        .unwrap();
    assert!(!fill.success(), "the disk is not full");
    let error = tree
        .store()
        .commit(SESSION, held.id)
        .unwrap_err()
        .to_string();
    assert!(error.contains("No space left"), "{error}");
    assert_eq!(difference(&before, &tree.files()), "");
    // With space again, no data was lost.
    std::fs::remove_file(dir.join("fill")).unwrap();
    tree.commit(held.id);
    assert_eq!(tree.text("f300").as_deref(), Some("300\n"));
    tree.undo(held.id);
    assert_eq!(difference(&before, &tree.files()), "");
}
