//! Lines typed into a program with a line editor, as they are shown afterwards.

use super::{PROMPT, in_the_interface, on_a_terminal, open_pager};
use anyhow::{Result, ensure};

/// Longer than the console is wide.
const LONG: &str = "import os, sys; x = [i for i in range(10)]; print(sum(x), len(x), max(x)) # and so on until it wraps";

const RAN: [&str; 6] = ["45 10 9", ">>> 1", "1", ">>> print(77)", "77", ">>>"];

/// Types into Python: recalls the long line and replaces it by another.
fn plays(tmux: &agent_bash_tests::tmux::Tmux<'_>) -> Result<()> {
    // The terminal would echo keys typed before the prompt.
    let prompts = |count| {
        tmux.until("it has a prompt", |screen| {
            screen.matches("│>>>").count() == count
        })
    };
    prompts(1)?;
    tmux.enters(LONG)?;
    prompts(2)?;
    tmux.enters("1")?;
    prompts(3)?;
    tmux.press(&["Up", "Up"])?;
    tmux.until("it is recalled", |screen| {
        screen.matches("import os").count() == 2
    })?;
    tmux.press(&["C-u"])?;
    tmux.types("print(77)")?;
    tmux.press(&["Enter"])?;
    tmux.shows("│77 ")?;
    prompts(4)?;
    tmux.press(&["C-d"])
}

#[test]
fn card_and_pager_show_the_executed_line() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("PYTHON_BASIC_REPL=1 python3 -q")?;
        plays(tmux)?;
        let screen = tmux.shows("╰ exit 0")?;
        let rows = RAN.map(|row| format!("│ {row}\n")).concat();
        ensure!(screen.contains(&rows), "{screen}");
        let screen = open_pager(tmux)?;
        let text: Vec<&str> = screen
            .lines()
            .filter_map(|row| row.split('│').nth(2))
            .collect();
        let text: Vec<&str> = text.iter().map(|row| row.trim_end()).collect();
        let begins = text
            .first()
            .is_some_and(|row| row.starts_with(">>> import os"));
        ensure!(begins && text[1..].starts_with(&RAN), "{screen}");
        tmux.press(&["q"])?;
        tmux.shows(PROMPT).map(drop)
    })
}

#[test]
fn result_contains_the_executed_line() -> Result<()> {
    on_a_terminal(|tmux, _| {
        tmux.enters("agent-bash run --pty --json 'PYTHON_BASIC_REPL=1 python3 -q'; echo left: $?")?;
        plays(tmux)?;
        let screen = tmux.shows("left: 0")?;
        let text = format!(">>> {LONG}\\n{}", RAN.join("\\n"));
        let text = text.replace('"', "\\\"");
        ensure!(screen.replace('\n', "").contains(&text), "{screen}");
        Ok(())
    })
}
