//! Installs a seccomp filter with a listener.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// An instruction of a filter's program, as in linux/filter.h.
pub use libc::sock_filter as Instruction;

/// Installs a filter for this thread and its children. Returns the descriptor of the listener for
/// [`Listener::new`](crate::Listener::new), in this process or in another process that received the
/// descriptor. When all copies are closed, system calls that would wait fail with `ENOSYS`.
///
/// # Errors
/// `EACCES`: neither `no_new_privs` is set nor `CAP_SYS_ADMIN` is held. `EBUSY`: a filter with a
/// listener exists already. `EINVAL`: the program is invalid, or the kernel is too old.
pub fn install(program: &[Instruction]) -> io::Result<OwnedFd> {
    // With the second flag, only fatal signals interrupt a waiting process. Kernels before 5.19 do
    // not support this flag.
    let flags =
        libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    match install_with_flags(program, flags) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            install_with_flags(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)
        }
        result => result,
    }
}

fn install_with_flags(program: &[Instruction], flags: libc::c_ulong) -> io::Result<OwnedFd> {
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
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        )
    };
    let Some(descriptor) = i32::try_from(result).ok().filter(|fd| *fd >= 0) else {
        return Err(io::Error::last_os_error());
    };
    #[expect(unsafe_code, reason = "the kernel returns the descriptor as a number")]
    // SAFETY: the kernel has just opened the descriptor for this call, so no other code owns it.
    let owned = unsafe { OwnedFd::from_raw_fd(descriptor) };
    Ok(owned)
}
