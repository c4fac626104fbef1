//! Text that arrives in parts, which may end inside a character.

/// Returns the length of `bytes` without an incomplete UTF-8 character at the end. Invalid bytes
/// count as complete.
pub fn whole_characters(bytes: &[u8]) -> usize {
    // An incomplete character has at most three bytes.
    let mut starts = bytes.len().saturating_sub(3)..bytes.len();
    let is_incomplete = |start: &usize| {
        let rest = std::str::from_utf8(&bytes[*start..]);
        rest.is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    let incomplete = starts.find(is_incomplete);
    incomplete.unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_characters_counts_invalid_bytes_as_complete() {
        for (bytes, whole) in [
            (&b"\xff"[..], 1),
            (b"\x80\x80\x80\x80", 4),
            (b"a\xe2\x82", 1),
            (b"a\xe2\x82\xac", 4),
            (b"\xf0\x9d\x84", 0),
            (b"\xe0\x80", 2),
            (b"", 0),
            (b"a\n", 2),
        ] {
            assert_eq!(whole_characters(bytes), whole, "{bytes:?}");
        }
    }
}
