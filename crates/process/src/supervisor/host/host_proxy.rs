//! The proxy that the host runs for sandboxes with a list of hosts.

use super::openssl::OpenSsl;
use agent_bash_core::Clock;
use agent_bash_core::sandbox::Plan;
use agent_bash_proxy::{
    AllowedHosts, InvalidEntry, ParentProxy, Proxy, ProxyThread, SystemResolver,
};
use agent_bash_sandbox::ListenerReceiver;
use std::io;
use std::sync::Arc;

/// Starts a proxy for the hosts and secrets of a plan. `parent` is the host's own proxy.
///
/// # Errors
/// An entry of the list is invalid, or no thread can be started.
pub(super) fn start_proxy(
    plan: &Plan,
    parent: Option<ParentProxy>,
    openssl: OpenSsl,
    clock: &Arc<dyn Clock>,
    receiver: ListenerReceiver,
) -> io::Result<ProxyThread> {
    let invalid = |error: InvalidEntry| io::Error::new(io::ErrorKind::InvalidInput, error);
    let allowed = AllowedHosts::parse(&plan.hosts).map_err(invalid)?;
    let proxy = Proxy::new(allowed, Box::new(SystemResolver), parent, Arc::clone(clock))
        .with_secrets(&plan.secrets, Box::new(openssl))
        .map_err(invalid)?;
    ProxyThread::start(proxy, || receiver.receive())
}
