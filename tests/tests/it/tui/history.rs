//! What was typed, in the next run of the interface, too.

use super::{PROMPT, interface, on_a_terminal};
use agent_bash_tests::poll;
use agent_bash_tests::tmux::Tmux;
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

/// How long the file may take to be written.
const SOON: Duration = Duration::from_secs(30);

fn begin(tmux: &Tmux<'_>, directory: &str, variables: &str) -> Result<()> {
    tmux.enters(&format!(
        "clear; (cd {directory}; {variables} agent-bash tui)"
    ))?;
    tmux.shows(PROMPT).map(drop)
}

fn quit(tmux: &Tmux<'_>) -> Result<()> {
    tmux.press(&["C-d"])?;
    tmux.hides(PROMPT).map(drop)
}

/// By a signal, and as where the window is closed: then there is no terminal any more.
#[test]
fn what_waited_is_found_in_the_next_run_however_it_was_left() -> Result<()> {
    on_a_terminal(|tmux, world| {
        // Another terminal in this one, which is closed with the program that has it.
        let within = "script -qc 'echo $PPID >terminal; exec agent-bash tui' /dev/null";
        for (command, is_closed) in [("agent-bash tui", false), (within, true)] {
            tmux.enters(&format!("was=$(stty -g); clear; {command}; stty $was"))?;
            tmux.shows(PROMPT)?;
            tmux.enters("sleep 300")?;
            tmux.shows("running")?;
            for line in ["one", "two"] {
                tmux.enters(&format!("echo waits {line} {is_closed}"))?;
            }
            tmux.shows(&format!("waits two {is_closed}  ↑ takes it back"))?;
            let (pid, signal) = if is_closed {
                let pid = std::fs::read_to_string(world.cwd().join("terminal"))?;
                let pid = Pid::from_raw(pid.trim().parse()?).context("no pid")?;
                (pid, Signal::KILL)
            } else {
                (interface(world)?, Signal::HUP)
            };
            kill_process(pid, signal)?;
            if is_closed {
                // It has left the screen as it was.
                tmux.enters("reset; stty $was; echo back")?;
            }
            tmux.hides(PROMPT)?;
            begin(tmux, ".", "")?;
            tmux.press(&["C-r"])?;
            tmux.shows("History")?;
            tmux.types("waits")?;
            tmux.shows(&format!("echo waits one {is_closed}"))?;
            tmux.shows(&format!("echo waits two {is_closed}"))?;
            tmux.press(&["Escape"])?;
            tmux.hides("History")?;
            quit(tmux)?;
        }
        Ok(())
    })
}

#[test]
fn what_was_typed_is_found_in_the_next_run() -> Result<()> {
    on_a_terminal(|tmux, world| {
        begin(tmux, ".", "DEPLOY_TOKEN=from-the-environment")?;
        for (command, ended) in [
            ("echo first; exit 3", "╰ exit 3"),
            ("!echo second", "\n  second\n"),
            (" echo unseen", "│ unseen\n╰ "),
            (
                "PASSWORD=hunter22 echo from-the-environment",
                "│ from-the-environment\n╰ ",
            ),
        ] {
            tmux.enters(command)?;
            tmux.shows(ended)?;
            tmux.hides("esc cancel")?;
        }
        quit(tmux)?;

        let file = world.state().join("history.jsonl");
        let ended = || {
            let text = std::fs::read_to_string(&file).ok()?;
            (text.matches("\"took_ms\"").count() == 3).then_some(text)
        };
        let kept = poll::until(SOON, ended).context("not everything was kept")?;
        for secret in ["hunter22", "from-the-environment", "unseen"] {
            ensure!(!kept.contains(secret), "{secret} is kept: {kept}");
        }
        ensure!(kept.contains("{\"exit\":3}"), "{kept}");
        let mode = file.metadata()?.permissions().mode() & 0o777;
        ensure!(mode == 0o600, "{mode:o}");

        // A line that is none, as after a crash.
        std::fs::write(&file, format!("{{\"at\":\"2026\n{kept}"))?;
        tmux.enters("mkdir -p sub")?;
        begin(tmux, "sub", "")?;
        // Once the search has it, it was read.
        tmux.press(&["C-r"])?;
        tmux.shows("echo first; exit 3")?;
        tmux.press(&["Escape"])?;
        tmux.shows(PROMPT)?;
        tmux.press(&["Up"])?;
        tmux.shows("❯ PASSWORD=[hidden] echo [hidden]")?;
        tmux.press(&["Up"])?;
        tmux.shows("❯ !echo second")?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;
        tmux.types("ec")?;
        tmux.press(&["Up"])?;
        tmux.shows("❯ echo first; exit 3")?;
        tmux.press(&["Down"])?;
        tmux.shows("❯ ec\n")?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;

        tmux.press(&["C-r"])?;
        tmux.shows("History  everywhere")?;
        tmux.types("frs3")?;
        let screen = tmux.until("one match is left", |screen| {
            screen.contains("echo first; exit 3") && !screen.contains("!echo second")
        })?;
        let row = screen.lines().find(|line| line.contains("echo first"));
        ensure!(row.is_some_and(|row| row.contains("✗")), "{screen}");
        tmux.press(&["C-r"])?;
        tmux.shows("History  this directory")?;
        tmux.shows("nothing that was typed matches")?;
        tmux.press(&["C-r", "C-r", "Tab"])?;
        tmux.shows("❯ echo first; exit 3")?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;
        quit(tmux)?;
        Ok(())
    })
}

#[test]
fn two_at_once_share_what_is_typed() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let other = Tmux::named(world, "other", 80, 24)?;
        for one in [tmux, &other] {
            one.enters("clear; agent-bash tui")?;
            one.shows(PROMPT)?;
        }
        // By turns, and at the same time.
        for turn in 0..10 {
            for (name, one) in [("here", tmux), ("there", &other)] {
                one.enters(&format!("echo {name}-$(({turn}))"))?;
            }
        }
        for (name, one) in [("here", tmux), ("there", &other)] {
            one.shows(&format!("│ {name}-9\n"))?;
            one.hides("esc cancel")?;
        }
        let file = world.state().join("history.jsonl");
        let kept = poll::until(SOON, || {
            let text = std::fs::read_to_string(&file).ok()?;
            (text.matches("\"took_ms\"").count() == 20).then_some(text)
        });
        let kept = kept.with_context(|| format!("{:?}", std::fs::read_to_string(&file)))?;
        for line in kept.lines() {
            serde_json::from_str::<serde_json::Value>(line)
                .with_context(|| format!("half a line: {line}"))?;
        }
        for turn in 0..10 {
            for name in ["here", "there"] {
                let command = format!("\"echo {name}-$(({turn}))\"");
                ensure!(kept.contains(&command), "{command} is lost: {kept}");
            }
        }
        // What the other has typed is found by a search.
        tmux.press(&["C-r"])?;
        tmux.types("there-$((7")?;
        tmux.shows("echo there-$((7))")?;
        tmux.press(&["Enter"])?;
        tmux.shows("❯ echo there-$((7))")?;
        tmux.press(&["C-c"])?;
        for one in [tmux, &other] {
            one.shows(PROMPT)?;
            quit(one)?;
        }
        other.enters("exit")
    })
}

#[test]
fn nothing_is_kept_where_the_settings_say_so() -> Result<()> {
    on_a_terminal(|tmux, world| {
        begin(tmux, ".", "AGENT_BASH_TUI_HISTORY=off")?;
        tmux.enters("echo first")?;
        tmux.shows("│ first")?;
        tmux.press(&["Up"])?;
        tmux.shows("❯ echo first")?;
        tmux.press(&["C-c"])?;
        quit(tmux)?;
        ensure!(!world.state().join("history.jsonl").exists());
        Ok(())
    })
}
