//! The screen of a terminal: processes programs' output, and provides a plain [`Screen`].
//!
//! The emulator also decides which output goes to the readers of a call's output. Readers do not
//! get output on the alternate screen, because that output is a sequence of redraws. When a program
//! leaves that screen or ends, readers get a line that says how long the program had the whole
//! screen.
//!
//! The same applies to a known full-screen program on the main screen, from its first jump to the
//! upper left corner until it restores the line discipline. For an edited line, readers get the
//! final text (`line_in_edit`).

mod reader_output;
mod screen_state;

use crate::PtySize;
use crate::colors::TerminalColors;
use crate::keys::InputModes;
use crate::sequence_filter::{OutputPiece, SequenceFilter};
use agent_bash_core::Screen;
use reader_output::{FullScreenProgram, ReaderOutput};
use screen_state::{EmulatorState, FullScreenLine, at_least_two, parser, snapshot};
use std::time::Duration;

/// A terminal's screen.
pub(crate) struct Emulator {
    filter: SequenceFilter,
    screen: EmulatorState,
    reader_output: ReaderOutput,
    /// The program that has the whole screen.
    program: Option<FullScreenProgram>,
    main_screen: Drawing,
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
                // Collecting the line is slow, and a program may hide its cursor thousands of
                // times.
                let line = if was_alternate || program.is_some() {
                    FullScreenLine::Empty
                } else {
                    screen.line_before_cursor()
                };
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
        self.reader_output.was_raw = raw && self.program.is_none();
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

/// True if output moves to the upper left corner, as full-screen programs do first. Sequences must
/// be whole.
fn jumps_to_upper_left(bytes: &[u8]) -> bool {
    let jumps: [&[u8]; 2] = [b"\x1b[H", b"\x1b[1;1H"];
    let has = |jump: &&[u8]| bytes.windows(jump.len()).any(|part| part == *jump);
    jumps.iter().any(has)
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

#[cfg(test)]
#[path = "emulator_tests.rs"]
mod tests;
