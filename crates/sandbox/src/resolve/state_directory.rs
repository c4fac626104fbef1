//! The state directory of the host, if calls may write around it.

use super::paths::canonical;
use super::{ResolveError, links};
use agent_bash_core::sandbox::Tier;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The change sets, with former contents of files that the sandbox may hide; the commands that the
/// user typed; the records of conversations, with the user's commands and perhaps their outputs;
/// and the secret by which targets recognise this machine.
const HIDDEN_NAMES: [&str; 4] = ["changes", "history.jsonl", "journal", "targets"];

/// Returns the paths in the state directory that no call may read.
pub(super) fn hidden_paths(state: &Path) -> [PathBuf; 4] {
    HIDDEN_NAMES.map(|name| canonical(&state.join(name)))
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
