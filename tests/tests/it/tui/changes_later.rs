//! Later changes of a background process: on its card, in its diff, and undone.

use super::changes::{answer, files, with_changes};
use anyhow::{Result, ensure};
use std::fs;

/// While the process runs next to another command, its changes are on the card of the command that
/// started it, and on no other.
#[test]
fn background_changes_are_counted_shown_and_undone_with_their_command() -> Result<()> {
    with_changes("undo", |tmux, world| {
        let before = files(world)?;
        tmux.enters("(until [ -e ../go ]; do sleep 0.1; done; echo late > late.txt) & echo left")?;
        tmux.shows("job 1")?;
        tmux.enters("touch ../go; until [ -e late.txt ]; do sleep 0.1; done; echo innocent")?;
        let screen = tmux.shows("Δ later +1")?;
        ensure!(!screen.contains("Δ +1"), "{screen}");
        tmux.press(&["C-Up"])?;
        tmux.press(&["C-Up"])?;
        tmux.shows("enter diff · u undo")?;
        tmux.press(&["Enter"])?;
        tmux.shows("later, by the background process (changes ")?;
        tmux.shows("│+late")?;
        tmux.press(&["u"])?;
        answer(
            tmux,
            "Undo the later changes of the background process",
            "y",
        )?;
        tmux.shows("Δ later +1 undone")?;
        ensure!(files(world)? == before);
        Ok(())
    })
}

/// A loop that runs in parallel to lines has one change set per line.
#[test]
fn background_changes_are_one_entry_across_lines() -> Result<()> {
    const LOOP: &str = "(for i in 1 2 3; do until [ -e ../go$i ]; do sleep 0.1; done; echo $i >> steps.txt; echo $i > one$i.txt; done) & echo left";
    with_changes("undo", |tmux, world| {
        let before = files(world)?;
        tmux.enters(LOOP)?;
        tmux.shows("job 1")?;
        for i in 1..=3 {
            let line = format!(
                "touch ../go{i}; until [ -e one{i}.txt ]; do sleep 0.1; done; echo line-{i}"
            );
            tmux.enters(&line)?;
            tmux.shows(&format!("│ line-{i}\n"))?;
        }
        tmux.hides("1 job")?;
        tmux.shows("Δ later +4")?;
        let after = files(world)?;
        tmux.press(&["C-Up", "C-Up", "C-Up", "C-Up", "Enter"])?;
        // The changes are counted once in total.
        let screen = tmux.shows("│+ steps.txt ")?;
        ensure!(
            screen.contains("│+1") && screen.contains("│+2") && screen.contains("│+3"),
            "{screen}"
        );
        ensure!(screen.matches("│+ steps.txt").count() == 1, "{screen}");
        ensure!(screen.matches("│+ one2.txt").count() == 1, "{screen}");
        tmux.press(&["u"])?;
        let screen = tmux.shows("Undo the later changes of the background process (changes ")?;
        let title = screen
            .split_once("Undo the later changes of the background process (changes ")
            .map_or("", |it| it.1);
        let title = title.split_once(")?").map_or("", |it| it.0);
        ensure!(title.split(", ").count() == 3, "{screen}");
        ensure!(
            screen.contains("4 deleted") && screen.matches("− steps.txt").count() == 1,
            "{screen}"
        );
        answer(
            tmux,
            "Undo the later changes of the background process",
            "y",
        )?;
        tmux.shows("[Undone: 4 files as before the background process (changes ")?;
        tmux.shows("Δ later +4 undone")?;
        ensure!(files(world)? == before, "{:?}", files(world)?);
        tmux.press(&["r"])?;
        answer(
            tmux,
            "Redo the later changes of the background process (changes ",
            "y",
        )?;
        tmux.shows("[Done again: 4 files as the background process left them (changes ")?;
        ensure!(files(world)? == after, "{:?}", files(world)?);
        // Files with later changes by another process are left alone.
        let steps = world.cwd().join("steps.txt");
        fs::write(&steps, "mine\n")?;
        tmux.press(&["u"])?;
        let screen =
            tmux.shows("Undo the other later changes of the background process (changes ")?;
        ensure!(
            screen.contains("! steps.txt") && screen.contains("3 deleted"),
            "{screen}"
        );
        answer(
            tmux,
            "Undo the other later changes of the background process",
            "y",
        )?;
        tmux.shows("[Undone: 3 files as before the background process (changes ")?;
        tmux.shows("left as it is, as it was changed since: steps.txt")?;
        let mut want = before.clone();
        want.push(("steps.txt".to_owned(), "mine\n".to_owned()));
        ensure!(files(world)? == want, "{:?}", files(world)?);
        Ok(())
    })
}

/// A line has changed the same file in between: the undo reports this conflict.
#[test]
fn background_changes_are_undone_except_conflicts() -> Result<()> {
    const LOOP: &str = "(for i in 1 2; do until [ -e ../go$i ]; do sleep 0.1; done; echo $i >> steps.txt; touch ../done$i; done) & echo left";
    with_changes("undo", |tmux, world| {
        tmux.enters(LOOP)?;
        tmux.shows("job 1")?;
        tmux.enters("touch ../go1; until [ -e ../done1 ]; do sleep 0.1; done; echo line-1")?;
        tmux.shows("│ line-1\n")?;
        tmux.enters("echo mine >> steps.txt; echo line-2")?;
        tmux.shows("│ line-2\n")?;
        tmux.enters("touch ../go2; until [ -e ../done2 ]; do sleep 0.1; done; echo line-3")?;
        tmux.shows("│ line-3\n")?;
        tmux.hides("1 job")?;
        tmux.press(&["C-Up", "C-Up", "C-Up", "C-Up", "u"])?;
        tmux.shows("These files were changed in between")?;
        answer(
            tmux,
            "Undo the later changes of the background process",
            "y",
        )?;
        tmux.shows("[Undone: 1 file as before the background process (changes ")?;
        tmux.shows("[Not undone: steps.txt was changed since.]")?;
        tmux.shows("so this is not undone: changes ")?;
        let steps = fs::read_to_string(world.cwd().join("steps.txt"))?;
        ensure!(steps == "1\nmine\n", "{steps}");
        Ok(())
    })
}
