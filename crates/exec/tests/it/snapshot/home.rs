//! A test user: a home with a configuration, and caches that load it.

use crate::support::census::Census;
use crate::support::driven_clock::{DrivenClock, LIMIT};
use crate::support::{options, soon, spec};
use agent_bash_core::RunSpec;
use agent_bash_exec::{ShellCache, ShellCacheOptions, SnapshotOptions};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// The directory of the configurations.
pub(crate) const CONFIGURATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rc");

pub(crate) struct Home {
    root: TempDir,
    base: Arc<BTreeMap<OsString, OsString>>,
    pub(crate) census: Census,
    pub(crate) clock: Arc<DrivenClock>,
}

impl Home {
    /// Creates a home with a `.bashrc` that is a copy of one of the configurations.
    pub(crate) fn with(rc: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let source = format!("{CONFIGURATIONS}/{rc}.bashrc");
        std::fs::copy(source, home.join(".bashrc")).unwrap();
        let census = Census::new();
        let mut base = crate::support::environment();
        base.extend([census.variable(), ("HOME".into(), home.into())]);
        Self {
            root,
            base: Arc::new(base),
            census,
            clock: Arc::new(DrivenClock::new()),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("home").join(name)
    }

    pub(crate) fn rc(&self) -> PathBuf {
        self.path(".bashrc")
    }

    /// Replaces the configuration. The new inode makes the change visible even if the file system's
    /// timestamps are coarse.
    pub(crate) fn write_rc(&self, text: &str) {
        let draft = self.path(".bashrc.new");
        std::fs::write(&draft, text).unwrap();
        std::fs::rename(draft, self.rc()).unwrap();
    }

    /// Writes a file of the home. Creates its directory.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.root.path().join("state/snapshots")
    }

    /// Returns the snapshot files.
    pub(crate) fn snapshots(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.directory()) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Returns options with a time limit for captures that passes only when a test moves the clock.
    pub(crate) fn options(&self) -> SnapshotOptions {
        SnapshotOptions {
            max_wait: LIMIT,
            capture_timeout: Duration::from_secs(8),
            ..SnapshotOptions::new(self.rc(), self.directory())
        }
    }

    pub(crate) fn cache(&self, warm_shells: usize) -> ShellCache {
        self.cache_with(self.options(), warm_shells)
    }

    pub(crate) fn cache_with(&self, snapshot: SnapshotOptions, warm_shells: usize) -> ShellCache {
        ShellCache::new(ShellCacheOptions {
            clock: Arc::<DrivenClock>::clone(&self.clock),
            warm_shells,
            snapshot: Some(snapshot),
            ..options()
        })
    }

    /// Returns a cache that loads no configuration.
    pub(crate) fn bare_cache() -> ShellCache {
        ShellCache::new(options())
    }

    pub(crate) fn spec(&self, script: &str) -> RunSpec {
        let mut spec = spec(script);
        spec.env.base = Arc::clone(&self.base);
        spec
    }

    /// Returns leftovers after the cache was dropped: processes, snapshots, files in the home.
    /// `daemons` is the number of daemons that continue, which this function ends.
    pub(crate) async fn left_behind(&self, rc: &str, daemons: usize) -> Vec<String> {
        let mut left = Vec::new();
        if soon(|| self.census.all().len() == daemons).await {
            for daemon in self.census.all() {
                let pid = rustix::process::Pid::from_raw(daemon.pid).unwrap();
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
            }
        } else {
            left.push(format!("{rc}: {:?}", self.census.all()));
        }
        if !soon(|| self.snapshots().is_empty()).await {
            left.push(format!("{rc}: {:?}", self.snapshots()));
        }
        let files = std::fs::read_dir(self.path("")).unwrap();
        let names: Vec<OsString> = files.map(|file| file.unwrap().file_name()).collect();
        if names != [".bashrc"] {
            left.push(format!("{rc}: {names:?}"));
        }
        left
    }
}
