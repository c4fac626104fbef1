//! Finds the lines of private keys in a text (RFC 7468). Only lines that look like key data are
//! masked; header, footer and other lines stay readable.

use std::ops::Range;

const KEY_HEADER: &str = "-----BEGIN ";
const HEADER_DASHES: &str = "-----";

/// Shorter lines are not masked: encoders fill 64 or 70 columns, and the last few bytes of a key
/// are useless to an attacker.
const MIN_KEY_LINE_BYTES: usize = 16;

/// Adds the ranges that look like lines of private keys to `found`.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text[from..].find(KEY_HEADER) {
        from += at + KEY_HEADER.len();
        let label = text[from..]
            .find(HEADER_DASHES)
            .map(|end| &text[from..from + end]);
        let Some(label) = label.filter(|label| is_label(label)) else {
            continue;
        };
        from += label.len() + HEADER_DASHES.len();
        let end = text[from..]
            .find(HEADER_DASHES)
            .map_or(text.len(), |at| from + at);
        add_key_lines(text, from..end, found);
    }
}

/// True for the label of a private key: `RSA PRIVATE KEY`, `PGP PRIVATE KEY BLOCK`.
fn is_label(label: &str) -> bool {
    let is_upper = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ';
    label.contains("PRIVATE KEY") && label.bytes().all(is_upper)
}

/// Adds each line of a key separately, so that a diff keeps its line structure.
fn add_key_lines(text: &str, part: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut start = part.start;
    while start < part.end {
        let rest = &text[start..part.end];
        // In a JSON text, or in a variable of one line, line breaks are written as `\n`.
        let breaks = [
            rest.find('\n').map(|at| (at, 1)),
            rest.find("\\n").map(|at| (at, 2)),
        ];
        let first = breaks.into_iter().flatten().min();
        let (length, gap) = first.unwrap_or((rest.len(), 0));
        let line = &rest[..length];
        let key = line.trim_matches(|c: char| c.is_whitespace() || "\"'-\\".contains(c));
        // A `+` is the mark of a diff line. A `+` that belongs to the key may stay readable.
        let key = key.trim_start_matches('+');
        if is_key_data(key) {
            let begin = start + line.find(key).unwrap_or(0);
            found.push(begin..begin + key.len());
        }
        if gap == 0 {
            break;
        }
        start += length + gap;
    }
}

/// True if a line looks like Base64 of random bytes: lower case, upper case and digits. Names of
/// programs and files rarely have all three.
fn is_key_data(line: &str) -> bool {
    let has = |is: fn(&u8) -> bool| line.as_bytes().iter().any(is);
    line.len() >= MIN_KEY_LINE_BYTES
        && line
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}
