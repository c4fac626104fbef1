//! Texts that another program cannot guess.

use agent_bash::core::hex;
use agent_bash::process::random_bytes;
use std::io;

/// Returns a random text of 32 hexadecimal digits.
pub(super) fn random_token() -> io::Result<String> {
    Ok(hex(&random_bytes::<16>()?))
}
