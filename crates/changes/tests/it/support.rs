//! A tree, a store beside it, a command in a view, and everything there is to know of a file.

use agent_bash_changes::{ChangeSet, Recorder, Store, Touch};
use agent_bash_core::changes::{Changes, ChangesId, ChangesLevel};
use rustix::fs::{lgetxattr, llistxattr};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

pub(crate) const SESSION: &str = "test";

/// A place with a tree and a store.
pub(crate) struct TestTree {
    _dir: tempfile::TempDir,
    _far: Option<tempfile::TempDir>,
    pub(crate) root: PathBuf,
    pub(crate) state: PathBuf,
}

impl TestTree {
    /// Where a shell has made the tree, in it.
    pub(crate) fn new(script: &str) -> Self {
        Self::within(&std::env::temp_dir(), script)
    }

    /// The same in that directory.
    pub(crate) fn within(parent: &Path, script: &str) -> Self {
        let dir = tempfile::tempdir_in(parent).unwrap();
        let root = dir.path().canonicalize().unwrap().join("root");
        let state = root.with_file_name("state");
        fs::create_dir(&root).unwrap();
        let tree = Self {
            _dir: dir,
            _far: None,
            root,
            state,
        };
        tree.sh(script);
        tree
    }

    /// The same, with a store on another file system.
    pub(crate) fn far(script: &str) -> Self {
        let near = Self::new("mkdir -m 700 .agent-bash-changes");
        let shared = tempfile::tempdir_in("/dev/shm").unwrap();
        let tree = Self {
            state: shared.path().join("state"),
            _far: Some(shared),
            ..near
        };
        tree.sh(script);
        tree
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.state).unwrap()
    }

    /// Makes the next step of the sweep due, which then begins anew.
    pub(crate) fn make_sweep_due(&self) {
        let removed = fs::remove_file(self.state.join("changes/.sweep"));
        removed.unwrap();
    }

    /// Makes a change set look as old as a time long ago.
    pub(crate) fn age(&self, id: u64) {
        let lock = self.state.join(format!("changes/{SESSION}/{id}/lock"));
        let lock = fs::File::options().write(true).open(lock).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        lock.set_modified(old).unwrap();
    }

    /// The numbers of the stored change sets.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let names = fs::read_dir(self.state.join("changes").join(SESSION)).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut ids: Vec<u64> = names.filter_map(|name| name.parse().ok()).collect();
        ids.sort_unstable();
        ids
    }

    /// Runs a script in the tree itself.
    pub(crate) fn sh(&self, script: &str) {
        let output = Command::new("bash")
            .args(["-euc", script])
            .current_dir(&self.root)
            .output()
            .unwrap();
        succeeded(script, &output);
    }

    /// Runs a script in a trial, and holds it.
    pub(crate) fn hold(&self, script: &str) -> Changes {
        self.store().hold(self.tried(script)).unwrap()
    }

    /// Runs a script in a trial, and commits it, even if it has changed nothing but times.
    pub(crate) fn make(&self, script: &str) -> ChangesId {
        let held = self.store().hold_to_commit(self.tried(script)).unwrap();
        self.commit(held.id);
        held.id
    }

    fn tried(&self, script: &str) -> ChangeSet {
        let store = self.store();
        let mut set = store.begin_trial(SESSION, &self.root).unwrap();
        set.mark().unwrap();
        succeeded(script, &in_view(&set, script));
        set
    }

    pub(crate) fn commit(&self, id: ChangesId) -> Changes {
        self.store().commit(SESSION, id).unwrap()
    }

    pub(crate) fn undo(&self, id: ChangesId) -> Changes {
        self.store().undo(SESSION, id, &[], false).unwrap()
    }

    pub(crate) fn redo(&self, id: ChangesId) -> Changes {
        self.store().redo(SESSION, id).unwrap()
    }

    pub(crate) fn files(&self) -> Tree {
        tree(&self.root)
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }
}

/// Records a call. Each step has the paths that are recorded before its script, as in
/// `+a +b: mv a b`: `+` stands for a change of the name, `~` of the content, `@` of the attributes.
pub(crate) fn record(tree: &TestTree, steps: &[&str], level: ChangesLevel) -> ChangeSet {
    let set = tree
        .store()
        .begin_trace(SESSION, &tree.root, level)
        .unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    for step in steps {
        let (touched, script) = step.split_once(": ").unwrap();
        for path in touched.split(' ') {
            let (touch, path) = path.split_at(1);
            let touch = match touch {
                "+" => Touch::Name,
                "~" => Touch::Content,
                _ => Touch::Attributes,
            };
            recorder.before(&tree.root.join(path), touch).unwrap();
        }
        tree.sh(script);
    }
    recorder.finish().unwrap();
    set
}

/// Records a call with everything that an undo needs.
pub(crate) fn traced(tree: &TestTree, steps: &[&str]) -> Changes {
    let set = record(tree, steps, ChangesLevel::Undo);
    tree.store().finish(set).unwrap()
}

fn succeeded(script: &str, output: &Output) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{stderr}");
}

/// Runs a script in the view of a set.
pub(crate) fn in_view(set: &ChangeSet, script: &str) -> Output {
    const MOUNT: &str = r#"mount -t overlay overlay \
        -o "lowerdir=$1,upperdir=$2,workdir=$3,userxattr,volatile" "$1" && cd "$1" && exec bash -euc "$4""#;
    let view = set.overlay();
    Command::new("unshare")
        .args(["-Urm", "sh", "-c", MOUNT, "sh"])
        .args([&view.root, &view.upper, &view.work])
        .arg(script)
        .output()
        .unwrap()
}

/// Everything that a tree is, by path.
pub(crate) type Tree = BTreeMap<OsString, File>;

/// Everything that a file is, but for its ctime.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) mtime: (i64, i64),
    pub(crate) inode: u64,
    pub(crate) links: u64,
    pub(crate) size: u64,
    pub(crate) device: u64,
    pub(crate) target: Option<PathBuf>,
    pub(crate) attributes: Vec<(OsString, Vec<u8>)>,
    pub(crate) digest: Option<u64>,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:o} {:?} {:?} #{} ×{} {}B {:?} {:?}",
            self.mode,
            self.owner,
            self.mtime,
            self.inode,
            self.links,
            self.size,
            self.target,
            self.attributes
        )
    }
}

pub(crate) fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(path) = waiting.pop() {
        let whole = root.join(&path);
        let stat = fs::symlink_metadata(&whole).unwrap();
        if let (true, Ok(entries)) = (stat.is_dir(), fs::read_dir(&whole)) {
            let names = entries.map(|entry| entry.unwrap().file_name());
            // Where a store that is elsewhere has its files.
            let names = names.filter(|name| name != ".agent-bash-changes");
            waiting.extend(names.map(|name| path.join(name)));
        }
        found.insert(path.into_os_string(), file(&whole, &stat));
    }
    found
}

fn file(path: &Path, stat: &fs::Metadata) -> File {
    use std::hash::{DefaultHasher, Hasher};
    let digest = (stat.is_file() && stat.len() < 1 << 24).then(|| {
        let mut hash = DefaultHasher::new();
        hash.write(&fs::read(path).unwrap());
        hash.finish()
    });
    File {
        mode: stat.mode(),
        owner: (stat.uid(), stat.gid()),
        mtime: (stat.mtime(), stat.mtime_nsec()),
        inode: stat.ino(),
        links: stat.nlink(),
        size: if stat.is_dir() { 0 } else { stat.len() },
        device: stat.rdev(),
        target: fs::read_link(path).ok(),
        attributes: attributes(path),
        digest,
    }
}

pub(crate) fn attributes(path: &Path) -> Vec<(OsString, Vec<u8>)> {
    let mut names = vec![0; 4096];
    let length = llistxattr(path, names.as_mut_slice()).unwrap_or(0);
    let names = names[..length].split(|byte| *byte == 0);
    let mut found: Vec<_> = names
        .filter(|name| !name.is_empty())
        .map(|name| {
            let mut value = vec![0; 4096];
            let name = OsString::from_vec(name.to_vec());
            let length = lgetxattr(path, name.as_bytes(), value.as_mut_slice()).unwrap();
            value.truncate(length);
            (name, value)
        })
        .collect();
    found.sort();
    found
}

/// Says what differs between two trees, in words; nothing if nothing does.
pub(crate) fn difference(want: &Tree, got: &Tree) -> String {
    let mut printed = String::new();
    let paths: std::collections::BTreeSet<_> = want.keys().chain(got.keys()).collect();
    for path in paths {
        let (want, got) = (want.get(path), got.get(path));
        if want != got {
            let path = path.display();
            let _ = write!(printed, "{path}:\n   want {want:?}\n   got  {got:?}\n");
        }
    }
    printed
}

/// The same without what a commit cannot keep: inodes and links of what it puts.
pub(crate) fn without_inodes(tree: &Tree) -> Tree {
    let plain = |file: &File| File {
        inode: 0,
        links: 0,
        ..file.clone()
    };
    tree.iter()
        .map(|(path, file)| (path.clone(), plain(file)))
        .collect()
}
