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
//!
//! Each network costs the host descriptors, and a proxy costs a thread. So a host keeps at most
//! [`MAX_NETWORKS`] networks for later sandboxes.

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
use std::sync::{Arc, Mutex};

/// The port of the proxy on 127.0.0.1 of a network of [`Network::Hosts`]. Below the ephemeral
/// ports; the listener is opened before any other program is in the network.
pub const PROXY_PORT: u16 = 31280;

/// Maximum number of descriptors in an offer: the network namespace, its user namespace, and the
/// listener for a proxy.
pub(crate) const MAX_OFFERED_FDS: usize = 3;

/// Maximum number of networks that a host keeps. A caller may ask for any number of lists of hosts,
/// and each list needs a network.
const MAX_NETWORKS: usize = 16;

#[cfg(target_os = "linux")]
const PEEK_FLAGS: RecvFlags = RecvFlags::PEEK.union(RecvFlags::CMSG_CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PEEK_FLAGS: RecvFlags = RecvFlags::PEEK;

/// The networks of one host. A network ends when this value is dropped and the last process in the
/// network has ended. If another network is needed and there are 16, the one that was requested
/// longest ago ends, among those without a [`NetworkUse`]. `P` is the proxy that the host runs for
/// a network of [`Network::Hosts`]. The proxy is dropped with its network.
#[derive(Debug)]
pub struct Networks<P = ()> {
    /// The network that was requested last is at the end.
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
    own_use: NetworkUse<P>,
}

impl<P> SharedNetwork<P> {
    /// True if a value that [`Networks::entrance`] has returned for this network exists.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.own_use.0) > 1
    }
}

/// The use of a network by a sandbox. While this value exists, the network and its proxy do not
/// end.
#[derive(Debug)]
pub struct NetworkUse<P = ()>(Arc<Option<P>>);

impl<P> NetworkUse<P> {
    /// The proxy; `None` if the network needs no proxy.
    pub fn proxy(&self) -> Option<&P> {
        self.0.as_ref().as_ref()
    }

    fn another(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
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

impl<P> Networks<P> {
    /// Returns the access to the network for a plan, and the use of the network; `None` if the plan
    /// shares no network. `serve` starts the proxy of a new network. If 16 other networks are in
    /// use, this function returns the result of [`Self::unshared_entrance`].
    ///
    /// # Errors
    /// No descriptors are available, or `serve` failed.
    pub fn entrance(
        &self,
        plan: &Plan,
        serve: impl FnOnce(ListenerReceiver) -> io::Result<P>,
    ) -> io::Result<Option<(NetworkEntrance, NetworkUse<P>)>> {
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
        let known = all
            .iter()
            .position(|other| other.permissions == permissions);
        if let Some(index) = known {
            all[index..].rotate_left(1);
        }
        if let Some(network) = all.last().filter(|_| known.is_some()) {
            let entrance = NetworkEntrance {
                role: NetworkRole::Join,
                socket: network.members.try_clone()?.into(),
            };
            return Ok(Some((entrance, network.own_use.another())));
        }
        if all.len() >= MAX_NETWORKS {
            let Some(unused) = all.iter().position(|network| !network.is_in_use()) else {
                drop(all);
                return Self::unshared_entrance(plan, serve);
            };
            all.remove(unused);
        }
        let (members, offering) = UnixStream::pair()?;
        let proxy = match plan.network {
            Network::Hosts => Some(serve(ListenerReceiver {
                members: members.try_clone()?,
            })?),
            _ => None,
        };
        let own_use = NetworkUse(Arc::new(proxy));
        let given_use = own_use.another();
        all.push(SharedNetwork {
            permissions,
            members,
            own_use,
        });
        let entrance = NetworkEntrance {
            role: NetworkRole::Make,
            socket: offering.into(),
        };
        Ok(Some((entrance, given_use)))
    }

    /// Returns the access to a network that no other sandbox enters, and its use; `None` if the
    /// plan needs no proxy.
    ///
    /// # Errors
    /// No descriptors are available, or `serve` failed.
    pub fn unshared_entrance(
        plan: &Plan,
        serve: impl FnOnce(ListenerReceiver) -> io::Result<P>,
    ) -> io::Result<Option<(NetworkEntrance, NetworkUse<P>)>> {
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

    #[test]
    fn networks_without_a_use_end_when_there_are_too_many() {
        let networks = Networks::default();
        let uses = |path: &str| {
            let entrance = networks.entrance(&plan(path), |_| Ok(())).unwrap();
            entrance.map(|(entrance, own_use)| (entrance.role, entrance, own_use))
        };
        let held: Vec<_> = (0..2)
            .map(|index| uses(&format!("/held/{index}")))
            .collect();
        // The sandbox has ended, but its network was created.
        let unused = |path: &str| {
            let entrance = uses(path).map(|(role, entrance, own_use)| {
                drop(own_use);
                (role, entrance.socket)
            });
            entrance.unwrap()
        };
        let mut sockets: Vec<_> = (0..100).map(|index| unused(&format!("/{index}"))).collect();
        assert_eq!(lock(&networks.all).len(), MAX_NETWORKS);
        let first = 100 - (MAX_NETWORKS - 2);
        // A request makes the oldest of them the newest.
        assert_eq!(unused(&format!("/{first}")).0, NetworkRole::Join);
        sockets.push(unused("/new"));
        for (path, role) in [
            ("/held/0".to_owned(), NetworkRole::Join),
            ("/held/1".to_owned(), NetworkRole::Join),
            (format!("/{first}"), NetworkRole::Join),
            (format!("/{}", first + 1), NetworkRole::Make),
        ] {
            assert_eq!(unused(&path).0, role, "{path}");
        }
        drop(held);
    }

    #[test]
    fn sandbox_shares_no_network_while_all_networks_are_in_use() {
        let networks = Networks::default();
        let uses = |plan: &Plan| networks.entrance(plan, |_| Ok(())).unwrap();
        let mut held: Vec<_> = (0..MAX_NETWORKS)
            .map(|index| uses(&plan(&format!("/{index}"))).unwrap())
            .collect();
        assert!(uses(&plan("/other")).is_none());
        let hosts = Plan {
            network: Network::Hosts,
            ..plan("/other")
        };
        for _ in 0..2 {
            let (entrance, own_use) = uses(&hosts).unwrap();
            assert_eq!(entrance.role, NetworkRole::Make);
            assert!(own_use.proxy().is_some());
            held.push((entrance, own_use));
        }
        assert_eq!(lock(&networks.all).len(), MAX_NETWORKS);
        assert_eq!(uses(&plan("/3")).unwrap().0.role, NetworkRole::Join);
        let (entrance, own_use) = held.remove(5);
        drop(own_use);
        assert_eq!(uses(&plan("/other")).unwrap().0.role, NetworkRole::Make);
        drop(entrance);
    }
}
