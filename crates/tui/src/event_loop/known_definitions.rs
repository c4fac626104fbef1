//! The last known definitions of the prompt's shell. The shell cannot report them while it runs a
//! command, and may end with that command.

use crate::calls::CallEnd;
use agent_bash::Conversation;
use agent_bash::core::{Definitions, SessionName, Status, lock};
use std::sync::{Arc, Mutex};

/// The definitions after the last command that could change them.
#[derive(Debug, Default)]
pub(super) struct KnownDefinitions(Mutex<Option<Arc<Definitions>>>);

impl KnownDefinitions {
    pub(super) fn get(&self) -> Option<Arc<Definitions>> {
        lock(&self.0).clone()
    }

    /// Updates the definitions after a command of that shell. `defines`: the command may have
    /// changed them.
    pub(super) async fn update(
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
        *lock(&self.0) = now;
    }
}
