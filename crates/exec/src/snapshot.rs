//! The snapshot of the user's shell: functions, aliases, options and `PATH` from a configuration
//! file such as `~/.bashrc`.
//!
//! The snapshot is captured once per shell, file and environment, and loaded by every waiting
//! shell. If the file prints, prompts, hangs, exits, replaces its shell by `exec` or starts
//! daemons, calls still run: at worst without a snapshot. The first call with the problem reports
//! it.
//!
//! Other modules start shells (`cache`, `pool`) and have the text that shells are started with
//! (`record`).
//!
//! Modules: `options`, `skipped` (reasons for having no snapshot), `capture` (reading the file in a
//! separate shell), `dump` (the report of that shell), `filter` and `names` (excluded names),
//! `compose` (the text that other shells load), `file` (its storage), `running_shell` (asking a
//! persistent shell).

mod capture;
mod compose;
mod dump;
mod file;
mod filter;
mod names;
mod options;
pub(crate) mod running_shell;
mod skipped;

use agent_bash_core::{Clock, Definitions, Notice, NoticeKind, RunSpec, Shell, Timestamp};
use agent_bash_process::quoted;
use agent_bash_process::supervisor::Supervisor;
use capture::Reader;
use file::SnapshotFile;
pub use names::{BUILTINS, KEYWORDS};
pub use options::SnapshotOptions;
use skipped::Skipped;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

/// Retry interval for a failed capture, unless the file changes earlier.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Limit of snapshots; the oldest is dropped first.
const MAX_SNAPSHOTS: usize = 8;

/// Removes the snapshots of dead processes in `directory`; also done before every capture. Returns
/// how many there were.
pub fn sweep_snapshots(directory: &Path, now: Timestamp) -> usize {
    if !directory.is_dir() {
        return 0;
    }
    file::sweep(directory, Duration::from_millis(now.0))
}

/// The parts of the user's configuration that shells load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configured {
    /// The names of functions and aliases.
    pub names: Vec<String>,
    /// The aliases with what they stand for, as far as that is text.
    pub aliases: Vec<(String, String)>,
    /// The search path, if the configuration changed it.
    pub path: Option<OsString>,
}

/// The snapshot for shells of one kind.
#[derive(Debug)]
pub(crate) struct Snapshot {
    names: Vec<String>,
    aliases: Vec<(String, String)>,
    file: SnapshotFile,
    path: Option<OsString>,
    options: Vec<u8>,
    allows_tail: bool,
}

impl Snapshot {
    /// The command a shell runs at its start, followed by `; `. On the same line as everything
    /// after it, so that aliases do not apply to that. Uses `.` rather than `eval`, which costs a
    /// fifth more because it first expands the text as a word. With `command`, a missing file does
    /// not end a shell in POSIX mode.
    pub(crate) fn load_command(&self) -> Vec<u8> {
        let mut text = br"{ \command . ".to_vec();
        text.extend(quoted(self.file.path().as_os_str()));
        text.extend_from_slice(b"; } >/dev/null 2>&1; ");
        text
    }

    /// The search path, if the configuration changed it.
    pub(crate) fn path(&self) -> Option<&OsStr> {
        self.path.as_deref()
    }

    pub(crate) fn configured(&self) -> Configured {
        Configured {
            names: self.names.clone(),
            aliases: self.aliases.clone(),
            path: self.path.clone(),
        }
    }

    /// Returns the user's definitions for a shell that has not loaded the snapshot.
    pub(crate) fn definitions(&self) -> io::Result<Definitions> {
        let mut text = Vec::new();
        if let Some(path) = &self.path {
            text.extend_from_slice(b"\\builtin export PATH=");
            text.extend(quoted(path));
            text.push(b'\n');
        }
        text.extend(std::fs::read(self.file.path())?);
        let options = if self.allows_tail {
            self.options.clone()
        } else {
            // A trace would show this text.
            Vec::new()
        };
        Ok(Definitions { text, options })
    }

    /// The commands that set the options, each followed by `; `. To be run immediately before the
    /// script.
    pub(crate) fn option_commands(&self) -> &[u8] {
        &self.options
    }

    /// True if a function or an alias has this name.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// True if commands may follow a script unnoticed.
    pub(crate) fn allows_tail(&self) -> bool {
        self.allows_tail
    }
}

/// The snapshots of a cache.
#[derive(Debug)]
pub(crate) struct Snapshots {
    options: Option<SnapshotOptions>,
    entries: Mutex<Vec<Arc<CacheEntry>>>,
}

/// A call's snapshot, if any.
#[derive(Debug, Default)]
pub(crate) struct SnapshotForCall {
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    /// Set for the call that first encountered a failure.
    pub(crate) notice: Option<Notice>,
}

/// Everything that a capture depends on.
#[derive(Debug, Clone)]
struct Key {
    shell: Shell,
    base: Arc<BTreeMap<OsString, OsString>>,
    rc: RcIdentity,
}

/// Detects changes of the file. All zero if its metadata cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct RcIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

#[derive(Debug)]
struct CacheEntry {
    key: Key,
    /// Concurrent calls wait for a single capture.
    captured: OnceCell<Captured>,
}

#[derive(Debug)]
enum Captured {
    Snapshot(Arc<Snapshot>),
    Failed { at: Duration },
}

impl Snapshots {
    pub(crate) fn new(options: Option<SnapshotOptions>) -> Self {
        Self {
            options,
            entries: Mutex::new(Vec::new()),
        }
    }

    /// The snapshot for a call. Captured now if there is none yet for its shell, environment and
    /// configuration, which takes at most the time limit. Cancel safe: an abandoned capture is
    /// ended, and another call that waits for it starts a new one.
    pub(crate) async fn for_call(
        &self,
        spec: &RunSpec,
        supervisor: &Supervisor,
        clock: &Arc<dyn Clock>,
    ) -> SnapshotForCall {
        if !spec.snapshot || spec.definitions.is_some() && spec.session.is_none() {
            return SnapshotForCall::default();
        }
        self.for_shell(&spec.shell, &spec.env.base, supervisor, clock)
            .await
    }

    /// Returns the snapshot for a call in this shell and environment.
    pub(crate) async fn for_shell(
        &self,
        shell: &Shell,
        base: &Arc<BTreeMap<OsString, OsString>>,
        supervisor: &Supervisor,
        clock: &Arc<dyn Clock>,
    ) -> SnapshotForCall {
        let Some(options) = self.options.as_ref().filter(|_| shell.is_bash) else {
            return SnapshotForCall::default();
        };
        let Some(rc) = RcIdentity::of(options) else {
            return SnapshotForCall::default();
        };
        let key = Key {
            shell: shell.clone(),
            base: Arc::clone(base),
            rc,
        };
        let entry = self.entry(key, clock.now());
        let mut notice = None;
        let capture = async {
            let reader = Reader {
                supervisor,
                clock,
                shell: &entry.key.shell,
                base: &entry.key.base,
                options,
            };
            match capture(&reader).await {
                Ok(snapshot) => Captured::Snapshot(Arc::new(snapshot)),
                Err(skipped) => {
                    let reason = skipped.to_string();
                    notice = Some(NoticeKind::SnapshotSkipped { reason }.into());
                    Captured::Failed { at: clock.now() }
                }
            }
        };
        let snapshot = match entry.captured.get_or_init(|| capture).await {
            Captured::Snapshot(snapshot) => Some(Arc::clone(snapshot)),
            Captured::Failed { .. } => None,
        };
        SnapshotForCall { snapshot, notice }
    }

    /// The entry for a key: the existing one, unless it is no longer usable.
    fn entry(&self, key: Key, now: Duration) -> Arc<CacheEntry> {
        // Ignores poisoning: no operation leaves the list inconsistent while holding the lock.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.iter().find(|entry| entry.key == key)
            && entry.is_of_use(now)
        {
            return Arc::clone(entry);
        }
        // Entries for an earlier version of the file are dropped, because they will not be
        // requested again.
        entries.retain(|entry| !entry.key.differs_by_rc_only(&key));
        if entries.len() >= MAX_SNAPSHOTS {
            entries.remove(0);
        }
        let entry = Arc::new(CacheEntry {
            key,
            captured: OnceCell::new(),
        });
        entries.push(Arc::clone(&entry));
        entry
    }
}

impl CacheEntry {
    fn is_of_use(&self, now: Duration) -> bool {
        match self.captured.get() {
            None => true,
            Some(Captured::Snapshot(snapshot)) => snapshot.file.exists(),
            Some(Captured::Failed { at }) => now.saturating_sub(*at) < RETRY_INTERVAL,
        }
    }
}

impl Key {
    /// True if everything except the configuration file is equal.
    fn differs_by_rc_only(&self, other: &Self) -> bool {
        // Usually the same environment is the same allocation.
        (Arc::ptr_eq(&self.base, &other.base) || self.base == other.base)
            && self.shell == other.shell
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.rc == other.rc && self.differs_by_rc_only(other)
    }
}

impl RcIdentity {
    /// `None` if the file does not exist.
    fn of(options: &SnapshotOptions) -> Option<Self> {
        match std::fs::metadata(&options.rc) {
            Ok(metadata) => Some(Self {
                device: metadata.dev(),
                inode: metadata.ino(),
                size: metadata.size(),
                modified: (metadata.mtime(), metadata.mtime_nsec()),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => Some(Self::default()),
        }
    }
}

async fn capture(reader: &Reader<'_>) -> Result<Snapshot, Skipped> {
    let options = reader.options;
    let dump = reader.read().await?;
    let now = Duration::from_millis(reader.clock.wall().0);
    file::sweep(&options.directory, now);
    let definitions = dump.functions.iter().chain(&dump.aliases);
    let names = definitions.map(|definition| definition.name.clone());
    let names = names.collect();
    let aliases = dump.aliases.iter().filter_map(|definition| {
        let value = String::from_utf8(definition.text.clone()).ok()?;
        Some((definition.name.clone(), value))
    });
    let aliases = aliases.collect();
    let text = compose::load_text(&dump.functions, &dump.aliases);
    let file =
        SnapshotFile::write(&options.directory, &text).map_err(|source| Skipped::NotKept {
            directory: options.directory.clone(),
            source,
        })?;
    let has_aliases = !dump.aliases.is_empty();
    let (commands, allows_tail) = compose::option_commands(&dump.before, &dump.after, has_aliases);
    Ok(Snapshot {
        names,
        aliases,
        file,
        path: capture::changed_path(&dump, options),
        options: commands,
        allows_tail,
    })
}
