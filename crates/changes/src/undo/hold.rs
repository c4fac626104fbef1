//! Holds and discards the changes of ended trials.

use crate::diff::contents::MAX_FILE_BYTES;
use crate::diff::listing;
use crate::error::ChangesError;
use crate::plan::ApplyPlan;
use crate::sources::held_plan::{HeldPlan, drop_contents};
use crate::store::Store;
use crate::store::set::{ChangeSet, SLOTS_DIR, SetState, UPPER_DIR, WORK_DIR};
use agent_bash_core::changes::Changes;
use agent_bash_os::remove_tree;

impl Store {
    /// Holds the changes of an ended trial, and returns them as they are now. A trial that changed
    /// no file is discarded, since there is nothing to decide.
    ///
    /// # Errors
    /// [`ChangesError::NotHeld`]: the changes were discarded. After any other error, the changes
    /// are held, but cannot be read.
    pub fn hold(&self, mut set: ChangeSet) -> Result<Changes, ChangesError> {
        let planned = listing::plan_to_hold(&set, self.precautions);
        if planned
            .as_ref()
            .is_ok_and(|(held_plan, _)| held_plan.changes_no_file())
        {
            discard(&mut set)?;
            return listing::summary(&set, &ApplyPlan::default());
        }
        hold_planned(set, planned)
    }

    /// Holds a trial that is committed next, even if only times changed.
    ///
    /// # Errors
    /// See [`Store::hold`].
    pub fn hold_to_commit(&self, set: ChangeSet) -> Result<Changes, ChangesError> {
        let planned = listing::plan_to_hold(&set, self.precautions);
        hold_planned(set, planned)
    }

    /// Discards the changes of an ended trial.
    ///
    /// # Errors
    /// The changes cannot be read, or cannot be removed. The next open of the store removes them.
    pub fn drop_trial(&self, mut set: ChangeSet) -> Result<Changes, ChangesError> {
        let planned = listing::plan_to_hold(&set, self.precautions).map(|(held_plan, _)| held_plan);
        if let Ok(planned) = &planned
            && !planned.changes_no_file()
        {
            // The plan is written first: after the removal it cannot be computed.
            let _ = planned.write(&set);
        }
        discard(&mut set)?;
        let planned = planned?;
        let changes = listing::summary(&set, &planned.plan)?;
        let files = listing::held_items(&planned.plan, &planned);
        Ok(changes.with_files(files.iter().map(listing::file)))
    }
}

/// The plan of an ended trial, and the paths that other processes changed.
type HeldWithConflicts = Result<(HeldPlan, Vec<Vec<u8>>), ChangesError>;

/// Holds a trial and returns its changes.
fn hold_planned(mut set: ChangeSet, planned: HeldWithConflicts) -> Result<Changes, ChangesError> {
    if let Ok((held_plan, _)) = &planned {
        // Without the plan, each view compares the trial with the tree. Without preimages, a diff
        // says that contents are unknown.
        let _ = held_plan.write(&set);
        let _ = held_plan.store_preimages(&set, MAX_FILE_BYTES);
    }
    if let Err(error) = set.end(SetState::Held) {
        // The next process that opens the store removes remaining files, since no process holds the
        // lock.
        let _ = discard(&mut set);
        let why = error.to_string();
        return Err(ChangesError::NotHeld { why });
    }
    let (held_plan, conflicts) = planned?;
    let mut plan = held_plan.plan.clone();
    plan.skipped = conflicts;
    let files = listing::held_items(&plan, &held_plan);
    let changes = listing::summary(&set, &plan)?;
    Ok(changes.with_files(files.iter().map(listing::file)))
}

/// Removes the files of a trial. The work directory is removed first, because [`ChangeSet::read`]
/// treats a trial without one as discarded. With an exhausted quota, a copy-on-write file system
/// allows removals but no writes.
pub(crate) fn discard(set: &mut ChangeSet) -> Result<(), ChangesError> {
    set.set_size(0);
    let written = set.set_state(SetState::Discarded);
    for name in [WORK_DIR, UPPER_DIR, SLOTS_DIR] {
        let path = set.dir.path().join(name);
        remove_tree(&path).map_err(ChangesError::io("removing", path))?;
    }
    drop_contents(&set.dir).map_err(ChangesError::io("removing", set.dir()))?;
    if written.is_err() {
        // The disk may have room now.
        let _ = set.set_state(SetState::Discarded);
    }
    Ok(())
}
