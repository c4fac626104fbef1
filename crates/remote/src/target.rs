//! The names of targets: parsing and checking.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The default time for which the program on the remote host waits for a silent local host.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(60);

/// The connection to a remote host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetTransport {
    /// OpenSSH's client.
    Ssh {
        /// `host` or `user@host`, as in ssh and its configuration.
        to: String,
        /// Port; `None` uses ssh's configuration.
        port: Option<u16>,
    },
    /// `docker exec`.
    Docker {
        /// Name or id of the container.
        container: String,
    },
    /// `podman exec`.
    Podman {
        /// Name or id of the container.
        container: String,
    },
    /// `kubectl exec`.
    Kube {
        /// Context of kubectl's configuration; `None` uses the current one.
        context: Option<String>,
        /// Namespace.
        namespace: String,
        /// Pod.
        pod: String,
        /// Container; `None` uses the pod's default.
        container: Option<String>,
    },
    /// Any program; the word `{script}` stands for the script that it must run by `/bin/sh -c`.
    Command(Vec<String>),
}

/// A target: the name of a remote host, and how to connect to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Target {
    /// The user's name for the target.
    pub name: String,
    /// How to connect to the remote host.
    pub transport: TargetTransport,
    /// Directory of calls; `None` uses the home directory of the remote host.
    pub cwd: Option<String>,
    /// Environment variables of commands on the remote host.
    pub env: BTreeMap<String, String>,
    /// The directory on the remote host for this program. `None` uses the first of several
    /// directories from which a program can run.
    pub directory: Option<String>,
    /// The time for which the program on the remote host waits for a silent local host.
    pub lease: Duration,
    /// True if a missing program may be uploaded.
    pub install: bool,
}

/// The reason why a target is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// A part of the name is invalid.
    #[error(
        "`{part}` in the target `{target}` is no name: letters, digits and `_.@:-`, with a letter or digit in front"
    )]
    BadName {
        /// The whole name.
        target: String,
        /// The part.
        part: String,
    },
    /// The name is neither a setting nor begins with a known transport.
    #[error(
        "no target `{0}`: name one of the settings' [targets.NAME], ssh:[user@]host[:port], docker:NAME, podman:NAME or \
         kube:[context/]namespace/pod[/container]"
    )]
    Unknown(String),
    /// The port is not a number.
    #[error("`{port}` in the target `{target}` is no port")]
    BadPort {
        /// The whole name.
        target: String,
        /// The port.
        port: String,
    },
    /// A pod without a namespace, or too many parts.
    #[error(
        "`{0}` is no pod: kube:namespace/pod, kube:namespace/pod/container, kube:context/namespace/pod/ or \
         kube:context/namespace/pod/container"
    )]
    BadPod(String),
    /// The command has no `{script}`.
    #[error(
        "the command of the target `{0}` has no word `{{script}}`, which stands for the script to run"
    )]
    NoScript(String),
    /// The directory has characters that the script cannot contain.
    #[error(
        "`{0}` is no directory for agent-bash on a target: an absolute path, or one below `~/`, of letters, digits and \
         `/_.@:+-`"
    )]
    BadDirectory(String),
}

impl Target {
    /// Parses a target with its transport: `ssh:`, `docker:`, `podman:`, `kube:`.
    ///
    /// # Errors
    /// [`TargetError`].
    pub fn parse(name: &str) -> Result<Self, TargetError> {
        let unknown = || TargetError::Unknown(name.to_owned());
        let (kind, to) = name.split_once(':').ok_or_else(unknown)?;
        Ok(Self::new(name, TargetTransport::parse(name, kind, to)?))
    }

    /// Returns a target with default values, as an empty `[targets.NAME]` of the settings.
    pub fn new(name: impl Into<String>, transport: TargetTransport) -> Self {
        Self {
            name: name.into(),
            transport,
            cwd: None,
            env: BTreeMap::new(),
            directory: None,
            lease: DEFAULT_LEASE,
            install: true,
        }
    }

    /// Checks the target.
    ///
    /// # Errors
    /// [`TargetError::BadDirectory`], [`TargetError::NoScript`].
    pub fn check(&self) -> Result<(), TargetError> {
        if let Some(directory) = &self.directory
            && !is_plain_path(directory)
        {
            return Err(TargetError::BadDirectory(directory.clone()));
        }
        match &self.transport {
            TargetTransport::Command(words)
                if !words.iter().skip(1).any(|word| word == SCRIPT_PLACEHOLDER) =>
            {
                Err(TargetError::NoScript(self.name.clone()))
            }
            _ => Ok(()),
        }
    }
}

/// The word in a command that stands for the script.
pub(crate) const SCRIPT_PLACEHOLDER: &str = "{script}";

impl TargetTransport {
    /// Parses the transport `kind` to `to`; `target` is the text that the user wrote.
    ///
    /// # Errors
    /// [`TargetError`].
    pub fn parse(target: &str, kind: &str, to: &str) -> Result<Self, TargetError> {
        let checked = |part: &str| {
            if is_name(part) {
                return Ok(part.to_owned());
            }
            let (target, part) = (target.to_owned(), part.to_owned());
            Err(TargetError::BadName { target, part })
        };
        match kind {
            "ssh" => {
                let (to, port) = match to.rsplit_once(':') {
                    Some((to, port)) => (to, Some(port)),
                    None => (to, None),
                };
                let bad_port = |port: &str| {
                    let (target, port) = (target.to_owned(), port.to_owned());
                    TargetError::BadPort { target, port }
                };
                let port = port.map(|port| match port.parse::<u16>() {
                    Ok(number) if number > 0 => Ok(number),
                    _ => Err(bad_port(port)),
                });
                // The host after `user@` must not look like an option either.
                to.split('@').try_for_each(|part| checked(part).map(drop))?;
                Ok(Self::Ssh {
                    to: checked(to)?,
                    port: port.transpose()?,
                })
            }
            "docker" => Ok(Self::Docker {
                container: checked(to)?,
            }),
            "podman" => Ok(Self::Podman {
                container: checked(to)?,
            }),
            "kube" => {
                let parts: Vec<&str> = to.split('/').collect();
                let (context, namespace, pod, container) = match parts[..] {
                    [namespace, pod] => (None, namespace, pod, None),
                    [namespace, pod, container] => (None, namespace, pod, Some(container)),
                    [context, namespace, pod, ""] => (Some(context), namespace, pod, None),
                    [context, namespace, pod, container] => {
                        (Some(context), namespace, pod, Some(container))
                    }
                    _ => return Err(TargetError::BadPod(target.to_owned())),
                };
                Ok(Self::Kube {
                    context: context.map(checked).transpose()?,
                    namespace: checked(namespace)?,
                    pod: checked(pod)?,
                    container: container.map(checked).transpose()?,
                })
            }
            _ => Err(TargetError::Unknown(target.to_owned())),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// True if no program reads the text as an option, and every shell reads it as one word.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.@:-".contains(c))
}

fn is_plain_path(text: &str) -> bool {
    (text.starts_with('/') || text.starts_with("~/"))
        && text
            .strip_prefix('~')
            .unwrap_or(text)
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "/_.@:+-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_accepts_each_transport() {
        let ssh = |to: &str, port| TargetTransport::Ssh {
            to: to.to_owned(),
            port,
        };
        let kube = |context: Option<&str>, container: Option<&str>| TargetTransport::Kube {
            context: context.map(str::to_owned),
            namespace: "ns".to_owned(),
            pod: "pod".to_owned(),
            container: container.map(str::to_owned),
        };
        let container = || "box".to_owned();
        for (name, transport) in [
            ("ssh:box", ssh("box", None)),
            (
                "ssh:dev@box.example:2222",
                ssh("dev@box.example", Some(2222)),
            ),
            (
                "docker:box",
                TargetTransport::Docker {
                    container: container(),
                },
            ),
            (
                "podman:box",
                TargetTransport::Podman {
                    container: container(),
                },
            ),
            ("kube:ns/pod", kube(None, None)),
            ("kube:ns/pod/c", kube(None, Some("c"))),
            ("kube:ctx/ns/pod/", kube(Some("ctx"), None)),
            ("kube:ctx/ns/pod/c", kube(Some("ctx"), Some("c"))),
        ] {
            assert_eq!(
                Target::parse(name).map(|target| target.transport),
                Ok(transport),
                "{name}"
            );
        }
    }

    #[test]
    fn parse_refuses_options_and_several_words() {
        for name in [
            "box", "ssh:", "ssh:-oProxyCommand=id", "ssh:dev@-oProxyCommand=id", "ssh:-l@box",
            "ssh:@box", "ssh:dev@", "ssh:box:0", "ssh:box:65536", "ssh:box:2x", "ssh:box;id",
            "ssh:bo x", "ssh:b\u{f6}x", "docker:", "docker:-it", "docker:a/b", "podman:--help",
            "kube:pod", "kube:ns/-pod", "kube:ns/", "kube:ns/pod/", "kube:a/b/c/d/e",
            "kube:--context=x/ns/pod/c", "http:box", "",
        ] {
            assert!(Target::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn check_refuses_a_directory_that_a_script_cannot_contain() {
        let mut target = Target::parse("ssh:box").unwrap();
        for (directory, is_fit) in [
            ("/opt/agent-bash", true),
            ("~/x", true),
            ("~x/y", false),
            ("relative", false),
            ("/a b", false),
            ("/$HOME", false),
            ("/a\"b", false),
            ("/a'b", false),
            ("/~/x", false),
        ] {
            target.directory = Some(directory.to_owned());
            assert_eq!(target.check().is_ok(), is_fit, "{directory}");
        }
    }

    #[test]
    fn check_refuses_a_command_without_a_script() {
        let transport = |words: &[&str]| {
            TargetTransport::Command(words.iter().map(|&word| word.to_owned()).collect())
        };
        assert!(
            Target::new("x", transport(&["sh", "-c", "{script}"]))
                .check()
                .is_ok()
        );
        for words in [
            &["{script}"][..],
            &["sh", "-c"],
            &[],
            &["sh", "-c", "x {script}"],
        ] {
            assert!(
                Target::new("x", transport(words)).check().is_err(),
                "{words:?}"
            );
        }
    }
}
