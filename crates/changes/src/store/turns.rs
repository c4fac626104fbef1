//! Turns: what calls do between two prompts of an agent's user. Their marks are in [`turn_marks`].
//!
//! [`turn_marks`]: crate::store::turn_marks

use crate::error::ChangesError;
use crate::store::Store;
use crate::store::mark;
use crate::store::numbers::COUNTER_FILE;
use crate::store::turn_marks::{TURNS_FILE, TurnMark, TurnSign, Turns};
use agent_bash_os::{PrivateDir, lock_file};

/// The word for the last turn. A turn cannot have this name.
pub const LAST_TURN: &str = "last";

/// The largest number of marks; older ones are dropped.
const MAX_TURNS: usize = 500;

/// The longest name in bytes. A UUID has 36.
const MAX_NAME_BYTES: usize = 100;

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
