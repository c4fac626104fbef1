//! `agent-bash tui` and `run --pty` as a user sees them: on a real terminal (tmux), key by key.
//!
//! Every test ends by checking that the terminal's modes are restored, and with the census of its
//! world.

mod changes;
mod changes_later;
mod editor;
mod escapes;
mod history;
mod jobs;
mod keys;
mod pager;
mod parallel_lines;
mod remote;
mod repl;
mod typing;

use agent_bash_tests::tmux::Tmux;
use agent_bash_tests::world::World;
use agent_bash_tests::{procfs, product};
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

/// The deadline for leftovers.
const SOON: Duration = Duration::from_secs(30);

/// The prompt when it is empty.
const PROMPT: &str = "a command · !command is yours";

/// Runs `play` on a terminal of 100 × 30.
fn on_a_terminal(play: impl FnOnce(&Tmux<'_>, &World) -> Result<()>) -> Result<()> {
    let program = product::agent_bash()?;
    let world = World::new()?.with_program(program)?;
    let tmux = Tmux::start(&world, 100, 30)?;
    tmux.enters("stty -a >../before")?;
    tmux.enters("clear")?;
    play(&tmux, &world)?;
    tmux.enters("clear; stty -a >../after; echo compared: $(cmp ../before ../after && echo same)")?;
    tmux.shows("compared: same")?;
    drop(tmux);
    let left = world.end(SOON);
    ensure!(left.is_empty(), "left behind: {left}");
    Ok(())
}

/// Runs `play` in the interface, which is quit at the end.
fn in_the_interface(
    options: &str,
    play: impl FnOnce(&Tmux<'_>, &World) -> Result<()>,
) -> Result<()> {
    on_a_terminal(|tmux, world| {
        tmux.enters(&format!("agent-bash tui {options}"))?;
        tmux.shows(PROMPT)?;
        play(tmux, world)?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        tmux.enters("echo left: $?")?;
        tmux.shows("left: 0")?;
        Ok(())
    })
}

/// Shows the whole output in the pager; returns the screen.
fn open_pager(tmux: &Tmux<'_>) -> Result<String> {
    tmux.press(&["C-f"])?;
    // The pager is drawn before it has read its text.
    tmux.until("the pager has text", |screen| {
        screen.contains("q close") && !screen.contains("─ empty ·")
    })
}

#[test]
fn typed_command_runs_to_its_end() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("printf 'one\\ntwo\\n'; exit 3")?;
        let screen = tmux.shows("╰ exit 3")?;
        ensure!(screen.contains("✗ $ printf"), "{screen}");
        ensure!(screen.contains("│ one\n│ two\n"), "{screen}");
        // A refusal has a card, too.
        tmux.enters("git add -A")?;
        tmux.shows("╰ blocked")?;
        // The history, and a second line.
        tmux.press(&["Up", "Up"])?;
        tmux.shows("❯ printf")?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;
        tmux.types("echo first;")?;
        tmux.press(&["M-Enter"])?;
        tmux.enters("echo second")?;
        tmux.shows("│ first\n│ second")?;
        Ok(())
    })
}

#[test]
fn user_commands_keep_their_shell() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("!mkdir sub; cd sub")?;
        tmux.shows("· ! ")?;
        tmux.enters("!!basename $PWD; false")?;
        let screen = tmux.shows("  exit 1 ")?;
        ensure!(screen.contains("── not in context ──"), "{screen}");
        ensure!(screen.contains("\n  sub\n"), "{screen}");
        tmux.enters("!sleep 300")?;
        tmux.shows("· esc to cancel")?;
        tmux.enters("!echo no")?;
        tmux.shows("A bash command is already running. Press Esc to cancel it first.")?;
        tmux.press(&["Escape"])?;
        tmux.shows("  exit 130 ")?;
        // The text typed before is still there.
        tmux.press(&["Enter"])?;
        tmux.shows("\n  no\n")?;
        // A shell that has ended is reported, and so are survivors.
        tmux.enters("!kill -9 $$")?;
        tmux.shows("[The session's shell was reset")?;
        tmux.enters("!sleep 300 & echo $! >pid")?;
        tmux.shows("↯ still running as job 1: pid ")?;
        tmux.enters("!kill $(cat pid); echo ended")?;
        tmux.shows("\n  ended\n")?;
        Ok(())
    })
}

#[test]
fn better_tool_is_proposed_to_the_user() -> Result<()> {
    on_a_terminal(|tmux, _| {
        tmux.enters("export AGENT_BASH_INTERCEPTOR_MODE=block")?;
        tmux.enters("agent-bash tui --tools read")?;
        tmux.shows(PROMPT)?;
        tmux.enters("cat notes.txt")?;
        let screen = tmux.shows("╰ blocked")?;
        ensure!(screen.contains("Use the `read` tool"), "{screen}");
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

#[test]
fn running_command_is_cancelled_and_interface_stays() -> Result<()> {
    in_the_interface("", |tmux, _| {
        for key in ["Escape", "C-c"] {
            tmux.enters("echo begun; sleep 300")?;
            tmux.shows("│ begun")?;
            tmux.shows("esc to cancel")?;
            tmux.press(&[key])?;
            tmux.shows("╰ cancelled")?;
            tmux.press(&["C-l"])?;
            tmux.hides("│ begun")?;
        }
        tmux.types("half a comm")?;
        tmux.shows("❯ half a comm")?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-c"])?;
        tmux.shows("ctrl+d quits")?;
        tmux.press(&["x", "C-d", "BSpace"])?;
        Ok(())
    })
}

#[test]
fn binary_output_is_replaced_by_its_size() -> Result<()> {
    const MARK: &str = "[Binary output: 4.9KB, not shown]";
    in_the_interface("", |tmux, world| {
        let noise: Vec<u8> = (0..5000u32).map(|n| 128 + (n % 128) as u8).collect();
        std::fs::write(world.cwd().join("noise"), noise)?;
        for own in ["", "!"] {
            tmux.enters(&format!("{own}cat noise; sleep 300"))?;
            let screen = tmux.shows(MARK)?;
            ensure!(screen.contains("esc to cancel"), "{screen}");
            ensure!(!screen.contains('\u{fffd}'), "{screen}");
            tmux.press(&["Escape"])?;
            tmux.shows("cancelled")?;
            tmux.press(&["C-o"])?;
            let screen = tmux.shows("artifact://")?;
            ensure!(screen.contains(MARK), "{screen}");
            ensure!(!screen.contains('\u{fffd}'), "{screen}");
            tmux.press(&["C-l"])?;
            tmux.hides(MARK)?;
        }
        // Text with NULs counts as text.
        tmux.enters("printf 'one\\0two\\n'; cat noise | head -c 3")?;
        tmux.shows("│ one␀two\n│ \u{fffd}")?;
        Ok(())
    })
}

#[test]
fn long_outputs_are_expanded_and_paged() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("seq 100")?;
        tmux.shows("… 87 rows above · ctrl+o expands all 100")?;
        tmux.press(&["C-o"])?;
        tmux.shows("│ 80\n")?;
        tmux.press(&["C-Home"])?;
        tmux.shows("│ 1\n│ 2\n")?;
        tmux.shows("more rows")?;
        tmux.press(&["C-End", "C-o"])?;
        tmux.shows("… 87 rows above")?;
        tmux.press(&["C-l"])?;

        tmux.enters("seq 30000")?;
        tmux.shows("all of it: artifact://")?;
        tmux.press(&["C-o", "C-Home"])?;
        tmux.shows("full output, lines 29501–30000 of 30000")?;
        tmux.press(&["C-PPage"])?;
        tmux.shows("lines 29001–29500 of 30000")?;
        tmux.press(&["C-NPage"])?;
        tmux.shows("lines 29501–30000 of 30000")?;
        tmux.press(&["C-f"])?;
        tmux.shows("1–27 of 30000")?;
        tmux.press(&["NPage"])?;
        tmux.shows("28–54 of 30000")?;
        tmux.press(&["/"])?;
        tmux.enters("^20[0-9]{3}$")?;
        tmux.shows("▸20000 │20000")?;
        tmux.press(&["n"])?;
        tmux.shows("▸20001 │20001")?;
        tmux.press(&["N"])?;
        tmux.shows("▸20000 │20000")?;
        tmux.press(&["Right"])?;
        tmux.hides("│20000")?;
        tmux.press(&["Left"])?;
        tmux.shows("▸20000 │20000")?;
        tmux.press(&["/"])?;
        tmux.enters("nowhere")?;
        tmux.shows("`nowhere` was not found")?;
        tmux.press(&["G"])?;
        tmux.shows("of 30000 · /")?;
        tmux.shows("30000 │30000")?;
        tmux.press(&["q"])?;
        Ok(())
    })
}

#[test]
fn editor_and_pager_work_in_the_overlay() -> Result<()> {
    in_the_interface("--pty", |tmux, world| {
        tmux.enters("vim -u NONE notes.txt")?;
        tmux.shows("vim -u NONE notes.txt · ctrl+] force-kill")?;
        tmux.shows("\"notes.txt\" [New")?;
        // The program has all rows but the last, and nothing else is visible.
        let screen = tmux.shows(&"\n~".repeat(27))?;
        ensure!(!screen.contains("esc to cancel"), "{screen}");
        tmux.types("ihello")?;
        tmux.press(&["Escape"])?;
        tmux.types(":wq")?;
        tmux.press(&["Enter"])?;
        tmux.hides("force-kill")?;
        let screen = tmux.shows("│ [full-screen program, ")?;
        ensure!(screen.contains("╰ exit 0"), "{screen}");
        ensure!(!screen.contains("│ ~"), "{screen}");
        let written = std::fs::read_to_string(world.cwd().join("notes.txt"))?;
        ensure!(written == "hello\n", "{written:?}");

        tmux.enters("seq 500 | less")?;
        tmux.shows("▸ seq 500 | less · ctrl+] force-kill")?;
        tmux.shows("\n27\n28\n:")?;
        tmux.press(&["G"])?;
        tmux.shows("\n500\n")?;
        tmux.press(&["q"])?;
        tmux.hides("force-kill")?;

        // In full screen, Ctrl-] kills a program that ignores Esc.
        tmux.press(&["C-l"])?;
        tmux.enters("vim -u NONE")?;
        tmux.shows("ctrl+] force-kill")?;
        tmux.press(&["C-]"])?;
        tmux.hides("force-kill")?;
        tmux.shows("╰ cancelled")?;
        Ok(())
    })
}

#[test]
fn command_that_needs_a_terminal_gets_one_automatically() -> Result<()> {
    in_the_interface("", |tmux, world| {
        // Control: other commands have no terminal.
        tmux.enters("tty")?;
        tmux.shows("│ not a tty")?;
        tmux.shows("→ it asks for a terminal: f5 runs it again on one")?;
        tmux.press(&["F5"])?;
        tmux.shows("│ /dev/")?;
        tmux.press(&["C-l"])?;
        tmux.enters("vim -u NONE notes.txt")?;
        tmux.shows("\"notes.txt\" [New")?;
        tmux.types("ihello")?;
        tmux.press(&["Escape"])?;
        tmux.types(":wq")?;
        tmux.press(&["Enter"])?;
        tmux.hides("force-kill")?;
        tmux.shows("│ [full-screen program, ")?;
        let written = std::fs::read_to_string(world.cwd().join("notes.txt"))?;
        ensure!(written == "hello\n", "{written:?}");
        // The user's editor opens. The editor of unattended commands would fail.
        tmux.enters("!!git init -q; git config user.name u; git config user.email u@e; git config core.editor 'vim -u NONE'; echo set")?;
        tmux.shows("\n  set\n")?;
        tmux.enters("git commit --allow-empty")?;
        tmux.shows("COMMIT_EDITMSG")?;
        tmux.types("iFirst")?;
        tmux.press(&["Escape"])?;
        tmux.types(":wq")?;
        tmux.press(&["Enter"])?;
        tmux.hides("force-kill")?;
        tmux.shows("] First")?;
        tmux.shows("· ⎇ ")?;
        // A program that does not use the full screen is shown in a box.
        tmux.enters("bash --norc")?;
        let screen = tmux.shows("Console bash --norc")?;
        // The box hides everything behind it.
        let mut rows = screen.lines().skip_while(|row| !row.contains("Console"));
        let of_box = |row: &str| row.starts_with("  │") && row.trim_end().ends_with('│');
        ensure!(rows.nth(1).is_some_and(of_box), "{screen}");
        ensure!(rows.take(8).all(of_box), "{screen}");
        tmux.enters("exit 4")?;
        tmux.shows("╰ exit 4")?;
        Ok(())
    })
}

#[test]
fn command_on_a_terminal_has_no_time_limit() -> Result<()> {
    on_a_terminal(|tmux, _| {
        tmux.enters("export AGENT_BASH_TIMEOUT_DEFAULT=1s; agent-bash tui")?;
        tmux.shows(PROMPT)?;
        tmux.enters("bash --norc")?;
        tmux.shows("Console bash --norc")?;
        tmux.enters("sleep 2; exit 4")?;
        tmux.shows("╰ exit 4")?;
        // Control: a command without a terminal has a limit.
        tmux.enters("sleep 60")?;
        tmux.shows("╰ timed out")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

#[test]
fn typed_command_has_no_time_limit_unless_set() -> Result<()> {
    on_a_terminal(|tmux, _| {
        // An upper bound on calls' limits also applies to the profile's default.
        tmux.enters("export AGENT_BASH_TIMEOUT_MAX=1s; agent-bash tui")?;
        tmux.shows(PROMPT)?;
        tmux.enters("echo begun; sleep 2.5; echo slept")?;
        let screen = tmux.shows("│ begun")?;
        ensure!(!screen.contains("Timeout:"), "{screen}");
        tmux.shows("│ slept")?;
        tmux.shows("╰ exit 0")?;
        tmux.press(&["C-l"])?;
        tmux.types("sleep 2.5; echo tried")?;
        tmux.shows("f3 try it")?;
        tmux.press(&["F3"])?;
        tmux.shows("│ tried")?;
        tmux.press(&["C-l"])?;
        // The user who typed the command ends it.
        tmux.enters("sleep 300")?;
        tmux.shows("esc to cancel")?;
        tmux.press(&["Escape"])?;
        tmux.shows("╰ exit 130")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        // Control: a limit that is set applies, and is shown.
        tmux.enters(
            "clear; AGENT_BASH_TIMEOUT_MAX=1h AGENT_BASH_TIMEOUT_DEFAULT=2s agent-bash tui",
        )?;
        tmux.shows(PROMPT)?;
        tmux.enters("sleep 60")?;
        tmux.shows("Timeout: 2s")?;
        tmux.shows("╰ timed out")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

#[test]
fn shell_persists_and_lines_are_queued() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("mkdir sub; cd sub; word=kept")?;
        tmux.shows("/sub · ✓ exit 0")?;
        tmux.enters("echo $word in ${PWD##*/}")?;
        tmux.shows("│ kept in sub")?;
        // On a terminal, the command runs in the shell's directory; its own state is lost, as a
        // notice says.
        tmux.press(&["C-t"])?;
        tmux.enters("echo at ${PWD##*/}; cd /")?;
        tmux.shows("[the directory changes for this line only")?;
        tmux.shows("│ at sub")?;
        tmux.enters("word=other; echo $word")?;
        tmux.shows("[`word` takes effect for this line only")?;
        tmux.shows("│ other")?;
        tmux.press(&["C-t", "C-l"])?;
        tmux.enters("echo $word, and still in ${PWD##*/}")?;
        tmux.shows("│ kept, and still in sub")?;
        tmux.press(&["C-l"])?;
        // A question is answered by the user, and names the model that sees the answer.
        tmux.enters("read -p 'name? ' name; echo hi $name.")?;
        tmux.shows("name? ")?;
        tmux.shows("Console")?;
        tmux.enters("Ann")?;
        tmux.shows("│ hi Ann.")?;
        tmux.shows("[`read` takes effect for this line only")?;
        tmux.press(&["C-l"])?;

        tmux.enters("echo begun; sleep 300")?;
        tmux.shows("│ begun")?;
        for waits in ["echo one", "echo two"] {
            tmux.enters(waits)?;
            tmux.shows(&format!("⋯ $ {waits}"))?;
        }
        tmux.press(&["Up"])?;
        tmux.shows("❯ echo two")?;
        tmux.press(&["Escape"])?;
        // Waiting lines return after a cancellation.
        let screen = tmux.shows("❯ echo one")?;
        ensure!(screen.contains("echo two"), "{screen}");
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;
        tmux.enters("sleep 1")?;
        tmux.enters("echo after")?;
        tmux.shows("│ after")?;
        Ok(())
    })
}

#[test]
fn cards_are_folded_edited_run_again_and_refusals_explained() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("printf 'x\\n' >> log; cat log")?;
        tmux.shows("│ x\n╰ exit 0")?;
        tmux.press(&["C-Up"])?;
        tmux.shows("y Y copy · e edit · R again · f fold · esc back")?;
        tmux.press(&["f"])?;
        tmux.shows("1 row folded")?;
        tmux.hides("│ x")?;
        tmux.press(&["f"])?;
        tmux.shows("│ x")?;
        tmux.press(&["y"])?;
        tmux.shows("copied the output")?;
        tmux.press(&["C-Up", "R"])?;
        tmux.shows("│ x\n│ x\n╰ exit 0")?;
        tmux.press(&["C-Up", "e"])?;
        tmux.shows("❯ printf 'x")?;
        tmux.press(&["C-c", "C-l"])?;
        // The words that caused the refusal, and an alternative.
        tmux.enters("echo a; git add -A")?;
        let screen = tmux.shows("╰ blocked")?;
        ensure!(
            screen.contains("│   echo a; git add -A\n│           ^^^^^^^^^^"),
            "{screen}"
        );
        ensure!(screen.contains("│ instead: "), "{screen}");
        // A flag has the width that the layout assumes.
        tmux.enters("printf 'a\\U1F1E9\\U1F1EA.\\n'")?;
        tmux.shows("│ aDE.\n")?;
        Ok(())
    })
}

#[test]
fn escape_kills_and_second_escape_is_sent_to_program() -> Result<()> {
    in_the_interface("--pty", |tmux, _| {
        tmux.enters("echo waits; cat")?;
        tmux.shows("│waits")?;
        tmux.shows("esc force-kill · input forwarded to PTY")?;
        tmux.press(&["Escape"])?;
        tmux.hides("Console")?;
        tmux.shows("╰ cancelled")?;
        tmux.press(&["C-l"])?;
        tmux.enters("echo reads; read -rsn1 key; printf 'code %d\\n' \"'$key\"")?;
        tmux.shows("│reads")?;
        // Sent separately: tmux would send both at once, as one key.
        tmux.press(&["Escape"])?;
        tmux.press(&["Escape"])?;
        tmux.shows("│ code 27")?;
        tmux.shows("exit 0")?;
        // Without a terminal, stdin is empty.
        tmux.press(&["C-t"])?;
        tmux.shows("commands run without a terminal, unless they need one")?;
        tmux.enters("tty")?;
        tmux.shows("│ not a tty")?;
        Ok(())
    })
}

#[test]
fn resize_reaches_interface_and_programs() -> Result<()> {
    in_the_interface("--pty", |tmux, _| {
        tmux.enters("trap 'stty size' WINCH; stty size; until read -rt 2; do :; done")?;
        // For 100 × 30: four fifths of the rows, minus the borders.
        tmux.shows("│22 94")?;
        tmux.resize(60, 20)?;
        tmux.shows("│14 58")?;
        tmux.resize(130, 45)?;
        tmux.shows("│34 124")?;
        tmux.press(&["Enter"])?;
        tmux.hides("Console")?;
        // Tiny sizes are drawn as well as possible.
        for (cols, rows) in [(10, 3), (1, 1), (100, 30)] {
            tmux.resize(cols, rows)?;
        }
        tmux.shows("exit")?;
        Ok(())
    })
}

#[test]
fn interface_is_suspended_and_continued() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("echo before")?;
        tmux.shows("│ before")?;
        tmux.press(&["C-z"])?;
        tmux.shows("Stopped")?;
        tmux.enters("stty -a | cmp - ../before && echo as it was; fg")?;
        tmux.shows("│ before")?;
        tmux.enters("echo after")?;
        tmux.shows("│ after")?;
        Ok(())
    })
}

#[test]
fn signal_ends_interface_and_restores_terminal() -> Result<()> {
    on_a_terminal(|tmux, world| {
        for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
            tmux.enters("agent-bash tui; echo left: $?")?;
            tmux.shows(PROMPT)?;
            tmux.enters("sleep 300")?;
            tmux.shows("esc to cancel")?;
            kill_process(interface(world)?, signal)?;
            tmux.shows(&format!("left: {code}"))?;
        }
        Ok(())
    })
}

/// The pid of the interface.
fn interface(world: &World) -> Result<Pid> {
    let is_it = |process: &procfs::Process| {
        process.command.ends_with("agent-bash tui") && process.environment_has(&world.mark())
    };
    let processes = procfs::processes();
    let found = processes.iter().find(|process| is_it(process));
    let pid = found.and_then(|process| Pid::from_raw(process.pid.cast_signed()));
    pid.context("the interface has no process")
}

#[test]
fn run_pty_shows_one_command_on_the_terminal() -> Result<()> {
    on_a_terminal(|tmux, world| {
        tmux.enters("agent-bash run --pty --record ../a.cast 'read -rp \"name? \" name; echo \"hello $name\"'; echo left: $?")?;
        tmux.shows("Console")?;
        tmux.shows("name?")?;
        tmux.enters("you")?;
        tmux.shows("left: 0")?;
        let screen = tmux.shows("hello you")?;
        ensure!(!screen.contains("Console"), "{screen}");
        let cast = std::fs::read_to_string(world.cwd().join("../a.cast"))?;
        ensure!(
            cast.starts_with('{') && cast.contains("hello you"),
            "{cast}"
        );
        // Without a terminal the command runs without one, with a notice.
        tmux.enters("clear; agent-bash run --pty 'tty' | cat")?;
        tmux.shows("there is no terminal here: the command runs without one")?;
        tmux.shows("not a tty")?;
        tmux.enters("clear; AGENT_BASH_NO_PTY=1 agent-bash run --pty tty")?;
        tmux.shows("the command runs without one")?;
        tmux.shows("not a tty")?;
        Ok(())
    })
}
