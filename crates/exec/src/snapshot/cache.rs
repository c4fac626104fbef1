//! The snapshots of a host: captured in the background, shared by calls, bounded in number.

use super::capture::Reader;
use super::options::SnapshotOptions;
use super::project::{FileIdentity, Project};
use super::skipped::SkipReason;
use super::{Snapshot, capture};
use agent_bash_core::{Clock, Notice, NoticeKind, RunSpec, Shell};
use agent_bash_process::supervisor::Supervisor;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Retry interval for a failed capture, unless the file changes earlier.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Limit of snapshots; the least recently used one is dropped first.
const MAX_SNAPSHOTS: usize = 16;

/// The snapshots of a cache.
#[derive(Debug)]
pub(crate) struct Snapshots {
    options: Option<SnapshotOptions>,
    /// The least recently used first.
    entries: Mutex<Vec<Arc<CacheEntry>>>,
}

/// A call's snapshot, if any.
#[derive(Debug, Default)]
pub(crate) struct SnapshotForCall {
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    /// Set for the call that first encountered a failure, or for which a late snapshot is new.
    pub(crate) notice: Option<Notice>,
    entry: Option<Arc<CacheEntry>>,
}

impl SnapshotForCall {
    /// The notice for a call whose command was not found, if a part of the configuration that is
    /// not loaded may be the reason. Each part is reported once.
    pub(crate) fn explain(&self, script: &str) -> Option<Notice> {
        let entry = self.entry.as_ref()?;
        let (name, reason) = entry.explanation(script)?;
        let name = name.to_owned();
        Some(NoticeKind::DefinitionMissing { name, reason }.into())
    }
}

/// Everything that a capture depends on.
#[derive(Debug, Clone)]
struct Key {
    shell: Shell,
    base: Arc<BTreeMap<OsString, OsString>>,
    /// All zero if the metadata of the file cannot be read.
    rc: FileIdentity,
    project: Project,
}

#[derive(Debug)]
struct CacheEntry {
    key: Key,
    captured: OnceLock<Captured>,
    /// True once it is captured.
    done: watch::Sender<bool>,
    is_started: AtomicBool,
    /// A call went on without waiting longer.
    is_late: AtomicBool,
    /// The delay was reported to a call.
    is_late_reported: AtomicBool,
    /// The result was reported to a call.
    is_reported: AtomicBool,
    /// The reasons that calls were told for commands that were not found.
    explained: Mutex<BTreeSet<String>>,
}

#[derive(Debug)]
enum Captured {
    Snapshot(Arc<Snapshot>),
    Failed { at: Duration, reason: String },
}

impl Snapshots {
    pub(crate) fn new(options: Option<SnapshotOptions>) -> Self {
        Self {
            options,
            entries: Mutex::new(Vec::new()),
        }
    }

    /// Returns the snapshot for a call, and captures it if the cache has none for the call's shell,
    /// environment, configuration and project. The call waits for at most the time limit. Cancel
    /// safe: the capture goes on.
    pub(crate) async fn for_call(
        &self,
        spec: &RunSpec,
        supervisor: &Supervisor,
        clock: &Arc<dyn Clock>,
    ) -> SnapshotForCall {
        if !spec.snapshot || spec.definitions.is_some() && spec.session.is_none() {
            return SnapshotForCall::default();
        }
        let shell = (&spec.shell, &spec.env.base);
        self.for_shell(shell, &spec.cwd, supervisor, clock).await
    }

    /// Returns the snapshot of a call in this shell, environment and directory, as
    /// [`Self::for_call`] does.
    pub(crate) async fn for_shell(
        &self,
        (shell, base): (&Shell, &Arc<BTreeMap<OsString, OsString>>),
        cwd: &Path,
        supervisor: &Supervisor,
        clock: &Arc<dyn Clock>,
    ) -> SnapshotForCall {
        let Some((entry, options)) = self.capture((shell, base), cwd, supervisor, clock).await
        else {
            return SnapshotForCall::default();
        };
        if entry.captured.get().is_none() {
            return entry.without_snapshot(options);
        }
        SnapshotForCall {
            entry: Some(Arc::clone(&entry)),
            ..entry.for_call()
        }
    }

    /// Returns the snapshot as [`Self::for_shell`] does, but consumes no notice.
    pub(crate) async fn peek(
        &self,
        (shell, base): (&Shell, &Arc<BTreeMap<OsString, OsString>>),
        cwd: &Path,
        supervisor: &Supervisor,
        clock: &Arc<dyn Clock>,
    ) -> Option<Arc<Snapshot>> {
        let captured = self.capture((shell, base), cwd, supervisor, clock);
        match captured.await?.0.captured.get()? {
            Captured::Snapshot(snapshot) => Some(Arc::clone(snapshot)),
            Captured::Failed { .. } => None,
        }
    }

    /// Captures, unless that was done, and waits for at most the time limit.
    async fn capture(
        &self,
        (shell, base): (&Shell, &Arc<BTreeMap<OsString, OsString>>),
        cwd: &Path,
        supervisor: &Supervisor,
        clock: &Arc<dyn Clock>,
    ) -> Option<(Arc<CacheEntry>, &SnapshotOptions)> {
        let options = self.options.as_ref().filter(|_| shell.is_bash)?;
        let rc = identity(options)?;
        let home = base.get(OsStr::new("HOME"));
        let key = Key {
            shell: shell.clone(),
            base: Arc::clone(base),
            rc,
            project: Project::of(cwd, home.map(Path::new)),
        };
        let entry = self.entry(key, clock.now());
        if !entry.is_started.swap(true, Ordering::AcqRel) {
            let reader = Reader {
                supervisor: supervisor.clone(),
                clock: Arc::clone(clock),
                shell: entry.key.shell.clone(),
                base: Arc::clone(&entry.key.base),
                directory: entry.key.project.directory.clone(),
                options: options.clone(),
            };
            spawn(Arc::clone(&entry), reader);
        }
        if entry.captured.get().is_none() && !entry.is_late.load(Ordering::Acquire) {
            let mut done = entry.done.subscribe();
            tokio::select! {
                biased;
                _ = done.wait_for(|done| *done) => {}
                () = clock.sleep(options.limit) => entry.is_late.store(true, Ordering::Release),
            }
        }
        Some((entry, options))
    }

    /// The entry for a key: the existing one, unless it is no longer usable.
    fn entry(&self, key: Key, now: Duration) -> Arc<CacheEntry> {
        // Ignores poisoning: no operation leaves the list inconsistent while holding the lock.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = entries.iter().position(|entry| entry.key == key)
            && entries[at].is_of_use(now)
        {
            let entry = entries.remove(at);
            entries.push(Arc::clone(&entry));
            return entry;
        }
        // Entries for an earlier version of the files are dropped, because they will not be
        // requested again.
        entries.retain(|entry| !entry.key.differs_by_files_only(&key));
        if entries.len() >= MAX_SNAPSHOTS {
            entries.remove(0);
        }
        let entry = Arc::new(CacheEntry {
            key,
            captured: OnceLock::new(),
            done: watch::Sender::new(false),
            is_started: AtomicBool::new(false),
            is_late: AtomicBool::new(false),
            is_late_reported: AtomicBool::new(false),
            is_reported: AtomicBool::new(false),
            explained: Mutex::default(),
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
            Some(Captured::Failed { at, .. }) => now.saturating_sub(*at) < RETRY_INTERVAL,
        }
    }

    /// Returns what a call gets that does not wait longer for the snapshot.
    fn without_snapshot(&self, options: &SnapshotOptions) -> SnapshotForCall {
        let is_known = self.is_late_reported.swap(true, Ordering::AcqRel);
        let slow = SkipReason::Slow {
            rc: options.rc.clone(),
            limit: options.limit,
        };
        let reason = slow.to_string();
        let notice = (!is_known).then(|| NoticeKind::SnapshotSkipped { reason }.into());
        SnapshotForCall {
            notice,
            ..SnapshotForCall::default()
        }
    }

    /// A command of the script that was probably not found because of this, and the reason.
    fn explanation<'a>(&self, script: &'a str) -> Option<(&'a str, String)> {
        let words = script.split(|c: char| c.is_whitespace() || ";|&(){}`\"'".contains(c));
        let mut words = words.filter(|word| !word.is_empty());
        let (name, reason) = match self.captured.get()? {
            Captured::Failed { reason, .. } => (words.next()?, reason.clone()),
            Captured::Snapshot(snapshot) => {
                if let Some(name) = words.clone().find(|word| snapshot.dropped.contains(*word)) {
                    let reason = "a variable that it needs holds a secret, or cannot be read again";
                    (name, reason.to_owned())
                } else {
                    let program = snapshot.becomes.as_deref()?;
                    let reason = format!(
                        "the configuration runs `exec {program}`, and what {program} reads is not loaded"
                    );
                    (words.next()?, reason)
                }
            }
        };
        let mut explained = self
            .explained
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        explained.insert(reason.clone()).then_some((name, reason))
    }

    fn for_call(&self) -> SnapshotForCall {
        let report = |notice: NoticeKind| {
            let is_new = !self.is_reported.swap(true, Ordering::AcqRel);
            is_new.then(|| notice.into())
        };
        match self.captured.get() {
            None => SnapshotForCall::default(),
            Some(Captured::Failed { reason, .. }) => SnapshotForCall {
                notice: report(NoticeKind::SnapshotSkipped {
                    reason: reason.clone(),
                }),
                ..SnapshotForCall::default()
            },
            Some(Captured::Snapshot(snapshot)) => SnapshotForCall {
                snapshot: Some(Arc::clone(snapshot)),
                notice: if self.is_late.load(Ordering::Acquire) {
                    report(NoticeKind::SnapshotLoaded)
                } else {
                    None
                },
                entry: None,
            },
        }
    }
}

/// Captures in a task of its own: neither the end of a call nor its time limit interrupts what the
/// configuration does.
fn spawn(entry: Arc<CacheEntry>, reader: Reader) {
    tokio::spawn(async move {
        let captured = match capture(&reader).await {
            Ok(snapshot) => Captured::Snapshot(Arc::new(snapshot)),
            Err(skipped) => Captured::Failed {
                at: reader.clock.now(),
                reason: skipped.to_string(),
            },
        };
        // Set once, by this task only.
        let _ = entry.captured.set(captured);
        entry.done.send_replace(true);
    });
}

impl Key {
    /// Whether everything else is the same.
    fn differs_by_files_only(&self, other: &Self) -> bool {
        // Usually the same environment is the same allocation.
        (Arc::ptr_eq(&self.base, &other.base) || self.base == other.base)
            && self.shell == other.shell
            && self.project.directory == other.project.directory
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.rc == other.rc && self.project == other.project && self.differs_by_files_only(other)
    }
}

/// Detects changes of the file. `None` if it does not exist.
fn identity(options: &SnapshotOptions) -> Option<FileIdentity> {
    match std::fs::metadata(&options.rc) {
        Ok(metadata) => Some(FileIdentity::from(&metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(FileIdentity::default()),
    }
}
