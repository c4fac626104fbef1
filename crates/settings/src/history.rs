//! Opens the history of typed commands.

use crate::HostContext;
use crate::Settings;
use crate::journal::mask_secrets;
use agent_bash_journal::History;
use std::sync::Arc;

impl Settings {
    /// Returns the history of typed commands. `None` if the settings turn the history off, or
    /// without a state directory.
    pub fn history(&self, host: &HostContext) -> Option<History> {
        let secrets = self.environment().secrets.unwrap_or_default();
        let state = host.state_dir().filter(|_| self.tui_history)?;
        Some(History::new(
            state,
            mask_secrets(Arc::clone(&host.env), secrets),
        ))
    }
}
