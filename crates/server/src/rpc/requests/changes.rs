//! The requests about changes to files.

use crate::into_data::IntoData;
use crate::rpc::answer::{RpcAnswer, data};
use crate::rpc::request_error::ErrorReply;
use agent_bash::change_sets::ChangesScope;
use agent_bash::core::Cancel;
use agent_bash::core::changes::ChangesId;
use agent_bash::{ChangeSets, ChangesRefused, Conversation};
use agent_bash_protocol::data::{
    ChangesDiffData, ChangesDoneData, ChangesGroupData, ChangesGroupPreviewData, ChangesListData,
};
use agent_bash_protocol::message::RpcCall;
use agent_bash_protocol::{ErrorCode, Name};
use std::path::PathBuf;

impl From<ChangesRefused> for ErrorReply {
    fn from(refused: ChangesRefused) -> Self {
        let code = match &refused {
            ChangesRefused::Conflict(_) | ChangesRefused::Group(_) => Some(ErrorCode::Conflict),
            ChangesRefused::NotAllowed(_) => Some(ErrorCode::PermissionDenied),
            _ => None,
        };
        Self {
            error: refused.to_string(),
            code,
        }
    }
}

/// Serves a `changes.*` request.
pub(in crate::rpc) async fn answer(
    session: &Conversation,
    call: RpcCall,
    cancel: &Cancel,
) -> RpcAnswer {
    let sets = session.changes();
    let done = match call {
        RpcCall::ChangesShow { changes: id } => {
            let id = changes_id(&id)?;
            return data(
                sets.run_blocking(move |sets| sets.show_complete(id))
                    .await?,
            );
        }
        RpcCall::ChangesDiff { changes: id, paths } => {
            let (id, paths) = (changes_id(&id)?, paths_of(paths));
            let diffs = sets.run_blocking(move |sets| sets.diff(id, &paths)).await?;
            return data(ChangesDiffData {
                files: diffs.into_iter().map(IntoData::into_data).collect(),
            });
        }
        RpcCall::ChangesPreview { changes: id, redo } => {
            let id = changes_id(&id)?;
            let preview = sets
                .run_blocking(move |sets| sets.preview(id, redo))
                .await?;
            return data::<agent_bash_protocol::data::ChangesPreviewData>(preview.into_data());
        }
        RpcCall::ChangesCommit {
            changes: id,
            for_model,
        } => {
            let id = changes_id(&id)?;
            if for_model {
                session.commit_for_model(id, cancel).await?
            } else {
                sets.run_blocking(move |sets| sets.commit(id)).await?
            }
        }
        RpcCall::ChangesDiscard { changes: id } => {
            let id = changes_id(&id)?;
            sets.run_blocking(move |sets| sets.discard(id)).await?
        }
        RpcCall::ChangesUndo {
            changes: id,
            paths,
            partial,
        } => {
            let (id, paths) = (changes_id(&id)?, paths_of(paths));
            sets.run_blocking(move |sets| sets.undo(id, &paths, partial))
                .await?
        }
        RpcCall::ChangesRedo { changes: id } => {
            let id = changes_id(&id)?;
            sets.run_blocking(move |sets| sets.redo(id)).await?
        }
        RpcCall::ChangesPreviewAll {
            since,
            turn_name,
            redo,
        } => {
            let scope = scope(session, since.as_ref(), turn_name.as_deref())?;
            let preview = move |sets: &ChangeSets| sets.preview_group(&scope, redo);
            let preview = sets.run_blocking(preview).await?;
            return data::<ChangesGroupPreviewData>(preview.into_data());
        }
        RpcCall::ChangesUndoAll {
            since,
            turn_name,
            partial,
        } => {
            let scope = scope(session, since.as_ref(), turn_name.as_deref())?;
            let undo = move |sets: &ChangeSets| sets.undo_group(&scope, partial);
            return data::<ChangesGroupData>(sets.run_blocking(undo).await?.into_data());
        }
        RpcCall::ChangesRedoAll { since, turn_name } => {
            let scope = scope(session, since.as_ref(), turn_name.as_deref())?;
            let redo = move |sets: &ChangeSets| sets.redo_group(&scope);
            return data::<ChangesGroupData>(sets.run_blocking(redo).await?.into_data());
        }
        // `changes.list`.
        _ => {
            let listed = sets.run_blocking(ChangeSets::list).await?;
            return data(ChangesListData {
                sets: listed.into_iter().map(IntoData::into_data).collect(),
            });
        }
    };
    data(ChangesDoneData {
        changes: done.changes,
        text: done.text,
    })
}

fn scope(
    session: &Conversation,
    since: Option<&Name>,
    turn: Option<&str>,
) -> Result<ChangesScope, ErrorReply> {
    session
        .changes_scope(since.map(|since| since.0.as_str()), turn)
        .map_err(ErrorReply::from)
}

fn changes_id(id: &Name) -> Result<ChangesId, ErrorReply> {
    id.0.parse()
        .map_err(|error: agent_bash::core::changes::ChangesIdError| error.to_string().into())
}

fn paths_of(paths: Vec<String>) -> Vec<PathBuf> {
    paths.into_iter().map(PathBuf::from).collect()
}
