//! The panel of jobs, and what becomes of jobs when the interface is left.

use super::{PROMPT, in_the_interface, on_a_terminal};
use anyhow::Result;

#[test]
fn jobs_that_live_on_are_named_when_it_is_left() -> Result<()> {
    on_a_terminal(|tmux, _| {
        for (option, answer, lives) in [("keep", "", true), ("end", "", false), ("ask", "e", false)]
        {
            tmux.enters(&format!(
                "clear; agent-bash tui --state s --on-quit={option}"
            ))?;
            tmux.shows(PROMPT)?;
            tmux.enters("sleep 300 &")?;
            tmux.shows("· 1 job")?;
            tmux.press(&["C-d"])?;
            if !answer.is_empty() {
                tmux.shows("to quit: e end the job, k keep · esc stay")?;
                tmux.press(&[answer])?;
            }
            tmux.hides(PROMPT)?;
            if lives {
                tmux.shows("to see and end them: agent-bash jobs list --state s")?;
            }
            tmux.enters("clear; agent-bash jobs list --state s | grep sleep | grep -c running")?;
            tmux.shows(if lives { "1\n" } else { "0\n" })?;
            tmux.enters("clear; agent-bash jobs kill --state s 1; echo killed")?;
            tmux.shows("killed")?;
        }
        Ok(())
    })
}

#[test]
fn jobs_are_listed_read_and_killed() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters("echo from the job; sleep 300 & echo left")?;
        tmux.shows("still running as job 1")?;
        tmux.shows("· 1 job")?;
        tmux.press(&["C-g"])?;
        tmux.shows("Jobs  1 running, 1 in all")?;
        tmux.shows("│ from the job")?;
        tmux.press(&["Enter"])?;
        tmux.shows("2 │left")?;
        tmux.press(&["q"])?;
        tmux.shows("Jobs  1 running")?;
        tmux.press(&["j", "k", "x"])?;
        tmux.shows("end job 1? y ends it · n leaves it")?;
        tmux.press(&["n"])?;
        tmux.shows("job 1 is left alone")?;
        tmux.press(&["x"])?;
        tmux.shows("end job 1?")?;
        tmux.press(&["y"])?;
        tmux.shows("job 1 was ended")?;
        tmux.shows("Jobs  0 running, 1 in all")?;
        tmux.press(&["Escape"])?;
        tmux.hides("· 1 job")?;
        // Its card says so, too.
        tmux.hides("still running as job 1")?;
        Ok(())
    })
}
