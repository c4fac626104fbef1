//! A reference model of cleaning: one pass over all bytes, written from the contract rather than
//! from the code.

use agent_bash_sink::CarriageReturn;

/// Returns the clean text of a whole stream.
pub(crate) fn clean(bytes: &[u8], carriage_return: CarriageReturn) -> String {
    cleaned(bytes, carriage_return, false).text
}

/// Returns true if a sequence edits the line or moves the cursor back: text and stream then have
/// different orders.
pub(crate) fn is_edited(bytes: &[u8]) -> bool {
    let edits = |(token, _)| matches!(token, Token::Backspace | Token::Edit(..));
    tokens(bytes).into_iter().any(edits)
}

/// The result of cleaning a whole stream.
#[derive(Default)]
pub(crate) struct Cleaned {
    /// The text.
    pub(crate) text: String,
    /// Raw stream position after each byte of the text.
    pub(crate) raw_ends: Vec<usize>,
    /// Numbers of the lines, from 0, on which visible text was overwritten or erased.
    pub(crate) overwritten: Vec<usize>,
}

/// A terminal's line: cells and a cursor.
#[derive(Default)]
struct Line {
    /// Characters, and the raw stream position after each character.
    cells: Vec<(char, usize)>,
    cursor: usize,
    overwritten: bool,
}

impl Line {
    fn erase_from(&mut self, column: usize) {
        let erased = self.cells.get(column..).unwrap_or_default();
        self.overwritten |= erased.iter().any(|(c, _)| !c.is_whitespace());
        self.cells.truncate(column);
        self.cursor = column;
    }

    fn erase_count(&mut self, count: usize) {
        let end = (self.cursor + count).min(self.cells.len());
        let Some(erased) = self.cells.get_mut(self.cursor..end) else {
            return;
        };
        self.overwritten |= erased.iter().any(|(c, _)| !c.is_whitespace());
        for (c, _) in erased.iter_mut() {
            *c = ' ';
        }
        // Erasing at the end of a line removes nothing.
        if end == self.cells.len() {
            self.cells.truncate(self.cursor);
        }
    }

    fn edit(&mut self, edit: u8, number: usize) {
        let end = self.cells.len();
        match edit {
            b'C' => self.cursor = (self.cursor + number).min(self.cursor.max(end + 512)),
            b'D' => self.cursor = self.cursor.saturating_sub(number),
            b'G' => self.cursor = number - 1,
            b'@' if self.cursor < end => {
                let blanks = std::iter::repeat_n((' ', 0), number);
                self.cells.splice(self.cursor..self.cursor, blanks);
            }
            b'P' if self.cursor < end => {
                let last = (self.cursor + number).min(end);
                let deleted = self.cells.drain(self.cursor..last);
                let seen = deleted.filter(|(c, _)| !c.is_whitespace()).count();
                self.overwritten |= seen > 0;
            }
            b'X' => self.erase_count(number),
            _ => {}
        }
    }

    fn write(&mut self, c: char, raw_end: usize) {
        while self.cells.len() < self.cursor {
            self.cells.push((' ', 0));
        }
        match self.cells.get_mut(self.cursor) {
            Some(cell) => {
                let old = cell.0;
                self.overwritten |= old != c && old != ' ' && old != '_' && c != '_';
                *cell = (c, raw_end);
            }
            None => self.cells.push((c, raw_end)),
        }
        self.cursor += 1;
    }
}

/// Cleans a whole stream. With `cr_lines`, CRs end lines if the text has no LF.
pub(crate) fn cleaned(bytes: &[u8], carriage_return: CarriageReturn, cr_lines: bool) -> Cleaned {
    let mut cleaned = Cleaned::default();
    let mut line = Line::default();
    // The position of a CR, and true if the line was erased after it.
    let (mut cr, mut erased) = (None, false);
    let cr_lines = cr_lines && !bytes.contains(&b'\n');
    let carriage_return_ends = |cleaned: &mut Cleaned, line: &mut Line, at| match carriage_return {
        CarriageReturn::Overwrite if !cr_lines => line.erase_from(0),
        CarriageReturn::Marked => {
            line.cursor = line.cells.len();
            line.write('␍', at);
        }
        _ => end_line(cleaned, line, Some(at)),
    };
    let (mut nuls, mut last_nul) = (0, None);
    let mut previous = None;
    for (token, end) in tokens(bytes) {
        let stands_for = match token {
            Token::Text('\n', _) => None,
            Token::Text(c, len) => {
                let shown = match previous.take() {
                    Some(before) if is_spelling(before, c) => c.to_string(),
                    _ => shown(c),
                };
                previous = (shown.chars().eq([c])).then_some(c);
                Some((shown, len))
            }
            Token::Invalid(len) => {
                previous = None;
                Some(("\u{fffd}".to_owned(), len))
            }
            Token::Nul => {
                nuls = if last_nul == Some(end - 1) {
                    nuls + 1
                } else {
                    1
                };
                last_nul = Some(end);
                let mark = match nuls {
                    1..=8 => "␀",
                    9 => "…",
                    _ => continue,
                };
                previous = None;
                Some((mark.to_owned(), 1))
            }
            _ => None,
        };
        if let Some((shown, len)) = stands_for {
            if let Some(at) = cr.take() {
                carriage_return_ends(&mut cleaned, &mut line, at);
                erased = false;
            }
            let mut at = end - len;
            for c in shown.chars() {
                at = (at + c.len_utf8()).min(end);
                line.write(c, at);
            }
            continue;
        }
        match token {
            Token::Cr => cr = cr.or(Some(end)),
            Token::Backspace if cr.is_none() => line.cursor = line.cursor.saturating_sub(1),
            Token::EraseRight if cr.is_none() => {
                let cursor = line.cursor;
                line.erase_from(cursor);
            }
            Token::EraseLine => (cr, erased) = (cr.or(Some(end)), true),
            Token::EraseRight => erased = true,
            Token::Edit(b'D', _) if cr.is_some() => {}
            Token::Edit(edit, number) => {
                match cr.take() {
                    Some(at) if erased => carriage_return_ends(&mut cleaned, &mut line, at),
                    Some(_) => line.cursor = 0,
                    None => {}
                }
                erased = false;
                line.edit(edit, number);
            }
            Token::Backspace => {}
            Token::Text(..) => {
                (cr, previous, erased) = (None, None, false);
                end_line(&mut cleaned, &mut line, Some(end));
            }
            Token::Nul | Token::Invalid(_) => unreachable!("characters"),
        }
    }
    end_line(&mut cleaned, &mut line, None);
    if carriage_return == CarriageReturn::Newline
        && let Some(at) = cr
    {
        cleaned.text.push('\n');
        cleaned.raw_ends.push(at);
    }
    cleaned
}

/// Moves the line into the text; its line end, if any, is at `end` of the stream.
fn end_line(cleaned: &mut Cleaned, line: &mut Line, end: Option<usize>) {
    let line = std::mem::take(line);
    if line.overwritten {
        let number = cleaned.text.matches('\n').count();
        cleaned.overwritten.push(number);
    }
    // Everything before the line end belongs to the line, wherever in the stream it was printed.
    let mut before = cleaned.raw_ends.last().copied().unwrap_or(0);
    for (c, raw_end) in line.cells {
        before = before.max(raw_end);
        let first = before.saturating_sub(c.len_utf8());
        for at in 1..=c.len_utf8() {
            cleaned.raw_ends.push((first + at).min(before));
        }
        cleaned.text.push(c);
    }
    if let Some(end) = end {
        cleaned.text.push('\n');
        cleaned.raw_ends.push(end);
    }
}

/// Returns true if a joiner, a variation selector or a similar character belongs to the character
/// before it.
fn is_spelling(before: char, c: char) -> bool {
    let is_variation = |c| matches!(u32::from(c), 0xfe00..=0xfe0f);
    let is_base =
        !before.is_ascii() && !before.is_whitespace() && shown(before).chars().eq([before]);
    match u32::from(c) {
        0x200c | 0x200d => is_base || is_variation(before),
        0xfe0f => is_base || "#*0123456789".contains(before),
        0x34f | 0x180b..=0x180d | 0x180f | 0xfe00..=0xfe0e => is_base,
        _ => false,
    }
}

fn shown(c: char) -> String {
    match u32::from(c) {
        0xad
        | 0x34f
        | 0x61c
        | 0x115f..=0x1160
        | 0x17b4..=0x17b5
        | 0x180b..=0x180f
        | 0x200b..=0x200f
        | 0x2028..=0x202e
        | 0x2060..=0x206f
        | 0x3164
        | 0xfe00..=0xfe0f
        | 0xfeff
        | 0xffa0
        | 0xfff0..=0xfffb
        | 0x1bca0..=0x1bca3
        | 0x1d173..=0x1d17a
        | 0xe0000..=0xe0fff => format!("<U+{:04X}>", u32::from(c)),
        _ => c.to_string(),
    }
}

enum Token {
    Cr,
    Backspace,
    EraseRight,
    EraseLine,
    /// The last byte of a sequence that moves the cursor in the line or edits it, and its number.
    Edit(u8, usize),
    Nul,
    /// The number of undecodable bytes.
    Invalid(usize),
    /// A character and its length in bytes.
    Text(char, usize),
}

/// Returns the tokens of a stream, each with its end.
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
                        tokens.push((Token::Invalid(invalid), at));
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
        0x08 => tokens.push((Token::Backspace, end)),
        0 => tokens.push((Token::Nul, end)),
        b'\n' | b'\t' | 0x20..=0x7e => tokens.push((Token::Text(char::from(byte), 1), end)),
        _ => {}
    }
}

/// Skips the sequence whose ESC is at `at`; returns the position after the sequence.
fn escape(bytes: &[u8], mut at: usize, tokens: &mut Vec<(Token, usize)>) -> usize {
    #[derive(PartialEq)]
    enum Sequence {
        Esc,
        EscMore,
        Csi,
        Osc,
        Other,
    }
    let mut state = Sequence::Esc;
    at += 1;
    let mut body = 0u32;
    let mut parameters = String::new();
    while at < bytes.len() {
        let byte = bytes[at];
        let string = matches!(state, Sequence::Osc | Sequence::Other);
        match byte {
            0x1b => {
                state = Sequence::Esc;
                body = 0;
                parameters.clear();
            }
            0x18 | 0x1a => return at + 1,
            0x07 if state == Sequence::Osc => return at + 1,
            b'\n' if string => return at,
            _ if string && body == 1 << 20 => return at,
            _ if string => body += 1,
            0x80.. => return at,
            0x00..=0x1f => control_or_ascii(byte, at + 1, tokens),
            0x7f => {}
            _ => match state {
                Sequence::Esc => match byte {
                    b'[' => state = Sequence::Csi,
                    b']' => state = Sequence::Osc,
                    b'P' | b'X' | b'^' | b'_' => state = Sequence::Other,
                    0x20..=0x2f => state = Sequence::EscMore,
                    _ => return at + 1,
                },
                Sequence::EscMore if byte >= 0x30 => return at + 1,
                Sequence::Csi if byte >= 0x40 => {
                    let token = line_effect(&parameters, byte);
                    tokens.extend(token.map(|token| (token, at + 1)));
                    return at + 1;
                }
                Sequence::Csi => parameters.push(char::from(byte)),
                _ => {}
            },
        }
        at += 1;
    }
    at
}

/// Returns the effect of a control sequence on its line.
fn line_effect(parameters: &str, last: u8) -> Option<Token> {
    if !parameters.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match (parameters.trim_start_matches('0'), last) {
        ("" | "1", b'G') => Some(Token::Cr),
        ("2", b'K') => Some(Token::EraseLine),
        ("", b'K') => Some(Token::EraseRight),
        (number, b'C' | b'D' | b'G' | b'@' | b'P' | b'X') => {
            let number = number
                .parse()
                .unwrap_or(if number.is_empty() { 1 } else { 512 });
            Some(Token::Edit(last, number.min(512)))
        }
        _ => None,
    }
}
