//! Resolves settings and facts to the plan of a sandbox. The caller passes facts of the process.
//! The functions read the file system, because a plan has canonical paths.

mod error;
mod git;
mod git_index;
mod homes;
mod links;
mod names;
mod paths;
mod protected_changes;
mod scan;
mod secret_places;
mod secret_variables;
mod secrets;
mod stamp;
mod state_directory;
mod system_secrets;
mod workspace;

pub use error::ResolveError;
pub use git::repository_config;
pub use links::{leads_out, links_and_target, with_resolved_parent};
pub use protected_changes::{ChangedPath, protected_among};
pub use scan::NameScan;
pub use secrets::user_secrets;
pub use stamp::{NotCached, ParentDirectories, PathIdentity, PlanStamp};
pub use workspace::KnownWorkspace;

use crate::path_lookup::PathLookup;
use agent_bash_core::sandbox::{Caches, HiddenPaths, Network, Plan, Tier, WriteLevel};
use links::UntrustedDirectories;
use paths::{canonical, existing, existing_without_links, in_home, is_too_wide};
use secrets::SecretSearch;
use state_directory::{hidden_paths, writable_state};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sandbox that settings and requests ask for. Paths are absolute, or begin with `~/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedSandbox {
    /// The write access of the call.
    pub level: WriteLevel,
    /// The network of the call.
    pub network: Network,
    /// The hosts that the call may reach with [`Network::Hosts`].
    pub hosts: Vec<String>,
    /// Writable paths besides the workspace; ignored at [`WriteLevel::ReadOnly`].
    pub writable: Vec<PathBuf>,
    /// Paths that stay readable although they would be hidden.
    pub readable: Vec<PathBuf>,
    /// Hidden paths in addition to the known places of secrets.
    pub hidden: Vec<PathBuf>,
    /// Protected paths besides those that run or configure programs outside the sandbox.
    pub protected: Vec<PathBuf>,
    /// Devices besides the harmless ones.
    pub devices: Vec<PathBuf>,
    /// True if the shared `/tmp` may be written.
    pub shared_tmp: bool,
    /// Caches that may be written; ignored at [`WriteLevel::ReadOnly`]. A cache that is missing,
    /// holds a secret or the state directory, or may have been chosen by an earlier call is left
    /// out.
    pub caches: Vec<PathBuf>,
}

impl WantedSandbox {
    /// Returns the defaults of a level, without a network.
    pub fn new(level: WriteLevel) -> Self {
        Self {
            level,
            network: Network::Off,
            hosts: Vec::new(),
            writable: Vec::new(),
            readable: Vec::new(),
            hidden: Vec::new(),
            protected: Vec::new(),
            devices: Vec::new(),
            shared_tmp: false,
            caches: Vec::new(),
        }
    }
}

/// The facts of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The directory of the host.
    pub directory: PathBuf,
    /// The best tier that this system enforces.
    pub tier: Tier,
    /// The host's environment variables: some name the places of secrets.
    pub env: Arc<BTreeMap<OsString, OsString>>,
    /// Workspaces of earlier calls.
    pub known: Arc<[KnownWorkspace]>,
    /// The paths where the host looks for settings.
    pub settings: Arc<[PathBuf]>,
    /// The state directory of the host.
    pub state: Option<PathBuf>,
}

impl HostFacts {
    /// Creates facts without variables, earlier workspaces, settings and a state directory.
    pub fn new(home: Option<PathBuf>, directory: PathBuf, tier: Tier) -> Self {
        Self {
            home,
            directory,
            tier,
            env: Arc::default(),
            known: Arc::default(),
            settings: Arc::default(),
            state: None,
        }
    }
}

/// Returns the workspace of a host: the nearest directory with a `.git`, or else the host's
/// directory.
pub fn workspace(facts: &HostFacts) -> Result<PathBuf, ResolveError> {
    let home = facts.home.as_deref().map(canonical);
    let directory = existing("workspace", &facts.directory)?;
    workspace::workspace_around(&directory, home.as_deref(), &facts.known)
}

/// The result of [`resolve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedSandbox {
    /// The plan.
    pub plan: Plan,
    /// The workspace, if it is writable.
    pub workspace: Option<PathBuf>,
}

/// Returns the plan of a sandbox.
///
/// # Errors
/// [`ResolveError`]; `Link` and `Planted` mean that an earlier call may have chosen a directory.
pub fn resolve(wanted: &WantedSandbox, facts: &HostFacts) -> Result<ResolvedSandbox, ResolveError> {
    let hosts = hosts(wanted, facts.tier)?;
    let home = facts.home.as_deref().map(canonical);
    let mut resolver = PathResolver {
        home: home.clone(),
        untrusted: UntrustedDirectories {
            directories: workspace::paths_written_in(&facts.known).cloned().collect(),
            home: home.as_deref(),
        },
    };
    let mut workspace_root = None;
    let mut writable = BTreeSet::new();
    let mut protected = resolver.all("protected", &wanted.protected)?;
    if wanted.level == WriteLevel::WorkspaceWrite {
        let workspace = workspace::find(&facts.directory, home.as_deref(), &facts.known)?;
        resolver.untrusted.directories.push(workspace.clone());
        protected.extend(
            names::PROTECTED_NAMES
                .iter()
                .map(|name| workspace.join(name)),
        );
        let git = git::RepositoryPaths::of(&workspace);
        protected.extend(git.protected.iter().cloned());
        writable.extend(git.writable.iter().cloned());
        writable.insert(workspace.clone());
        workspace_root = Some(workspace);
        let mut repositories = vec![git];
        // Collects all writable paths first, because one may be reached through a link in another.
        let further = resolver.all("writable", &wanted.writable)?;
        resolver.untrusted.directories.extend(further);
        for path in resolver.trusted("writable", &wanted.writable)? {
            let path = existing_without_links("writable", &path)?;
            protected.extend(names::PROTECTED_NAMES.iter().map(|name| path.join(name)));
            let git = git::RepositoryPaths::of(&path);
            protected.extend(git.protected.iter().cloned());
            repositories.push(git);
            writable.insert(path);
        }
        if wanted.shared_tmp {
            writable.insert(existing("tmp", Path::new("/tmp"))?);
        }
        protected.extend(
            facts
                .settings
                .iter()
                .flat_map(|path| links_and_target(path)),
        );
        protected.extend(scan::protected_at(&writable, facts.tier));
        let is_writable = |tree: &Path| writable.iter().any(|path| tree.starts_with(path));
        for git in &repositories {
            protected.extend(git.worktree_paths(is_writable).cloned());
        }
    }
    let readable = resolver.trusted("readable", &wanted.readable)?;
    let secrets = SecretSearch {
        home: resolver.home.as_deref(),
        directory: &canonical(&facts.directory),
        variables: &facts.env,
        lookup: PathLookup::default(),
    };
    let mut hidden = secrets.all();
    hidden.extend(resolver.trusted("hidden", &wanted.hidden)?);
    hidden.extend(facts.state.iter().flat_map(|state| hidden_paths(state)));
    for path in &readable {
        hidden.show_below(path);
    }
    check_writable(&writable, &hidden)?;
    if let Some(state) = &facts.state {
        protected.extend(writable_state(state, &writable, facts.tier)?);
    }
    add_targets_of_links(&mut protected, &secrets.lookup);
    protected.retain(|path| writable.iter().any(|writable| path.starts_with(writable)));
    let mut devices = BTreeSet::new();
    for path in resolver.trusted("devices", &wanted.devices)? {
        devices.insert(existing_without_links("devices", &path)?);
    }
    let caches = match wanted.level {
        WriteLevel::ReadOnly => BTreeSet::new(),
        WriteLevel::WorkspaceWrite => resolver.caches(&wanted.caches, &hidden, facts),
    };
    let plan = Plan {
        network: wanted.network,
        hosts,
        writable: writable.into_iter().collect(),
        hidden,
        protected: protected.into_iter().collect(),
        devices: devices.into_iter().collect(),
        caches: Caches {
            writable: caches.into_iter().collect(),
            ..Caches::default()
        },
        ..Plan::new(wanted.level, facts.tier)
    };
    Ok(ResolvedSandbox {
        plan,
        workspace: workspace_root,
    })
}

/// Refuses a writable directory that is hidden, or whose path is not UTF-8, as the list of known
/// workspaces requires.
fn check_writable(writable: &BTreeSet<PathBuf>, hidden: &HiddenPaths) -> Result<(), ResolveError> {
    for directory in writable {
        if directory.to_str().is_none() {
            return Err(ResolveError::Unusable {
                list: "writable",
                path: directory.clone(),
                error: std::io::Error::other("its path is not UTF-8"),
            });
        }
        if let Some(hidden) = hidden.hiding(directory) {
            return Err(ResolveError::Hidden {
                writable: directory.clone(),
                hidden,
            });
        }
    }
    Ok(())
}

/// Adds the targets of links, which can be protected, and the links on the way to a target, which
/// are compared after a call.
fn add_targets_of_links(protected: &mut BTreeSet<PathBuf>, lookup: &PathLookup) {
    // Most protected paths are missing.
    let existing = protected.iter().filter(|path| lookup.may_exist(path));
    let links = existing.filter(|path| path.is_symlink());
    let linked: Vec<PathBuf> = links.flat_map(|path| links_and_target(path)).collect();
    protected.extend(linked);
}

/// Returns the hosts that the sandbox may reach. Refuses a network that the tier does not have.
fn hosts(wanted: &WantedSandbox, tier: Tier) -> Result<Vec<String>, ResolveError> {
    match (wanted.network, tier) {
        (Network::Hosts, Tier::Full) => Ok(wanted.hosts.clone()),
        (Network::Hosts, Tier::Base) => Err(ResolveError::NoProxy),
        (Network::Loopback, Tier::Base) => Err(ResolveError::NoLoopback),
        (Network::Off | Network::Loopback | Network::On, _) => Ok(Vec::new()),
    }
}

/// Resolves paths of the settings. Contains the home for `~/`, and the directories in which links
/// are not trusted.
struct PathResolver<'a> {
    home: Option<PathBuf>,
    untrusted: UntrustedDirectories<'a>,
}

impl PathResolver<'_> {
    /// Returns the paths of a list without links.
    fn all(
        &self,
        list: &'static str,
        paths: &[PathBuf],
    ) -> Result<BTreeSet<PathBuf>, ResolveError> {
        let one = |path: &PathBuf| Ok(canonical(&self.absolute(list, path)?));
        paths.iter().map(one).collect()
    }

    /// Resolves the paths as [`Self::all`] does. Refuses paths through links that a call may have
    /// created.
    fn trusted(
        &self,
        list: &'static str,
        paths: &[PathBuf],
    ) -> Result<BTreeSet<PathBuf>, ResolveError> {
        let one = |path: &PathBuf| {
            let absolute = self.absolute(list, path)?;
            let followed = links::follow(&absolute).map_err(|error| ResolveError::Unusable {
                list,
                path: path.clone(),
                error,
            })?;
            links::check(list, path, &followed, &self.untrusted)?;
            Ok(followed.target)
        };
        paths.iter().map(one).collect()
    }

    /// Returns the existing caches, without those that hold a secret or the state directory, or
    /// that a call may have chosen.
    fn caches(
        &self,
        paths: &[PathBuf],
        hidden: &HiddenPaths,
        facts: &HostFacts,
    ) -> BTreeSet<PathBuf> {
        let home = self.home.as_deref();
        let state = facts.state.as_deref().map(canonical);
        let one = |path: &PathBuf| {
            let found = self.trusted("caches", std::slice::from_ref(path)).ok()?;
            let path = existing_without_links("caches", found.first()?).ok()?;
            let has_state = state.as_ref().is_some_and(|it| it.starts_with(&path));
            let is_usable = !has_state && !is_too_wide(&path, home) && !hidden.overlap(&path);
            is_usable.then_some(path)
        };
        paths.iter().filter_map(one).collect()
    }

    fn absolute(&self, list: &'static str, path: &Path) -> Result<PathBuf, ResolveError> {
        let absolute = in_home(path, self.home.as_deref());
        if absolute.is_absolute() {
            return Ok(absolute);
        }
        Err(ResolveError::NotAbsolute {
            list,
            path: path.to_owned(),
        })
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
