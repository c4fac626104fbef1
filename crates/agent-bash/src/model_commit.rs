//! Commits a trial for a model.

use crate::approval::{Approval, Approver};
use agent_bash_core::Cancel;
use agent_bash_core::changes::{ChangesId, ChangesState};
use agent_bash_settings::CommitBy;
use agent_bash_state::{ChangeSets, ChangesDone, ChangesRefused};

/// Commits a trial for a model, if the setting `changes.commit` allows that.
///
/// # Errors
/// As [`ChangeSets::commit`]; [`ChangesRefused::NotAllowed`].
pub async fn commit_for_model(
    sets: &ChangeSets,
    id: ChangesId,
    approver: &dyn Approver,
    cancel: &Cancel,
) -> Result<ChangesDone, ChangesRefused> {
    let commit_by = sets.settings().commit;
    if commit_by == CommitBy::User {
        let why = format!("trial {id} can be committed by the user only");
        return Err(sets.not_allowed(id, &why));
    }
    if commit_by == CommitBy::Ask {
        let trial = sets.run_blocking(move |sets| sets.show(id)).await?;
        if trial.state != ChangesState::Held {
            // The commit fails with an error that names the trial's state. The approver need not be
            // asked.
            return sets.run_blocking(move |sets| sets.commit(id)).await;
        }
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                return Err(ChangesRefused::NotAllowed("cancelled before it was committed".to_owned()));
            }
            answer = approver.commit(&trial) => answer,
        };
        if let Approval::Deny { reason } = answer {
            return Err(sets.not_allowed(id, &reason));
        }
    }
    sets.run_blocking(move |sets| sets.commit(id)).await
}
