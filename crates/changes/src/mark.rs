//! Telling what was changed before a moment from what was changed after it, by file times alone.
//!
//! File systems stamp with a clock of their own granularity: two changes within its tick have the same time. So a mark
//! is a tick that is certainly over: whatever is changed later has a later time.

use crate::error::ChangesError;
use crate::file_stat::{FileStat, Time};
use rustix::fs::{Timespec, Timestamps, UTIME_NOW, fstat, futimens};
use std::fs::File;
use std::path::Path;

/// Attempts to see the clock go on. A tick lasts 10 ms at most, an attempt about a microsecond.
const ATTEMPTS: usize = 1_000_000;

/// A moment: everything that was changed before has a time not later than this, everything after has a later one.
pub(crate) fn set(on: &File, path: &Path) -> Result<Time, ChangesError> {
    let first = touched(on, path)?;
    for _ in 0..ATTEMPTS {
        if touched(on, path)? > first {
            break;
        }
    }
    Ok(first)
}

/// Changes the file, and says at what time.
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

/// Whether a file with that time was changed after the mark. On a file system with whole seconds, what was changed in
/// the mark's second may have been changed after it.
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
    fn what_is_before_and_after_a_mark_is_told_apart_however_close() {
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
