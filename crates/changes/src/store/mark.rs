//! Distinguishes changes before and after a moment by file times alone.
//!
//! File systems use a clock of limited granularity: two changes within a tick have the same time. A
//! mark is therefore a completed tick: every later change has a later time.

use crate::error::ChangesError;
use crate::files::file_stat::{FileStat, Time};
use rustix::fs::{Timespec, Timestamps, UTIME_NOW, fstat, futimens};
use std::fs::File;
use std::path::Path;

/// The number of attempts to observe the next tick. A tick lasts at most 10 ms, an attempt about a
/// microsecond.
const MAX_ATTEMPTS: usize = 1_000_000;

/// Waits for the end of the current tick and returns its time. Files changed before this call have
/// this time or an earlier one; files changed afterwards have a later one.
pub(crate) fn set(on: &File, path: &Path) -> Result<Time, ChangesError> {
    let first = touched(on, path)?;
    for _ in 0..MAX_ATTEMPTS {
        if touched(on, path)? > first {
            break;
        }
    }
    Ok(first)
}

/// Touches the file and returns its new time.
pub(crate) fn touched(on: &File, path: &Path) -> Result<Time, ChangesError> {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let times = Timestamps {
        last_access: now,
        last_modification: now,
    };
    futimens(on, &times).map_err(ChangesError::errno("touching", path))?;
    let stat = fstat(on).map_err(ChangesError::errno("reading the times of", path))?;
    Ok(FileStat::from(&stat).ctime)
}

/// True if a file with the time `changed` was changed after the mark. On a file system with whole
/// seconds, a change within the mark's second counts as later.
pub(crate) fn is_later(changed: Time, mark: Time) -> bool {
    changed > mark || (changed.1 == 0 && changed.0 >= mark.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    fn ctime(path: &Path) -> Time {
        let stat = fs::metadata(path).unwrap();
        (stat.ctime(), stat.ctime_nsec() as u32)
    }

    #[test]
    fn mark_separates_earlier_and_later_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mark");
        let file = File::create(&path).unwrap();
        for round in 0..200 {
            let before = dir.path().join(format!("b{round}"));
            let after = dir.path().join(format!("a{round}"));
            fs::write(&before, "").unwrap();
            let mark = set(&file, &path).unwrap();
            fs::write(&after, "").unwrap();
            assert!(!is_later(ctime(&before), mark), "round {round}");
            assert!(is_later(ctime(&after), mark), "round {round}");
        }
    }

    #[test]
    fn whole_seconds_count_as_later_within_the_second() {
        assert!(is_later((5, 0), (5, 700)));
        assert!(!is_later((4, 0), (5, 700)));
        assert!(!is_later((5, 700), (5, 700)));
        assert!(is_later((5, 701), (5, 700)));
    }
}
