//! The loopback networks of a host. Sandboxes with equal permissions share one, so that a later
//! call can reach a server of an earlier one.
//!
//! A message that is never received keeps a network alive. The first sandbox creates the network
//! and sends descriptors of its namespaces into a socket pair. Each later sandbox peeks at the
//! message and so receives its own descriptors. So no process, which could be attacked, is needed
//! to keep the network alive. A network ends when its host has closed its side and the last process
//! in the network has ended.
//!
//! With [`Network::Hosts`], the first sandbox also opens a listener at [`PROXY_PORT`]. The host
//! peeks at the message too, and serves the listener with a proxy, from the host's own network.

use agent_bash_core::lock;
use agent_bash_core::sandbox::{HiddenPaths, HostSecret, Network, Plan, Tier, WriteLevel};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recv, recvmsg};
use serde::{Deserialize, Serialize};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Mutex;

/// The port of the proxy on 127.0.0.1 of a network of [`Network::Hosts`]. Below the ephemeral
/// ports; the listener is opened before any other program is in the network.
pub const PROXY_PORT: u16 = 31280;

/// Maximum number of descriptors in an offer: the network namespace, its user namespace, and the
/// listener for a proxy.
pub(crate) const MAX_OFFERED_FDS: usize = 3;

#[cfg(target_os = "linux")]
const PEEK_FLAGS: RecvFlags = RecvFlags::PEEK.union(RecvFlags::CMSG_CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PEEK_FLAGS: RecvFlags = RecvFlags::PEEK;

/// The networks of one host. A network ends when this value is dropped and the last process in the
/// network has ended. `P` is the proxy that the host runs for a network of [`Network::Hosts`]; the
/// proxy is dropped with this value.
#[derive(Debug)]
pub struct Networks<P = ()> {
    all: Mutex<Vec<SharedNetwork<P>>>,
}

impl<P> Default for Networks<P> {
    fn default() -> Self {
        Self {
            all: Mutex::default(),
        }
    }
}

#[derive(Debug)]
struct SharedNetwork<P> {
    permissions: NetworkPermissions,
    /// The socket end at which later sandboxes peek.
    members: UnixStream,
    proxy: Option<P>,
}

/// The permissions of a sandbox. A sandbox with fewer permissions must not reach servers of a
/// sandbox with more permissions, which could act for it.
#[derive(Debug, PartialEq, Eq)]
struct NetworkPermissions {
    level: WriteLevel,
    network: Network,
    /// The hosts that the proxy connects to.
    hosts: Vec<String>,
    /// The secrets that the proxy puts into requests.
    secrets: Vec<HostSecret>,
    writable: Vec<PathBuf>,
    /// Hidden paths. A server could read files that are hidden from its client, or pass descriptors
    /// of such files.
    hidden: HiddenPaths,
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

/// The receiver of the listener that the first sandbox of a network opens for a proxy.
#[derive(Debug)]
pub struct ListenerReceiver {
    members: UnixStream,
}

impl ListenerReceiver {
    /// Waits for the listener.
    ///
    /// # Errors
    /// The sandbox did not create the network.
    pub fn receive(self) -> io::Result<TcpListener> {
        // Either the sandbox sends, or its end closes the socket.
        let listener = offered(&self.members, None)?.pop();
        listener.map(TcpListener::from).ok_or_else(not_created)
    }
}

impl<P: Clone> Networks<P> {
    /// Returns the access to the network for a plan, and the proxy of the network; `None` if the
    /// plan shares no network. `serve` starts the proxy of a new network.
    ///
    /// # Errors
    /// No descriptors are available, or `serve` failed.
    pub fn entrance(
        &self,
        plan: &Plan,
        serve: impl FnOnce(ListenerReceiver) -> io::Result<P>,
    ) -> io::Result<Option<(NetworkEntrance, Option<P>)>> {
        if !plan.network.is_shared() || plan.tier != Tier::Full {
            return Ok(None);
        }
        let permissions = NetworkPermissions {
            level: plan.level,
            network: plan.network,
            hosts: plan.hosts.clone(),
            secrets: plan.secrets.clone(),
            writable: plan.writable.clone(),
            hidden: plan.hidden.clone(),
            devices: plan.devices.clone(),
        };
        let mut all = lock(&self.all);
        all.retain(|network| !is_lost(&network.members));
        if let Some(network) = all.iter().find(|other| other.permissions == permissions) {
            let entrance = NetworkEntrance {
                role: NetworkRole::Join,
                socket: network.members.try_clone()?.into(),
            };
            return Ok(Some((entrance, network.proxy.clone())));
        }
        let (members, offering) = UnixStream::pair()?;
        let proxy = match plan.network {
            Network::Hosts => Some(serve(ListenerReceiver {
                members: members.try_clone()?,
            })?),
            _ => None,
        };
        all.push(SharedNetwork {
            permissions,
            members,
            proxy: proxy.clone(),
        });
        let entrance = NetworkEntrance {
            role: NetworkRole::Make,
            socket: offering.into(),
        };
        Ok(Some((entrance, proxy)))
    }

    /// Returns the access to a network that no other sandbox enters, and its proxy; `None` if the
    /// plan needs no proxy.
    ///
    /// # Errors
    /// No descriptors are available, or `serve` failed.
    pub fn unshared_entrance(
        plan: &Plan,
        serve: impl FnOnce(ListenerReceiver) -> io::Result<P>,
    ) -> io::Result<Option<(NetworkEntrance, Option<P>)>> {
        let networks = Self::default();
        match plan.network {
            Network::Hosts => networks.entrance(plan, serve),
            _ => Ok(None),
        }
    }
}

/// Peeks at the offered descriptors. Waits for them, at most for `timeout`.
pub(crate) fn offered(socket: &impl AsFd, timeout: Option<&Timespec>) -> io::Result<Vec<OwnedFd>> {
    loop {
        let mut ready = [PollFd::new(socket, PollFlags::IN)];
        match poll(&mut ready, timeout) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Err(Errno::INTR) => {}
            other => break other.map(drop)?,
        }
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_OFFERED_FDS))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut [0; 1])],
        &mut message,
        PEEK_FLAGS,
    )?;
    let fds = message.drain().flat_map(|part| match part {
        RecvAncillaryMessage::ScmRights(fds) => fds.collect(),
        _ => Vec::new(),
    });
    Ok(fds.collect())
}

pub(crate) fn not_created() -> io::Error {
    io::Error::other("the sandbox that was to create the network has ended")
}

/// True if the creating sandbox ended before it created the network.
fn is_lost(members: &UnixStream) -> bool {
    let look = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    matches!(recv(members, &mut [0; 1], look), Ok((0, _)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(writable: &str) -> Plan {
        Plan {
            network: Network::Loopback,
            writable: vec![writable.into()],
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        }
    }

    fn entrance_for(networks: &Networks, plan: &Plan) -> Option<NetworkEntrance> {
        let entrance = networks.entrance(plan, |_| Ok(())).unwrap();
        entrance.map(|(entrance, _)| entrance)
    }

    #[test]
    fn sandboxes_share_a_network_only_with_equal_permissions() {
        let networks = Networks::default();
        let first = entrance_for(&networks, &plan("/a")).unwrap();
        assert_eq!(first.role, NetworkRole::Make);
        let again = entrance_for(&networks, &plan("/a")).unwrap();
        assert_eq!(again.role, NetworkRole::Join);
        let reading = Plan {
            level: WriteLevel::ReadOnly,
            ..plan("/a")
        };
        let device = Plan {
            devices: vec!["/dev/kvm".into()],
            ..plan("/a")
        };
        let hiding = Plan {
            hidden: vec!["/a/secret".into()].into(),
            ..plan("/a")
        };
        let hosts = |list: &[&str]| Plan {
            network: Network::Hosts,
            hosts: list.iter().map(|&host| host.to_owned()).collect(),
            ..plan("/a")
        };
        let [variable, value, placeholder] = ["A", "value", "other"].map(str::to_owned);
        let secret = Plan {
            secrets: vec![HostSecret::new(variable, value, placeholder, Vec::new())],
            ..hosts(&["a.example"])
        };
        let hosts = [
            hosts(&["a.example"]),
            hosts(&["a.example", "b.example"]),
            secret,
        ];
        for other in [plan("/b"), reading, device, hiding].iter().chain(&hosts) {
            assert_eq!(
                entrance_for(&networks, other).unwrap().role,
                NetworkRole::Make
            );
        }
        let host = Networks::default();
        assert_eq!(
            entrance_for(&host, &plan("/a")).unwrap().role,
            NetworkRole::Make
        );
    }

    #[test]
    fn sandbox_without_a_loopback_shares_no_network() {
        let networks = Networks::default();
        for network in [Network::Off, Network::On] {
            let other = Plan {
                network,
                ..plan("/a")
            };
            assert!(entrance_for(&networks, &other).is_none());
        }
        let base = Plan {
            tier: Tier::Base,
            ..plan("/a")
        };
        assert!(entrance_for(&networks, &base).is_none());
    }

    #[test]
    fn lost_network_is_created_by_the_next_sandbox() {
        let networks = Networks::default();
        drop(entrance_for(&networks, &plan("/a")));
        assert_eq!(
            entrance_for(&networks, &plan("/a")).unwrap().role,
            NetworkRole::Make
        );
    }
}
