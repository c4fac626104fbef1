//! Diagnostic logs on stderr, only if `AGENT_BASH_LOG` enables them.

use agent_bash::HostContext;
use std::ffi::OsString;
use tracing_subscriber::EnvFilter;

const LOG_VARIABLE: &str = "AGENT_BASH_LOG";

/// Starts logging if the variable is set: to a level (`debug`), or to filters of
/// `tracing-subscriber` (`agent_bash_process=debug,warn`). Invalid filters are ignored, with a
/// message on stderr.
pub(crate) fn init(host: &HostContext) {
    let Some(wanted) = host.env.get(&OsString::from(LOG_VARIABLE)) else {
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
