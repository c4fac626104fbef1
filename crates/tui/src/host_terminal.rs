//! Takes over the host's terminal and restores it on every exit path: return, error, panic, signal,
//! and while the program is suspended.

use crate::links::{LinkDestinations, ScreenLink, links};
use agent_bash::core::lock;
use agent_bash_render::normalise_widths;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, EnableMouseCapture, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen,
};
use crossterm::{execute, queue, terminal};
use ratatui::Terminal;
use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::layout::Size;
use std::io::{self, Stdout, Write as _};
use std::mem::ManuallyDrop;
use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex};

const SAVE_CURSOR: &str = "\x1b7";
const RESTORE_CURSOR: &str = "\x1b8";

/// The terminal while the interface owns it. Dropping this value restores the terminal.
pub(crate) struct HostTerminal {
    /// Never dropped: [`HostTerminal`] restores the terminal itself, and ratatui's drop panics if
    /// the terminal and stderr have disconnected.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    is_owned: bool,
    panic: CaughtPanic,
}

impl HostTerminal {
    /// Takes over the terminal: raw mode, alternate screen, mouse reporting, bracketed paste.
    pub(crate) fn acquire() -> io::Result<Self> {
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let mut host = Self {
            terminal: ManuallyDrop::new(terminal),
            is_owned: false,
            panic: CaughtPanic::install(),
        };
        host.reacquire()?;
        Ok(host)
    }

    /// Takes over the terminal again after [`Self::release`].
    pub(crate) fn reacquire(&mut self) -> io::Result<()> {
        terminal::enable_raw_mode()?;
        self.is_owned = true;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            EnableMouseCapture,
            EnableFocusChange,
            PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
        )?;
        // Not `Terminal::clear`: it queries the cursor position, and the event reader could read
        // the reply. A new `Terminal` redraws everything.
        execute!(io::stdout(), Clear(ClearType::All))?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let before = std::mem::replace(&mut self.terminal, ManuallyDrop::new(terminal));
        drop(ManuallyDrop::into_inner(before));
        Ok(())
    }

    /// Restores the terminal's original state.
    pub(crate) fn release(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_owned) {
            return Ok(());
        }
        let result = execute!(
            io::stdout(),
            // A panic may have interrupted a frame.
            EndSynchronizedUpdate,
            PopKeyboardEnhancementFlags,
            DisableFocusChange,
            DisableMouseCapture,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            crossterm::cursor::Show,
        );
        terminal::disable_raw_mode()?;
        result
    }

    /// Draws the changed cells, and adds links to `destinations`. The terminal shows only complete
    /// frames.
    pub(crate) fn draw(
        &mut self,
        destinations: &LinkDestinations,
        draw: impl FnOnce(&mut ratatui::Frame<'_>),
    ) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.draw_frame(destinations, draw)?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    fn draw_frame(
        &mut self,
        destinations: &LinkDestinations,
        draw: impl FnOnce(&mut ratatui::Frame<'_>),
    ) -> io::Result<()> {
        let frame = self.terminal.draw(|frame| {
            draw(frame);
            normalise_widths(frame.buffer_mut());
        })?;
        let links = links(frame.buffer, destinations);
        if links.is_empty() {
            return Ok(());
        }
        // The cells are written a second time, because ratatui has no links.
        let backend = self.terminal.backend_mut();
        write!(backend, "{SAVE_CURSOR}")?;
        for ScreenLink { uri, cells } in &links {
            write!(backend, "\x1b]8;;{uri}\x1b\\")?;
            backend.draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell)))?;
            write!(backend, "\x1b]8;;\x1b\\")?;
        }
        write!(backend, "{RESTORE_CURSOR}")
    }

    /// Puts a text into the terminal's clipboard (OSC 52). The terminal does not report whether it
    /// accepts the text.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        let coded = STANDARD.encode(text);
        let backend = self.terminal.backend_mut();
        write!(backend, "\x1b]52;c;{coded}\x07")?;
        io::Write::flush(backend)
    }

    pub(crate) fn size(&self) -> Size {
        self.terminal.size().unwrap_or_default()
    }
}

impl Drop for HostTerminal {
    fn drop(&mut self) {
        let _ = self.release();
        if std::thread::panicking()
            && let Some(message) = self.panic.message()
        {
            let _ = writeln!(io::stderr(), "{message}");
        }
    }
}

type PanicHook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// Collects panic messages instead of printing them on the screen. The interface prints the last
/// one when a panic ends it.
struct CaughtPanic {
    last_message: Arc<Mutex<Option<String>>>,
    previous_hook: Arc<PanicHook>,
}

impl CaughtPanic {
    fn install() -> Self {
        let before: Arc<PanicHook> = Arc::new(std::panic::take_hook());
        let last: Arc<Mutex<Option<String>>> = Arc::default();
        let message = Arc::clone(&last);
        std::panic::set_hook(Box::new(move |info| {
            *lock(&message) = Some(info.to_string());
        }));
        Self {
            last_message: last,
            previous_hook: before,
        }
    }

    fn message(&self) -> Option<String> {
        lock(&self.last_message).take()
    }
}

impl Drop for CaughtPanic {
    fn drop(&mut self) {
        // A panicking thread must not change the hook (that would panic again).
        if !std::thread::panicking() {
            let before = Arc::clone(&self.previous_hook);
            std::panic::set_hook(Box::new(move |info| before(info)));
        }
    }
}
