//! Callbacks of the emulator: replies to queries that programs send to their terminal, and modes
//! that the emulator does not track.
//!
//! This module only assembles replies. The session's writer sends them, never the reader.

use crate::colors::TerminalColors;
use agent_bash_core::visible;
use std::fmt::Write as _;
use vt100::Screen;

/// Maximum size of unsent replies in bytes. A program that sends queries without reading the
/// replies gets no more replies.
const MAX_UNSENT_BYTES: usize = 16 * 1024;

/// Maximum length of a title in characters.
const MAX_TITLE_CHARS: usize = 256;

/// Entries of the Kitty keyboard stack, as recommended by its specification.
const MAX_KEYBOARD_STACK: usize = 16;

/// Reported width and height of a cell in pixels. There are no real pixels.
const CELL_PIXELS: (u32, u32) = (8, 16);

/// VT220 with colours (ECMA-48 DA1; xterm's `62;22`).
const PRIMARY_ATTRIBUTES: &str = "\x1b[?62;22c";

/// A VT100 without a version number: programs have no special case for it.
const SECONDARY_ATTRIBUTES: &str = "\x1b[>0;0;0c";

/// Pending replies, and modes that the emulator does not track.
#[derive(Debug)]
pub(crate) struct TerminalReplies {
    colors: TerminalColors,
    replies: String,
    pub(crate) title: String,
    pub(crate) focus_events: bool,
    /// Stacks of Kitty keyboard flags, for the main and the alternate screen: the last entry is in
    /// force.
    kitty: [Vec<u8>; 2],
}

impl TerminalReplies {
    pub(crate) fn new(colors: TerminalColors) -> Self {
        Self {
            colors,
            replies: String::new(),
            title: String::new(),
            focus_events: false,
            kitty: [Vec::new(), Vec::new()],
        }
    }

    /// Takes the pending replies.
    pub(crate) fn take_replies(&mut self) -> String {
        std::mem::take(&mut self.replies)
    }

    /// Resets the modes, for a full reset of the terminal.
    pub(crate) fn reset(&mut self) {
        self.focus_events = false;
        self.kitty = [Vec::new(), Vec::new()];
    }

    /// Returns the Kitty keyboard flags in force; 0 means off.
    pub(crate) fn kitty_flags(&self, alternate_screen: bool) -> u8 {
        let stack = &self.kitty[usize::from(alternate_screen)];
        stack.last().copied().unwrap_or(0)
    }

    /// Adds a reply, unless too many replies are pending.
    fn reply(&mut self, text: std::fmt::Arguments<'_>) {
        if self.replies.len() < MAX_UNSENT_BYTES {
            // Cannot fail for a string.
            let _ = self.replies.write_fmt(text);
        }
    }

    /// Changes the Kitty keyboard flags of a screen.
    fn set_kitty(&mut self, is_alternate: bool, change: KittyChange) {
        /// The bits that the protocol defines.
        const DEFINED_FLAGS: u8 = 0b1_1111;
        let current = self.kitty_flags(is_alternate);
        let stack = &mut self.kitty[usize::from(is_alternate)];
        match change {
            KittyChange::Push(flags) => {
                if stack.len() == MAX_KEYBOARD_STACK {
                    stack.remove(0);
                }
                stack.push(flags & DEFINED_FLAGS);
            }
            KittyChange::Pop(count) => {
                stack.truncate(stack.len().saturating_sub(usize::from(count)));
            }
            KittyChange::Set(flags, mode) => {
                let flags = flags & DEFINED_FLAGS;
                let flags = match mode {
                    2 => current | flags,
                    3 => current & !flags,
                    _ => flags,
                };
                stack.pop();
                stack.push(flags);
            }
        }
    }
}

/// A change to the Kitty keyboard flags.
#[derive(Debug, Clone, Copy)]
enum KittyChange {
    /// Pushes these flags.
    Push(u8),
    /// Removes this many entries.
    Pop(u16),
    /// Changes the flags in force: the flags, and the mode (2 adds, 3 removes, else replaces).
    Set(u8, u16),
}

impl vt100::Callbacks for TerminalReplies {
    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        let title = String::from_utf8_lossy(title);
        self.title = visible::one_line(&title)
            .chars()
            .take(MAX_TITLE_CHARS)
            .collect();
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        first: Option<u8>,
        second: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        let number = |index: usize| {
            let param = params.get(index).and_then(|param| param.first());
            param.copied().unwrap_or(0)
        };
        let is_alternate = screen.alternate_screen();
        let (rows, cols) = screen.size();
        let (rows, cols) = (rows.get(), cols.get());
        match (first, second, last, number(0)) {
            (None, None, 'c', 0) => self.reply(format_args!("{PRIMARY_ATTRIBUTES}")),
            (Some(b'>'), None, 'c', 0) => self.reply(format_args!("{SECONDARY_ATTRIBUTES}")),
            (Some(b'='), None, 'c', 0) => self.reply(format_args!("\x1bP!|00000000\x1b\\")),
            (None, None, 'n', 5) => self.reply(format_args!("\x1b[0n")),
            (None | Some(b'?'), None, 'n', 6) => {
                let mark = if first.is_some() { "?" } else { "" };
                let (row, col) = screen.cursor_position();
                // After the last column, the cursor is still reported in the last column.
                let (row, col) = (row + 1, (col + 1).min(cols));
                self.reply(format_args!("\x1b[{mark}{row};{col}R"));
            }
            (None, None, 't', 14) => {
                let (width, height) = (
                    CELL_PIXELS.0 * u32::from(cols),
                    CELL_PIXELS.1 * u32::from(rows),
                );
                self.reply(format_args!("\x1b[4;{height};{width}t"));
            }
            (None, None, 't', 16) => {
                self.reply(format_args!("\x1b[6;{};{}t", CELL_PIXELS.1, CELL_PIXELS.0));
            }
            (None, None, 't', 18) => self.reply(format_args!("\x1b[8;{rows};{cols}t")),
            (None, None, 't', 19) => self.reply(format_args!("\x1b[9;{rows};{cols}t")),
            (Some(b'?'), Some(b'$'), 'p', mode) => {
                let state = mode_state(screen, self.focus_events, mode);
                self.reply(format_args!("\x1b[?{mode};{state}$y"));
            }
            (Some(b'?'), None, 'u', _) => {
                let flags = self.kitty_flags(is_alternate);
                self.reply(format_args!("\x1b[?{flags}u"));
            }
            (Some(b'>'), None, 'u', flags) => {
                self.set_kitty(is_alternate, KittyChange::Push(low_byte(flags)));
            }
            (Some(b'<'), None, 'u', count) => {
                self.set_kitty(is_alternate, KittyChange::Pop(count.max(1)));
            }
            (Some(b'='), None, 'u', flags) => {
                self.set_kitty(is_alternate, KittyChange::Set(low_byte(flags), number(1)));
            }
            (Some(b'>'), None, 'q', 0) => {
                let version = env!("CARGO_PKG_VERSION");
                self.reply(format_args!("\x1bP>|agent-bash({version})\x1b\\"));
            }
            (Some(b'?'), None, 'h' | 'l', _) if params.contains(&&[1004][..]) => {
                self.focus_events = last == 'h';
            }
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut Screen, params: &[&[u8]]) {
        let [number, questions @ ..] = params else {
            return;
        };
        let number = std::str::from_utf8(number).ok();
        let Some(first) = number.and_then(|number| number.parse::<u8>().ok()) else {
            return;
        };
        // `OSC 10;?;?` asks for 10 and 11.
        for (number, _) in (first..=11)
            .zip(questions)
            .filter(|(number, question)| *number >= 10 && **question == b"?")
        {
            let color = if number == 10 {
                self.colors.foreground
            } else {
                self.colors.background
            };
            let [r, g, b] = color;
            self.reply(format_args!(
                "\x1b]{number};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}\x1b\\"
            ));
        }
    }
}

/// Returns the state of a private mode as in DECRPM: 1 set, 2 reset, 0 unknown.
fn mode_state(screen: &Screen, focus_events: bool, mode: u16) -> u8 {
    use vt100::{MouseProtocolEncoding as Encoding, MouseProtocolMode as Mouse};
    let mouse = screen.mouse_protocol_mode();
    let is_set = match mode {
        1 => screen.application_cursor(),
        9 => mouse == Mouse::Press,
        25 => !screen.hide_cursor(),
        47 | 1047 | 1049 => screen.alternate_screen(),
        1000 => mouse == Mouse::PressRelease,
        1002 => mouse == Mouse::ButtonMotion,
        1003 => mouse == Mouse::AnyMotion,
        1004 => focus_events,
        1006 => screen.mouse_protocol_encoding() == Encoding::Sgr,
        2004 => screen.bracketed_paste(),
        _ => return 0,
    };
    if is_set { 1 } else { 2 }
}

/// Returns the number as a byte; 0 if it is too large.
fn low_byte(number: u16) -> u8 {
    u8::try_from(number).unwrap_or(0)
}
