//! Turns: what calls do between two prompts of an agent's user.
//!
//! A mark has the name of a turn and the time of its beginning, by the clock of the store's file
//! system. A call belongs to the last turn that began before it, so a call need not record its
//! turn.

use crate::error::ChangesError;
use crate::file_stat::{FileStat, Time};
use crate::mark;
use crate::numbers::COUNTER_FILE;
use crate::store::Store;
use agent_bash_os::{PrivateDir, lock_file};
use rustix::fs::CWD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The file with the marks, one line of JSON each, in the directory of a session.
pub(crate) const TURNS_FILE: &str = ".turns";

/// The word for the last turn. A turn cannot have this name.
pub const LAST_TURN: &str = "last";

/// The largest number of marks; older ones are dropped.
const MAX_TURNS: usize = 500;

/// The longest name in bytes. A UUID has 36.
const MAX_NAME_BYTES: usize = 100;

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
struct TurnMark {
    name: String,
    begun: Time,
    /// The agent's id for the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
}

impl TurnMark {
    /// True if this turn goes on with the sign.
    fn goes_on(&self, sign: TurnSign<'_>) -> bool {
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
pub(crate) struct Turns(Vec<TurnMark>);

/// The last turn of each session that this process has read, with the attributes of the file of
/// marks before that read. While the attributes are unchanged, the file is not read again.
#[derive(Debug, Default)]
pub(crate) struct KnownTurns {
    sessions: Mutex<BTreeMap<String, (FileStat, TurnMark)>>,
}

impl KnownTurns {
    /// Returns the last turn of a session in this store, if the file of marks is unchanged.
    fn last(&self, store: &Path, session: &str) -> Option<TurnMark> {
        let sessions = self.sessions();
        let (stat, last) = sessions.get(session)?;
        let path = store.join(session).join(TURNS_FILE);
        let now = FileStat::at(CWD, path.as_os_str()).ok()??;
        (now == *stat).then(|| last.clone())
    }

    /// Reads the turns of a session, and remembers the last one.
    fn read(&self, session: &str, directory: &PrivateDir) -> Result<Turns, ChangesError> {
        let stat = FileStat::at(directory, OsStr::new(TURNS_FILE));
        let turns = Turns::read(directory)?;
        if let (Ok(Some(stat)), Some(last)) = (stat, turns.0.last()) {
            let known = (stat, last.clone());
            self.sessions().insert(session.to_owned(), known);
        }
        Ok(turns)
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, (FileStat, TurnMark)>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Begins a turn of a session, unless the last turn goes on. Returns the name of the turn.
    ///
    /// # Errors
    /// The name or the id is not usable, or the mark cannot be written.
    pub fn begin_turn(&self, session: &str, sign: TurnSign<'_>) -> Result<String, ChangesError> {
        let (name, prompt) = match sign {
            TurnSign::Name(name) => (Some(name), None),
            TurnSign::Prompt(prompt) => (None, prompt),
            TurnSign::Call(prompt) => (None, Some(prompt)),
        };
        for text in name.iter().chain(&prompt) {
            check(text)?;
        }
        let known = self.known_turns.last(&self.path, session);
        if let Some(last) = known.filter(|last| last.goes_on(sign)) {
            return Ok(last.name);
        }
        let directory = self.session(session)?;
        let path = directory.path().join(TURNS_FILE);
        let lock =
            lock_file(&directory, COUNTER_FILE).map_err(ChangesError::io("locking", &path))?;
        let Turns(mut turns) = self.known_turns.read(session, &directory)?;
        let prompt = prompt.map(str::to_owned);
        if let Some(last) = turns.last_mut() {
            let gets_prompt = matches!(sign, TurnSign::Call(_)) && last.prompt.is_none();
            if last.goes_on(sign) {
                return Ok(last.name.clone());
            }
            if gets_prompt {
                last.prompt = prompt;
                let name = last.name.clone();
                return write(&directory, &turns).map(|()| name);
            }
        }
        let numbers = turns
            .iter()
            .filter_map(|turn| turn.name.parse::<u64>().ok());
        let next = numbers.max().unwrap_or(0).saturating_add(1);
        let name = name.map_or_else(|| next.to_string(), str::to_owned);
        let begun = mark::touched(&lock, &path)?;
        turns.push(TurnMark {
            name: name.clone(),
            begun,
            prompt,
        });
        write(&directory, &turns).map(|()| name)
    }

    /// Returns the name of the last turn of a session; `None` if no turn was recorded.
    ///
    /// # Errors
    /// The marks cannot be read.
    pub fn last_turn(&self, session: &str) -> Result<Option<String>, ChangesError> {
        if let Some(last) = self.known_turns.last(&self.path, session) {
            return Ok(Some(last.name));
        }
        let Some(directory) = self.existing_session(session)? else {
            return Ok(None);
        };
        let Turns(mut turns) = self.known_turns.read(session, &directory)?;
        Ok(turns.pop().map(|turn| turn.name))
    }
}

fn write(directory: &PrivateDir, turns: &[TurnMark]) -> Result<(), ChangesError> {
    let path = directory.path().join(TURNS_FILE);
    let first = turns.len().saturating_sub(MAX_TURNS);
    let lines = turns[first..].iter().map(serde_json::to_string);
    let lines: Result<Vec<String>, _> = lines.collect();
    let lines = lines.map_err(|error| ChangesError::io("writing", &path)(error.into()))?;
    directory
        .replace(TURNS_FILE, (lines.join("\n") + "\n").as_bytes())
        .map_err(ChangesError::io("writing", &path))
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

fn check(name: &str) -> Result<(), ChangesError> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic());
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !is_plain || name == LAST_TURN {
        return Err(ChangesError::TurnName(name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "s";

    #[test]
    fn turn_that_goes_on_is_told_without_the_lock() {
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(state.path()).unwrap();
        let sign = TurnSign::Prompt(Some("p1"));
        for _ in 0..2 {
            assert_eq!(store.begin_turn(SESSION, sign).unwrap(), "1");
        }
        let directory = store.session(SESSION).unwrap();
        let _lock = lock_file(&directory, COUNTER_FILE).unwrap();
        assert_eq!(store.begin_turn(SESSION, sign).unwrap(), "1");
        let next = store.begin_turn(SESSION, TurnSign::Prompt(Some("p2")));
        assert!(next.is_err(), "the lock is not held: {next:?}");
    }

    #[test]
    fn turn_that_another_process_begins_is_noticed() {
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(state.path()).unwrap();
        let other = Store::open(state.path()).unwrap();
        let (first, second) = (TurnSign::Call("p1"), TurnSign::Call("p2"));
        for _ in 0..3 {
            assert_eq!(store.begin_turn(SESSION, first).unwrap(), "1");
        }
        assert_eq!(store.last_turn(SESSION).unwrap().as_deref(), Some("1"));
        assert_eq!(other.begin_turn(SESSION, second).unwrap(), "2");
        assert_eq!(store.last_turn(SESSION).unwrap().as_deref(), Some("2"));
        assert_eq!(store.begin_turn(SESSION, first).unwrap(), "3");
        std::fs::remove_dir_all(store.path().join(SESSION)).unwrap();
        assert_eq!(store.last_turn(SESSION).unwrap(), None);
        assert_eq!(store.begin_turn(SESSION, second).unwrap(), "1");
    }
}
