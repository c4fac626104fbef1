//! The model of cleaning: one pass over all bytes, written from the contract and not from the code.

use agent_bash_sink::CarriageReturn;

/// The clean text of a whole stream.
pub(crate) fn clean(bytes: &[u8], carriage_return: CarriageReturn) -> String {
    let mut text = String::new();
    let mut cr = false;
    for token in tokens(bytes) {
        match token {
            Token::Cr => cr = true,
            Token::Text(c) => {
                if std::mem::take(&mut cr) && c != '\n' {
                    match carriage_return {
                        CarriageReturn::Newline => text.push('\n'),
                        CarriageReturn::Overwrite => {
                            text.truncate(text.rfind('\n').map_or(0, |at| at + 1));
                        }
                    }
                }
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
                    | 0xe0100..=0xe01ef => text.extend(format!("<U+{:04X}>", u32::from(c)).chars()),
                    _ => text.push(c),
                }
            }
        }
    }
    if cr && carriage_return == CarriageReturn::Newline {
        text.push('\n');
    }
    text
}

enum Token {
    Cr,
    Text(char),
}

fn tokens(bytes: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            0x1b => at = escape(bytes, at, &mut tokens),
            byte if byte < 0x80 => {
                control_or_ascii(byte, &mut tokens);
                at += 1;
            }
            _ => {
                let end = (at..bytes.len())
                    .find(|&i| bytes[i] < 0x80)
                    .unwrap_or(bytes.len());
                for c in String::from_utf8_lossy(&bytes[at..end]).chars() {
                    if !c.is_control() {
                        tokens.push(Token::Text(c));
                    }
                }
                at = end;
            }
        }
    }
    tokens
}

fn control_or_ascii(byte: u8, tokens: &mut Vec<Token>) {
    match byte {
        b'\r' => tokens.push(Token::Cr),
        b'\n' | b'\t' | 0x20..=0x7e => tokens.push(Token::Text(char::from(byte))),
        _ => {}
    }
}

/// Skips the sequence whose ESC is at `at`; returns where text goes on.
fn escape(bytes: &[u8], mut at: usize, tokens: &mut Vec<Token>) -> usize {
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
            b'\n' if string => tokens.push(Token::Text('\n')),
            _ if string && body == 1 << 20 => return at,
            _ if string => body += 1,
            0x80.. => return at,
            0x00..=0x1f => control_or_ascii(byte, tokens),
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
