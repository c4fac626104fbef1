//! Parts of `agent-bash shell`, which stands in for the shell that an agent starts:
//!
//! - [`Commands`]: the source of the commands of the shell's command line;
//! - [`real_shell()`] and [`environment`]: the shell to start, and its environment;
//! - [`model_command`]: the model's own text within the script of a supported agent;
//! - [`conversation_of`]: the agent's conversation, from the variables of supported agents.

mod agent_process;
mod arguments;
mod conversation;
mod real_shell;
mod template;
mod wrapper;

pub use arguments::{Commands, quoted};
pub use conversation::{ConversationId, conversation_name, conversation_of, is_conversation_name};
pub(crate) use conversation::{conversation_with_id, names_conversation};
pub use real_shell::{NoRealShell, real_shell};
pub use wrapper::{ModelCommand, has_wrapper_marker, model_command};

pub(crate) use agent_process::conversation_of_process;
pub use agent_process::{conversation_of_caller, is_started_for_hook};

use agent_bash::HostContext;
use agent_bash::settings::Settings;
use agent_bash_process::environment::{EnvironmentPolicy, Inherit, SecretFilter, affects_shells};

/// Returns the environment of a shell that stands in for the agent's shell: all variables except
/// those that `environment.drop` and `sandbox.secrets` name. Other secrets stay, because the agent
/// gave them to its shell; records still mask their values.
pub fn environment(settings: &Settings, host: &HostContext) -> EnvironmentPolicy {
    let dropped = SecretFilter {
        keep: Vec::new(),
        drop: settings.drop.clone(),
        always: settings.sandbox.secrets.keys().cloned().collect(),
        by_name: false,
        by_value: false,
    };
    let removed = host.env.iter();
    let removed = removed.filter(|(name, value)| dropped.is_secret(name, value));
    let mut policy = settings.environment();
    policy
        .session
        .extend(removed.map(|(name, _)| (name.clone(), None)));
    if policy.inherit == Inherit::All {
        // Variables that change how a shell works (`BASH_ENV`, exported functions) belong to the
        // agent's command line as much as its options do.
        for (name, value) in host.env.iter().filter(|(name, _)| affects_shells(name)) {
            let session = policy.session.entry(name.clone());
            session.or_insert_with(|| Some(value.clone()));
        }
    }
    EnvironmentPolicy {
        secrets: None,
        unattended: None,
        ..policy
    }
}
