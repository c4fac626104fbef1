//! What changed within files, as unified diffs.

use crate::error::ChangesError;
use crate::kept;
use crate::listing::{Item, Trees, file, items, plan_of};
use crate::meta::Kind;
use crate::plan::{Act, Op};
use crate::seen::Seen;
use crate::set::Set;
use crate::store::Store;
use agent_bash_core::changes::{ChangesId, FileChange, FileName};
use rustix::fs::{FileType, readlinkat};
use similar::TextDiff;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of a file that are compared at most.
const LARGEST: u64 = 4 << 20;
/// Bytes in which a NUL makes a file binary, as for git.
const LOOKED_AT: usize = 8000;
/// Lines around a change.
const CONTEXT: usize = 3;

/// A file's change, with what changed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileDiff {
    /// What was done to it.
    pub file: FileChange,
    /// What changed in it.
    pub text: Text,
    /// Type and permissions before and after, as in `st_mode`, where they differ.
    pub mode: Option<(u32, u32)>,
}

/// What changed in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Text {
    /// A unified diff, with a header. It has the file's own characters: whoever shows it has to take out what controls a
    /// terminal. What is not UTF-8 is replaced.
    Unified(String),
    /// It is not text.
    Binary,
    /// It is larger than what is compared.
    TooLarge,
    /// The former content is not kept, or the file is no longer there.
    Unknown,
    /// Nothing: a directory, or only attributes.
    Nothing,
}

impl Store {
    /// What a set changed in files, or would: in those at `paths` (below the root, with what is in them), or in all.
    ///
    /// # Errors
    /// There is no such set, it cannot be read, or it did nothing to one of the paths.
    pub fn diff(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
    ) -> Result<Vec<FileDiff>, ChangesError> {
        let set = self.read(session, id)?;
        let plan = plan_of(self, &set)?;
        let mut trees = Trees::open(&set);
        let items = items(&plan, trees.as_mut());
        let is_at = |item: &Item, top: &PathBuf| {
            let own = [Some(&item.path), item.from.as_ref()];
            own.into_iter()
                .flatten()
                .any(|path| Path::new(OsStr::from_bytes(path)).starts_with(top))
        };
        for path in paths {
            if !items.iter().any(|item| is_at(item, path)) {
                let path = path.clone();
                return Err(ChangesError::NotInSet { id, path });
            }
        }
        let meant = |item: &&Item| paths.is_empty() || paths.iter().any(|path| is_at(item, path));
        let diffs = items.iter().filter(meant).map(|item| {
            let text = match trees.as_mut() {
                Some(trees) => text(&set, trees, item),
                None => Text::Unknown,
            };
            let mode = item.before.zip(item.after);
            FileDiff {
                file: file(item),
                text,
                mode: mode
                    .map(|(before, after)| (before.mode, after.mode))
                    .filter(|(before, after)| before != after),
            }
        });
        Ok(diffs.collect())
    }
}

/// A content, if it could be read.
enum Side {
    /// There is no file on this side.
    None,
    Bytes(Vec<u8>),
    TooLarge,
    Unknown,
}

fn text(set: &Set, trees: &mut Trees, item: &Item) -> Text {
    let is_plain = |seen: &Option<Seen>| {
        seen.is_none_or(|seen| matches!(seen.kind(), FileType::RegularFile | FileType::Symlink))
    };
    if item.gone.is_none() && item.new.is_none() {
        return Text::Nothing;
    }
    let has_text = |seen: &Option<Seen>| seen.is_some() && is_plain(seen);
    if !has_text(&item.before) && !has_text(&item.after) {
        return Text::Nothing;
    }
    let (before, after) = sides(set, trees, item);
    let (before, after) = match (before, after) {
        (Side::Unknown, _) | (_, Side::Unknown) => return Text::Unknown,
        (Side::TooLarge, _) | (_, Side::TooLarge) => return Text::TooLarge,
        (Side::Bytes(before), Side::Bytes(after)) => (Some(before), Some(after)),
        (Side::Bytes(before), Side::None) => (Some(before), None),
        (Side::None, Side::Bytes(after)) => (None, Some(after)),
        (Side::None, Side::None) => return Text::Nothing,
    };
    let is_binary = |bytes: &Option<Vec<u8>>| {
        let bytes = bytes.as_deref().unwrap_or_default();
        bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
    };
    if is_binary(&before) || is_binary(&after) {
        return Text::Binary;
    }
    Text::Unified(unified(item, before.as_deref(), after.as_deref()))
}

fn unified(item: &Item, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let name = |side: &str, path: &[u8], there: bool| {
        if there {
            let path = FileName::new(OsStr::from_bytes(path)).path;
            format!("{side}/{}", agent_bash_core::visible::one_line(&path))
        } else {
            "/dev/null".to_owned()
        }
    };
    let from = item.from.as_ref().unwrap_or(&item.path);
    let from = name("a", from, before.is_some());
    let to = name("b", &item.path, after.is_some());
    let old = String::from_utf8_lossy(before.unwrap_or_default());
    let new = String::from_utf8_lossy(after.unwrap_or_default());
    TextDiff::from_lines(&*old, &*new)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&from, &to)
        .to_string()
}

/// The contents before and after, wherever they are: in the tree, in the set, or in what a trace kept.
fn sides(set: &Set, trees: &mut Trees, item: &Item) -> (Side, Side) {
    let before = match (&item.gone, &item.new) {
        (Some(gone), _) => former(set, trees, gone),
        (None, Some(new)) if new.act == Act::Swap => former(set, trees, new),
        _ => Side::None,
    };
    let after = match &item.new {
        None => Side::None,
        Some(new) => latter(trees, new),
    };
    (before, after)
}

fn former(set: &Set, trees: &mut Trees, op: &Op) -> Side {
    if set.meta.kind == Kind::Scan {
        return Side::Unknown;
    }
    match trees.slots.at(op.slot()) {
        // The new one is in the slot, so that the former is in the tree.
        Ok(Some(seen)) if op.act == Act::Swap && is(op.there, seen) => {
            content(&mut trees.root, op.path())
        }
        Ok(Some(_)) => content(&mut trees.slots, op.slot()),
        _ => match kept::former(set, op.slot(), LARGEST + 1) {
            Ok(Some(bytes)) if bytes.len() as u64 > LARGEST => Side::TooLarge,
            Ok(Some(bytes)) => Side::Bytes(bytes),
            _ if op.act == Act::Take => content(&mut trees.root, op.path()),
            _ => Side::Unknown,
        },
    }
}

fn latter(trees: &mut Trees, op: &Op) -> Side {
    match trees.slots.at(op.slot()) {
        Ok(Some(seen)) if op.act == Act::Put || is(op.there, seen) => {
            content(&mut trees.slots, op.slot())
        }
        _ => content(&mut trees.root, op.path()),
    }
}

fn is(one: Option<Seen>, other: Seen) -> bool {
    one.is_some_and(|one| one.ino == other.ino)
}

fn content(tree: &mut crate::beneath::Tree, path: &Path) -> Side {
    let Ok(Some(seen)) = tree.at(path) else {
        return Side::Unknown;
    };
    match seen.kind() {
        FileType::RegularFile if seen.size > LARGEST => Side::TooLarge,
        FileType::RegularFile => {
            let mut bytes = Vec::new();
            let read = tree.file(path).map(File::from).map(|file| {
                // It may grow while it is read.
                file.take(LARGEST).read_to_end(&mut bytes)
            });
            match read {
                Ok(Ok(_)) => Side::Bytes(bytes),
                _ => Side::Unknown,
            }
        }
        FileType::Symlink => {
            let target = tree
                .parent(path)
                .and_then(|(dir, name)| readlinkat(dir, name, Vec::new()));
            match target {
                Ok(target) => Side::Bytes(target.into_bytes()),
                Err(_) => Side::Unknown,
            }
        }
        _ => Side::None,
    }
}
