//! Recovery after a crash, by the next process that opens the store.

use crate::error::ChangesError;
use crate::plan::journal::Status;
use crate::sources::traced::conclude;
use crate::store::Store;
use crate::store::meta::SetKind;
use crate::store::set::{ChangeSet, SetState, WORK_DIR, try_lock};
use crate::store::unfinished::{INODE_SEPARATOR, REGISTER_DIR};
use crate::undo::group_run::is_group;
use crate::undo::hold::discard;
use crate::undo::transaction::update_undone_state;
use agent_bash_core::changes::ChangesId;
use agent_bash_os::PrivateDir;
use std::fs::File;
use std::io::Read;

impl Store {
    /// Completes interrupted operations, and discards trials whose host died. Does nothing while
    /// another process changes a tree, because that process has already recovered the store.
    pub(crate) fn recover(&self) -> Result<(), ChangesError> {
        let entries = PrivateDir::open(&self.path, &[REGISTER_DIR])
            .and_then(|register| Ok((register.names()?, register)));
        let Ok((names, register)) = entries else {
            // The register is created with the first change set.
            return Ok(());
        };
        if names.is_empty() {
            return Ok(());
        }
        let (lock, _) = self.lock_file()?;
        if !try_lock(&lock) {
            return Ok(());
        }
        for name in &names {
            if let Ok(entry) = register.read(name) {
                // A change set that cannot be read or completed does not stop the recovery of the
                // others. A later request of this change set reports the error.
                let is_finished = self.recover_entry(name, entry).unwrap_or(false);
                let _ = is_finished.then(|| register.remove(name));
            }
        }
        // An interrupted member of a group is recovered before the rest of the group.
        for name in &names {
            self.recover_group(name);
        }
        Ok(())
    }

    /// Recovers the change set of an entry in the register. Returns true if the entry can be
    /// removed.
    fn recover_entry(&self, name: &str, mut entry: File) -> Result<bool, ChangesError> {
        let failed = || ChangesError::io("reading", self.path.join(REGISTER_DIR).join(name));
        if is_group(name) || !try_lock(&entry) {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(failed())?;
        // Reading the set takes the same lock.
        drop(entry);
        let session = name
            .rsplit_once(INODE_SEPARATOR)
            .map(|(session, _)| session);
        let (Some((id, state)), Some(session)) = (ChangeSet::saved(&bytes), session) else {
            return Ok(true);
        };
        if !matches!(state, SetState::Running | SetState::Held) {
            return Ok(true);
        }
        let Some(session) = self.existing_session(session)? else {
            return Ok(true);
        };
        match ChangeSet::read(&session, id)? {
            None => Ok(true),
            Some(set) => self.recover_one(&session, set).map(|()| false),
        }
    }

    /// Completes or rolls back the interrupted operation of a change set, and writes its final
    /// state.
    pub(crate) fn recover_one(
        &self,
        session: &PrivateDir,
        mut set: ChangeSet,
    ) -> Result<(), ChangesError> {
        if set.state == SetState::Running && !set.is_idle() {
            return Ok(());
        }
        if let Some(mut journal) = set.unfinished_journal()? {
            let origin = ChangeSet::read(session, set.origin())?;
            let slots = origin
                .as_ref()
                .map_or_else(|| set.slots(), ChangeSet::slots);
            let mut applying = self.applying(&set, &slots)?;
            if journal.status == Status::Applying {
                applying.complete_after_crash(&mut journal)?;
                drop(applying);
                if let Some(origin) = origin.filter(|origin| origin.id != set.id) {
                    update_undone_state(session, origin)?;
                }
            } else {
                applying.roll_back_and_record(&mut journal);
            }
        }
        let status = set.journal()?.map(|journal| journal.status);
        let is_undo = matches!(set.meta.kind, SetKind::Undo { .. });
        if is_undo
            && (set.state, status) == (SetState::Running, Some(Status::Done))
            && let Some(origin) = ChangeSet::read(session, set.origin())?
        {
            update_undone_state(session, origin)?;
        }
        // If the disk has no space for the state, the next recovery writes it.
        let _ = match (set.state, set.meta.kind, status) {
            (SetState::Running | SetState::Held, _, Some(Status::Done)) => {
                set.set_state(SetState::Done)
            }
            (SetState::Running, SetKind::Trial, _) => discard(&mut set),
            (SetState::Running, SetKind::Trace | SetKind::Background { .. }, _) => {
                self.mark_interrupted(&mut set)
            }
            (SetState::Running, SetKind::Scan | SetKind::Undo { .. }, _) => {
                set.set_state(SetState::Discarded)
            }
            _ => Ok(()),
        };
        if set.state != SetState::Running && set.unfinished_journal()?.is_none() {
            set.unregister();
        }
        Ok(())
    }

    /// Reads a change set. Closes the set if its recorder died and no call waits for it. Returns
    /// `None` if this process knows the number from a directory that was removed or replaced.
    pub(crate) fn look_up(
        &self,
        session: &PrivateDir,
        id: ChangesId,
    ) -> Result<Option<ChangeSet>, ChangesError> {
        if id < self.first_number(session)? {
            return Ok(None);
        }
        let Some(mut set) = ChangeSet::read(session, id)? else {
            return Ok(None);
        };
        self.record_number(session, id)?;
        // On a full disk, the state of a discarded set may still be `Running`.
        let has_no_changes = match set.meta.kind {
            SetKind::Trial => !set.dir.has(WORK_DIR),
            SetKind::Scan | SetKind::Undo { .. } => matches!(set.journal(), Ok(None)),
            SetKind::Trace | SetKind::Background { .. } => false,
        };
        if has_no_changes && set.state == SetState::Running && set.is_idle() {
            set.state = SetState::Discarded;
        }
        if set.state == SetState::Held
            && set.unfinished_journal()?.is_some()
            && self.is_unlocked()?
        {
            set.state = SetState::Interrupted;
        }
        let is_traced = matches!(set.meta.kind, SetKind::Trace | SetKind::Background { .. });
        if is_traced && set.state == SetState::Running && set.is_idle() {
            if !set.is_unchanged_on_disk() {
                // The change set was closed between the read and the lock.
                return ChangeSet::read(session, id);
            }
            // `set.state` is correct even if it cannot be written.
            let _ = self.mark_interrupted(&mut set);
        }
        Ok(Some(set))
    }

    /// True if no other process holds the store's lock, to change a tree or to recover.
    fn is_unlocked(&self) -> Result<bool, ChangesError> {
        let (lock, _) = self.lock_file()?;
        Ok(try_lock(&lock))
    }

    /// Marks a change set whose recorder died as interrupted.
    fn mark_interrupted(&self, set: &mut ChangeSet) -> Result<(), ChangesError> {
        conclude(
            set,
            self.precautions,
            SetState::Interrupted,
            SetState::Interrupted,
        )
        .or_else(|_| set.set_state(SetState::Interrupted))
    }

    /// Returns the names of all sessions with change sets.
    ///
    /// # Errors
    /// The store cannot be listed.
    pub fn sessions(&self) -> Result<Vec<String>, ChangesError> {
        PrivateDir::open(&self.path, &[])
            .and_then(|store| store.directories())
            .map_err(ChangesError::io("listing", &self.path))
    }
}
