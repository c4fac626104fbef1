//! `tui --on`: a local interface with remote commands.

use super::{PROMPT, on_a_terminal};
use agent_bash_tests::targets::{NAME, Sshd};
use anyhow::Result;

#[test]
fn line_typed_locally_runs_on_the_target() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let sshd = Sshd::start(world, None)?;
        tmux.enters(&format!("agent-bash tui --on {NAME}"))?;
        tmux.shows(PROMPT)?;
        // Only a login by ssh has this variable.
        tmux.enters("set -- $SSH_CONNECTION; echo words: $#; exit 3")?;
        tmux.shows("│ words: 4")?;
        tmux.shows("╰ exit 3")?;
        // Checked locally: the target has no rules.
        tmux.enters("git add -A")?;
        tmux.shows("╰ blocked")?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        tmux.enters("echo left: $?")?;
        tmux.shows("left: 0")?;
        // Control: the same question locally.
        tmux.enters("clear; set -- $SSH_CONNECTION; echo words: $#")?;
        tmux.shows("words: 0")?;
        drop(sshd);
        Ok(())
    })
}

#[test]
fn line_on_a_target_has_no_time_limit() -> Result<()> {
    on_a_terminal(|tmux, world| {
        let sshd = Sshd::start(world, None)?;
        // An upper bound on calls' limits also applies to the profile's default.
        tmux.enters(&format!(
            "clear; AGENT_BASH_TIMEOUT_MAX=1s agent-bash tui --on {NAME}"
        ))?;
        tmux.shows(PROMPT)?;
        tmux.enters("sleep 2.5; echo slept")?;
        tmux.shows("│ slept")?;
        tmux.shows("╰ exit 0")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        // Control: a limit that is set applies.
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
fn prompt_shows_the_remote_directory() -> Result<()> {
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
