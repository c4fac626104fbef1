//! The loopback networks of a host. Sandboxes with equal permissions share one, so that a later
//! call can reach a server of an earlier one.
//!
//! A message that is never received keeps a network alive. The first sandbox creates the network
//! and sends descriptors of its namespaces into a socket pair. Each later sandbox peeks at the
//! message and so receives its own descriptors. So no process, which could be attacked, is needed
//! to keep the network alive. A network ends when its host has closed its side and the last process
//! in the network has ended.

use agent_bash_core::sandbox::{Level, Network, Plan, Tier};
use rustix::net::{RecvFlags, recv};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The networks of one host. A network ends when this value is dropped and the last process in the
/// network has ended.
#[derive(Debug, Default)]
pub struct Networks {
    /// The socket ends at which later sandboxes peek.
    all: Mutex<Vec<(NetworkPermissions, UnixStream)>>,
}

/// The permissions of a sandbox. A sandbox with fewer permissions must not reach servers of a
/// sandbox with more permissions, which could act for it.
#[derive(Debug, PartialEq, Eq)]
struct NetworkPermissions {
    level: Level,
    writable: Vec<PathBuf>,
    /// Hidden paths. A server could read files that are hidden from its client, or pass descriptors
    /// of such files.
    hidden: Vec<PathBuf>,
    devices: Vec<PathBuf>,
}

/// The role of a sandbox in a shared network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkRole {
    /// The sandbox creates the network, and sends its descriptors.
    Make,
    /// The sandbox waits for the descriptors, and enters.
    Join,
}

/// The access of one launcher to a shared network.
#[derive(Debug)]
pub struct NetworkEntrance {
    /// The role of the sandbox.
    pub role: NetworkRole,
    /// The socket for the descriptors. No other process may hold it: closing it shows the others
    /// that the network will not be created.
    pub socket: OwnedFd,
}

impl Networks {
    /// Returns the access to the network for a plan; `None` if the plan shares no network.
    ///
    /// # Errors
    /// No descriptors are available.
    pub fn entrance(&self, plan: &Plan) -> io::Result<Option<NetworkEntrance>> {
        if (plan.network, plan.tier) != (Network::Loopback, Tier::Full) {
            return Ok(None);
        }
        let permissions = NetworkPermissions {
            level: plan.level,
            writable: plan.writable.clone(),
            hidden: plan.hidden.clone(),
            devices: plan.devices.clone(),
        };
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, members)| !is_lost(members));
        if let Some((_, members)) = all.iter().find(|(other, _)| *other == permissions) {
            return Ok(Some(NetworkEntrance {
                role: NetworkRole::Join,
                socket: members.try_clone()?.into(),
            }));
        }
        let (members, maker) = UnixStream::pair()?;
        all.push((permissions, members));
        Ok(Some(NetworkEntrance {
            role: NetworkRole::Make,
            socket: maker.into(),
        }))
    }
}

/// True if the creating sandbox ended before it created the network.
fn is_lost(members: &UnixStream) -> bool {
    let look = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    matches!(recv(members, &mut [0; 1], look), Ok((0, _)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::Caches;

    fn plan(writable: &str) -> Plan {
        Plan {
            level: Level::WorkspaceWrite,
            network: Network::Loopback,
            tier: Tier::Full,
            writable: vec![writable.into()],
            hidden: Vec::new(),
            protected: Vec::new(),
            devices: Vec::new(),
            caches: Caches::default(),
        }
    }

    fn part(networks: &Networks, plan: &Plan) -> Option<NetworkEntrance> {
        networks.entrance(plan).unwrap()
    }

    #[test]
    fn sandboxes_share_a_network_only_with_equal_permissions() {
        let networks = Networks::default();
        let first = part(&networks, &plan("/a")).unwrap();
        assert_eq!(first.role, NetworkRole::Make);
        let again = part(&networks, &plan("/a")).unwrap();
        assert_eq!(again.role, NetworkRole::Join);
        let reading = Plan {
            level: Level::ReadOnly,
            ..plan("/a")
        };
        let device = Plan {
            devices: vec!["/dev/kvm".into()],
            ..plan("/a")
        };
        let hiding = Plan {
            hidden: vec!["/a/secret".into()],
            ..plan("/a")
        };
        for other in [plan("/b"), reading, device, hiding] {
            assert_eq!(part(&networks, &other).unwrap().role, NetworkRole::Make);
        }
        let host = Networks::default();
        assert_eq!(part(&host, &plan("/a")).unwrap().role, NetworkRole::Make);
    }

    #[test]
    fn sandbox_without_a_loopback_shares_no_network() {
        let networks = Networks::default();
        for network in [Network::Off, Network::On] {
            let other = Plan {
                network,
                ..plan("/a")
            };
            assert!(part(&networks, &other).is_none());
        }
        let base = Plan {
            tier: Tier::Base,
            ..plan("/a")
        };
        assert!(part(&networks, &base).is_none());
    }

    #[test]
    fn lost_network_is_created_by_the_next_sandbox() {
        let networks = Networks::default();
        drop(part(&networks, &plan("/a")));
        assert_eq!(
            part(&networks, &plan("/a")).unwrap().role,
            NetworkRole::Make
        );
    }
}
