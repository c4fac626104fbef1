//! The caches of tools in a sandbox: determines the directories that a call may write, and the
//! variables that move a tool's cache to such a directory.

mod table;

use agent_bash_core::hex;
use agent_bash_core::sandbox::{Caches, Plan, Tier};
use agent_bash_os::PrivateDir;
use agent_bash_sandbox::HostFacts;
use agent_bash_settings::CacheAccess;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::{fs, io};
use table::{CACHES, Cache, MOUNTS, PrivateCacheUse, PrivateMount, VariableValue};

/// The directory of the private caches in the state directory, with one directory per workspace.
const DIRECTORY: &str = "caches";

/// The number of bytes of the SHA-256 sum of a workspace's path that name the workspace's
/// directory.
const NAME_BYTES: usize = 8;

/// Returns the user's caches that calls may write.
pub(super) fn shared(access: CacheAccess, facts: &HostFacts) -> Vec<PathBuf> {
    if access != CacheAccess::Shared {
        return Vec::new();
    }
    let user = UserCaches { facts };
    let shareable = CACHES
        .iter()
        .filter(|cache| cache.private_use != PrivateCacheUse::IfHidden);
    let paths = shareable.flat_map(|cache| {
        let path = user.path(cache);
        match cache.parts {
            [] => path.into_iter().collect(),
            parts => path
                .iter()
                .flat_map(|path| parts.iter().map(|part| path.join(part)))
                .collect::<Vec<_>>(),
        }
    });
    paths.collect()
}

/// Returns the private caches of a call with this plan in `workspace`, and creates them in the
/// state directory. If that fails, the user's caches stay readable only.
pub(super) fn private(plan: &Plan, workspace: &Path, facts: &HostFacts, state: &Path) -> Caches {
    let user = UserCaches { facts };
    let private = PrivateCaches::create(state, workspace, &user, plan);
    let private = private.map(|private| private.of_call(plan, &user));
    private.unwrap_or_else(|error| {
        tracing::warn!(%error, state = %state.display(), "the private caches of the sandbox cannot be created");
        Caches::default()
    })
}

/// Searches the output for a tool's error message that the tool's cache lacks a file. Returns the
/// tool and the user's cache, if this call cannot write that cache, or the sandbox hides it.
/// `facts` is called only if there is such a message, because most outputs have none.
pub fn missed<'a>(
    plan: &Plan,
    mut lines: impl Iterator<Item = &'a str>,
    facts: impl FnOnce() -> HostFacts,
) -> Option<(&'static str, PathBuf)> {
    let named = |line: &str| {
        CACHES
            .iter()
            .find(|cache| cache.misses.iter().any(|miss| line.contains(miss)))
    };
    // With a network, the tool can fill its cache.
    let is_explained = |cache: &&Cache| {
        cache.private_use == PrivateCacheUse::IfHidden || !plan.network.leads_outside()
    };
    let cache = lines.find_map(named).filter(is_explained)?;
    let path = UserCaches { facts: &facts() }.path(cache)?;
    if cache.private_use == PrivateCacheUse::IfHidden {
        return Some((cache.tool, hiding(plan, &path)?));
    }
    let is_writable = plan.caches.writable.contains(&path) || plan.writable.contains(&path);
    // pnpm has several caches.
    (!is_writable).then_some((cache.tool.trim_end_matches("-store"), path))
}

/// Returns the hidden path that covers a path, which may lead through links.
fn hiding(plan: &Plan, path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    plan.hidden.hiding(&path)
}

struct UserCaches<'a> {
    facts: &'a HostFacts,
}

impl UserCaches<'_> {
    /// Returns the directory of the user's cache: the value of a variable of the host, or the
    /// tool's default.
    fn path(&self, cache: &Cache) -> Option<PathBuf> {
        let moved = match cache.value {
            VariableValue::Directory => self.variable(cache.variable),
            VariableValue::Option(_) => None,
        };
        moved.or_else(|| self.in_home(cache.directory))
    }

    /// Returns the value of a variable of the host, if that is an absolute path.
    fn variable(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.facts.env.get(OsStr::new(name))?);
        path.is_absolute().then_some(path)
    }

    /// Returns a path below the home directory. A path in `.cache/` is below `$XDG_CACHE_HOME`.
    fn in_home(&self, path: &str) -> Option<PathBuf> {
        if let Some(rest) = path.strip_prefix(".cache/")
            && let Some(caches) = self.variable("XDG_CACHE_HOME")
        {
            return Some(caches.join(rest));
        }
        Some(self.facts.home.as_ref()?.join(path))
    }

    /// True if a directory of the host's `PATH` has a file with this name.
    fn has_program(&self, name: &str) -> bool {
        let path = self.facts.env.get(OsStr::new("PATH"));
        let mut directories = path.into_iter().flat_map(std::env::split_paths);
        directories.any(|directory| directory.join(name).is_file())
    }
}

/// The private caches of a workspace.
struct PrivateCaches {
    /// The directory that calls may write.
    root: PathBuf,
    /// Pairs of a private directory and the path at which to mount that directory. Calls may write
    /// in the private directories, but cannot replace them. Otherwise a call could choose the
    /// directory that the next call mounts.
    mounts: Vec<(PathBuf, PathBuf)>,
}

impl PrivateCaches {
    /// Creates the directories that are missing.
    fn create(
        state: &Path,
        workspace: &Path,
        user: &UserCaches<'_>,
        plan: &Plan,
    ) -> io::Result<Self> {
        let name = directory_name(workspace);
        let root = create_root(state, &name, user)?.canonicalize()?;
        if plan.is_writable(&root) || plan.is_writable(state) {
            return Err(io::Error::other("calls may write the state directory"));
        }
        let mut mounts = Vec::new();
        if plan.tier == Tier::Full {
            for mount in MOUNTS {
                if let Some(over) = directory_in_tmp(mount, user) {
                    let below = [DIRECTORY, &format!("{name}.mounts"), mount.name];
                    let private = PrivateDir::create(state, &below)?;
                    mounts.push((private.path().to_owned(), over));
                }
            }
        }
        Ok(Self { root, mounts })
    }

    /// Returns the caches for a call with this plan, with the variables of the tools whose caches
    /// move to the private directories.
    fn of_call(self, plan: &Plan, user: &UserCaches<'_>) -> Caches {
        let Self { root, mounts } = self;
        let is_moved = |cache: &&Cache| {
            let user_path = user.path(cache);
            // A cache that the user keeps in the workspace can be written already.
            let is_writable = user_path
                .as_deref()
                .is_some_and(|path| plan.is_writable(path));
            let has_user_cache = || user_path.as_deref().is_some_and(Path::is_dir);
            let is_hidden = || {
                let path = user_path.as_deref();
                path.is_some_and(|path| hiding(plan, path).is_some())
            };
            !is_writable
                && match cache.private_use {
                    PrivateCacheUse::Always => true,
                    PrivateCacheUse::WithNetwork => {
                        plan.network.leads_outside() || !has_user_cache()
                    }
                    PrivateCacheUse::IfUserHasNone => !has_user_cache(),
                    PrivateCacheUse::IfHidden => !has_user_cache() || is_hidden(),
                }
        };
        let value = |cache: &Cache| {
            let directory = root.join(cache.tool);
            match cache.value {
                VariableValue::Directory => directory.into_os_string(),
                VariableValue::Option(option) => {
                    let earlier = user.facts.env.get(OsStr::new(cache.variable));
                    let mut value = earlier.cloned().unwrap_or_default();
                    if !value.is_empty() {
                        value.push(" ");
                    }
                    value.push(option);
                    value.push(directory);
                    value
                }
            }
        };
        let moved = CACHES.iter().filter(is_moved);
        Caches {
            variables: moved
                .map(|cache| (cache.variable.into(), value(cache)))
                .collect(),
            writable: vec![root],
            mounts,
        }
    }
}

/// Returns the tool's directory in `/tmp`, if only this user can use that directory. If the host
/// has the tool, creates the missing directory, because a mount needs a directory to cover.
fn directory_in_tmp(mount: &PrivateMount, user: &UserCaches<'_>) -> Option<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let path = PathBuf::from(format!("/tmp/{}-{uid}", mount.name));
    let found = path.symlink_metadata().or_else(|error| {
        if !user.has_program(mount.program) {
            return Err(error);
        }
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        path.symlink_metadata()
    });
    let found = found.ok()?;
    let is_private = found.is_dir() && found.uid() == uid && found.mode() & 0o777 == 0o700;
    is_private.then_some(path)
}

/// Returns the name of the directory with a workspace's private caches.
fn directory_name(workspace: &Path) -> String {
    hex(&Sha256::digest(workspace.as_os_str().as_bytes())[..NAME_BYTES])
}

/// Returns the directory that calls may write. A missing directory is created with links to the
/// user's settings files. An existing directory gets no new links, because calls may have written
/// it.
fn create_root(state: &Path, name: &str, user: &UserCaches<'_>) -> io::Result<PathBuf> {
    let all = PrivateDir::create(state, &[DIRECTORY])?;
    let open = || PrivateDir::open(state, &[DIRECTORY, name]).map(|root| root.path().to_owned());
    if let Ok(root) = open() {
        return Ok(root);
    }
    // Another host may create the same directory at the same time: the first rename wins.
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
    if unfinished.rename_in(&all, name).is_err() {
        fs::remove_dir_all(unfinished.path())?;
    }
    open()
}
