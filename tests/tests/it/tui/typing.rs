//! Typing: completion, colours, scripts of more than one line.

use super::{PROMPT, in_the_interface, on_a_terminal};
use agent_bash_tests::poll;
use agent_bash_tests::tmux::Tmux;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
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
fn tab_completes_words() -> Result<()> {
    in_the_interface("", |tmux, world| {
        fs::create_dir(world.cwd().join("some docs"))?;
        for file in ["notes.txt", "notes.old", ".hidden", "some docs/it's"] {
            fs::write(world.cwd().join(file), "what is in it\n")?;
        }
        // The common prefix, then a list to choose from.
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
        // Text typed right after the completion follows the inserted text.
        tmux.types("head -1 .h")?;
        tmux.press(&["Tab", "Enter"])?;
        tmux.shows("✓ $ head -1 .hidden")?;
        // Completion ignores case if nothing else matches, and completes variables.
        tmux.types("cat NOTES.T")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ cat notes.txt")?;
        tmux.press(&["C-c"])?;
        tmux.enters("export OWN_THING=1")?;
        tmux.shows("✓ $ export")?;
        tmux.types("echo $OWN_TH")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ echo $OWN_THING")?;
        tmux.press(&["C-c"])?;
        tmux.types("printf nothing-be")?;
        tmux.press(&["Tab"])?;
        tmux.shows("no completion found")?;
        tmux.press(&["C-c"])?;
        // Branches, read without running git.
        tmux.enters("git init -q -b trunk && git -c user.name=a -c user.email=b -c maintenance.auto=false commit -q --allow-empty -m x")?;
        tmux.shows("⎇ trunk")?;
        tmux.types("git check")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ git checkout\n")?;
        tmux.types("tr")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ git checkout trunk\n")?;
        tmux.press(&["C-c"])?;
        tmux.types("git stash ")?;
        tmux.press(&["Tab"])?;
        tmux.shows("pop")?;
        tmux.press(&["Escape"])?;
        tmux.hides("pop")?;
        tmux.press(&["C-c"])?;
        fs::write(world.cwd().join("Makefile"), "probe:\n\techo probed\n")?;
        tmux.types("make pr")?;
        tmux.press(&["Tab"])?;
        tmux.shows("❯ make probe\n")?;
        tmux.press(&["C-c"])?;
        Ok(())
    })
}

#[test]
fn cursor_moves_and_deletes_by_grapheme() -> Result<()> {
    in_the_interface("", |tmux, _| {
        for cluster in ["🇩🇪", "👨\u{200d}👩\u{200d}👧", "e\u{301}\u{323}"] {
            tmux.types(&format!("echo a{cluster}b"))?;
            tmux.press(&["Left", "Left", "x"])?;
            tmux.press(&["Right", "BSpace"])?;
            tmux.shows("❯ echo axb\n")?;
            tmux.press(&["C-_"])?;
            tmux.press(&["Enter"])?;
            tmux.shows("✓ $ echo ax")?;
            tmux.until("it is whole again", |screen| {
                let printed = screen.lines().find(|line| line.starts_with("│ ax"));
                printed.is_some_and(|line| line.ends_with('b') && line != "│ axb")
            })?;
            tmux.press(&["C-l"])?;
            tmux.hides("echo ax")?;
        }
        Ok(())
    })
}

/// An unknown command is red.
const UNKNOWN: &str = "\u{1b}[38;5;1m";

/// Waits until the prompt's row with `part` is marked as an unknown command, or is not.
fn is_unknown(tmux: &Tmux<'_>, part: &str, wanted: bool) -> Result<()> {
    let is_so = || (prompt(tmux, part).ok()?.contains(UNKNOWN) == wanted).then_some(());
    poll::until(SOON, is_so).with_context(|| format!("{part}: {:?}", tmux.coloured()))
}

#[test]
fn command_with_a_path_is_checked_for_existence() -> Result<()> {
    in_the_interface("", |tmux, world| {
        tmux.types("./probe.sh x")?;
        is_unknown(tmux, "probe.sh", true)?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;
        // A command makes the file; the check finds it, also for text typed meanwhile.
        tmux.enters(
            "until [ -e ../go ]; do sleep 0.1; done; echo 'echo probed' > probe.sh; chmod +x probe.sh",
        )?;
        tmux.types("./probe.sh x")?;
        is_unknown(tmux, "probe.sh", true)?;
        fs::write(world.cwd().join("../go"), "")?;
        is_unknown(tmux, "probe.sh", false)?;
        tmux.press(&["Enter"])?;
        tmux.shows("│ probed")?;
        // A later command of a script may come into existence, and a function is known once it is
        // defined.
        tmux.types("cd / && ./probe.sh x")?;
        is_unknown(tmux, "probe.sh", false)?;
        tmux.press(&["C-c"])?;
        tmux.types("mine() { :; }; mine x")?;
        is_unknown(tmux, " x", false)?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT).map(drop)
    })
}

#[test]
fn alias_of_a_terminal_program_gets_a_terminal() -> Result<()> {
    on_a_terminal(|tmux, world| {
        fs::write(world.home().join(".bashrc"), "alias own='python3 -q'\n")?;
        tmux.enters("agent-bash tui")?;
        tmux.shows(PROMPT)?;
        // Commands come first, then the definitions of the configuration.
        tmux.types("nobody-has-this")?;
        is_unknown(tmux, "nobody-has-this", true)?;
        tmux.press(&["C-u"])?;
        tmux.shows(PROMPT)?;
        tmux.types("own")?;
        is_unknown(tmux, "own", false)?;
        tmux.press(&["Enter"])?;
        tmux.shows(">>>")?;
        tmux.types("exit()")?;
        tmux.press(&["Enter"])?;
        tmux.shows("╰ exit 0")?;
        tmux.press(&["C-l"])?;
        tmux.enters("alias typed='python3 -q'")?;
        tmux.shows("✓ $ alias")?;
        tmux.press(&["C-l"])?;
        tmux.enters("typed")?;
        tmux.shows(">>>")?;
        tmux.types("exit()")?;
        tmux.press(&["Enter"])?;
        tmux.shows("╰ exit 0")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

#[test]
fn functions_and_aliases_of_the_user_are_known() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let tools = world.home().join("tools");
        fs::create_dir(&tools)?;
        fs::write(tools.join("own-tool"), "#!/bin/sh\n")?;
        fs::set_permissions(tools.join("own-tool"), fs::Permissions::from_mode(0o755))?;
        let rc = "greet() { echo \"hi $1\"; }\nalias farewell='echo bye'\nPATH=$PATH:~/tools\n";
        fs::write(world.home().join(".bashrc"), rc)?;
        tmux.enters("agent-bash tui")?;
        tmux.shows(PROMPT)?;
        for (begun, word) in [
            ("gree", "greet"),
            ("farew", "farewell"),
            ("own-t", "own-tool"),
        ] {
            // The configuration is read meanwhile.
            let completed = poll::until(SOON, || {
                tmux.types(begun).ok()?;
                tmux.press(&["Tab"]).ok()?;
                let screen = tmux.until("it was looked for", |screen| {
                    screen.contains(&format!("❯ {word} "))
                        || screen.contains("no completion")
                        || screen.contains(&format!("❯ {word}\n"))
                });
                let found = screen.ok()?.contains(&format!("❯ {word}"));
                if !found {
                    tmux.press(&["C-u"]).ok()?;
                }
                found.then_some(())
            });
            completed.with_context(|| format!("{word} is not completed"))?;
            let row = prompt(tmux, word)?;
            ensure!(!row.contains(UNKNOWN), "{row:?}");
            tmux.press(&["C-u"])?;
            tmux.shows(PROMPT)?;
        }
        // Control: an unknown name.
        tmux.types("greetings")?;
        let row = prompt(tmux, "greetings")?;
        ensure!(row.contains(UNKNOWN), "{row:?}");
        tmux.press(&["C-u"])?;
        tmux.shows(PROMPT)?;
        tmux.enters("greet you; farewell")?;
        tmux.shows("│ hi you\n│ bye")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

/// Mounts an unresponsive file system on `hung`, in its own mount namespace, and runs the
/// interface.
const BESIDE_A_HUNG_MOUNT: &str = "mkdir hung; unshare --user --map-root-user --mount bash -c 'exec 9<> /dev/fuse && \
    mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 none hung || exit 77; agent-bash tui 9<&-'; echo left: $?";

#[test]
fn unresponsive_directory_blocks_neither_typing_nor_commands() -> Result<()> {
    on_a_terminal(|tmux, _| {
        tmux.enters(BESIDE_A_HUNG_MOUNT)?;
        let screen = tmux.until("it has started", |screen| {
            screen.contains(PROMPT) || screen.contains("left: 77")
        })?;
        if screen.contains("left: 77") {
            return report_skipped();
        }
        tmux.types("cat hung/")?;
        tmux.press(&["Tab"])?;
        // Meanwhile the user can type, and commands run.
        tmux.press(&["C-u"])?;
        tmux.types("echo be")?;
        tmux.shows("❯ echo be\n")?;
        tmux.enters("side")?;
        tmux.shows("│ beside")?;
        tmux.shows("completing takes too long: a file system does not answer")?;
        tmux.types("cat no")?;
        tmux.press(&["Tab"])?;
        tmux.shows("still looking for the last completion")?;
        tmux.press(&["C-u"])?;
        tmux.shows(PROMPT)?;
        // The interface still quits.
        tmux.press(&["C-d"])?;
        tmux.shows("left: 0").map(drop)
    })
}

#[expect(
    clippy::print_stderr,
    clippy::unnecessary_wraps,
    reason = "what is left out is said"
)]
fn report_skipped() -> Result<()> {
    eprintln!("left out, since no file system can be mounted here");
    Ok(())
}

#[test]
fn unfinished_script_continues_on_the_next_line() -> Result<()> {
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
fn typed_script_is_highlighted_and_errors_are_shown_below() -> Result<()> {
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

#[test]
fn editing_keys_change_the_line() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.types("one two three")?;
        for (keys, wanted) in [
            (&["M-b", "X"][..], "one two Xthree"),
            (&["M-f", "Y"], "one two XthreeY"),
            (&["C-a", "A"], "Aone two XthreeY"),
            (&["C-e", "E"], "Aone two XthreeYE"),
            (&["C-w"], "Aone two"),
            (&["C-y"], "Aone two XthreeYE"),
            (&["M-BSpace"], "Aone two"),
            (&["C-_"], "Aone two XthreeYE"),
            (&["M-_"], "Aone two"),
            (&["C-a", "M-d"], " two"),
            (&["C-e", "M-b", "C-u"], "two"),
            (&["C-a", "C-k"], " a command · !command is yours"),
        ] {
            tmux.press(keys)?;
            let row = format!("❯ {wanted}");
            let is_right = |screen: &str| {
                let mut rows = screen.lines();
                rows.any(|line| {
                    line.trim_end() == row || (wanted.contains('·') && line.starts_with(&row))
                })
            };
            tmux.until(&format!("{keys:?} leaves {wanted:?}"), is_right)?;
        }
        tmux.types("echo first")?;
        tmux.press(&["C-j"])?;
        tmux.enters("echo second")?;
        tmux.shows("│ first\n│ second")?;
        tmux.enters("echo third")?;
        tmux.shows("│ third")?;
        tmux.enters("echo fourth \\")?;
        tmux.enters("and fifth")?;
        tmux.shows("│ fourth and fifth")?;
        tmux.press(&["C-p", "C-p", "C-p"])?;
        tmux.shows("❯ echo first\n")?;
        tmux.press(&["C-n"])?;
        tmux.shows("❯ echo third")?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT).map(drop)
    })
}

#[test]
fn screen_scrolls_by_keys_and_mouse() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("seq 80")?;
        tmux.shows("╰ exit 0")?;
        tmux.press(&["C-o"])?;
        tmux.shows("│ 62\n")?;
        for (up, down) in [("PPage", "NPage"), ("C-Home", "C-End")] {
            tmux.press(&[up])?;
            tmux.shows("more rows")?;
            tmux.press(&[down])?;
            tmux.hides("more rows")?;
        }
        // As a terminal reports the wheel up and down, and a button.
        tmux.types("\u{1b}[<64;5;5M")?;
        tmux.shows("↓ 3 more rows")?;
        tmux.types("\u{1b}[<65;5;5M")?;
        tmux.hides("more rows")?;
        tmux.types("\u{1b}[<0;5;5M")?;
        tmux.shows("esc back")?;
        tmux.press(&["Escape"])?;
        tmux.hides("esc back")?;
        tmux.press(&["F1"])?;
        tmux.shows("─ Keys")?;
        tmux.press(&["Escape"])?;
        tmux.hides("─ Keys")?;
        tmux.press(&["F2"])?;
        tmux.shows("no jobs yet")?;
        tmux.press(&["Escape"])?;
        tmux.hides("no jobs yet")?;
        Ok(())
    })
}

#[test]
fn history_suggests_lines_and_recalls_arguments() -> Result<()> {
    /// The style of a suggestion.
    const DIM: &str = "\u{1b}[38;5;245m";
    in_the_interface("", |tmux, _| {
        for line in ["echo one/a.txt", "printf '%s' two"] {
            tmux.enters(line)?;
            tmux.shows(&format!("✓ $ {line}"))?;
            tmux.hides("esc cancel")?;
        }
        // The suggestion is dim, and does not run.
        tmux.types("echo")?;
        let row = prompt(tmux, "one/a.txt")?;
        ensure!(row.contains(DIM), "{row:?}");
        tmux.press(&["Enter"])?;
        tmux.shows("✓ $ echo\n")?;
        for (keys, wanted) in [
            (&["M-f"][..], "❯ echo one/ "),
            (&["C-Right"], "❯ echo one/a.txt "),
            (&["C-w"], "❯ echo "),
            (&["M-."], "❯ echo echo "),
            (&["M-."], "❯ echo two "),
            (&["M-."], "❯ echo one/a.txt "),
        ] {
            if wanted == "❯ echo one/ " {
                tmux.types("echo ")?;
                tmux.shows("❯ echo one/a.txt")?;
            }
            tmux.press(keys)?;
            // A suggestion may be after the cursor.
            let typed = wanted.trim_end();
            tmux.until(&format!("{keys:?} leaves {typed:?}"), |screen| {
                screen.lines().any(|line| line.starts_with(typed))
            })?;
        }
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;
        for key in ["Right", "End", "C-e"] {
            tmux.types("pri")?;
            tmux.shows("❯ printf '%s' two")?;
            tmux.press(&[key])?;
            tmux.types("_")?;
            tmux.shows("❯ printf '%s' two_")?;
            tmux.press(&["C-c"])?;
            tmux.shows(PROMPT)?;
        }
        // A cleared line returns.
        tmux.press(&["C-_"])?;
        tmux.shows("❯ printf '%s' two_")?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT).map(drop)
    })
}
