//! The model of cleaning: one pass over all bytes, written from the contract and not from the code.

use agent_bash_sink::CarriageReturn;

/// The clean text of a whole stream.
pub(crate) fn clean(bytes: &[u8], carriage_return: CarriageReturn) -> String {
    clean_with_raw(bytes, carriage_return).0
}

/// The clean text of a whole stream, and where the raw stream stands after each byte of it.
pub(crate) fn clean_with_raw(
    bytes: &[u8],
    carriage_return: CarriageReturn,
) -> (String, Vec<usize>) {
    let mut text = String::new();
    let mut raw_ends = Vec::new();
    let mut cr = None;
    let mut before = 0;
    for (token, end) in tokens(bytes) {
        match token {
            Token::Cr => cr = cr.or(Some(end)),
            Token::Text(c, len) => {
                if let Some(at) = cr.take()
                    && c != '\n'
                {
                    match carriage_return {
                        CarriageReturn::Newline => {
                            text.push('\n');
                            raw_ends.push(at);
                        }
                        CarriageReturn::Overwrite => {
                            text.truncate(text.rfind('\n').map_or(0, |at| at + 1));
                            raw_ends.truncate(text.len());
                        }
                    }
                }
                before = before.max(end - len);
                let shown = shown(c);
                for at in 1..=shown.len() {
                    raw_ends.push((before + at).min(end));
                }
                text.push_str(&shown);
                before = end;
            }
        }
    }
    if carriage_return == CarriageReturn::Newline
        && let Some(at) = cr
    {
        text.push('\n');
        raw_ends.push(at);
    }
    (text, raw_ends)
}

fn shown(c: char) -> String {
    match u32::from(c) {
        0xad
        | 0x61c
        | 0x180e
        | 0x200b..=0x200f
        | 0x2028..=0x202e
        | 0x2060..=0x206f
        | 0xfeff
        | 0xfff9..=0xfffb
        | 0x1d173..=0x1d17a
        | 0xe0000..=0xe007f
        | 0xe0100..=0xe01ef => format!("<U+{:04X}>", u32::from(c)),
        _ => c.to_string(),
    }
}

enum Token {
    Cr,
    /// A character, and how many bytes it takes up.
    Text(char, usize),
}

/// What is text of a stream, with where each ends.
fn tokens(bytes: &[u8]) -> Vec<(Token, usize)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            0x1b => at = escape(bytes, at, &mut tokens),
            byte if byte < 0x80 => {
                at += 1;
                control_or_ascii(byte, at, &mut tokens);
            }
            _ => {
                let end = (at..bytes.len())
                    .find(|&i| bytes[i] < 0x80)
                    .unwrap_or(bytes.len());
                for chunk in bytes[at..end].utf8_chunks() {
                    for c in chunk.valid().chars() {
                        at += c.len_utf8();
                        if !c.is_control() {
                            tokens.push((Token::Text(c, c.len_utf8()), at));
                        }
                    }
                    let invalid = chunk.invalid().len();
                    at += invalid;
                    if invalid > 0 {
                        tokens.push((Token::Text('\u{fffd}', invalid), at));
                    }
                }
            }
        }
    }
    tokens
}

fn control_or_ascii(byte: u8, end: usize, tokens: &mut Vec<(Token, usize)>) {
    match byte {
        b'\r' => tokens.push((Token::Cr, end)),
        b'\n' | b'\t' | 0x20..=0x7e => tokens.push((Token::Text(char::from(byte), 1), end)),
        _ => {}
    }
}

/// Skips the sequence whose ESC is at `at`; returns where text goes on.
fn escape(bytes: &[u8], mut at: usize, tokens: &mut Vec<(Token, usize)>) -> usize {
    #[derive(PartialEq)]
    enum State {
        Esc,
        EscMore,
        Csi,
        Osc,
        Dcs,
        Other,
    }
    let mut state = State::Esc;
    at += 1;
    let mut body = 0u32;
    while at < bytes.len() {
        let byte = bytes[at];
        let string = matches!(state, State::Osc | State::Dcs | State::Other);
        match byte {
            0x1b => {
                state = State::Esc;
                body = 0;
            }
            0x18 | 0x1a => return at + 1,
            0x07 if state == State::Osc => return at + 1,
            b'\n' if string && state != State::Dcs => return at,
            b'\n' if string => tokens.push((Token::Text('\n', 1), at + 1)),
            _ if string && body == 1 << 20 => return at,
            _ if string => body += 1,
            0x80.. => return at,
            0x00..=0x1f => control_or_ascii(byte, at + 1, tokens),
            0x7f => {}
            _ => match state {
                State::Esc => match byte {
                    b'[' => state = State::Csi,
                    b']' => state = State::Osc,
                    b'P' => state = State::Dcs,
                    b'X' | b'^' | b'_' => state = State::Other,
                    0x20..=0x2f => state = State::EscMore,
                    _ => return at + 1,
                },
                State::EscMore if byte >= 0x30 => return at + 1,
                State::Csi if byte >= 0x40 => return at + 1,
                _ => {}
            },
        }
        at += 1;
    }
    at
}
