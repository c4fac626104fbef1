//! From what is wanted and what is so to the plan of a box. Facts of the process are passed in; the file system is
//! looked at, since a plan has canonical paths.

mod error;
mod git;
mod lists;
mod paths;
mod workspace;

pub use error::ResolveError;

use agent_bash_core::sandbox::{Level, Network, Plan, Tier};
use paths::{canonical, existing};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is wanted of a box, by settings and requests. Paths are absolute, or begin with `~/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// How much may be written.
    pub level: Level,
    /// What network there is.
    pub network: Network,
    /// Writable in addition to the workspace; nothing at [`Level::ReadOnly`].
    pub writable: Vec<PathBuf>,
    /// Readable although they would be hidden.
    pub readable: Vec<PathBuf>,
    /// Hidden in addition to the usual secrets.
    pub hidden: Vec<PathBuf>,
    /// Protected in addition to what runs or configures programs outside of the box.
    pub protected: Vec<PathBuf>,
    /// Devices in addition to the harmless ones.
    pub devices: Vec<PathBuf>,
    /// Whether `/tmp` may be written, which others read and write too.
    pub shared_tmp: bool,
}

impl Wanted {
    /// This level without a network, and nothing out of the ordinary.
    pub fn new(level: Level) -> Self {
        Self {
            level,
            network: Network::Off,
            writable: Vec::new(),
            readable: Vec::new(),
            hidden: Vec::new(),
            protected: Vec::new(),
            devices: Vec::new(),
            shared_tmp: false,
        }
    }
}

/// What is so, where the box is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The directory in which the host works.
    pub directory: PathBuf,
    /// The best tier that this system can enforce.
    pub tier: Tier,
}

/// The plan of a box.
pub fn resolve(wanted: &Wanted, facts: &Facts) -> Result<Plan, ResolveError> {
    if wanted.network == Network::Loopback && facts.tier == Tier::Base {
        return Err(ResolveError::NoLoopback);
    }
    let places = Places {
        home: facts.home.as_deref().map(canonical),
    };
    let readable = places.all("readable", &wanted.readable)?;
    let mut hidden = places.in_home(lists::HIDDEN);
    hidden.extend(places.all("hidden", &wanted.hidden)?);
    hidden.retain(|path| !readable.iter().any(|readable| path.starts_with(readable)));

    let mut writable = BTreeSet::new();
    let mut protected = places.all("protected", &wanted.protected)?;
    if wanted.level == Level::WorkspaceWrite {
        let workspace = workspace::find(&facts.directory, places.home.as_deref())?;
        protected.extend(lists::PROTECTED.iter().map(|name| workspace.join(name)));
        let git = git::Git::of(&workspace);
        protected.extend(git.protected);
        writable.extend(git.writable);
        writable.insert(workspace);
        for path in places.all("writable", &wanted.writable)? {
            writable.insert(existing("writable", &path)?);
        }
        if wanted.shared_tmp {
            writable.insert(existing("tmp", Path::new("/tmp"))?);
        }
    }
    for writable in &writable {
        if let Some(hidden) = hidden.iter().find(|hidden| writable.starts_with(hidden)) {
            return Err(ResolveError::Hidden {
                writable: writable.clone(),
                hidden: hidden.clone(),
            });
        }
    }
    // Where a link leads can be kept as it is, the link itself cannot.
    let linked: Vec<PathBuf> = protected
        .iter()
        .filter(|path| path.is_symlink())
        .filter_map(|path| std::fs::canonicalize(path).ok())
        .collect();
    protected.extend(linked);
    protected.retain(|path| writable.iter().any(|writable| path.starts_with(writable)));
    let mut devices = BTreeSet::new();
    for path in places.all("devices", &wanted.devices)? {
        devices.insert(existing("devices", &path)?);
    }
    Ok(Plan {
        level: wanted.level,
        network: wanted.network,
        tier: facts.tier,
        writable: writable.into_iter().collect(),
        hidden: hidden.into_iter().collect(),
        protected: protected.into_iter().collect(),
        devices: devices.into_iter().collect(),
    })
}

/// Where paths of the settings begin.
struct Places {
    home: Option<PathBuf>,
}

impl Places {
    fn in_home(&self, names: &[&str]) -> BTreeSet<PathBuf> {
        let below = |home: &PathBuf| names.iter().map(|n| canonical(&home.join(n))).collect();
        self.home.as_ref().map(below).unwrap_or_default()
    }

    fn all(
        &self,
        list: &'static str,
        paths: &[PathBuf],
    ) -> Result<BTreeSet<PathBuf>, ResolveError> {
        let one = |path: &PathBuf| {
            let whole = match (path.strip_prefix("~"), &self.home) {
                (Ok(rest), Some(home)) => home.join(rest),
                _ => path.clone(),
            };
            if whole.is_absolute() {
                return Ok(canonical(&whole));
            }
            Err(ResolveError::NotAbsolute {
                list,
                path: path.clone(),
            })
        };
        paths.iter().map(one).collect()
    }
}
