//! System calls on pipes that only Linux has, with substitutes for other systems.

#[cfg(target_os = "linux")]
mod linux {
    use rustix::buffer::spare_capacity;
    use rustix::event::{Timespec, epoll};
    use rustix::io::Errno;
    use rustix::pipe::{SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, splice};
    use std::io;
    use std::os::fd::{BorrowedFd, OwnedFd};

    /// An epoll instance over pipes. Its events are in the order in which the pipes became
    /// readable.
    #[derive(Debug)]
    pub(crate) struct Arrivals(OwnedFd);

    impl Arrivals {
        /// Waits for output in these pipes; the numbers name them.
        pub(crate) fn of<'a>(pipes: impl Iterator<Item = (u64, &'a OwnedFd)>) -> io::Result<Self> {
            let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            for (number, pipe) in pipes {
                let data = epoll::EventData::new_u64(number);
                epoll::add(&epoll, pipe, data, epoll::EventFlags::IN)?;
            }
            Ok(Self(epoll))
        }

        /// Returns the numbers of at most `max` readable pipes. Repeated calls take turns between
        /// pipes that stay readable.
        pub(crate) fn readable(&self, max: usize) -> impl Iterator<Item = u64> + use<> {
            let mut events = Vec::with_capacity(max);
            let now = Timespec::default();
            // After an error, there are no events.
            let _ = epoll::wait(&self.0, spare_capacity(&mut events), Some(&now));
            events
                .into_iter()
                .map(|event: epoll::Event| event.data.u64())
        }
    }

    /// Moves bytes from one pipe to another without copying them.
    pub(crate) fn move_bytes(
        source: BorrowedFd<'_>,
        destination: BorrowedFd<'_>,
        max: usize,
    ) -> Result<usize, Errno> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        splice(source, None, destination, None, max, flags)
    }

    /// Enlarges a pipe, if the kernel permits.
    pub(crate) fn enlarge_pipe(pipe: BorrowedFd<'_>, bytes: usize) {
        // A socket has no such size.
        if fcntl_getpipe_size(pipe).is_ok_and(|size| size < bytes) {
            let _ = fcntl_setpipe_size(pipe, bytes);
        }
    }
}

/// Missing: the order in which two pipes became readable; output is always copied.
#[cfg(not(target_os = "linux"))]
mod other {
    use rustix::io::Errno;
    use std::io;
    use std::os::fd::{BorrowedFd, OwnedFd};

    #[derive(Debug)]
    pub(crate) struct Arrivals;

    impl Arrivals {
        pub(crate) fn of<'a>(_: impl Iterator<Item = (u64, &'a OwnedFd)>) -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) fn readable(&self, _: usize) -> impl Iterator<Item = u64> + use<> {
            std::iter::empty()
        }
    }

    pub(crate) fn move_bytes(
        _: BorrowedFd<'_>,
        _: BorrowedFd<'_>,
        _: usize,
    ) -> Result<usize, Errno> {
        Err(Errno::NOSYS)
    }

    pub(crate) fn enlarge_pipe(_: BorrowedFd<'_>, _: usize) {}
}

#[cfg(target_os = "linux")]
pub(super) use linux::{Arrivals, enlarge_pipe, move_bytes};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Arrivals, enlarge_pipe, move_bytes};
