//! Descriptors that a process inherits by number.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Duplicates the descriptor that this process inherited under this number. The duplicate has a
/// number above 2 and is close-on-exec; the inherited descriptor stays open.
///
/// # Errors
/// `EBADF`: no file is open under this number.
pub fn inherited(number: i32) -> io::Result<OwnedFd> {
    /// The lowest number above the standard streams.
    const FIRST_DESCRIPTOR: libc::c_int = 3;
    #[expect(unsafe_code, reason = "no safe interface takes a number")]
    // SAFETY: the call touches no memory, and a number that is not open is an error.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    #[expect(unsafe_code, reason = "the kernel returns the descriptor as a number")]
    // SAFETY: the kernel has just opened the descriptor for this call, so no other code owns it.
    let owned = unsafe { OwnedFd::from_raw_fd(copy) };
    Ok(owned)
}
