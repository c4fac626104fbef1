//! Log notifications that a client may show to its user: notable ends of calls, at or above the
//! level that the client has set.

#![expect(
    deprecated,
    reason = "clients of the versions that have logging are served, though later versions drop it"
)]

use agent_bash::core::{Status, ToolResult, lock};
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::{Peer, RoleServer};
use serde_json::json;
use std::sync::Mutex;

/// The level until a client sets one.
const DEFAULT_LEVEL: LoggingLevel = LoggingLevel::Notice;

/// The minimum level that is sent.
#[derive(Debug)]
pub(super) struct LogLevel(Mutex<LoggingLevel>);

impl Default for LogLevel {
    fn default() -> Self {
        Self(Mutex::new(DEFAULT_LEVEL))
    }
}

impl LogLevel {
    /// Sets the minimum level.
    pub(super) fn set(&self, level: LoggingLevel) {
        *lock(&self.0) = level;
    }

    /// Reports how a call ended.
    pub(super) async fn ended(&self, peer: &Peer<RoleServer>, command: &str, result: &ToolResult) {
        let level = match &result.status {
            Status::Lost { .. } => LoggingLevel::Error,
            Status::NotStarted { .. } => LoggingLevel::Warning,
            Status::Blocked { .. } | Status::TimedOut { .. } | Status::MovedToBackground { .. } => {
                LoggingLevel::Notice
            }
            _ if !result.survivors.is_empty() => LoggingLevel::Notice,
            _ => LoggingLevel::Debug,
        };
        if rank(level) < rank(*lock(&self.0)) {
            return;
        }
        let data = json!({
            "command": command,
            "status": result.status,
            "duration_ms": result.duration_ms,
            "notices": result.notices.iter().map(|notice| &notice.text).collect::<Vec<_>>(),
        });
        let message = LoggingMessageNotificationParam::new(level, data).with_logger("agent-bash");
        // Fails only if the client has disconnected; then the log has no receiver.
        let _ = peer.notify_logging_message(message).await;
    }
}

fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
