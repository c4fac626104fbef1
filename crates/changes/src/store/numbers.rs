//! Directories whose entries have numbers as names: change sets of a session, and slots.

use crate::error::ChangesError;
use agent_bash_core::changes::ChangesId;
use agent_bash_os::{Counter, PrivateDir};
use rustix::io::Errno;
use std::fs::read_dir;
use std::io::{self, ErrorKind};

/// The file with the next number, in the directory of a session.
pub(crate) const COUNTER_FILE: &str = ".next";

/// The number of attempts. Processes without the counter's lock may take numbers at the same time.
const MAX_ATTEMPTS: u64 = 1000;

/// Returns the numbers in a directory, sorted.
pub(crate) fn numbers(session: &PrivateDir) -> Result<Vec<u64>, ChangesError> {
    let path = session.path();
    let mut numbers = Vec::new();
    for entry in read_dir(path).map_err(ChangesError::io("listing", path))? {
        let entry = entry.map_err(ChangesError::io("listing", path))?;
        let name = entry.file_name();
        numbers.extend(name.to_str().and_then(|name| name.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Finds the next number of a session, at least `lowest`. `claim` creates the file with this name,
/// and fails with `AlreadyExists` if another process has the number. Lists the directory only if
/// the counter is unknown or wrong.
pub(crate) fn take_next<T>(
    session: &PrivateDir,
    lowest: u64,
    mut claim: impl FnMut(&str) -> io::Result<T>,
) -> Result<(ChangesId, T), ChangesError> {
    // Without the lock, `claim` detects the numbers that other processes claim.
    let mut counter = Counter::lock(session, COUNTER_FILE).ok();
    let mut known = counter.as_ref().and_then(|counter| counter.next);
    let path = session.path();
    for _ in 0..2 {
        let next = match known.take() {
            Some(next) => next,
            None => numbers(session)?
                .last()
                .map_or(1, |last| last.saturating_add(1)),
        };
        let first = next.max(lowest);
        for id in first..first.saturating_add(MAX_ATTEMPTS) {
            match claim(&id.to_string()) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(ChangesError::io("making", path.join(id.to_string()))(error));
                }
                Ok(claimed) => {
                    if let Some(counter) = &mut counter {
                        counter.next = Some(id + 1);
                        // `claim` detects a counter that is too low.
                        let _ = counter.write();
                    }
                    return Ok((ChangesId(id), claimed));
                }
            }
        }
    }
    let failed = ChangesError::io("numbering a change set in", path);
    Err(failed(Errno::EXIST.into()))
}

/// Returns the last number of a session, if the counter is known.
pub(crate) fn last_number(session: &PrivateDir) -> Option<u64> {
    let counter = Counter::lock(session, COUNTER_FILE).ok()?;
    counter.next?.checked_sub(1)
}

/// Gives back the number of a removed change set, if it is the last one.
pub(crate) fn give_back(session: &PrivateDir, id: ChangesId) {
    if let Ok(mut counter) = Counter::lock(session, COUNTER_FILE)
        && counter.next == Some(id.0 + 1)
    {
        counter.next = Some(id.0);
        // If the write fails, the number is not used again.
        let _ = counter.write();
    }
}
