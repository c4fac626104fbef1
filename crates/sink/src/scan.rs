//! Measures leading runs of bytes that need no processing.
//!
//! The compiler vectorises these functions: they test a block as a whole, without a branch per
//! byte.

/// Bytes tested at once.
const BLOCK_BYTES: usize = 64;

/// Bytes tested one by one first: runs between colour sequences are short, and testing blocks would
/// be slower.
const NEAR_BYTES: usize = 16;

/// Returns the length of the leading run of printable ASCII, TAB and LF.
pub(crate) fn plain_len(bytes: &[u8]) -> usize {
    leading(bytes, |b| {
        (b < 0x20 && b != b'\n' && b != b'\t') || b >= 0x7f
    })
}

/// Returns the length of the leading run without control bytes other than TAB and LF. Bytes from
/// 0x80 up are accepted.
pub(crate) fn uncontrolled_len(bytes: &[u8]) -> usize {
    leading(bytes, |b| {
        (b < 0x20 && b != b'\n' && b != b'\t') || b == 0x7f
    })
}

/// Returns the length of the leading run of UTF-8 without a lead byte for which `suspicious` is
/// true.
pub(crate) fn unsuspicious_len(bytes: &[u8], suspicious: impl Fn(u8) -> bool) -> usize {
    leading(bytes, suspicious)
}

/// True if no line in `lines` is longer than `max` bytes, excluding its LF.
pub(crate) fn lines_fit(mut lines: &[u8], max: usize) -> bool {
    while lines.len() > max {
        // A line end must occur within the first `max + 1` bytes; jumping to the last one there
        // skips the most.
        let Some(end) = memchr::memrchr(b'\n', &lines[..=max]) else {
            return false;
        };
        lines = &lines[end + 1..];
    }
    true
}

/// Returns the number of LFs.
pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    // The first `memchr` call of a process detects CPU features, which takes longer than scanning a
    // short text.
    if bytes.len() <= NEAR_BYTES {
        return bytes.iter().map(|&b| u64::from(b == b'\n')).sum();
    }
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Returns the number of characters in a piece of UTF-8.
pub(crate) fn chars(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&b| !is_continuation(b)).count() as u64
}

/// True if a byte is a UTF-8 continuation byte.
pub(crate) fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Returns the length of the leading run of bytes for which `stops` is false.
#[inline]
fn leading(bytes: &[u8], stops: impl Fn(u8) -> bool) -> usize {
    let near = bytes.len().min(NEAR_BYTES);
    if let Some(at) = bytes[..near].iter().position(|&b| stops(b)) {
        return at;
    }
    let mut at = near;
    for block in bytes[near..].chunks_exact(BLOCK_BYTES) {
        if block.iter().fold(false, |any, &b| any | stops(b)) {
            break;
        }
        at += BLOCK_BYTES;
    }
    let rest = &bytes[at..];
    at + rest.iter().position(|&b| stops(b)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_lengths_are_correct_for_every_byte_and_offset() {
        for stop in 0..=u8::MAX {
            let plain = matches!(stop, b'\n' | b'\t' | 0x20..0x7f);
            let uncontrolled = plain || stop >= 0x80;
            for distance in [0, 1, 15, 16, 17, 63, 79, 80, 81, 200] {
                let mut bytes = vec![b'x'; 300];
                bytes[distance] = stop;
                let want = |is| if is { 300 } else { distance };
                assert_eq!(plain_len(&bytes), want(plain), "{stop:#x} at {distance}");
                assert_eq!(uncontrolled_len(&bytes), want(uncontrolled), "{stop:#x}");
            }
        }
        assert_eq!(plain_len(b""), 0);
    }

    #[test]
    fn lines_fit_agrees_with_splitting() {
        for text in [
            "", "\n", "abc", "abc\n", "abcd\n", "a\nabcd", "a\nabcd\nb\n", "\n\n\n\n\n",
        ] {
            for max in 0..6 {
                let want = text.split('\n').all(|line| line.len() <= max);
                assert_eq!(lines_fit(text.as_bytes(), max), want, "{text:?} {max}");
            }
        }
    }
}
