//! The sandbox of a tool's calls: the settings, the state between calls, and the sandbox of one
//! call.

mod caches;
pub mod denied;
mod exact_record;
mod file_access;
mod git_config;
mod names;
mod settings;
mod watched;
mod workspaces;

pub use caches::missed as missed_cache;
pub use file_access::TimedFileAccess;
pub use names::NamesBeforeCall;
pub use watched::WatchedPaths;

use crate::changes::{CallChanges, ChangeStore};
use agent_bash_core::sandbox::{
    Network, Plan, RefusedOperations, SandboxLevel, Tier, UnknownObservation, WriteLevel,
};
use agent_bash_core::{Clock, Timestamp, UncomparedDirectory, lock};
use agent_bash_sandbox::{
    HostFacts, NameScan, ParentDirectories, PathIdentity, PlanStamp, ResolveError, ResolvedSandbox,
    user_secrets,
};
use agent_bash_settings::{HostContext, Placeholders, SandboxSettings, guarded_settings};
use exact_record::ExactRecord;
use git_config::{MAX_GIT_RUNS, MAX_GIT_RUNS_BEFORE_CALL, MergedConfig, Removal};
use names::{NamesAfterCall, SettingsFile};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use workspaces::Workspaces;

/// The time limit for a merge of git's configuration, which starts git once for each key.
const MERGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The settings of the sandbox, and the state that calls share.
#[derive(Debug, Default)]
pub struct SandboxState {
    /// The settings in force.
    pub settings: SandboxSettings,
    /// The access to files within a time limit.
    pub file_access: TimedFileAccess,
    /// The plan of the settings without a request's changes.
    cached: Mutex<Option<CachedPlan>>,
    /// The workspace, determined once.
    workspace: OnceLock<PathBuf>,
    /// The scan of the protected file names after the last call.
    names: Mutex<Option<Arc<NameScan>>>,
    /// The configuration of git after the last call that left it unchanged.
    git_config: Mutex<Option<MergedConfig>>,
    /// Keys that a merge has dropped, and that no result has named yet.
    dropped_git_keys: Mutex<Vec<String>>,
    /// The removal of what merges have set aside.
    removal: Removal,
    /// The state directory.
    state: Option<PathBuf>,
    /// The paths where the host looks for settings.
    settings_files: Arc<[PathBuf]>,
    /// True once a result has reported the promises that this system cannot enforce.
    partial: AtomicBool,
    /// The source of the placeholders in plans.
    placeholders: Placeholders,
}

/// A plan, and the facts from which the plan was made. Warm shells are stored by their plan, so a
/// new plan is made only if it would differ.
#[derive(Debug)]
struct CachedPlan {
    facts: HostFacts,
    plan: Arc<Plan>,
    stamp: PlanStamp,
    /// The protected paths that were replaced since the first plan. A persistent shell from before
    /// a replacement does not protect the new file.
    replaced: BTreeSet<PathBuf>,
    /// The number of replacements so far. Warm shells from before a replacement get no more calls.
    replacements: u64,
    /// The parent directories of the protected paths, if the last preparation examined them.
    parent_state: Option<SettledParents>,
    /// Settings files in writable directories, with the texts that the host uses.
    settings: Vec<SettingsFile>,
    /// The secrets of the user that the plan hides only if they exist.
    user_secrets: Vec<PathBuf>,
}

/// The parent directories of the protected paths, and how long they are unchanged.
#[derive(Debug)]
struct SettledParents {
    parents: ParentDirectories,
    since: Duration,
    /// The states of the protected paths, once the directories have been unchanged long enough.
    settled: Option<WatchedPaths>,
}

/// The sandbox of one call, before the call.
#[derive(Debug)]
pub struct PreparedSandbox {
    /// The plan of the sandbox.
    pub plan: Arc<Plan>,
    /// The number of the pool. Only a warm shell of the same pool may run the call.
    pub pool: Option<u64>,
    /// The states of the protected paths.
    pub before: WatchedPaths,
    /// The files that are protected because of their names.
    pub names: Option<NamesBeforeCall>,
}

impl SandboxState {
    /// Creates the state of a sandbox without a host's state directory.
    pub fn new(settings: SandboxSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Sets the state directory and the settings paths of a host.
    #[must_use]
    pub fn with_host(self, host: &HostContext) -> Self {
        let directory = self.settings.directory.as_deref();
        Self {
            state: host.state_dir(),
            settings_files: guarded_settings::paths(host, directory).into(),
            ..self
        }
    }

    /// Resolves the plan of these settings; `None` if they ask for no sandbox.
    fn resolved(
        &self,
        settings: &SandboxSettings,
        facts: &HostFacts,
    ) -> Result<Option<ResolvedSandbox>, ResolveError> {
        let mut resolved = settings::resolved(settings, facts, self.state.as_deref())?;
        if let Some(ResolvedSandbox { plan, .. }) = &mut resolved
            && plan.network == Network::Hosts
        {
            plan.secrets = settings.host_secrets(&facts.env, &self.placeholders);
        }
        Ok(resolved)
    }

    /// Returns the host's facts for this tier. Reads no files.
    pub fn facts(&self, host: &HostContext, tier: Tier) -> HostFacts {
        let directory = self.settings.directory.as_ref().unwrap_or(&host.cwd);
        HostFacts {
            env: Arc::clone(&host.env),
            settings: Arc::clone(&self.settings_files),
            state: self.state.clone(),
            ..HostFacts::new(host.home.clone(), directory.clone(), tier)
        }
    }

    /// Returns the sandbox of a call from the cached plan, if the kernel's caches show that the
    /// protected paths are unchanged. Does not block, so it needs no other thread: starting a
    /// thread takes longer than many calls.
    pub fn prepare_from_cache(
        &self,
        facts: &HostFacts,
        now: Duration,
        in_session: bool,
        wall: Timestamp,
    ) -> Option<PreparedSandbox> {
        let mut cached = self.cached.try_lock().ok()?;
        let cached = cached.as_mut().filter(|cached| {
            let same = cached.facts.home == facts.home
                && cached.facts.tier == facts.tier
                && cached.facts.env == facts.env;
            same && (cached.replaced.is_empty() || !in_session)
                && cached.has_same_secrets()
                && cached.is_known_to_have_caches()
                && self.is_git_config_merged(&cached.plan)
        })?;
        let names = match cached.plan.level {
            WriteLevel::ReadOnly => None,
            WriteLevel::WorkspaceWrite => {
                let scan = self.names.try_lock().ok()?.clone()?;
                Some(NamesBeforeCall::after_call(
                    scan,
                    wall,
                    cached.settings.clone(),
                ))
            }
        };
        Some(PreparedSandbox {
            before: cached.unchanged_paths(now)?,
            plan: Arc::clone(&cached.plan),
            pool: Some(cached.pool()),
            names,
        })
    }

    /// Returns the sandbox of a call; `None` without a sandbox. Reads files, so it may block.
    ///
    /// `changed` is the settings with the request's changes; `None` for a request without changes.
    /// `in_session` is true for a call in a persistent shell, which may be older than the plan.
    pub fn prepare(
        &self,
        changed: Option<&SandboxSettings>,
        facts: HostFacts,
        in_session: bool,
        clock: &dyn Clock,
    ) -> Result<Option<PreparedSandbox>, ResolveError> {
        let mut cached = lock(&self.cached);
        let mut workspaces = self.state.as_deref().map(Workspaces::read);
        let known = workspaces.as_ref().map(Workspaces::known);
        let facts = HostFacts {
            known: known.unwrap_or_default().into(),
            ..facts
        };
        // The workspace remains the same, even if repositories are created or removed.
        let facts = match self.workspace.get() {
            Some(workspace) => HostFacts {
                directory: workspace.clone(),
                ..facts
            },
            None => facts,
        };
        let mut remember = |facts: &HostFacts, resolved: &ResolvedSandbox| {
            if let (Some(workspaces), Some(state)) = (&mut workspaces, &self.state) {
                workspaces.remember(state, facts, resolved);
            }
        };
        if let Some(changed) = changed {
            let Some(resolved) = self.resolved(changed, &facts)? else {
                return Ok(None);
            };
            remember(&facts, &resolved);
            let plan = Arc::new(resolved.plan);
            self.merge_git_config(&plan, MAX_GIT_RUNS_BEFORE_CALL);
            return Ok(Some(PreparedSandbox {
                before: WatchedPaths::before(&plan, &PlanStamp::of(&plan), &BTreeSet::new()),
                names: self.scan_before(&plan, clock, &NameScan::default()),
                plan,
                pool: None,
            }));
        }
        let now = match cached.take() {
            Some(last) if last.is_for(&facts) && last.has_same_secrets() && last.has_caches() => {
                last.refreshed(self, &facts)?
            }
            last => {
                let Some(resolved) = self.resolved(&self.settings, &facts)? else {
                    return Ok(None);
                };
                remember(&facts, &resolved);
                let mut cached = CachedPlan::new(facts, resolved);
                // A warm shell may have a removed cache mounted.
                cached.replacements = last.map_or(0, |last| last.replacements + 1);
                if cached.plan.level == WriteLevel::WorkspaceWrite {
                    self.workspace
                        .get_or_init(|| cached.facts.directory.clone());
                }
                cached
            }
        };
        let names = lock(&self.names);
        let earlier = names.clone().unwrap_or_default();
        drop(names);
        let names = self.scan_before(&now.plan, clock, &earlier);
        let now = CachedPlan {
            settings: names.iter().flat_map(|it| it.settings().to_vec()).collect(),
            ..now
        };
        if let Some(names) = &names {
            self.store_scan(names.scan());
        }
        let nothing = BTreeSet::new();
        let replaced = if in_session { &now.replaced } else { &nothing };
        let prepared = PreparedSandbox {
            before: WatchedPaths::before(&now.plan, &now.stamp, replaced),
            plan: Arc::clone(&now.plan),
            pool: Some(now.pool()),
            names,
        };
        self.merge_git_config(&now.plan, MAX_GIT_RUNS_BEFORE_CALL);
        *cached = Some(now);
        Ok(Some(prepared))
    }

    /// Scans the files before a call; `None` if the call cannot write the workspace.
    fn scan_before(
        &self,
        plan: &Plan,
        clock: &dyn Clock,
        earlier: &NameScan,
    ) -> Option<NamesBeforeCall> {
        let is_writing = plan.level == WriteLevel::WorkspaceWrite;
        let (state, files) = (self.state.as_deref(), &self.settings_files);
        is_writing.then(|| NamesBeforeCall::before(plan, clock, earlier, state, files))
    }

    /// True if the kernel's caches show that no call has changed its copy of git's configuration.
    fn is_git_config_merged(&self, plan: &Plan) -> bool {
        plan.git_config.as_ref().is_none_or(|redirected| {
            let merged = self.git_config.try_lock();
            merged.is_ok_and(|it| it.as_ref().is_some_and(|it| it.is_current(redirected)))
        })
    }

    /// Writes the harmless changes that calls have made to their copy of git's configuration.
    /// Stores the other changed keys for [`Self::take_dropped_git_keys`].
    fn merge_git_config(&self, plan: &Plan, max_git_runs: usize) {
        if let Some(redirected) = &plan.git_config {
            let outcome = git_config::merge(redirected, max_git_runs);
            self.removal.start(redirected);
            *lock(&self.git_config) = outcome.merged;
            lock(&self.dropped_git_keys).extend(outcome.dropped);
        }
    }

    /// Returns the dropped keys that no result has named yet: also those of a preparation that took
    /// too long, or that announced a call.
    pub fn take_dropped_git_keys(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.dropped_git_keys))
    }

    /// Stores a scan for the next call.
    fn store_scan(&self, scan: Arc<NameScan>) {
        *lock(&self.names) = Some(scan);
    }

    /// True for the first call of this function only, so that a partial sandbox is reported once.
    pub fn is_first_partial(&self) -> bool {
        !self.partial.swap(true, Ordering::Relaxed)
    }
}

impl CachedPlan {
    fn new(mut facts: HostFacts, ResolvedSandbox { plan, workspace }: ResolvedSandbox) -> Self {
        if let Some(workspace) = workspace {
            facts.directory = workspace;
        }
        Self {
            stamp: PlanStamp::of(&plan),
            facts,
            plan: Arc::new(plan),
            replaced: BTreeSet::new(),
            replacements: 0,
            parent_state: None,
            settings: Vec::new(),
            user_secrets: user_secrets(),
        }
    }

    /// True if the same files exist that the plan hides only if they exist.
    fn has_same_secrets(&self) -> bool {
        self.user_secrets == user_secrets()
    }

    /// True if the plan was made from these facts. Ignores workspaces that other hosts have
    /// recorded since.
    fn is_for(&self, facts: &HostFacts) -> bool {
        let known = Arc::clone(&self.facts.known);
        self.facts
            == HostFacts {
                known,
                ..facts.clone()
            }
    }

    /// True if all caches and copies that calls may write exist. The mounts need them.
    fn has_caches(&self) -> bool {
        self.caches().all(Path::is_dir)
    }

    /// True if the kernel's caches show that [`Self::has_caches`] holds.
    fn is_known_to_have_caches(&self) -> bool {
        let is_known = |cache| PathIdentity::known(cache).is_ok_and(|found| found.is_some());
        self.caches().all(is_known)
    }

    fn caches(&self) -> impl Iterator<Item = &Path> {
        let caches = &self.plan.caches;
        let mounted = caches.mounts.iter().flat_map(|(from, over)| [from, over]);
        let copies = self.plan.git_config.iter().map(|it| &it.directory);
        let all = caches.writable.iter().chain(mounted).chain(copies);
        all.map(PathBuf::as_path)
    }

    /// Returns the number for [`PreparedSandbox::pool`]. A replacement of a protected path
    /// removes the mounts of older warm shells, so the number changes. The base tier has no mounts.
    fn pool(&self) -> u64 {
        match self.plan.tier {
            Tier::Base => 0,
            Tier::Full => self.replacements,
        }
    }

    /// Returns the protected paths if the kernel's caches show that they are unchanged since the
    /// plan. Once the parent directories have been unchanged for a while, the paths are not
    /// checked.
    fn unchanged_paths(&mut self, now: Duration) -> Option<WatchedPaths> {
        let seen = self
            .parent_state
            .take()
            .filter(|seen| seen.parents.are_unchanged());
        if let Some(SettledParents {
            settled: Some(before),
            ..
        }) = &seen
        {
            let before = before.clone();
            self.parent_state = seen;
            return Some(before);
        }
        // The parents are read before the paths, so that the next call detects a change meanwhile.
        let seen = match seen {
            Some(seen) => Some(seen),
            None => ParentDirectories::known(&self.plan)
                .ok()
                .map(|parents| SettledParents {
                    parents,
                    since: now,
                    settled: None,
                }),
        };
        let stamp = PlanStamp::known(&self.plan).ok();
        let stamp = stamp.filter(|stamp| *stamp == self.stamp)?;
        let before = WatchedPaths::without_reading(&self.plan, &stamp)?;
        self.parent_state = seen.map(|seen| SettledParents {
            settled: (now.saturating_sub(seen.since) >= ParentDirectories::SETTLED_AGE)
                .then(|| before.clone().with_parents(seen.parents.clone())),
            ..seen
        });
        Some(before)
    }

    /// Returns this plan, or a new plan if the inputs of this plan have changed.
    fn refreshed(mut self, own: &SandboxState, facts: &HostFacts) -> Result<Self, ResolveError> {
        let stamp = PlanStamp::of(&self.plan);
        if stamp == self.stamp {
            return Ok(self);
        }
        let replaced: Vec<&Path> = stamp.replaced_since(&self.stamp).collect();
        self.replacements += u64::from(!replaced.is_empty());
        self.replaced
            .extend(replaced.into_iter().map(Path::to_owned));
        self.parent_state = None;
        let resolved = own.resolved(&own.settings, facts)?;
        if let Some(plan) = resolved
            .map(|it| it.plan)
            .filter(|plan| *plan != *self.plan)
        {
            self.stamp = PlanStamp::of(&plan);
            self.plan = Arc::new(plan);
        } else {
            self.stamp = stamp;
        }
        Ok(self)
    }
}

/// The sandbox of a call, or the approval to run without one.
#[derive(Debug, Default)]
pub struct CallSandbox {
    /// The write access.
    pub level: SandboxLevel,
    /// The network.
    pub network: Network,
    /// True if an approver has allowed the call more than the settings allow.
    pub escalated: bool,
    /// `None` for a call that runs without a sandbox.
    pub plan: Option<Arc<Plan>>,
    /// The number of the pool. Only a warm shell of the same pool may run the call.
    pub pool: Option<u64>,
    /// The states of the protected paths before the call.
    pub before: Option<WatchedPaths>,
    /// The files that are protected because of their names, as they were before the call.
    pub names: Option<NamesBeforeCall>,
    /// True if a program ended with `SIGSYS`.
    pub ended_by_sigsys: bool,
    /// True if the output names a Unix socket that was refused.
    pub refused_socket: bool,
    /// The operations whose error the output of the failed command names, if no file or socket
    /// explains the failure.
    pub refused_operations: Option<RefusedOperations>,
    /// The program whose output reports that its cache lacks a file, and the user's cache of that
    /// program.
    pub missed_cache: Option<(&'static str, PathBuf)>,
    /// Protected paths that changed during the call.
    pub changed: Vec<PathBuf>,
    /// Directories in which the call may have changed further files that count.
    pub uncompared: Vec<UncomparedDirectory>,
    /// Keys of git's configuration that were changed in the sandbox, and that the host has changed
    /// back.
    pub dropped_git_keys: Vec<String>,
    /// The checks without a result, because a file system did not respond.
    pub unknown: Vec<UnknownObservation>,
}

impl CallSandbox {
    /// True if the call runs in a network namespace of its own, or in one that it shares with other
    /// calls in an equal sandbox.
    pub fn has_own_network(&self) -> bool {
        self.plan
            .as_ref()
            .is_some_and(|plan| plan.has_own_network())
    }

    /// Writes the harmless changes that the call has made to its copy of git's configuration. To be
    /// called after the call's end, before its change set is closed.
    pub async fn merge_git_config(&mut self, own: &Arc<SandboxState>, clock: &Arc<dyn Clock>) {
        let plan = self.plan.clone();
        if let Some(plan) = plan.filter(|plan| !own.is_git_config_merged(plan)) {
            self.merge_changed_git_config(plan, own, clock).await;
        }
        own.removal.wait(&**clock).await;
    }

    async fn merge_changed_git_config(
        &mut self,
        plan: Arc<Plan>,
        own: &Arc<SandboxState>,
        clock: &Arc<dyn Clock>,
    ) {
        let tool = Arc::clone(own);
        let merge = move || tool.merge_git_config(&plan, MAX_GIT_RUNS);
        tokio::select! {
            biased;
            _ = own.file_access.unlimited(merge) => {
                self.dropped_git_keys.extend(own.take_dropped_git_keys());
            }
            () = clock.sleep(MERGE_TIMEOUT) => self.unknown.push(UnknownObservation::Changed),
        }
    }

    /// Stores the protected paths that changed during the call. To be called after the call's end.
    /// `recorded` are the changes of the call in `store`.
    pub async fn find_changed(
        &mut self,
        own: &Arc<SandboxState>,
        (store, recorded): (&Arc<ChangeStore>, &CallChanges),
        clock: &Arc<dyn Clock>,
    ) {
        let before = self.before.take().filter(|before| !before.is_empty());
        let names = self.names.take();
        let known = match &before {
            Some(before) => before.changed_by_cache(),
            None => Some(Vec::new()),
        };
        if let (Some(changed), None) = (&known, &names) {
            self.changed.clone_from(changed);
            return;
        }
        let (tool, time, plan) = (Arc::clone(own), Arc::clone(clock), self.plan.clone());
        let record = ExactRecord::of(store, recorded);
        let look = move || {
            let watched =
                known.unwrap_or_else(|| before.map(WatchedPaths::changed).unwrap_or_default());
            let (Some(names), Some(plan)) = (names, plan) else {
                return (watched, Vec::new());
            };
            let state = tool.state.as_deref();
            let NamesAfterCall {
                changed,
                uncompared,
                scan,
            } = names.changed(&plan, watched, record.as_ref(), state, &*time);
            tool.store_scan(scan);
            (changed, uncompared)
        };
        match own.file_access.within_limit(&**clock, look).await {
            Some((changed, uncompared)) => {
                self.changed = changed;
                self.uncompared = uncompared;
            }
            None => self.unknown.push(UnknownObservation::Changed),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "sandbox_tests.rs"]
mod tests;
