//! Typing: completion, colours, scripts of more than one line.

use super::{PROMPT, in_the_interface, on_a_terminal};
use agent_bash_tests::poll;
use agent_bash_tests::tmux::Tmux;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::time::Duration;

/// How long a slow machine may take to draw something.
const SOON: Duration = Duration::from_secs(30);

/// The row of the prompt with its colours, once it holds `part`.
fn prompt(tmux: &Tmux<'_>, part: &str) -> Result<String> {
    let row = || {
        let screen = tmux.coloured().ok()?;
        let row = screen.lines().find(|line| line.contains('❯'))?;
        row.contains(part).then(|| row.to_owned())
    };
    poll::until(SOON, row).with_context(|| format!("no {part:?} in {:?}", tmux.coloured()))
}

#[test]
fn words_are_completed() -> Result<()> {
    in_the_interface("", |tmux, world| {
        fs::create_dir(world.cwd().join("some docs"))?;
        for file in ["notes.txt", "notes.old", ".hidden", "some docs/it's"] {
            fs::write(world.cwd().join(file), "what is in it\n")?;
        }
        // What all begin with, then a list to move in.
        tmux.types("cat no")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ cat notes.\n")?;
        tmux.press(&["Tab"])?;
        tmux.shows("1 of 2 · tab")?;
        tmux.press(&["Tab", "Enter"])?;
        tmux.shows("❯ cat notes.txt\n")?;
        tmux.press(&["Enter"])?;
        tmux.shows("│ what is in it")?;
        // Quoted for bash.
        tmux.types("cat so")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ cat some\\ docs/\n")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ cat some\\ docs/it\\'s\n")?;
        tmux.press(&["C-c"])?;
        tmux.types("cat .h")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ cat .hidden\n")?;
        tmux.press(&["C-c"])?;
        tmux.types("printf nothing-be")?;
        tmux.press(&["Tab"])?;
        tmux.shows("nothing completes this")?;
        tmux.press(&["C-c"])?;
        // Branches, which git itself is not asked for.
        tmux.enters("git init -q -b trunk && git -c user.name=a -c user.email=b -c maintenance.auto=false commit -q --allow-empty -m x")?;
        tmux.shows("⎇ trunk")?;
        tmux.types("git check")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ git checkout\n")?;
        tmux.types("tr")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ git checkout trunk\n")?;
        tmux.press(&["C-c"])?;
        Ok(())
    })
}

#[test]
fn an_unfinished_script_goes_on_in_the_next_line() -> Result<()> {
    in_the_interface("", |tmux, _| {
        for line in ["for word in one two; do", "echo \"<$word>\""] {
            tmux.enters(line)?;
        }
        tmux.shows("❯ for word in one two; do\n  echo \"<$word>\"")?;
        tmux.enters("done")?;
        tmux.shows("│ <one>\n│ <two>").map(drop)
    })
}

#[test]
fn what_is_typed_has_colours_and_what_is_wrong_a_line_below() -> Result<()> {
    /// Magenta, and the attribute of an underline.
    const KEYWORD: &str = "\u{1b}[38;5;5m";
    const UNDERLINED: &str = "\u{1b}[4m";
    in_the_interface("", |tmux, _| {
        tmux.types("if true; then echo 'a b'")?;
        let row = prompt(tmux, "'a b'")?;
        ensure!(row.contains(KEYWORD), "{row:?}");
        ensure!(
            !row.contains(UNDERLINED),
            "unfinished is not wrong: {row:?}"
        );
        tmux.press(&["C-c"])?;
        tmux.types("echo ) x")?;
        let row = prompt(tmux, "x")?;
        ensure!(row.contains(UNDERLINED), "{row:?}");
        tmux.press(&["C-c"])?;
        Ok(())
    })?;
    on_a_terminal(|tmux, _| {
        tmux.enters("NO_COLOR=1 agent-bash tui")?;
        tmux.shows(PROMPT)?;
        tmux.types("if true; then echo )")?;
        let row = prompt(tmux, "then")?;
        ensure!(!row.contains("38;5;"), "{row:?}");
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}
