//! Starting this program again: as a supervisor, or as the launcher of a box.

use std::path::{Path, PathBuf};

/// A path that starts this very program, even if its file was replaced meanwhile.
pub(in crate::supervisor) fn this_program() -> PathBuf {
    let own = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && own.exists() {
        return own.to_owned();
    }
    // Without `/proc`, use the name by which it was started.
    let named = || std::env::args_os().next().map(std::path::absolute);
    std::env::current_exe()
        .ok()
        .or_else(|| named()?.ok())
        .unwrap_or_default()
}
