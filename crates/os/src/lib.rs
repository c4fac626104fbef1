//! Operating-system facilities shared by `agent-bash-sink` and `agent-bash-process`: process identity
//! ([`ProcessIdentity`], [`ProcessInfo`]) and private directories ([`PrivateDir`]).
//!
//! What is *not* here: starting processes (`agent-bash-process`), and the meaning of the files.

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
