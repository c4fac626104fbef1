//! Operating-system facilities that several crates share: process identity ([`ProcessIdentity`], [`ProcessInfo`]), private
//! directories ([`PrivateDir`]), removing what calls leave in them ([`remove_tree`]), and what the kernel knows of files
//! without asking a file system ([`open_known`]).
//!
//! What is *not* here: starting processes (`agent-bash-process`), and the meaning of the files.

mod handle;
mod identity;
mod known;
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
