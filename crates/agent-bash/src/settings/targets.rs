//! A target as a user's settings describe it.

use agent_bash_core::parse_duration;
use agent_bash_remote::{Target, TargetError, TargetTransport};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a target, `[targets.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSettings {
    /// `ssh`, `docker`, `podman`, `kube`, `command`.
    pub transport: Transport,
    /// The destination, as in the name of a target without settings: `dev@box:22`, `container`,
    /// `namespace/pod`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// For `command`: the program and its arguments; the word `{script}` stands for a script.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Directory of calls; otherwise where the transport begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables of commands there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Directory for our program there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// The program to upload, an absolute path; otherwise the one that runs here. For a target of
    /// another kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// How long the worker waits for a silent host, such as `"60s"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// Upload our program where it is missing.
    #[serde(default = "yes")]
    pub install: bool,
}

/// The connection to a remote host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// OpenSSH's client.
    Ssh,
    /// `docker exec`.
    Docker,
    /// `podman exec`.
    Podman,
    /// `kubectl exec`.
    Kube,
    /// Any command.
    Command,
}

/// Why a target is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetSettingsError {
    /// The name or what leads there.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A value is missing, or excess.
    #[error("the target `{name}`: {what}")]
    Unclear {
        /// The target's name.
        name: String,
        /// The error.
        what: String,
    },
}

/// The shortest lease: a host says that it lives every 10 seconds.
const MIN_LEASE: Duration = Duration::from_secs(25);

fn yes() -> bool {
    true
}

impl TargetSettings {
    /// The target, called `name`.
    ///
    /// # Errors
    /// It leads nowhere.
    pub fn target(&self, name: &str) -> Result<Target, TargetSettingsError> {
        let unclear = |what: &str| TargetSettingsError::Unclear {
            name: name.to_owned(),
            what: what.to_owned(),
        };
        if name.is_empty()
            || !name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        {
            return Err(unclear("a name has letters, digits and `_.-`"));
        }
        let kind = match self.transport {
            Transport::Ssh => "ssh",
            Transport::Docker => "docker",
            Transport::Podman => "podman",
            Transport::Kube => "kube",
            Transport::Command => "",
        };
        let way = match (self.transport, &self.to) {
            (Transport::Command, None) => TargetTransport::Command(self.command.clone()),
            (Transport::Command, Some(_)) => {
                return Err(unclear("the transport `command` takes `command`, not `to`"));
            }
            (_, Some(to)) if self.command.is_empty() => TargetTransport::parse(name, kind, to)?,
            (_, Some(_)) => return Err(unclear("`command` is for the transport `command`")),
            (_, None) => return Err(unclear("`to` is missing: where the transport leads")),
        };
        let mut target = Target::new(name, way);
        target.cwd.clone_from(&self.cwd);
        target.env.clone_from(&self.env);
        target.directory = Some(self.directory.clone()).filter(|directory| !directory.is_empty());
        target.install = self.install;
        if let Some(lease) = &self.lease {
            let lease =
                parse_duration(lease).map_err(|error| unclear(&format!("`lease`: {error}")))?;
            if lease < MIN_LEASE {
                let shortest = MIN_LEASE.as_secs();
                return Err(unclear(&format!(
                    "`lease` is at least {shortest}s, as a host is heard every 10s"
                )));
            }
            target.lease = lease;
        }
        target.check()?;
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Target, String> {
        let target: TargetSettings =
            toml::from_str(text).map_err(|error| error.message().to_owned())?;
        target.target("box").map_err(|error| error.to_string())
    }

    #[test]
    fn target_has_the_values_of_its_settings() {
        let target = read(
            "transport = 'ssh'\nto = 'dev@box:22'\ncwd = '/work'\nlease = '2m'\ninstall = false\nenv = { CI = '1' }",
        )
        .unwrap();
        let way = TargetTransport::Ssh {
            to: "dev@box".to_owned(),
            port: Some(22),
        };
        assert_eq!((&*target.name, &target.transport), ("box", &way));
        assert_eq!(target.cwd.as_deref(), Some("/work"));
        assert_eq!(
            (target.lease, target.install),
            (Duration::from_secs(120), false)
        );
        assert_eq!(target.env["CI"], "1");
        let command = read("transport = 'command'\ncommand = ['sh', '-c', '{script}']").unwrap();
        assert!(matches!(command.transport, TargetTransport::Command(_)) && command.install);
    }

    #[test]
    fn invalid_targets_are_refused() {
        for (text, said) in [
            ("transport = 'ssh'", "`to` is missing"),
            ("transport = 'telnet'\nto = 'box'", "unknown variant"),
            ("transport = 'ssh'\nto = '-oProxyCommand=x'", "is no name"),
            ("transport = 'command'\nto = 'box'", "takes `command`"),
            ("transport = 'command'\ncommand = ['sh']", "{script}"),
            (
                "transport = 'docker'\nto = 'box'\ncommand = ['x']",
                "is for the transport",
            ),
            (
                "transport = 'ssh'\nto = 'box'\nlease = '5s'",
                "at least 25s",
            ),
            (
                "transport = 'ssh'\nto = 'box'\ndirectory = 'x'",
                "is no directory",
            ),
            ("transport = 'ssh'\nto = 'box'\nport = 5", "unknown field"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
