//! Forks this process.

use std::io;
use std::os::unix::fs::MetadataExt;

/// Forks this process. Returns the pid of the child; `None` in the child. The child closes all
/// close-on-exec descriptors except `kept_descriptor`.
///
/// Objects of the parent that own a closed descriptor still exist in the child. So the child must
/// only use objects that it creates after the fork, and must exit instead of returning to its
/// caller.
///
/// # Errors
/// This process has another thread, which could hold a lock that would never be released in the
/// child; `/proc` cannot be read; or the kernel's error.
pub fn fork(kept_descriptor: i32) -> io::Result<Option<i32>> {
    if threads()? != 1 {
        return Err(io::Error::other("this process has several threads"));
    }
    #[expect(unsafe_code, reason = "no safe interface to this call exists")]
    // SAFETY: only this thread exists, so no lock is held by another one, and no other thread can
    // be started before the call. The child is a complete copy.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => {
            close_on_exec(kept_descriptor);
            Ok(None)
        }
        pid if pid > 0 => Ok(Some(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the number of threads of this process.
fn threads() -> io::Result<u64> {
    // Each thread adds a link to this directory, which has two links of its own.
    let tasks = std::fs::metadata("/proc/self/task")?;
    Ok(tasks.nlink().saturating_sub(2))
}

/// Closes the descriptors that an `execve` would close, except `kept_descriptor`.
fn close_on_exec(kept_descriptor: i32) {
    let Ok(listing) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let names = listing.flatten().map(|entry| entry.file_name());
    let numbers = names.filter_map(|name| name.to_str()?.parse::<i32>().ok());
    // All numbers are collected before the first is closed: the listing uses a descriptor, too.
    let numbers: Vec<i32> = numbers
        .filter(|number| *number != kept_descriptor)
        .collect();
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
