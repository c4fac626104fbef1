//! [`History`]: the commands that the user typed in all interfaces, in one file of the state
//! directory.
//!
//! The file gets one JSON line when a command starts and another line when it ends; the second line
//! replaces the first. Each write holds a lock on a separate file, because several interfaces share
//! the history, and each may shorten the file.

use crate::MaskSecrets;
use agent_bash_core::{Status, Timestamp};
use agent_bash_os::{PrivateDir, lock_file};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// The file's name in the state directory.
const FILE_NAME: &str = "history.jsonl";

/// The file whose lock is held while the history is written or replaced.
const LOCK_FILE_NAME: &str = "history.lock";

/// Maximum length of the file in bytes. A longer file loses its older half.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Maximum length of a stored command in bytes. Longer commands are usually pasted texts.
const MAX_COMMAND_BYTES: usize = 32 << 10;

/// A typed command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// When the command was typed.
    pub at: Timestamp,
    /// The command as typed. Secrets are masked when it is stored.
    pub command: String,
    /// The working directory.
    pub directory: String,
    /// The name of the run of the interface in which the command was typed.
    pub session: String,
    /// The outcome; absent while the command runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<HistoryEnd>,
    /// Duration in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
}

/// The outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryEnd {
    /// The exit code.
    Exit(i32),
    /// A signal killed the command.
    Killed,
    /// The time limit passed.
    TimedOut,
    /// The user cancelled the command.
    Cancelled,
    /// The command continued in the background.
    Background,
    /// A check refused the command.
    Blocked,
    /// The command could not be started.
    NotStarted,
    /// The end is unknown.
    Lost,
}

impl From<&Status> for HistoryEnd {
    fn from(status: &Status) -> Self {
        match status {
            Status::Exited { code } => Self::Exit(*code),
            Status::Signaled { .. } => Self::Killed,
            Status::TimedOut { .. } => Self::TimedOut,
            Status::Cancelled => Self::Cancelled,
            Status::MovedToBackground { .. } => Self::Background,
            Status::Blocked { .. } => Self::Blocked,
            Status::NotStarted { .. } => Self::NotStarted,
            // `Lost`, and statuses of later versions.
            _ => Self::Lost,
        }
    }
}

impl HistoryEntry {
    /// Returns the identity of the entry: both lines of a command have the same key.
    fn key(&self) -> (Timestamp, &str) {
        (self.at, &self.session)
    }

    /// True if this entry replaces `other`: both are of the same command, and this one has the
    /// outcome.
    pub fn replaces(&self, other: &Self) -> bool {
        self.key() == other.key() && self.end.is_some()
    }
}

/// The history file. All operations block on the disk.
#[derive(Clone)]
pub struct History {
    state: PathBuf,
    mask_secrets: MaskSecrets,
    max_bytes: u64,
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl History {
    /// Returns the history of a state directory. `mask_secrets` masks secrets in stored commands.
    /// Performs no I/O.
    pub fn new(state: PathBuf, mask_secrets: MaskSecrets) -> Self {
        Self {
            state,
            mask_secrets,
            max_bytes: MAX_FILE_BYTES,
        }
    }

    /// Adds an entry. A command longer than 32 KiB is not stored.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn add(&self, entry: &HistoryEntry) -> io::Result<()> {
        if entry.command.len() > MAX_COMMAND_BYTES {
            return Ok(());
        }
        let line = self.line(entry)?;
        let dir = PrivateDir::create(&self.state, &[])?;
        let _lock = lock_file(&dir, LOCK_FILE_NAME)?;
        let mut file = dir.open_or_create(FILE_NAME)?;
        file.seek(SeekFrom::End(0))?;
        file.write_all(&line)?;
        if file.metadata()?.len() > self.max_bytes {
            self.shorten(&dir, &mut file)?;
        }
        Ok(())
    }

    /// Returns the entries, oldest first. Invalid lines are skipped.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn entries(&self) -> io::Result<Vec<HistoryEntry>> {
        let found = PrivateDir::open(&self.state, &[]).and_then(|dir| dir.read(FILE_NAME));
        match found {
            Ok(mut file) => self.read(&mut file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn read(&self, file: &mut File) -> io::Result<Vec<HistoryEntry>> {
        // If another program made the file longer, only the bytes up to twice the limit before its
        // end are read.
        let start = file.metadata()?.len().saturating_sub(2 * self.max_bytes);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(2 * self.max_bytes).read_to_end(&mut bytes)?;
        let mut entries: Vec<HistoryEntry> = Vec::new();
        let mut known: HashMap<(Timestamp, String), usize> = HashMap::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(entry) = serde_json::from_slice::<HistoryEntry>(line) else {
                continue;
            };
            let key = (entry.at, entry.session.clone());
            match known.get(&key) {
                Some(index) if entry.replaces(&entries[*index]) => entries[*index] = entry,
                Some(_) => {}
                None => {
                    known.insert(key, entries.len());
                    entries.push(entry);
                }
            }
        }
        Ok(entries)
    }

    /// Rewrites the file with the newest entries, up to half of the limit.
    fn shorten(&self, dir: &PrivateDir, file: &mut File) -> io::Result<()> {
        let entries = self.read(file)?;
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut length = 0;
        for entry in entries.iter().rev() {
            let line = self.line(entry)?;
            length += line.len() as u64;
            if length > self.max_bytes / 2 {
                break;
            }
            lines.push(line);
        }
        lines.reverse();
        dir.replace(FILE_NAME, &lines.concat())
    }

    /// Returns the entry as a line of the file, with secrets masked.
    fn line(&self, entry: &HistoryEntry) -> io::Result<Vec<u8>> {
        let masked = HistoryEntry {
            command: (self.mask_secrets)(&entry.command).into_owned(),
            directory: (self.mask_secrets)(&entry.directory).into_owned(),
            ..entry.clone()
        };
        let mut line = serde_json::to_vec(&masked)?;
        line.push(b'\n');
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    fn entry(at: u64, command: &str) -> HistoryEntry {
        HistoryEntry {
            at: Timestamp(at),
            command: command.to_owned(),
            directory: "/work".to_owned(),
            session: "one".to_owned(),
            end: None,
            took_ms: None,
        }
    }

    fn history(dir: &tempfile::TempDir) -> History {
        let mask_secrets: MaskSecrets =
            Arc::new(|text| Cow::Owned(text.replace("s3cret", "[hidden]")));
        History::new(dir.path().join("state"), mask_secrets)
    }

    fn commands(history: &History) -> Vec<String> {
        let entries = history.entries().unwrap();
        entries.into_iter().map(|entry| entry.command).collect()
    }

    #[test]
    fn entries_returns_each_command_with_its_end() {
        let dir = tempfile::tempdir().unwrap();
        assert!(history(&dir).entries().unwrap().is_empty());
        let ended = HistoryEntry {
            end: Some(HistoryEnd::Exit(3)),
            took_ms: Some(12),
            ..entry(1, "make")
        };
        history(&dir).add(&entry(1, "make")).unwrap();
        history(&dir).add(&entry(2, "ls")).unwrap();
        history(&dir).add(&ended).unwrap();
        // A later line without an end does not replace a known end.
        history(&dir).add(&entry(1, "make")).unwrap();
        assert_eq!(history(&dir).entries().unwrap(), [ended, entry(2, "ls")]);
        let file = dir.path().join("state").join(FILE_NAME);
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn secrets_are_masked_and_invalid_lines_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let history = history(&dir);
        history.add(&entry(1, "curl -H s3cret")).unwrap();
        let file = dir.path().join("state").join(FILE_NAME);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("s3cret"), "{text}");
        std::fs::write(&file, format!("{text}{{\"at\":\n\u{0}\u{1}\n{text}")).unwrap();
        history.add(&entry(2, "ls")).unwrap();
        assert_eq!(commands(&history), ["curl -H [hidden]", "ls"]);
    }

    #[test]
    fn long_history_loses_its_oldest_entries() {
        let dir = tempfile::tempdir().unwrap();
        let history = History {
            max_bytes: 4000,
            ..history(&dir)
        };
        for at in 0..200 {
            history.add(&entry(at, &format!("command {at}"))).unwrap();
            let file = dir.path().join("state").join(FILE_NAME);
            assert!(file.metadata().unwrap().len() <= 4000);
        }
        let masked = commands(&history);
        assert_eq!(masked.last().map(String::as_str), Some("command 199"));
        assert!(masked.len() > 10 && masked.len() < 100, "{}", masked.len());
        history
            .add(&entry(999, &"x".repeat(MAX_COMMAND_BYTES + 1)))
            .unwrap();
        assert_eq!(commands(&history), masked);
    }

    #[test]
    fn concurrent_writers_lose_no_entry() {
        let dir = tempfile::tempdir().unwrap();
        let history = history(&dir);
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let history = &history;
                scope.spawn(move || {
                    for at in 0..50 {
                        let mut entry = entry(at, "x");
                        entry.session = writer.to_string();
                        history.add(&entry).unwrap();
                    }
                });
            }
        });
        assert_eq!(history.entries().unwrap().len(), 400);
    }
}
