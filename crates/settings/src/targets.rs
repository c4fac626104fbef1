//! The settings of a target: `[targets.NAME]`.

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
    /// How the target is reached: `ssh`, `docker`, `podman`, `kube`, `command`.
    pub transport: Transport,
    /// The destination: `dev@box:22` (ssh), `container` (docker, podman), `namespace/pod` (kube).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// For the transport `command`: the program and its arguments. The word `{script}` is replaced
    /// by a shell script.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The working directory of calls. Default: the home directory on the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Environment variables of commands on the target.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The directory for agent-bash on the target. Default: the first usable of several candidates.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// The absolute path of the agent-bash to upload, for a target with another operating system or
    /// processor. Default: the running program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// How long the worker on the target waits for a message from the host, such as `"60s"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// True if agent-bash is uploaded to a target that lacks it.
    #[serde(default = "yes")]
    pub install: bool,
}

/// How a target is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// The client of OpenSSH.
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
    /// The target's destination or another of its values is invalid.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The name is invalid, or a value is missing, excess or out of range.
    #[error("the target `{name}`: {problem}")]
    Unclear {
        /// The target's name.
        name: String,
        /// The problem, as a clause.
        problem: String,
    },
}

/// The shortest lease. A host sends a sign of life every 10 seconds, so two may be lost.
const MIN_LEASE: Duration = Duration::from_secs(25);

fn yes() -> bool {
    true
}

impl TargetSettings {
    /// Returns the target with the name `name` and these settings.
    ///
    /// # Errors
    /// The name or a value is invalid, or a value is missing or excess.
    pub fn target(&self, name: &str) -> Result<Target, TargetSettingsError> {
        let unclear = |problem: &str| TargetSettingsError::Unclear {
            name: name.to_owned(),
            problem: problem.to_owned(),
        };
        if name.is_empty()
            || !name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        {
            return Err(unclear(
                "invalid name; use only letters, digits, `_`, `.` and `-`",
            ));
        }
        let transport_name = match self.transport {
            Transport::Ssh => "ssh",
            Transport::Docker => "docker",
            Transport::Podman => "podman",
            Transport::Kube => "kube",
            Transport::Command => "",
        };
        let transport = match (self.transport, &self.to) {
            (Transport::Command, None) => TargetTransport::Command(self.command.clone()),
            (Transport::Command, Some(_)) => {
                return Err(unclear("the transport `command` takes `command`, not `to`"));
            }
            (_, Some(to)) if self.command.is_empty() => {
                TargetTransport::parse(name, transport_name, to)?
            }
            (_, Some(_)) => return Err(unclear("`command` is for the transport `command`")),
            (_, None) => return Err(unclear("`to` is missing; set it to the destination")),
        };
        let mut target = Target::new(name, transport);
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
                    "`lease` must be at least {shortest}s: the host sends a sign of life every 10s"
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
        for (text, printed) in [
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
            assert!(error.contains(printed), "{error}");
        }
    }
}
