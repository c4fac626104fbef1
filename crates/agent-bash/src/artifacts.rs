//! Where the artifacts of a session are. Keeping and reading them is `agent-bash-sink`.

use crate::HostContext;
use agent_bash_core::{Clock, TextLayout};
use agent_bash_sink::{
    ArtifactDir, ArtifactDirOptions, ArtifactLimits, Lifetime, Naming, SessionNameError,
};
use std::path::PathBuf;
use std::sync::Arc;

/// How the files of a layout are called: `paged` shows paths, and seed 003 fixes them; the others show numbers.
pub fn naming(layout: TextLayout) -> Naming {
    match layout {
        TextLayout::Paged => Naming::Paged,
        TextLayout::Standard | TextLayout::Modes | TextLayout::Workspace => Naming::Numbered,
    }
}

/// Below which directory sessions keep artifacts of that naming. `None` where neither a state directory nor a home is
/// known.
pub fn root(host: &HostContext, naming: Naming) -> Option<PathBuf> {
    match naming {
        Naming::Numbered => host.state_dir(),
        Naming::Paged => Some(host.temp_dir()),
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
    let Some(root) = root(host, naming) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_files_are_state_and_paged_ones_temporary() {
        let with = |vars: &[(&str, &str)]| HostContext {
            env: Arc::new(vars.iter().map(|(k, v)| (k.into(), v.into())).collect()),
            ..HostContext::for_tests("/")
        };
        for (vars, naming, want) in [
            (
                &[("AGENT_BASH_STATE_DIR", "/s"), ("TMPDIR", "/t")][..],
                Naming::Numbered,
                Some("/s"),
            ),
            (&[("TMPDIR", "/t")], Naming::Paged, Some("/t")),
            (&[("TMPDIR", "relative")], Naming::Paged, Some("/tmp")),
            (&[], Naming::Paged, Some("/tmp")),
            (&[], Naming::Numbered, None),
        ] {
            assert_eq!(root(&with(vars), naming), want.map(PathBuf::from));
        }
    }
}
