//! `tui --on`: the interface here, its commands there.

use super::{PROMPT, on_a_terminal};
use agent_bash_tests::targets::{NAME, Sshd};
use anyhow::Result;

#[test]
fn what_is_typed_here_runs_there() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let sshd = Sshd::start(world, None)?;
        tmux.enters(&format!("agent-bash tui --on {NAME}"))?;
        tmux.shows(PROMPT)?;
        // Only who came by ssh has it.
        tmux.enters("set -- $SSH_CONNECTION; echo words: $#; exit 3")?;
        tmux.shows("│ words: 4")?;
        tmux.shows("╰ exit 3")?;
        // Judged here: there is nothing to ask there.
        tmux.enters("git add -A")?;
        tmux.shows("╰ blocked")?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        tmux.enters("echo left: $?")?;
        tmux.shows("left: 0")?;
        // The control: the same question here.
        tmux.enters("clear; set -- $SSH_CONNECTION; echo words: $#")?;
        tmux.shows("words: 0")?;
        drop(sshd);
        Ok(())
    })
}

#[test]
fn what_is_typed_has_no_time_limit_there_either() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let sshd = Sshd::start(world, None)?;
        // A bound for what calls may ask for, under which the profile's own limit is, too.
        tmux.enters(&format!(
            "clear; AGENT_BASH_TIMEOUT_MAX=1s agent-bash tui --on {NAME}"
        ))?;
        tmux.shows(PROMPT)?;
        tmux.enters("sleep 2.5; echo slept")?;
        tmux.shows("│ slept")?;
        tmux.shows("╰ exit 0")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        // The control: a limit that is set holds.
        tmux.enters(&format!(
            "clear; AGENT_BASH_TIMEOUT_DEFAULT=1s agent-bash tui --on {NAME}"
        ))?;
        tmux.shows(PROMPT)?;
        tmux.enters("sleep 300")?;
        tmux.shows("╰ timed out")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        drop(sshd);
        Ok(())
    })
}

#[test]
fn the_prompts_directory_follows_the_shell_there() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let sshd = Sshd::start(world, None)?;
        tmux.enters(&format!("clear; agent-bash tui --on {NAME}"))?;
        tmux.shows(PROMPT)?;
        tmux.enters("mkdir below; cd below")?;
        tmux.shows("/below · ✓ exit 0")?;
        tmux.enters("cd /; false")?;
        tmux.shows("  / · ✗ exit 1")?;
        tmux.enters("pwd")?;
        tmux.shows("│ /\n")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        drop(sshd);
        Ok(())
    })
}
