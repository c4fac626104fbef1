//! Keys in the help that no other test covers.

use super::{PROMPT, in_the_interface, interface, on_a_terminal};
use agent_bash_tests::tmux::Tmux;
use anyhow::{Context, Result, ensure};
use rustix::process::{Signal, kill_process};

#[test]
fn editing_keys_of_the_help_work() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.types("echo one twox")?;
        tmux.shows("❯ echo one twox")?;
        tmux.press(&["C-h"])?;
        tmux.press(&["C-Left", "Home", "C-Right", "DC"])?;
        tmux.types("_")?;
        tmux.shows("❯ echo _ne two")?;
        tmux.press(&["C-_", "C-/"])?;
        tmux.shows("❯ echo one two")?;
        tmux.press(&["End"])?;
        tmux.types("!")?;
        tmux.press(&["Enter"])?;
        tmux.shows("│ one two!")?;
        // Words are separated as in a shell.
        tmux.enters("clear")?;
        tmux.hides("│ one two!")?;
        tmux.enters("history")?;
        tmux.shows("ctrl+r searches the history")?;
        Ok(())
    })
}

#[test]
fn keys_of_the_help_work_in_lists_pager_and_console() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("mkdir d; touch d/aa d/ab d/ac")?;
        tmux.shows("╰ exit 0")?;
        tmux.types("ls d/")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ ls d/a")?;
        tmux.press(&["Tab"])?;
        tmux.shows("· tab ↑↓←→ select · enter take · esc close")?;
        tmux.press(&["BTab", "Enter"])?;
        tmux.shows("❯ ls d/ac")?;
        tmux.press(&["C-c"])?;
        tmux.enters("seq 30000")?;
        tmux.shows("all of it: artifact://")?;
        tmux.press(&["C-f"])?;
        tmux.shows("1–27 of 30000")?;
        tmux.press(&["Space"])?;
        tmux.shows("28–54 of 30000")?;
        tmux.press(&["b"])?;
        tmux.shows("1–27 of 30000")?;
        tmux.press(&["C-d"])?;
        tmux.shows("14–40 of 30000")?;
        tmux.press(&["C-u"])?;
        tmux.shows("1–27 of 30000")?;
        tmux.press(&["End"])?;
        tmux.shows("29974–30000 of 30000")?;
        tmux.press(&["Home"])?;
        tmux.shows("1–27 of 30000")?;
        tmux.press(&["q", "C-l", "C-t"])?;
        tmux.enters("seq 100; cat")?;
        tmux.shows("│100")?;
        tmux.press(&["S-PPage"])?;
        tmux.hides("│100")?;
        tmux.press(&["S-NPage"])?;
        tmux.shows("│100")?;
        tmux.press(&["Escape"])?;
        tmux.shows("╰ cancelled")?;
        Ok(())
    })
}

#[test]
fn click_keeps_the_keyboard_focus() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("echo before")?;
        tmux.shows("│ before")?;
        // The button is pressed in column 5 and row 6, and released.
        tmux.types("\x1b[<0;5;6M\x1b[<0;5;6m")?;
        tmux.shows("ctrl+↑ gives it the keys · esc back")?;
        tmux.types("echo you")?;
        tmux.shows("❯ echo you")?;
        tmux.press(&["C-c"])?;
        // With the keys of a card, Esc returns to the prompt and cancels nothing.
        tmux.enters("echo begun; sleep 300")?;
        tmux.shows("│ begun")?;
        tmux.press(&["C-Up"])?;
        tmux.shows("esc comes back to the prompt")?;
        tmux.press(&["Escape"])?;
        tmux.hides("esc comes back to the prompt")?;
        tmux.shows("esc to cancel")?;
        tmux.press(&["Escape"])?;
        tmux.shows("╰ cancelled")?;
        Ok(())
    })
}

/// The button is pressed in a column and a row, from 1, and released.
fn clicks(tmux: &Tmux<'_>, column: usize, row: usize) -> Result<()> {
    let at = format!("{column};{row}");
    tmux.types(&format!("\x1b[<0;{at}M\x1b[<0;{at}m"))
}

/// The row of the screen that has a text, from 1.
fn row_of(screen: &str, text: &str) -> Result<usize> {
    let at = screen.lines().position(|line| line.contains(text));
    at.map(|at| at + 1)
        .with_context(|| format!("{text} is not on the screen:\n{screen}"))
}

#[test]
fn click_selects_in_lists_and_moves_the_cursor() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("mkdir d; touch d/aa d/ab d/ac")?;
        tmux.shows("╰ exit 0")?;
        tmux.types("ls d/")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ ls d/a")?;
        tmux.press(&["Tab"])?;
        let screen = tmux.shows("  1 of 3 ·")?;
        let row = row_of(&screen, "  1 of 3 ·")? - 1;
        let list = screen.lines().nth(row - 1).unwrap_or_default();
        let column = list.find("ac").context("no ac")? + 1;
        clicks(tmux, column, row)?;
        tmux.shows("  3 of 3 ·")?;
        clicks(tmux, column, row)?;
        let screen = tmux.shows("❯ ls d/ac")?;
        // The click moves the cursor behind `ls`.
        clicks(tmux, 5, row_of(&screen, "❯ ls d/ac")?)?;
        tmux.types(" -l")?;
        tmux.shows("❯ ls -l d/ac")?;
        tmux.press(&["Enter"])?;
        tmux.shows("│ -rw")?;
        let screen = {
            tmux.press(&["C-r"])?;
            tmux.shows("History  everywhere")?;
            tmux.shows("mkdir d;")?
        };
        let lines: Vec<&str> = screen.lines().collect();
        let row = lines.iter().rposition(|line| line.contains(" mkdir d;"));
        let row = row.context("no row")? + 1;
        clicks(tmux, 30, row)?;
        clicks(tmux, 30, row)?;
        tmux.shows("❯ mkdir d;")?;
        tmux.press(&["C-c", "C-l"])?;
        tmux.enters("sleep 300 & sleep 2")?;
        tmux.shows("still running as job 1")?;
        tmux.enters("sleep 301 & sleep 2")?;
        tmux.shows("still running as job 2")?;
        tmux.press(&["C-g"])?;
        let screen = tmux.shows("output of job 2")?;
        clicks(tmux, 9, row_of(&screen, " 1 ")?)?;
        tmux.shows("output of job 1")?;
        for job in ["1", "2"] {
            tmux.press(&["x", "y"])?;
            tmux.shows(&format!("job {job} was ended"))?;
            tmux.press(&["k"])?;
        }
        tmux.press(&["Escape"]).map(drop)
    })
}

#[test]
fn interface_stopped_by_signal_is_redrawn_on_continue() -> Result<()> {
    in_the_interface("", |tmux, world| {
        tmux.enters("echo before")?;
        tmux.shows("│ before")?;
        let it = interface(world)?;
        kill_process(it, Signal::TSTP)?;
        tmux.shows("Stopped")?;
        tmux.enters("clear; stty -a | cmp - ../before && echo 'as it' was")?;
        tmux.shows("as it was")?;
        tmux.enters("fg")?;
        tmux.shows("│ before")?;
        // Without notice of the stop, the interface can only redraw its screen.
        kill_process(it, Signal::STOP)?;
        tmux.shows("Stopped")?;
        tmux.enters("fg")?;
        tmux.enters("echo after")?;
        tmux.shows("│ after")?;
        Ok(())
    })
}

#[test]
fn quit_signal_restores_the_terminal() -> Result<()> {
    on_a_terminal(|tmux, world| {
        tmux.enters("agent-bash tui; echo left: $?")?;
        tmux.shows(PROMPT)?;
        kill_process(interface(world)?, Signal::QUIT)?;
        tmux.shows("left: 131")?;
        // The shell is on its own screen again, which the shell does not restore.
        tmux.hides(PROMPT).map(drop)
    })
}

#[test]
fn prompt_leaves_a_removed_directory() -> Result<()> {
    on_a_terminal(|tmux, _| {
        tmux.enters("mkdir gone; cd gone; rmdir ../gone; agent-bash tui")?;
        tmux.shows(PROMPT)?;
        tmux.enters("cd /; echo in $PWD")?;
        let screen = tmux.shows("│ in /\n")?;
        // The rest is on another row if the directory has a long name.
        ensure!(screen.contains("cannot be entered"), "{screen}");
        // The next line begins where this one has ended.
        tmux.shows("╰ exit 0")?;
        tmux.enters("pwd")?;
        tmux.shows("│ /\n")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        tmux.enters("cd ..").map(drop)
    })
}
