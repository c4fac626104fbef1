//! Checks whether an earlier plan is still valid.

use super::scan::stored_at;
use agent_bash_core::sandbox::Plan;
#[cfg(target_os = "linux")]
use agent_bash_os::open_cached;
#[cfg(target_os = "linux")]
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Directories in which repositories list worktrees and submodules.
const LIST_DIRECTORIES: [&str; 2] = ["worktrees", "modules"];

/// The files at the protected paths of a plan. A mount protects the file on which it was made: if a
/// process outside the sandbox replaces the file, the mount is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStamp {
    protected: Vec<(PathBuf, Option<PathIdentity>)>,
    /// The directories that list worktrees and submodules.
    lists: Vec<Option<IdentityAndTime>>,
    /// The stored files of change sets in the writable directories. Only a plan that was made when
    /// they existed protects them.
    stored: Vec<Option<PathIdentity>>,
}

/// The identity of the file at a path; links are not followed.
#[derive(Debug, Clone, Copy)]
pub struct PathIdentity {
    device: u64,
    inode: u64,
    /// When the file was created, in seconds and nanoseconds; `None` if the file system does not
    /// tell. The inode of a removed file may be given to a new one.
    born: Option<Time>,
    /// True for a symbolic link.
    pub is_link: bool,
    /// True for a file with further hard links, by which a call may be able to write it. Not
    /// compared.
    pub has_further_names: bool,
}

impl PartialEq for PathIdentity {
    fn eq(&self, other: &Self) -> bool {
        // A network file system may tell the creation only sometimes.
        let born = self.born.zip(other.born);
        (self.device, self.inode, self.is_link) == (other.device, other.inode, other.is_link)
            && born.is_none_or(|(own, other)| own == other)
    }
}

impl Eq for PathIdentity {}

impl PathIdentity {
    /// Returns the identity of the current file; `None` if the path does not exist.
    pub fn of(path: &Path) -> Option<Self> {
        identify(path).map(|(identity, _)| identity)
    }

    /// Returns the identity from the kernel's caches, so that a hung file system cannot block.
    ///
    /// # Errors
    /// A file system would have to be asked, or the system does not support the lookup.
    pub fn known(path: &Path) -> Result<Option<Self>, NotCached> {
        Ok(identify_from_caches(path)?.map(|(identity, _)| identity))
    }
}

/// A file system would have to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotCached;

/// The identity of a file, and its `ctime`, which programs cannot set. For a directory, it changes
/// with the names in it.
type IdentityAndTime = (PathIdentity, Time);

/// Seconds and nanoseconds.
type Time = (i64, i64);

fn identify(path: &Path) -> Option<IdentityAndTime> {
    let stat = fs::symlink_metadata(path).ok()?;
    let identity = PathIdentity {
        device: stat.dev(),
        inode: stat.ino(),
        born: birth(&stat),
        is_link: stat.is_symlink(),
        has_further_names: !stat.is_dir() && stat.nlink() > 1,
    };
    Some((identity, (stat.ctime(), stat.ctime_nsec())))
}

fn birth(stat: &fs::Metadata) -> Option<Time> {
    let since = stat.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((since.as_secs().cast_signed(), since.subsec_nanos().into()))
}

/// Identifies the file at a path as [`identify`] does, without asking a file system.
#[cfg(target_os = "linux")]
fn identify_from_caches(path: &Path) -> Result<Option<IdentityAndTime>, NotCached> {
    let found = cached_attributes(path, OFlags::NOFOLLOW)?;
    Ok(found.map(|file| (file.identity, file.changed)))
}

#[cfg(not(target_os = "linux"))]
fn identify_from_caches(_: &Path) -> Result<Option<IdentityAndTime>, NotCached> {
    Err(NotCached)
}

/// The cached attributes of a path.
#[cfg(target_os = "linux")]
struct CachedAttributes {
    identity: PathIdentity,
    changed: Time,
}

#[cfg(target_os = "linux")]
fn cached_attributes(path: &Path, flags: OFlags) -> Result<Option<CachedAttributes>, NotCached> {
    use rustix::fs::{AtFlags, FileType, StatxFlags};
    use rustix::io::Errno;
    let opened = match open_cached(path, flags) {
        Ok(opened) => opened,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(_) => return Err(NotCached),
    };
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let fields = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let stat = rustix::fs::statx(&opened, "", flags, fields);
    let stat = stat.map_err(|_| NotCached)?;
    let kind = FileType::from_raw_mode(stat.stx_mode.into());
    let time = |time: rustix::fs::StatxTimestamp| (time.tv_sec, i64::from(time.tv_nsec));
    let is_born = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    Ok(Some(CachedAttributes {
        identity: PathIdentity {
            device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
            born: is_born.then(|| time(stat.stx_btime)),
            is_link: kind == FileType::Symlink,
            has_further_names: kind != FileType::Directory && stat.stx_nlink > 1,
        },
        changed: time(stat.stx_ctime),
    }))
}

/// The parent directories of the protected paths and lists of a plan, and the last change of each.
/// While they are unchanged, a [`PlanStamp`] is unchanged as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentDirectories(Vec<(PathBuf, Option<IdentityAndTime>)>);

impl ParentDirectories {
    /// Directories that changed more recently may change again without a new time, because file
    /// times are rounded.
    pub const SETTLED_AGE: Duration = Duration::from_millis(100);

    /// Returns the value from the kernel's caches.
    ///
    /// # Errors
    /// See [`PathIdentity::known`].
    pub fn known(plan: &Plan) -> Result<Self, NotCached> {
        let parents = plan.protected.iter().filter_map(|path| path.parent());
        let mut all: BTreeSet<PathBuf> = parents.map(Path::to_owned).collect();
        all.extend(list_directories(plan));
        Self::known_paths(all)
    }

    /// Returns the value of files or directories from the kernel's caches.
    ///
    /// # Errors
    /// See [`PathIdentity::known`].
    pub fn known_paths(paths: impl IntoIterator<Item = PathBuf>) -> Result<Self, NotCached> {
        let with_identity = |path: PathBuf| Ok((path.clone(), Self::cached_identity(&path)?));
        let paths = paths.into_iter();
        paths.map(with_identity).collect::<Result<_, _>>().map(Self)
    }

    /// True if the kernel's caches show no change.
    pub fn are_unchanged(&self) -> bool {
        let same = |(path, found): &(PathBuf, _)| {
            Self::cached_identity(path).is_ok_and(|now| now == *found)
        };
        self.0.iter().all(same)
    }

    #[cfg(target_os = "linux")]
    fn cached_identity(path: &Path) -> Result<Option<IdentityAndTime>, NotCached> {
        // The path may contain a link; its target directory counts.
        let found = cached_attributes(path, OFlags::empty())?;
        Ok(found.map(|file| (file.identity, file.changed)))
    }

    #[cfg(not(target_os = "linux"))]
    fn cached_identity(_: &Path) -> Result<Option<IdentityAndTime>, NotCached> {
        Err(NotCached)
    }
}

/// Returns the directories in which the repositories of a plan list worktrees and submodules.
fn list_directories(plan: &Plan) -> impl Iterator<Item = PathBuf> {
    let repositories = plan.protected.iter().filter(|path| path.ends_with("hooks"));
    let repositories = repositories.filter_map(|hooks| hooks.parent());
    repositories.flat_map(|git| {
        // Names of submodules may contain slashes: the directory lists further ones.
        let mut around = git.ancestors().skip(2);
        let is_inner = !git.ends_with(".git") && around.any(|it| it.ends_with("modules"));
        let inner = git.parent().filter(|_| is_inner).map(Path::to_owned);
        let lists = LIST_DIRECTORIES.map(|name| git.join(name));
        lists.into_iter().chain(inner)
    })
}

impl PlanStamp {
    /// Reads the current files.
    pub fn of(plan: &Plan) -> Self {
        let Ok(stamp) = Self::by(plan, |path| Ok::<_, Infallible>(identify(path)));
        stamp
    }

    /// Returns the value from the kernel's caches.
    ///
    /// # Errors
    /// See [`PathIdentity::known`].
    pub fn known(plan: &Plan) -> Result<Self, NotCached> {
        Self::by(plan, identify_from_caches)
    }

    fn by<E>(
        plan: &Plan,
        look: impl Fn(&Path) -> Result<Option<IdentityAndTime>, E>,
    ) -> Result<Self, E> {
        let identity = |path: &PathBuf| {
            let found = look(path)?;
            Ok((path.clone(), found.map(|(identity, _)| identity)))
        };
        Ok(Self {
            protected: plan
                .protected
                .iter()
                .map(identity)
                .collect::<Result<_, E>>()?,
            lists: list_directories(plan)
                .map(|path| look(&path))
                .collect::<Result<_, E>>()?,
            stored: stored_at(&plan.writable, plan.tier)
                .map(|path| Ok(look(&path)?.map(|(identity, _)| identity)))
                .collect::<Result<_, E>>()?,
        })
    }

    /// Returns the protected paths and the files at them.
    pub fn protected(&self) -> impl Iterator<Item = (&Path, Option<PathIdentity>)> {
        let protected = self.protected.iter();
        protected.map(|(path, found)| (path.as_path(), *found))
    }

    /// Returns the protected paths whose file was replaced since `earlier`.
    pub fn replaced_since(&self, earlier: &Self) -> impl Iterator<Item = &Path> {
        let is_new = |file: &&(PathBuf, Option<PathIdentity>)| !earlier.protected.contains(file);
        self.protected
            .iter()
            .filter(is_new)
            .map(|(path, _)| path.as_path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::{Tier, WriteLevel};

    #[test]
    fn stamp_shows_replaced_files_and_new_repositories() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("hooks")).unwrap();
        fs::write(at("config"), "a").unwrap();
        let plan = Plan {
            writable: vec![dir.path().to_owned()],
            protected: ["hooks", "config", ".vscode"].map(at).to_vec(),
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        };
        let first = PlanStamp::of(&plan);
        let replaced = |first: &PlanStamp| -> Vec<PathBuf> {
            let now = PlanStamp::of(&plan);
            now.replaced_since(first).map(Path::to_owned).collect()
        };
        // The mount protects the contents.
        fs::write(at("config"), "b").unwrap();
        assert_eq!(PlanStamp::of(&plan), first);
        fs::write(at("new"), "c").unwrap();
        fs::rename(at("new"), at("config")).unwrap();
        fs::create_dir(at(".vscode")).unwrap();
        assert_eq!(replaced(&first), [at("config"), at(".vscode")]);
        let second = PlanStamp::of(&plan);
        fs::create_dir_all(at("worktrees/side")).unwrap();
        assert_ne!(PlanStamp::of(&plan), second);
        assert_eq!(replaced(&second), Vec::<PathBuf>::new());
        let third = PlanStamp::of(&plan);
        fs::create_dir(at(".agent-bash-changes")).unwrap();
        assert_ne!(PlanStamp::of(&plan), third);
        assert_eq!(replaced(&third), Vec::<PathBuf>::new());
    }

    #[test]
    fn file_with_the_inode_of_another_one_is_not_the_same() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = PathIdentity::of(file.path()).unwrap();
        assert!(found.born.is_some(), "the file system tells no creation");
        let with_birth = |born| PathIdentity { born, ..found };
        assert_ne!(with_birth(Some((1, 2))), found);
        assert_eq!(with_birth(None), found);
        fs::write(file.path(), "changed").unwrap();
        assert_eq!(PathIdentity::of(file.path()), Some(found));
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "times of files are the kernel's, whatever clock is used here"
    )]
    fn stamp_shows_a_submodule_beside_another_with_a_longer_name() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(".git/modules").join(name);
        fs::create_dir_all(at("libs/a/hooks")).unwrap();
        let plan = Plan {
            protected: vec![dir.path().join(".git/hooks"), at("libs/a/hooks")],
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        };
        let first = PlanStamp::of(&plan);
        fs::write(dir.path().join("file"), "x").unwrap();
        fs::write(at("libs/a/HEAD"), "x").unwrap();
        assert_eq!(PlanStamp::of(&plan), first);
        let times = fs::metadata(at("libs")).unwrap().modified().unwrap();
        std::thread::sleep(ParentDirectories::SETTLED_AGE);
        fs::create_dir(at("libs/b")).unwrap();
        // A call can hide the change from the `mtime`.
        let list = fs::File::open(at("libs")).unwrap();
        list.set_modified(times).unwrap();
        assert_ne!(PlanStamp::of(&plan), first);
    }

    /// Needs Linux 5.12, the first version with `RESOLVE_CACHED`.
    #[cfg(target_os = "linux")]
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "times of files are the kernel's, whatever clock is used here"
    )]
    fn parent_directories_are_unchanged_until_an_entry_changes() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for directory in ["git/modules", "git/hooks", "other"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        fs::write(at("git/config"), "a").unwrap();
        symlink("git", at("link")).unwrap();
        let plan = Plan {
            writable: vec![dir.path().to_owned()],
            protected: ["link/hooks", "link/config", ".vscode", "gone/config"]
                .map(at)
                .to_vec(),
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        };
        let changes: [&dyn Fn(); 6] = [
            &|| fs::create_dir(at(".vscode")).unwrap(),
            &|| {
                fs::write(at("new"), "c").unwrap();
                fs::rename(at("new"), at("git/config")).unwrap();
            },
            &|| fs::create_dir(at("git/modules/sub")).unwrap(),
            &|| fs::create_dir(at("git/worktrees")).unwrap(),
            &|| fs::create_dir(at("gone")).unwrap(),
            &|| {
                fs::remove_file(at("link")).unwrap();
                symlink("other", at("link")).unwrap();
            },
        ];
        for (index, change) in changes.into_iter().enumerate() {
            // The names are then in the caches, and the link was followed since its creation.
            std::thread::sleep(ParentDirectories::SETTLED_AGE);
            drop(PlanStamp::of(&plan));
            for list in list_directories(&plan).chain([at("gone"), at("link")]) {
                let _ = list.metadata();
            }
            let around = ParentDirectories::known(&plan).unwrap();
            fs::write(at("git/config"), "b").unwrap();
            assert!(around.are_unchanged(), "{index}");
            std::thread::sleep(ParentDirectories::SETTLED_AGE);
            change();
            assert!(!around.are_unchanged(), "{index}");
        }
    }

    /// Needs Linux 5.12, the first version with `RESOLVE_CACHED`.
    #[cfg(target_os = "linux")]
    #[test]
    fn path_is_in_the_caches_only_after_a_lookup() {
        let dir = tempfile::tempdir().unwrap();
        let absent = dir.path().join("absent");
        assert_eq!(PathIdentity::known(&absent), Err(NotCached));
        assert_eq!(PathIdentity::of(&absent), None);
        assert_eq!(PathIdentity::known(&absent), Ok(None));
        for (name, is_link) in [("file", false), ("link", true)] {
            let path = dir.path().join(name);
            if is_link {
                std::os::unix::fs::symlink("nowhere", &path).unwrap();
            } else {
                fs::write(&path, "").unwrap();
            }
            let found = PathIdentity::of(&path);
            assert_eq!(found.map(|stat| stat.is_link), Some(is_link));
            assert_eq!(PathIdentity::known(&path), Ok(found));
            assert_eq!(identify_from_caches(&path), Ok(identify(&path)));
        }
    }
}
