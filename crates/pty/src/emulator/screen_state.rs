//! The third-party emulator, with its panics caught, and its screen as a plain [`Screen`].

use crate::PtySize;
use crate::colors::TerminalColors;
use crate::queries::TerminalReplies;
use agent_bash_core::{Attributes, Cell, CellColor, Cursor, Screen, ScreenModes};
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};
use vt100::MouseProtocolMode;

/// Number of lines in the scrollback.
const SCROLLBACK_LINES: usize = 1000;

/// The line in which a program gets the whole screen.
#[derive(Debug)]
pub(super) enum FullScreenLine {
    /// The line is empty.
    Empty,
    /// For readers, the line ends before the program.
    Ends,
    /// The line is visible again after the program. Later output continues it, or erases it, as git
    /// does with its hint about waiting for an editor.
    Continues(String),
}

/// The third-party emulator, and the values for creating a new one after a panic.
pub(super) struct EmulatorState {
    pub(super) parser: vt100::Parser<TerminalReplies>,
    pub(super) size: PtySize,
    pub(super) colors: TerminalColors,
}

impl EmulatorState {
    pub(super) fn is_alternate(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// True if a line editor has enabled bracketed paste.
    pub(super) fn is_prompt(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    pub(super) fn is_at_line_start(&self) -> bool {
        self.parser.screen().cursor_position().1 == 0
    }

    /// Returns the state of the line up to the cursor.
    pub(super) fn line_before_cursor(&self) -> FullScreenLine {
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

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.guarded(|parser| parser.process(bytes));
    }

    /// Runs code that may panic. After a panic, the screen is reset.
    pub(super) fn guarded(&mut self, work: impl FnOnce(&mut vt100::Parser<TerminalReplies>)) {
        let parser_now = &mut self.parser;
        if catch_panic(|| work(parser_now)).is_none() {
            self.parser = parser(self.size, self.colors);
        }
    }

    pub(super) fn text(&self) -> Vec<String> {
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

/// Runs code of the third-party emulator, which has had bugs that panic. After a panic, the session
/// continues.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work)).ok();
    if result.is_none() {
        tracing::error!("the terminal's emulator failed; its screen was reset");
    }
    result
}

/// Returns the length, at least 2, because the emulator fails with one column. [`PtySize`] already
/// allows only larger sizes.
pub(super) fn at_least_two(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length.max(2)).unwrap_or(NonZeroU16::MAX)
}

/// Creates the third-party emulator.
pub(super) fn parser(size: PtySize, colors: TerminalColors) -> vt100::Parser<TerminalReplies> {
    let (rows, cols) = (at_least_two(size.rows()), at_least_two(size.cols()));
    vt100::Parser::new_with_callbacks(rows, cols, SCROLLBACK_LINES, TerminalReplies::new(colors))
}

/// Converts the screen of the third-party emulator.
pub(super) fn snapshot(parser: &vt100::Parser<TerminalReplies>) -> Screen {
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
