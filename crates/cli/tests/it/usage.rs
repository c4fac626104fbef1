//! The command line for people: explained errors, completion, lists, effective settings.

use crate::support::{Home, Run};

#[test]
fn usage_errors_explain_the_valid_values() {
    let home = Home::new();
    for (words, printed) in [
        (&["run", "ls", "-la"][..], "agent-bash run -- ls -la"),
        (&["run", "--head", "0", "ls"], "a whole number, 1 or more"),
        (&["run", "--head", "x", "ls"], "a whole number, 1 or more"),
        (&["run", "--tail", "-1", "ls"], "a whole number, 1 or more"),
        (
            &["artifact", "show", "0", "--offset", "0"],
            "a whole number, 1 or more",
        ),
        (
            &["jobs", "output", "1", "--tail", "0"],
            "a whole number, 1 or more",
        ),
        (
            &["run", "--pty", "--trial", "echo x > made"],
            "a trial is not possible on a terminal",
        ),
    ] {
        let run = home.run(words);
        assert_eq!(run.code, Some(2), "{words:?}: {}", run.stdout);
        assert!(run.stderr.contains(printed), "{words:?}: {}", run.stderr);
        for jargon in ["non-zero", "digit", "NonZero"] {
            assert!(!run.stderr.contains(jargon), "{words:?}: {}", run.stderr);
        }
    }
}

#[test]
fn safe_mode_option_works_alike_in_run_check_and_explain() {
    let home = Home::new();
    for command in ["run", "check", "explain"] {
        for (mode, script, refused) in [
            (&["--safe-mode"][..], "touch x", true),
            (&["--safe-mode"], "ls", false),
            (&["--safe-mode=listed"], "git push", false),
            (&["--safe-mode", "listed"], "ls", false),
            (&["--safe-mode", "read_only"], "git -c x.y=z log", true),
            (&["--safe-mode=read-only"], "touch x", true),
        ] {
            if command == "run" && !refused && script != "ls" {
                continue;
            }
            let words: Vec<&str> = [command]
                .into_iter()
                .chain(mode.iter().copied())
                .chain([script])
                .collect();
            let run = home.run(&words);
            assert_ne!(run.code, Some(2), "{words:?}: {}", run.stderr);
            assert_eq!(run.code != Some(0), refused, "{words:?}: {}", run.stdout);
        }
    }
}

/// Returns the completions of the last word, with the completion script.
fn completed(home: &Home, words: &str) -> Vec<String> {
    home.write("complete.bash", &home.run(&["completions", "bash"]).stdout);
    let program = env!("CARGO_BIN_EXE_agent-bash");
    let script = format!(
        r#"source ./complete.bash
        agent-bash() {{ '{program}' "$@"; }}
        read -ra COMP_WORDS <<< '{words} x'
        unset 'COMP_WORDS[-1]'
        [[ '{words}' == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        found=$(complete -p agent-bash)
        [[ $found =~ -F\ ([^ ]+) ]]
        "${{BASH_REMATCH[1]}}" agent-bash "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
        printf '%s\n' "${{COMPREPLY[@]}}""#
    );
    let run = Run::of(home.program("bash").args(["--norc", "-c", &script]));
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completion_offers_commands_options_and_numbers() {
    let home = Home::new();
    home.run(&["run", "seq 50000"]);
    let job = home.run(&["run", "--mode", "background", "sleep 300"]);
    assert!(job.stdout.contains("job 1"), "{}", job.stdout);
    for (words, wanted) in [
        ("agent-bash ru", "run"),
        ("agent-bash run --pro", "--profile"),
        ("agent-bash run --profile wo", "workspace"),
        ("agent-bash jobs ou", "output"),
        ("agent-bash jobs output --fo", "--follow"),
        ("agent-bash jobs output ", "1"),
        ("agent-bash artifact show ", "0"),
        ("agent-bash artifact show --ta", "--tail"),
        ("agent-bash artifact show --tail 5 ", "0"),
        ("agent-bash schema --adapter co", "codex"),
        ("agent-bash setup --agent cla", "claude-code"),
    ] {
        let offered = completed(&home, words);
        assert!(
            offered.iter().any(|word| word == wanted),
            "{words:?}: {offered:?}"
        );
    }
    // Control: nothing that does not exist, and nothing twice.
    assert!(!completed(&home, "agent-bash jobs kill 1 ").contains(&"1".to_owned()));
    assert!(!completed(&home, "agent-bash jobs output ").contains(&"7".to_owned()));
    home.run(&["jobs", "kill", "1"]);
}

#[test]
fn lists_show_headings_and_relative_times() {
    let home = Home::new();
    home.run(&["run", "seq 50000"]);
    home.run(&["run", "--mode", "background", "exit 3"]);
    home.run(&["jobs", "wait", "1"]);
    for (words, heading, cells) in [
        (
            &["artifact", "list"][..],
            "OUTPUT",
            &["artifact://0", "50000", "282.1 KB", "seq 50000"][..],
        ),
        (
            &["jobs", "list"],
            "JOB",
            &["1", "exited with code 3", "exit 3"],
        ),
    ] {
        let text = home.run(words).stdout;
        let mut lines = text.lines();
        assert!(lines.next().expect("a line").starts_with(heading), "{text}");
        let line = lines.next().expect("another");
        for cell in cells {
            assert!(line.contains(cell), "{cell}: {text}");
        }
        assert!(line.contains(" ago") || line.contains("just now"), "{text}");
    }
}

#[test]
fn settings_lists_effective_values_and_origins() {
    let home = Home::new();
    let value = |profile: &[(&str, &str)], key: &str| {
        let text = home.run_with(&["settings"], profile).stdout;
        let line = text.lines().find(|line| line.starts_with(key));
        line.expect("the setting").to_owned()
    };
    let modes = ("AGENT_BASH_PROFILE", "modes");
    assert_eq!(
        value(&[modes], "timeout.default"),
        "timeout.default = \"30s\"  # profile modes"
    );
    assert_eq!(
        value(&[], "timeout.default"),
        "timeout.default = \"5m\"  # profile standard"
    );
    assert_eq!(
        value(
            &[
                ("AGENT_BASH_TIMEOUT_DEFAULT", "7h"),
                ("AGENT_BASH_TIMEOUT_MAX", "10s")
            ],
            "timeout.default"
        ),
        "timeout.default = \"10s\"  # $AGENT_BASH_TIMEOUT_DEFAULT",
        "the effective value, not the requested one"
    );
    let json = home.run_with(&["settings", "--json"], &[modes]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["timeout.default"]["value"], "\"30s\"", "as data, too");
    assert_eq!(json["timeout.default"]["origin"], "profile modes");
    let named = ("AGENT_BASH_SHELL_PATH", "/bin/sh");
    for variables in [&[modes][..], &[modes, named]] {
        let shell = value(variables, "shell.path");
        assert!(
            shell.contains("/bash\"") && !shell.contains("not set"),
            "{shell}"
        );
    }
    let shell = value(&[named], "shell.path");
    assert!(shell.contains("/bin/sh"), "the control: {shell}");
}

#[test]
fn doctor_reports_invalid_settings_and_continues() {
    let home = Home::new();
    home.write(".config/agent-bash/config.toml", "profle = \"modes\"");
    let run = home.run(&["doctor"]);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    let line = |what: &str| {
        let found = run.stdout.lines().find(|line| line[9..].starts_with(what));
        found.expect("a line").to_owned()
    };
    let settings = line("settings");
    assert!(settings.starts_with("PROBLEM"), "{settings}");
    assert!(
        settings.contains("config.toml") && settings.contains("`profile`"),
        "{settings}"
    );
    assert!(line("canary").starts_with("ok"), "{}", run.stdout);
    home.write(".config/agent-bash/config.toml", "");
    assert_eq!(home.run(&["doctor"]).code, Some(0), "the control");
}

#[test]
fn doctor_checks_work_under_restrictive_settings() {
    let home = Home::new();
    for settings in [
        "[safe_mode]\nlevel = \"listed\"",
        "[sandbox]\nlevel = \"read_only\"",
    ] {
        home.write(".config/agent-bash/config.toml", settings);
        let run = home.run(&["doctor"]);
        for works in ["canary", "survivors", "artifacts", "terminal"] {
            let printed = run.stdout.lines().find(|line| line[9..].starts_with(works));
            let printed = printed.expect("a line");
            assert!(printed.starts_with("ok"), "{settings}: {printed}");
        }
    }
}

#[test]
fn help_of_a_command_begins_with_its_line_in_the_list() {
    let home = Home::new();
    let list = home.run(&["--help"]).stdout;
    let commands = list.split("Commands:\n").nth(1).expect("a list");
    let mut compared = 0;
    let lines = commands.lines().take_while(|line| !line.is_empty());
    for line in lines.filter(|line| !line.starts_with("   ")) {
        let (name, about) = line.trim().split_once("  ").expect("a name and a text");
        if name == "help" {
            continue;
        }
        let help = home.run(&[name, "--help"]).stdout;
        let first = help.lines().next().unwrap_or_default();
        // A long line continues in the next line of the list.
        assert!(first.starts_with(about.trim()), "{name}: {first}");
        compared += 1;
    }
    assert!(compared > 15, "{list}");
}

#[test]
fn relative_state_directory_is_a_usage_error() {
    let home = Home::new();
    let run = home.run_with(&["log", "--list"], &[("AGENT_BASH_STATE_DIR", "state")]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let absolute = home.path().join("state");
    let absolute = absolute.to_string_lossy();
    assert!(
        run.stderr.contains("absolute path") && run.stderr.contains(&*absolute),
        "{}",
        run.stderr
    );
}

#[test]
fn help_names_no_files_of_the_source_tree() {
    let home = Home::new();
    for command in [
        "run", "tui", "mcp", "rpc", "check", "explain", "schema", "artifact", "jobs", "env",
        "settings", "doctor", "clean", "completions", "man",
    ] {
        let help = home.run(&[command, "--help"]).stdout;
        assert!(!help.contains("docs/"), "{command}: {help}");
    }
    assert!(
        home.run(&["man", "--guide", "rpc"])
            .stdout
            .contains("tool_call")
    );
}
