//! Removes change sets that exceed the limits of age and size. A change set and its undos and redos
//! are removed together.

use crate::error::ChangesError;
use crate::file_stat::{FileStat, Time};
use crate::meta::SetKind;
use crate::numbers::numbers;
use crate::set::{ChangeSet, SetState, try_lock};
use crate::store::Store;
use agent_bash_core::changes::ChangesId;
use agent_bash_os::{PrivateDir, remove_tree};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A change set with its undos and redos.
#[derive(Debug, Default)]
struct SetGroup {
    /// When the last of them began.
    last: Time,
    size: u64,
    /// True if the group must not be removed.
    stays: bool,
    paths: Vec<PathBuf>,
}

impl Store {
    /// Removes the groups that are too old, then the oldest until the total size fits. Running and
    /// held change sets are kept, and the latest of each state directory. Returns the number of
    /// removed ones.
    pub(crate) fn prune(&self, now: Time) -> Result<usize, ChangesError> {
        let (lock, _) = self.lock_file()?;
        if !try_lock(&lock) {
            return Ok(0);
        }
        let mut groups = self.groups(now)?;
        groups.sort_by_key(|group| group.last);
        let mut total: u64 = groups.iter().map(|group| group.size).sum();
        let mut removed = 0;
        for group in groups.iter().filter(|group| !group.stays) {
            let age = now.0.saturating_sub(group.last.0);
            let is_old = u64::try_from(age).is_ok_and(|age| age > self.limits.keep);
            if is_old || total > self.limits.total {
                for path in &group.paths {
                    remove_tree(path).map_err(ChangesError::io("removing", path))?;
                    removed += 1;
                }
                total = total.saturating_sub(group.size);
            }
        }
        Ok(removed)
    }

    fn groups(&self, now: Time) -> Result<Vec<SetGroup>, ChangesError> {
        let mut all = Vec::new();
        for session in self.sessions()? {
            let Ok(directory) = PrivateDir::open(&self.path, &[&session]) else {
                continue;
            };
            let mut groups: BTreeMap<u64, SetGroup> = BTreeMap::new();
            for number in numbers(&directory)? {
                let Ok(Some(set)) = ChangeSet::read(&directory, ChangesId(number)) else {
                    all.extend(half_made(&directory, number, now));
                    continue;
                };
                let group = groups.entry(set.origin().0).or_default();
                group.last = group.last.max(set.begun());
                group.size += set.size;
                group.stays |= matches!(set.state, SetState::Held | SetState::Running);
                // A later call may reuse it at any moment.
                let is_spare = matches!(set.meta.kind, SetKind::Trace | SetKind::Scan);
                group.stays |= is_spare && !set.is_idle();
                group.paths.push(set.dir().to_owned());
                if set.origin() == set.id {
                    group.paths.extend(set.meta.slot_directory());
                }
            }
            // Keeping the latest one keeps its number from being reused.
            let latest = groups.values_mut().max_by_key(|group| group.last);
            if let Some(latest) = latest {
                latest.stays = true;
            }
            all.extend(groups.into_values());
        }
        Ok(all)
    }
}

/// Age in seconds after which an unreadable change set is considered incomplete.
const INCOMPLETE_AGE_SECS: i64 = 3600;

/// Returns a change set that a killed process left incomplete. It is removed with the old ones.
fn half_made(session: &PrivateDir, number: u64, now: Time) -> Option<SetGroup> {
    let path = session.path().join(number.to_string());
    let last = FileStat::at(session, path.file_name()?).ok()??.mtime;
    let is_over = now.0.saturating_sub(last.0) > INCOMPLETE_AGE_SECS;
    is_over.then(|| SetGroup {
        last,
        paths: vec![path],
        ..SetGroup::default()
    })
}
