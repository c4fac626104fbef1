//! Recognises the files that a plan has made or left: a change of another process never counts as a
//! result of the plan.

use crate::files::file_stat::FileStat;
use crate::plan::{ApplyPlan, Attribution, FileAttributes};
use std::collections::HashMap;

/// Tells the files that a plan has made or left from files that another process has changed since.
pub(crate) struct ExpectedFiles<'a> {
    attributions: HashMap<&'a [u8], &'a Attribution>,
}

impl<'a> ExpectedFiles<'a> {
    pub(crate) fn of(plan: &'a ApplyPlan) -> Self {
        let attributions = plan.attributions.iter();
        Self {
            attributions: attributions.map(|it| (&it.path[..], it)).collect(),
        }
    }

    /// True if `now` is the `known` file of this path, with its attributes or those that the plan
    /// sets.
    pub(crate) fn is_still(&self, path: &[u8], known: &FileStat, now: &FileStat) -> bool {
        let has_content = known.ino == now.ino && (now.is_dir() || known.size == now.size);
        known.is_same_content(now)
            || has_content
                && self
                    .attributions
                    .get(path)
                    .is_some_and(|it| it.may_have_led_to(known, now))
    }

    /// Returns `now` if it is still the `known` file; else the known file, so that a later undo or
    /// redo finds the change of the other process.
    pub(crate) fn or_known(
        &self,
        path: &[u8],
        known: Option<FileStat>,
        now: Option<FileStat>,
    ) -> Option<FileStat> {
        match (known, now) {
            (Some(known), Some(now)) if self.is_still(path, &known, &now) => Some(now),
            (Some(known), _) => Some(known),
            (None, now) => now,
        }
    }

    /// Returns the same for a file with attributes that the plan has `set`. If only the time was to
    /// change, any file with that time is the result: another file at this path is no conflict, so
    /// that the plan may not know the file.
    pub(crate) fn with_set(
        &self,
        attribution: &Attribution,
        set: Option<&FileAttributes>,
        known: Option<FileStat>,
        now: Option<FileStat>,
    ) -> Option<FileStat> {
        let has_time = set.zip(now).is_none_or(|(set, now)| set.mtime == now.mtime);
        if has_time && attribution.changes_only_times() {
            now
        } else {
            self.or_known(&attribution.path, known, now)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(mode: u32, ino: u64, mtime: i64) -> FileStat {
        FileStat {
            ino,
            mode,
            uid: 7,
            gid: 7,
            links: 1,
            size: 3,
            device: 0,
            mtime: (mtime, 0),
            ctime: (9, 9),
        }
    }

    #[test]
    fn file_is_known_with_attributes_from_before_or_after_and_no_others() {
        const DIRECTORY: u32 = 0o040_000;
        const FILE: u32 = 0o100_000;
        for (known, now, expected) in [
            (stat(FILE | 0o600, 1, 5), stat(FILE | 0o600, 1, 5), true),
            // Set in part, or as a whole.
            (stat(FILE | 0o600, 1, 5), stat(FILE | 0o640, 1, 5), true),
            (stat(FILE | 0o600, 1, 5), stat(FILE | 0o640, 1, 6), true),
            (stat(FILE | 0o600, 1, 5), stat(FILE | 0o604, 1, 5), false),
            (stat(FILE | 0o600, 1, 5), stat(FILE | 0o600, 1, 8), false),
            (stat(FILE | 0o600, 1, 5), stat(FILE | 0o600, 2, 5), false),
            // A directory may have been made writable, and has another time.
            (
                stat(DIRECTORY | 0o500, 1, 5),
                stat(DIRECTORY | 0o700, 1, 8),
                true,
            ),
            (
                stat(DIRECTORY | 0o500, 1, 5),
                stat(DIRECTORY | 0o777, 1, 8),
                false,
            ),
            (stat(FILE | 0o500, 1, 5), stat(FILE | 0o700, 1, 5), false),
        ] {
            let attributes = |permissions, mtime| {
                let attributes =
                    FileAttributes::new(&stat(FILE | permissions, 1, mtime), Vec::new());
                Some(attributes)
            };
            let attribution = Attribution {
                path: b"a".to_vec(),
                current: Some(known),
                before: attributes(known.permissions(), 5),
                after: attributes(0o640, 6),
            };
            let plan = ApplyPlan {
                attributions: vec![attribution],
                ..ApplyPlan::default()
            };
            let is_still = ExpectedFiles::of(&plan).is_still(b"a", &known, &now);
            assert_eq!(is_still, expected, "{known:?} {now:?}");
        }
    }
}
