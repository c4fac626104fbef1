//! The pager: colours, and outputs that grow.

use super::in_the_interface;
use agent_bash_tests::poll;
use anyhow::{Context, Result, ensure};
use std::time::Duration;

/// How long a slow machine may take to draw something.
const SOON: Duration = Duration::from_secs(30);

/// Prints a line ten times a second.
const TICKS: &str = "seq 100; for i in {1..3000}; do echo tick $i; sleep 0.1; done";

#[test]
fn pager_shows_colours_and_searches_text() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("printf 'a \\e[31mr\\e[1med\\e[0m word\\e[2J\\e]52;c;eA==\\a\\n'; seq 30000")?;
        tmux.shows("all of it: artifact://")?;
        tmux.press(&["C-f"])?;
        tmux.shows("1 │a red word")?;
        let coloured = poll::until(SOON, || {
            let screen = tmux.coloured().ok()?;
            screen
                .contains("\u{1b}[38;5;1mr\u{1b}[1med")
                .then_some(screen)
        });
        coloured.context("the colour is not there")?;
        // The match spans several colours.
        tmux.press(&["/"])?;
        tmux.enters("a red w")?;
        tmux.shows("match 1/1")?;
        tmux.press(&["q"])?;
        // An output that fits on its card can be opened, too.
        tmux.press(&["C-l"])?;
        tmux.enters("printf 'one\\ntwo\\n'")?;
        tmux.shows("╰ exit 0")?;
        tmux.press(&["C-f"])?;
        tmux.shows("─ output  printf")?;
        tmux.shows("1 │one")?;
        tmux.press(&["/"])?;
        tmux.enters("tw")?;
        tmux.shows("▸2 │two")?;
        tmux.press(&["q"]).map(drop)
    })
}

#[test]
fn pager_search_wraps_and_numbers_jump_to_lines() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("seq 30000")?;
        tmux.shows("all of it: artifact://")?;
        tmux.press(&["C-f"])?;
        tmux.shows("1–27 of 30000")?;
        tmux.press(&["G", "/"])?;
        tmux.enters("^12$")?;
        tmux.shows("match 1/1 · from the top")?;
        tmux.shows("▸   12 │12")?;
        tmux.press(&["G", "?"])?;
        tmux.enters("5$")?;
        tmux.shows("match 3000/3000 · 29974–")?;
        tmux.press(&["n"])?;
        tmux.shows("match 2999/3000")?;
        tmux.types("50")?;
        tmux.shows("─ 50▏ · G to this line")?;
        tmux.press(&["G"])?;
        tmux.shows("50–76 of 30000")?;
        tmux.press(&["/", "Up"])?;
        tmux.shows("─ /5$▏")?;
        tmux.press(&["Enter"])?;
        tmux.shows("▸   55 │55")?;
        // The help opens at the page about the pager, and returns here.
        tmux.press(&["F1"])?;
        tmux.shows(" The pager and the diff ")?;
        tmux.types("\x1b[<65;5;6M")?;
        tmux.press(&["x"])?;
        tmux.shows("▸   55 │55")?;
        tmux.press(&["q", "C-g"])?;
        tmux.shows("Jobs  0 running")?;
        tmux.press(&["?"])?;
        tmux.shows(" Background jobs ")?;
        tmux.press(&["x", "q", "C-r"])?;
        tmux.shows("History  everywhere")?;
        tmux.press(&["F1"])?;
        tmux.shows(" The search of the history ")?;
        tmux.press(&["x", "C-g"])?;
        // A running output is followed, and searched from its beginning.
        tmux.enters(TICKS)?;
        tmux.shows("│ tick 3\n")?;
        tmux.press(&["C-f"])?;
        tmux.shows("following")?;
        tmux.press(&["/"])?;
        tmux.enters("^42$")?;
        tmux.shows("match 1/1 · from the top")?;
        tmux.shows("42 │42")?;
        tmux.press(&["q", "Escape"])?;
        tmux.shows("╰ cancelled").map(drop)
    })
}

/// The number of the last visible line, and of all lines.
fn position(screen: &str) -> Option<(u64, u64)> {
    let at = screen.rfind("–")?;
    let rest = &screen[at + "–".len()..];
    let mut words = rest.split_whitespace();
    let last = words.next()?.parse().ok()?;
    let total = words.nth(1)?.parse().ok()?;
    Some((last, total))
}

#[test]
fn growing_output_is_followed() -> Result<()> {
    in_the_interface("", |tmux, _| {
        let follows = || -> Result<()> {
            tmux.shows("following")?;
            let (_, before) = position(&tmux.screen()?).context("no position")?;
            tmux.until("more lines came", |screen| {
                position(screen).is_some_and(|(last, total)| last == total && total > before + 5)
            })?;
            // The position stays after the user has moved.
            tmux.press(&["Up"])?;
            let screen = tmux.shows("F follow")?;
            let (before, _) = position(&screen).context("no position")?;
            tmux.press(&["g"])?;
            let goes_on = poll::until(Duration::from_millis(1500), || {
                position(&tmux.screen().ok()?).filter(|(last, _)| *last > before)
            });
            ensure!(goes_on.is_none(), "{goes_on:?}, {before}");
            tmux.press(&["F"])?;
            tmux.shows("following")?;
            tmux.press(&["q"]).map(drop)
        };
        // A running command.
        tmux.enters(TICKS)?;
        tmux.shows("│ tick 3\n")?;
        tmux.press(&["C-f"])?;
        follows()?;
        tmux.press(&["Escape"])?;
        tmux.shows("╰ cancelled")?;
        // A job.
        tmux.press(&["C-l"])?;
        tmux.enters(&format!("{{ {TICKS}; }} & sleep 2"))?;
        tmux.shows("still running as job 1")?;
        tmux.press(&["C-g"])?;
        tmux.shows("Jobs  1 running")?;
        tmux.press(&["Enter"])?;
        tmux.shows("─ job 1  ")?;
        follows()?;
        tmux.press(&["x"])?;
        tmux.shows("end job 1?")?;
        tmux.press(&["y"])?;
        tmux.shows("job 1 was ended")?;
        tmux.press(&["Escape"]).map(drop)
    })
}
