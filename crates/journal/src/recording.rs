//! Reading: which journals there are, and what is in one.

use crate::{DIRECTORY, Entry};
use agent_bash_core::Timestamp;
use agent_bash_os::PrivateDir;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs::{self, TryLockError};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// A longer line is not ours: an entry has at most 64 KiB of output, which JSON can make six times as long, and a result's
/// text.
const LONGEST_LINE: u64 = 8 << 20;

/// A journal that is kept.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recording {
    /// The session that it is from.
    pub session: String,
    /// When its first call began.
    pub started_at: Timestamp,
    /// Length of its file.
    pub bytes: u64,
    /// When it was last written.
    pub written_at: Timestamp,
    pub(crate) dir: PrivateDir,
    pub(crate) name: String,
}

/// What is in a journal.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recorded {
    /// The calls, in the order in which they ended.
    pub entries: Vec<Entry>,
    /// Lines that could not be read, such as the last one of a process that was killed.
    pub damaged: u64,
    /// Lines that a newer version has written, and this one does not understand.
    pub newer: u64,
    /// Whether the file was full, and later calls are missing.
    pub full: bool,
}

/// A line of the file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Entry(Box<Entry>),
    Full { full: bool },
}

/// All journals below a state directory, or those of one session, oldest first. What cannot be read is left out.
pub fn recordings(state: &Path, session: Option<&str>) -> Vec<Recording> {
    let sessions = match session {
        Some(name) => vec![name.to_owned()],
        None => names(state),
    };
    let mut found: Vec<Recording> = sessions
        .iter()
        .flat_map(|session| of_session(state, session))
        .collect();
    found.sort_by(|one, other| (one.started_at, &one.name).cmp(&(other.started_at, &other.name)));
    found
}

fn names(state: &Path) -> Vec<String> {
    let entries = fs::read_dir(state).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

fn of_session(state: &Path, session: &str) -> Vec<Recording> {
    let open = || PrivateDir::open(state, &[session, DIRECTORY]);
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
    /// Whether the process that writes it lives: it holds a lock on the file.
    pub fn is_live(&self) -> bool {
        let file = self.dir.read(&self.name);
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Removes it, unless its process lives. Returns whether it did.
    pub fn remove(&self) -> bool {
        // What cannot be removed is tried again the next time.
        !self.is_live() && self.dir.remove(&self.name).is_ok()
    }

    /// Reads it.
    ///
    /// # Errors
    /// The file cannot be read. Damaged lines are counted.
    pub fn read(&self) -> io::Result<Recorded> {
        let mut reader = BufReader::new(self.dir.read(&self.name)?);
        let mut recorded = Recorded::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let taken = Read::by_ref(&mut reader)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?;
            if taken == 0 {
                return Ok(recorded);
            }
            match serde_json::from_slice(&line) {
                Ok(Line::Entry(entry)) => recorded.entries.push(*entry),
                Ok(Line::Full { full }) => recorded.full |= full,
                // Ours, but for what is new in it: half a line is no object.
                Err(_) if serde_json::from_slice::<Map<String, Value>>(&line).is_ok() => {
                    recorded.newer += 1;
                }
                Err(_) => recorded.damaged += 1,
            }
        }
    }
}
