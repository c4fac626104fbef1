//! The history of the interface across runs.

use super::{PROMPT, interface, on_a_terminal};
use agent_bash_tests::poll;
use agent_bash_tests::tmux::Tmux;
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

/// The time that the file may take to be written.
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

/// The interface ends by a signal, and by closing the window, when the terminal disappears first.
#[test]
fn queued_lines_are_in_the_history_of_the_next_run() -> Result<()> {
    on_a_terminal(|tmux, world| {
        // A second terminal inside the first, which is closed together with its program.
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
                // The interface has restored the screen.
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
fn typed_lines_are_in_the_history_of_the_next_run() -> Result<()> {
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

        // An invalid line, as after a crash.
        std::fs::write(&file, format!("{{\"at\":\"2026\n{kept}"))?;
        tmux.enters("mkdir -p sub")?;
        begin(tmux, "sub", "")?;
        // The search finds the line only after the file was read.
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
        tmux.shows("no command matches")?;
        tmux.press(&["C-r", "C-r", "Tab"])?;
        tmux.shows("❯ echo first; exit 3")?;
        tmux.press(&["C-c"])?;
        tmux.shows(PROMPT)?;
        quit(tmux)?;
        Ok(())
    })
}

#[test]
fn concurrent_interfaces_share_history() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let other = Tmux::named(world, "other", 80, 24)?;
        for one in [tmux, &other] {
            one.enters("clear; agent-bash tui")?;
            one.shows(PROMPT)?;
        }
        // The interfaces write in turn, and at the same time.
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
        // A search finds the lines of the other run.
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
fn history_is_not_stored_if_the_settings_disable_it() -> Result<()> {
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
