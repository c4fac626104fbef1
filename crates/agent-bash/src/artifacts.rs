//! Opens the artifact directory of a conversation. `agent-bash-sink` writes and reads the
//! artifacts.

use crate::HostContext;
use agent_bash_core::Clock;
use agent_bash_sink::{
    ArtifactDir, ArtifactDirOptions, ArtifactLimits, Lifetime, Naming, SessionNameError,
};
use std::sync::Arc;

/// Opens the artifact directory of the conversation `name`, with the limits of `docs/contract.md`.
/// `None` if the host has no state directory. The directory is created with the first artifact.
///
/// # Errors
/// The name is not a single path component.
pub fn of_session(
    host: &HostContext,
    name: &str,
    naming: Naming,
    lifetime: Lifetime,
    clock: Arc<dyn Clock>,
) -> Result<Option<ArtifactDir>, SessionNameError> {
    let Some(root) = host.state_dir() else {
        return Ok(None);
    };
    ArtifactDir::new(ArtifactDirOptions {
        root,
        session: name.to_owned(),
        naming,
        lifetime,
        limits: ArtifactLimits::CONTRACT,
        clock,
    })
    .map(Some)
}
