//! What the operating system tells and keeps: who a process is ([`ProcessIdentity`], [`ProcessInfo`]), and directories that
//! are ours alone ([`PrivateDir`]). Below `agent-bash-sink` and `agent-bash-process`.
//!
//! What is *not* here: starting processes (`agent-bash-process`), and what the files mean.

mod handle;
mod identity;
mod private_dir;
mod process_info;

pub use handle::ProcessHandle;
pub use identity::ProcessIdentity;
pub use private_dir::{PrivateDir, is_linked};
pub use process_info::ProcessInfo;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
