//! Records the workspaces of sandboxed calls in the state directory. A symbolic link that a
//! sandboxed call creates must not determine which directories a later call may write.

use agent_bash_core::sandbox::Plan;
use agent_bash_os::PrivateDir;
use agent_bash_sandbox::{HostFacts, KnownWorkspace, ResolvedSandbox};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file with one JSON line for each workspace. If several lines have the same start directory,
/// the last line is valid.
const FILE_NAME: &str = "workspaces.jsonl";

/// The number of lines and bytes that a rewrite of the file keeps.
const MAX_REWRITTEN_LINES: usize = 200;
const MAX_REWRITTEN_BYTES: usize = 2 << 20;
/// A file with more lines or bytes is rewritten. No more bytes are read.
const MAX_LINES: usize = 400;
const MAX_BYTES: usize = 4 << 20;

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct WorkspaceLine {
    start: PathBuf,
    root: PathBuf,
    device: u64,
    inode: u64,
    is_repository: bool,
    writable: Vec<PathBuf>,
    /// True if no host was started in the start directory: a call has replaced it by a link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_replaced: bool,
}

/// The recorded workspaces, by start directory, and the number of lines and bytes in the file.
#[derive(Debug, Default)]
pub(crate) struct Workspaces {
    lines: BTreeMap<PathBuf, WorkspaceLine>,
    count: usize,
    bytes: usize,
}

impl Workspaces {
    /// Reads the recorded workspaces. A missing file counts as an empty file.
    pub(crate) fn read(state: &Path) -> Self {
        let mut bytes = Vec::new();
        let file = PrivateDir::open(state, &[]).and_then(|directory| directory.read(FILE_NAME));
        let read = file.and_then(|file| file.take(MAX_BYTES as u64).read_to_end(&mut bytes));
        let mut all = Self::default();
        if read.is_ok() {
            all.bytes = bytes.len();
            // The last line may end within a letter.
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                all.count += 1;
                if let Ok(line) = serde_json::from_slice::<WorkspaceLine>(line) {
                    all.lines.insert(line.start.clone(), line);
                }
            }
        }
        all
    }

    /// Returns the workspaces. A root that another directory has replaced since is not marked as a
    /// repository.
    pub(crate) fn known(&self) -> Vec<KnownWorkspace> {
        let known = |line: &WorkspaceLine| KnownWorkspace {
            start: line.start.clone(),
            root: line.root.clone(),
            is_repository: line.is_repository
                && identity(&line.root) == Some((line.device, line.inode)),
            writable: line.writable.clone(),
        };
        self.lines.values().map(known).collect()
    }

    /// Records a workspace before a call can write in it. If this fails, the call runs
    /// nevertheless, because the record protects only later calls.
    pub(crate) fn remember(
        &mut self,
        state: &Path,
        facts: &HostFacts,
        ResolvedSandbox { plan, workspace }: &ResolvedSandbox,
    ) {
        let Some(root) = workspace else {
            return;
        };
        let start = fs::canonicalize(&facts.directory);
        let workspace = KnownWorkspace {
            start: start.unwrap_or_else(|_| root.clone()),
            root: root.clone(),
            is_repository: root.join(".git").symlink_metadata().is_ok(),
            writable: plan.writable.clone(),
        };
        self.add_or_warn(state, workspace, false);
    }

    /// Records directories that a call has replaced by symbolic links. They are recorded as start
    /// directories, because a later call with such a path starts in the link's target.
    pub(crate) fn record_replaced(&mut self, state: &Path, plan: &Plan, replaced: Vec<PathBuf>) {
        for start in replaced {
            let root = plan.writable.iter().find(|it| start.starts_with(it));
            let Some(root) = root.cloned() else {
                continue;
            };
            let workspace = KnownWorkspace {
                start,
                root,
                is_repository: false,
                writable: plan.writable.clone(),
            };
            self.add_or_warn(state, workspace, true);
        }
    }

    fn add_or_warn(&mut self, state: &Path, workspace: KnownWorkspace, is_replaced: bool) {
        if let Err(error) = self.add(state, workspace, is_replaced) {
            tracing::warn!(%error, "the workspace of a sandboxed call cannot be remembered");
        }
    }

    /// Appends a workspace to the file, unless the file has it already.
    fn add(
        &mut self,
        state: &Path,
        workspace: KnownWorkspace,
        is_replaced: bool,
    ) -> io::Result<()> {
        let Some((device, inode)) = identity(&workspace.root) else {
            return Ok(());
        };
        let mut line = WorkspaceLine {
            start: workspace.start,
            root: workspace.root,
            device,
            inode,
            is_repository: workspace.is_repository,
            writable: workspace.writable,
            is_replaced,
        };
        if let Some(known) = self.lines.get(&line.start) {
            let is_same = (known.device, known.inode) == (line.device, line.inode);
            // A root remains a repository if a call removes its `.git`.
            line.is_repository |= known.is_repository && is_same && known.root == line.root;
            let more = known
                .writable
                .iter()
                .filter(|it| !line.writable.contains(it));
            let more: Vec<PathBuf> = more.cloned().collect();
            line.writable.extend(more);
            line.writable.sort();
            line.is_replaced &= known.is_replaced;
            if *known == line {
                return Ok(());
            }
        }
        let directory = PrivateDir::create(state, &[])?;
        let text = format!("{}\n", serde_json::to_string(&line)?);
        self.lines.insert(line.start.clone(), line);
        self.count += 1;
        self.bytes += text.len();
        if self.count > MAX_LINES || self.bytes > MAX_BYTES {
            return self.rewrite(&directory);
        }
        let mut file = match directory.create_new(FILE_NAME) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                directory.write(FILE_NAME, true)?
            }
            created => created?,
        };
        file.write_all(text.as_bytes())
    }

    /// Rewrites the file without workspaces that no longer exist. Replaced directories come last,
    /// since a call can replace any number.
    fn rewrite(&mut self, directory: &PrivateDir) -> io::Result<()> {
        let mut existing: Vec<&WorkspaceLine> = self.lines.values().collect();
        existing.retain(|line| line.root.is_dir());
        existing.sort_by_key(|line| line.is_replaced);
        let mut text = String::new();
        for line in existing.into_iter().take(MAX_REWRITTEN_LINES) {
            let line = serde_json::to_string(line)?;
            if text.len() + line.len() < MAX_REWRITTEN_BYTES {
                text.push_str(&line);
                text.push('\n');
            }
        }
        directory.replace(FILE_NAME, text.as_bytes())?;
        self.count = text.lines().count();
        self.bytes = text.len();
        Ok(())
    }
}

/// Returns the device and inode of a path.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspace_is_added_once_and_remains_a_repository_until_it_is_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let (state, root) = (temp.path().join("state"), temp.path().join("root"));
        fs::create_dir(&root).unwrap();
        let workspace = |is_repository| KnownWorkspace {
            start: root.join("app"),
            root: root.clone(),
            is_repository,
            writable: vec![root.clone()],
        };
        for is_repository in [true, true, false] {
            let mut all = Workspaces::read(&state);
            all.add(&state, workspace(is_repository), false).unwrap();
        }
        let read = Workspaces::read(&state);
        assert_eq!(read.count, 1);
        assert_eq!(read.known(), [workspace(true)]);
        fs::rename(&root, temp.path().join("old")).unwrap();
        fs::create_dir(&root).unwrap();
        assert_eq!(read.known(), [workspace(false)]);
    }

    #[test]
    fn file_is_rewritten_when_it_has_too_many_lines() {
        let temp = tempfile::tempdir().unwrap();
        let mut all = Workspaces::read(temp.path());
        for number in 0..=MAX_LINES {
            let workspace = KnownWorkspace {
                start: temp.path().join(number.to_string()),
                root: temp.path().to_owned(),
                is_repository: false,
                writable: Vec::new(),
            };
            all.add(temp.path(), workspace, false).unwrap();
        }
        assert_eq!(
            Workspaces::read(temp.path()).lines.len(),
            MAX_REWRITTEN_LINES
        );
    }

    /// A call can replace any number of directories by links, whose paths can be long.
    #[test]
    fn workspaces_outlast_directories_that_calls_have_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path().join("state");
        let workspace = |start: PathBuf| KnownWorkspace {
            start,
            root: temp.path().to_owned(),
            is_repository: false,
            writable: Vec::new(),
        };
        let own = temp.path().join("z");
        let mut all = Workspaces::read(&state);
        all.add(&state, workspace(own.clone()), false).unwrap();
        // In the file, this letter has six bytes.
        let long = "\u{1}".repeat(2000);
        for number in 0..=MAX_LINES {
            let start = temp.path().join(format!("{number:03}{long}"));
            all.add(&state, workspace(start), true).unwrap();
        }
        let file = state.join(FILE_NAME);
        assert!(fs::metadata(&file).unwrap().len() <= MAX_BYTES as u64);
        assert!(Workspaces::read(&state).lines.contains_key(&own));
        // A file that is cut within a letter.
        let mut text = fs::read(&file).unwrap();
        text.resize(MAX_BYTES - 1, b' ');
        text.extend("\u{e9}".as_bytes());
        fs::write(&file, text).unwrap();
        assert!(Workspaces::read(&state).lines.contains_key(&own));
    }
}
