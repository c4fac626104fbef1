//! `agent-bash hook --take-over` and the lines of `doctor` about agents.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use crate::support::{Home, Run};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// The agents with a setting: its file in a home, the path of the setting, the name of the link.
const SETTINGS: [(&str, &str, &str, &str); 5] = [
    (
        "claude-code",
        ".claude/settings.json",
        "/env/CLAUDE_CODE_SHELL_PREFIX",
        "agent-bash-shell",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "/shell",
        "bash",
    ),
    ("pi", ".pi/agent/settings.json", "/shellPath", "bash"),
    (
        "vscode",
        ".config/Code/User/settings.json",
        "/terminal.integrated.automationProfile.linux/path",
        "bash",
    ),
    (
        "vscode-insiders",
        ".config/Code - Insiders/User/settings.json",
        "/terminal.integrated.automationProfile.linux/path",
        "bash",
    ),
];

fn install(home: &Home, agent: &str) -> Run {
    home.run(&["hook", "--install", "--take-over", agent, "--yes"])
}

fn uninstall(home: &Home, agent: &str) -> Run {
    home.run(&["hook", "--uninstall", "--take-over", agent, "--yes"])
}

fn link(home: &Home, name: &str) -> PathBuf {
    let links = home.path().join(".local/share/agent-bash/links");
    links.join(name)
}

#[test]
fn installed_setting_names_a_working_link_and_uninstall_restores_the_file() {
    for (agent, file, pointer, name) in SETTINGS {
        let home = Home::new();
        let before = "{\n    \"model\": \"x\",\n    \"env\": {}\n}";
        home.write(file, before);
        let text = || fs::read_to_string(home.path().join(file)).expect("the file");
        // Without a terminal, the change is shown and not written.
        let shown = home.run(&["hook", "--install", "--take-over", agent]);
        assert_eq!(shown.code, Some(2), "{}", shown.stderr);
        assert!(shown.stdout.contains(name), "{}", shown.stdout);
        assert_eq!(text(), before);
        assert!(!link(&home, name).exists());

        let done = install(&home, agent);
        assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
        let settings: Value = serde_json::from_str(&text()).expect("JSON");
        let path = settings.pointer(pointer).and_then(Value::as_str);
        assert_eq!(path, link(&home, name).to_str(), "{settings}");
        let again = install(&home, agent);
        assert!(again.stdout.contains("already"), "{}", again.stdout);

        // A link that an update has broken is repaired.
        fs::remove_file(link(&home, name)).expect("a link");
        symlink("/old/agent-bash", link(&home, name)).expect("a link");
        assert_eq!(install(&home, agent).code, Some(0));
        assert!(link(&home, name).exists());

        let undone = uninstall(&home, agent);
        assert_eq!(undone.code, Some(0), "{}", undone.stderr);
        assert_eq!(text(), before);
        // A running agent still needs the link.
        assert!(link(&home, name).exists());
        let nothing = uninstall(&home, agent);
        assert!(nothing.stdout.contains("does not go"), "{}", nothing.stdout);
        assert_eq!(text(), before);
    }
}

/// Runs a link as an agent does. Returns the exit code and stdout.
fn run_link(
    home: &Home,
    name: &str,
    words: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String) {
    let mut command = home.program(link(home, name));
    command.args(words).envs(variables.iter().copied());
    let run = Run::of(&mut command);
    (run.code, run.stdout)
}

#[test]
fn link_runs_and_records_the_call_of_an_agent() {
    let home = Home::new();
    for agent in ["claude-code", "opencode"] {
        assert_eq!(install(&home, agent).code, Some(0));
    }
    let run = |name: &str, words: &[&str], variables: &[(&str, &str)]| {
        run_link(&home, name, words, variables)
    };
    let model = [
        ("AI_AGENT", "claude-code_2-1-332_agent"),
        ("CLAUDE_CODE_SESSION_ID", "one"),
    ];
    let prefixed = run("agent-bash-shell", &["echo a b; exit 3"], &model);
    assert_eq!(prefixed, (Some(3), "a b\n".to_owned()));
    let as_bash = run(
        "bash",
        &["-c", "echo $0 $1", "n", "x"],
        &[("CODEX_THREAD_ID", "two")],
    );
    assert_eq!(as_bash, (Some(0), "n x\n".to_owned()));
    let log = |state: &str| home.run(&["log", state]).stdout;
    assert!(log("claude-code-one").contains("echo a b; exit 3"));
    assert!(log("codex-two").contains("echo $0 $1"));
    // Control: a command that the agent itself runs is not recorded.
    let harness = [
        ("AI_AGENT", "claude-code_2-1-332_harness"),
        ("CLAUDE_CODE_SESSION_ID", "three"),
    ];
    let hook = run("agent-bash-shell", &["echo hook line"], &harness);
    assert_eq!(hook, (Some(0), "hook line\n".to_owned()));
    assert_eq!(log("claude-code-three"), "");
}

#[test]
fn link_records_calls_of_claude_code_without_ai_agent() {
    let home = Home::new();
    assert_eq!(install(&home, "claude-code").code, Some(0));
    let cwd_file = home.path().join("claude-1-cwd");
    let end = format!("&& pwd -P >| {}", cwd_file.display());
    // The second wrapper is of no known version.
    for (id, script) in [
        (
            "known",
            format!(r"eval 'echo of the model' \< /dev/null {end}"),
        ),
        (
            "unknown",
            format!("umask 022 && eval 'echo of the model' {end}"),
        ),
        ("hook", "echo of the model".to_owned()),
    ] {
        let variables = [("CLAUDE_CODE_SESSION_ID", id)];
        let ran = run_link(&home, "agent-bash-shell", &[&script], &variables);
        assert_eq!(ran, (Some(0), "of the model\n".to_owned()), "{id}");
        let log = home.run(&["log", &format!("claude-code-{id}")]).stdout;
        assert_eq!(
            log.contains("echo of the model"),
            id != "hook",
            "{id}: {log}"
        );
        assert_eq!(log.contains("eval"), id == "unknown", "{id}: {log}");
    }
}

#[test]
fn link_fails_by_its_own_exit_code_if_settings_are_invalid() {
    let home = Home::new();
    assert_eq!(install(&home, "opencode").code, Some(0));
    let run = || run_link(&home, "bash", &["-c", "echo ran"], &[]);
    assert_eq!(run(), (Some(0), "ran\n".to_owned()));
    home.write(".agent-bash.toml", "[safety");
    assert_eq!(run(), (Some(125), String::new()));
}

#[test]
fn link_checks_the_parameters_of_a_script() {
    let home = Home::new();
    assert_eq!(install(&home, "opencode").code, Some(0));
    // The wrapper of an agent around the model's text.
    let cwd_file = home.path().join("claude-1-cwd");
    let wrapped = |text: &str| {
        let file = cwd_file.display();
        format!(r"eval '{text}' \< /dev/null && pwd -P >| {file}")
    };
    let (evaluates, prints) = (wrapped("eval \"$1\""), wrapped("echo \"$1\""));
    let rows: [(&[&str], i32); 6] = [
        (&["-c", evaluates.as_str(), "n", "git push --force"], 126),
        (&["-c", prints.as_str(), "n", "git push --force"], 0),
        (&["-c", "\"$@\"", "n", "git", "push", "--force"], 126),
        (&["-c", "eval \"$1\"", "n", "git push --force"], 126),
        (&["-c", "$0", "git push --force"], 126),
        (&["-c", "echo \"$@\"", "n", "git", "push", "--force"], 0),
    ];
    for (words, code) in rows {
        let (ended, stdout) = run_link(&home, "bash", words, &[]);
        assert_eq!(ended, Some(code), "{words:?}: {stdout}");
    }
}

#[test]
fn install_refuses_a_blank_in_the_path_only_for_the_prefix() {
    let home = Home::new();
    let data = home.path().join("a b").display().to_string();
    let install = |agent: &str| {
        let words = ["hook", "--install", "--take-over", agent, "--yes"];
        home.run_with(&words, &[("XDG_DATA_HOME", &data)])
    };
    let refused = install("claude-code");
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("XDG_DATA_HOME"),
        "{}",
        refused.stderr
    );
    assert!(!home.path().join(".claude").exists());
    let control = install("opencode");
    assert_eq!(control.code, Some(0), "{}", control.stderr);
}

#[test]
fn install_refuses_to_replace_the_users_shell() {
    let home = Home::new();
    let before = "{\"shell\": \"/bin/zsh\"} // mine\n";
    home.write(".config/opencode/opencode.jsonc", before);
    let file = home.path().join(".config/opencode/opencode.jsonc");
    let refused = install(&home, "opencode");
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("/bin/zsh"), "{}", refused.stderr);
    assert_eq!(uninstall(&home, "opencode").code, Some(0));
    assert_eq!(fs::read_to_string(file).expect("the file"), before);
    // Control: a file that contains only comments is changed.
    home.write(".config/opencode/opencode.jsonc", "{ // mine\n}\n");
    assert_eq!(install(&home, "opencode").code, Some(0));
}

#[test]
fn agents_without_a_setting_get_instructions() {
    let home = Home::new();
    for (agent, program) in [("gemini-cli", "gemini"), ("qwen", "qwen")] {
        let printed = install(&home, agent);
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        let links = link(&home, "bash");
        let links = links.parent().expect("a parent").display();
        let line = format!("PATH={links}:\"$PATH\" {program}\n");
        assert!(printed.stdout.contains(&line), "{}", printed.stdout);
        assert!(link(&home, "bash").exists());
        assert_eq!(uninstall(&home, agent).code, Some(0));
    }
    let codex = install(&home, "codex");
    assert_eq!(codex.code, Some(2));
    for part in ["--take-over=rewrite codex", "no longer asks", "permission"] {
        assert!(codex.stderr.contains(part), "{}", codex.stderr);
    }
    for words in [
        &["hook", "--install", "auto"][..],
        &["hook", "--install", "--project", "kimi", "--yes"],
        &["hook", "--install", "--take-over", "copilot", "--yes"],
        &["hook", "--uninstall", "--take-over", "copilot", "--yes"],
        &[
            "hook", "--install", "--take-over=rewrite", "cursor", "--yes",
        ],
        &["hook", "--install", "--take-over=rewrite", "qwen", "--yes"],
        &["hook", "--take-over", "claude-code"],
    ] {
        let refused = home.run(words);
        assert_eq!(refused.code, Some(2), "{words:?}: {}", refused.stdout);
        assert!(
            refused.stderr.starts_with("agent-bash: "),
            "{}",
            refused.stderr
        );
    }
    assert!(!home.path().join(".qwen").exists());
}

/// An agent whose hook can replace commands.
struct RewritingCase {
    agent: &'static str,
    /// A part of the note on the cost.
    cost: &'static str,
    /// The settings file, and the hook's line in it.
    settings: (&'static str, &'static str),
    /// The call without its input, and the name of the input.
    call: (Value, &'static str),
    /// The new input in the answer.
    answer: &'static str,
    decision: Option<&'static str>,
    /// A variable that the agent passes to its commands.
    variable: Option<(&'static str, &'static str)>,
    /// The name of the conversation.
    conversation: &'static str,
}

#[test]
fn rewriting_hook_makes_the_agent_call_agent_bash() {
    rewriting(&RewritingCase {
        agent: "codex",
        cost: "no longer asks you",
        settings: (".codex/hooks.json", "/hooks/PreToolUse/0/hooks/0/command"),
        call: (
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash"}),
            "tool_input",
        ),
        answer: "/hookSpecificOutput/updatedInput",
        decision: Some("allow"),
        variable: Some(("CODEX_THREAD_ID", "one")),
        conversation: "codex-one",
    });
    rewriting(&RewritingCase {
        agent: "gemini-cli",
        cost: "asks you about the new text",
        settings: (
            ".gemini/settings.json",
            "/hooks/BeforeTool/0/hooks/0/command",
        ),
        call: (
            json!({
                "hook_event_name": "BeforeTool", "session_id": "two",
                "tool_name": "run_shell_command",
            }),
            "tool_input",
        ),
        answer: "/hookSpecificOutput/tool_input",
        decision: None,
        variable: None,
        conversation: "gemini-cli-two",
    });
    rewriting(&RewritingCase {
        agent: "copilot",
        cost: "asks you about the new text",
        settings: (".copilot/hooks/agent-bash.json", "/hooks/preToolUse/0/bash"),
        call: (
            json!({"sessionId": "three", "toolName": "bash"}),
            "toolArgs",
        ),
        answer: "/modifiedArgs",
        decision: None,
        variable: Some(("COPILOT_AGENT_SESSION_ID", "three")),
        conversation: "copilot-three",
    });
    // VS Code runs the hook of Copilot CLI.
    rewriting(&RewritingCase {
        agent: "vscode",
        cost: "`cd` and `export` end with it",
        settings: (".copilot/hooks/agent-bash.json", "/hooks/preToolUse/0/bash"),
        call: (
            json!({
                "hook_event_name": "PreToolUse", "session_id": "four",
                "tool_name": "run_in_terminal",
            }),
            "tool_input",
        ),
        answer: "/hookSpecificOutput/updatedInput",
        decision: None,
        variable: None,
        conversation: "copilot-four",
    });
}

fn rewriting(case: &RewritingCase) {
    let home = Home::new();
    let agent = case.agent;
    let words = ["hook", "--install", "--take-over=rewrite", agent, "--yes"];
    let done = home.run(&words);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains(case.cost), "{}", done.stderr);
    let file = home.path().join(case.settings.0);
    let settings: Value =
        serde_json::from_str(&fs::read_to_string(&file).expect("the file")).expect("JSON");
    let line = settings.pointer(case.settings.1).and_then(Value::as_str);
    let line = line.expect("a command").to_owned();

    // The agent runs the hook's line, then the new command.
    let bash = |text: &str, stdin: &str| {
        let mut command = home.program("/bin/bash");
        command.args(["-c", text]).envs(case.variable);
        let run = Run::with_stdin(&mut command, stdin);
        (run.code, run.stdout)
    };
    let ask = |line: &str, script: &str| {
        let (mut call, input) = case.call.clone();
        call["cwd"] = json!(home.path());
        call[input] = json!({"command": script});
        bash(line, &call.to_string())
    };
    let (code, answer) = ask(&line, "echo 'a  b'; exit 3");
    assert_eq!(code, Some(0), "{answer}");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let decision = answer.pointer("/hookSpecificOutput/permissionDecision");
    assert_eq!(decision.and_then(Value::as_str), case.decision, "{answer}");
    let command = answer.pointer(case.answer).expect("an input")["command"].clone();
    let command = command.as_str().expect("a command");
    assert_eq!(bash(command, ""), (Some(3), "a  b\n".to_owned()));
    let log = home.run(&["log", case.conversation]).stdout;
    assert!(log.contains("echo 'a  b'; exit 3"), "{log}");
    let (_, refused) = ask(&line, "git push --force");
    assert!(
        refused.contains("deny") && !refused.contains("allow\""),
        "{refused}"
    );

    let removed = home.run(&["hook", "--uninstall", agent, "--yes"]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
    assert!(!file.exists());
    // Control: the plain hook does not rewrite the command, and makes no decision.
    let plain = line.replace(" --take-over=rewrite", "");
    assert_ne!(plain, line);
    assert_eq!(ask(&plain, "echo hi"), (Some(0), String::new()));
}

#[test]
fn doctor_names_the_agents_that_use_agent_bash() {
    let home = Home::new();
    let path = home.path_with_program("claude");
    let doctor = || {
        let run = home.run_with(&["doctor"], &[("PATH", &path)]);
        let lines = run.stdout.lines().map(str::to_owned);
        let lines: Vec<String> = lines.filter(|line| line.contains("its shell")).collect();
        (run.code, lines.join("\n"))
    };
    let (_, outside) = doctor();
    assert!(outside.starts_with("note     claude-code "), "{outside}");
    assert!(outside.contains("setup --agent claude-code"), "{outside}");
    assert_eq!(outside.lines().count(), 1, "{outside}");
    // A prefix of the user's is named, and no advice is given that would be refused.
    let file = ".claude/settings.json";
    home.write(file, r#"{"env": {"CLAUDE_CODE_SHELL_PREFIX": "/x/wrap"}}"#);
    let found = home.run_with(&["doctor"], &[("PATH", &path)]).stdout;
    assert!(found.contains(r#"is "/x/wrap" already"#), "{found}");
    assert!(!found.contains("setup --agent claude-code"), "{found}");
    home.write(file, "{}");

    assert_eq!(install(&home, "claude-code").code, Some(0));
    // The agent's program need not be on the `PATH`.
    assert_eq!(install(&home, "pi").code, Some(0));
    let (_, inside) = doctor();
    for agent in ["ok       claude-code", "ok       pi "] {
        let line = inside.lines().find(|line| line.starts_with(agent));
        let line = line.unwrap_or_default();
        assert!(
            line.ends_with("a call of it ran and was recorded"),
            "{inside}"
        );
    }

    // Of VS Code, only tasks go through the link. Its hook is Copilot CLI's.
    let hook = [
        "hook", "--install", "--take-over=rewrite", "copilot", "--yes",
    ];
    assert_eq!(home.run(&hook).code, Some(0));
    let lines = || {
        let run = home.run_with(&["doctor"], &[("PATH", &path)]);
        let words: Vec<&str> = run.stdout.split_whitespace().collect();
        words.join(" ")
    };
    assert!(!lines().contains("vscode"), "{}", lines());
    assert_eq!(install(&home, "vscode").code, Some(0));
    let found = lines();
    for part in [
        "the shell of its tasks is",
        "its hook replaces each command",
    ] {
        assert!(found.contains(&format!("ok vscode {part}")), "{found}");
    }

    let prefix = link(&home, "agent-bash-shell");
    fs::remove_file(&prefix).expect("a link");
    symlink("/opt/old/agent-bash", &prefix).expect("a link");
    let (code, stale) = doctor();
    assert_eq!(code, Some(1));
    let line = stale.lines().next().unwrap_or_default();
    assert!(line.starts_with("PROBLEM  claude-code"), "{stale}");
    assert!(line.contains("/opt/old/agent-bash"), "{stale}");
    fs::remove_file(&prefix).expect("a link");
    symlink("/bin/true", &prefix).expect("a link");
    let (_, other) = doctor();
    assert!(other.starts_with("note     claude-code"), "{other}");
    assert!(other.contains("/bin/true"), "{other}");
    // The probes leave no record.
    assert!(home.run(&["log", "--list"]).stdout.is_empty());
}

/// A project can come from others: a link in it could lead to a file that runs elsewhere.
#[test]
fn hook_of_a_project_is_not_written_through_a_link_out_of_the_project() {
    let home = Home::new();
    home.write("project/inside/keep", "");
    home.write("outside/settings.json", "{}");
    let claude = home.path().join("project/.claude");
    let text = || fs::read_to_string(home.path().join("outside/settings.json")).expect("a file");
    let change = |words: &[&str]| {
        let words = [&["hook", "--project", "claude-code", "--yes"], words].concat();
        home.run_in("project", &words)
    };
    for (target, code) in [
        ("../outside", 2),
        ("../missing", 2),
        ("missing", 2),
        ("inside", 0),
        ("../project/inside", 0),
    ] {
        symlink(target, &claude).expect("a link");
        for words in [
            &["--install"][..],
            &["--uninstall"],
            &["--install", "--take-over"],
        ] {
            let run = change(words);
            assert_eq!(run.code, Some(code), "{target} {words:?}: {}", run.stderr);
            let is_named = run.stderr.contains("project/.claude is a link");
            assert_eq!(is_named, code == 2, "{target}: {}", run.stderr);
        }
        fs::remove_file(&claude).expect("a link");
    }
    assert!(!home.path().join("missing").exists());
    fs::create_dir(&claude).expect("a directory");
    symlink("../../outside/settings.json", claude.join("settings.json")).expect("a link");
    let refused = change(&["--install"]);
    assert!(
        refused.stderr.contains(".claude/settings.json is a link"),
        "{}",
        refused.stderr
    );
    assert_eq!(text(), "{}");
    // The control: the user's own settings can be a link.
    symlink("outside", home.path().join(".claude")).expect("a link");
    let written = home.run(&["hook", "--install", "claude-code", "--yes"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert!(text().contains("agent-bash"));
}
