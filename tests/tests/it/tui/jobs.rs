//! The panel of jobs, and jobs after the interface has quit.

use super::{PROMPT, in_the_interface, on_a_terminal};
use anyhow::{Result, ensure};

#[test]
fn quitting_names_running_jobs() -> Result<()> {
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
            // The jobs are named, whatever their state.
            if lives {
                tmux.shows("still running: job ")?;
                tmux.shows("to see and end them: agent-bash jobs list --state s")?;
            } else {
                tmux.shows("ended: job ")?;
            }
            tmux.enters("clear; agent-bash jobs list --state s | grep sleep | grep -c running")?;
            tmux.shows(if lives { "1\n" } else { "0\n" })?;
            tmux.enters("clear; agent-bash jobs kill --state s 1; echo 'kill'ed")?;
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
        tmux.shows("end job 1? y ends it · n keeps it")?;
        tmux.press(&["n"])?;
        tmux.shows("job 1 continues")?;
        tmux.press(&["x"])?;
        tmux.shows("end job 1?")?;
        tmux.press(&["y"])?;
        tmux.shows("job 1 was ended")?;
        tmux.shows("Jobs  0 running, 1 in all")?;
        tmux.press(&["Escape"])?;
        tmux.hides("· 1 job")?;
        // Its card shows this, too.
        tmux.hides("still running as job 1")?;
        Ok(())
    })
}

/// The panel agrees with the other lists of the same jobs; the next run knows how a job ended.
#[test]
fn jobs_panel_agrees_with_jobs_list_and_the_next_run() -> Result<()> {
    on_a_terminal(|tmux, _| {
        tmux.enters("clear; agent-bash tui --state s")?;
        tmux.shows(PROMPT)?;
        // The process ends once it is a job: the job runs only for a moment, and the user has not
        // asked for it.
        let until = "until [ -e ../state/s/jobs/1/job.json ]; do sleep 0.01; done";
        tmux.enters(&format!("echo short; bash -c '({until}) &'"))?;
        tmux.shows("╰ exit 0")?;
        tmux.enters("sleep 300 & echo long")?;
        tmux.shows("↯ still running as job 2")?;
        tmux.press(&["C-g"])?;
        let screen = tmux.shows("Jobs  1 running, 1 in all")?;
        ensure!(!screen.contains("echo short"), "{screen}");
        tmux.press(&["x"])?;
        tmux.shows("end job 2?")?;
        tmux.press(&["y"])?;
        tmux.shows("■ ended")?;
        tmux.press(&["Escape"])?;
        let screen = tmux.shows("· ran on as job 2 after the command, and has ended")?;
        ensure!(!screen.contains("job 1"), "{screen}");
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT)?;
        tmux.enters("clear; agent-bash jobs list --state s")?;
        let screen = tmux.shows("ended by SIGTERM, on request")?;
        ensure!(!screen.contains("echo short"), "{screen}");
        tmux.enters("clear; agent-bash tui --state s")?;
        tmux.shows(PROMPT)?;
        tmux.press(&["C-g"])?;
        tmux.shows("Jobs  0 running, 1 in all")?;
        tmux.shows("■ ended")?;
        tmux.press(&["Escape"])?;
        tmux.hides("Jobs  0 running")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

#[test]
fn slow_quit_names_what_it_waits_for() -> Result<()> {
    on_a_terminal(|tmux, _| {
        tmux.enters("clear; agent-bash tui --state s")?;
        tmux.shows(PROMPT)?;
        tmux.enters("trap '' TERM; echo begun; sleep 300; sleep 300")?;
        tmux.shows("│ begun")?;
        tmux.press(&["C-d"])?;
        tmux.shows("ctrl+d again ends `trap")?;
        tmux.press(&["C-d"])?;
        tmux.shows("ending `trap '' TERM; echo begun; sleep 300; sleep 300` …")
            .map(drop)
    })
}
