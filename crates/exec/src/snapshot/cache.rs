//! The cache of snapshots: captures in the background, shares snapshots between calls, limits their
//! number.

use super::capture::ConfigurationReader;
use super::options::SnapshotOptions;
use super::project::{FileIdentity, Project, ProjectFinder};
use super::skipped::SkipReason;
use super::{Snapshot, capture};
use agent_bash_core::{Clock, Notice, NoticeKind, Outcome, RunSpec, ScriptEnding, Shell, lock};
use agent_bash_process::supervisor::Supervisor;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

/// Retry interval for a failed capture, unless the file changes earlier.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum number of snapshots; the least recently used one is dropped first.
const MAX_SNAPSHOTS: usize = 16;

/// bash's exit code for a command that it has not found.
const NOT_FOUND: i32 = 127;

/// A shell and its base environment.
type ShellAndBase<'a> = (&'a Shell, &'a Arc<BTreeMap<OsString, OsString>>);

/// The means by which a capture starts its shell.
type Starter<'a> = (&'a Supervisor, &'a Arc<dyn Clock>);

/// The snapshots of a [`ShellCache`](crate::ShellCache).
#[derive(Debug)]
pub(crate) struct SnapshotCache {
    options: Option<SnapshotOptions>,
    /// Sorted by use, the least recently used first.
    entries: Mutex<Vec<Arc<CacheEntry>>>,
    projects: ProjectFinder,
}

/// A call's snapshot, if any.
#[derive(Debug, Default)]
pub(crate) struct SnapshotForCall {
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    /// Set for the first call that a failed capture affects. Also set for the first call that gets
    /// a snapshot after earlier calls ran without it.
    pub(crate) notice: Option<Notice>,
    entry: Option<Arc<CacheEntry>>,
}

impl SnapshotForCall {
    /// Adds the notices about the configuration to the outcome of its call.
    pub(crate) fn add_notices(self, spec: &RunSpec, outcome: &mut Outcome) {
        if outcome.ending == (ScriptEnding::Exited { code: NOT_FOUND }) {
            outcome
                .notices
                .extend(self.missing_command_notice(&spec.script));
        }
        outcome.notices.extend(self.notice);
    }

    /// Returns the notice for a call whose command was not found, if an excluded part of the
    /// configuration may define it. Each reason is reported once.
    fn missing_command_notice(&self, script: &str) -> Option<Notice> {
        let entry = self.entry.as_ref()?;
        let (name, reason) = entry.missing_command(script)?;
        let name = name.to_owned();
        Some(NoticeKind::DefinitionMissing { name, reason }.into())
    }
}

/// Everything that a capture depends on.
#[derive(Debug, Clone)]
struct CacheKey {
    shell: Shell,
    base: Arc<BTreeMap<OsString, OsString>>,
    /// The identity of the configuration file; all zero if its metadata cannot be read.
    rc: FileIdentity,
    project: Project,
}

/// A snapshot, or the capture that will produce it.
#[derive(Debug)]
struct CacheEntry {
    key: CacheKey,
    captured: OnceLock<Captured>,
    /// True after the capture has ended.
    is_finished: watch::Sender<bool>,
    is_started: AtomicBool,
    /// True after a call reached the maximum wait. Later calls do not wait at all.
    is_slow: AtomicBool,
    /// True after a call got the notice about the slow capture.
    slowness_is_reported: AtomicBool,
    /// True after a call got the notice about the result.
    result_is_reported: AtomicBool,
    /// The reasons that were reported for commands that were not found.
    reported_reasons: Mutex<BTreeSet<String>>,
}

/// The result of a capture.
#[derive(Debug)]
enum Captured {
    Snapshot(Arc<Snapshot>),
    /// The capture failed at this time, for this reason.
    Failed {
        at: Duration,
        reason: String,
    },
}

impl SnapshotCache {
    pub(crate) fn new(options: Option<SnapshotOptions>) -> Self {
        Self {
            options,
            entries: Mutex::new(Vec::new()),
            projects: ProjectFinder::default(),
        }
    }

    /// Returns the snapshot for a call that begins in `cwd`. If the cache has no snapshot for the
    /// call's shell, environment, configuration and project, starts a capture, and waits for it for
    /// at most `max_wait`. Cancel safe: the capture continues.
    pub(crate) async fn for_call(
        &self,
        spec: &RunSpec,
        cwd: &Path,
        starter: Starter<'_>,
    ) -> SnapshotForCall {
        if !spec.snapshot || spec.definitions.is_some() && spec.session.is_none() {
            return SnapshotForCall::default();
        }
        let shell = (&spec.shell, &spec.env.base);
        self.for_shell(shell, cwd, starter).await
    }

    /// Returns the snapshot for this shell, environment and directory. Waits like
    /// [`Self::for_call`].
    pub(crate) async fn for_shell(
        &self,
        shell: ShellAndBase<'_>,
        cwd: &Path,
        starter: Starter<'_>,
    ) -> SnapshotForCall {
        let Some((entry, options)) = self.get_or_capture(shell, cwd, starter).await else {
            return SnapshotForCall::default();
        };
        if entry.captured.get().is_none() {
            return SnapshotForCall {
                notice: entry.slow_capture_notice(options),
                entry: Some(entry),
                ..SnapshotForCall::default()
            };
        }
        SnapshotForCall {
            entry: Some(Arc::clone(&entry)),
            ..entry.for_call()
        }
    }

    /// Returns the snapshot like [`Self::for_shell`], but marks no notice as reported.
    pub(crate) async fn peek(
        &self,
        shell: ShellAndBase<'_>,
        cwd: &Path,
        starter: Starter<'_>,
    ) -> Option<Arc<Snapshot>> {
        let entry = self.get_or_capture(shell, cwd, starter);
        match entry.await?.0.captured.get()? {
            Captured::Snapshot(snapshot) => Some(Arc::clone(snapshot)),
            Captured::Failed { .. } => None,
        }
    }

    /// Returns the entry for a shell in a directory. Starts the capture if necessary, and waits for
    /// its end for at most `max_wait`. Returns `None` if no configuration can be loaded.
    async fn get_or_capture(
        &self,
        (shell, base): ShellAndBase<'_>,
        cwd: &Path,
        (supervisor, clock): Starter<'_>,
    ) -> Option<(Arc<CacheEntry>, &SnapshotOptions)> {
        let options = self.options.as_ref().filter(|_| shell.is_bash)?;
        let rc = rc_identity(options)?;
        let home = base.get(OsStr::new("HOME"));
        let key = CacheKey {
            shell: shell.clone(),
            base: Arc::clone(base),
            rc,
            project: self
                .projects
                .project(cwd, home.map(Path::new), clock.wall()),
        };
        let entry = self.entry(key, clock.now());
        if !entry.is_started.swap(true, Ordering::AcqRel) {
            let reader = ConfigurationReader {
                supervisor: supervisor.clone(),
                clock: Arc::clone(clock),
                shell: entry.key.shell.clone(),
                base: Arc::clone(&entry.key.base),
                directory: entry.key.project.directory.clone(),
                options: options.clone(),
            };
            spawn_capture(Arc::clone(&entry), reader);
        }
        if entry.captured.get().is_none() && !entry.is_slow.load(Ordering::Acquire) {
            let mut is_finished = entry.is_finished.subscribe();
            tokio::select! {
                biased;
                _ = is_finished.wait_for(|is_finished| *is_finished) => {}
                () = clock.sleep(options.max_wait) => entry.is_slow.store(true, Ordering::Release),
            }
        }
        Some((entry, options))
    }

    /// Returns the entry for a key. Creates an entry for a new key, and replaces an unusable entry.
    fn entry(&self, key: CacheKey, now: Duration) -> Arc<CacheEntry> {
        let mut entries = lock(&self.entries);
        if let Some(index) = entries.iter().position(|entry| entry.key == key)
            && entries[index].is_usable(now)
        {
            let entry = entries.remove(index);
            entries.push(Arc::clone(&entry));
            return entry;
        }
        // An entry for an earlier version of the files is never requested again.
        entries.retain(|entry| !entry.key.is_same_except_files(&key));
        if entries.len() >= MAX_SNAPSHOTS {
            entries.remove(0);
        }
        let entry = Arc::new(CacheEntry {
            key,
            captured: OnceLock::new(),
            is_finished: watch::Sender::new(false),
            is_started: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
            slowness_is_reported: AtomicBool::new(false),
            result_is_reported: AtomicBool::new(false),
            reported_reasons: Mutex::default(),
        });
        entries.push(Arc::clone(&entry));
        entry
    }
}

impl CacheEntry {
    fn is_usable(&self, now: Duration) -> bool {
        match self.captured.get() {
            None => true,
            Some(Captured::Snapshot(snapshot)) => snapshot.file.exists(),
            Some(Captured::Failed { at, .. }) => now.saturating_sub(*at) < RETRY_INTERVAL,
        }
    }

    /// Returns the notice for the first call whose wait ended before the capture.
    fn slow_capture_notice(&self, options: &SnapshotOptions) -> Option<Notice> {
        let was_reported = self.slowness_is_reported.swap(true, Ordering::AcqRel);
        let slow = SkipReason::Slow {
            rc: options.rc.clone(),
            limit: options.max_wait,
        };
        let reason = slow.to_string();
        (!was_reported).then(|| NoticeKind::SnapshotSkipped { reason }.into())
    }

    /// Returns a command of the script that is probably missing because the snapshot has no
    /// definition of it, and the reason.
    fn missing_command<'a>(&self, script: &'a str) -> Option<(&'a str, String)> {
        let words = script.split(|c: char| c.is_whitespace() || ";|&(){}`\"'".contains(c));
        let mut words = words.filter(|word| !word.is_empty());
        let Some(captured) = self.captured.get() else {
            let reason = "the configuration is still being read; try again later";
            return Some((words.next()?, reason.to_owned()));
        };
        let (name, reason) = match captured {
            Captured::Failed { reason, .. } => (words.next()?, reason.clone()),
            Captured::Snapshot(snapshot) => {
                if let Some(name) = words.clone().find(|word| snapshot.excluded.contains(*word)) {
                    let reason =
                        "a variable that the definition needs holds a secret, or cannot be loaded";
                    (name, reason.to_owned())
                } else {
                    let program = snapshot.exec_program.as_deref()?;
                    let reason = format!(
                        "the configuration runs `exec {program}`, and the configuration of {program} is not loaded"
                    );
                    (words.next()?, reason)
                }
            }
        };
        let mut reported_reasons = lock(&self.reported_reasons);
        reported_reasons
            .insert(reason.clone())
            .then_some((name, reason))
    }

    /// Returns the result of the capture, with a notice if no call has reported it.
    fn for_call(&self) -> SnapshotForCall {
        let report = |notice: NoticeKind| {
            let is_new = !self.result_is_reported.swap(true, Ordering::AcqRel);
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
                notice: if self.is_slow.load(Ordering::Acquire) {
                    report(NoticeKind::SnapshotLoaded)
                } else {
                    None
                },
                entry: None,
            },
        }
    }
}

/// Starts the capture in a separate task, so that neither the end of a call nor its timeout
/// interrupts the configuration.
fn spawn_capture(entry: Arc<CacheEntry>, reader: ConfigurationReader) {
    tokio::spawn(async move {
        let captured = match capture(&reader, entry.key.rc).await {
            Ok(snapshot) => Captured::Snapshot(Arc::new(snapshot)),
            Err(skipped) => Captured::Failed {
                at: reader.clock.now(),
                reason: skipped.to_string(),
            },
        };
        // Cannot fail: only this task sets the value, once.
        let _ = entry.captured.set(captured);
        entry.is_finished.send_replace(true);
    });
}

impl CacheKey {
    /// True if both keys are equal apart from the identities of the files.
    fn is_same_except_files(&self, other: &Self) -> bool {
        // Equal environments usually share one allocation.
        (Arc::ptr_eq(&self.base, &other.base) || self.base == other.base)
            && self.shell == other.shell
            && self.project.directory == other.project.directory
    }
}

impl PartialEq for CacheKey {
    fn eq(&self, other: &Self) -> bool {
        self.rc == other.rc && self.project == other.project && self.is_same_except_files(other)
    }
}

/// Returns the identity of the configuration file, `None` if the file does not exist.
fn rc_identity(options: &SnapshotOptions) -> Option<FileIdentity> {
    match std::fs::metadata(&options.rc) {
        Ok(metadata) => Some(FileIdentity::from(&metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(FileIdentity::default()),
    }
}
