//! Operating-system facilities for several crates: process identity ([`ProcessIdentity`],
//! [`ProcessInfo`]), private directories ([`PrivateDir`]), removing a tree ([`remove_tree`]),
//! files of an untrusted type ([`open_regular`]), lookups in the kernel's caches ([`open_cached`])
//! below another root ([`exists_in_root`]) and without links ([`open_without_links`]), numbers and
//! sweeps that processes share ([`Counter`], [`SweepProgress`]), and the mount table.
//!
//! Not here: starting processes (`agent-bash-process`), and the meaning of the files.

mod cached;
mod counter;
mod handle;
mod identity;
mod in_root;
mod mount;
mod path_flag;
mod pidfd;
mod private_dir;
mod proc_file;
mod process_info;
mod regular;
mod remove;
mod sweep;

pub use cached::open_cached;
pub use counter::{Counter, lock_file, lock_file_within};
pub use handle::ProcessHandle;
pub use identity::ProcessIdentity;
pub use in_root::{exists_in_root, open_without_links};
pub use mount::{FsType, is_btrfs, mountinfo_fields, mountinfo_path};
pub use path_flag::{O_PATH, proc_path};
pub use private_dir::{PrivateDir, is_linked};
pub use proc_file::{read_arguments, read_environment, read_proc, status_field};
pub use process_info::{ProcessInfo, network_namespace, process_of_thread};
pub use regular::{open_regular, read_regular, read_regular_text};
pub use remove::remove_tree;
pub use sweep::{SweepBounds, SweepProgress, Visit};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
