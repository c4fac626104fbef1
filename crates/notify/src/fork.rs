//! A copy of this process that goes on by itself.

use std::io;
use std::os::unix::fs::MetadataExt;

/// Forks this process. Returns the pid of the child, and `None` in the child, which has only those
/// descriptors that it would have after an `execve`, and `kept`.
///
/// The objects that owned the closed descriptors still exist in the child, so it must never return
/// to its caller's caller: it works with what was made after the fork, and exits.
///
/// # Errors
/// This process has another thread, which could hold a lock that nothing in the child would ever
/// release; `/proc` cannot be read; or the kernel's reason.
pub fn fork(kept: i32) -> io::Result<Option<i32>> {
    if threads()? != 1 {
        return Err(io::Error::other("this process has several threads"));
    }
    #[expect(unsafe_code, reason = "no safe interface to this call exists")]
    // SAFETY: only this thread exists, so no lock is held by another one, and no other thread can
    // be started before the call. The child is a complete copy.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => {
            close_on_exec(kept);
            Ok(None)
        }
        pid if pid > 0 => Ok(Some(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The number of threads of this process.
fn threads() -> io::Result<u64> {
    // Each one is a directory in this one, which has two links of its own.
    let tasks = std::fs::metadata("/proc/self/task")?;
    Ok(tasks.nlink().saturating_sub(2))
}

/// Closes what an `execve` would close, except `kept`.
fn close_on_exec(kept: i32) {
    let Ok(listing) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let names = listing.flatten().map(|entry| entry.file_name());
    let numbers = names.filter_map(|name| name.to_str()?.parse::<i32>().ok());
    // Complete before the first is closed: the listing has a descriptor of its own.
    let numbers: Vec<i32> = numbers.filter(|number| *number != kept).collect();
    for number in numbers {
        #[expect(unsafe_code, reason = "no safe interface takes a number")]
        // SAFETY: the call touches no memory, and a number that is not open is an error.
        let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
        if flags >= 0 && flags & libc::FD_CLOEXEC != 0 {
            #[expect(unsafe_code, reason = "no safe interface takes a number")]
            // SAFETY: the owner is an object that this process never uses again, as documented.
            unsafe {
                libc::close(number)
            };
        }
    }
}
