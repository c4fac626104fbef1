//! Ascending numbers that several processes share through a file in a private directory, under a
//! file lock.

use crate::private_dir::{PrivateDir, is_linked};
use rustix::event::{Timespec, poll};
use std::fmt::Write as _;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// The number of attempts to take a lock with a yield in between. On a busy machine, a yield can
/// take as long as a pause.
const MAX_YIELDS: u32 = 100;

/// The number of further attempts, with a pause in between.
const MAX_PAUSES: u32 = 200;

/// The length of the first pause. Each pause is longer by this, up to the length with which all
/// pauses take as long as the wait.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The wait of [`lock_file`]. Usually a process holds the lock for microseconds. A call must not
/// wait for a stopped process.
const USUAL_WAIT: Duration = Duration::from_millis(200);

/// The largest size of a counter's file in bytes.
const MAX_BYTES: usize = 64;

/// Stands for an unknown number.
pub(crate) const UNKNOWN_NUMBER: &str = "?";

/// A counter with its file, which is locked until the value is dropped.
#[derive(Debug)]
pub struct Counter {
    file: File,
    /// The next number; `None` if unknown.
    pub next: Option<u64>,
    /// An upper bound of the size of the numbered files in bytes; `None` if unknown.
    pub used: Option<u64>,
}

impl Counter {
    /// Locks the counter in `name`, and creates the file if it is missing. Invalid contents count
    /// as unknown.
    pub fn lock(dir: &PrivateDir, name: &str) -> io::Result<Self> {
        let file = lock_file(dir, name)?;
        let mut bytes = [0; MAX_BYTES];
        let length = file.read_at(&mut bytes, 0).unwrap_or(0);
        let text = str::from_utf8(&bytes[..length]).unwrap_or_default();
        let mut numbers = text.lines().map(|line| line.trim().parse().ok());
        Ok(Self {
            next: numbers.next().flatten(),
            used: numbers.next().flatten(),
            file,
        })
    }

    /// Writes the numbers. If `used` is unknown, its former value stays in the file.
    pub fn write(&self) -> io::Result<()> {
        let mut text = match self.next {
            Some(next) => format!("{next:020}\n"),
            None => format!("{UNKNOWN_NUMBER:>20}\n"),
        };
        if let Some(used) = self.used {
            let _ = writeln!(text, "{used:020}");
        }
        self.file.write_all_at(text.as_bytes(), 0)
    }
}

/// Opens or creates a file and locks it. Closing the file releases the lock.
///
/// # Errors
/// I/O errors, or `WouldBlock` if another process holds the lock for longer than an update takes.
pub fn lock_file(dir: &PrivateDir, name: &str) -> io::Result<File> {
    lock_file_within(dir, name, USUAL_WAIT)
}

/// Locks a file as [`lock_file`] does, but waits for about `max_wait`, on a busy machine longer.
///
/// # Errors
/// See [`lock_file`].
pub fn lock_file_within(dir: &PrivateDir, name: &str, max_wait: Duration) -> io::Result<File> {
    let longest_pause = max_wait / MAX_PAUSES;
    let mut file = dir.open_or_create(name)?;
    for attempt in 0..MAX_YIELDS + MAX_PAUSES {
        match file.try_lock() {
            Ok(()) if is_linked(&file) => return Ok(file),
            // Another process removed the file before this one got the lock.
            Ok(()) => file = dir.open_or_create(name)?,
            Err(TryLockError::WouldBlock) if attempt < MAX_YIELDS => std::thread::yield_now(),
            Err(TryLockError::WouldBlock) => {
                let pause = longest_pause.min(FIRST_PAUSE * (attempt - MAX_YIELDS + 1));
                // No pause is as long as a second.
                let pause = Timespec {
                    tv_sec: 0,
                    tv_nsec: i64::from(pause.subsec_nanos()),
                };
                // A signal ends a pause early.
                let _ = poll(&mut [], Some(&pause));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    let path = dir.path().join(name);
    let path = path.display();
    let why = format!(
        "another process holds the lock {path}; wait until it ends, or end it (`fuser {path}` prints its pid)"
    );
    Err(io::Error::new(io::ErrorKind::WouldBlock, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_numbers_are_read_back_and_invalid_ones_are_unknown() {
        let root = tempfile::tempdir().unwrap();
        let dir = PrivateDir::create(root.path(), &["a"]).unwrap();
        let lock = || Counter::lock(&dir, "next").unwrap();
        let numbers = || {
            let counter = lock();
            (counter.next, counter.used)
        };
        assert_eq!(numbers(), (None, None));
        for (next, used) in [(None, Some(7)), (Some(u64::MAX), None), (Some(3), Some(4))] {
            let mut counter = lock();
            (counter.next, counter.used) = (next, used);
            counter.write().unwrap();
            drop(counter);
            assert_eq!(numbers(), (next, used.or(Some(7))));
        }
        std::fs::write(dir.path().join("next"), [0xff; 100]).unwrap();
        assert_eq!(numbers(), (None, None));
        let held = lock();
        let busy = Counter::lock(&dir, "next").map(drop).unwrap_err();
        assert_eq!(busy.kind(), io::ErrorKind::WouldBlock);
        drop(held);
    }

    #[test]
    fn removed_file_is_created_again_by_the_next_holder() {
        let root = tempfile::tempdir().unwrap();
        let dir = PrivateDir::create(root.path(), &["a"]).unwrap();
        let held = lock_file(&dir, "lock").unwrap();
        std::thread::scope(|scope| {
            let next = scope.spawn(|| lock_file(&dir, "lock").map(|file| is_linked(&file)));
            dir.remove("lock").unwrap();
            drop(held);
            assert!(next.join().unwrap().unwrap());
        });
    }
}
