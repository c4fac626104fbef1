//! Setting a filter that has a listener.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// An instruction of a filter's program, as in linux/filter.h.
pub use libc::sock_filter as Instruction;

/// Sets this filter for this thread and everything that it starts. Returns the descriptor of its listener, which
/// [`Listener::new`](crate::Listener::new) takes, in this process or in another one that it was passed to. When nobody
/// has it open any more, calls that would wait fail with `ENOSYS`.
///
/// # Errors
/// `EACCES`: new privileges were not given up, and it takes that or `CAP_SYS_ADMIN`. `EBUSY`: there is a filter with a
/// listener already. `EINVAL`: the program is none, or the kernel is too old.
pub fn install(program: &[Instruction]) -> io::Result<OwnedFd> {
    // With the second flag a process that is looked at is disturbed by no signal that does not end it; older kernels do
    // not know it.
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
        // The kernel only reads it.
        filter: program.as_ptr().cast_mut(),
    };
    #[expect(unsafe_code, reason = "there is no safe interface to this call")]
    // SAFETY: the third argument points to a program with as many instructions as it says, which live until the kernel
    // has copied them; a wrong program is an error and not undefined.
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
    #[expect(unsafe_code, reason = "the descriptor comes as a number")]
    // SAFETY: the kernel has just opened it for this call, so nobody else owns it.
    let owned = unsafe { OwnedFd::from_raw_fd(descriptor) };
    Ok(owned)
}
