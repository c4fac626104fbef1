//! Whether a plan that was made a while ago still says what it was made to say.

use agent_bash_core::sandbox::Plan;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where repositories list what has hooks and configuration of its own.
const LISTS: [&str; 2] = ["worktrees", "modules"];

/// Which files the protected paths of a plan lead to. What a mount keeps is the file that it was made on: if somebody
/// outside of the box puts another one in its place, the mount is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    protected: Vec<(PathBuf, Option<Identity>)>,
    lists: Vec<Option<(Identity, Time)>>,
}

/// Which file a path leads to, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// As it is now; `None` if nothing is there.
    pub fn of(path: &Path) -> Option<Self> {
        found(path).map(|(identity, _)| identity)
    }
}

fn found(path: &Path) -> Option<(Identity, Time)> {
    let it = fs::symlink_metadata(path).ok()?;
    let identity = Identity {
        device: it.dev(),
        inode: it.ino(),
    };
    Some((identity, (it.mtime(), it.mtime_nsec())))
}

/// Seconds and nanoseconds of the last change.
type Time = (i64, i64);

impl Stamp {
    /// As it is now.
    pub fn of(plan: &Plan) -> Self {
        let protected = plan.protected.iter();
        let repositories = plan.protected.iter().filter(|path| path.ends_with("hooks"));
        let lists = repositories.filter_map(|hooks| hooks.parent());
        let lists = lists.flat_map(|git| LISTS.map(|name| git.join(name)));
        Self {
            protected: protected
                .map(|path| (path.clone(), Identity::of(path)))
                .collect(),
            lists: lists.map(|path| found(&path)).collect(),
        }
    }

    /// The protected paths, and what they lead to, if anything.
    pub fn protected(&self) -> impl Iterator<Item = (&Path, Option<Identity>)> {
        let protected = self.protected.iter();
        protected.map(|(path, found)| (path.as_path(), *found))
    }

    /// The protected paths that lead to something else than at the time of `earlier`.
    pub fn replaced_since(&self, earlier: &Self) -> impl Iterator<Item = &Path> {
        let is_new = |one: &&(PathBuf, Option<Identity>)| !earlier.protected.contains(one);
        self.protected
            .iter()
            .filter(is_new)
            .map(|(path, _)| path.as_path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::{Level, Network, Tier};

    #[test]
    fn what_is_replaced_and_what_gets_a_repository_of_its_own_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("hooks")).unwrap();
        fs::write(at("config"), "a").unwrap();
        let plan = Plan {
            level: Level::WorkspaceWrite,
            network: Network::Off,
            tier: Tier::Full,
            writable: vec![dir.path().to_owned()],
            hidden: Vec::new(),
            protected: ["hooks", "config", ".vscode"].map(at).to_vec(),
            devices: Vec::new(),
        };
        let first = Stamp::of(&plan);
        let replaced = |first: &Stamp| -> Vec<PathBuf> {
            let now = Stamp::of(&plan);
            now.replaced_since(first).map(Path::to_owned).collect()
        };
        // What is in a file is the mount's business.
        fs::write(at("config"), "b").unwrap();
        assert_eq!(Stamp::of(&plan), first);
        fs::write(at("new"), "c").unwrap();
        fs::rename(at("new"), at("config")).unwrap();
        fs::create_dir(at(".vscode")).unwrap();
        assert_eq!(replaced(&first), [at("config"), at(".vscode")]);
        let second = Stamp::of(&plan);
        fs::create_dir_all(at("worktrees/side")).unwrap();
        assert_ne!(Stamp::of(&plan), second);
        assert_eq!(replaced(&second), Vec::<PathBuf>::new());
    }
}
