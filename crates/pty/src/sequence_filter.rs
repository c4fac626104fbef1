//! A filter in front of the emulator: splits output into pieces, and limits sequences that the
//! emulator does not limit.
//!
//! The emulator stores operating system commands (OSC) of any length, and repeats a character any
//! number of times: a few bytes could cost megabytes and seconds. The filter limits numbers in
//! control sequences, truncates control strings, and drops sequences longer than any program sends.
//! Characters of the graphics set become Unicode. Four sequences that the emulator ignores
//! (`CSI s`, `CSI u`, IND and NEL) become their equivalents. Everything else passes unchanged.
//!
//! The filter also reports sequences that set or reset private modes (including the alternate
//! screen), and the full reset. The caller examines the screen before and after such sequences. An
//! incomplete character at the end of a chunk waits for the next chunk: the emulator's parser loses
//! output directly after such a character.

use crate::character_sets::CharacterSets;
use agent_bash_core::whole_characters;

/// Maximum length of an OSC that is passed on. Titles and links are shorter.
const MAX_OSC_BYTES: usize = 4096;

/// Maximum length of a control sequence. The longest in use (SGR with every attribute) has fewer
/// than 200 bytes.
const MAX_SEQUENCE_BYTES: usize = 256;

/// Maximum number in cursor movements, insertions and the like: more than the size of any screen,
/// and the number that programs use for "as far as possible".
const MAX_PARAMETER: u32 = 999;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputPiece<'a> {
    /// Any other output.
    Bytes(&'a [u8]),
    /// A complete sequence that sets or resets private modes.
    PrivateModes(&'a [u8]),
    /// `ESC c`, a full reset.
    Reset(&'a [u8]),
}

/// The parser's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParserState {
    Ground,
    /// After ESC, which is held back. `sent`: the ESC has been passed on, because it ended a
    /// string.
    Escape {
        sent: bool,
    },
    /// After ESC and an intermediate byte; 0 after several intermediate bytes.
    Intermediate(u8),
    /// In a control sequence, which is held back.
    Sequence,
    /// In a control sequence that is too long.
    DroppedSequence,
    /// In an OSC, with its length so far.
    Command(usize),
    /// In an OSC that is too long.
    DroppedCommand,
    /// In another control string, which the emulator does not store.
    ControlString,
}

/// The filter. Its pieces do not depend on how the output was split into chunks.
#[derive(Debug)]
pub(crate) struct SequenceFilter {
    state: ParserState,
    /// The current control sequence from its ESC on.
    sequence: Vec<u8>,
    /// Bytes waiting for their piece to be complete.
    bytes: Vec<u8>,
    character_sets: CharacterSets,
    /// The sets that `ESC 7` or `CSI s` has saved.
    saved_sets: CharacterSets,
}

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;

impl SequenceFilter {
    pub(crate) fn new() -> Self {
        Self {
            state: ParserState::Ground,
            sequence: Vec::new(),
            bytes: Vec::new(),
            character_sets: CharacterSets::default(),
            saved_sets: CharacterSets::default(),
        }
    }

    /// Splits a chunk into pieces. `cols` is the width of the screen.
    pub(crate) fn split(
        &mut self,
        chunk: &[u8],
        cols: u16,
        mut piece: impl FnMut(OutputPiece<'_>),
    ) {
        for byte in chunk {
            self.step(*byte, cols, &mut piece);
        }
        let whole = whole_characters(&self.bytes);
        if whole > 0 {
            piece(OutputPiece::Bytes(&self.bytes[..whole]));
            self.bytes.drain(..whole);
        }
    }

    /// Returns the waiting bytes at the end of all output.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Passes on the waiting bytes as a piece.
    fn flush(&mut self, piece: &mut impl FnMut(OutputPiece<'_>)) {
        if !self.bytes.is_empty() {
            piece(OutputPiece::Bytes(&self.bytes));
            self.bytes.clear();
        }
    }

    /// Processes one byte.
    fn step(&mut self, byte: u8, cols: u16, piece: &mut impl FnMut(OutputPiece<'_>)) {
        match (self.state, byte) {
            // CAN and SUB cancel the current sequence in any state.
            (
                ParserState::Escape { .. } | ParserState::Sequence | ParserState::DroppedSequence,
                CAN | SUB,
            ) => {
                self.sequence.clear();
                self.bytes.push(byte);
                self.state = ParserState::Ground;
            }
            (ParserState::Sequence | ParserState::DroppedSequence, ESC) => {
                self.sequence.clear();
                self.state = ParserState::Escape { sent: false };
            }
            (ParserState::Command(_) | ParserState::ControlString, ESC) => {
                self.bytes.push(byte);
                self.state = ParserState::Escape { sent: true };
            }
            (ParserState::Escape { .. }, ESC) => {}
            (_, ESC) => self.state = ParserState::Escape { sent: false },
            (ParserState::Command(_), BEL | CAN | SUB)
            | (ParserState::ControlString, CAN | SUB) => {
                self.bytes.push(byte);
                self.state = ParserState::Ground;
            }
            (ParserState::Ground, 0x20..) => match self.character_sets.graphic(byte) {
                Some(character) => {
                    let mut buffer = [0; 4];
                    let encoded = character.encode_utf8(&mut buffer);
                    self.bytes.extend_from_slice(encoded.as_bytes());
                }
                None => self.bytes.push(byte),
            },
            // Control characters inside a sequence are executed.
            (ParserState::Ground | ParserState::Escape { .. } | ParserState::Sequence, 0..0x20) => {
                self.character_sets.control(byte);
                self.bytes.push(byte);
            }
            (ParserState::ControlString, _) => self.bytes.push(byte),
            (ParserState::Escape { sent }, _) => self.after_escape(byte, sent, piece),
            (ParserState::Intermediate(intermediate), _) => {
                self.bytes.push(byte);
                match byte {
                    0x30..=0x7e => {
                        self.character_sets.designate(intermediate, byte);
                        self.state = ParserState::Ground;
                    }
                    CAN | SUB => self.state = ParserState::Ground,
                    0x20..=0x2f => self.state = ParserState::Intermediate(0),
                    _ => {}
                }
            }
            (ParserState::Sequence, 0x20..=0x3f) => {
                self.sequence.push(byte);
                if self.sequence.len() > MAX_SEQUENCE_BYTES {
                    self.sequence.clear();
                    self.state = ParserState::DroppedSequence;
                }
            }
            (ParserState::Sequence, 0x40..=0x7e) => {
                self.state = ParserState::Ground;
                self.sequence.push(byte);
                self.end_of_sequence(cols, piece);
            }
            (ParserState::DroppedSequence, 0x40..=0x7e)
            | (ParserState::DroppedCommand, BEL | CAN | SUB) => {
                self.state = ParserState::Ground;
            }
            // Bytes that no sequence may contain, and bytes of dropped sequences.
            (
                ParserState::Sequence | ParserState::DroppedSequence | ParserState::DroppedCommand,
                _,
            ) => {}
            (ParserState::Command(length), _) if length >= MAX_OSC_BYTES => {
                // Ends the string for the emulator.
                self.bytes.push(CAN);
                self.state = ParserState::DroppedCommand;
            }
            (ParserState::Command(length), _) => {
                self.bytes.push(byte);
                self.state = ParserState::Command(length + 1);
            }
        }
    }

    /// Processes the byte after ESC.
    fn after_escape(&mut self, byte: u8, sent: bool, piece: &mut impl FnMut(OutputPiece<'_>)) {
        // The byte is not valid after ESC. Like the emulator, the filter keeps waiting.
        if byte >= 0x7f {
            return;
        }
        if byte == b'[' {
            self.sequence.extend_from_slice(&[ESC, byte]);
            self.state = ParserState::Sequence;
            return;
        }
        if byte == b'c' {
            self.flush(piece);
            piece(OutputPiece::Reset(&[ESC, byte]));
            self.character_sets = CharacterSets::default();
            self.state = ParserState::Ground;
            return;
        }
        // IND and NEL, which the emulator ignores.
        let movement: &[u8] = match byte {
            b'D' => b"\n",
            b'E' => b"\r\n",
            _ => b"",
        };
        if !movement.is_empty() {
            if sent {
                // Completes the end of the string.
                self.bytes.push(b'\\');
            }
            self.bytes.extend_from_slice(movement);
            self.state = ParserState::Ground;
            return;
        }
        match byte {
            b'7' => self.saved_sets = self.character_sets,
            b'8' => self.character_sets = self.saved_sets,
            _ => {}
        }
        if !sent {
            self.bytes.push(ESC);
        }
        self.bytes.push(byte);
        self.state = match byte {
            b']' => ParserState::Command(0),
            b'P' | b'X' | b'^' | b'_' => ParserState::ControlString,
            0x20..=0x2f => ParserState::Intermediate(byte),
            _ => ParserState::Ground,
        };
    }

    /// Passes on a complete control sequence, with limited numbers.
    fn end_of_sequence(&mut self, cols: u16, piece: &mut impl FnMut(OutputPiece<'_>)) {
        let sequence = std::mem::take(&mut self.sequence);
        let (Some(last), Some(first)) = (sequence.last(), sequence.get(2)) else {
            return;
        };
        match &*sequence {
            // A soft reset.
            b"\x1b[!p" => self.character_sets = CharacterSets::default(),
            b"\x1b[s" => self.saved_sets = self.character_sets,
            b"\x1b[u" => self.character_sets = self.saved_sets,
            _ => {}
        }
        match (first, last) {
            // The emulator ignores these forms of `ESC 7` and `ESC 8`.
            (b's', _) => self.bytes.extend_from_slice(b"\x1b7"),
            (b'u', _) => self.bytes.extend_from_slice(b"\x1b8"),
            (b'?', b'h' | b'l') => {
                self.flush(piece);
                piece(OutputPiece::PrivateModes(&sequence));
            }
            (_, b'b') => clamp(&sequence, u32::from(cols), &mut self.bytes),
            (_, b'@'..=b'P' | b'S' | b'T' | b'X' | b'`' | b'a' | b'd' | b'e') => {
                clamp(&sequence, MAX_PARAMETER, &mut self.bytes);
            }
            _ => self.bytes.extend_from_slice(&sequence),
        }
        self.sequence = sequence;
        self.sequence.clear();
    }
}

/// Copies a sequence with every number in it limited to `largest`.
fn clamp(sequence: &[u8], largest: u32, out: &mut Vec<u8>) {
    let mut rest = sequence;
    while let Some(first) = rest.first() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            out.push(*first);
            rest = &rest[1..];
            continue;
        }
        let number = rest[..digits].iter().fold(0u32, |number, digit| {
            number
                .saturating_mul(10)
                .saturating_add(u32::from(digit - b'0'))
        });
        if number > largest {
            out.extend_from_slice(largest.to_string().as_bytes());
        } else {
            out.extend_from_slice(&rest[..digits]);
        }
        rest = &rest[digits..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the filtered output, and the number of private-mode and reset pieces.
    fn filtered(chunks: &[&[u8]]) -> (Vec<u8>, usize) {
        let mut filter = SequenceFilter::new();
        let (mut out, mut pieces) = (Vec::new(), 0);
        for chunk in chunks {
            filter.split(chunk, 100, |piece| match piece {
                OutputPiece::Bytes(bytes) => out.extend_from_slice(bytes),
                OutputPiece::PrivateModes(bytes) | OutputPiece::Reset(bytes) => {
                    out.extend_from_slice(bytes);
                    pieces += 1;
                }
            });
        }
        (out, pieces)
    }

    #[test]
    fn unlimited_sequences_are_limited() {
        let title = |length| {
            [
                b"\x1b]2;".to_vec(),
                vec![b'x'; length],
                b"\x07after".to_vec(),
            ]
            .concat()
        };
        let cut = [
            b"\x1b]2;".to_vec(),
            vec![b'x'; MAX_OSC_BYTES - 2],
            b"\x18after".to_vec(),
        ]
        .concat();
        let long = [b"\x1b[".to_vec(), vec![b'0'; 300], b"1bafter".to_vec()].concat();
        for (text, wanted) in [
            (b"x\x1b[65535b".to_vec(), b"x\x1b[100b".to_vec()),
            (b"\x1b[3b".to_vec(), b"\x1b[3b".to_vec()),
            (b"\x1b[99999;7H".to_vec(), b"\x1b[999;7H".to_vec()),
            (b"\x1b[4294967296999L".to_vec(), b"\x1b[999L".to_vec()),
            (
                b"\x1b[38;2;255;0;10000m".to_vec(),
                b"\x1b[38;2;255;0;10000m".to_vec(),
            ),
            (b"\x1b[655\xff35b".to_vec(), b"\x1b[100b".to_vec()),
            (b"\x1b\n[65535b".to_vec(), b"\n\x1b[100b".to_vec()),
            (long, b"after".to_vec()),
            (title(100), title(100)),
            (title(100_000), cut),
            (b"\x1b]8;;u\x1b\\a".to_vec(), b"\x1b]8;;u\x1b\\a".to_vec()),
            (b"\x1b]2;\x1b[\rm".to_vec(), b"\x1b]2;\x1b\r\x1b[m".to_vec()),
        ] {
            assert_eq!(
                filtered(&[&text]).0,
                wanted,
                "{:?}",
                text.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn graphics_become_unicode() {
        for (text, wanted) in [
            ("\x1b(0lqk\x1b(Bq", "\x1b(0┌─┐\x1b(Bq"),
            ("\x1b)0q\x0eqé\x0fq", "\x1b)0q\x0e─é\x0fq"),
            ("\x1b(0\x1b7\x1b(Bq\x1b8q", "\x1b(0\x1b7\x1b(Bq\x1b8─"),
            ("\x1b(0\x1b[s\x1b(Bq\x1b[uq", "\x1b(0\x1b7\x1b(Bq\x1b8─"),
            ("\x1b(0\x1b[!pq", "\x1b(0\x1b[!pq"),
            ("\x1b(0\x1bcq", "\x1b(0\x1bcq"),
            // Control sequences, titles and other character sets are not text.
            ("\x1b(0\x1b[m\x1b]2;q\x07x", "\x1b(0\x1b[m\x1b]2;q\x07│"),
            ("\x1b*0q\x1b(%0q", "\x1b*0q\x1b(%0q"),
        ] {
            for at in 0..text.len() {
                let (before, after) = text.as_bytes().split_at(at);
                let shown = String::from_utf8(filtered(&[before, after]).0).unwrap();
                assert_eq!(shown, wanted, "{at}");
            }
        }
    }

    #[test]
    fn ignored_sequences_become_equivalents() {
        for (text, wanted) in [
            (&b"a\x1b[sb\x1b[uc"[..], &b"a\x1b7b\x1b8c"[..]),
            (b"a\x1bDb\x1bEc", b"a\nb\r\nc"),
            (b"\x1b]2;t\x1bEc", b"\x1b]2;t\x1b\\\r\nc"),
            // Margins, and the keyboard protocol of kitty.
            (
                b"\x1b[1;9s\x1b[>1u\x1b[<u\x1b[?u",
                b"\x1b[1;9s\x1b[>1u\x1b[<u\x1b[?u",
            ),
        ] {
            assert_eq!(
                filtered(&[text]).0,
                wanted,
                "{:?}",
                text.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn private_modes_are_pieces_of_their_own() {
        for (text, wanted) in [
            (&b"a\x1b[?1049hb\x1b[?1049lc"[..], 2),
            (b"\x1bc", 1),
            (b"\x1b[?25h", 1),
            (b"\x1b[?6n\x1b[4h\x1b]2;\x07\x1b[31m", 0),
        ] {
            assert_eq!(filtered(&[text]), (text.to_vec(), wanted), "{text:?}");
        }
    }

    #[test]
    fn pieces_never_split_a_character() {
        let text = "aéaé漢x";
        let pieces = |chunks: std::slice::Chunks<'_, u8>| {
            let (mut filter, mut pieces) = (SequenceFilter::new(), Vec::new());
            for chunk in chunks {
                filter.split(chunk, 100, |piece| match piece {
                    OutputPiece::Bytes(bytes) => pieces.push(bytes.to_vec()),
                    OutputPiece::PrivateModes(_) | OutputPiece::Reset(_) => {}
                });
            }
            pieces.push(filter.finish());
            pieces
        };
        for size in 1..text.len() {
            for piece in pieces(text.as_bytes().chunks(size)) {
                assert!(std::str::from_utf8(&piece).is_ok(), "{size} {piece:?}");
            }
        }
        let unfinished = pieces(b"a\xc3".chunks(2));
        assert_eq!(unfinished, [b"a".to_vec(), b"\xc3".to_vec()]);
    }

    /// Bytes that are likely to form sequences, without numbers that would be clamped.
    fn output() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"\x1b[".to_vec()),
            Just(b"\x1b]2;".to_vec()),
            Just(b"\x1b[?1049".to_vec()),
            Just(b"\x1bP".to_vec()),
            Just(b"\x1b\\".to_vec()),
            "[0-9]{1,2};".prop_map(String::into_bytes),
            "[hlmHJKLMbABCDSTX@rncu]".prop_map(String::into_bytes),
            prop::collection::vec(
                any::<u8>().prop_filter("a digit", |b| !b.is_ascii_digit()),
                0..4
            ),
            "[a-zé漢😀\u{301}\r\n\t]{0,6}".prop_map(String::into_bytes),
        ];
        prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn pieces_do_not_depend_on_chunks(bytes in output(), at in 0usize..400) {
            let at = at.min(bytes.len());
            prop_assert_eq!(filtered(&[&bytes]), filtered(&[&bytes[..at], &bytes[at..]]));
        }

        #[test]
        fn screen_is_the_same_without_the_filter(bytes in output()) {
            // The filter translates graphics, and the sequences with these final bytes.
            let translated = |byte: &u8| matches!(byte, b'(' | b')' | b's' | b'u' | b'D' | b'E');
            let bytes: Vec<u8> = bytes.into_iter().filter(|byte| !translated(byte)).collect();
            let (rows, cols) = (24.try_into().unwrap(), 100.try_into().unwrap());
            let mut with = vt100::Parser::new(rows, cols, 10);
            let mut without = vt100::Parser::new(rows, cols, 10);
            with.process(&filtered(&[&bytes]).0);
            without.process(&bytes);
            prop_assert_eq!(with.screen().state_formatted(), without.screen().state_formatted());
        }
    }
}
