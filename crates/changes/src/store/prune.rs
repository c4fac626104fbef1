//! Removes change sets that exceed the limits of age and size.
//!
//! A sweep removes old change sets in steps: each step looks at a limited number of sets, however
//! many are stored. A file contains the total size of all sets. Only if that size exceeds the
//! limit, all sets are read, and the oldest are removed, each together with its undos and redos.

use crate::error::ChangesError;
use crate::files::file_stat::{FileStat, Time};
use crate::store::Store;
use crate::store::accounting::PROGRESS_FILE;
use crate::store::meta::{SetKind, StoreLimits};
use crate::store::numbers::{COUNTER_FILE, numbers};
use crate::store::set::{ChangeSet, SetState};
use crate::store::turn_marks::TURNS_FILE;
use agent_bash_core::changes::ChangesId;
use agent_bash_os::{PrivateDir, SweepBounds, SweepProgress, Visit, remove_tree};
use rustix::fs::fstat;
use std::collections::BTreeMap;

/// The largest number of change sets that a step looks at.
const MAX_STEP_SETS: u64 = 256;

/// The longest time between two steps, in milliseconds.
const MAX_INTERVAL_MS: u64 = 10 * 60 * 1000;

/// The number of sweep steps in the time after which a change set may be removed.
const STEPS_PER_RETENTION: u64 = 144;

/// The fraction of the size limit (one eighth) that is freed at once, so that the next calls need
/// not read the sets again.
const FREED_DIVISOR: u64 = 8;

/// Age in seconds after which an unreadable change set is considered incomplete.
const INCOMPLETE_AGE_SECS: i64 = 3600;

/// Age in seconds after which the numbers of a session without change sets are forgotten: longer
/// than any conversation.
const COUNTER_RETENTION_SECS: i64 = 365 * 24 * 60 * 60;

/// A change set with its undos and redos.
#[derive(Debug, Default)]
struct SetGroup {
    /// When the latest of the sets began.
    last: Time,
    size: u64,
    /// True if the group must not be removed.
    stays: bool,
    sets: Vec<ChangeSet>,
}

impl Store {
    /// Makes the next step of the sweep, if it is due. If the total size exceeds the limit, also
    /// removes the oldest change sets. Running and held change sets are never removed.
    pub(crate) fn prune(&self, now: Time) -> Result<(), ChangesError> {
        let failed = || ChangesError::io("sweeping", &self.path);
        let dir = PrivateDir::open(&self.path, &[]).map_err(failed())?;
        let progress = SweepProgress::read(&dir, PROGRESS_FILE);
        let mut bounds = bounds(self.limits, now);
        if progress.total.is_none() {
            // Each call makes a step until the size of all sets is known.
            bounds.interval = 0;
        }
        let exceeds_limit = exceeds_limit(&progress, self.limits);
        if !exceeds_limit && !progress.is_due(bounds) {
            return Ok(());
        }
        let (lock, _) = self.lock_file()?;
        if !crate::store::set::try_lock(&lock) {
            return Ok(());
        }
        if exceeds_limit {
            self.prune_to_fit(&dir, progress.total)?;
        }
        let visit = |session: &str, first, max_items| self.visit(session, (first, max_items), now);
        SweepProgress::step(&dir, PROGRESS_FILE, bounds, visit)
            .map(drop)
            .map_err(failed())
    }

    /// Looks at the change sets of a session from a number on, and removes the old ones.
    fn visit(&self, session: &str, (first, max_items): (u64, u64), now: Time) -> Visit {
        let mut visit = Visit::default();
        let Ok(directory) = PrivateDir::open(&self.path, &[session]) else {
            return visit;
        };
        let numbers = numbers(&directory).unwrap_or_default();
        if numbers.is_empty() {
            remove_if_unused(&directory, now);
        }
        for number in numbers.into_iter().filter(|number| *number >= first) {
            if visit.items == max_items {
                visit.next = Some(number);
                break;
            }
            visit.items += 1;
            match ChangeSet::read(&directory, ChangesId(number)) {
                Ok(Some(set)) => visit.bytes += self.visit_set(&directory, set, now),
                Ok(None) => {}
                Err(_) => self.remove_incomplete(&directory, number, now),
            }
        }
        visit
    }

    /// Removes a change set that is too old. Returns its size if it stays.
    fn visit_set(&self, session: &PrivateDir, set: ChangeSet, now: Time) -> u64 {
        let size = set.size;
        if set.state == SetState::Running {
            // The host died, unless a process holds the lock. The recovery counts as a use of the
            // set.
            let _ = self.recover_one(session, set);
            return size;
        }
        // The lock file is written at each undo and redo, so a set is as old as its latest undo.
        let used = fstat(&set.lock).map(|stat| FileStat::from(&stat).mtime);
        let is_old = used.is_ok_and(|used| is_older_than(used, now, self.limits.max_age_s));
        let has_no_origin = matches!(set.meta.kind, SetKind::Undo { .. })
            && !session.has(&set.origin().to_string());
        if set.state == SetState::Held || !(is_old || has_no_origin) || !set.is_idle() {
            return size;
        }
        // A set that cannot be removed is tried again by the next sweep.
        if set.remove().is_ok() { 0 } else { size }
    }

    /// Removes a change set that a killed process left incomplete.
    fn remove_incomplete(&self, session: &PrivateDir, number: u64, now: Time) {
        let path = session.path().join(number.to_string());
        let found = path.file_name().map(|name| FileStat::at(session, name));
        if let Some(Ok(Some(found))) = found
            && now.0.saturating_sub(found.mtime.0) > INCOMPLETE_AGE_SECS
            && is_older_than(found.mtime, now, self.limits.max_age_s)
        {
            let _ = remove_tree(&path);
        }
    }

    /// Removes the oldest groups until the total size fits. `known` is the total size according to
    /// the progress file.
    fn prune_to_fit(&self, dir: &PrivateDir, known: Option<u64>) -> Result<(), ChangesError> {
        let failed = || ChangesError::io("sweeping", &self.path);
        let mut groups = self.groups()?;
        groups.sort_by_key(|group| group.last);
        let mut total: u64 = groups.iter().map(|group| group.size).sum();
        SweepProgress::update(dir, PROGRESS_FILE, |progress| {
            // Other calls may have ended while the sets were read.
            let added = progress.total.zip(known);
            let added = added.map_or(0, |(now, known)| now.saturating_sub(known));
            progress.total = Some(total + added);
        })
        .map_err(failed())?;
        if total > self.limits.max_total_bytes {
            let target = self.limits.max_total_bytes - self.limits.max_total_bytes / FREED_DIVISOR;
            for group in groups.into_iter().filter(|group| !group.stays) {
                if total <= target {
                    break;
                }
                for set in group.sets {
                    let path = set.dir().to_owned();
                    set.remove().map_err(ChangesError::io("removing", path))?;
                }
                total = total.saturating_sub(group.size);
            }
        }
        SweepProgress::update(dir, PROGRESS_FILE, |progress| {
            progress.pruned_to = progress.total.unwrap_or_default();
        })
        .map_err(failed())
    }

    fn groups(&self) -> Result<Vec<SetGroup>, ChangesError> {
        let mut all = Vec::new();
        for session in self.sessions()? {
            let Ok(directory) = PrivateDir::open(&self.path, &[&session]) else {
                continue;
            };
            let mut groups: BTreeMap<u64, SetGroup> = BTreeMap::new();
            for number in numbers(&directory)? {
                let Ok(Some(set)) = ChangeSet::read(&directory, ChangesId(number)) else {
                    continue;
                };
                let group = groups.entry(set.origin().0).or_default();
                group.last = group.last.max(set.begun());
                group.size += set.size;
                group.stays |= matches!(set.state, SetState::Held | SetState::Running);
                // A later call may reuse a locked set at any moment.
                let is_reusable = matches!(set.meta.kind, SetKind::Trace | SetKind::Scan);
                group.stays |= is_reusable && !set.is_idle();
                group.sets.push(set);
            }
            all.extend(groups.into_values());
        }
        Ok(all)
    }
}

fn bounds(limits: StoreLimits, now: Time) -> SweepBounds {
    SweepBounds {
        now: now.0.unsigned_abs() * 1000 + u64::from(now.1 / 1_000_000),
        interval: MAX_INTERVAL_MS.min(limits.max_age_s.saturating_mul(1000) / STEPS_PER_RETENTION),
        items: MAX_STEP_SETS,
    }
}

/// True if the accounted size exceeds the limit. If running and held sets alone exceed the limit,
/// the sets are read again only when the size has grown by an eighth of it.
fn exceeds_limit(progress: &SweepProgress, limits: StoreLimits) -> bool {
    progress.total.is_some_and(|total| {
        let grown = progress
            .pruned_to
            .saturating_add(limits.max_total_bytes / FREED_DIVISOR);
        total > limits.max_total_bytes && total >= grown
    })
}

/// True if more than `age` seconds passed from `time` to `now`.
fn is_older_than(time: Time, now: Time, age: u64) -> bool {
    u64::try_from(now.0.saturating_sub(time.0)).is_ok_and(|passed| passed > age)
}

/// Removes the directory of a session if the session has had no change set for long.
fn remove_if_unused(session: &PrivateDir, now: Time) {
    let counter = FileStat::at(session, COUNTER_FILE.as_ref());
    if let Ok(Some(counter)) = counter
        && now.0.saturating_sub(counter.mtime.0) > COUNTER_RETENTION_SECS
        && session.remove(COUNTER_FILE).is_ok()
    {
        // Most sessions have no turns.
        let _ = session.remove(TURNS_FILE);
        // The directory stays if a process has created a change set meanwhile.
        let _ = std::fs::remove_dir(session.path());
    }
}
