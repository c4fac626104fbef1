//! The records of a trace, as they are on disk.

use crate::attributes::Attributes;
use crate::codec::{Wire, get_all, put_all, wire};
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::set::SetState;
use agent_bash_os::PrivateDir;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};

/// The file with the records.
pub(crate) const INDEX: &str = "idx";

/// What is written, one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IndexEntry {
    Path(PathRecord),
    /// A file that is changed by this path, which it did not have before the call, or whose content was kept as a link until
    /// now.
    Other(PathRecord),
    /// All was recorded; writes beyond the root, by directory.
    End(Vec<(Vec<u8>, u64)>),
    /// Something was changed of which nothing is known.
    Lacks,
}

/// A path before it was touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathRecord {
    /// Below the root.
    pub(crate) path: Vec<u8>,
    pub(crate) seen: Option<FileStat>,
    pub(crate) attributes: Attributes,
    pub(crate) content: Content,
}

/// Where the content of a file is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// There is none: no file, or a directory.
    Nothing,
    /// It was not needed when this was written.
    Unread,
    /// A hard link in `links/`.
    Link(u64),
    /// A clone in `links/`.
    Clone(u64),
    /// Offset and length in the pack.
    Packed(u64, u64),
    /// What a symbolic link says.
    Target(Vec<u8>),
    /// It was needed, and is not kept.
    Not,
}

impl Wire for Content {
    fn put(&self, to: &mut Vec<u8>) {
        match self {
            Self::Nothing => to.push(0),
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
            Self::Not => to.push(6),
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::get(from)? {
            0 => Self::Nothing,
            1 => Self::Unread,
            2 => Self::Link(u64::get(from)?),
            3 => Self::Clone(u64::get(from)?),
            4 => {
                let (at, length) = Wire::get(from)?;
                Self::Packed(at, length)
            }
            5 => Self::Target(Wire::get(from)?),
            6 => Self::Not,
            _ => return None,
        })
    }
}

/// Attributes are a list of pairs.
struct Pairs(Attributes);

impl Wire for Pairs {
    fn put(&self, to: &mut Vec<u8>) {
        put_all(&self.0, to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        get_all(from).map(Self)
    }
}

/// A record as it is written.
struct Written {
    path: Vec<u8>,
    seen: Option<FileStat>,
    attributes: Pairs,
    content: Content,
}

wire!(Written {
    path,
    seen,
    attributes,
    content
});

impl PathRecord {
    fn written(self) -> Written {
        Written {
            path: self.path,
            seen: self.seen,
            attributes: Pairs(self.attributes),
            content: self.content,
        }
    }
}

impl Written {
    fn record(self) -> PathRecord {
        PathRecord {
            path: self.path,
            seen: self.seen,
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
                record.clone().written().put(to);
            }
            Self::Other(record) => {
                to.push(3);
                record.clone().written().put(to);
            }
            Self::End(outside) => {
                to.push(1);
                put_all(outside, to);
            }
            Self::Lacks => to.push(2),
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match u8::get(from)? {
            0 => Written::get(from).map(|it| Self::Path(it.record())),
            1 => get_all(from).map(Self::End),
            2 => Some(Self::Lacks),
            3 => Written::get(from).map(|it| Self::Other(it.record())),
            _ => None,
        }
    }
}

/// Adds to what was recorded that something is missing.
pub(crate) fn lacks(dir: &PrivateDir) -> io::Result<()> {
    let (mut body, mut framed) = (Vec::new(), Vec::new());
    IndexEntry::Lacks.put(&mut body);
    body.put(&mut framed);
    dir.write(INDEX, true)?.write_all(&framed)
}

/// All that was recorded.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// In the order of first touch. A path may be there twice: the first tells what it was, a later one may have kept
    /// its content.
    pub(crate) records: Vec<PathRecord>,
    /// What files were, whatever their names.
    pub(crate) others: Vec<PathRecord>,
    pub(crate) outside: BTreeMap<String, u64>,
    /// Whether the recorder said that this is all.
    pub(crate) complete: bool,
    /// Whether nothing was written at all: no path was touched, as far as there was a recorder.
    pub(crate) absent: bool,
    /// Whether it said that something is missing.
    pub(crate) lacks: bool,
}

impl Index {
    /// Whether this is all, in a set of which that is said.
    pub(crate) fn is_complete(&self, said: SetState) -> bool {
        let is_all =
            self.complete || self.absent && matches!(said, SetState::Done | SetState::Undone);
        is_all && !self.lacks
    }

    /// Reads the records, up to the first that is not whole.
    pub(crate) fn read(dir: &PrivateDir) -> Result<Self, ChangesError> {
        let mut bytes = Vec::new();
        match dir.read(INDEX) {
            Ok(mut file) => {
                file.read_to_end(&mut bytes)
                    .map_err(ChangesError::io("reading", dir.path().join(INDEX)))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self {
                    absent: true,
                    ..Self::default()
                });
            }
            Err(error) => return Err(ChangesError::io("opening", dir.path().join(INDEX))(error)),
        }
        let mut index = Self::default();
        let mut rest = &bytes[..];
        while let Some(body) = Vec::<u8>::get(&mut rest) {
            match IndexEntry::get(&mut &body[..]) {
                Some(IndexEntry::Path(record)) => index.records.push(record),
                Some(IndexEntry::End(outside)) => {
                    index.complete = true;
                    index.outside = outside
                        .into_iter()
                        .map(|(name, count)| (String::from_utf8_lossy(&name).into_owned(), count))
                        .collect();
                }
                Some(IndexEntry::Other(record)) => index.others.push(record),
                Some(IndexEntry::Lacks) => index.lacks = true,
                None => break,
            }
        }
        index.part();
        Ok(index)
    }

    /// What was copied before it was written to is what records mean that had a link of it, or nothing yet.
    fn part(&mut self) {
        let is_copy =
            |it: &&PathRecord| matches!(it.content, Content::Packed(..) | Content::Clone(_));
        let several = |it: &&PathRecord| it.seen.is_some_and(|it| it.links > 1);
        let named = self.records.iter().filter(several).filter(is_copy);
        let others = self.others.iter();
        let others = others.filter(|it| it.content != Content::Unread);
        let copies = named.chain(others);
        let copies = copies.filter_map(|it| Some((it.seen?.ino, it.content.clone())));
        let copies: HashMap<u64, Content> = copies.collect();
        for record in &mut self.records {
            if matches!(record.content, Content::Link(_) | Content::Unread)
                && let Some(seen) = record.seen.filter(|seen| !seen.is_dir())
                && let Some(copy) = copies.get(&seen.ino)
            {
                record.content = copy.clone();
            }
        }
    }
}
