//! Directories with numbers as names: change sets, and slots.

use crate::error::ChangesError;
use agent_bash_os::PrivateDir;
use std::fs::read_dir;

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
