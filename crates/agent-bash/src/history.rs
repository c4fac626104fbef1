//! Where what a person types is kept.

use crate::HostContext;
use crate::journal::hide;
use crate::settings::Settings;
use agent_bash_journal::History;

impl Settings {
    /// Where what a person types is kept; `None` if it is not, or if there is no state directory.
    pub fn history(&self, host: &HostContext) -> Option<History> {
        let secrets = self.environment().secrets.unwrap_or_default();
        let state = host.state_dir().filter(|_| self.tui_history)?;
        Some(History::new(state, hide(&host.env, secrets)))
    }
}
