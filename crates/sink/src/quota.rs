//! Eviction: keeps artifacts within the session's quota and the file system above its free-space
//! floor, oldest first.

use crate::allocate::COUNTER;
use crate::artifact_list::{Removed, ids};
use crate::artifact_options::ArtifactDirOptions;
use crate::sidecar::Sidecar;
use crate::sweep;
use agent_bash_core::{ArtifactError, ArtifactId};
use agent_bash_os::PrivateDir;

/// Removes old artifacts until `needed` more bytes respect quota and floor. Spares `own` and
/// artifacts being written.
pub(crate) fn make_room(
    dir: &PrivateDir,
    options: &ArtifactDirOptions,
    needed: u64,
    own: Option<ArtifactId>,
) -> Result<(), ArtifactError> {
    let Some(mut lack) = lack(dir, options, needed) else {
        return Ok(());
    };
    let now = options.clock.wall();
    let mut removed = Removed::default();
    for id in ids(dir).into_iter().filter(|id| Some(*id) != own) {
        if let Ok((sidecar, dead)) = Sidecar::read_settled(dir, id)
            && sweep::is_settled(&sidecar, dead, dir, now)
        {
            removed.take(&sidecar, dir);
        }
        match self::lack(dir, options, needed) {
            None => return Ok(()),
            Some(still) => lack = still,
        }
    }
    Err(ArtifactError::Limit(lack))
}

/// Which limit is exceeded, in a few words.
fn lack(dir: &PrivateDir, options: &ArtifactDirOptions, needed: u64) -> Option<String> {
    let limits = &options.limits;
    let path = dir.path().display();
    // If free space cannot be determined, the artifact is allowed; a full disk will show when
    // writing.
    if let Ok(free) = dir.free()
        && free < limits.free_floor.saturating_add(needed)
        && limits.free_floor > 0
    {
        let floor = limits.free_floor >> 20;
        return Some(format!("less than {floor} MB are free in {path}"));
    }
    let used: u64 = dir
        .names()
        .unwrap_or_default()
        .iter()
        .filter(|name| Sidecar::id_of(name).is_none() && *name != COUNTER)
        .map(|name| dir.size(name))
        .sum();
    (used.saturating_add(needed) > limits.per_session).then(|| {
        let quota = limits.per_session >> 20;
        format!("the artifacts in {path} have used up their {quota} MB")
    })
}
