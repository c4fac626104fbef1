//! The box of a tool's calls: what the settings say about it, what is kept of it between calls, and that of one call.

mod looks;
mod watched;

pub(crate) use looks::Looks;
pub(crate) use watched::Watched;

use agent_bash_core::Clock;
use agent_bash_core::sandbox::{Level, Network, Plan, SandboxLevel, Tier, Unknown};
use agent_bash_sandbox::{Facts, ResolveError, Stamp, Wanted, resolve, workspace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The box of calls: section `[sandbox]` of the settings. The default is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// How much may be written.
    pub level: SandboxLevel,
    /// What network there is.
    pub network: Network,
    /// What happens where the system cannot enforce all of it.
    pub lacking: Lacking,
    /// Writable in addition to the workspace; absolute, or beginning with `~/`, as all of these.
    pub writable: Vec<PathBuf>,
    /// Readable although they would be hidden.
    pub readable: Vec<PathBuf>,
    /// Hidden in addition to the usual secrets.
    pub hidden: Vec<PathBuf>,
    /// Protected in addition to what runs or configures programs outside of the box.
    pub protected: Vec<PathBuf>,
    /// Devices in addition to the harmless ones.
    pub devices: Vec<PathBuf>,
    /// Which temporary directory may be written.
    pub tmp: Tmp,
    /// Whether a call may ask for more.
    pub escalation: Escalation,
    /// The directory that the workspace is looked for from, upwards; without one, the host's. Not for settings files.
    pub directory: Option<PathBuf>,
}

/// What happens where something that is not essential cannot be enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lacking {
    /// Calls run, and the result says what is missing.
    #[default]
    Accept,
    /// Calls are refused.
    Refuse,
}

/// Which temporary directory may be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tmp {
    /// The call's own.
    #[default]
    Own,
    /// `/tmp`, which others read and write too.
    Shared,
}

/// What becomes of a call that asks for more than the settings allow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    /// It is refused.
    #[default]
    Never,
    /// The host's [`Approver`](crate::Approver) decides.
    Ask,
}

/// The system's secrets that this process could read, which is to say root. Other boxes do not hide them, as root's
/// `su` needs them.
fn passwords() -> Vec<PathBuf> {
    const FILES: [&str; 5] = [
        "/etc/shadow",
        "/etc/shadow-",
        "/etc/gshadow",
        "/etc/gshadow-",
        "/etc/security/opasswd",
    ];
    let readable = FILES.into_iter().filter(|file| File::open(file).is_ok());
    readable.map(PathBuf::from).collect()
}

impl SandboxSettings {
    /// These settings made as strict as safe mode promises: nothing is written but what is the call's own, nothing
    /// outside is reached, and no call may ask for more. A loopback network of its own stays, as tests need it.
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
            tmp: Tmp::Own,
            escalation: Escalation::Never,
            ..self
        }
    }

    /// What is wanted of a box at `level`.
    fn wanted(&self, level: Level) -> Wanted {
        Wanted {
            network: self.network,
            writable: self.writable.clone(),
            readable: self.readable.clone(),
            hidden: self.hidden.clone(),
            protected: self.protected.clone(),
            devices: self.devices.clone(),
            shared_tmp: self.tmp == Tmp::Shared,
            ..Wanted::new(level)
        }
    }

    /// The plan of the box, where there is one.
    pub(crate) fn plan(&self, facts: &Facts) -> Result<Option<Arc<Plan>>, ResolveError> {
        let Some(level) = self.level.confined() else {
            return Ok(None);
        };
        resolve(&self.wanted(level), facts).map(|plan| Some(Arc::new(plan)))
    }
}

/// The settings, and what calls share.
#[derive(Debug, Default)]
pub(crate) struct OwnBox {
    pub(crate) settings: SandboxSettings,
    pub(crate) looks: Looks,
    /// The plan of the settings as they are.
    made: Mutex<Option<Made>>,
    /// A call was told what is missing.
    partial: AtomicBool,
}

/// A plan, and what it was made from. Shells that wait are kept by the plan, so it is made again only if it would be
/// another one.
#[derive(Debug)]
struct Made {
    facts: Facts,
    plan: Arc<Plan>,
    stamp: Stamp,
    /// What has been replaced since the first plan: a shell from before does not keep it as it is.
    replaced: BTreeSet<PathBuf>,
}

/// The box of one call, before it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) plan: Arc<Plan>,
    /// Whether a shell that waits may be in the same one.
    pub(crate) pooled: bool,
    /// Protected files as they are.
    pub(crate) before: Watched,
}

impl OwnBox {
    pub(crate) fn new(settings: SandboxSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The box of a call for which no file system has to be asked: its plan is made, and as the kernel knows from its
    /// caches, what it protects is as it was. A thread for each look would take longer than many a call.
    pub(crate) fn ready(&self, facts: &Facts) -> Option<Prepared> {
        let made = self.made.try_lock().ok()?;
        let made = made.as_ref().filter(|made| {
            let same = made.facts.home == facts.home && made.facts.tier == facts.tier;
            same && made.replaced.is_empty()
        })?;
        let now = Stamp::known(&made.plan).ok();
        let now = now.filter(|now| *now == made.stamp)?;
        Some(Prepared {
            plan: Arc::clone(&made.plan),
            pooled: true,
            before: Watched::at_once(&made.plan, &now)?,
        })
    }

    /// The box of a call; `None` if there is none. Looks at files, so that it may take as long as file systems do.
    ///
    /// `changed`: what its request makes of the settings, if it changes them; `in_session`: it may get a shell that was
    /// started long ago.
    pub(crate) fn prepare(
        &self,
        changed: Option<&SandboxSettings>,
        facts: Facts,
        in_session: bool,
    ) -> Result<Option<Prepared>, ResolveError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let facts = match &*made {
            // The workspace stays the same whatever becomes of repositories in it and around it.
            Some(made) => Facts {
                directory: made.facts.directory.clone(),
                ..facts
            },
            None => facts,
        };
        if let Some(changed) = changed {
            return Ok(changed.plan(&facts)?.map(|plan| Prepared {
                before: Watched::before(&plan, &Stamp::of(&plan), &BTreeSet::new()),
                plan,
                pooled: false,
            }));
        }
        let last = made.take();
        let now = match last {
            Some(last) if last.facts == facts => last.again(&self.settings)?,
            _ => match Made::new(&self.settings, facts)? {
                Some(now) => now,
                None => return Ok(None),
            },
        };
        let nothing = BTreeSet::new();
        let replaced = if in_session { &now.replaced } else { &nothing };
        let prepared = Prepared {
            before: Watched::before(&now.plan, &now.stamp, replaced),
            plan: Arc::clone(&now.plan),
            pooled: now.replaced.is_empty() || now.plan.tier == Tier::Base,
        };
        *made = Some(now);
        Ok(Some(prepared))
    }

    /// Whether nobody has been told yet that the box is partial. True once.
    pub(crate) fn is_first_partial(&self) -> bool {
        !self.partial.swap(true, Ordering::Relaxed)
    }
}

impl Made {
    fn new(settings: &SandboxSettings, mut facts: Facts) -> Result<Option<Self>, ResolveError> {
        let Some(plan) = settings.plan(&facts)? else {
            return Ok(None);
        };
        if plan.level == Level::WorkspaceWrite {
            facts.directory = workspace(&facts)?;
        }
        Ok(Some(Self {
            stamp: Stamp::of(&plan),
            facts,
            plan,
            replaced: BTreeSet::new(),
        }))
    }

    /// The same, or a new one if what it was made from is different now.
    fn again(mut self, settings: &SandboxSettings) -> Result<Self, ResolveError> {
        let stamp = Stamp::of(&self.plan);
        if stamp == self.stamp {
            return Ok(self);
        }
        let replaced = stamp.replaced_since(&self.stamp).map(Path::to_owned);
        self.replaced.extend(replaced);
        if let Some(plan) = settings
            .plan(&self.facts)?
            .filter(|plan| *plan != self.plan)
        {
            self.stamp = Stamp::of(&plan);
            self.plan = plan;
        } else {
            self.stamp = stamp;
        }
        Ok(self)
    }
}

/// The box that a call runs in, or was let out of.
#[derive(Debug)]
pub(crate) struct Boxed {
    pub(crate) level: SandboxLevel,
    pub(crate) network: Network,
    /// More is allowed to it than to others.
    pub(crate) escalated: bool,
    /// `None` for a call that was let out.
    pub(crate) plan: Option<Arc<Plan>>,
    /// Whether a shell that waits may be in the same one.
    pub(crate) pooled: bool,
    /// Protected files as they were before the call.
    pub(crate) before: Option<Watched>,
    /// Those that are different after it.
    pub(crate) changed: Vec<PathBuf>,
    /// What could not be found out, as a file system does not answer.
    pub(crate) unknown: Vec<Unknown>,
}

impl Boxed {
    /// Looks at what the box protects again, once the call has ended.
    pub(crate) async fn look_again(&mut self, looks: &Looks, clock: &dyn Clock) {
        let Some(before) = self.before.take().filter(|before| !before.is_empty()) else {
            return;
        };
        if let Some(changed) = before.changed_as_known() {
            self.changed = changed;
            return;
        }
        match looks.look(clock, || before.changed()).await {
            Some(changed) => self.changed = changed,
            None => self.unknown.push(Unknown::Changed),
        }
    }
}
