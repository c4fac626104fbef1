//! Installs a seccomp filter with a listener.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// An instruction of a filter's program, as in linux/filter.h.
pub use libc::sock_filter as Instruction;

/// Installs a filter for this thread and its children. Returns the descriptor of the listener for
/// [`Listener::new`](crate::Listener::new), in this process or in another one that received it.
/// Once all copies are closed, system calls that would wait fail with `ENOSYS`.
///
/// # Errors
/// `EACCES`: neither `no_new_privs` is set nor `CAP_SYS_ADMIN` is held. `EBUSY`: a filter with a
/// listener exists already. `EINVAL`: the program is invalid, or the kernel is too old.
pub fn install(program: &[Instruction]) -> io::Result<OwnedFd> {
    // With the second flag, only fatal signals interrupt a waiting process. Older kernels do not
    // support it.
    let best =
        libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    match with_flags(program, best) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            with_flags(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)
        }
        installed => installed,
    }
}

fn with_flags(program: &[Instruction], flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let too_long = |_| io::Error::from_raw_os_error(libc::EINVAL);
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(too_long)?,
        // The kernel only reads the program.
        filter: program.as_ptr().cast_mut(),
    };
    #[expect(unsafe_code, reason = "no safe interface to this system call exists")]
    // SAFETY: the third argument points to a program with the stated number of instructions, which
    // live until the kernel has copied them. An invalid program is an error, not undefined
    // behaviour.
    let installed = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        )
    };
    let Some(descriptor) = i32::try_from(installed).ok().filter(|fd| *fd >= 0) else {
        return Err(io::Error::last_os_error());
    };
    #[expect(unsafe_code, reason = "the kernel returns the descriptor as a number")]
    // SAFETY: the kernel has just opened the descriptor for this call, so no other code owns it.
    let owned = unsafe { OwnedFd::from_raw_fd(descriptor) };
    Ok(owned)
}
