//! Unified diffs of changed files.

pub(crate) mod contents;
pub(crate) mod listing;

use crate::diff::contents::{AllPreimages, Contents, SideContents};
use crate::diff::listing::{Item, Trees, file, plan_and_items};
use crate::error::ChangesError;
use crate::files::file_stat::FileStat;
use crate::store::Store;
use crate::store::set::{ChangeSet, SetState};
use agent_bash_core::changes::{Change, ChangesId, FileChange, FileName};
use rustix::fs::FileType;
use similar::TextDiff;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The number of leading bytes that decide if a file is binary, as in git.
const BINARY_CHECK_BYTES: usize = 8000;
/// Text that is not UTF-8 may have one control character in this number of bytes. Compressed or
/// encrypted data has one in ten bytes; text in another encoding has none.
const BYTES_PER_CONTROL: usize = 50;
/// Context lines around a change.
const CONTEXT_LINES: usize = 3;

/// A change of a file with its diff.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileDiff {
    /// The change.
    pub file: FileChange,
    /// The diff.
    pub text: DiffText,
    /// True if the file was changed after the call, and its contents at the end of the call are not
    /// stored: `text` compares with the current file.
    pub changed_since: bool,
    /// True for a file of a held trial that another process changed, so that the trial cannot be
    /// committed. `text` is the change of the trial.
    pub blocks_commit: bool,
    /// Type and permissions before and after, as in `st_mode`, if they differ.
    pub mode: Option<(u32, u32)>,
}

/// The diff of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffText {
    /// A unified diff with a header. It contains the file's characters: the caller must remove
    /// control sequences before it prints the diff. Bytes that are not UTF-8 are replaced.
    Unified(String),
    /// The file is binary.
    Binary,
    /// The file is too large.
    TooLarge,
    /// The contents of one side are unknown: the preimage is not stored, or the file no longer
    /// exists.
    Unknown,
    /// No contents changed: a directory, or only attributes.
    Nothing,
}

/// A reader for diffs of change sets. If a file was changed after the call, its contents at the end
/// of the call come from later change sets, which are read once when first needed.
pub struct Diffs<'a> {
    store: &'a Store,
    session: String,
    all_preimages: OnceCell<AllPreimages>,
}

impl Store {
    /// Returns the diffs of a change set for the files at and below `paths`, which are relative to
    /// the root. Without `paths`, returns the diffs of all files.
    ///
    /// # Errors
    /// The change set does not exist, cannot be read, or has no change at one of the paths.
    pub fn diff(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
    ) -> Result<Vec<FileDiff>, ChangesError> {
        self.diffs(session).of(id, paths)
    }

    /// Returns a reader for diffs of several change sets.
    pub fn diffs(&self, session: &str) -> Diffs<'_> {
        Diffs {
            store: self,
            session: session.to_owned(),
            all_preimages: OnceCell::new(),
        }
    }
}

impl Diffs<'_> {
    /// Returns the diffs of some files, as [`Store::diff`] does.
    ///
    /// # Errors
    /// See [`Store::diff`].
    pub fn of(&self, id: ChangesId, paths: &[PathBuf]) -> Result<Vec<FileDiff>, ChangesError> {
        let set = self.store.read(&self.session, id)?;
        let (plan, items) = plan_and_items(self.store, &set)?;
        let trees = Trees::open(&set);
        let is_at = |item: &Item, top: &PathBuf| {
            let paths = [Some(&item.path), item.from.as_ref()];
            paths
                .into_iter()
                .flatten()
                .any(|path| Path::new(OsStr::from_bytes(path)).starts_with(top))
        };
        for path in paths {
            if !items.iter().any(|item| is_at(item, path)) {
                let path = path.clone();
                return Err(ChangesError::NotInSet { id, path });
            }
        }
        let all_preimages = || {
            self.all_preimages
                .get_or_init(|| AllPreimages::read(self.store, &self.session))
        };
        let mut contents = trees.map(|trees| Contents::new(&set, trees, &all_preimages));
        let is_requested =
            |item: &&Item| paths.is_empty() || paths.iter().any(|path| is_at(item, path));
        let diffs = items.iter().filter(is_requested).map(|item| {
            let (text, changed_since) = match &mut contents {
                Some(contents) => text(contents, item),
                None => (DiffText::Unknown, false),
            };
            let mode = item.before.zip(item.after);
            let paths = [Some(&item.path), item.from.as_ref()];
            let blocks_commit = |path| set.state == SetState::Held && plan.skipped.contains(path);
            FileDiff {
                file: file(item),
                text,
                changed_since,
                blocks_commit: paths.into_iter().flatten().any(blocks_commit),
                mode: mode
                    .map(|(before, after)| (before.mode, after.mode))
                    .filter(|(before, after)| before != after),
            }
        });
        Ok(diffs.collect())
    }
}

impl Diffs<'_> {
    /// Returns one diff for each file that several of these change sets changed. Files that another
    /// process changed in between are left out.
    ///
    /// # Errors
    /// A change set does not exist, or cannot be read.
    pub fn combined(&self, ids: &[ChangesId]) -> Result<Vec<FileDiff>, ChangesError> {
        let mut read = Vec::new();
        for id in ids {
            let set = self.store.read(&self.session, *id)?;
            let (_, items) = plan_and_items(self.store, &set)?;
            read.push((set, items));
        }
        let all_preimages = || {
            self.all_preimages
                .get_or_init(|| AllPreimages::read(self.store, &self.session))
        };
        let mut files: BTreeMap<&[u8], Vec<(&ChangeSet, &Item)>> = BTreeMap::new();
        for (set, items) in &read {
            for item in items {
                files.entry(&item.path).or_default().push((set, item));
            }
        }
        let mut diffs = Vec::new();
        for changes in files
            .into_values()
            .filter(|changes| is_one_after_another(changes))
        {
            let (Some((first, first_item)), Some((last, last_item))) =
                (changes.first(), changes.last())
            else {
                continue;
            };
            let change = match (first_item.before, last_item.after) {
                (None, None) => continue,
                (None, _) => Change::Created,
                (_, None) => Change::Deleted,
                _ => Change::Changed,
            };
            let item = Item {
                path: first_item.path.clone(),
                change,
                from: None,
                inferred: false,
                before: first_item.before,
                after: last_item.after,
                removal: None,
                new: None,
            };
            let sides = |set, item| {
                let trees = Trees::open(set)?;
                Some(Contents::new(set, trees, &all_preimages).content_pair(item))
            };
            let (text, changed_since) = match (sides(first, first_item), sides(last, last_item)) {
                (Some(first_contents), Some(last_contents)) => (
                    diff_text(&item, first_contents.before, last_contents.after),
                    first_contents.changed_since || last_contents.changed_since,
                ),
                _ => (DiffText::Unknown, false),
            };
            diffs.push(FileDiff {
                file: file(&item),
                text,
                changed_since,
                blocks_commit: false,
                mode: None,
            });
        }
        Ok(diffs)
    }
}

/// True if all changes are of regular files, and each change starts from the contents that the
/// previous change produced.
fn is_one_after_another(changes: &[(&ChangeSet, &Item)]) -> bool {
    let is_plain = |item: &Item| {
        let sides = [item.before, item.after];
        let is_file = sides.into_iter().flatten().all(|stat| stat.is_file());
        is_file && item.from.is_none() && item.change != Change::Mode
    };
    let follows = |pair: &[(&ChangeSet, &Item)]| match (pair[0].1.after, pair[1].1.before) {
        (Some(produced), Some(found)) => {
            produced.has_content_of(&found) && produced.mode == found.mode
        }
        (produced, found) => produced.is_none() && found.is_none(),
    };
    let changes_mode = |item: &Item| {
        let sides = item.before.zip(item.after);
        sides.is_some_and(|(before, after)| before.mode != after.mode)
    };
    changes.len() > 1
        && changes
            .iter()
            .all(|(_, item)| is_plain(item) && !changes_mode(item))
        && changes.windows(2).all(follows)
}

/// Returns the diff, and true if it compares with the current file.
fn text(contents: &mut Contents<'_>, item: &Item) -> (DiffText, bool) {
    let is_plain = |stat: &Option<FileStat>| {
        stat.is_none_or(|stat| matches!(stat.kind(), FileType::RegularFile | FileType::Symlink))
    };
    let has_text = |stat: &Option<FileStat>| stat.is_some() && is_plain(stat);
    let has_operation = item.removal.is_some() || item.new.is_some();
    if !has_operation || !(has_text(&item.before) || has_text(&item.after)) {
        return (DiffText::Nothing, false);
    }
    let sides = contents.content_pair(item);
    (
        diff_text(item, sides.before, sides.after),
        sides.changed_since,
    )
}

fn diff_text(item: &Item, before: SideContents, after: SideContents) -> DiffText {
    let (before, after) = match (before, after) {
        (SideContents::Unknown, _) | (_, SideContents::Unknown) => return DiffText::Unknown,
        (SideContents::TooLarge, _) | (_, SideContents::TooLarge) => return DiffText::TooLarge,
        (SideContents::Bytes(before), SideContents::Bytes(after)) => (Some(before), Some(after)),
        (SideContents::Bytes(before), SideContents::None) => (Some(before), None),
        (SideContents::None, SideContents::Bytes(after)) => (None, Some(after)),
        (SideContents::None, SideContents::None) => return DiffText::Nothing,
    };
    // The target of a link has no line end. With one, the diff has no note about its absence.
    let before = before.map(|bytes| with_line_end(bytes, item.before));
    let after = after.map(|bytes| with_line_end(bytes, item.after));
    let is_binary = |bytes: &Option<Vec<u8>>| bytes.as_deref().is_some_and(is_binary);
    if is_binary(&before) || is_binary(&after) {
        return DiffText::Binary;
    }
    DiffText::Unified(unified(item, before.as_deref(), after.as_deref()))
}

fn with_line_end(mut bytes: Vec<u8>, stat: Option<FileStat>) -> Vec<u8> {
    if stat.is_some_and(|stat| stat.kind() == FileType::Symlink) {
        bytes.push(b'\n');
    }
    bytes
}

/// True for data with a NUL, as in git, and for data that is neither UTF-8 nor text in another
/// encoding. Small compressed data often has no NUL: one in five objects of `git commit`, for
/// example.
fn is_binary(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(BINARY_CHECK_BYTES)];
    if bytes.contains(&0) {
        return true;
    }
    // A character may be cut at the end.
    let is_utf8 =
        std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
    let is_control = |byte: &&u8| matches!(byte, 0x01..=0x06 | 0x0e..=0x1a | 0x1c..=0x1f);
    !is_utf8 && bytes.iter().filter(is_control).count() * BYTES_PER_CONTROL > bytes.len()
}

fn unified(item: &Item, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let name = |side: &str, path: &[u8], exists: bool| {
        if exists {
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
        .context_radius(CONTEXT_LINES)
        .header(&from, &to)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_is_no_text_in_any_encoding_is_binary() {
        let cut = [&[b'a'; BINARY_CHECK_BYTES - 1][..], "é".as_bytes()].concat();
        let late = [&[b'a'; BINARY_CHECK_BYTES][..], b"\0"].concat();
        // A compressed tree object of git.
        let object = b"x\x01+)JMU06`040031QH3d\xf8e\xfap\x92\x90\xdc\xea\xcf\xb7\xf6\xcf\x8f[\xb6\xfa\xf6\xe9\x83\xeck\xac\x01\xfc\xab\x0f\xc6";
        for (bytes, want) in [
            (&b""[..], false),
            (b"plain\n", false),
            (b"a\0b", true),
            ("你好\x1b[31m\n".as_bytes(), false),
            // Control characters in UTF-8 are shown as marks.
            (b"\x01\x02\x03\n", false),
            (&cut, false),
            (&late, false),
            // Latin-1, Shift JIS, GBK.
            (b"caf\xe9 cr\xe8me\r\n\tna\xefve\x0c\n", false),
            (b"\x93\xfa\x96{\x8c\xea\x82\xcc\n", false),
            (b"\xc4\xe3\xba\xc3\n", false),
            // A single control character in text of another encoding.
            (&[&b"caf\xe9 \x01"[..], &[b'a'; 60]].concat(), false),
            (object, true),
        ] {
            assert_eq!(is_binary(bytes), want, "{}", bytes.escape_ascii());
        }
    }
}
