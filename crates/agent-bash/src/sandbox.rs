//! The box of a tool's calls: what the settings say about it, what is kept of it between calls, and that of one call.

mod watched;

pub(crate) use watched::Watched;

use agent_bash_core::sandbox::{Level, Network, Plan, SandboxLevel, Tier};
use agent_bash_sandbox::{Facts, ResolveError, Wanted, resolve};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

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

impl SandboxSettings {
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

/// The settings, and what calls share. Shells that wait are kept by the plan, so it is made once.
#[derive(Debug, Default)]
pub(crate) struct OwnBox {
    pub(crate) settings: SandboxSettings,
    plan: OnceLock<(Tier, Arc<Plan>)>,
    /// A call was told what is missing.
    partial: AtomicBool,
}

impl OwnBox {
    pub(crate) fn new(settings: SandboxSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The plan of the settings as they are.
    pub(crate) fn plan(&self, facts: &Facts) -> Result<Option<Arc<Plan>>, ResolveError> {
        if let Some((tier, plan)) = self.plan.get()
            && *tier == facts.tier
        {
            return Ok(Some(Arc::clone(plan)));
        }
        let plan = self.settings.plan(facts)?;
        if let Some(plan) = &plan {
            // Another call may have been faster; its plan is the same.
            let _ = self.plan.set((facts.tier, Arc::clone(plan)));
        }
        Ok(plan)
    }

    /// Whether nobody has been told yet that the box is partial. True once.
    pub(crate) fn is_first_partial(&self) -> bool {
        !self.partial.swap(true, Ordering::Relaxed)
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
    /// Protected files as they were before the call.
    pub(crate) before: Option<Watched>,
    /// Those that are different after it.
    pub(crate) changed: Vec<PathBuf>,
}

impl Boxed {
    /// Looks at what the box protects again, once the call has ended.
    pub(crate) fn look_again(&mut self) {
        if let Some(before) = self.before.take() {
            self.changed = before.changed();
        }
    }
}
