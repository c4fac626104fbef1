//! The state directory of the host, if calls may write around it.

use super::paths::canonical;
use super::{ResolveError, links};
use agent_bash_core::sandbox::Tier;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The directory of the change sets in the state directory, a name of `agent-bash-changes`.
const CHANGE_STORE_NAME: &str = "changes";

/// Returns the directory with the former contents of files. Calls outside the sandbox may have
/// changed files that the sandbox hides.
pub(super) fn change_store(state: &Path) -> PathBuf {
    canonical(&state.join(CHANGE_STORE_NAME))
}

/// Returns the state directory of this path, whose files this program trusts, if it lies in a
/// writable directory.
///
/// # Errors
/// No mount can protect it, or a call could replace a link, or a directory before `..`, on the way
/// to it.
pub(super) fn writable_state(
    path: &Path,
    writable: &BTreeSet<PathBuf>,
    tier: Tier,
) -> Result<Option<PathBuf>, ResolveError> {
    let state = canonical(path);
    let steps = links::follow(path).map(|it| [it.links, it.directories_left].concat());
    let steps = steps.unwrap_or_default();
    let is_replaceable = |directory: &&PathBuf| {
        let mut steps = steps.iter();
        steps.any(|step| step != *directory && step.starts_with(directory))
    };
    let replaceable = writable.iter().find(is_replaceable);
    let around = writable.iter().find(|it| state.starts_with(it));
    let Some(directory) = replaceable.or(around) else {
        return Ok(None);
    };
    if replaceable.is_none() && tier == Tier::Full && state.is_dir() {
        return Ok(Some(state));
    }
    Err(ResolveError::WritableState {
        state: path.to_owned(),
        directory: directory.clone(),
    })
}
