//! Lines that run in parallel to the persistent shell: in its directory, with its exported
//! variables, functions and aliases.

use super::{PROMPT, in_the_interface, on_a_terminal, open_pager};
use anyhow::{Result, ensure};

#[test]
fn exported_variables_are_known_to_parallel_lines() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters(
            "export AB_MADE='as exported'; export PATH=/ab/new:$PATH; unset LANG; echo set",
        )?;
        tmux.shows("│ set")?;
        tmux.enters("read -p 'name? ' name; echo \"$name: $AB_MADE ${PATH%%:*} ${LANG-none}\"")?;
        tmux.shows("name? ")?;
        tmux.shows("Console")?;
        tmux.enters("on a terminal")?;
        // Until the line has ended, keys are typed to it.
        tmux.shows("│ on a terminal: as exported /ab/new none")?;
        tmux.hides("Console")?;
        tmux.types("echo tried: $AB_MADE ${PATH%%:*}")?;
        tmux.shows("f3 try it")?;
        tmux.press(&["F3"])?;
        tmux.shows("│ tried: as exported /ab/new").map(drop)
    })
}

#[test]
fn functions_and_aliases_are_known_to_parallel_lines() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let rc = "ab_of_rc() { echo of rc: $*; }\nalias abv='ab_of_rc alias'\nshopt -s globstar\n";
        std::fs::write(world.home().join(".bashrc"), rc)?;
        tmux.enters("agent-bash tui --pty")?;
        tmux.shows(PROMPT)?;
        // The persistent shell does not exist yet.
        tmux.enters("abv 1; shopt globstar")?;
        // Until the line has ended, keys are typed to it.
        tmux.shows("│ of rc: alias 1\n│ globstar")?;
        tmux.shows("╰ exit 0")?;
        // Ctrl+T: without a terminal.
        tmux.press(&["C-t"])?;
        tmux.enters("ab_typed() { echo \"it's: $*\" $?; }; alias abt='ab_typed t' abv='ab_typed v'; unset -f ab_of_rc; (exit 3)")?;
        tmux.shows("╰ exit 3")?;
        tmux.press(&["C-l", "C-t"])?;
        tmux.enters("abt 1; abv 2; ab_of_rc")?;
        let screen = tmux.shows("╰ exit 127")?;
        ensure!(
            screen.contains("│ it's: t 1 0\n│ it's: v 2 0\n"),
            "{screen}"
        );
        tmux.press(&["C-l", "C-t"])?;
        // The shell keeps its state, including its last status.
        tmux.enters("echo was: $?")?;
        tmux.shows("│ was: 3")?;
        tmux.types("abt tried")?;
        tmux.shows("f3 try it")?;
        tmux.press(&["F3"])?;
        tmux.shows("│ it's: t tried")?;
        // During a command, Ctrl+D would name what it ends.
        tmux.shows("it changes no file]\n╰ exit 0")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

/// The commands of a function decide, if it does nothing else. A line that is run again on a
/// terminal has the functions of the shell that was ended for it.
#[test]
fn functions_are_known_on_a_terminal() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("ab_put() { cat > \"$1\"; }; echo set")?;
        tmux.shows("│ set")?;
        tmux.enters("ab_put notes; cat notes")?;
        tmux.shows("Console")?;
        tmux.enters("written down")?;
        tmux.press(&["C-d"])?;
        tmux.shows("╰ exit 0")?;
        for (line, is_kept) in [("ab_sh", true), ("ab_sh; :", false)] {
            tmux.press(&["C-l"])?;
            tmux.enters(
                "ab_sh() { if :; then ab_in; fi; }; ab_in() { tty || sleep 300; }; echo has them",
            )?;
            tmux.shows("│ has them")?;
            tmux.enters(line)?;
            tmux.shows("│ not a tty")?;
            tmux.press(&["F5"])?;
            let screen = tmux.shows("│ /dev/pts/")?;
            ensure!(!screen.contains("not found"), "{screen}");
            // An earlier line shows the same end.
            tmux.until("the line on the terminal has ended", |screen| {
                let after = screen.split("│ /dev/pts/").nth(1);
                after.is_some_and(|after| after.contains("╰ exit 0"))
            })?;
            tmux.press(&["C-l"])?;
            tmux.enters("type -t ab_sh")?;
            tmux.shows(if is_kept {
                "│ function"
            } else {
                "╰ exit 1"
            })?;
        }
        Ok(())
    })
}

/// As in a shell: a foreground command is interrupted, and functions and variables stay. A script
/// with further commands is cancelled as a whole.
#[test]
fn interrupted_command_keeps_the_shell() -> Result<()> {
    in_the_interface("", |tmux, world| {
        tmux.enters("kept() { echo as it was: $plain; }; plain=yes; echo set")?;
        tmux.shows("│ set")?;
        for line in ["tail -f /dev/null | cat", "!tail -f /dev/null"] {
            tmux.enters(line)?;
            tmux.shows("tail -f /dev/null")?;
            tmux.shows("running")?;
            tmux.press(&["C-c"])?;
            tmux.shows("exit 1")?;
            tmux.press(&["C-l"])?;
        }
        tmux.enters("kept")?;
        tmux.shows("│ as it was: yes")?;
        tmux.press(&["C-l"])?;
        // The next command does not run.
        tmux.enters("sleep 300; echo more >more")?;
        tmux.shows("running")?;
        tmux.press(&["C-c"])?;
        tmux.shows("cancelled")?;
        tmux.shows("shell was reset")?;
        ensure!(!world.cwd().join("more").exists(), "it went on");
        // A command that ignores the signal is cancelled.
        tmux.enters("trap '' INT; plain=again; echo trapped")?;
        tmux.shows("│ trapped")?;
        tmux.enters("sleep 300")?;
        tmux.shows("$ sleep 300")?;
        tmux.press(&["C-l"])?;
        tmux.hides("echo more")?;
        tmux.press(&["C-c"])?;
        tmux.shows("╰ cancelled").map(drop)
    })
}

/// If a line was recalled and edited on a terminal, the card and the pager show the entered line,
/// not readline's redrawing.
#[test]
fn edited_terminal_line_is_shown_as_entered() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("export LC_ALL=C.UTF-8 PS1='in> '; bash --norc -i")?;
        tmux.shows("│in> ")?;
        tmux.enters("echo abc")?;
        tmux.shows("│abc ")?;
        tmux.press(&["Up", "C-a", "M-f"])?;
        tmux.types(" \"one")?;
        tmux.press(&["C-e"])?;
        tmux.types("\" two")?;
        tmux.shows("in> echo \"one abc\" two")?;
        tmux.press(&["Enter", "Up", "C-a"])?;
        tmux.types("true && ")?;
        tmux.press(&["C-e", "M-b", "C-k"])?;
        tmux.types("three")?;
        tmux.shows("in> true && echo \"one abc\" three")?;
        tmux.press(&["Enter"])?;
        tmux.press(&["C-d"])?;
        for shown in [tmux.shows("exit 0")?, {
            // Until then, keys belong to the terminal.
            tmux.shows(PROMPT)?;
            open_pager(tmux)?
        }] {
            for line in [
                "in> echo \"one abc\" two",
                "in> true && echo \"one abc\" three",
            ] {
                ensure!(shown.contains(line), "`{line}` is not in\n{shown}");
            }
        }
        tmux.press(&["q"])
    })
}
