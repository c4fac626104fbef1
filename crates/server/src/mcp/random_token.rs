//! Texts that another program cannot guess.

use agent_bash::core::hex;
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

/// Returns a random text of 32 hexadecimal digits.
pub(super) fn random_token() -> io::Result<String> {
    let mut bytes = [0; 16];
    let filled = getrandom(&mut bytes, GetRandomFlags::empty())?;
    if filled < bytes.len() {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
    }
    Ok(hex(&bytes))
}
