//! Changes of commands in the interface: counted, shown, confirmed, undone; and the question before
//! a call leaves the sandbox.

use super::{PROMPT, in_the_interface, on_a_terminal};
use agent_bash_tests::poll;
use agent_bash_tests::tmux::Tmux;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::time::Duration;

/// Longer than a question ignores keys, at its start.
const IGNORED: Duration = Duration::from_millis(700);

/// Answers the question that contains this text.
pub(super) fn answer(tmux: &Tmux<'_>, question: &str, key: &str) -> Result<()> {
    tmux.shows(question)?;
    poll::pause(IGNORED);
    tmux.press(&[key])?;
    tmux.hides(question).map(drop)
}

/// The files of the world's directory with their contents.
pub(super) fn files(world: &World) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(world.cwd())? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push((name, fs::read_to_string(entry.path())?));
        }
    }
    files.sort();
    Ok(files)
}

/// The interface in a directory with some files, at that level of recording. It is quit at the end.
pub(super) fn with_changes(
    level: &str,
    play: impl FnOnce(&Tmux<'_>, &World) -> Result<()>,
) -> Result<()> {
    on_a_terminal(|tmux, world| {
        fs::write(world.cwd().join("a.txt"), "before\n")?;
        fs::write(world.cwd().join("old.txt"), "old\n")?;
        tmux.enters(&format!("export AGENT_BASH_CHANGES_LEVEL={level}"))?;
        tmux.enters("agent-bash tui")?;
        tmux.shows(PROMPT)?;
        play(tmux, world)?;
        // Back from the selected card.
        tmux.press(&["Escape"])?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

#[test]
fn changes_of_a_call_are_counted_shown_and_undone() -> Result<()> {
    const COMMAND: &str = "echo after > a.txt; rm old.txt; echo new > n1; echo new > n2";
    with_changes("undo", |tmux, world| {
        let before = files(world)?;
        tmux.enters(COMMAND)?;
        tmux.shows("· Δ +2 ~1 −1")?;
        let after = files(world)?;
        ensure!(before != after, "{after:?}");
        tmux.press(&["C-Up"])?;
        tmux.shows("enter diff · u undo · y Y copy")?;
        tmux.press(&["Enter"])?;
        // The title shows the counts; the card shows them, too.
        let screen = tmux.shows("changes://1  ")?;
        for line in ["│-before", "│+after", "│− old.txt", "│-old", "│+ n1"] {
            ensure!(screen.contains(line), "{line}: {screen}");
        }
        // `n` moves on to the next match, until none is left.
        tmux.press(&["/"])?;
        tmux.enters("Old|New")?;
        tmux.shows("`Old|New` was not found")?;
        tmux.press(&["/"])?;
        tmux.enters("^(old|new)$")?;
        tmux.shows("▸+new")?;
        tmux.shows("match 1/3 · 1–")?;
        tmux.press(&["n", "n"])?;
        tmux.shows("▸-old")?;
        tmux.shows("n N match")?;
        tmux.press(&["/", "Enter"])?;
        let screen = tmux.shows("n N file")?;
        ensure!(!screen.contains('▸'), "{screen}");
        tmux.press(&["q"])?;
        tmux.hides("changes://1  ")?;
        // The user declines the question.
        tmux.press(&["u"])?;
        let screen = tmux.shows("Undo changes 1?")?;
        // A long path wraps the line.
        let words = screen.split(['│', ' ', '\n']);
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        for text in ["2 deleted", "+ old.txt", "− n1"] {
            ensure!(words.join(" ").contains(text), "{text}: {screen}");
        }
        answer(tmux, "Undo changes 1?", "n")?;
        ensure!(files(world)? == after, "it was not wanted");
        tmux.press(&["u"])?;
        answer(tmux, "Undo changes 1?", "y")?;
        tmux.shows("[Undone: 4 files as before call 1.]")?;
        tmux.shows("Δ +2 ~1 −1 undone")?;
        ensure!(files(world)? == before, "{:?}", files(world)?);
        tmux.press(&["r"])?;
        answer(tmux, "Redo changes 1?", "y")?;
        tmux.shows("[Done again: 4 files as after call 1.]")?;
        ensure!(files(world)? == after, "{:?}", files(world)?);
        // A file that another process changes during the question is not touched; the other files
        // can be undone.
        tmux.press(&["u"])?;
        tmux.shows("Undo changes 1?")?;
        fs::write(world.cwd().join("a.txt"), "by hand\n")?;
        answer(tmux, "Undo changes 1?", "y")?;
        tmux.shows("a.txt was changed since. The other 3 can be undone alone.]")?;
        let screen = tmux.shows("`u` again asks whether to undo only those")?;
        ensure!(screen.contains("[Done again: 4 files"), "{screen}");
        tmux.press(&["u"])?;
        tmux.shows("! a.txt")?;
        answer(tmux, "Undo the other files of changes 1?", "y")?;
        tmux.shows("[Undone: 3 files as before call 1.]")?;
        tmux.shows("as it was changed since: a.txt")?;
        let mut want = before.clone();
        "by hand\n".clone_into(&mut want[0].1);
        ensure!(files(world)? == want, "{:?}", files(world)?);
        // A partly undone change set is marked as such, and can be redone.
        tmux.shows("Δ +2 ~1 −1 undone in part")?;
        tmux.shows("u undo · r redo")?;
        tmux.press(&["u"])?;
        let screen = tmux.shows("[Not undone: a.txt was changed since.]")?;
        ensure!(screen.contains("[Undone: 3 files"), "{screen}");
        tmux.press(&["r"])?;
        answer(tmux, "Redo changes 1?", "y")?;
        tmux.shows("[Done again: 3 files as after call 1.]")?;
        tmux.hides("in part")?;
        let mut want = after.clone();
        "by hand\n".clone_into(&mut want[0].1);
        ensure!(files(world)? == want, "{:?}", files(world)?);
        Ok(())
    })
}

#[test]
fn changes_of_user_lines_are_counted_and_undone() -> Result<()> {
    with_changes("undo", |tmux, world| {
        let before = files(world)?;
        tmux.enters("(exit 3)")?;
        tmux.shows("· ✗ exit 3")?;
        tmux.enters("!rm old.txt")?;
        tmux.shows(" Δ −1")?;
        // In the last line: the last command, of the model or the user.
        tmux.shows("· ✓ exit 0")?;
        ensure!(files(world)? != before, "it was not removed");
        tmux.press(&["C-Up", "u"])?;
        answer(tmux, "Undo changes 2?", "y")?;
        tmux.shows("[Undone: 1 file as before call 2.]")?;
        ensure!(files(world)? == before, "{:?}", files(world)?);
        // The card's changes and all later ones are one question.
        tmux.press(&["U"])?;
        answer(tmux, "Redo all since then (changes 2)?", "y")?;
        tmux.shows("[Done again: 1 file of changes 2.]")?;
        ensure!(files(world)? != before, "it was not removed again");
        tmux.press(&["U"])?;
        answer(tmux, "Undo all since then (changes 2)?", "y")?;
        tmux.shows("[Undone: 1 file of changes 2.]")?;
        ensure!(files(world)? == before, "{:?}", files(world)?);
        Ok(())
    })
}

#[test]
fn changed_special_files_are_shown_with_their_kind() -> Result<()> {
    with_changes("undo", |tmux, _| {
        tmux.enters("ln -s /ab/target link; mkfifo pipe; mkdir empty")?;
        tmux.shows(" Δ +3")?;
        tmux.press(&["C-Up", "Enter"])?;
        let screen = tmux.shows("│+/ab/target")?;
        for line in [
            "│+ link  symbolic link", "│+ pipe  named pipe", "│+ empty  directory",
        ] {
            ensure!(screen.contains(line), "{line}: {screen}");
        }
        ensure!(
            !screen.contains("@@") && !screen.contains("newline"),
            "{screen}"
        );
        tmux.press(&["q", "Escape"])
    })
}

#[test]
fn changes_made_in_an_editor_are_undone() -> Result<()> {
    with_changes("undo", |tmux, world| {
        let before = files(world)?;
        tmux.enters("vim -u NONE a.txt")?;
        tmux.shows("▸ vim -u NONE a.txt · ctrl+] force-kill")?;
        tmux.shows("before")?;
        tmux.types("otyped")?;
        tmux.press(&["Escape"])?;
        tmux.enters(":wq")?;
        tmux.shows("· Δ ~1")?;
        ensure!(files(world)?[0].1 == "before\ntyped\n", "it was written");
        tmux.press(&["C-Up", "u"])?;
        answer(tmux, "Undo changes 1?", "y")?;
        tmux.shows("[Undone: 1 file as before call 1.]")?;
        ensure!(files(world)? == before, "{:?}", files(world)?);
        Ok(())
    })
}

#[test]
fn unrecorded_call_has_no_counts_and_no_keys() -> Result<()> {
    with_changes("off", |tmux, world| {
        tmux.enters("rm old.txt")?;
        let screen = tmux.shows("╰ exit 0")?;
        ensure!(!screen.contains('Δ'), "{screen}");
        tmux.press(&["C-Up", "u"])?;
        let screen = tmux.shows("nothing to undo: no changes are recorded")?;
        ensure!(!screen.contains("Undo"), "{screen}");
        ensure!(!world.cwd().join("old.txt").exists(), "it was removed");
        Ok(())
    })
}

#[test]
fn trial_is_held_until_it_is_decided() -> Result<()> {
    with_changes("off", |tmux, world| {
        let before = files(world)?;
        tmux.types("rm old.txt; echo x > a.txt")?;
        tmux.shows("f3 try it")?;
        tmux.press(&["F3"])?;
        tmux.shows("Δ ~1 −1 held")?;
        ensure!(files(world)? == before, "it is held back");
        tmux.press(&["C-Up", "Enter"])?;
        tmux.shows("│+x")?;
        tmux.press(&["d"])?;
        answer(tmux, "Discard the changes of trial 1?", "y")?;
        tmux.shows("Δ ~1 −1 discarded")?;
        ensure!(files(world)? == before, "it was discarded");
        // The same again, now confirmed; refused while a file has later changes by another process.
        tmux.press(&["F3"])?;
        tmux.shows("Δ ~1 −1 held")?;
        fs::write(world.cwd().join("a.txt"), "by hand\n")?;
        tmux.press(&["C-Up", "c"])?;
        tmux.shows("[Trial 2 not applied: a.txt was changed by another process meanwhile.]\n│ → `R` tries it again")?;
        ensure!(world.cwd().join("old.txt").exists(), "nothing was done");
        tmux.press(&["F3"])?;
        tmux.shows("[Trial 3: nothing applied yet.")?;
        tmux.press(&["C-Up", "C-Up", "C-Down", "c"])?;
        answer(tmux, "Commit the changes of trial 3?", "y")?;
        tmux.shows("Δ ~1 −1 committed")?;
        let want = [("a.txt".to_owned(), "x\n".to_owned())];
        ensure!(files(world)? == want, "{:?}", files(world)?);
        Ok(())
    })
}

#[test]
fn quitting_names_undecided_trials() -> Result<()> {
    on_a_terminal(|tmux, world| {
        fs::write(world.cwd().join("old.txt"), "old\n")?;
        let start = || {
            tmux.enters("clear; agent-bash tui --state s")?;
            tmux.shows(PROMPT)
        };
        start()?;
        tmux.types("rm old.txt")?;
        tmux.press(&["F3"])?;
        tmux.shows("Δ −1 held")?;
        tmux.press(&["C-d"])?;
        tmux.shows("not decided: trial 1: rm old.txt · Δ −1\n")?;
        tmux.shows("to commit or discard: agent-bash changes list --state s\n")?;
        // Trials of earlier runs are named as long as they are held. Trials without changes need no
        // decision.
        start()?;
        tmux.shows(
            "A trial of an earlier run waits for your decision:\n  trial 1: rm old.txt · Δ −1\n",
        )?;
        tmux.shows("· 1 trial waits")?;
        tmux.types("rm -f old.txt")?;
        tmux.press(&["F3"])?;
        tmux.shows("· 2 trials wait")?;
        tmux.press(&["F6", "d"])?;
        answer(tmux, "Discard the changes of trial 2?", "y")?;
        tmux.shows("· 1 trial waits")?;
        tmux.press(&["Escape"])?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-d"])?;
        tmux.shows("not decided: trial 1: rm old.txt · Δ −1\n")?;
        start()?;
        tmux.enters("agent-bash changes discard 1 --state s")?;
        tmux.hides("trial waits")?;
        tmux.types("cat old.txt")?;
        tmux.press(&["F3"])?;
        let screen = tmux.shows("│ [a trial: it changes no file]\n╰ exit 0")?;
        ensure!(!screen.contains("held"), "{screen}");
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        tmux.enters("echo it is left")?;
        let screen = tmux.shows("\nit is left\n")?;
        ensure!(!screen.contains("not decided"), "{screen}");
        tmux.enters("clear; agent-bash changes list --state s | grep -c held")?;
        tmux.shows("0\nready>")?;
        Ok(())
    })
}

/// The trial is decided by a command in the interface itself, and by one in another terminal.
#[test]
fn trial_decided_elsewhere_is_updated() -> Result<()> {
    on_a_terminal(|tmux, world| {
        tmux.enters("clear; agent-bash tui --state s")?;
        tmux.shows(PROMPT)?;
        for name in ["one", "two", "three"] {
            tmux.types(&format!("echo x > {name}.txt"))?;
            tmux.press(&["F3"])?;
            tmux.shows(&format!("$ echo x > {name}.txt"))?;
            tmux.shows("held")?;
        }
        tmux.shows("· 3 trials wait")?;
        tmux.enters("!agent-bash changes commit 1 --state s")?;
        tmux.shows("[Trial 1 was committed elsewhere.]")?;
        tmux.shows("Δ +1 committed")?;
        tmux.shows("· 2 trials wait")?;
        // Without a command that ends at the same time.
        let decide = |args: &[&str]| {
            let program = agent_bash_tests::product::agent_bash()?;
            let mut command = world.command(program);
            let done = command
                .arg("changes")
                .args(args)
                .args(["--state", "s"])
                .status()?;
            ensure!(done.success(), "{args:?}");
            Ok(())
        };
        decide(&["discard", "3"])?;
        tmux.press(&["F6"])?;
        tmux.shows("[Trial 3 was discarded elsewhere.]")?;
        tmux.shows("· 1 trial waits")?;
        tmux.press(&["F6"])?;
        tmux.shows("c commit · d discard · y Y copy")?;
        decide(&["commit", "2"])?;
        tmux.press(&["c"])?;
        let screen = tmux.shows("[Trial 2 was committed elsewhere.]")?;
        ensure!(!screen.contains("Commit the changes of trial"), "{screen}");
        tmux.hides("trial waits")?;
        tmux.press(&["Escape"])?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

/// Their diffs and counts show their own changes, whatever was changed later. The user's own lines
/// are named if they changed a file later.
#[test]
fn f6_shows_trials_of_earlier_runs_for_decision() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let notes = world.cwd().join("notes.txt");
        fs::write(&notes, "one\ntwo\n")?;
        let start = || {
            tmux.enters("clear; agent-bash tui --state s")?;
            tmux.shows(PROMPT)
        };
        start()?;
        for command in ["sed -i s/one/ONE/ notes.txt", "echo made > made.txt"] {
            tmux.types(command)?;
            tmux.press(&["F3"])?;
            tmux.shows(&format!("$ {command}"))?;
            tmux.shows("held")?;
        }
        tmux.shows("· 2 trials wait")?;
        tmux.enters("echo five >> notes.txt")?;
        tmux.shows("Δ ~1\n")?;
        tmux.press(&["C-d"])?;
        let why = "1 file was changed since: it can no longer be committed";
        let left = "trial 1: sed -i s/one/ONE/ notes.txt · Δ ~1\n";
        tmux.shows(&format!("not decided: {left}  {why}\n"))?;
        start()?;
        tmux.shows(&format!("{left}    {why}\n"))?;
        tmux.press(&["F6"])?;
        tmux.shows("$ echo made > made.txt\n│ f6 selects it · enter diff · c commit · d discard\n╰ a trial of an earlier run · Δ +1 held")?;
        tmux.press(&["c"])?;
        answer(tmux, "Commit the changes of trial 2?", "y")?;
        tmux.shows("[Trial 2 applied: 1 created.]")?;
        ensure!(world.cwd().join("made.txt").exists());
        tmux.press(&["F6", "Enter"])?;
        let diff = tmux.shows("+ONE")?;
        ensure!(!diff.contains("five"), "{diff}");
        ensure!(
            diff.contains("changed since: this can no longer be committed"),
            "{diff}"
        );
        tmux.press(&["q", "c"])?;
        let refused =
            tmux.shows("not applied: notes.txt was changed since, by: echo five >> notes.txt")?;
        // The recorded command may be cut, so it is not run again from here.
        ensure!(!refused.contains("`R`"), "{refused}");
        tmux.shows("→ `Y` copies its command, `d` discards it")?;
        tmux.shows("d discard · Y copy command · esc back")?;
        tmux.press(&["d"])?;
        answer(tmux, "Discard the changes of trial 1?", "y")?;
        tmux.hides("trial waits")?;
        tmux.press(&["Escape"])?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        tmux.enters("clear; agent-bash changes list --state s")?;
        tmux.shows("discarded  1 changed")?;
        ensure!(fs::read_to_string(&notes)? == "one\ntwo\nfive\n");
        Ok(())
    })
}

#[test]
fn file_names_and_contents_cannot_control_the_terminal() -> Result<()> {
    with_changes("undo", |tmux, _| {
        tmux.enters(r"printf '\033[2Jx\n' > $'n\033]0;t\a'")?;
        tmux.shows("Δ +1")?;
        tmux.press(&["C-Up", "Enter"])?;
        tmux.shows("+ n<U+001B>]0;t<U+0007>")?;
        tmux.shows("+<U+001B>[2Jx")?;
        tmux.press(&["u"])?;
        tmux.shows("− n<U+001B>]0;t<U+0007>")?;
        answer(tmux, "Undo changes 1?", "n")?;
        tmux.press(&["q"])
    })
}

#[test]
fn call_leaves_the_sandbox_if_the_user_allows_it() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let outside = world.home().join("outside");
        fs::create_dir(&outside)?;
        let written = outside.join("file");
        let name = written.to_str().context("the path is not UTF-8")?;
        tmux.enters("export AGENT_BASH_SANDBOX_LEVEL=read_only AGENT_BASH_SANDBOX_ESCALATION=ask")?;
        // Short, so that it fits on one row in any world.
        tmux.enters(&format!("export F={name}"))?;
        tmux.enters("agent-bash tui")?;
        tmux.shows("read_only, network off")?;
        tmux.enters("echo x > $F")?;
        tmux.shows("⊘ cannot be written in the sandbox")?;
        let screen = tmux.shows("→ f4 runs it again outside of the sandbox\n╰ exit 1")?;
        ensure!(!screen.contains("1 outside"), "it was refused: {screen}");
        for (key, allowed) in [("n", false), ("y", true)] {
            tmux.press(&["F4"])?;
            tmux.shows("level    read_only → off")?;
            let screen = tmux.shows("network  off → on")?;
            ensure!(!screen.contains("running"), "{screen}");
            answer(tmux, "May this call leave the sandbox?", key)?;
            let screen = tmux.shows(if allowed { "╰ exit 0" } else { "╰ blocked" })?;
            let runs = "[outside of the sandbox, as you asked (F4)]";
            ensure!(screen.contains(runs) == allowed, "{screen}");
            let denied = "Blocked: you did not let this call leave the sandbox, so it was not run\n╰ blocked";
            ensure!(allowed || screen.contains(denied), "{screen}");
            ensure!(written.exists() == allowed, "answered with {key}");
            ensure!(screen.contains("Δ 1 outside") == allowed, "{screen}");
        }
        // A call outside takes nothing that a call in the sandbox has prepared.
        tmux.enters("export PLANTED=variable; planted() { :; }")?;
        tmux.enters(r#"echo "[$PLANTED]"; declare -F planted || echo none"#)?;
        tmux.shows("│ [variable]\n│ planted")?;
        tmux.press(&["F4"])?;
        answer(tmux, "May this call leave the sandbox?", "y")?;
        tmux.shows("│ []\n│ none")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

#[test]
fn help_lists_the_keys_of_changes() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.press(&["?"])?;
        let screen = tmux.shows("─ Keys ")?;
        for key in ["f3 ", "c d u r", "its changes to files"] {
            ensure!(screen.contains(key), "{key}: {screen}");
        }
        // Not all keys fit on the screen.
        ensure!(!screen.contains("ctrl+z ctrl+d"), "{screen}");
        tmux.press(&["Space"])?;
        tmux.shows("ctrl+z ctrl+d")?;
        tmux.press(&["Left"])?;
        tmux.shows("c d u r")?;
        tmux.press(&["x"])?;
        tmux.hides("─ Keys ").map(drop)
    })
}

/// The last line shows git's operation in progress, also after it was undone or redone by keys.
#[test]
fn git_state_is_read_again_after_an_undo() -> Result<()> {
    with_changes("undo", |tmux, _| {
        tmux.enters(
            "git init -q -b main; git config user.name a; git config user.email a@b; git add a.txt; git commit -qm a; \
             git checkout -qb side; echo s > a.txt; git commit -qam s; git checkout -q main; echo m > a.txt; git commit -qam m",
        )?;
        tmux.shows("· ⎇ main")?;
        tmux.press(&["C-l"])?;
        tmux.enters("git merge side")?;
        tmux.shows("⎇ main MERGING")?;
        tmux.press(&["C-Up", "u"])?;
        answer(tmux, "Undo changes", "y")?;
        tmux.shows("Undone: ")?;
        tmux.press(&["Escape"])?;
        tmux.until("it merges no more", |screen| {
            screen.contains("⎇ main ·") && !screen.contains("MERGING")
        })?;
        tmux.press(&["C-Up", "r"])?;
        answer(tmux, "Redo changes", "y")?;
        tmux.press(&["Escape"])?;
        tmux.shows("⎇ main MERGING").map(drop)
    })
}
