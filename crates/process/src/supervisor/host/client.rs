//! The host's connection to a running supervisor: receives its events and ends it.

use super::host_proxy::start_proxy;
use super::openssl::OpenSsl;
use super::order_sender::OrderSender;
use super::reap::{SupervisorProcess, reap, sweep};
use super::receive::{self, Disconnected};
use super::start_error::StartError;
use crate::cgroup::{LimitCounts, LimitedTree, TreeLimits};
use crate::supervisor::PROTOCOL_VERSION;
use crate::supervisor::channel::Inbox;
use crate::supervisor::protocol::{Event, Order, ShellSandbox, ShellStart};
use crate::supervisor::proxy_variables::proxy_variables;
use crate::supervisor::shell_directory::TEMPORARY_VARIABLES;
use agent_bash_core::sandbox::Report;
use agent_bash_core::{Clock, Notice};
use agent_bash_proxy::{ParentProxy, ProxyThread, Refusals};
use agent_bash_sandbox::view::Mounts;
use agent_bash_sandbox::{NetworkEntrance, NetworkUse, Networks};
use rustix::net::Shutdown;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for a supervisor's hello, which only an overloaded machine delays.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit for the answer to an order. The supervisor does nothing slow, so only an overloaded
/// machine or a stopped supervisor needs longer.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The host's connection to a supervisor. Dropping the client ends all processes of the supervisor,
/// except jobs and adopted survivors.
#[derive(Debug)]
pub struct SupervisorClient {
    /// `None` if the supervisor is a thread.
    process: Option<SupervisorProcess>,
    /// The reason for a thread instead of a process; `None` for a process.
    fallback_reason: Option<String>,
    pub(super) clock: Arc<dyn Clock>,
    /// The shared networks of sandboxes.
    networks: Arc<Networks<ProxyThread>>,
    /// The host's own proxy, through which the proxies of sandboxes connect.
    parent_proxy: Option<ParentProxy>,
    /// Encrypts connections of the proxies of sandboxes.
    openssl: OpenSsl,
    /// The use of the last shell's network. It keeps the network and its proxy for the processes of
    /// the shell.
    network: Option<NetworkUse<ProxyThread>>,
    link: OrderSender,
    inbox: Inbox,
    /// True if the supervisor's hello was received, with a matching version.
    hello_received: bool,
    /// The differences between the supervisor's environment and the environment of its shells.
    /// Empty unless the supervisor was started before the shells' environment was known.
    env_changes: Vec<(OsString, Option<OsString>)>,
    /// The parameters of the last shell that was requested.
    pub(super) last_start: Option<ShellStart>,
    /// The report on the last shell's sandbox.
    pub(super) sandbox_report: Option<Report>,
    /// How limits for all processes of the last shell together are enforced.
    tree_limits: TreeLimits,
    /// The reported counts of the last shell's cgroup.
    limit_counts: LimitCounts,
    /// The host's mounts when the last shell with private mounts was started.
    pub(super) host_mounts: Option<Mounts>,
}

impl SupervisorClient {
    /// `process_or_reason` is the supervisor's process, or the reason for a thread.
    pub(super) fn new(
        process_or_reason: Result<SupervisorProcess, String>,
        link: OrderSender,
        clock: &Arc<dyn Clock>,
        networks: &Arc<Networks<ProxyThread>>,
    ) -> Self {
        let (process, fallback_reason) = match process_or_reason {
            Ok(process) => (Some(process), None),
            Err(reason) => (None, Some(reason)),
        };
        Self {
            process,
            fallback_reason,
            clock: Arc::clone(clock),
            networks: Arc::clone(networks),
            parent_proxy: None,
            openssl: OpenSsl::new(&BTreeMap::new()),
            network: None,
            link,
            inbox: Inbox::new(),
            hello_received: false,
            env_changes: Vec::new(),
            last_start: None,
            sandbox_report: None,
            tree_limits: TreeLimits::default(),
            limit_counts: LimitCounts::default(),
            host_mounts: None,
        }
    }

    /// Sets the host's own proxy and the certificates of trusted authorities to those that `env`,
    /// the environment of the shells, names.
    pub(super) fn set_proxy_environment(&mut self, env: &BTreeMap<OsString, OsString>) {
        self.parent_proxy = ParentProxy::from_env(env);
        self.openssl = OpenSsl::new(env);
    }

    /// Computes the changes from `current`, the environment of the supervisor, to `wanted`, the
    /// environment of its shells.
    pub(super) fn set_environment(
        &mut self,
        current: &BTreeMap<OsString, OsString>,
        wanted: &BTreeMap<OsString, OsString>,
    ) {
        let removed = current.keys().filter(|name| !wanted.contains_key(*name));
        let removed = removed.map(|name| (name.clone(), None));
        let set = wanted
            .iter()
            .filter(|(name, value)| current.get(*name) != Some(*value));
        let set = set.map(|(name, value)| (name.clone(), Some(value.clone())));
        self.env_changes = removed.chain(set).collect();
    }

    /// Adds the environment of the shells and the role in a shared network to `start`. Also returns
    /// the socket of the shared network, if there is one.
    pub(super) fn complete_start(
        &mut self,
        mut start: ShellStart,
    ) -> Result<(ShellStart, Option<OwnedFd>), StartError> {
        // A sandbox sets `TMPDIR`, its like and the variables of caches to its own directories, and
        // those of proxies to its own proxy. The host's values must not replace them, but a
        // variable of the call may.
        let plan = start
            .sandbox
            .as_ref()
            .and_then(|sandbox| sandbox.plan.as_ref());
        let proxy_variables = plan.map(proxy_variables).unwrap_or_default();
        let is_set_by_sandbox = |name: &OsString| {
            let cache_variables = plan.iter().flat_map(|plan| &plan.caches.variables);
            let mut variables = cache_variables.chain(&proxy_variables);
            let mut temporary = TEMPORARY_VARIABLES.iter();
            plan.is_some()
                && (temporary.any(|set| name == *set) || variables.any(|(set, _)| set == name))
        };
        let inherited = self
            .env_changes
            .iter()
            .filter(|(name, _)| !is_set_by_sandbox(name));
        let inherited: Vec<_> = inherited.cloned().collect();
        // The call's own changes come last: they take precedence.
        start.env_changes.splice(0..0, inherited);
        if let (Some(sandbox), Some(process)) = (&start.sandbox, &mut self.process) {
            process.set_shell_directories(sandbox.directory.clone());
        }
        let entrance = start
            .sandbox
            .as_ref()
            .map_or(Ok(None), |sandbox| self.entrance(sandbox));
        let entrance = entrance.map_err(|error| StartError::Sandbox(error.to_string()))?;
        let (entrance, network) = entrance.unzip();
        self.network = network;
        let (role, socket) = entrance
            .map(|NetworkEntrance { role, socket }| (role, socket))
            .unzip();
        start.network = role;
        Ok((start, socket))
    }

    /// Returns the access of a shell to its network, and the use of the network. A trial shares no
    /// network: a server of another call could change files on its behalf.
    fn entrance(
        &self,
        sandbox: &ShellSandbox,
    ) -> io::Result<Option<(NetworkEntrance, NetworkUse<ProxyThread>)>> {
        let Some(plan) = &sandbox.plan else {
            return Ok(None);
        };
        let serve = |receiver| {
            let (parent, openssl) = (self.parent_proxy.clone(), self.openssl.clone());
            start_proxy(plan, parent, openssl, &self.clock, receiver)
        };
        match sandbox.trial {
            Some(_) => Networks::unshared_entrance(plan, serve),
            None => self.networks.entrance(plan, serve),
        }
    }

    /// Returns the counts of the connections that the proxy of the last shell refused; `None`
    /// without a proxy.
    pub fn refusals(&self) -> Option<Arc<Refusals>> {
        self.network.as_ref()?.proxy().map(ProxyThread::refusals)
    }

    /// Returns the report on the last shell's sandbox; `None` without a sandbox.
    pub fn sandbox_report(&self) -> Option<&Report> {
        self.sandbox_report.as_ref()
    }

    /// Sets how limits for all processes of the last shell together are enforced.
    pub(super) fn set_tree_limits(&mut self, limits: TreeLimits) {
        (self.tree_limits, self.limit_counts) = (limits, LimitCounts::default());
    }

    /// Returns a notice for each limit of the last shell's cgroup that was reached since this
    /// function was called before, and one that names the limits that no cgroup enforces.
    pub fn limit_notices(&mut self) -> Vec<Notice> {
        let mut notices: Vec<_> = self.tree_limits.missing_notice().into_iter().collect();
        if let Some(tree) = &self.tree_limits.tree {
            let now = tree.counts();
            let before = std::mem::replace(&mut self.limit_counts, now);
            notices.extend(tree.notices(before, now));
        }
        notices
    }

    /// Waits for the supervisor's hello, unless it was received.
    ///
    /// # Errors
    /// The supervisor does not answer within a second, or has another version. This function then
    /// kills the supervisor.
    pub async fn handshake(mut self) -> Result<Self, StartError> {
        if self.hello_received {
            return Ok(self);
        }
        let clock = Arc::clone(&self.clock);
        let hello = tokio::select! {
            biased;
            event = self.event() => event,
            () = clock.sleep(HELLO_TIMEOUT) => Err(Disconnected),
        };
        let accepted = match hello {
            Ok((Event::Hello { version }, _)) => self.check_version(version),
            Ok((Event::CannotServe { reason }, _)) => Err(StartError::CannotServe(reason)),
            Ok(_) => Err(StartError::OtherVersion),
            Err(Disconnected) => {
                let ended = self.exit_status().await;
                Err(ended.map_or(StartError::NoHello, StartError::EndedEarly))
            }
        };
        // A program that is not our supervisor will not exit when its socket is closed.
        if let (Err(_), Some(process)) = (&accepted, &self.process) {
            process.signal(Signal::KILL);
        }
        accepted.map(|()| self)
    }

    /// Returns the exit status of the supervisor's process, if it has ended. A process closes its
    /// descriptors a moment before it can be reaped.
    async fn exit_status(&mut self) -> Option<ExitStatus> {
        let process = self.process.as_mut()?;
        for _ in 0..5 {
            if let Some(status) = process.status() {
                return Some(status);
            }
            self.clock.sleep(Duration::from_millis(10)).await;
        }
        None
    }

    /// Checks the version of the supervisor's hello.
    pub(super) fn check_version(&mut self, version: u32) -> Result<(), StartError> {
        self.hello_received = version == PROTOCOL_VERSION;
        if self.hello_received {
            Ok(())
        } else {
            Err(StartError::OtherVersion)
        }
    }

    /// Returns the reason why a thread replaces the supervisor's process: see
    /// [`Supervisor::fallback`](super::Supervisor::fallback).
    pub fn fallback_reason(&self) -> Option<&str> {
        self.fallback_reason.as_deref()
    }

    /// The supervisor's pid, which is the session id of its shells; 0 for a thread.
    pub fn pid(&self) -> u32 {
        let pid = self.process.as_ref().and_then(SupervisorProcess::pid);
        pid.map_or(0, |pid| pid.as_raw_pid().unsigned_abs())
    }

    /// Sends an order.
    pub(super) fn order(&self, order: &Order, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.link.order(order, fds)
    }

    /// Returns a handle for sending orders from another task.
    pub fn link(&self) -> OrderSender {
        self.link.clone()
    }

    /// Sends an order and waits for its answer: the first event for which `read` returns a value.
    /// Earlier events are dropped.
    ///
    /// # Errors
    /// The supervisor has ended, or has not answered within [`ANSWER_TIMEOUT`].
    pub(super) async fn ask<T>(
        &mut self,
        order: &Order,
        fds: &[BorrowedFd<'_>],
        read: impl Fn(Event) -> Option<T>,
    ) -> Result<T, Disconnected> {
        self.order(order, fds).map_err(|_| Disconnected)?;
        let clock = Arc::clone(&self.clock);
        let mut timeout = clock.sleep(ANSWER_TIMEOUT);
        loop {
            let (event, _) = self.event_until(&mut timeout).await?;
            if let Some(answer) = read(event) {
                return Ok(answer);
            }
        }
    }

    pub(super) async fn event_until(
        &mut self,
        timeout: &mut (impl Future<Output = ()> + Unpin),
    ) -> Result<(Event, Vec<OwnedFd>), Disconnected> {
        tokio::select! {
            biased;
            event = self.event() => event,
            () = timeout => {
                tracing::error!("a supervisor did not answer within {ANSWER_TIMEOUT:?}");
                Err(Disconnected)
            }
        }
    }

    /// Lets the supervisor and its processes outlive this program.
    pub(super) fn set_outlives_host(&mut self) {
        if let Some(process) = &mut self.process {
            process.set_outlives_host();
        }
    }

    /// Returns the supervisor's next event. Cancel safe.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub async fn event(&mut self) -> Result<(Event, Vec<OwnedFd>), Disconnected> {
        receive::next(self.link.socket(), &mut self.inbox).await
    }

    /// True if an event, or the end of the connection, is unread. Does not wait. A warm shell
    /// should send nothing while it waits.
    pub fn has_unread_event(&mut self) -> bool {
        !matches!(self.try_event(), Ok(None))
    }

    /// Returns an unread event; `None` if there is none.
    pub(super) fn try_event(&mut self) -> Result<Option<(Event, Vec<OwnedFd>)>, Disconnected> {
        receive::try_next(self.link.socket(), &mut self.inbox)
    }

    /// Ends the supervisor with all its processes, and waits until it is reaped. For hosts that are
    /// about to exit: a dropped supervisor is reaped in the background.
    pub async fn close(mut self) {
        let ending = self.end_lifeline();
        reap(ending, Arc::clone(self.link.socket())).await;
    }

    /// Sends SIGCONT to the supervisor: if a script had stopped the supervisor, it would not end.
    pub fn wake(&self) {
        if let Some(process) = &self.process {
            process.signal(Signal::CONT);
        }
    }

    /// Shuts down the writing end, which is the supervisor's lifeline. A plain close would not
    /// suffice, as other tasks may hold the socket.
    fn end_lifeline(&mut self) -> Option<SupervisorProcess> {
        self.wake();
        let _ = rustix::net::shutdown(&**self.link.socket(), Shutdown::Write);
        self.process.take()
    }

    /// Kills the remaining processes of the supervisor's session, and processes that can write to
    /// the call's output. `output` are the read ends of the output. Returns the number of killed
    /// processes; 0 for the fallback's thread, which kills them itself. Call this function for a
    /// supervisor that ended without reporting how its shell ended. Such a supervisor is not reaped
    /// yet, so its session id is not reused. A process that has left the session and closed the
    /// output is only found in the shell's cgroup, and not counted.
    pub fn sweep(&self, output: &[BorrowedFd<'_>]) -> usize {
        let pid = self.process.as_ref().and_then(SupervisorProcess::pid);
        let killed = pid.map_or(0, |pid| sweep(pid.as_raw_pid(), output));
        self.tree_limits.tree.iter().for_each(LimitedTree::kill);
        killed
    }
}

impl Drop for SupervisorClient {
    fn drop(&mut self) {
        let Some(mut ending) = self.end_lifeline() else {
            return;
        };
        if ending.try_reap() {
            return;
        }
        // The supervisor ends by itself. It is reaped in the background, so that no zombie remains.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(reap(Some(ending), Arc::clone(self.link.socket())));
        }
    }
}
