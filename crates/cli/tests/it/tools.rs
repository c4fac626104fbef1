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

#[test]
fn result_of_a_refused_command_has_the_code_by_which_the_user_can_allow_it() {
    let home = Home::new();
    let run = home.run(&["run", "--json", "git add -A"]);
    let result: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let code = result["exception_code"].as_str().expect("a code");
    let listed = home.run(&["allow"]);
    assert!(listed.stdout.contains(code), "{}", listed.stdout);
    let run = home.run(&["run", "--json", "true"]);
    let result: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(result.get("exception_code").is_none(), "{}", run.stdout);
}

#[test]
fn check_prints_the_advice_of_the_users_rules() {
    let home = Home::new();
    home.write(
        ".config/agent-bash/config.toml",
        r#"[safety]
rules = [
  { match = { program = "pip" }, say = "this project uses uv", instead = "uv add", verdict = "advise" },
  { match = { program = "make" }, say = "no make", instead = "just" },
]
"#,
    );
    let advice = "advice: this project uses uv\ninstead: uv add\n";
    let checked = home.run(&["check", "sudo pip install x"]);
    assert_eq!(checked.stdout, format!("allowed\n{advice}"));
    let checked = home.run(&["check", "pip list && make"]);
    assert!(
        checked
            .stdout
            .starts_with("refused by user_rule: no make\n"),
        "{}",
        checked.stdout
    );
    assert!(
        checked
            .stdout
            .ends_with(&format!("instead: just\n{advice}")),
        "{}",
        checked.stdout
    );
    assert_eq!(home.run(&["check", "ls"]).stdout, "allowed\n");
    // The model reads the alternative, too.
    let run = home.run(&["run", "sudo make"]);
    let text = "Blocked: no make\nInstead: just\n\nOriginal command: sudo make";
    assert_eq!(run.stdout.trim_end(), text);
}
