//! Logs, for whoever looks for a fault: to stderr, and only where `AGENT_BASH_LOG` asks for them.

use agent_bash::HostContext;
use std::ffi::OsString;
use tracing_subscriber::EnvFilter;

const VARIABLE: &str = "AGENT_BASH_LOG";

/// Starts logging if the variable is set: a level (`debug`), or `tracing-subscriber`'s filters
/// (`agent_bash_process=debug,warn`). What cannot be read of it is left out, with a word on stderr.
pub(crate) fn init(host: &HostContext) {
    let Some(wanted) = host.env.get(&OsString::from(VARIABLE)) else {
        return;
    };
    if wanted.is_empty() {
        return;
    }
    let filter = EnvFilter::builder().parse_lossy(wanted.to_string_lossy());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
}
