//! Finds files that a call has changed and that run, configure or instruct programs outside the
//! sandbox. If a call has changed a settings file, the host continues to use the former text.

use super::exact_record::ExactRecord;
use super::workspaces::Workspaces;
use agent_bash_core::sandbox::Plan;
use agent_bash_core::{Clock, Timestamp, UncomparedDirectory};
use agent_bash_sandbox::{NameScan, links_and_target};
use agent_bash_settings::guarded_settings::{self, GuardedSettings, GuardedText, PROJECT_FILE};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The granularity of file times, in milliseconds. A file's time may be this much earlier than the
/// clock's time at the moment of the change.
const TICK_MS: u64 = 20;

/// The maximum number of paths in a result.
const MAX_PATHS: usize = 1000;

/// Time limit of the scan before a call, for slow file systems.
const SCAN_TIMEOUT_BEFORE: Duration = Duration::from_millis(150);
/// Time limit of the scan after a call, for slow file systems.
const SCAN_TIMEOUT_AFTER: Duration = Duration::from_millis(500);

/// A settings file before a call.
#[derive(Debug, Clone)]
pub(super) struct SettingsFile {
    /// The path at which the host looks for the file.
    path: PathBuf,
    /// The links of this path, and the file to which they lead.
    links_and_target: Vec<PathBuf>,
    /// The text that the host uses.
    text: Option<String>,
}

impl SettingsFile {
    fn is_among(&self, changed: &BTreeSet<&Path>) -> bool {
        let now = links_and_target(&self.path);
        let mut all = self.links_and_target.iter().chain(&now);
        all.any(|path| changed.contains(&**path))
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.path]
            .into_iter()
            .chain(&self.links_and_target)
            .map(|path| &**path)
    }
}

/// The files that are protected because of their names, as a scan before the call found them.
#[derive(Debug, Clone)]
pub struct NamesBeforeCall {
    scan: Arc<NameScan>,
    /// The time at which the call began.
    since: Timestamp,
    /// True if the scan was made after an earlier call.
    is_reused: bool,
    settings: Vec<SettingsFile>,
    /// Settings files that earlier calls have changed.
    guarded: Vec<GuardedText>,
}

/// The comparison after a call.
#[derive(Debug)]
pub(super) struct NamesAfterCall {
    /// The files that the call has changed.
    pub(super) changed: Vec<PathBuf>,
    /// The directories in which the call may have changed further files.
    pub(super) uncompared: Vec<UncomparedDirectory>,
    /// The new scan.
    pub(super) scan: Arc<NameScan>,
}

impl NamesBeforeCall {
    /// Scans the writable directories for protected names. `files` are the paths at which the host
    /// looks for settings.
    pub(super) fn before(
        plan: &Plan,
        clock: &dyn Clock,
        earlier: &NameScan,
        state: Option<&Path>,
        files: &[PathBuf],
    ) -> Self {
        let guarded = state.map(GuardedSettings::read).unwrap_or_default();
        let scan = NameScan::of(plan, earlier, &time_limit(clock, SCAN_TIMEOUT_BEFORE));
        let mut files: Vec<PathBuf> = files.to_vec();
        files.extend(scan.files_named(PROJECT_FILE).map(Path::to_owned));
        files.sort();
        files.dedup();
        let settings = files.into_iter().filter_map(|path| {
            let links_and_target = links_and_target(&path);
            let is_protected = |path: &PathBuf| plan.protected.contains(path);
            let is_writable = links_and_target.iter().any(is_protected)
                || path.ends_with(PROJECT_FILE)
                    && scan.files_named(PROJECT_FILE).any(|it| it == path);
            is_writable.then(|| SettingsFile {
                text: guarded.effective_text(&path),
                path,
                links_and_target,
            })
        });
        Self {
            settings: settings.collect(),
            guarded: guarded.in_force(),
            scan: Arc::new(scan),
            since: clock.wall(),
            is_reused: false,
        }
    }

    /// Returns the files of `scan`, which was made after an earlier call.
    pub(super) fn after_call(
        scan: Arc<NameScan>,
        since: Timestamp,
        settings: Vec<SettingsFile>,
    ) -> Self {
        Self {
            scan,
            since,
            is_reused: true,
            settings,
            // Calls that can write such a file are not prepared in this way.
            guarded: Vec::new(),
        }
    }

    pub(super) fn scan(&self) -> Arc<NameScan> {
        Arc::clone(&self.scan)
    }

    pub(super) fn settings(&self) -> &[SettingsFile] {
        &self.settings
    }

    /// Compares the files after the call. `known` are changed files that the caller has found; they
    /// are part of the returned files. `record` names the files that a scan did not reach.
    pub(super) fn changed(
        &self,
        plan: &Plan,
        mut known: Vec<PathBuf>,
        record: Option<&ExactRecord>,
        state: Option<&Path>,
        clock: &dyn Clock,
    ) -> NamesAfterCall {
        let now = self
            .scan
            .again(plan, &time_limit(clock, SCAN_TIMEOUT_AFTER));
        let since = self.since.0.saturating_sub(TICK_MS);
        let seconds = i64::try_from(since / 1000).unwrap_or(i64::MAX);
        let nanoseconds = i64::try_from(since % 1000).unwrap_or_default() * 1_000_000;
        let named = self
            .scan
            .changed(&now, plan, (seconds, nanoseconds), self.is_reused);
        let mut uncompared = self.scan.uncompared(&now);
        let record = record.filter(|_| !now.is_whole());
        if let Some((record, recorded)) = record.and_then(|it| Some((it, it.protected()?))) {
            let is_new = |path: &PathBuf| !plan.is_protected(path) && !now.has_read(path);
            known.extend(recorded.into_iter().filter(is_new));
            uncompared.retain(|(path, _)| !path.starts_with(record.root()));
        }
        // If a changed file lies in a changed directory, only the file is reported.
        let sorted: BTreeSet<&Path> = named.iter().map(|path| &**path).collect();
        let is_named = |path: &PathBuf| {
            let first = sorted.range(&**path..).next();
            first.is_some_and(|name| name.starts_with(path))
        };
        let mut changed: Vec<PathBuf> = known.into_iter().filter(|path| !is_named(path)).collect();
        changed.extend(named);
        self.guard(&changed, state);
        let replaced = self.scan.replaced_by_links(&now);
        if let Some(state) = state.filter(|_| !replaced.is_empty()) {
            Workspaces::read(state).record_replaced(state, plan, replaced);
        }
        changed.truncate(MAX_PATHS);
        let uncompared = uncompared.into_iter().take(MAX_PATHS);
        let uncompared = uncompared.map(|(path, unreached)| UncomparedDirectory {
            path: path.display().to_string(),
            unreached,
        });
        NamesAfterCall {
            changed,
            uncompared: uncompared.collect(),
            scan: Arc::new(now),
        }
    }

    /// Returns the text of a project's file that the call has moved with its directory. Unlike a
    /// file that the call has created, this one counts.
    fn moved_text(&self, path: &Path) -> Option<String> {
        let text = guarded_settings::text(path)?;
        let is_former = |file: &SettingsFile| {
            file.text.as_ref() == Some(&text) && file.path.symlink_metadata().is_err()
        };
        self.settings.iter().any(is_former).then_some(text)
    }

    /// Records the settings files that the call has changed, with the texts that stay in force.
    fn guard(&self, changed: &[PathBuf], state: Option<&Path>) {
        let Some(state) = state else {
            return;
        };
        // A call can create very many such files.
        let sorted: BTreeSet<&Path> = changed.iter().map(|path| &**path).collect();
        let known = self.settings.iter().filter(|file| file.is_among(&sorted));
        let known = known.map(|file| (file.path.clone(), file.text.clone()));
        let paths: BTreeSet<&Path> = self.settings.iter().flat_map(SettingsFile::paths).collect();
        let others = changed
            .iter()
            .filter(|path| path.ends_with(PROJECT_FILE) && !paths.contains(&***path));
        let others = others.map(|path| (path.clone(), self.moved_text(path)));
        let mut settings: BTreeMap<PathBuf, Option<String>> = others.chain(known).collect();
        // A call that writes the same text once more does not make the text the user's.
        let rewritten = self.guarded.iter().filter(|before| before.is_rewritten());
        for before in rewritten {
            let text = before.effective_text.clone();
            settings.entry(before.path.clone()).or_insert(text);
        }
        if settings.is_empty() {
            return;
        }
        if let Err(error) = GuardedSettings::add(state, settings) {
            tracing::warn!(%error, "settings that a sandboxed call has changed cannot be remembered");
        }
    }
}

/// Returns a function that returns true when `limit` has passed since this call.
fn time_limit(clock: &dyn Clock, limit: Duration) -> impl Fn() -> bool + '_ {
    let begun = clock.now();
    move || clock.now().saturating_sub(begun) > limit
}

#[cfg(all(test, target_os = "linux"))]
#[path = "names_tests.rs"]
mod tests;
