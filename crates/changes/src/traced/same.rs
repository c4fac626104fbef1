//! Compares a file with its record.

use crate::alike::same_bytes;
use crate::file_stat::FileStat;
use crate::git_index;
use crate::preimages::open;
use crate::recorder::ContentLocation;
use crate::rooted_dir::RootedDir;
use crate::set::ChangeSet;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::io::{self, Read};
use std::path::Path;

/// True if a file still has the same contents.
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
    let looks_same = before.ino == now.ino && before.size == now.size && before.mtime == now.mtime;
    // The file was opened for writing. Programs can set all of its times except `ctime`. A `ctime`
    // within the call's last clock tick proves nothing.
    let is_copied = matches!(
        content,
        ContentLocation::Packed(..) | ContentLocation::Clone(_)
    );
    let is_older = before.ctime == now.ctime && before.ctime < set.begun();
    if looks_same && (!is_copied || is_older) {
        return Ok(true);
    }
    if *content == ContentLocation::Unread {
        // No process wrote to the file or replaced it.
        return Ok(before.ino == now.ino && before.size == now.size);
    }
    let Some(kept) = open(set, content)? else {
        return Ok(false);
    };
    let now_file = match tree.file(path) {
        // The file may have been replaced: the original was readable before.
        Err(Errno::ACCESS) => return Ok(false),
        file => file?,
    };
    if git_index::is_index(path) {
        let meaning = git_index::meaning(kept.0.try_clone()?.into());
        if meaning.is_some() && meaning == git_index::meaning(now_file.try_clone()?) {
            return Ok(true);
        }
    }
    if before.size != now.size {
        return Ok(false);
    }
    // Read from the beginning.
    let now = tree.file(path)?.into();
    let Some(mut kept) = open(set, content)? else {
        return Ok(false);
    };
    let mut copy = Vec::new();
    if kept.1 == u64::MAX {
        return same_bytes(kept.0, now, before.size);
    }
    // A part of the pack is at most as large as the largest copied file.
    kept.0.by_ref().take(kept.1).read_to_end(&mut copy)?;
    let mut other = Vec::new();
    now.take(kept.1 + 1).read_to_end(&mut other)?;
    Ok(copy == other)
}
