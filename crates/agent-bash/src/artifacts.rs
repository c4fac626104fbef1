//! Where the artifacts of a session are. Keeping and reading them is `agent-bash-sink`.

use crate::HostContext;
use agent_bash_core::{Clock, TextLayout};
use agent_bash_sink::{
    ArtifactDir, ArtifactDirOptions, ArtifactLimits, Lifetime, Naming, SessionNameError,
};
use std::sync::Arc;

/// How the files of a layout are called: `paged` shows paths, the others numbers.
pub fn naming(layout: TextLayout) -> Naming {
    match layout {
        TextLayout::Paged => Naming::Paged,
        TextLayout::Standard | TextLayout::Modes | TextLayout::Workspace => Naming::Numbered,
    }
}

/// The artifacts of the session `name`, within the limits of the contract. `None` where there is no place for them.
/// Nothing is made before the first artifact is.
///
/// # Errors
/// The name is no single path component.
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
