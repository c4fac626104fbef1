//! [`Journal`]: appends entries to the file of this process.

use crate::{DIRECTORY_NAME, JournalEntry, JournalLevel};
use agent_bash_core::{Timestamp, lock};
use agent_bash_os::{PrivateDir, is_linked, lock_file};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The text of the error when the journal has reached its size limit.
pub const FULL_REASON: &str = "it is full";

/// The last line of a full journal.
const FULL_LINE: &[u8] = b"{\"full\":true}\n";

/// The text that replaces a secret of an entry.
const SECRET_MASK: &str = "[hidden]";

/// A function that masks secrets in a text.
pub type MaskSecrets = Arc<dyn Fn(&str) -> Cow<'_, str> + Send + Sync>;

/// The options of a journal.
#[derive(Clone)]
pub struct JournalOptions {
    /// The state directory.
    pub state: PathBuf,
    /// The name of the conversation: one path component.
    pub session: String,
    /// The amount of data that is recorded of a call.
    pub level: JournalLevel,
    /// The size limit of the file in bytes.
    pub max_bytes: u64,
    /// True if several processes, one per call, write one file.
    pub is_shared: bool,
    /// Masks secrets in every text of an entry.
    pub mask_secrets: MaskSecrets,
}

impl fmt::Debug for JournalOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalOptions")
            .field("state", &self.state)
            .field("session", &self.session)
            .field("level", &self.level)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

/// The journal of this process. The first entry creates the file.
#[derive(Debug)]
pub struct Journal {
    options: JournalOptions,
    file: Mutex<Option<OpenJournal>>,
}

/// The open file of a journal.
#[derive(Debug)]
struct OpenJournal {
    dir: PrivateDir,
    name: String,
    file: File,
    /// The length of the file in bytes.
    written: u64,
    is_full: bool,
}

impl Journal {
    /// Returns a journal. Performs no I/O.
    pub fn new(options: JournalOptions) -> Self {
        Self {
            options,
            file: Mutex::default(),
        }
    }

    /// Returns the amount of data that is recorded of a call.
    pub fn level(&self) -> JournalLevel {
        self.options.level
    }

    /// Adds a call. At the size limit, the journal writes a line that marks it as full instead, and
    /// refuses further calls.
    ///
    /// # Errors
    /// The file cannot be created or written, or is full ([`FULL_REASON`]).
    pub fn record(&self, entry: &JournalEntry) -> io::Result<()> {
        if self.options.level == JournalLevel::Off {
            return Ok(());
        }
        let mut open = lock(&self.file);
        // A process may have removed or replaced the directory or the file.
        let found = open.take().filter(OpenJournal::is_at_its_path);
        let open = open.insert(match found {
            Some(found) => found,
            None => self.open(entry.result.started_at)?,
        });
        let full_error = || Err(io::Error::new(io::ErrorKind::QuotaExceeded, FULL_REASON));
        if open.is_full {
            return full_error();
        }
        let mut line = self.line(entry)?;
        let _lock = self.options.is_shared.then(|| open.lock()).transpose()?;
        let is_full = open.written + line.len() as u64 > self.options.max_bytes;
        if is_full {
            line = FULL_LINE.to_vec();
        }
        // One write, so that a reader never sees half a line.
        if let Err(error) = open.file.write_all(&line) {
            // If the disk is full, the partial line is removed, so that the next line is readable.
            let _ = open.file.set_len(open.written);
            return Err(error);
        }
        open.written += line.len() as u64;
        open.is_full = is_full;
        if is_full { full_error() } else { Ok(()) }
    }

    /// Opens the file of this process. `first` is the start of the first call, which names the
    /// file.
    fn open(&self, first: Timestamp) -> io::Result<OpenJournal> {
        let dir = PrivateDir::create(
            &self.options.state,
            &[DIRECTORY_NAME, &self.options.session],
        )?;
        if self.options.is_shared {
            return open_shared(dir, first);
        }
        let name = format!("{:014}-{}.jsonl", first.0, std::process::id());
        let file = match dir.create_new(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => dir.write(&name, true)?,
            created => created?,
        };
        // The lock shows that this process runs. On a file system without locks, the process counts
        // as ended.
        let _ = file.try_lock_shared();
        Ok(OpenJournal {
            written: dir.size(&name),
            name,
            file,
            dir,
            is_full: false,
        })
    }

    /// Returns the entry as a line of the file, with secrets masked. Removes what the level
    /// excludes.
    fn line(&self, entry: &JournalEntry) -> io::Result<Vec<u8>> {
        let length = entry.command.len();
        let mut value = serde_json::to_value(entry)?;
        if self.options.level < JournalLevel::Full {
            value["result"]["text"] = Value::String(String::new());
            value.as_object_mut().map(|entry| entry.remove("printed"));
        }
        self.mask_in(&mut value, &entry.secrets);
        let has_new_length = value["command"].as_str().map(str::len) != Some(length);
        if has_new_length && let Some(objection) = value["objection"].as_object_mut() {
            objection.remove("span");
        }
        let mut line = serde_json::to_vec(&value)?;
        line.push(b'\n');
        Ok(line)
    }

    /// Masks secrets in all texts of a value.
    fn mask_in(&self, value: &mut Value, secrets: &[String]) {
        match value {
            Value::String(text) => {
                for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
                    if text.contains(secret.as_str()) {
                        *text = text.replace(secret.as_str(), SECRET_MASK);
                    }
                }
                if let Cow::Owned(hidden) = (self.options.mask_secrets)(text) {
                    *text = hidden;
                }
            }
            Value::Array(values) => values
                .iter_mut()
                .for_each(|value| self.mask_in(value, secrets)),
            Value::Object(fields) => fields
                .values_mut()
                .for_each(|value| self.mask_in(value, secrets)),
            _ => {}
        }
    }
}

/// The suffix of a file that several processes write.
const SHARED_SUFFIX: &str = "-shared.jsonl";

/// Opens or creates the file that all processes of a conversation write. `first` names a new file.
fn open_shared(dir: PrivateDir, first: Timestamp) -> io::Result<OpenJournal> {
    let oldest = || -> io::Result<Option<String>> {
        let names = dir.names()?.into_iter();
        Ok(names.filter(|name| name.ends_with(SHARED_SUFFIX)).min())
    };
    let name = if let Some(name) = oldest()? {
        name
    } else {
        let name = format!("{:014}{SHARED_SUFFIX}", first.0);
        match dir.create_new(&name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            // If two processes each create a file, both use the older one.
            _ => oldest()?.unwrap_or(name),
        }
    };
    let mut last = vec![0; FULL_LINE.len()];
    let reader = dir.read(&name)?;
    let start = reader.metadata()?.len().saturating_sub(last.len() as u64);
    let read = reader.read_at(&mut last, start)?;
    Ok(OpenJournal {
        file: dir.write(&name, true)?,
        dir,
        name,
        written: 0,
        is_full: last[..read] == *FULL_LINE,
    })
}

impl OpenJournal {
    /// True if readers still find the file.
    fn is_at_its_path(&self) -> bool {
        is_linked(&self.file) && self.dir.is_at_its_path()
    }

    /// Waits until no other process writes, then reads the current length of the file.
    fn lock(&mut self) -> io::Result<File> {
        let lock = lock_file(&self.dir, &self.name)?;
        self.written = self.file.metadata()?.len();
        Ok(lock)
    }
}
