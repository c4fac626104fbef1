//! Receives waiting system calls, and lets them continue.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Size of the largest supported kernel message in bytes; current kernels use 80.
const MAX_MESSAGE_BYTES: usize = 256;

/// A listener. Its descriptor is readable when a system call waits, and hung up once no process has
/// the filter.
#[derive(Debug)]
pub struct Listener {
    descriptor: OwnedFd,
}

/// A system call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingCall {
    id: u64,
    /// The calling thread, numbered in the listener's pid namespace.
    pub thread: i32,
    /// The architecture of the system call: `AUDIT_ARCH_…` of linux/audit.h.
    pub architecture: u32,
    /// The number of the system call on this architecture.
    pub number: i32,
    /// The system call's arguments.
    pub arguments: [u64; 6],
}

/// A buffer for a message of any kernel, aligned as its widest field.
#[repr(C)]
union MessageBuffer {
    request: libc::seccomp_notif,
    response: libc::seccomp_notif_resp,
    words: [u64; MAX_MESSAGE_BYTES / 8],
}

impl MessageBuffer {
    /// Returns a zeroed buffer. The kernel rejects other contents.
    fn empty() -> Self {
        Self {
            words: [0; MAX_MESSAGE_BYTES / 8],
        }
    }
}

impl Listener {
    /// Returns the listener for a descriptor of [`install`](crate::install()).
    ///
    /// # Errors
    /// The kernel does not report the size of its messages, or they are too large.
    pub fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let mut sizes = libc::seccomp_notif_sizes {
            seccomp_notif: 0,
            seccomp_notif_resp: 0,
            seccomp_data: 0,
        };
        #[expect(unsafe_code, reason = "there is no safe interface to this call")]
        // SAFETY: the third argument points to the structure that the kernel fills.
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_GET_NOTIF_SIZES,
                0,
                &raw mut sizes,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let largest = sizes.seccomp_notif.max(sizes.seccomp_notif_resp);
        if usize::from(largest) > MAX_MESSAGE_BYTES {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        let listener = Self { descriptor };
        // The listener and the waiting thread alternate, so running both on one processor is
        // faster. Kernels before 6.6 do not support this.
        let _ = listener.set_sync_wake_up();
        Ok(listener)
    }

    /// Blocks until a system call waits, and returns it. `None` if the calling thread ended
    /// meanwhile.
    pub fn next(&self) -> io::Result<Option<WaitingCall>> {
        let mut message = MessageBuffer::empty();
        match self.send_request(libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut message) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(None),
            Err(error) => return Err(error),
        }
        #[expect(unsafe_code, reason = "the kernel has filled in one part of the union")]
        // SAFETY: the whole union was initialised, and the part consists of integers, for which
        // every value is valid.
        let request = unsafe { message.request };
        Ok(Some(WaitingCall {
            id: request.id,
            thread: request.pid.cast_signed(),
            architecture: request.data.arch,
            number: request.data.nr,
            arguments: request.data.args,
        }))
    }

    /// True if the system call still waits, so that data that was read before belongs to its
    /// process.
    pub fn still_waits(&self, call: &WaitingCall) -> bool {
        let mut id = call.id;
        self.send_request(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id)
            .is_ok()
    }

    /// Lets the system call continue unchanged.
    ///
    /// # Errors
    /// `ENOENT`: the system call no longer waits.
    pub fn let_continue(&self, call: &WaitingCall) -> io::Result<()> {
        self.respond(call, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32)
    }

    /// Ends the system call without executing it: it returns 0, or fails with `errno`. The caller
    /// must have acted on its own copies of descriptors and data, which the process cannot change.
    ///
    /// # Errors
    /// `ENOENT`: the system call no longer waits.
    pub fn finish(&self, call: &WaitingCall, errno: Option<i32>) -> io::Result<()> {
        self.respond(call, -errno.unwrap_or(0), 0)
    }

    fn respond(&self, call: &WaitingCall, error: i32, flags: u32) -> io::Result<()> {
        let mut message = MessageBuffer::empty();
        message.response = libc::seccomp_notif_resp {
            id: call.id,
            val: 0,
            error,
            flags,
        };
        self.send_request(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut message)
    }

    fn set_sync_wake_up(&self) -> io::Result<()> {
        /// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`
        const SYNC_WAKE_UP: libc::c_ulong = 1;
        #[expect(unsafe_code, reason = "there is no safe interface to this call")]
        // SAFETY: this request takes its argument by value.
        let set = unsafe {
            libc::ioctl(
                self.descriptor.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS,
                SYNC_WAKE_UP,
            )
        };
        check_result(set)
    }

    /// Sends a request with an argument of type `T`. Private, because only the callers above pair
    /// requests with types.
    fn send_request<T>(&self, request: libc::Ioctl, argument: *mut T) -> io::Result<()> {
        #[expect(unsafe_code, reason = "there is no safe interface to this call")]
        // SAFETY: the callers pass pointers to the argument of the request: an id, or a buffer for
        // the largest message of this kernel.
        let send_request =
            || unsafe { libc::ioctl(self.descriptor.as_raw_fd(), request, argument) };
        loop {
            match check_result(send_request()) {
                // A signal interrupted the request. Without another attempt, the system call would
                // wait for ever.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Converts the result of an `ioctl`.
fn check_result(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
