//! Operating-system facilities for several crates: process identity ([`ProcessIdentity`],
//! [`ProcessInfo`]), private directories ([`PrivateDir`]), removing a tree ([`remove_tree`]), and
//! lookups in the kernel's caches ([`open_known`]).
//!
//! Not here: starting processes (`agent-bash-process`), and the meaning of the files.

mod handle;
mod identity;
mod known;
mod pidfd;
mod private_dir;
mod process_info;
mod remove;

pub use handle::ProcessHandle;
pub use identity::ProcessIdentity;
pub use known::open_known;
pub use private_dir::{PrivateDir, is_linked};
pub use process_info::ProcessInfo;
pub use remove::remove_tree;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
