//! Opens the artifact directory of a conversation. `agent-bash-sink` writes and reads the
//! artifacts.

use crate::HostContext;
use agent_bash_core::{Clock, TextLayout};
use agent_bash_sink::{
    ArtifactDir, ArtifactDirOptions, ArtifactLimits, Lifetime, Naming, SessionNameError,
};
use std::sync::Arc;

/// Returns the file naming for a layout. The `paged` layout refers to an artifact by its path, the
/// other layouts by its number.
pub fn naming(layout: TextLayout) -> Naming {
    match layout {
        TextLayout::Paged => Naming::Paged,
        TextLayout::Standard | TextLayout::Modes | TextLayout::Workspace => Naming::Numbered,
    }
}

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
