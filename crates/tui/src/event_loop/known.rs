//! The definitions of the prompt's shell, known without asking the shell: while it runs a command
//! it cannot answer, and afterwards it may have ended.

use crate::calls::CallEnd;
use agent_bash::Conversation;
use agent_bash::core::{Definitions, SessionName, Status};
use std::sync::{Arc, Mutex, PoisonError};

/// The definitions after the last command that may have changed them.
#[derive(Debug, Default)]
pub(super) struct KnownDefinitions(Mutex<Option<Arc<Definitions>>>);

impl KnownDefinitions {
    pub(super) fn get(&self) -> Option<Arc<Definitions>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Updates the definitions when a command of that shell has ended. `defines`: the command may
    /// have changed them.
    pub(super) async fn after(
        &self,
        session: &Conversation,
        shell: &SessionName,
        end: &CallEnd,
        defines: bool,
    ) {
        let stays = matches!(
            end,
            CallEnd::Tool { result, .. }
                if matches!(result.status, Status::Exited { .. } | Status::Signaled { .. } | Status::Blocked { .. })
        );
        if stays && !defines {
            return;
        }
        let now = if stays {
            session.shell_definitions(shell).await
        } else {
            // The shell ended with the command.
            None
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}
