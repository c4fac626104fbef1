//! Simulates a user at a terminal: tmux is the terminal, keys are sent by name, and the screen is
//! read as text.

use crate::poll;
use crate::world::World;
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time that a slow machine may take to draw.
const DRAW_TIMEOUT: Duration = Duration::from_secs(30);

/// The pause between two readings of the screen, in which the rest of a frame arrives.
const READING_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of readings of a screen that keeps changing.
const MAX_READINGS: u32 = 20;

/// A terminal with a shell, in a world. Dropping it ends the tmux server.
#[derive(Debug)]
pub struct Tmux<'a> {
    world: &'a World,
    socket: PathBuf,
}

impl<'a> Tmux<'a> {
    /// Starts a terminal of this size with a bash at its prompt.
    ///
    /// # Errors
    /// tmux is missing or does not start.
    pub fn start(world: &'a World, cols: u16, rows: u16) -> Result<Self> {
        Self::named(world, "tmux", cols, rows)
    }

    /// Starts a terminal as [`Self::start`] does, with a name, for a world with several terminals.
    ///
    /// # Errors
    /// tmux is missing or does not start.
    pub fn named(world: &'a World, name: &str, cols: u16, rows: u16) -> Result<Self> {
        let tmux = Self {
            world,
            socket: world.home().join(name),
        };
        let (cols, rows) = (cols.to_string(), rows.to_string());
        let shell = "PS1='ready> ' exec bash --norc --noprofile";
        tmux.call(&["new-session", "-d", "-x", &cols, "-y", &rows, shell])?;
        tmux.shows("ready>")?;
        Ok(tmux)
    }

    /// Presses keys, named as in tmux: `Enter`, `C-d`, `Escape`, `PPage`.
    ///
    /// # Errors
    /// tmux has ended.
    pub fn press(&self, keys: &[&str]) -> Result<()> {
        self.call(&[&["send-keys"], keys].concat()).map(drop)
    }

    /// Types a text.
    ///
    /// # Errors
    /// tmux has ended.
    pub fn types(&self, text: &str) -> Result<()> {
        self.call(&["send-keys", "-l", "--", text]).map(drop)
    }

    /// Types a text, then Enter.
    ///
    /// # Errors
    /// tmux has ended.
    pub fn enters(&self, text: &str) -> Result<()> {
        self.types(text)?;
        self.press(&["Enter"])
    }

    /// Resizes the terminal.
    ///
    /// # Errors
    /// tmux has ended.
    pub fn resize(&self, cols: u16, rows: u16) -> Result<()> {
        let (cols, rows) = (cols.to_string(), rows.to_string());
        self.call(&["resize-window", "-x", &cols, "-y", &rows])
            .map(drop)
    }

    /// The terminal's title, which escape sequences set.
    ///
    /// # Errors
    /// tmux has ended.
    pub fn title(&self) -> Result<String> {
        let title = self.call(&["display-message", "-p", "#{pane_title}"])?;
        Ok(title.trim().to_owned())
    }

    /// The text on the screen.
    ///
    /// # Errors
    /// tmux has ended.
    pub fn screen(&self) -> Result<String> {
        self.call(&["capture-pane", "-p"])
    }

    /// The screen with its colours, as escape sequences, and with the coloured blanks at the ends
    /// of rows.
    ///
    /// # Errors
    /// tmux has ended.
    pub fn coloured(&self) -> Result<String> {
        self.call(&["capture-pane", "-p", "-e", "-N"])
    }

    /// Writes everything that programs write to the terminal to a file, byte by byte.
    ///
    /// # Errors
    /// tmux has ended.
    pub fn record_to(&self, file: &Path) -> Result<()> {
        let into = format!("cat > {}", file.display());
        self.call(&["pipe-pane", &into]).map(drop)
    }

    /// Makes the terminal accept text for its clipboard.
    ///
    /// # Errors
    /// tmux has ended.
    pub fn enable_clipboard(&self) -> Result<()> {
        self.call(&["set-option", "-s", "set-clipboard", "on"])
            .map(drop)
    }

    /// The content of the clipboard.
    ///
    /// # Errors
    /// The clipboard is empty.
    pub fn clipboard(&self) -> Result<String> {
        self.call(&["show-buffer"])
    }

    /// Waits until `text` is on the screen; returns the screen.
    ///
    /// # Errors
    /// Timeout; shows the screen.
    pub fn shows(&self, text: &str) -> Result<String> {
        self.until(&format!("`{text}` is shown"), |screen| {
            screen.contains(text)
        })
    }

    /// Waits until `text` is no longer on the screen; returns the screen.
    ///
    /// # Errors
    /// Timeout; shows the screen.
    pub fn hides(&self, text: &str) -> Result<String> {
        self.until(&format!("`{text}` is gone"), |screen| {
            !screen.contains(text)
        })
    }

    /// Waits until `is_right` is true for a completely drawn screen. `expectation` describes such a
    /// screen in the error.
    ///
    /// # Errors
    /// Timeout; shows the screen.
    pub fn until(&self, expectation: &str, is_right: impl Fn(&str) -> bool) -> Result<String> {
        let mut last = String::new();
        let screen = poll::until(DRAW_TIMEOUT, || {
            last = self.screen().unwrap_or_else(|error| format!("{error:#}"));
            is_right(&last).then(|| last.clone())
        });
        let screen =
            screen.with_context(|| format!("not so: {expectation}; on the screen is\n{last}"))?;
        self.settled_screen(screen, is_right)
    }

    /// Returns the screen once two consecutive readings are equal, because tmux also shows
    /// incomplete frames. If the screen keeps changing, or is no longer right, returns the last
    /// reading.
    fn settled_screen(
        &self,
        mut screen: String,
        is_right: impl Fn(&str) -> bool,
    ) -> Result<String> {
        for _ in 0..MAX_READINGS {
            poll::pause(READING_INTERVAL);
            let next = self.screen()?;
            if next == screen || !is_right(&next) {
                break;
            }
            screen = next;
        }
        Ok(screen)
    }

    fn call(&self, words: &[&str]) -> Result<String> {
        let mut command = self.world.command("tmux");
        command
            .arg("-f")
            .arg("/dev/null")
            .arg("-S")
            .arg(&self.socket);
        let output = command.args(words).output().context("running tmux")?;
        let mut message = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), {
            let _ = write!(message, " ({})", words.join(" "));
            message
        });
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        // The server may have exited already.
        let _ = self.call(&["kill-server"]);
    }
}
