//! What has come with directories that were moved, and what cannot be looked at.

use super::compare::{Effects, Known, appeared};
use crate::alike::bytes;
use crate::plan::{Act, Op};
use crate::rooted_dir::RootedDir;
use crate::set::GONE;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::path::Path;

/// What has come with a directory that was moved here: nothing of it was touched by its path. In a directory of which all was
/// recorded, or that was not there, nothing else is unknown.
pub(super) fn arrived(
    tree: &mut RootedDir,
    known: &BTreeMap<&[u8], Known<'_>>,
    effects: &mut Effects,
) {
    let mut waiting = std::mem::take(&mut effects.known);
    let mut number = 0;
    while let Some(directory) = waiting.pop() {
        let Ok(names) = tree.names(&directory) else {
            effects.unseen.push(directory);
            continue;
        };
        for name in names {
            let path = directory.join(name);
            if known.contains_key(&bytes(&path)[..]) {
                continue;
            }
            match one(tree, &path, number, effects) {
                Ok(true) => waiting.push(path),
                Ok(false) => {}
                Err(_) => effects.unseen.push(path),
            }
            number += 1;
        }
    }
}

/// Whether it is a directory.
fn one(
    tree: &mut RootedDir,
    path: &Path,
    number: usize,
    effects: &mut Effects,
) -> Result<bool, Errno> {
    let Some(now) = tree.stat(path)? else {
        return Ok(false);
    };
    let op = Op {
        act: Act::Put,
        path: bytes(path),
        slot: format!("{GONE}/n{number}").into_bytes(),
        here: None,
        there: Some(now),
        means: None,
        slot_means: None,
    };
    effects.back.ops.push(op.inverse());
    effects.plan.ops.push(op);
    appeared(tree, path, &now, effects)?;
    Ok(now.is_dir())
}

/// What cannot be looked at is not taken back, nor are new directories around it taken away.
pub(super) fn leave_unseen(effects: &mut Effects) {
    let unseen = std::mem::take(&mut effects.unseen);
    let left = &mut effects.back.left;
    effects.back.ops.retain(|op| {
        let goes = op.act != Act::Take || !unseen.iter().any(|path| path.starts_with(op.path()));
        if !goes {
            left.push(op.path.clone());
        }
        goes
    });
    effects.plan.left = unseen.iter().map(|path| bytes(path)).collect();
    left.extend_from_slice(&effects.plan.left);
    left.sort_unstable();
    left.dedup();
}
