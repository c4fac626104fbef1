//! The settings of the section `[sandbox]`.

use agent_bash_core::sandbox::{
    Escalation, HostSecret, LackingPolicy, Network, SandboxLevel, TmpDirectory,
};
use agent_bash_proxy::{AllowedHosts, Placeholders, SecretHosts};
use agent_bash_tools::SandboxTerms;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::PathBuf;

/// The caches of tools that a call of [`SandboxLevel::WorkspaceWrite`] may write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheAccess {
    /// No caches. Calls can only read the user's caches.
    Off,
    /// Private caches of the workspace. Later calls in the workspace use them again.
    #[default]
    Private,
    /// The user's caches. Programs outside the sandbox may then run code that a call has changed.
    Shared,
}

/// A secret that calls use without its value: `sandbox.secrets.VARIABLE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretSettings {
    /// The hosts that get the value: names, `*.name` and addresses, each with an optional
    /// `:port`. After `http://`, the value is sent without encryption.
    pub hosts: Vec<String>,
}

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
    /// The variables of the host that calls use without their values, with [`Network::Hosts`].
    /// [`Settings::environment`](crate::Settings::environment) removes these variables.
    pub secrets: BTreeMap<String, SecretSettings>,
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
        "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/security/opasswd",
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
            has_placeholders: !self.secrets.is_empty(),
            lacking: self.lacking,
            tmp: self.tmp,
            escalation: self.escalation,
        }
    }

    /// Returns the secrets with the values that `env`, the environment of the host, has. Leaves out
    /// variables without a value, and values for which there is no placeholder.
    pub fn host_secrets(
        &self,
        env: &BTreeMap<OsString, OsString>,
        placeholders: &Placeholders,
    ) -> Vec<HostSecret> {
        let secrets = self.secrets.iter().filter_map(|(variable, settings)| {
            let value = env.get(OsStr::new(variable))?.to_str()?;
            let Some(placeholder) = placeholders.of(variable, value) else {
                tracing::warn!("{variable} has no value that sandbox.secrets can hide");
                return None;
            };
            let (variable, value) = (variable.clone(), value.to_owned());
            let hosts = settings.hosts.clone();
            Some(HostSecret::new(variable, value, placeholder, hosts))
        });
        secrets.collect()
    }

    /// True if the proxy encrypts requests with secrets.
    pub fn has_encrypted_secrets(&self) -> bool {
        let mut hosts = self
            .secrets
            .values()
            .map(|it| SecretHosts::parse(&it.hosts));
        hosts.any(|hosts| hosts.is_ok_and(|hosts| hosts.has_encrypted()))
    }

    /// True if the network of these settings allows everything that the network of `other` allows.
    pub fn allows_network_of(&self, other: &Self) -> bool {
        match (self.network, other.network) {
            (Network::Hosts, Network::Hosts) => {
                let lists = [self, other].map(|it| AllowedHosts::parse(&it.hosts));
                matches!(lists, [Ok(allowed), Ok(wanted)] if allowed.covers(&wanted))
            }
            (allowed, wanted) => wanted <= allowed,
        }
    }
}
