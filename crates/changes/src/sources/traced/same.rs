//! Compares a file with its record.

use crate::files::file_stat::FileStat;
use crate::files::git_index;
use crate::files::rooted_dir::RootedDir;
use crate::plan::file_comparison::have_same_bytes;
use crate::sources::preimages::open;
use crate::sources::recorder::ContentLocation;
use crate::store::set::ChangeSet;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::io::{self, Read};
use std::path::Path;

/// True if the file at `path` has the contents that its record describes.
pub(super) fn is_same(
    set: &ChangeSet,
    tree: &mut RootedDir,
    path: &Path,
    before: &FileStat,
    now: &FileStat,
    content: &ContentLocation,
) -> io::Result<bool> {
    if before.kind() != now.kind() {
        return Ok(false);
    }
    if let ContentLocation::Target(target) = content {
        let (dir, name) = tree.parent(path)?;
        return Ok(rustix::fs::readlinkat(dir, name, Vec::new())?.as_bytes() == target);
    }
    if matches!(before.kind(), FileType::Fifo | FileType::Socket) {
        return Ok(true);
    }
    if !before.is_file() {
        return Ok(before.device == now.device);
    }
    let has_same_stat =
        before.ino == now.ino && before.size == now.size && before.mtime == now.mtime;
    // A copied preimage means that the file was opened for writing. Programs can restore all times
    // except `ctime`. An equal `ctime` proves nothing if it is as late as the call.
    let is_copied = matches!(
        content,
        ContentLocation::Packed(..) | ContentLocation::Clone(_)
    );
    let is_older = before.ctime == now.ctime && before.ctime < set.begun();
    if has_same_stat && (!is_copied || is_older) {
        return Ok(true);
    }
    if *content == ContentLocation::Unread {
        // No process wrote to the file or replaced it.
        return Ok(before.ino == now.ino && before.size == now.size);
    }
    let Some(preimage) = open(set, content)? else {
        return Ok(false);
    };
    let now_file = match tree.file(path) {
        // The file may have been replaced: the original was readable before.
        Err(Errno::ACCESS) => return Ok(false),
        file => file?,
    };
    if git_index::is_index(path) {
        let entries_digest = git_index::entries_digest(preimage.0.try_clone()?.into());
        if entries_digest.is_some()
            && entries_digest == git_index::entries_digest(now_file.try_clone()?)
        {
            return Ok(true);
        }
    }
    if before.size != now.size {
        return Ok(false);
    }
    // Both files are opened again, to read them from the beginning.
    let now = tree.file(path)?.into();
    let Some(mut preimage) = open(set, content)? else {
        return Ok(false);
    };
    let mut copy = Vec::new();
    if preimage.1 == u64::MAX {
        return have_same_bytes(preimage.0, now, before.size);
    }
    // A part of the pack is at most as large as the largest copied file.
    preimage
        .0
        .by_ref()
        .take(preimage.1)
        .read_to_end(&mut copy)?;
    let mut current = Vec::new();
    now.take(preimage.1 + 1).read_to_end(&mut current)?;
    Ok(copy == current)
}
