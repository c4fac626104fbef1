//! The screen of a terminal: processes programs' output, and provides a plain [`Screen`].
//!
//! The emulator also decides which output goes to the readers of a call's output. Readers do not
//! get output on the alternate screen, because that output is a sequence of redraws. When a program
//! leaves that screen or ends, readers get a line that says how long the program had the whole
//! screen.
//!
//! The same applies to a known full-screen program on the main screen, from its first jump to the
//! upper left corner until it restores the line discipline. For an edited line, readers get the
//! final text ([`LineInEdit`]).

use crate::PtySize;
use crate::colors::TerminalColors;
use crate::keys::InputModes;
use crate::line_in_edit::{LineInEdit, sequence_len};
use crate::queries::TerminalReplies;
use crate::sequence_filter::{OutputPiece, SequenceFilter};
use agent_bash_core::{Attributes, Cell, CellColor, Cursor, Screen, ScreenModes};
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use vt100::MouseProtocolMode;

/// Moves to the beginning of the line and erases it.
const ERASE_LINE: &[u8] = b"\r\x1b[K";

/// Number of lines in the scrollback.
const SCROLLBACK_LINES: usize = 1000;

/// A terminal's screen.
pub(crate) struct Emulator {
    filter: SequenceFilter,
    screen: EmulatorState,
    reader_output: ReaderOutput,
    /// The program that has the whole screen.
    program: Option<FullScreenProgram>,
    main_screen: Drawing,
}

/// A program that has the whole screen.
#[derive(Debug)]
struct FullScreenProgram {
    /// When the program got the screen.
    since: Duration,
    /// The line on the main screen at that time.
    line: FullScreenLine,
}

/// The line in which a program gets the whole screen.
#[derive(Debug)]
enum FullScreenLine {
    /// The line is empty.
    Empty,
    /// For readers, the line ends before the program.
    Ends,
    /// The line is visible again after the program. Later output continues it, or erases it, as git
    /// does with its hint about waiting for an editor.
    Continues(String),
}

/// Whether a known full-screen program draws on the main screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drawing {
    /// The program is not known as a full-screen program.
    NotExpected,
    /// A full-screen program is expected, and has not begun.
    Expected,
    /// The program draws. `was_raw`: canonical mode was off at some time while it drew.
    Now { was_raw: bool },
}

/// The third-party emulator, and the values for creating a new one after a panic.
struct EmulatorState {
    parser: vt100::Parser<TerminalReplies>,
    size: PtySize,
    colors: TerminalColors,
}

/// Output for readers.
#[derive(Default)]
struct ReaderOutput {
    bytes: Vec<u8>,
    /// True directly after the line that replaces a program. The last line end of the program is
    /// dropped.
    is_after_program: bool,
    /// The edit in progress.
    edited: Option<LineInEdit>,
    /// An edit of the line that was open before the last resize, if nothing was written since. Only
    /// this edit knows the rows of the line: the resize cuts them and no longer marks them as
    /// wrapped.
    resized: Option<LineInEdit>,
    /// True directly after the end of bracketed paste: readline sends a carriage return next.
    is_after_prompt: bool,
}

/// The result of processing a chunk.
#[derive(Debug, Default)]
pub(crate) struct ProcessedChunk {
    /// Output for the consumer.
    pub(crate) output: Vec<u8>,
    /// Replies for the program.
    pub(crate) replies: String,
}

impl Emulator {
    /// Creates an emulator. `is_full_screen`: the program is a known full-screen program.
    pub(crate) fn new(size: PtySize, colors: TerminalColors, is_full_screen: bool) -> Self {
        Self {
            filter: SequenceFilter::new(),
            screen: EmulatorState {
                parser: parser(size, colors),
                size,
                colors,
            },
            reader_output: ReaderOutput::default(),
            program: None,
            main_screen: if is_full_screen {
                Drawing::Expected
            } else {
                Drawing::NotExpected
            },
        }
    }

    /// Processes a program's output, split anywhere, which arrived at `now`. `raw`: canonical mode
    /// is off.
    pub(crate) fn process(&mut self, chunk: &[u8], now: Duration, raw: bool) -> ProcessedChunk {
        // On the alternate screen, the sequence that leaves that screen marks the end of the
        // program. On the main screen, restored canonical mode marks the end. If a program restores
        // canonical mode before its last output is read, readers get that output, too.
        if let Drawing::Now { was_raw } = &mut self.main_screen {
            if *was_raw && !raw && !self.screen.is_alternate() {
                self.main_screen = Drawing::NotExpected;
                self.reader_output
                    .add_program_line(self.program.take(), now);
            } else {
                *was_raw |= raw;
            }
        }
        let Self {
            filter,
            screen,
            reader_output,
            program,
            main_screen,
        } = self;
        filter.split(chunk, screen.size.cols(), |piece| match piece {
            OutputPiece::Bytes(bytes) => {
                if *main_screen == Drawing::Expected && jumps_to_upper_left(bytes) {
                    *main_screen = Drawing::Now { was_raw: raw };
                    let line = if screen.is_at_line_start() {
                        FullScreenLine::Empty
                    } else {
                        FullScreenLine::Ends
                    };
                    reader_output.end_edit(false);
                    program.get_or_insert(FullScreenProgram { since: now, line });
                }
                if program.is_some() {
                    screen.feed(bytes);
                } else {
                    reader_output.add_written(bytes, raw, screen);
                }
            }
            OutputPiece::PrivateModes(bytes) => {
                let (was_alternate, was_prompt) = (screen.is_alternate(), screen.is_prompt());
                let line = screen.line_before_cursor();
                screen.feed(supported_form(bytes));
                let is_prompt = screen.is_prompt();
                match (was_alternate, screen.is_alternate()) {
                    (false, true) => {
                        reader_output.end_edit(false);
                        program.get_or_insert(FullScreenProgram { since: now, line });
                    }
                    (true, false) => {
                        reader_output.add_program_line(program.take(), now);
                        *main_screen = Drawing::NotExpected;
                    }
                    _ if program.is_some() => {}
                    _ if was_prompt != is_prompt => {
                        reader_output.end_edit(false);
                        reader_output.add(bytes);
                        reader_output.is_after_prompt = was_prompt;
                    }
                    _ => reader_output.add_or_edit(bytes),
                }
            }
            OutputPiece::Reset(bytes) => {
                reader_output.end_edit(false);
                screen.feed(bytes);
                screen.parser.callbacks_mut().reset();
                reader_output.add_program_line(program.take(), now);
            }
        });
        if !raw && !self.screen.is_prompt() {
            self.reader_output.end_edit(false);
        }
        ProcessedChunk {
            output: std::mem::take(&mut self.reader_output.bytes),
            replies: self.screen.parser.callbacks_mut().take_replies(),
        }
    }

    /// Returns the rest of the output. There is a rest if a program ended on the alternate screen
    /// or during an edit.
    pub(crate) fn finish(&mut self, now: Duration) -> Vec<u8> {
        self.reader_output.end_edit(true);
        if self.program.is_none() {
            self.reader_output.add(&self.filter.finish());
        }
        self.reader_output
            .add_program_line(self.program.take(), now);
        std::mem::take(&mut self.reader_output.bytes)
    }

    pub(crate) fn resize(&mut self, size: PtySize) {
        self.screen.size = size;
        let (rows, cols) = (at_least_two(size.rows()), at_least_two(size.cols()));
        if self.program.is_none() {
            self.reader_output.resize(rows, cols, &self.screen);
        }
        self.screen.guarded(|parser| parser.set_size(rows, cols));
    }

    pub(crate) fn size(&self) -> PtySize {
        self.screen.size
    }

    /// Returns the modes that determine how keys are encoded.
    pub(crate) fn input_modes(&self) -> InputModes {
        let queries = self.screen.parser.callbacks();
        let screen = self.screen.parser.screen();
        InputModes {
            application_cursor: screen.application_cursor(),
            application_keypad: screen.application_keypad(),
            bracketed_paste: screen.bracketed_paste(),
            mouse: screen.mouse_protocol_mode(),
            mouse_encoding: screen.mouse_protocol_encoding(),
            focus_events: queries.focus_events,
            kitty: queries.kitty_flags(screen.alternate_screen()),
        }
    }

    pub(crate) fn is_alternate(&self) -> bool {
        self.screen.is_alternate()
    }

    /// Returns the screen, scrolled back by `lines_back` lines.
    pub(crate) fn snapshot(&mut self, lines_back: usize) -> Screen {
        let mut state = None;
        self.screen.guarded(|parser| {
            parser.screen_mut().set_scrollback(lines_back);
            state = Some(snapshot(parser));
            parser.screen_mut().set_scrollback(0);
        });
        state.unwrap_or_else(|| snapshot(&self.screen.parser))
    }

    /// Returns the text of the screen, line by line, without trailing blanks.
    pub(crate) fn text(&self) -> Vec<String> {
        self.screen.text()
    }
}

impl EmulatorState {
    fn is_alternate(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// True if a line editor has enabled bracketed paste.
    fn is_prompt(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    fn is_at_line_start(&self) -> bool {
        self.parser.screen().cursor_position().1 == 0
    }

    /// Returns the state of the line up to the cursor.
    fn line_before_cursor(&self) -> FullScreenLine {
        let screen = self.parser.screen();
        let (row, col) = screen.cursor_position();
        if col == 0 {
            return FullScreenLine::Empty;
        }
        if row > 0 && screen.row_wrapped(row - 1) {
            // The line began in a row above, which later output cannot change.
            return FullScreenLine::Ends;
        }
        FullScreenLine::Continues(screen.contents_between(row, 0, row, col))
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.guarded(|parser| parser.process(bytes));
    }

    /// Runs code that may panic. After a panic, the screen is reset.
    fn guarded(&mut self, work: impl FnOnce(&mut vt100::Parser<TerminalReplies>)) {
        let parser_now = &mut self.parser;
        if catch_panic(|| work(parser_now)).is_none() {
            self.parser = parser(self.size, self.colors);
        }
    }

    fn text(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .parser
            .screen()
            .rows(0, self.size.cols())
            .map(|line| line.trim_end().to_owned())
            .collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }
}

impl ReaderOutput {
    /// Adds written text to the output for readers, and draws it on the screen.
    fn add_written(&mut self, mut bytes: &[u8], raw: bool, screen: &mut EmulatorState) {
        if std::mem::take(&mut self.is_after_prompt) && screen.is_at_line_start() {
            bytes = bytes.strip_prefix(b"\r").unwrap_or(bytes);
        }
        let is_prompt = screen.is_prompt();
        if bytes.is_empty() {
            return;
        }
        let resized = self.resized.take();
        // A line end after a resize does not redraw the cut part of the line.
        let ended = if resized.is_some() {
            line_end_len(bytes)
        } else {
            0
        };
        if self.edited.is_none()
            && (raw || is_prompt)
            && let Some(offset) = LineInEdit::start_offset(&bytes[ended..], is_prompt)
        {
            let (before, edits) = bytes.split_at(ended + offset);
            screen.feed(before);
            self.add(before);
            let resized = resized.filter(|_| before.is_empty());
            self.edited = resized
                .or_else(|| catch_panic(|| LineInEdit::from_terminal(screen.parser.screen())));
            bytes = edits;
        }
        screen.feed(bytes);
        self.add_or_edit(bytes);
    }

    /// Adds output, or feeds it to the edit in progress.
    fn add_or_edit(&mut self, bytes: &[u8]) {
        let Some(edited) = &mut self.edited else {
            return self.add(bytes);
        };
        match catch_panic(|| edited.feed(bytes)) {
            Some(settled) => self.add(&settled),
            None => self.edited = None,
        }
    }

    /// Adds the final text of an edit.
    fn end_edit(&mut self, is_last: bool) {
        self.resized = None;
        if let Some(edited) = self.edited.take()
            && let Some(rest) = catch_panic(|| edited.end(is_last))
        {
            self.add(&rest);
        }
    }

    /// Sets a new size of the screen. Ends the edit first, because the resize may cut its rows.
    fn resize(&mut self, rows: NonZeroU16, cols: NonZeroU16, screen: &EmulatorState) {
        let before = self.resized.take();
        self.end_edit(false);
        self.resized = catch_panic(|| {
            let mut edited =
                before.unwrap_or_else(|| LineInEdit::from_terminal(screen.parser.screen()));
            edited.resize(rows, cols);
            edited
        });
    }

    /// Adds output for readers.
    fn add(&mut self, mut bytes: &[u8]) {
        if self.is_after_program {
            let blank = blank_len(bytes);
            self.is_after_program = blank == bytes.len() && !bytes.ends_with(b"\n");
            let (sequences, text) = bytes.split_at(blank);
            if let Some(sequences) = sequences.strip_suffix(b"\n") {
                self.bytes
                    .extend(sequences.iter().filter(|byte| **byte != b'\r'));
                bytes = text;
            }
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds the line that replaces a program that had the whole screen, if there is one.
    fn add_program_line(&mut self, program: Option<FullScreenProgram>, now: Duration) {
        let Some(FullScreenProgram { since, line }) = program else {
            return;
        };
        match line {
            FullScreenLine::Empty => {}
            FullScreenLine::Ends => self.add(b"\r\n"),
            FullScreenLine::Continues(_) => self.add(ERASE_LINE),
        }
        let seconds = now.saturating_sub(since).as_secs_f64();
        self.add(format!("[full-screen program, {seconds:.1} s]\r\n").as_bytes());
        match line {
            FullScreenLine::Continues(line) => self.add(line.as_bytes()),
            FullScreenLine::Empty | FullScreenLine::Ends => self.is_after_program = true,
        }
    }
}

/// Runs code of the third-party emulator, which has had bugs that panic. After a panic, the session
/// continues.
fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work)).ok();
    if result.is_none() {
        tracing::error!("the terminal's emulator failed; its screen was reset");
    }
    result
}

/// Returns the length of the output before the first text: sequences, and the line end after them,
/// if there is one. Sequences must be whole.
fn blank_len(bytes: &[u8]) -> usize {
    let mut offset = 0;
    while let Some(byte) = bytes.get(offset) {
        offset += match (byte, bytes.get(offset + 1)) {
            (b'\n', _) => return offset + 1,
            (b'\r', _) => 1,
            (0x1b, Some(b'[' | b'(' | b')' | b'=' | b'>' | b'7' | b'8')) => {
                sequence_len(&bytes[offset..])
            }
            _ => return offset,
        };
    }
    bytes.len()
}

/// Returns the length of the line end at the beginning of output; 0 if the output begins with text.
fn line_end_len(bytes: &[u8]) -> usize {
    let returns = bytes.iter().take_while(|byte| **byte == b'\r').count();
    match bytes.get(returns) {
        Some(b'\n') => returns + 1,
        _ => 0,
    }
}

/// True if output moves to the upper left corner, as full-screen programs do first. Sequences must
/// be whole.
fn jumps_to_upper_left(bytes: &[u8]) -> bool {
    let jumps: [&[u8]; 2] = [b"\x1b[H", b"\x1b[1;1H"];
    let has = |jump: &&[u8]| bytes.windows(jump.len()).any(|part| part == *jump);
    jumps.iter().any(has)
}

/// Returns the length, at least 2, because the emulator fails with one column. [`PtySize`] already
/// allows only larger sizes.
fn at_least_two(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length.max(2)).unwrap_or(NonZeroU16::MAX)
}

/// Creates the third-party emulator.
fn parser(size: PtySize, colors: TerminalColors) -> vt100::Parser<TerminalReplies> {
    let (rows, cols) = (at_least_two(size.rows()), at_least_two(size.cols()));
    vt100::Parser::new_with_callbacks(rows, cols, SCROLLBACK_LINES, TerminalReplies::new(colors))
}

/// Returns an equivalent sequence that the emulator supports. The emulator supports the modes 47
/// and 1049 for the alternate screen, but not 1047.
fn supported_form(sequence: &[u8]) -> &[u8] {
    match sequence {
        b"\x1b[?1047h" => b"\x1b[?47h",
        b"\x1b[?1047l" => b"\x1b[?47l",
        other => other,
    }
}

/// Converts the screen of the third-party emulator.
fn snapshot(parser: &vt100::Parser<TerminalReplies>) -> Screen {
    let screen = parser.screen();
    let (rows, cols) = screen.size();
    let (rows, cols) = (rows.get(), cols.get());
    let cells = (0..rows)
        .flat_map(|row| (0..cols).map(move |col| (row, col)))
        .map(|(row, col)| screen.cell(row, col).map(plain_cell).unwrap_or_default())
        .collect();
    let (row, col) = screen.cursor_position();
    Screen {
        rows,
        cols,
        cells,
        cursor: Cursor {
            row,
            col: col.min(cols - 1),
            visible: !screen.hide_cursor() && screen.scrollback() == 0,
        },
        title: parser.callbacks().title.clone(),
        modes: ScreenModes {
            alternate_screen: screen.alternate_screen(),
            application_cursor: screen.application_cursor(),
            application_keypad: screen.application_keypad(),
            bracketed_paste: screen.bracketed_paste(),
            mouse: screen.mouse_protocol_mode() != MouseProtocolMode::None,
            focus_events: parser.callbacks().focus_events,
        },
        scrollback: screen.scrollback_len(),
    }
}

fn plain_cell(cell: &vt100::Cell) -> Cell {
    Cell {
        text: cell.contents().to_owned(),
        wide: cell.is_wide(),
        foreground: plain_color(cell.fgcolor()),
        background: plain_color(cell.bgcolor()),
        attributes: Attributes {
            bold: cell.bold(),
            dim: cell.dim(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
        },
    }
}

fn plain_color(color: vt100::Color) -> CellColor {
    match color {
        vt100::Color::Default => CellColor::Default,
        vt100::Color::Idx(index) => CellColor::Indexed(index),
        vt100::Color::Rgb(r, g, b) => CellColor::Rgb(r, g, b),
    }
}

#[cfg(test)]
#[path = "emulator_tests.rs"]
mod tests;
