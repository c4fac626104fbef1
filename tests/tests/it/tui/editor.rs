//! The person's own editor: for the prompt, and for commands on a terminal.

use super::{PROMPT, on_a_terminal};
use anyhow::{Result, ensure};

#[test]
fn line_is_edited_in_the_users_editor() -> Result<()> {
    on_a_terminal(|tmux, world| {
        // Without `F`, vim waits for a key if the file's path is longer than a row.
        tmux.enters("EDITOR='vim -u NONE --cmd \"set shortmess+=F\"' agent-bash tui")?;
        tmux.shows(PROMPT)?;
        // Running commands continue meanwhile.
        tmux.enters("until [ -e ../go ]; do sleep 0.1; done; touch ../went-on")?;
        tmux.shows("esc to cancel")?;
        tmux.types("echo one")?;
        tmux.press(&["C-x", "C-e"])?;
        // The editor has the whole terminal.
        let screen = tmux.shows("echo one\n~")?;
        ensure!(!screen.contains("❯"), "{screen}");
        ensure!(screen.matches("\n~").count() > 20, "{screen}");
        std::fs::write(world.cwd().join("../go"), "")?;
        tmux.types(":s/one/two/")?;
        tmux.press(&["Enter"])?;
        tmux.shows("echo two\n~")?;
        agent_bash_tests::poll::until(std::time::Duration::from_secs(30), || {
            world.cwd().join("../went-on").exists().then_some(())
        });
        ensure!(world.cwd().join("../went-on").exists());
        tmux.types(":wq")?;
        tmux.press(&["Enter"])?;
        tmux.shows("❯ echo two")?;
        tmux.press(&["Enter"])?;
        tmux.shows("│ two\n")?;
        // Its temporary file is removed.
        tmux.enters(
            "ls /tmp/agent-bash-*.sh \"${TMPDIR:-/tmp}\"/agent-bash-*.sh 2>/dev/null | wc -l",
        )?;
        tmux.shows("│ 0\n")?;
        tmux.press(&["C-d"])?;
        tmux.hides(PROMPT).map(drop)
    })
}

#[test]
fn failed_editor_keeps_the_line_and_receives_its_interrupts() -> Result<()> {
    on_a_terminal(|tmux, _| {
        for (editor, printed) in [
            (
                "sh -c \"exit 3\"",
                "has not changed the line: it ended with exit 3",
            ),
            (
                "/nowhere/ed",
                "there is no such command; set VISUAL or EDITOR",
            ),
            (
                "sh -c \"echo interrupt me; sleep 300\"",
                "has not changed the line",
            ),
        ] {
            tmux.enters(&format!(
                "clear; VISUAL='{editor}' EDITOR=true agent-bash tui"
            ))?;
            tmux.shows(PROMPT)?;
            tmux.types("echo same")?;
            tmux.press(&["C-x", "C-e"])?;
            if editor.contains("interrupt") {
                tmux.shows("interrupt me")?;
                tmux.press(&["C-c"])?;
            }
            tmux.shows(printed)?;
            tmux.shows("❯ echo same")?;
            // The interface continues.
            tmux.press(&["Enter"])?;
            tmux.shows("│ same\n")?;
            tmux.press(&["C-d"])?;
            tmux.hides(PROMPT)?;
        }
        Ok(())
    })
}

#[test]
fn command_on_a_terminal_has_the_users_editor() -> Result<()> {
    on_a_terminal(|tmux, _| {
        tmux.enters("export EDITOR=my-editor PAGER=my-pager")?;
        tmux.enters("clear; agent-bash run --pty 'echo $EDITOR and $PAGER'")?;
        tmux.shows("my-editor and my-pager")?;
        // A variable of the call takes precedence.
        tmux.enters("clear; agent-bash run --pty --env EDITOR=its-own 'echo $EDITOR and $PAGER'")?;
        tmux.shows("its-own and my-pager")?;
        // Control: without a terminal the question could not be answered.
        tmux.enters("clear; agent-bash run 'echo $EDITOR and $PAGER'")?;
        tmux.shows("true and cat").map(drop)
    })
}
