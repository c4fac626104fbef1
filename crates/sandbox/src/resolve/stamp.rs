//! Whether a plan that was made a while ago still says what it was made to say.

use agent_bash_core::sandbox::Plan;
use std::convert::Infallible;
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
    lists: Vec<Option<Found>>,
}

/// Which file a path leads to, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
    /// It is a symbolic link.
    pub is_link: bool,
}

impl Identity {
    /// As it is now; `None` if nothing is there.
    pub fn of(path: &Path) -> Option<Self> {
        found(path).map(|(identity, _)| identity)
    }

    /// As the kernel knows it from its caches, so that no file system can hold up whoever asks.
    ///
    /// # Errors
    /// One would have to be asked, or the system cannot tell.
    pub fn known(path: &Path) -> Result<Option<Self>, Uncached> {
        Ok(known(path)?.map(|(identity, _)| identity))
    }
}

/// A file system would have to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uncached;

/// What is there, and when it was changed last.
type Found = (Identity, Time);

/// Seconds and nanoseconds.
type Time = (i64, i64);

fn found(path: &Path) -> Option<Found> {
    let it = fs::symlink_metadata(path).ok()?;
    let identity = Identity {
        device: it.dev(),
        inode: it.ino(),
        is_link: it.is_symlink(),
    };
    Some((identity, (it.mtime(), it.mtime_nsec())))
}

/// As [`found`], without asking a file system.
#[cfg(target_os = "linux")]
fn known(path: &Path) -> Result<Option<Found>, Uncached> {
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags};
    use rustix::io::Errno;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED) {
        Ok(opened) => opened,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        // Older kernels, too.
        Err(_) => return Err(Uncached),
    };
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let it = rustix::fs::statx(&opened, "", flags, StatxFlags::BASIC_STATS);
    let it = it.map_err(|_| Uncached)?;
    let identity = Identity {
        device: rustix::fs::makedev(it.stx_dev_major, it.stx_dev_minor),
        inode: it.stx_ino,
        is_link: FileType::from_raw_mode(it.stx_mode.into()) == FileType::Symlink,
    };
    let time = (it.stx_mtime.tv_sec, i64::from(it.stx_mtime.tv_nsec));
    Ok(Some((identity, time)))
}

#[cfg(not(target_os = "linux"))]
fn known(_: &Path) -> Result<Option<Found>, Uncached> {
    Err(Uncached)
}

impl Stamp {
    /// As it is now.
    pub fn of(plan: &Plan) -> Self {
        let Ok(stamp) = Self::by(plan, |path| Ok::<_, Infallible>(found(path)));
        stamp
    }

    /// As the kernel knows it from its caches.
    ///
    /// # Errors
    /// As for [`Identity::known`].
    pub fn known(plan: &Plan) -> Result<Self, Uncached> {
        Self::by(plan, known)
    }

    fn by<E>(plan: &Plan, look: impl Fn(&Path) -> Result<Option<Found>, E>) -> Result<Self, E> {
        let identity = |path: &PathBuf| {
            let found = look(path)?;
            Ok((path.clone(), found.map(|(identity, _)| identity)))
        };
        let repositories = plan.protected.iter().filter(|path| path.ends_with("hooks"));
        let lists = repositories.filter_map(|hooks| hooks.parent());
        let lists = lists.flat_map(|git| LISTS.map(|name| git.join(name)));
        Ok(Self {
            protected: plan
                .protected
                .iter()
                .map(identity)
                .collect::<Result<_, E>>()?,
            lists: lists.map(|path| look(&path)).collect::<Result<_, E>>()?,
        })
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

    /// Needs Linux 5.12, as the caches cannot be asked before.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_looked_at_is_known_and_what_was_not_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let absent = dir.path().join("absent");
        assert_eq!(Identity::known(&absent), Err(Uncached));
        assert_eq!(Identity::of(&absent), None);
        assert_eq!(Identity::known(&absent), Ok(None));
        for (name, is_link) in [("file", false), ("link", true)] {
            let path = dir.path().join(name);
            if is_link {
                std::os::unix::fs::symlink("nowhere", &path).unwrap();
            } else {
                fs::write(&path, "").unwrap();
            }
            let found = Identity::of(&path);
            assert_eq!(found.map(|it| it.is_link), Some(is_link));
            assert_eq!(Identity::known(&path), Ok(found));
            assert_eq!(known(&path), Ok(super::found(&path)));
        }
    }
}
