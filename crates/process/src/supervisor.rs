//! The supervisor: a small process between a host and the shells of its calls.
//!
//! The supervisor is a subreaper, so every descendant of a call, including after double forks and
//! `setsid`, becomes its child and can be named and ended. The supervisor reaps them, so there are
//! no zombies. The supervisor only signals processes that it has not reaped, so it never signals a
//! reused pid. Through its lifeline (a socket) to the host, it notices when the host is killed, and
//! ends the commands. The supervisor is small, so that starting a shell does not copy the page
//! tables of a large host.
//!
//! The supervisor is the host's own binary, re-executed under another name, so that nothing extra
//! has to be installed:
//!
//! ```no_run
//! // First in `main`, before any thread: in the supervisor's process, this call does not return.
//! let token = agent_bash_process::supervisor::init();
//! let supervisor = agent_bash_process::supervisor::Supervisor::this_program(&token);
//! // … hand `supervisor` to `agent_bash_exec::ShellCache`
//! ```
//!
//! A host without control over `main` (a plugin, a test) uses [`Supervisor::at`] to start another
//! program that calls [`init`]. A program that has not called [`init`] must never be started as a
//! supervisor: it would start itself again, without end. The [`Token`] proves that this program has
//! called [`init`]. A host that can do neither uses [`Supervisor::fallback`]: the same loop in a
//! thread, with fewer guarantees.
//!
//! Parts: `protocol` (the messages), `channel` (their transport), `job_directory` (the files of a
//! call that outlives its host), `host` (the client) and `server` (the supervisor's process,
//! without tokio). The host uses the server only to start it; the server does not use the host.

mod channel;
mod host;
pub mod job_directory;
mod job_supervisors;
mod nested;
mod protocol;
mod proxy_variables;
mod server;
mod shell_directory;

pub use host::{
    DirectShell, Disconnected, JobClient, JobFds, JobKilled, NotDetached, OrderSender, ReportFds,
    ShellFds, StartError, StartedOnTerminal, Supervisor, SupervisorClient, openssl_path,
};
pub use job_directory::JobEnd;
pub use job_supervisors::{JobSupervisor, job_supervisors};
pub use nested::is_below_supervisor;
#[doc(hidden)]
pub use protocol::ORDER_NAMES;
pub use protocol::{
    DetachOptions, DirectStart, Event, ShellEnd, ShellSandbox, ShellStart, TerminalStart,
};
pub use server::{Token, init};

/// The process name of a supervisor, by which [`init`] recognises one. It never contains parts of
/// the user's command, so that `pkill -f` with a word of the command does not match it.
const PROCESS_NAME: &str = "agent-bash-supervisor";

/// Argument that makes a supervisor stay in its host's working directory.
const SAME_DIRECTORY_ARGUMENT: &str = "here";

/// Argument that makes a supervisor stay in its host's process session and pass inherited
/// descriptors and ignored signals on to its shell.
const IN_SESSION_ARGUMENT: &str = "in-session";

/// The prefix of the variables of agent-bash. A supervisor's environment has only these variables,
/// because they tell the supervisor's owner.
const OWN_VARIABLE_PREFIX: &[u8] = b"AGENT_BASH_";

/// Protocol version. Both sides are the same binary, unless the host's file was replaced while the
/// host was running.
const PROTOCOL_VERSION: u32 = 15;
