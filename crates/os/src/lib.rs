//! Operating-system facilities for several crates: process identity ([`ProcessIdentity`],
//! [`ProcessInfo`]), private directories ([`PrivateDir`]), removing a tree ([`remove_tree`]),
//! files of an untrusted type ([`read_regular`]), files of `/proc` ([`read_proc`]), lookups in the
//! kernel's caches ([`open_known`]), and on Linux the mount table.
//!
//! Not here: starting processes (`agent-bash-process`), and the meaning of the files.

mod handle;
mod identity;
mod known;
#[cfg(target_os = "linux")]
mod mount;
mod pidfd;
mod private_dir;
mod proc_file;
mod process_info;
mod regular;
mod remove;

pub use handle::ProcessHandle;
pub use identity::ProcessIdentity;
pub use known::open_known;
#[cfg(target_os = "linux")]
pub use mount::{is_btrfs, mountinfo_path};
pub use private_dir::{PrivateDir, is_linked};
pub use proc_file::read_proc;
pub use process_info::ProcessInfo;
pub use regular::read_regular;
pub use remove::remove_tree;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
