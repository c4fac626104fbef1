//! Writes the records of paths.

use super::{
    ContentLocation, INDEX_FILE, IndexEntry, NotRecorded, PathRecord, RecordOutcome, Recorder,
    system_error,
};
use crate::error::ChangesError;
use crate::files::attributes::{self, Attributes};
use crate::files::codec::Wire;
use crate::files::file_stat::FileStat;
use agent_bash_os::PrivateDir;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl Recorder {
    /// Records a path without a preimage.
    pub(super) fn put_without_preimage(
        &mut self,
        path: &Path,
        stat: Option<FileStat>,
    ) -> Result<RecordOutcome, NotRecorded> {
        let record = PathRecord {
            path: path.as_os_str().as_bytes().to_vec(),
            stat,
            attributes: Vec::new(),
            content: ContentLocation::NotStored,
        };
        self.append(&IndexEntry::Path(record))
            .map_err(NotRecorded::Failed)?;
        self.recorded.insert(path.to_owned(), true);
        Ok(RecordOutcome::WithoutPreimage)
    }

    pub(super) fn put(
        &mut self,
        path: &Path,
        stat: Option<FileStat>,
        content: ContentLocation,
    ) -> Result<RecordOutcome, NotRecorded> {
        let outcome = match content {
            ContentLocation::NotStored => RecordOutcome::WithoutPreimage,
            _ => RecordOutcome::Stored,
        };
        let attributes = match stat {
            Some(stat) if self.stores_contents && stat.kind() != FileType::Symlink => self
                .attributes(path)
                .map_err(|error| system_error("reading the attributes of", path, error))?,
            _ => Vec::new(),
        };
        let has_all = !matches!(content, ContentLocation::Unread);
        let record = self.record(path, stat, attributes, content);
        self.append(&IndexEntry::Path(record))
            .map_err(NotRecorded::Failed)?;
        self.recorded.insert(path.to_owned(), has_all);
        Ok(outcome)
    }

    /// Returns the record of a path. A file with several names gets the attributes that it had at
    /// its first touch by any of these names.
    pub(super) fn record(
        &mut self,
        path: &Path,
        mut stat: Option<FileStat>,
        mut attributes: Attributes,
        content: ContentLocation,
    ) -> PathRecord {
        if let Some(stat) = stat.as_mut().filter(|it| !it.is_dir()) {
            if stat.links > 1 && !self.first_stats.contains_key(&stat.ino) {
                self.first_stats
                    .insert(stat.ino, (*stat, attributes.clone()));
            }
            if let Some(first) = self.first_stats.get(&stat.ino) {
                (*stat, attributes) = first.clone();
            }
        }
        PathRecord {
            path: path.as_os_str().as_bytes().to_vec(),
            stat,
            attributes,
            content,
        }
    }

    pub(super) fn attributes(&mut self, path: &Path) -> Result<Attributes, Errno> {
        if path.as_os_str().is_empty() {
            return attributes::all(self.tree.directory(path)?.as_fd(), OsStr::new("."));
        }
        let (dir, name) = self.tree.parent(path)?;
        attributes::all(dir.as_fd(), name)
    }

    pub(super) fn append(&mut self, entry: &IndexEntry) -> Result<(), ChangesError> {
        let mut body = Vec::with_capacity(256);
        entry.put(&mut body);
        let mut framed = Vec::with_capacity(body.len() + 8);
        body.put(&mut framed);
        // One write, so that a record is complete or missing.
        file(&self.set, INDEX_FILE, &mut self.index)
            .and_then(|index| index.write_all(&framed))
            .map_err(ChangesError::io("writing", INDEX_FILE))
    }
}

/// Returns an open file of the change set, which the first call creates.
pub(super) fn file<'a>(
    set: &PrivateDir,
    name: &str,
    file: &'a mut Option<File>,
) -> io::Result<&'a mut File> {
    match file {
        Some(file) => Ok(file),
        none => Ok(none.insert(set.create_new(name)?)),
    }
}
