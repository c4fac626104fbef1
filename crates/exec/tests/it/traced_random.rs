//! Random scripts that change files, the same scripts each time. The listed changes are the real
//! differences. An undo restores the tree before the call, and a redo the tree after the call. The
//! scripts make no links to other directories.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{run, spec};
use crate::test_workspace::TestWorkspace;
use agent_bash_core::changes::{Changes, ChangesLevel, TraceState, Undoable};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

const FILES: &[(&str, &str)] = &[
    ("a", "a\n"),
    ("b", "b\n"),
    ("d/f", "f\n"),
    ("d/s/h", "h\n"),
    ("e/o", "o\n"),
];

const PATHS: [&str; 11] = [
    "a", "b", "d", "e", "m", "d/f", "m/f", "e/f", "d/s", "m/s", "m/s/h",
];

/// `P` and `Q` are paths, `N` is a number.
const STEPS: [&str; 14] = [
    "echo N >>P",
    "echo N >P",
    "rm -rf P",
    "mv P Q",
    "mv P Q",
    "mv -T P Q",
    "mkdir -p P",
    "ln P Q",
    "cp -al P Q",
    "chmod N00 P; chmod u+rwX P",
    "touch -d '200N-02-03' P",
    "echo N >P.t; mv P.t P",
    "[ ! -d P ] && { mv P P.t; echo N >P; rm P.t; }",
    "mkdir P && echo N >P/f",
];

const SEEDS: u64 = 150;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

fn script(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut lines = Vec::new();
    for number in 0..2 + random.below(10) {
        let step = STEPS[random.below(STEPS.len())];
        let step = step.replace('P', PATHS[random.below(PATHS.len())]);
        let step = step.replace('Q', PATHS[random.below(PATHS.len())]);
        lines.push(step.replace('N', &(number + 1).to_string()));
    }
    format!("exec 2>/dev/null; {}; true", lines.join("; "))
}

/// The compared properties of a file: type, permissions, time, and content.
type Tree = BTreeMap<String, (u32, (i64, i64), Vec<u8>)>;

fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let stat = fs::symlink_metadata(&path).unwrap();
        assert!(!stat.is_symlink() && !stat.file_type().is_fifo());
        if stat.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            waiting.extend(entries.map(|entry| entry.unwrap().path()));
        }
        let content = fs::read(&path).unwrap_or_default();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap();
        let time = (stat.mtime(), stat.mtime_nsec());
        found.insert(name.to_owned(), (stat.mode(), time, content));
    }
    found
}

fn difference(one: &Tree, other: &Tree) -> String {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let names = names.into_iter();
    let differs = names.filter(|name| one.get(*name) != other.get(*name));
    let printed =
        differs.map(|name| format!("{name}: {:?} {:?}\n", one.get(name), other.get(name)));
    printed.collect()
}

/// Returns the files that exist on one side only, or differ in content.
fn changed(before: &Tree, after: &Tree) -> BTreeSet<String> {
    const DIRECTORY: u32 = 0o040_000;
    let is_file = |it: &&(u32, (i64, i64), Vec<u8>)| it.0 & 0o170_000 != DIRECTORY;
    let content = |tree: &Tree, name: &str| tree.get(name).filter(is_file).map(|it| it.2.clone());
    let names = before.keys().chain(after.keys());
    let differs = names.filter(|name| content(before, name) != content(after, name));
    differs.cloned().collect()
}

fn listed(changes: &Changes) -> BTreeSet<String> {
    let files = changes.files.iter();
    let names = files.flat_map(|file| [Some(&file.name.path), file.from.as_ref()]);
    names.flatten().cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn random_changes_of_a_call_are_listed_and_undone() {
    let mut whole = 0;
    for seed in 1..=SEEDS {
        let workspace = TestWorkspace::with(FILES);
        let store = workspace.store();
        let set = store.begin_trace("s", &workspace.root, ChangesLevel::Undo);
        let set = set.unwrap();
        let script = script(seed);
        let before = tree(&workspace.root);
        let traced = Some(set.dir().to_owned());
        let spec = spec(&script).cwd(workspace.root.clone()).trace(traced);
        let ran = run(&spec).await;
        assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{script}");
        let after = tree(&workspace.root);
        let changes = store.finish(set).unwrap();
        let when = |what: &str| format!("seed {seed}: {script}: {what}: {changes:#?}");
        assert!(changes.exact, "{}", when("exact"));
        let missing: Vec<String> = changed(&before, &after)
            .difference(&listed(&changes))
            .cloned()
            .collect();
        assert!(missing.is_empty(), "{missing:?} {}", when("listed"));
        if changes.undo == Undoable::No {
            assert_eq!(changes.counts.total(), 0, "{}", when("nothing"));
            whole += 1;
            continue;
        }
        if changes.undo != Undoable::Whole {
            assert!(!changes.not_restorable.is_empty(), "{}", when("said"));
            continue;
        }
        whole += 1;
        if difference(&before, &after).is_empty() || changes.counts.total() == 0 {
            continue;
        }
        let undone = store.undo("s", changes.id, &[], false);
        assert!(undone.is_ok(), "{undone:?} {}", when("undone"));
        assert_eq!(
            difference(&before, &tree(&workspace.root)),
            "",
            "{}",
            when("undone")
        );
        let redone = store.redo("s", changes.id);
        assert!(redone.is_ok(), "{redone:?} {}", when("redone"));
        assert_eq!(
            difference(&after, &tree(&workspace.root)),
            "",
            "{}",
            when("redone")
        );
    }
    assert!(whole * 10 > SEEDS * 9, "{whole}");
}
