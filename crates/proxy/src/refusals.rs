//! The refused targets, counted.

use crate::rules::Target;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The largest number of counted targets.
const MAX_TARGETS: usize = 64;

/// The refused targets since the last report.
#[derive(Debug, Default)]
pub struct Refusals {
    counted: Mutex<BTreeMap<Target, u64>>,
}

impl Refusals {
    /// Counts a refused target. Beyond [`MAX_TARGETS`], new targets are not counted.
    pub(crate) fn add(&self, target: &Target) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() < MAX_TARGETS || counted.contains_key(target) {
            *counted.entry(target.clone()).or_default() += 1;
        }
    }

    /// Returns the refused targets with their counts, and resets the counts.
    pub fn take(&self) -> Vec<(Target, u64)> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *counted).into_iter().collect()
    }
}
