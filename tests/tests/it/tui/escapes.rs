//! Escape sequences that the interface sends to its terminal: frames, links, the clipboard.

use super::in_the_interface;
use agent_bash_tests::poll;
use anyhow::{Context, Result, ensure};
use std::time::Duration;
use vte::{Params, Parser, Perform};

/// How long a slow machine may take to draw something.
const SOON: Duration = Duration::from_secs(30);

/// A terminal's interpretation of the bytes.
#[derive(Debug, Default)]
struct EmulatedTerminal {
    on_alternate_screen: bool,
    in_frame: bool,
    frames: usize,
    /// Text on the alternate screen outside of a frame.
    half_drawn: String,
    /// The open link.
    link: Option<String>,
    /// Texts with a link, and their targets.
    links: Vec<(String, String)>,
}

impl EmulatedTerminal {
    fn of(bytes: &[u8]) -> Self {
        let mut terminal = Self::default();
        Parser::new().advance(&mut terminal, bytes);
        terminal
    }
}

impl Perform for EmulatedTerminal {
    fn print(&mut self, c: char) {
        if self.on_alternate_screen && !self.in_frame {
            self.half_drawn.push(c);
        }
        if self.link.is_some()
            && let Some((text, _)) = self.links.last_mut()
        {
            text.push(c);
        }
    }

    fn csi_dispatch(&mut self, params: &Params, marks: &[u8], _: bool, action: char) {
        let mode = params.iter().next().and_then(|it| it.first().copied());
        match (marks, mode, action) {
            (b"?", Some(1049), 'h' | 'l') => self.on_alternate_screen = action == 'h',
            (b"?", Some(2026), 'h' | 'l') => {
                self.in_frame = action == 'h';
                self.frames += usize::from(self.in_frame);
            }
            _ => {}
        }
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
        if let [b"8", _, uri] = params {
            let uri = String::from_utf8_lossy(uri).into_owned();
            self.link = Some(uri.clone()).filter(|uri| !uri.is_empty());
            if self.link.is_some() {
                self.links.push((String::new(), uri));
            }
        }
    }
}

#[test]
fn frames_are_complete_and_file_positions_are_links() -> Result<()> {
    in_the_interface("", |tmux, world| {
        let raw = world.cwd().join("../raw");
        tmux.record_to(&raw)?;
        // The screen is drawn once more, as a whole.
        tmux.press(&["C-z"])?;
        tmux.shows("Stopped")?;
        tmux.enters("fg")?;
        tmux.enters("echo src/main.rs:12:5 is wrong; seq 30000")?;
        tmux.shows("all of it: artifact://")?;
        tmux.press(&["C-l"])?;
        tmux.enters("echo src/main.rs:12:5 is wrong")?;
        tmux.shows("│ src/main.rs:12:5")?;
        let terminal = poll::until(SOON, || {
            let terminal = EmulatedTerminal::of(&std::fs::read(&raw).ok()?);
            let position = |it: &(String, String)| it.0 == "src/main.rs:12:5";
            terminal.links.iter().any(position).then_some(terminal)
        });
        let terminal = terminal.context("there is no link")?;
        ensure!(terminal.frames > 3, "{terminal:?}");
        ensure!(terminal.half_drawn.is_empty(), "{terminal:?}");
        let position = format!("file://{}#12", world.cwd().join("src/main.rs").display());
        ensure!(
            terminal
                .links
                .contains(&("src/main.rs:12:5".to_owned(), position)),
            "{:?}",
            terminal.links
        );
        let output = terminal
            .links
            .iter()
            .find(|it| it.0.starts_with("artifact://"));
        let (_, uri) = output.context("the full output is no link")?;
        let path = uri.strip_prefix("file://").context("of a file")?;
        let first = std::fs::read_to_string(path)?;
        ensure!(first.starts_with("src/main.rs:12:5 is wrong\n1\n"), "{uri}");
        Ok(())
    })
}

#[test]
fn copied_text_reaches_the_clipboard_with_whole_lines() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enable_clipboard()?;
        // Longer than a row: wrapped between words on the screen, and not in the clipboard.
        let long = "word ".repeat(60).trim_end().to_owned();
        tmux.enters("for i in {1..60}; do printf 'word '; done | sed 's/ $//'; echo; echo é")?;
        let screen = tmux.shows("╰ exit 0")?;
        ensure!(screen.contains("│ word word"), "{screen}");
        ensure!(
            !screen.contains("│ ord") && !screen.contains("│ d "),
            "{screen}"
        );
        tmux.press(&["C-Up", "y"])?;
        tmux.shows("copied the output")?;
        let wanted = format!("{long}\né\n");
        let copied = poll::until(SOON, || tmux.clipboard().ok().filter(|it| *it == wanted));
        copied.with_context(|| format!("in the clipboard: {:?}", tmux.clipboard()))?;
        tmux.press(&["C-Up", "Y"])?;
        tmux.shows("copied the command")?;
        let copied = poll::until(SOON, || {
            tmux.clipboard()
                .ok()
                .filter(|it| it.starts_with("for i in"))
        });
        copied.context("the command was not copied")?;
        tmux.press(&["Escape"]).map(drop)
    })
}
