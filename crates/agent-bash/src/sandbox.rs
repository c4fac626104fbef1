//! The sandbox of a tool's calls: the settings, the state between calls, and the sandbox of one
//! call.

mod looks;
mod names;
mod options;
mod watched;
mod workspaces;

pub(crate) use looks::FileSystemLooks;
pub use options::{Escalation, LackingPolicy, TmpDirectory};
pub(crate) use watched::WatchedPaths;

use crate::HostContext;
use crate::guarded_settings;
use agent_bash_core::sandbox::{Level, Network, Plan, SandboxLevel, Tier, Unknown};
use agent_bash_core::{Clock, Timestamp};
use agent_bash_sandbox::{
    HostFacts, NameScan, ParentDirectories, PlanStamp, ResolveError, ResolvedSandbox,
    WantedSandbox, resolve,
};
use names::{NamesBeforeCall, SettingsFile};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use workspaces::Workspaces;

/// Settings of the sandbox: section `[sandbox]`. By default, there is no sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The write access.
    pub level: SandboxLevel,
    /// The network of calls.
    pub network: Network,
    /// The policy if the system cannot enforce all promises.
    pub lacking: LackingPolicy,
    /// Writable in addition to the workspace; absolute, or beginning with `~/`, as all of these.
    pub writable: Vec<PathBuf>,
    /// Readable although they would be hidden.
    pub readable: Vec<PathBuf>,
    /// Hidden in addition to the usual secrets.
    pub hidden: Vec<PathBuf>,
    /// Protected in addition to files that run or configure programs outside of the sandbox.
    pub protected: Vec<PathBuf>,
    /// Devices in addition to the harmless ones.
    pub devices: Vec<PathBuf>,
    /// The temporary directory that may be written.
    pub tmp: TmpDirectory,
    /// The policy for a call that asks for more than the settings allow.
    pub escalation: Escalation,
    /// The directory that the workspace is looked for from, upwards; without one, the host's. Not
    /// for settings files.
    pub directory: Option<PathBuf>,
}

/// The system's secrets that this process could read, which is to say root. Other boxes do not hide
/// them, as root's `su` needs them.
fn passwords() -> Vec<PathBuf> {
    const PASSWORD_FILES: [&str; 5] = [
        "/etc/shadow",
        "/etc/shadow-",
        "/etc/gshadow",
        "/etc/gshadow-",
        "/etc/security/opasswd",
    ];
    let readable = PASSWORD_FILES
        .into_iter()
        .filter(|file| File::open(file).is_ok());
    readable.map(PathBuf::from).collect()
}

impl SandboxSettings {
    /// Returns these settings made as strict as safe mode promises: calls write only their own
    /// temporary files, reach nothing outside, and cannot ask for more. A private loopback network
    /// remains, because tests need it.
    #[must_use]
    pub fn in_safe_mode(self) -> Self {
        Self {
            level: SandboxLevel::ReadOnly,
            network: match self.network {
                Network::On => Network::Off,
                inward => inward,
            },
            writable: Vec::new(),
            devices: Vec::new(),
            hidden: [self.hidden, passwords()].concat(),
            tmp: TmpDirectory::Private,
            escalation: Escalation::Never,
            ..self
        }
    }

    /// Returns the wanted sandbox at `level`.
    fn wanted(&self, level: Level) -> WantedSandbox {
        WantedSandbox {
            network: self.network,
            writable: self.writable.clone(),
            readable: self.readable.clone(),
            hidden: self.hidden.clone(),
            protected: self.protected.clone(),
            devices: self.devices.clone(),
            shared_tmp: self.tmp == TmpDirectory::Shared,
            ..WantedSandbox::new(level)
        }
    }

    /// The plan of the box, where there is one.
    fn resolved(&self, facts: &HostFacts) -> Result<Option<ResolvedSandbox>, ResolveError> {
        let Some(level) = self.level.confined() else {
            return Ok(None);
        };
        resolve(&self.wanted(level), facts).map(Some)
    }
}

/// The settings, and what calls share.
#[derive(Debug, Default)]
pub(crate) struct SandboxState {
    pub(crate) settings: SandboxSettings,
    pub(crate) looks: FileSystemLooks,
    /// The plan of the settings as they are.
    made: Mutex<Option<CachedPlan>>,
    /// The workspace, found once.
    workspace: OnceLock<PathBuf>,
    /// The scan after the last call.
    names: Mutex<Option<Arc<NameScan>>>,
    /// The state directory.
    state: Option<PathBuf>,
    /// The paths where the host looks for settings.
    settings_files: Arc<[PathBuf]>,
    /// A call was told what is missing.
    partial: AtomicBool,
}

/// A plan, and what it was made from. Shells that wait are kept by the plan, so it is made again
/// only if it would be another one.
#[derive(Debug)]
struct CachedPlan {
    facts: HostFacts,
    plan: Arc<Plan>,
    stamp: PlanStamp,
    /// Paths that were replaced since the first plan: an older persistent shell does not protect
    /// them.
    replaced: BTreeSet<PathBuf>,
    /// The number of replacements: other shells from before take no more calls.
    replacements: u64,
    /// The parent directories of all these paths, if the last look examined them.
    surroundings: Option<SettledSurroundings>,
    /// Settings files in writable directories, with the texts that count.
    settings: Vec<SettingsFile>,
}

/// The directories around what is protected, and since when they have been as they are.
#[derive(Debug)]
struct SettledSurroundings {
    around: ParentDirectories,
    since: Duration,
    /// The protected paths as found in them, once they had settled.
    settled: Option<WatchedPaths>,
}

/// The box of one call, before it.
#[derive(Debug)]
pub(crate) struct PreparedSandbox {
    pub(crate) plan: Arc<Plan>,
    /// The number of the plan; only waiting shells with the same number may run the call.
    pub(crate) pool: Option<u64>,
    /// Protected files as they are.
    pub(crate) before: WatchedPaths,
    /// The files that count by their names.
    pub(crate) names: Option<NamesBeforeCall>,
}

impl SandboxState {
    pub(crate) fn new(settings: SandboxSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Takes over the state directory and the settings paths of a host.
    pub(crate) fn of_host(self, host: &HostContext) -> Self {
        let directory = self.settings.directory.as_deref();
        Self {
            state: host.state_dir(),
            settings_files: guarded_settings::paths(host, directory).into(),
            ..self
        }
    }

    /// Returns the facts for this tier that need no file access.
    pub(crate) fn facts(&self, host: &HostContext, tier: Tier) -> HostFacts {
        let directory = self.settings.directory.as_ref().unwrap_or(&host.cwd);
        HostFacts {
            env: Arc::clone(&host.env),
            settings: Arc::clone(&self.settings_files),
            ..HostFacts::new(host.home.clone(), directory.clone(), tier)
        }
    }

    /// The box of a call for which no file system has to be asked: its plan is made, and as the
    /// kernel knows from its caches, what it protects is as it was. A thread for each look would
    /// take longer than many a call.
    pub(crate) fn ready(
        &self,
        facts: &HostFacts,
        now: Duration,
        in_session: bool,
        wall: Timestamp,
    ) -> Option<PreparedSandbox> {
        let mut made = self.made.try_lock().ok()?;
        let made = made.as_mut().filter(|made| {
            let same = made.facts.home == facts.home
                && made.facts.tier == facts.tier
                && made.facts.env == facts.env;
            same && (made.replaced.is_empty() || !in_session)
        })?;
        let names = match made.plan.level {
            Level::ReadOnly => None,
            Level::WorkspaceWrite => {
                let scan = self.names.try_lock().ok()?.clone()?;
                Some(NamesBeforeCall::after_call(
                    scan,
                    wall,
                    made.settings.clone(),
                ))
            }
        };
        Some(PreparedSandbox {
            before: made.as_it_was(now)?,
            plan: Arc::clone(&made.plan),
            pool: Some(made.pool()),
            names,
        })
    }

    /// The box of a call; `None` if there is none. Looks at files, so that it may take as long as
    /// file systems do.
    ///
    /// `changed`: what its request makes of the settings, if it changes them; `in_session`: it may
    /// get a shell that was started long ago.
    pub(crate) fn prepare(
        &self,
        changed: Option<&SandboxSettings>,
        facts: HostFacts,
        in_session: bool,
        clock: &dyn Clock,
    ) -> Result<Option<PreparedSandbox>, ResolveError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut workspaces = self.state.as_deref().map(Workspaces::read);
        let known = workspaces.as_ref().map(Workspaces::known);
        let facts = HostFacts {
            known: known.unwrap_or_default().into(),
            ..facts
        };
        // The workspace stays the same whatever becomes of repositories in it and around it.
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
            let Some(resolved) = changed.resolved(&facts)? else {
                return Ok(None);
            };
            remember(&facts, &resolved);
            let plan = Arc::new(resolved.plan);
            return Ok(Some(PreparedSandbox {
                before: WatchedPaths::before(&plan, &PlanStamp::of(&plan), &BTreeSet::new()),
                names: self.scanned(&plan, clock, &NameScan::default()),
                plan,
                pool: None,
            }));
        }
        let last = made.take();
        let now = match last {
            Some(last) if last.is_for(&facts) => last.again(&self.settings, &facts)?,
            _ => {
                let Some(resolved) = self.settings.resolved(&facts)? else {
                    return Ok(None);
                };
                remember(&facts, &resolved);
                let made = CachedPlan::new(facts, resolved);
                if made.plan.level == Level::WorkspaceWrite {
                    self.workspace.get_or_init(|| made.facts.directory.clone());
                }
                made
            }
        };
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = names.clone().unwrap_or_default();
        drop(names);
        let names = self.scanned(&now.plan, clock, &earlier);
        let now = CachedPlan {
            settings: names.iter().flat_map(|it| it.settings().to_vec()).collect(),
            ..now
        };
        if let Some(names) = &names {
            self.keep(names.scan());
        }
        let nothing = BTreeSet::new();
        let replaced = if in_session { &now.replaced } else { &nothing };
        let prepared = PreparedSandbox {
            before: WatchedPaths::before(&now.plan, &now.stamp, replaced),
            plan: Arc::clone(&now.plan),
            pool: Some(now.pool()),
            names,
        };
        *made = Some(now);
        Ok(Some(prepared))
    }

    /// Scans before a call; `None` if the call cannot write the workspace.
    fn scanned(
        &self,
        plan: &Plan,
        clock: &dyn Clock,
        earlier: &NameScan,
    ) -> Option<NamesBeforeCall> {
        let is_writing = plan.level == Level::WorkspaceWrite;
        let (state, files) = (self.state.as_deref(), &self.settings_files);
        is_writing.then(|| NamesBeforeCall::before(plan, clock, earlier, state, files))
    }

    /// Keeps a scan for the next call.
    fn keep(&self, scan: Arc<NameScan>) {
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = Some(scan);
    }

    /// True once: the sandbox is partial, and that was not reported yet.
    pub(crate) fn is_first_partial(&self) -> bool {
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
            surroundings: None,
            settings: Vec::new(),
        }
    }

    /// True if the plan was made from these facts. Workspaces that other hosts have recorded since
    /// do not count.
    fn is_for(&self, facts: &HostFacts) -> bool {
        let known = Arc::clone(&self.facts.known);
        self.facts
            == HostFacts {
                known,
                ..facts.clone()
            }
    }

    /// The number of the shells that are in the box as it is. At the base tier nothing is mounted
    /// that could be gone.
    fn pool(&self) -> u64 {
        match self.plan.tier {
            Tier::Base => 0,
            Tier::Full => self.replacements,
        }
    }

    /// Returns the protected paths if they are unchanged since the plan, without asking a file
    /// system. If the directories around them have been unchanged for a while, that holds for each
    /// path.
    fn as_it_was(&mut self, now: Duration) -> Option<WatchedPaths> {
        let seen = self
            .surroundings
            .take()
            .filter(|seen| seen.around.are_the_same());
        if let Some(SettledSurroundings {
            settled: Some(before),
            ..
        }) = &seen
        {
            let before = before.clone();
            self.surroundings = seen;
            return Some(before);
        }
        // Before what is in them, so that a change meanwhile counts as one after it.
        let seen = match seen {
            Some(seen) => Some(seen),
            None => ParentDirectories::known(&self.plan)
                .ok()
                .map(|around| SettledSurroundings {
                    around,
                    since: now,
                    settled: None,
                }),
        };
        let stamp = PlanStamp::known(&self.plan).ok();
        let stamp = stamp.filter(|stamp| *stamp == self.stamp)?;
        let before = WatchedPaths::at_once(&self.plan, &stamp)?;
        self.surroundings = seen.map(|seen| SettledSurroundings {
            settled: (now.saturating_sub(seen.since) >= ParentDirectories::SETTLED_AGE)
                .then(|| before.clone().within(seen.around.clone())),
            ..seen
        });
        Some(before)
    }

    /// Returns this plan, or a new one if its inputs have changed.
    fn again(
        mut self,
        settings: &SandboxSettings,
        facts: &HostFacts,
    ) -> Result<Self, ResolveError> {
        let stamp = PlanStamp::of(&self.plan);
        if stamp == self.stamp {
            return Ok(self);
        }
        let replaced: Vec<&Path> = stamp.replaced_since(&self.stamp).collect();
        self.replacements += u64::from(!replaced.is_empty());
        self.replaced
            .extend(replaced.into_iter().map(Path::to_owned));
        self.surroundings = None;
        let resolved = settings.resolved(facts)?;
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

/// The box that a call runs in, or was let out of.
#[derive(Debug)]
pub(crate) struct CallSandbox {
    pub(crate) level: SandboxLevel,
    pub(crate) network: Network,
    /// More is allowed to it than to others.
    pub(crate) escalated: bool,
    /// `None` for a call that was let out.
    pub(crate) plan: Option<Arc<Plan>>,
    /// The number of the plan; only waiting shells with the same number may run the call.
    pub(crate) pool: Option<u64>,
    /// Protected files as they were before the call.
    pub(crate) before: Option<WatchedPaths>,
    /// The files that count by their names, before the call.
    pub(crate) names: Option<NamesBeforeCall>,
    /// True if a program ended with `SIGSYS`.
    pub(crate) ended_by_sigsys: bool,
    /// Protected paths that changed during the call.
    pub(crate) changed: Vec<PathBuf>,
    /// Unknown observations, because a file system did not answer.
    pub(crate) unknown: Vec<Unknown>,
}

impl CallSandbox {
    /// Looks at what the box protects again, once the call has ended.
    pub(crate) async fn look_again(&mut self, own: &Arc<SandboxState>, clock: &Arc<dyn Clock>) {
        let before = self.before.take().filter(|before| !before.is_empty());
        let names = self.names.take();
        let known = match &before {
            Some(before) => before.changed_as_known(),
            None => Some(Vec::new()),
        };
        if let (Some(changed), None) = (&known, &names) {
            self.changed.clone_from(changed);
            return;
        }
        let (tool, time, plan) = (Arc::clone(own), Arc::clone(clock), self.plan.clone());
        let look = move || {
            let kept =
                known.unwrap_or_else(|| before.map(WatchedPaths::changed).unwrap_or_default());
            let (Some(names), Some(plan)) = (names, plan) else {
                return kept;
            };
            let (changed, now) = names.changed(&plan, kept, tool.state.as_deref(), &*time);
            tool.keep(now);
            changed
        };
        match own.looks.look(&**clock, look).await {
            Some(changed) => self.changed = changed,
            None => self.unknown.push(Unknown::Changed),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    /// Needs Linux 5.12, as the caches cannot be asked before.
    #[expect(
        clippy::disallowed_methods,
        reason = "the file system's time has to pass"
    )]
    #[test]
    fn what_changes_around_settled_directories_is_seen_before_and_after_a_call() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
        let own = SandboxState::new(SandboxSettings {
            level: SandboxLevel::WorkspaceWrite,
            ..SandboxSettings::default()
        });
        let facts = HostFacts::new(None, dir.path().to_owned(), Tier::Full);
        let (clock, wall) = (agent_bash_process::SystemClock::new(), Timestamp(0));
        let settled = || {
            let made = own.made.lock().unwrap();
            let seen = made.as_ref().and_then(|made| made.surroundings.as_ref());
            seen.is_some_and(|seen| seen.settled.is_some())
        };
        let mut now = Duration::ZERO;
        let mut ready = || {
            now += ParentDirectories::SETTLED_AGE;
            own.ready(&facts, now, false, wall)
        };
        for name in [".vscode", ".idea"] {
            own.prepare(None, facts.clone(), false, &clock).unwrap();
            assert!(own.ready(&facts, Duration::ZERO, false, wall).is_some() && !settled());
            assert!(ready().is_some() && settled());
            std::thread::sleep(ParentDirectories::SETTLED_AGE);
            // A file with another name does not matter.
            fs::write(dir.path().join(".git/hooks/sample"), "").unwrap();
            let before = ready().unwrap().before;
            assert_eq!(before.changed_as_known(), Some(Vec::new()));
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            assert_eq!(before.changed_as_known(), Some(vec![path]));
            assert!(ready().is_none());
        }
    }
}
