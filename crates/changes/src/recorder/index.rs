//! The records of a trace, as stored in the index file.

use crate::attributes::Attributes;
use crate::codec::{Wire, get_all, put_all, wire};
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::set::SetState;
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

impl Wire for ContentLocation {
    fn put(&self, to: &mut Vec<u8>) {
        match self {
            Self::NoContents => to.push(0),
            Self::Unread => to.push(1),
            Self::Link(number) => {
                to.push(2);
                number.put(to);
            }
            Self::Clone(number) => {
                to.push(3);
                number.put(to);
            }
            Self::Packed(at, length) => {
                to.push(4);
                (*at, *length).put(to);
            }
            Self::Target(target) => {
                to.push(5);
                target.put(to);
            }
            Self::NotStored => to.push(6),
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::get(from)? {
            0 => Self::NoContents,
            1 => Self::Unread,
            2 => Self::Link(u64::get(from)?),
            3 => Self::Clone(u64::get(from)?),
            4 => {
                let (at, length) = Wire::get(from)?;
                Self::Packed(at, length)
            }
            5 => Self::Target(Wire::get(from)?),
            6 => Self::NotStored,
            _ => return None,
        })
    }
}

/// Attributes, encoded as a list of pairs of name and value.
struct PairList(Attributes);

impl Wire for PairList {
    fn put(&self, to: &mut Vec<u8>) {
        put_all(&self.0, to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        get_all(from).map(Self)
    }
}

/// The encoded form of a record.
struct EncodedRecord {
    path: Vec<u8>,
    stat: Option<FileStat>,
    attributes: PairList,
    content: ContentLocation,
}

wire!(EncodedRecord {
    path,
    stat,
    attributes,
    content
});

impl PathRecord {
    fn encoded(self) -> EncodedRecord {
        EncodedRecord {
            path: self.path,
            stat: self.stat,
            attributes: PairList(self.attributes),
            content: self.content,
        }
    }
}

impl EncodedRecord {
    fn decoded(self) -> PathRecord {
        PathRecord {
            path: self.path,
            stat: self.stat,
            attributes: self.attributes.0,
            content: self.content,
        }
    }
}

impl Wire for IndexEntry {
    fn put(&self, to: &mut Vec<u8>) {
        match self {
            Self::Path(record) => {
                to.push(0);
                record.clone().encoded().put(to);
            }
            Self::Inode(record) => {
                to.push(3);
                record.clone().encoded().put(to);
            }
            Self::End(outside) => {
                to.push(1);
                put_all(outside, to);
            }
            Self::UnknownChange => to.push(2),
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match u8::get(from)? {
            0 => EncodedRecord::get(from).map(|it| Self::Path(it.decoded())),
            1 => get_all(from).map(Self::End),
            2 => Some(Self::UnknownChange),
            3 => EncodedRecord::get(from).map(|it| Self::Inode(it.decoded())),
            _ => None,
        }
    }
}

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
