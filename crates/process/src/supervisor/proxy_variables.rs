//! The environment variables that lead the programs of a sandbox to its proxy.

use agent_bash_core::sandbox::{Network, Plan};
use agent_bash_sandbox::PROXY_PORT;
use std::ffi::OsString;

/// The variables with the address of the proxy. Some programs read the lower case only, others the
/// upper case. `ALL_PROXY` is no SOCKS address, because many HTTP clients fail on one.
const PROXY_VARIABLES: [&str; 6] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
];

/// The variables with the targets that programs reach without the proxy.
const EXCEPTION_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The sandbox's own servers.
const EXCEPTIONS: &str = "localhost,127.0.0.1,::1";

/// Makes Node's `fetch` use the variables above.
const NODE_VARIABLE: (&str, &str) = ("NODE_USE_ENV_PROXY", "1");

/// Returns the variables that lead programs of a sandbox to its proxy; none without a proxy.
pub(super) fn proxy_variables(plan: &Plan) -> Vec<(OsString, OsString)> {
    if plan.network != Network::Hosts {
        return Vec::new();
    }
    let address = format!("http://127.0.0.1:{PROXY_PORT}");
    let proxy = PROXY_VARIABLES.map(|name| (name, address.as_str()));
    let exceptions = EXCEPTION_VARIABLES.map(|name| (name, EXCEPTIONS));
    let all = proxy.into_iter().chain(exceptions).chain([NODE_VARIABLE]);
    all.map(|(name, value)| (name.into(), value.into()))
        .collect()
}
