//! The marks of turns, as their file has them, and the last turns that this process has read.
//!
//! A mark has the name of a turn and the time of its beginning, by the clock of the store's file
//! system. A call belongs to the last turn that began before it, so a call need not record its
//! turn.

use crate::error::ChangesError;
use crate::files::file_stat::{FileStat, Time};
use agent_bash_core::lock;
use agent_bash_os::PrivateDir;
use rustix::fs::CWD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// The file with the marks, one line of JSON each, in the directory of a session.
pub(crate) const TURNS_FILE: &str = ".turns";

/// The largest file of marks that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A sign that a turn begins or goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnSign<'a> {
    /// A turn with this name. If the last turn has this name, that turn goes on.
    Name(&'a str),
    /// A prompt of the agent's user, with the agent's id for it. The turn gets the next number.
    Prompt(Option<&'a str>),
    /// A call with the id of its prompt. The last turn goes on if it has this id, or no id.
    Call(&'a str),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TurnMark {
    pub(crate) name: String,
    pub(crate) begun: Time,
    /// The agent's id for the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<String>,
}

impl TurnMark {
    /// True if this turn goes on with the sign.
    pub(crate) fn goes_on(&self, sign: TurnSign<'_>) -> bool {
        match sign {
            TurnSign::Name(name) => self.name == name,
            TurnSign::Prompt(None) => false,
            TurnSign::Prompt(Some(prompt)) | TurnSign::Call(prompt) => {
                self.prompt.as_deref() == Some(prompt)
            }
        }
    }
}

/// The turns of a session, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Turns(pub(crate) Vec<TurnMark>);

/// The last turn of each session that this process has read, with the attributes of the file of
/// marks before that read. While the attributes are unchanged, the file is not read again.
#[derive(Debug, Default)]
pub(crate) struct KnownTurns {
    sessions: Mutex<BTreeMap<String, (FileStat, TurnMark)>>,
}

impl KnownTurns {
    /// Returns the last turn of a session in this store, if the file of marks is unchanged.
    pub(crate) fn last(&self, store: &Path, session: &str) -> Option<TurnMark> {
        let sessions = self.sessions();
        let (stat, last) = sessions.get(session)?;
        let path = store.join(session).join(TURNS_FILE);
        let now = FileStat::at(CWD, path.as_os_str()).ok()??;
        (now == *stat).then(|| last.clone())
    }

    /// Reads the turns of a session, and remembers the last one.
    pub(crate) fn read(
        &self,
        session: &str,
        directory: &PrivateDir,
    ) -> Result<Turns, ChangesError> {
        let stat = FileStat::at(directory, OsStr::new(TURNS_FILE));
        let turns = Turns::read(directory)?;
        if let (Ok(Some(stat)), Some(last)) = (stat, turns.0.last()) {
            let known = (stat, last.clone());
            self.sessions().insert(session.to_owned(), known);
        }
        Ok(turns)
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, (FileStat, TurnMark)>> {
        lock(&self.sessions)
    }
}

impl Turns {
    /// Reads the marks. Damaged lines are skipped.
    pub(crate) fn read(session: &PrivateDir) -> Result<Self, ChangesError> {
        let mut text = String::new();
        let read = session.read(TURNS_FILE);
        match read.and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                let path = session.path().join(TURNS_FILE);
                return Err(ChangesError::io("reading", path)(error));
            }
        }
        let marks = text.lines().map(serde_json::from_str);
        Ok(Self(marks.filter_map(Result::ok).collect()))
    }

    /// Returns the name of the turn of a call that began at this time.
    pub(crate) fn turn_at(&self, begun: Time) -> Option<&str> {
        let turn = self.0.iter().rev().find(|turn| turn.begun <= begun);
        turn.map(|turn| turn.name.as_str())
    }

    /// True if no turn was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
