//! Lets the processes of one sandbox connect Unix sockets to each other, and to no other process.
//!
//! No rule of Landlock or seccomp decides about a Unix address that is a path. So every `connect`
//! of a sandbox waits for this guard, which makes the connection itself: on its own duplicate of
//! the descriptor, to its own copy of the address. No `connect` ever continues in the kernel, so a
//! thread that rewrites the address or replaces the descriptor has no effect.
//!
//! The sandbox has a private network namespace, and a socket belongs to the namespace of its
//! creator. A path is opened once, and its inode is looked up among the listening sockets of that
//! namespace. An inode never gets another socket, so the answer stays valid. An abstract name is
//! looked up by the kernel in the namespace of the connecting socket.
//!
//! The kernel lists 32 bits of an inode number, and a device that subvolumes share, so two sockets
//! may look equal. Three tests exclude a socket outside: the mount is writable, no outside socket
//! has this inode, and the peer is in the same namespace.

mod address;
mod table;

pub(crate) use table::open as open_table;

use crate::trace::is_native;
use address::{Target, UnixName};
use agent_bash_notify::{Listener, WaitingCall};
use agent_bash_os::{network_namespace, proc_path, process_of_thread};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{StatVfsMountFlags, fstat, fstatvfs};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_cookie, socket_domain, socket_type};
use rustix::net::{AddressFamily, Shutdown, SocketAddrUnix, SocketType, shutdown};
use rustix::net::{connect, connect_unspec};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, geteuid, pidfd_getfd, pidfd_open};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::Builder;
use table::SocketTable;

/// The maximum number of connections of one sandbox that are made at the same time.
const MAX_CONNECTIONS: usize = 256;

/// Stack size of the thread of a connection, in bytes.
const STACK_BYTES: usize = 128 * 1024;

/// `PIDFD_THREAD`: the descriptor is of a thread, whose descriptors may differ from its process's.
const PIDFD_THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL as u32);

/// False if this system forbids every process to read the memory and descriptors of other
/// processes.
pub(crate) fn can_be_guarded() -> bool {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    scope.map_or(true, |scope| scope.trim() != "3")
}

/// Makes the connections of one sandbox.
#[derive(Debug)]
pub struct SocketGuard {
    /// The sockets of the sandbox's network namespace.
    inside: SocketTable,
    /// The sockets of this process's network namespace.
    outside: SocketTable,
    /// Has one more reference for each connection that is being made.
    connections: Arc<()>,
}

impl SocketGuard {
    /// Returns the guard of the sandbox with this
    /// [socket table](crate::StartedProgram::socket_table).
    ///
    /// # Errors
    /// The sockets of this process's network namespace cannot be listed.
    pub fn new(inside: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            inside: SocketTable::new(inside),
            outside: SocketTable::new(open_table()?),
            connections: Arc::new(()),
        })
    }

    /// True for a system call that must be [answered](Self::answer) and never continue.
    pub fn is_guarded(call: &WaitingCall) -> bool {
        i64::from(call.number) == libc::SYS_connect && is_native(call.architecture, call.number)
    }

    /// Serves a listener in a thread until no process has its filter.
    ///
    /// # Errors
    /// The listener is unusable, or no thread can be started.
    pub fn serve(self, listener: OwnedFd) -> io::Result<()> {
        let listener = Arc::new(Listener::new(listener)?);
        let serve = move || {
            while is_waiting(&listener) {
                // The process may have been killed.
                if let Ok(Some(call)) = listener.next() {
                    self.answer(&listener, &call);
                }
            }
        };
        let thread = Builder::new().name("agent-bash-sock".to_owned());
        thread.spawn(serve).map(drop)
    }

    /// Makes the connection and ends the system call, in another thread: the connection may wait
    /// for its peer, even if the descriptor is non-blocking now.
    pub fn answer(&self, listener: &Arc<Listener>, call: &WaitingCall) {
        let (shared, call) = (Arc::clone(listener), *call);
        let made = self.prepare(listener, &call).and_then(|connection| {
            let connections = Arc::clone(&self.connections);
            if Arc::strong_count(&connections) > MAX_CONNECTIONS + 1 {
                return Err(Errno::AGAIN);
            }
            let make = move || {
                connection.make(&shared, &call);
                drop(connections);
            };
            let thread = Builder::new().stack_size(STACK_BYTES);
            thread.spawn(make).map_err(|_| Errno::AGAIN)
        });
        if let Err(refused) = made {
            // The process may have been killed.
            let _ = listener.finish(&call, Some(refused.raw_os_error()));
        }
    }

    /// Copies descriptor and address, and determines the target.
    fn prepare(&self, listener: &Listener, call: &WaitingCall) -> Result<Connection, Errno> {
        let [number, pointer, length, ..] = call.arguments;
        let network = network_namespace(call.thread.unsigned_abs()).ok_or(Errno::ACCESS)?;
        let socket = duplicate(call.thread, number as i32)?;
        let length = usize::try_from(length as i32).map_err(|_| Errno::INVAL)?;
        let address = address::read(call.thread, pointer, length)?;
        let target = match socket_domain(&socket)? {
            AddressFamily::INET | AddressFamily::INET6 => address::internet(&address)?,
            AddressFamily::UNIX => {
                let kind = socket_type(&socket)?;
                if kind != SocketType::STREAM && kind != SocketType::SEQPACKET {
                    return Err(Errno::ACCESS);
                }
                self.unix(call.thread, &socket, &address)?
            }
            _ => return Err(Errno::ACCESS),
        };
        if !listener.still_waits(call) {
            // Another process may have had this pid.
            return Err(Errno::INTR);
        }
        Ok(Connection {
            socket,
            target,
            network,
        })
    }

    /// Returns the target of a Unix address if it is a socket of the sandbox.
    fn unix(&self, thread: i32, socket: &OwnedFd, address: &[u8]) -> Result<Target, Errno> {
        match address::unix(address)? {
            UnixName::Abstract(name) => {
                let (inode, cookie) = (fstat(socket)?.st_ino, socket_cookie(socket)?);
                if !self.inside.has_socket(inode, cookie)? {
                    return Err(Errno::ACCESS);
                }
                SocketAddrUnix::new_abstract_name(name).map(Target::Abstract)
            }
            UnixName::Path(path) => {
                let file = address::open(thread, path)?;
                let inode = address::identity(thread, &file)?;
                // A sandbox can bind only where it can write.
                let mount = fstatvfs(&file)?.f_flag;
                if mount.contains(StatVfsMountFlags::RDONLY) || self.outside.is_listening(inode)? {
                    return Err(Errno::ACCESS);
                }
                if !self.inside.is_listening(inode)? {
                    return Err(Errno::CONNREFUSED);
                }
                Ok(Target::File(file))
            }
        }
    }
}

/// True if a system call waits; false once no process has the filter.
fn is_waiting(listener: &Listener) -> bool {
    loop {
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => {}
            Ok(_) => return fds[0].revents().contains(PollFlags::IN),
            Err(_) => return false,
        }
    }
}

/// A connection to be made.
struct Connection {
    /// The duplicate of the sandbox's descriptor.
    socket: OwnedFd,
    target: Target,
    /// The network namespace of the sandbox.
    network: PathBuf,
}

impl Connection {
    /// Makes the connection and ends the system call.
    fn make(&self, listener: &Listener, call: &WaitingCall) {
        let error = self.connect().err().map(Errno::raw_os_error);
        // The process may have been killed.
        let _ = listener.finish(call, error);
    }

    fn connect(&self) -> Result<(), Errno> {
        match &self.target {
            Target::Unspecified => connect_unspec(&self.socket),
            Target::Internet(address) => connect(&self.socket, address),
            Target::Abstract(name) => {
                connect(&self.socket, name)?;
                self.check_peer()
            }
            Target::File(file) => {
                connect(&self.socket, &SocketAddrUnix::new(proc_path(file))?)?;
                self.check_peer()
            }
        }
    }

    /// Ends the connection if the process that listens is in another network namespace. The
    /// namespace of that process is unknown if the process has ended while its children have the
    /// socket, or if the process forbids inspection. Then the process must belong to this user.
    fn check_peer(&self) -> Result<(), Errno> {
        // The pid is 0 for a process of another pid namespace.
        let peer = getsockopt(&self.socket, PeerCredentials).map_err(|_| Errno::ACCESS)?;
        let is_inside = match network_namespace(peer.pid().unsigned_abs()) {
            Some(network) => network == self.network,
            None => peer.uid() == geteuid().as_raw(),
        };
        if is_inside {
            return Ok(());
        }
        shutdown(&self.socket, Shutdown::Both)?;
        Err(Errno::ACCESS)
    }
}

/// Duplicates a descriptor of a thread.
fn duplicate(thread: i32, number: i32) -> Result<OwnedFd, Errno> {
    let opened = open_pid(thread, PIDFD_THREAD).or_else(|error| match error {
        // The kernel is older than 6.9.
        Errno::INVAL => open_pid(
            process_of_thread(thread).ok_or(Errno::SRCH)?,
            PidfdFlags::empty(),
        ),
        other => Err(other),
    })?;
    pidfd_getfd(opened, number, PidfdGetfdFlags::empty())
}

fn open_pid(pid: i32, flags: PidfdFlags) -> Result<OwnedFd, Errno> {
    pidfd_open(Pid::from_raw(pid).ok_or(Errno::SRCH)?, flags)
}
