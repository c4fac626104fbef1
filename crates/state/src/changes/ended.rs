//! Ends the change set of a call.

use super::ChangeStore;
use agent_bash_changes::{ChangeSet, ChangesError, Store};
use agent_bash_core::changes::{Changes, TraceState, Undoable};
use agent_bash_core::{Notice, NoticeKind};
use std::path::Path;

impl ChangeStore {
    /// Returns a notice that names the held files that run or configure programs outside of the
    /// sandbox.
    pub fn protected_in_trial(&self, store: &Store, held: &Changes) -> Option<Notice> {
        // A trial that cannot be read cannot be committed either.
        let (_, files) = store.show_all(self.session(), held.id).ok()?;
        let contents = store.held_directory(self.session(), held.id).ok()?;
        let root = Path::new(&held.root);
        let protected = self.protected.among(root, &contents, &files);
        let paths: Vec<String> = protected
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        (!paths.is_empty()).then(|| NoticeKind::ProtectedInTrial { paths }.into())
    }
}

/// Commits a trial. If another process has changed one of its files meanwhile, the changes remain
/// held, and the result names the files.
///
/// # Errors
/// The reason why the trial could not be committed.
pub fn commit_trial(store: &Store, session: &str, set: ChangeSet) -> Result<Changes, String> {
    let mut held = store.hold_to_commit(set).map_err(error_text)?;
    match store.commit(session, held.id) {
        Ok(changes) => Ok(changes),
        Err(ChangesError::Conflict { conflicts, .. }) => {
            held.conflicts = conflicts;
            Ok(held)
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Finishes a traced change set. Marks the changes as inexact if the trace lacks a part. Removes
/// the set of a call that was not traced.
///
/// # Errors
/// The reason why the changes are unknown.
pub fn finish_trace(
    store: &Store,
    set: ChangeSet,
    traced: Option<&TraceState>,
) -> Result<Changes, String> {
    const UNTRACEABLE_REASON: &str = "it ran where it cannot be traced";
    let incomplete_reason = match traced {
        Some(traced) if traced.untraced => {
            let reason = traced
                .incomplete_reason
                .as_deref()
                .unwrap_or(UNTRACEABLE_REASON)
                .to_owned();
            store.remove(set).map_err(error_text)?;
            return Err(reason);
        }
        Some(traced) => traced.incomplete_reason.as_deref(),
        None => Some(UNTRACEABLE_REASON),
    };
    let ended = match incomplete_reason {
        None => store.finish(set),
        Some(_) => store.break_off(set),
    };
    let mut changes = ended.map_err(error_text)?;
    changes.exact &= incomplete_reason.is_none();
    if incomplete_reason.is_some() && changes.undo == Undoable::Whole {
        changes.undo = Undoable::Part;
    }
    match incomplete_reason {
        Some(reason) if changes.counts.total() == 0 => Err(reason.to_owned()),
        _ => Ok(changes),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn error_text(error: ChangesError) -> String {
    error.to_string()
}
