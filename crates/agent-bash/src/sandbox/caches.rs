//! The caches of tools in a sandbox: which directories a call may write, and which variables move a
//! tool's cache there.

mod table;

use agent_bash_core::sandbox::{Caches, Network, Plan, Tier};
use agent_bash_os::PrivateDir;
use agent_bash_sandbox::HostFacts;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::{fs, io};
use table::{CACHES, Cache, MOUNTS, Moved, PrivateMount, Value};

/// The caches of tools that a call of [`SandboxLevel::WorkspaceWrite`] may write.
///
/// [`SandboxLevel::WorkspaceWrite`]: agent_bash_core::sandbox::SandboxLevel::WorkspaceWrite
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheAccess {
    /// None: the user's caches are readable.
    Off,
    /// Private caches of the workspace, which calls keep for later ones.
    #[default]
    Private,
    /// The user's caches: a call can change what programs outside the sandbox run.
    Shared,
}

/// The directory of the private caches in the state directory, with one directory per workspace.
const DIRECTORY: &str = "caches";

/// The number of digits of a workspace's name: the beginning of a SHA-256 sum.
const NAME_DIGITS: usize = 16;

/// Returns the caches of a call with this plan in `workspace`. Creates the private ones in the
/// state directory; without it, or if that fails, the user's caches stay readable only.
pub(super) fn of_call(
    access: CacheAccess,
    plan: &Plan,
    workspace: &Path,
    facts: &HostFacts,
    state: Option<&Path>,
) -> Caches {
    let user = UserCaches { facts };
    match (access, state) {
        (CacheAccess::Shared, _) => user.shared(plan),
        (CacheAccess::Private, Some(state)) => {
            let created = create(state, workspace, &user);
            let private = created.and_then(|root| user.private(plan, &root));
            private.unwrap_or_else(|error| {
                tracing::warn!(%error, state = %state.display(), "the private caches of the sandbox cannot be created");
                Caches::default()
            })
        }
        (CacheAccess::Private, None) | (CacheAccess::Off, _) => Caches::default(),
    }
}

/// The tool whose error message in the output says that its cache lacks something, and the user's
/// cache, which this call cannot write.
pub(crate) fn missed<'a>(
    plan: &Plan,
    facts: &HostFacts,
    mut lines: impl Iterator<Item = &'a str>,
) -> Option<(&'static str, PathBuf)> {
    if plan.network == Network::On {
        return None;
    }
    let user = UserCaches { facts };
    let named = |line: &str| {
        CACHES
            .iter()
            .find(|cache| cache.misses.iter().any(|miss| line.contains(miss)))
    };
    let cache = lines.find_map(named)?;
    let path = user.path(cache)?;
    let is_writable = plan.caches.writable.contains(&path) || plan.writable.contains(&path);
    (!is_writable).then_some((cache.tool, path))
}

/// The caches of the user.
struct UserCaches<'a> {
    facts: &'a HostFacts,
}

impl UserCaches<'_> {
    /// The user's own cache: where a variable of the host moves it, or the tool's default.
    fn path(&self, cache: &Cache) -> Option<PathBuf> {
        let moved = match cache.value {
            Value::Directory => self.variable(cache.variable),
            Value::Option(_) => None,
        };
        moved.or_else(|| self.in_home(cache.directory))
    }

    /// An absolute path in a variable of the host.
    fn variable(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.facts.env.get(OsStr::new(name))?);
        path.is_absolute().then_some(path)
    }

    fn in_home(&self, path: &str) -> Option<PathBuf> {
        if let Some(rest) = path.strip_prefix(".cache/")
            && let Some(caches) = self.variable("XDG_CACHE_HOME")
        {
            return Some(caches.join(rest));
        }
        Some(self.facts.home.as_ref()?.join(path))
    }

    /// The user's existing caches, except those in which a secret would have to be hidden.
    fn shared(&self, plan: &Plan) -> Caches {
        let paths = CACHES.iter().flat_map(|cache| match cache.parts {
            [] => vec![self.path(cache)],
            parts => {
                let root = self.path(cache);
                let part = |part: &&str| Some(root.as_ref()?.join(part));
                parts.iter().map(part).collect()
            }
        });
        let existing = paths.flatten().filter_map(|path| path.canonicalize().ok());
        let is_harmless = |path: &PathBuf| {
            let touches = |it: &PathBuf| it.starts_with(path) || path.starts_with(it);
            !plan.hidden.iter().any(touches)
                && !self
                    .facts
                    .home
                    .as_ref()
                    .is_some_and(|home| home.starts_with(path))
                && path.parent().is_some()
        };
        let mut writable: Vec<PathBuf> = existing.filter(is_harmless).collect();
        writable.sort();
        writable.dedup();
        Caches {
            writable,
            ..Caches::default()
        }
    }

    /// The private caches below `root`.
    fn private(&self, plan: &Plan, root: &Path) -> io::Result<Caches> {
        let root = root.canonicalize()?;
        let is_workspace = |path: &Path| plan.writable.iter().any(|it| path.starts_with(it));
        let is_moved = |cache: &&Cache| {
            let user = self.path(cache);
            // A cache that the user keeps in the workspace can be written already.
            let is_writable = user.as_deref().is_some_and(is_workspace);
            let has_own = || user.as_deref().is_some_and(Path::is_dir);
            !is_writable
                && match cache.moved {
                    Moved::Always => true,
                    Moved::WithNetwork => plan.network == Network::On || !has_own(),
                    Moved::WithoutOwn => !has_own(),
                }
        };
        let variables = CACHES.iter().filter(is_moved).map(|cache| {
            let directory = root.join(cache.tool);
            let value = match cache.value {
                Value::Directory => directory.into_os_string(),
                Value::Option(option) => {
                    let earlier = self.facts.env.get(OsStr::new(cache.variable));
                    let mut value = earlier.cloned().unwrap_or_default();
                    if !value.is_empty() {
                        value.push(" ");
                    }
                    value.push(option);
                    value.push(directory);
                    value
                }
            };
            (OsString::from(cache.variable), value)
        });
        let mounts: Vec<(PathBuf, PathBuf)> = match plan.tier {
            Tier::Base => Vec::new(),
            Tier::Full => {
                let search_path = self.facts.env.get(OsStr::new("PATH"));
                let search_path = search_path.map(OsString::as_os_str).unwrap_or_default();
                let own = |mount: &PrivateMount| {
                    Some((root.join(mount.name), own_directory(mount, search_path)?))
                };
                MOUNTS.iter().filter_map(own).collect()
            }
        };
        Ok(Caches {
            variables: variables.collect(),
            writable: vec![root],
            mounts,
        })
    }
}

/// The fixed directory of a tool, if it belongs to this user alone. Creates it if the host has the
/// tool, since a mount needs a directory.
fn own_directory(mount: &PrivateMount, search_path: &OsStr) -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let path = PathBuf::from(format!("{}{user}", mount.before_uid));
    if std::env::split_paths(search_path).any(|it| it.join(mount.program).is_file()) {
        // If this fails, the directory is missing below.
        let _ = fs::DirBuilder::new().mode(0o700).create(&path);
    }
    let found = path.symlink_metadata().ok()?;
    let is_private = found.is_dir() && found.uid() == user && found.mode() & 0o777 == 0o700;
    is_private.then_some(path)
}

/// Returns the directory of the workspace's private caches, which this function creates. No call
/// has written a new directory yet, so its entries are made only then.
fn create(state: &Path, workspace: &Path, user: &UserCaches<'_>) -> io::Result<PathBuf> {
    let digest = Sha256::digest(workspace.as_os_str().as_bytes());
    let mut name = String::new();
    for byte in digest.iter().take(NAME_DIGITS / 2) {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
    }
    let all = PrivateDir::create(state, &[DIRECTORY])?;
    let path = all.path().join(&name);
    if path.is_dir() {
        return Ok(path);
    }
    // Another host may create the same one: the first rename counts.
    let random = RandomState::new().build_hasher().finish();
    let mut unfinished = all.make_dir(&format!(".new-{random:016x}"))?;
    for cache in CACHES.iter().filter(|cache| !cache.settings.is_empty()) {
        let directory = unfinished.make_dir(cache.tool)?;
        for name in cache.settings {
            if let Some(own) = user.path(cache) {
                symlink(own.join(name), directory.path().join(name))?;
            }
        }
    }
    for mount in MOUNTS {
        unfinished.make_dir(mount.name)?;
    }
    match unfinished.rename_in(&all, &name) {
        Err(_) if path.is_dir() => {
            fs::remove_dir_all(unfinished.path())?;
            Ok(path)
        }
        renamed => renamed.map(|()| path),
    }
}
