//! Quotes texts for shells.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Puts a text in single quotes, which every shell reads literally.
pub fn quoted(text: &OsStr) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'\'');
    for byte in text.as_bytes() {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            other => out.push(*other),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_escapes_single_quotes() {
        assert_eq!(quoted(OsStr::new("/a b/it's$(x)")), b"'/a b/it'\\''s$(x)'");
    }
}
