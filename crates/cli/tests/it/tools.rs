//! The setting that names the model's other tools, and the texts without it.

use crate::support::Home;

const BLOCK: (&str, &str) = ("AGENT_BASH_INTERCEPTOR_MODE", "block");

#[test]
fn interceptor_without_tools_is_reported() {
    let home = Home::new();
    let without = "names no tools";
    for (words, variables, is_reported) in [
        (&["doctor"][..], &[BLOCK][..], true),
        (&["settings"], &[BLOCK], true),
        (&["doctor"], &[], false),
        (&["settings"], &[], false),
        (
            &["doctor"],
            &[BLOCK, ("AGENT_BASH_INTERCEPTOR_TOOLS", "read")],
            false,
        ),
        (
            &["settings"],
            &[BLOCK, ("AGENT_BASH_INTERCEPTOR_TOOLS", "read")],
            false,
        ),
    ] {
        let run = home.run_with(words, variables);
        assert_eq!(run.code, Some(0), "{words:?}: {}", run.stdout);
        let text = run.stdout + &run.stderr;
        assert_eq!(
            text.contains(without),
            is_reported,
            "{words:?} {variables:?}: {text}"
        );
    }
}

#[test]
fn tools_option_overrides_variable_and_file() {
    let home = Home::new();
    home.write("notes.txt", "a line\n");
    home.write(
        ".config/agent-bash/config.toml",
        "[interceptor]\nmode = \"block\"\ntools = [\"read\"]",
    );
    let variable = ("AGENT_BASH_INTERCEPTOR_TOOLS", "grep");
    for (tools, variables, blocked) in [
        (None, &[][..], true),
        (None, &[variable], false),
        (Some("--tools=edit, read"), &[variable], true),
        (Some("--tools="), &[], false),
    ] {
        let words: Vec<&str> = ["run"]
            .into_iter()
            .chain(tools)
            .chain(["cat notes.txt"])
            .collect();
        let run = home.run_with(&words, variables);
        assert_eq!(
            run.code == Some(125),
            blocked,
            "{tools:?} {variables:?}: {}{}",
            run.stdout,
            run.stderr
        );
        assert_eq!(run.stderr, "", "{tools:?}");
    }
}

#[test]
fn tools_option_without_the_interceptor_is_reported() {
    let home = Home::new();
    let run = home.run(&["run", "--tools", "read", "cat /dev/null"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("interceptor.mode"), "{}", run.stderr);
}

#[test]
fn check_and_explain_decide_as_run_does() {
    let home = Home::new();
    home.write("notes.txt", "a line\n");
    let tools = ("AGENT_BASH_INTERCEPTOR_TOOLS", "read");
    let mode = |mode| ("AGENT_BASH_INTERCEPTOR_MODE", mode);
    for (variables, refused) in [
        (&[mode("block"), tools][..], true),
        (&[mode("block")], false),
        (&[mode("advise"), tools], false),
        (&[mode("off"), tools], false),
    ] {
        let ran = home.run_with(&["run", "cat notes.txt"], variables);
        let checked = home.run_with(&["check", "cat notes.txt"], variables);
        let explained = home.run_with(&["explain", "cat notes.txt"], variables);
        assert_eq!(ran.code == Some(125), refused, "{variables:?}");
        assert_eq!(
            checked.code == Some(1),
            refused,
            "{variables:?}: {}",
            checked.stdout
        );
        assert_eq!(
            explained.code, checked.code,
            "{variables:?}: {}",
            explained.stdout
        );
    }
    // `--tools` enables the check whatever the settings say.
    assert_eq!(
        home.run(&["check", "--tools", "read", "cat notes.txt"])
            .code,
        Some(1)
    );
}
