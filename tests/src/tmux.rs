//! A person at a terminal: tmux plays the terminal, keys go in by name, what is on the screen comes out as text.

use crate::poll;
use crate::world::World;
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// What a slow machine may take to draw something.
const SOON: Duration = Duration::from_secs(30);

/// A terminal with a shell on it, in a world. Its server ends with it.
#[derive(Debug)]
pub struct Tmux<'a> {
    world: &'a World,
    socket: PathBuf,
}

impl<'a> Tmux<'a> {
    /// A terminal of that size, with a bash that shows its prompt.
    ///
    /// # Errors
    /// tmux is not there, or does not start.
    pub fn start(world: &'a World, cols: u16, rows: u16) -> Result<Self> {
        let tmux = Self {
            world,
            socket: world.home().join("tmux"),
        };
        let (cols, rows) = (cols.to_string(), rows.to_string());
        let shell = "PS1='ready> ' exec bash --norc --noprofile";
        tmux.call(&["new-session", "-d", "-x", &cols, "-y", &rows, shell])?;
        tmux.shows("ready>")?;
        Ok(tmux)
    }

    /// Presses keys by tmux's names for them: `Enter`, `C-d`, `Escape`, `PPage`.
    ///
    /// # Errors
    /// tmux is gone.
    pub fn press(&self, keys: &[&str]) -> Result<()> {
        self.call(&[&["send-keys"], keys].concat()).map(drop)
    }

    /// Types a text.
    ///
    /// # Errors
    /// tmux is gone.
    pub fn types(&self, text: &str) -> Result<()> {
        self.call(&["send-keys", "-l", "--", text]).map(drop)
    }

    /// Types a text, and Enter.
    ///
    /// # Errors
    /// tmux is gone.
    pub fn enters(&self, text: &str) -> Result<()> {
        self.types(text)?;
        self.press(&["Enter"])
    }

    /// Changes the terminal's size.
    ///
    /// # Errors
    /// tmux is gone.
    pub fn resize(&self, cols: u16, rows: u16) -> Result<()> {
        let (cols, rows) = (cols.to_string(), rows.to_string());
        self.call(&["resize-window", "-x", &cols, "-y", &rows])
            .map(drop)
    }

    /// What is on the screen.
    ///
    /// # Errors
    /// tmux is gone.
    pub fn screen(&self) -> Result<String> {
        self.call(&["capture-pane", "-p"])
    }

    /// Waits until `text` is on the screen, which it answers.
    ///
    /// # Errors
    /// It does not come; with what is there instead.
    pub fn shows(&self, text: &str) -> Result<String> {
        self.until(&format!("`{text}` is shown"), |screen| {
            screen.contains(text)
        })
    }

    /// Waits until `text` is no longer on the screen, which it answers.
    ///
    /// # Errors
    /// It does not go; with what is there.
    pub fn hides(&self, text: &str) -> Result<String> {
        self.until(&format!("`{text}` is gone"), |screen| {
            !screen.contains(text)
        })
    }

    /// Waits until the screen is as `is_right` wants it.
    ///
    /// # Errors
    /// It does not become so; with what is there.
    pub fn until(&self, what: &str, is_right: impl Fn(&str) -> bool) -> Result<String> {
        let mut last = String::new();
        let screen = poll::until(SOON, || {
            last = self.screen().unwrap_or_else(|error| format!("{error:#}"));
            is_right(&last).then(|| last.clone())
        });
        screen.with_context(|| format!("not so: {what}; on the screen is\n{last}"))
    }

    fn call(&self, words: &[&str]) -> Result<String> {
        let mut command = self.world.command("tmux");
        command
            .arg("-f")
            .arg("/dev/null")
            .arg("-S")
            .arg(&self.socket);
        let output = command.args(words).output().context("running tmux")?;
        let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), {
            let _ = write!(said, " ({})", words.join(" "));
            said
        });
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        // Gone already is gone.
        let _ = self.call(&["kill-server"]);
    }
}
