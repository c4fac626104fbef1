//! What the kernel knows of files from its caches, so that no file system can hold up whoever asks, and no automounter.

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

/// How often the kernel is asked: it also gives up where somebody mounts or renames something at this moment.
#[cfg(target_os = "linux")]
const TRIES: usize = 8;

/// Opens what is at this path, for looking at it alone (`O_PATH`), with these flags in addition.
///
/// # Errors
/// `ENOENT` and `ENOTDIR` if the kernel knows that nothing is there; another one if a file system would have to be asked,
/// or the system cannot tell.
#[cfg(target_os = "linux")]
pub fn open_known(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{CWD, Mode, ResolveFlags, openat2};
    let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
    patiently(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED))
}

/// See the one for Linux.
#[cfg(not(target_os = "linux"))]
pub fn open_known(_: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::OPNOTSUPP)
}

/// Asks again where the kernel gave up.
#[cfg(target_os = "linux")]
fn patiently<T>(mut ask: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut answer = ask();
    for _ in 1..TRIES {
        if !matches!(answer, Err(Errno::AGAIN)) {
            break;
        }
        answer = ask();
    }
    answer
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn who_gave_up_is_asked_again_and_nobody_else() {
        let asked = |answers: &[Result<u8, Errno>]| {
            let mut count = 0;
            let answer = patiently(|| {
                let answer = answers[count.min(answers.len() - 1)];
                count += 1;
                answer
            });
            (answer, count)
        };
        assert_eq!(
            asked(&[Err(Errno::AGAIN), Err(Errno::AGAIN), Ok(1)]),
            (Ok(1), 3)
        );
        assert_eq!(asked(&[Err(Errno::AGAIN)]), (Err(Errno::AGAIN), TRIES));
        assert_eq!(asked(&[Err(Errno::NOENT), Ok(1)]), (Err(Errno::NOENT), 1));
    }

    /// Needs Linux 5.12, as the caches cannot be asked before.
    #[test]
    fn what_was_looked_at_is_known_and_what_was_not_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let absent = dir.path().join("absent");
        let open = || open_known(&absent, OFlags::NOFOLLOW).map(drop);
        assert_eq!(open(), Err(Errno::AGAIN));
        assert!(!absent.exists());
        assert_eq!(open(), Err(Errno::NOENT));
        std::fs::write(&absent, "").unwrap();
        assert_eq!(open(), Ok(()));
    }
}
