//! Remote hosts: any command that connects stdin and stdout to this program on another machine,
//! such as `ssh`, `docker exec`, `podman exec`, `kubectl exec`, or a command of the user.
//!
//! - [`Target`]: the name of a remote host. [`argv`]: the command that connects to it.
//! - [`Program`]: this program, which is uploaded if missing.
//! - [`Channel`]: requests and answers over the connection. [`Remote`]: a remote host with its
//!   connection.
//! - [`RemoteSession`]: runs calls on a remote host, and checks and cleans its answers.
//!
//! Elsewhere: the policy, and texts about results that a target sends.

mod argv;
mod channel;
mod dial;
mod error;
mod program;
mod remote;
mod script;
mod session;
mod stderr_tail;
mod target;

pub use agent_bash_protocol as protocol;
pub use argv::argv;
pub use channel::{Channel, ChannelTimeouts, MAX_LINE, OutputUpdate, RequestFailure};
pub use dial::{CONNECT_TIMEOUT, LocalHost, MAX_BANNER_BYTES, UPLOAD_TIMEOUT};
pub use error::{NotReached, Obstacle};
pub use program::{Program, ProgramError};
pub use remote::{AskError, Connection, Remote, Uploads};
pub use session::RemoteSession;
pub use target::{DEFAULT_LEASE, Target, TargetError, TargetTransport};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
