//! Another machine, behind any command that gives stdin and stdout to our program there: `ssh`,
//! `docker exec`, `podman exec`, `kubectl exec`, or a command of the user's.
//!
//! - [`Target`]: where, by name. [`argv`]: the command that leads there.
//! - [`Program`]: our own program, which is uploaded where it is missing.
//! - [`Channel`]: requests and answers over the way there. [`Remote`]: a target kept in reach.
//!
//! What is *not* here: what may run and what is said of it. Both are of whoever asks.

mod argv;
mod channel;
mod dial;
mod error;
mod program;
mod remote;
mod script;
mod stderr_tail;
mod target;

pub use agent_bash_protocol as protocol;
pub use argv::argv;
pub use channel::{Channel, Failed, MAX_LINE, Patience, Update};
pub use dial::{BANNER, CONNECT, LocalHost, UPLOAD};
pub use error::{NotReached, Obstacle};
pub use program::{Program, ProgramError};
pub use remote::{AskError, Connection, Remote, Uploads};
pub use target::{LEASE, Target, TargetError, Way};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
