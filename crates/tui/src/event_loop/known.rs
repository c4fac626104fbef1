//! What the prompt's shell has defined, known without asking it: while it runs a command, it cannot say, and afterwards it may be gone.

use crate::calls::CallEnd;
use agent_bash::Conversation;
use agent_bash::core::{Definitions, SessionName, Status};
use std::sync::{Arc, Mutex, PoisonError};

/// The definitions after the last command that may have changed them.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Option<Arc<Definitions>>>);

impl Known {
    pub(super) fn get(&self) -> Option<Arc<Definitions>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A command of that shell has ended. `defines`: it may have changed what is defined.
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
            // It went with the command.
            None
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}
