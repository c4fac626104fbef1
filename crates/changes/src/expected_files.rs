//! Recognises the files that a plan has made or left: a change of another process never counts as a
//! result of the plan.

use crate::file_stat::FileStat;
use crate::plan::{ApplyPlan, Attribution};
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
                    .is_some_and(|it| it.may_have_led_to(now, known))
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
}
