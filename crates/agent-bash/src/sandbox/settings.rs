//! [`SandboxSettings`]: the settings of the section `[sandbox]`. Resolves them to a plan.

use super::caches::{self, CacheAccess};
use agent_bash_core::sandbox::{
    Escalation, LackingPolicy, Network, SandboxLevel, TmpDirectory, WriteLevel,
};
use agent_bash_proxy::AllowedHosts;
use agent_bash_sandbox::{HostFacts, ResolveError, ResolvedSandbox, WantedSandbox, resolve};
use agent_bash_tools::SandboxTerms;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Settings of the sandbox: section `[sandbox]`. By default, calls run without a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The write access.
    pub level: SandboxLevel,
    /// The network access.
    pub network: Network,
    /// The hosts that calls may reach with [`Network::Hosts`]: names, `*.name` and addresses, each
    /// with an optional `:port`, and names of presets.
    pub hosts: Vec<String>,
    /// The policy on a system that cannot enforce all promises of the sandbox.
    pub lacking: LackingPolicy,
    /// Paths that are writable in addition to the workspace. These and the following paths are
    /// absolute or begin with `~/`.
    pub writable: Vec<PathBuf>,
    /// Paths that are readable although the built-in list of secrets has them.
    pub readable: Vec<PathBuf>,
    /// Paths that are hidden in addition to the built-in list of secrets.
    pub hidden: Vec<PathBuf>,
    /// Paths that are protected in addition to the built-in list: files that run or configure
    /// programs outside of the sandbox.
    pub protected: Vec<PathBuf>,
    /// Devices that calls may use in addition to the harmless devices.
    pub devices: Vec<PathBuf>,
    /// The temporary directory that calls may write.
    pub tmp: TmpDirectory,
    /// The caches of tools that calls may write.
    pub caches: CacheAccess,
    /// The policy for a call that asks for more than the settings allow.
    pub escalation: Escalation,
    /// The directory from which the workspace is searched upwards. `None` means the host's working
    /// directory. A settings file cannot set this field.
    pub directory: Option<PathBuf>,
}

/// Returns the system's password files that this process can read, usually because the process runs
/// as root. Only safe mode hides these files, because root's `su` needs them.
fn readable_password_files() -> Vec<PathBuf> {
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
    /// Returns these settings, made as strict as safe mode promises. Calls write only their own
    /// temporary files, have no network to other machines, and cannot ask for more. A private
    /// loopback network stays allowed, because tests need one.
    #[must_use]
    pub fn in_safe_mode(self) -> Self {
        Self {
            level: SandboxLevel::ReadOnly,
            network: match self.network {
                Network::Hosts | Network::On => Network::Off,
                restricted => restricted,
            },
            hosts: Vec::new(),
            writable: Vec::new(),
            devices: Vec::new(),
            hidden: [self.hidden, readable_password_files()].concat(),
            tmp: TmpDirectory::Private,
            caches: CacheAccess::Off,
            escalation: Escalation::Never,
            ..self
        }
    }

    /// Returns the settings that the tool's definition states.
    pub fn terms(&self) -> SandboxTerms<'_> {
        SandboxTerms {
            level: self.level,
            network: self.network,
            hosts: &self.hosts,
            lacking: self.lacking,
            tmp: self.tmp,
            escalation: self.escalation,
        }
    }

    /// True if the network of these settings allows everything that the network of `other` allows.
    pub(crate) fn allows_network_of(&self, other: &Self) -> bool {
        match (self.network, other.network) {
            (Network::Hosts, Network::Hosts) => {
                let lists = [self, other].map(|it| AllowedHosts::parse(&it.hosts));
                matches!(lists, [Ok(allowed), Ok(wanted)] if allowed.covers(&wanted))
            }
            (allowed, wanted) => wanted <= allowed,
        }
    }

    /// Returns the input for [`resolve`]: the wanted sandbox at `level`.
    pub(super) fn wanted(&self, level: WriteLevel, facts: &HostFacts) -> WantedSandbox {
        WantedSandbox {
            caches: caches::shared(self.caches, facts),
            network: self.network,
            hosts: self.hosts.clone(),
            writable: self.writable.clone(),
            readable: self.readable.clone(),
            hidden: self.hidden.clone(),
            protected: self.protected.clone(),
            devices: self.devices.clone(),
            shared_tmp: self.tmp == TmpDirectory::Shared,
            ..WantedSandbox::new(level)
        }
    }

    /// Resolves the plan of the sandbox, and creates the private caches in the state directory
    /// `state`. Returns `None` if the settings ask for no sandbox.
    pub(super) fn resolved(
        &self,
        facts: &HostFacts,
        state: Option<&Path>,
    ) -> Result<Option<ResolvedSandbox>, ResolveError> {
        let Some(level) = self.level.write_level() else {
            return Ok(None);
        };
        let mut resolved = resolve(&self.wanted(level, facts), facts)?;
        if let (CacheAccess::Private, Some(workspace), Some(state)) =
            (self.caches, &resolved.workspace, state)
        {
            let plan = &mut resolved.plan;
            plan.caches = caches::private(plan, workspace, facts, state);
        }
        Ok(Some(resolved))
    }
}
