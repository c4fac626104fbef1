//! The records of a trace, as stored in the index file.

use crate::error::ChangesError;
use crate::files::attributes::Attributes;
use crate::files::codec::{Wire, wire};
use crate::files::file_stat::FileStat;
use crate::store::set::SetState;
use agent_bash_os::PrivateDir;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};

/// The file with records.
pub(crate) const INDEX_FILE: &str = "idx";

/// An entry of the index file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IndexEntry {
    Path(PathRecord),
    /// An inode, independent of its path: the file is changed through a path that it did not have
    /// before the call, or its preimage was a hard link until now.
    Inode(PathRecord),
    /// The record is complete. Contains the number of writes outside the root, by directory.
    End(Vec<(Vec<u8>, u64)>),
    /// An unknown change happened.
    UnknownChange,
}

/// A path before its first touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathRecord {
    /// The path below the root.
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Option<FileStat>,
    pub(crate) attributes: Attributes,
    pub(crate) content: ContentLocation,
}

/// The place where the contents of a file are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ContentLocation {
    /// No contents: the path did not exist, or is a directory.
    NoContents,
    /// The contents were not needed when the record was written.
    Unread,
    /// A hard link in `links/`.
    Link(u64),
    /// A clone in `links/`.
    Clone(u64),
    /// Offset and length in the pack.
    Packed(u64, u64),
    /// The target of a symbolic link.
    Target(Vec<u8>),
    /// The contents were needed, but could not be stored.
    NotStored,
}

wire!(PathRecord {
    path,
    stat,
    attributes,
    content
});

wire!(enum ContentLocation {
    0 => NoContents,
    1 => Unread,
    2 => Link(number),
    3 => Clone(number),
    4 => Packed(at, length),
    5 => Target(target),
    6 => NotStored,
});

wire!(enum IndexEntry {
    0 => Path(record),
    1 => End(outside),
    2 => UnknownChange,
    3 => Inode(record),
});

/// Appends an entry for an unknown change.
pub(crate) fn append_unknown_change(dir: &PrivateDir) -> io::Result<()> {
    let (mut body, mut framed) = (Vec::new(), Vec::new());
    IndexEntry::UnknownChange.put(&mut body);
    body.put(&mut framed);
    dir.write(INDEX_FILE, true)?.write_all(&framed)
}

/// All records of a change set.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Records in the order of first touch. A path may occur twice: the first record has its state,
    /// a later one may have its contents.
    pub(crate) records: Vec<PathRecord>,
    /// Records of inodes, independent of paths.
    pub(crate) inode_records: Vec<PathRecord>,
    pub(crate) outside: BTreeMap<String, u64>,
    /// True if the recorder wrote the end of the record.
    pub(crate) is_marked_complete: bool,
    /// True if no entry was written: no path was touched.
    pub(crate) is_absent: bool,
    /// True if an unknown change happened.
    pub(crate) has_unknown_change: bool,
}

impl Index {
    /// True if the records are complete for a change set in this state.
    pub(crate) fn is_complete(&self, state: SetState) -> bool {
        let has_ended = self.is_marked_complete
            || self.is_absent && matches!(state, SetState::Done | SetState::Undone);
        has_ended && !self.has_unknown_change
    }

    /// Reads the records up to the first incomplete one.
    pub(crate) fn read(dir: &PrivateDir) -> Result<Self, ChangesError> {
        let mut bytes = Vec::new();
        match dir.read(INDEX_FILE) {
            Ok(mut file) => {
                file.read_to_end(&mut bytes)
                    .map_err(ChangesError::io("reading", dir.path().join(INDEX_FILE)))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self {
                    is_absent: true,
                    ..Self::default()
                });
            }
            Err(error) => {
                return Err(ChangesError::io("opening", dir.path().join(INDEX_FILE))(
                    error,
                ));
            }
        }
        let mut index = Self::default();
        let mut rest = &bytes[..];
        while let Some(body) = Vec::<u8>::get(&mut rest) {
            match IndexEntry::get(&mut &body[..]) {
                Some(IndexEntry::Path(record)) => index.records.push(record),
                Some(IndexEntry::End(outside)) => {
                    index.is_marked_complete = true;
                    index.outside = outside
                        .into_iter()
                        .map(|(name, count)| (String::from_utf8_lossy(&name).into_owned(), count))
                        .collect();
                }
                Some(IndexEntry::Inode(record)) => index.inode_records.push(record),
                Some(IndexEntry::UnknownChange) => index.has_unknown_change = true,
                None => break,
            }
        }
        index.redirect_to_copies();
        Ok(index)
    }

    /// Redirects records with a link, or without contents, to the copy that was made before a
    /// write.
    fn redirect_to_copies(&mut self) {
        let is_copy = |it: &&PathRecord| {
            matches!(
                it.content,
                ContentLocation::Packed(..) | ContentLocation::Clone(_)
            )
        };
        let has_several_names = |it: &&PathRecord| it.stat.is_some_and(|it| it.links > 1);
        let named = self
            .records
            .iter()
            .filter(has_several_names)
            .filter(is_copy);
        let inode_records = self.inode_records.iter();
        let inode_records = inode_records.filter(|it| it.content != ContentLocation::Unread);
        let copies = named.chain(inode_records);
        let copies = copies.filter_map(|it| Some((it.stat?.ino, it.content.clone())));
        let copies: HashMap<u64, ContentLocation> = copies.collect();
        for record in &mut self.records {
            if matches!(
                record.content,
                ContentLocation::Link(_) | ContentLocation::Unread
            ) && let Some(stat) = record.stat.filter(|stat| !stat.is_dir())
                && let Some(copy) = copies.get(&stat.ino)
            {
                record.content = copy.clone();
            }
        }
    }
}
