//! Backslash escapes of `$'…'`, `echo -e` and `printf`.

/// Parses the inside of `$'…'`; `text` begins after the opening quote. Returns the resolved text,
/// and the number of bytes up to and including the closing quote (`None` without a closing quote).
pub(crate) fn ansi_c(text: &str) -> (String, Option<usize>) {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut pos = 0;
    while let Some(byte) = bytes.get(pos) {
        match byte {
            b'\'' => return (lossy(out), Some(pos + 1)),
            b'\\' => pos += escape(&bytes[pos + 1..], &mut out) + 1,
            _ => {
                out.push(*byte);
                pos += 1;
            }
        }
    }
    (lossy(out), None)
}

/// Resolves the escapes of `echo -e`, `printf` and `${x@E}`.
pub(crate) fn escapes(text: &str) -> String {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut pos = 0;
    while let Some(byte) = bytes.get(pos) {
        if *byte == b'\\' {
            pos += escape(&bytes[pos + 1..], &mut out) + 1;
        } else {
            out.push(*byte);
            pos += 1;
        }
    }
    lossy(out)
}

/// Converts bytes to text; invalid UTF-8 becomes U+FFFD.
fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Resolves one escape sequence, from the byte after its backslash, and adds the result to `out`.
/// Returns the number of bytes read.
fn escape(rest: &[u8], out: &mut Vec<u8>) -> usize {
    let simple = |byte: u8| match byte {
        b'a' => Some(7),
        b'b' => Some(8),
        b'e' | b'E' => Some(27),
        b'f' => Some(12),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'v' => Some(11),
        b'\\' | b'\'' | b'"' | b'?' => Some(byte),
        _ => None,
    };
    let Some(&first) = rest.first() else {
        out.push(b'\\');
        return 0;
    };
    if let Some(byte) = simple(first) {
        out.push(byte);
        return 1;
    }
    match first {
        b'x' => {
            let (value, len) = number(&rest[1..], 16, 2);
            if len == 0 {
                out.extend(b"\\x");
            } else {
                out.push(value as u8);
            }
            1 + len
        }
        b'u' | b'U' => {
            let (value, len) = number(&rest[1..], 16, if first == b'u' { 4 } else { 8 });
            match char::from_u32(value) {
                Some(c) if len > 0 => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
                _ => out.extend([b'\\', first]),
            }
            1 + len
        }
        b'0'..=b'7' => {
            let (value, len) = number(rest, 8, if first == b'0' { 4 } else { 3 });
            out.push(value as u8);
            len
        }
        _ => {
            out.push(b'\\');
            0
        }
    }
}

/// Parses a number of at most `max_digits` digits. Returns its value and the number of digits read.
fn number(digits: &[u8], base: u32, max_digits: usize) -> (u32, usize) {
    let mut value = 0_u32;
    let mut len = 0;
    for byte in digits.iter().take(max_digits) {
        let Some(digit) = char::from(*byte).to_digit(base) else {
            break;
        };
        value = value.wrapping_mul(base).wrapping_add(digit);
        len += 1;
    }
    (value, len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ansi_c_resolves_escapes_as_bash_does() {
        for (written, expect) in [
            (r"\x72\x6d'", "rm"),
            (r"\162m'", "rm"),
            (r"\u0072m'", "rm"),
            (r"a\'b'", "a'b"),
            (r"\q'", r"\q"),
        ] {
            assert_eq!(
                ansi_c(written),
                (expect.to_owned(), Some(written.len())),
                "{written}"
            );
        }
        assert_eq!(ansi_c("open"), ("open".to_owned(), None));
    }
}
