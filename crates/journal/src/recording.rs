//! Lists and reads journals.

use crate::{DIRECTORY_NAME, JournalEntry};
use agent_bash_core::Timestamp;
use agent_bash_os::PrivateDir;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs::{self, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The largest length of a valid line in bytes. An entry has at most 64 KiB of output and the text
/// of a result; JSON escapes can lengthen both to the sixfold.
const MAX_LINE_BYTES: u64 = 8 << 20;

/// The bytes at the end of the file that are searched first for the last entry.
const FIRST_TAIL_BYTES: u64 = 64 << 10;

/// A stored journal.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recording {
    /// The name of the conversation, which is the name of its directory.
    pub session: String,
    /// When the first call began.
    pub started_at: Timestamp,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// When the file was last written.
    pub written_at: Timestamp,
    pub(crate) dir: PrivateDir,
    pub(crate) name: String,
}

/// The contents of a journal.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct JournalContents {
    /// The calls in the order of their end.
    pub entries: Vec<JournalEntry>,
    /// Number of invalid lines, such as the last one of a killed process.
    pub damaged: u64,
    /// Number of lines of a newer version, which this version does not understand.
    pub newer: u64,
    /// True if the file was full, so that later calls are missing.
    pub full: bool,
}

/// A line of the file.
#[derive(Deserialize)]
#[serde(untagged)]
enum JournalLine {
    Entry(Box<JournalEntry>),
    Full { full: bool },
}

/// Checks that the journals below a state directory, if any, are not hidden.
///
/// # Errors
/// The directory of the journals cannot be read, as in a sandboxed call.
pub fn check_readable(state: &Path) -> io::Result<()> {
    let dir = match PrivateDir::open(state, &[DIRECTORY_NAME]) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    // Root can open the empty directory that hides the journals.
    let mode = fs::metadata(dir.path())?.permissions().mode();
    if mode & 0o400 == 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

/// Returns the journals below a state directory, oldest first. With `session`, only the
/// journals of that conversation. Unreadable journals are skipped.
pub fn recordings(state: &Path, session: Option<&str>) -> Vec<Recording> {
    let sessions = match session {
        Some(name) => vec![name.to_owned()],
        None => PrivateDir::open(state, &[DIRECTORY_NAME])
            .and_then(|all| all.directories())
            .unwrap_or_default(),
    };
    let mut found: Vec<Recording> = sessions
        .iter()
        .flat_map(|session| recordings_of(state, session))
        .collect();
    found
        .sort_by(|left, right| (left.started_at, &left.name).cmp(&(right.started_at, &right.name)));
    found
}

/// Returns the journals of one conversation, in any order.
pub(crate) fn recordings_of(state: &Path, session: &str) -> Vec<Recording> {
    let open = || PrivateDir::open(state, &[DIRECTORY_NAME, session]);
    let names = open().and_then(|dir| dir.names()).unwrap_or_default();
    let recording = |name: String| {
        let started_at = Timestamp(
            name.strip_suffix(".jsonl")?
                .split_once('-')?
                .0
                .parse()
                .ok()?,
        );
        let dir = open().ok()?;
        let metadata = dir.metadata(&name).ok()?;
        Some(Recording {
            session: session.to_owned(),
            started_at,
            bytes: metadata.len(),
            written_at: metadata.modified().ok()?.into(),
            dir,
            name,
        })
    };
    names.into_iter().filter_map(recording).collect()
}

impl Recording {
    /// True if the writing process runs, because it holds a lock on the file.
    pub fn is_live(&self) -> bool {
        let file = self.dir.read(&self.name);
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Removes the journal, unless its process runs. Returns true if it was removed.
    pub fn remove(&self) -> bool {
        // If the file cannot be removed, the next sweep tries again.
        !self.is_live() && self.dir.remove(&self.name).is_ok()
    }

    /// Returns the last entry, reading from the end of the file. `None` if the file has no entry,
    /// or no entry in its last 16 MiB.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn last(&self) -> io::Result<Option<JournalEntry>> {
        let mut file = self.dir.read(&self.name)?;
        let length = file.metadata()?.len();
        let mut size = FIRST_TAIL_BYTES;
        loop {
            let start = length.saturating_sub(size);
            file.seek(SeekFrom::Start(start))?;
            let mut tail = Vec::new();
            Read::by_ref(&mut file).take(size).read_to_end(&mut tail)?;
            // The first line may lack its beginning.
            let partial_lines = usize::from(start > 0);
            let lines: Vec<&[u8]> = tail
                .split(|byte| *byte == b'\n')
                .skip(partial_lines)
                .collect();
            let entries = lines.into_iter().rev();
            let mut entries = entries.filter_map(|line| match serde_json::from_slice(line) {
                Ok(JournalLine::Entry(entry)) => Some(*entry),
                _ => None,
            });
            if let Some(entry) = entries.next() {
                return Ok(Some(entry));
            }
            if start == 0 || size > MAX_LINE_BYTES {
                return Ok(None);
            }
            size *= 16;
        }
    }

    /// Reads the journal.
    ///
    /// # Errors
    /// The file cannot be read. Damaged lines are counted.
    pub fn read(&self) -> io::Result<JournalContents> {
        let mut reader = BufReader::new(self.dir.read(&self.name)?);
        let mut contents = JournalContents::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = Read::by_ref(&mut reader)
                .take(MAX_LINE_BYTES)
                .read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(contents);
            }
            match serde_json::from_slice(&line) {
                Ok(JournalLine::Entry(entry)) => contents.entries.push(*entry),
                Ok(JournalLine::Full { full }) => contents.full |= full,
                // A complete JSON object is an entry of a newer version. A partial line is not a
                // JSON object.
                Err(_) if serde_json::from_slice::<Map<String, Value>>(&line).is_ok() => {
                    contents.newer += 1;
                }
                Err(_) => contents.damaged += 1,
            }
        }
    }
}
