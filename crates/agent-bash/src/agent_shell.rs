//! Standing in for the shell that an agent starts: its command line, the shell that really runs,
//! and the environment.

mod arguments;
mod real_shell;

pub use arguments::{Commands, quoted};
pub use real_shell::{NoRealShell, real_shell};

use crate::HostContext;
use crate::settings::Settings;
use agent_bash_process::environment::{EnvironmentPolicy, SecretFilter};

/// Returns the environment of a shell that stands in for the agent's own: everything, except what
/// the settings name (`environment.drop`). Secrets stay, because the agent gave them to its shell;
/// records hide them all the same.
pub fn environment(settings: &Settings, host: &HostContext) -> EnvironmentPolicy {
    let dropped = SecretFilter {
        keep: Vec::new(),
        drop: settings.drop.clone(),
        by_name: false,
        by_value: false,
    };
    let removed = host.env.iter();
    let removed = removed.filter(|(name, value)| dropped.is_secret(name, value));
    let mut policy = settings.environment();
    policy
        .session
        .extend(removed.map(|(name, _)| (name.clone(), None)));
    EnvironmentPolicy {
        secrets: None,
        unattended: None,
        ..policy
    }
}
