//! Taking what waits, and letting it go on.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Bytes of the largest message that a kernel may have; today's have 80.
const LARGEST: usize = 256;

/// A listener. Its descriptor is readable when something waits, and hung up when nobody has its filter any more.
#[derive(Debug)]
pub struct Listener {
    descriptor: OwnedFd,
}

/// A system call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    id: u64,
    /// Thread that makes it, as numbered for the listener's process.
    pub thread: i32,
    /// Which table of system calls it uses: `AUDIT_ARCH_…` of linux/audit.h.
    pub table: u32,
    /// Its number in that table.
    pub number: i32,
    /// Its arguments.
    pub arguments: [u64; 6],
}

/// Room for a message of any kernel, aligned as its widest field.
#[repr(C)]
union Room {
    request: libc::seccomp_notif,
    response: libc::seccomp_notif_resp,
    all: [u64; LARGEST / 8],
}

impl Room {
    /// The kernel refuses room that is not empty.
    fn empty() -> Self {
        Self {
            all: [0; LARGEST / 8],
        }
    }
}

impl Listener {
    /// The listener with this descriptor, which [`install`](crate::install()) has returned.
    ///
    /// # Errors
    /// The kernel does not say how large its messages are, or they are too large.
    pub fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let mut sizes = libc::seccomp_notif_sizes {
            seccomp_notif: 0,
            seccomp_notif_resp: 0,
            seccomp_data: 0,
        };
        #[expect(unsafe_code, reason = "there is no safe interface to this call")]
        // SAFETY: the third argument points to the structure that the kernel fills in.
        let asked = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_GET_NOTIF_SIZES,
                0,
                &raw mut sizes,
            )
        };
        if asked != 0 {
            return Err(io::Error::last_os_error());
        }
        let largest = sizes.seccomp_notif.max(sizes.seccomp_notif_resp);
        if usize::from(largest) > LARGEST {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        let listener = Self { descriptor };
        // Whoever waits and whoever looks take turns, which is faster on one processor. Older kernels cannot.
        let _ = listener.switch_at_once();
        Ok(listener)
    }

    /// Takes the next call that waits; blocks until there is one. `None` if it has gone away meanwhile.
    pub fn next(&self) -> io::Result<Option<Waiting>> {
        let mut room = Room::empty();
        match self.control(libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut room) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
            Err(error) => return Err(error),
        }
        #[expect(unsafe_code, reason = "the kernel has filled in one part of the union")]
        // SAFETY: the whole union was initialised, and the part consists of integers, for which every value is valid.
        let request = unsafe { room.request };
        Ok(Some(Waiting {
            id: request.id,
            thread: request.pid.cast_signed(),
            table: request.data.arch,
            number: request.data.nr,
            arguments: request.data.args,
        }))
    }

    /// Whether the call still waits. If so, what was read of its process before was its own.
    pub fn still_waits(&self, call: &Waiting) -> bool {
        let mut id = call.id;
        self.control(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id)
            .is_ok()
    }

    /// Lets the call be made as it is.
    ///
    /// # Errors
    /// `ENOENT`: it waits no more.
    pub fn let_go(&self, call: &Waiting) -> io::Result<()> {
        let mut room = Room::empty();
        room.response = libc::seccomp_notif_resp {
            id: call.id,
            val: 0,
            error: 0,
            flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        };
        self.control(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut room)
    }

    fn switch_at_once(&self) -> io::Result<()> {
        /// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`
        const SYNC_WAKE_UP: libc::c_ulong = 1;
        #[expect(unsafe_code, reason = "there is no safe interface to this call")]
        // SAFETY: this request takes its argument as a number.
        let set = unsafe {
            libc::ioctl(
                self.descriptor.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS,
                SYNC_WAKE_UP,
            )
        };
        checked(set)
    }

    /// A request whose argument is `T`; private, as only the callers above know which one goes with which.
    fn control<T>(&self, request: libc::Ioctl, argument: *mut T) -> io::Result<()> {
        #[expect(unsafe_code, reason = "there is no safe interface to this call")]
        // SAFETY: the callers pass pointers to what the request reads and writes: an id, or room for the largest
        // message, whose size was asked of this kernel.
        let done = unsafe { libc::ioctl(self.descriptor.as_raw_fd(), request, argument) };
        checked(done)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
