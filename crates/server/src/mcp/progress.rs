//! New output as progress notifications.

use crate::live_output::UpdateSender;
use agent_bash::sink::LiveUpdate;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};

/// Sends new output as progress notifications, if the client asked for them: the text as message,
/// the byte count as progress.
pub(super) struct ProgressNotifier {
    pub(super) token: ProgressToken,
    pub(super) peer: Peer<RoleServer>,
}

impl UpdateSender for ProgressNotifier {
    async fn send(&mut self, update: LiveUpdate) {
        let (LiveUpdate::Delta {
            text, total_bytes, ..
        }
        | LiveUpdate::Snapshot { text, total_bytes }) = update
        else {
            return;
        };
        if text.is_empty() {
            return;
        }
        let progress = ProgressNotificationParam::new(self.token.clone(), total_bytes as f64);
        // Fails only if the client has disconnected; then progress has no receiver.
        let _ = self.peer.notify_progress(progress.with_message(text)).await;
    }
}
