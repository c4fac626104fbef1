//! Eviction: keeps artifacts within the session's quota and the file system above its free-space
//! floor, oldest first.
//!
//! The counter's file holds the sum of used bytes; every writer adds bytes before it writes them.
//! All artifacts are read only if the sum exceeds the quota, and with each sweep, which corrects
//! the sum.

use crate::allocate::COUNTER_FILE;
use crate::artifact_list::{RemovedArtifacts, ids};
use crate::artifact_options::ArtifactDirOptions;
use crate::expiry::is_settled;
use crate::sidecar::Sidecar;
use agent_bash_core::{ArtifactError, ArtifactId};
use agent_bash_os::{Counter, PrivateDir};

/// With more artifacts than this, eviction frees a part of the quota, so that not every call reads
/// all artifacts.
const MANY_ARTIFACTS: usize = 1000;

/// The divisor of the quota that gives the part to free.
const FREED_DIVISOR: u64 = 16;

/// Removes old artifacts until `needed` more bytes respect quota and floor. Does not remove `own`
/// and artifacts that are being written.
pub(crate) fn make_room(
    dir: &PrivateDir,
    options: &ArtifactDirOptions,
    needed: u64,
    own: Option<ArtifactId>,
) -> Result<(), ArtifactError> {
    let limit = options.limits.per_session;
    let recorded = Counter::lock(dir, COUNTER_FILE)
        .ok()
        .and_then(|counter| counter.used);
    let fits = |used: u64| used.saturating_add(needed) <= limit;
    let lacks_space = lacks_space(dir, options, needed);
    if !lacks_space && recorded.is_some_and(fits) {
        return Ok(());
    }
    let mut used = used(dir);
    if lacks_space || !fits(used) {
        let ids = ids(dir);
        let target = if ids.len() > MANY_ARTIFACTS {
            limit - limit / FREED_DIVISOR
        } else {
            limit
        };
        let now = options.clock.wall();
        let mut removed = RemovedArtifacts::default();
        let is_enough = |used: u64| {
            used.saturating_add(needed) <= target && !self::lacks_space(dir, options, needed)
        };
        for id in ids.into_iter().filter(|id| Some(*id) != own) {
            if is_enough(used) {
                break;
            }
            if let Ok((sidecar, is_dead)) = Sidecar::read_settled(dir, id)
                && is_settled(&sidecar, is_dead, dir, now)
            {
                let before = removed.bytes;
                removed.remove(&sidecar, dir);
                used = used.saturating_sub(removed.bytes - before);
            }
        }
    }
    record_used(dir, recorded, used);
    let path = dir.path().display();
    if self::lacks_space(dir, options, needed) {
        let floor = options.limits.free_floor >> 20;
        let reason = format!("less than {floor} MB are free in {path}");
        return Err(ArtifactError::Limit(reason));
    }
    if !fits(used) {
        let quota = limit >> 20;
        let reason = format!("the artifacts in {path} have used up their {quota} MB");
        return Err(ArtifactError::Limit(reason));
    }
    Ok(())
}

/// Adds bytes to the sum, or subtracts bytes that were added and not written.
pub(crate) fn account(dir: &PrivateDir, bytes: i64) {
    // Without the sum, `make_room` reads all artifacts.
    if let Ok(mut counter) = Counter::lock(dir, COUNTER_FILE)
        && let Some(used) = counter.used
    {
        counter.used = Some(used.saturating_add_signed(bytes));
        let _ = counter.write();
    }
}

/// Sets the sum to the size of all artifacts.
pub(crate) fn recount(dir: &PrivateDir) {
    let recorded = Counter::lock(dir, COUNTER_FILE)
        .ok()
        .and_then(|counter| counter.used);
    record_used(dir, recorded, used(dir));
}

/// Writes the sum. The counter is not locked while artifacts are read, so bytes that were added
/// after `recorded` was read are added again.
fn record_used(dir: &PrivateDir, recorded: Option<u64>, used: u64) {
    if let Ok(mut counter) = Counter::lock(dir, COUNTER_FILE) {
        let added = match (recorded, counter.used) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => 0,
        };
        counter.used = Some(used.saturating_add(added));
        let _ = counter.write();
    }
}

/// True if `needed` more bytes would leave less free space than the floor. If the free space cannot
/// be determined, the artifact is allowed; on a full disk, writing fails.
fn lacks_space(dir: &PrivateDir, options: &ArtifactDirOptions, needed: u64) -> bool {
    let floor = options.limits.free_floor;
    floor > 0
        && dir
            .free()
            .is_ok_and(|free| free < floor.saturating_add(needed))
}

/// Returns the size of all artifacts in bytes.
fn used(dir: &PrivateDir) -> u64 {
    let names = dir.names().unwrap_or_default();
    let files = names
        .iter()
        .filter(|name| Sidecar::id_of(name).is_none() && *name != COUNTER_FILE);
    files.map(|name| dir.size(name)).sum()
}
