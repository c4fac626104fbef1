//! Looks up paths in the kernel's caches only, so that neither a hung file system nor an
//! automounter blocks the caller.

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The number of attempts: a lookup also fails while another process mounts or renames something.
#[cfg(target_os = "linux")]
const MAX_TRIES: usize = 8;

/// Opens a path with `O_PATH` and these flags.
///
/// # Errors
/// `ENOENT` and `ENOTDIR` if the kernel knows that the path does not exist. Another error if the
/// kernel would have to ask the file system, or does not support the lookup.
#[cfg(target_os = "linux")]
pub fn open_cached(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{CWD, Mode, ResolveFlags, openat2};
    let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
    retry_on_eagain(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED))
}

/// Returns an error: only Linux supports the lookup.
#[cfg(not(target_os = "linux"))]
pub fn open_cached(_: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::OPNOTSUPP)
}

/// Repeats the lookup while the kernel answers `EAGAIN`.
#[cfg(target_os = "linux")]
fn retry_on_eagain<T>(mut lookup: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut result = lookup();
    for _ in 1..MAX_TRIES {
        if !matches!(result, Err(Errno::AGAIN)) {
            break;
        }
        result = lookup();
    }
    result
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn lookup_is_repeated_only_after_eagain() {
        let lookups = |answers: &[Result<u8, Errno>]| {
            let mut count = 0;
            let result = retry_on_eagain(|| {
                let result = answers[count.min(answers.len() - 1)];
                count += 1;
                result
            });
            (result, count)
        };
        assert_eq!(
            lookups(&[Err(Errno::AGAIN), Err(Errno::AGAIN), Ok(1)]),
            (Ok(1), 3)
        );
        assert_eq!(
            lookups(&[Err(Errno::AGAIN)]),
            (Err(Errno::AGAIN), MAX_TRIES)
        );
        assert_eq!(lookups(&[Err(Errno::NOENT), Ok(1)]), (Err(Errno::NOENT), 1));
    }

    /// Needs Linux 5.12, the first version with `RESOLVE_CACHED`.
    #[test]
    fn cached_path_is_known_and_uncached_path_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let absent = dir.path().join("absent");
        let open = || open_cached(&absent, OFlags::NOFOLLOW).map(drop);
        assert_eq!(open(), Err(Errno::AGAIN));
        assert!(!absent.exists());
        assert_eq!(open(), Err(Errno::NOENT));
        std::fs::write(&absent, "").unwrap();
        assert_eq!(open(), Ok(()));
    }
}
