//! Shapes of calls: names of fields and tools, and calls of tools that run no commands.

use super::*;
use agent_bash::exceptions::{Allowance, Exceptions};
use agent_bash_process::SystemClock;
use std::path::Path;

#[test]
fn call_of_each_agents_shell_without_a_readable_input_is_blocked() {
    for (agent, captured) in captured_calls() {
        let mut call: Value = serde_json::from_str(captured).unwrap();
        // A call of OpenHands' terminal may have no text.
        if call["tool_name"] == "terminal" {
            continue;
        }
        if let Some(input) = call.get_mut("tool_input") {
            *input = json!(["echo hi"]);
            let answer = answer_to_call(agent, &call, &host(&[]));
            assert!(!is_silent(&answer), "{} {answer:?}", agent.name);
        }
    }
}

#[test]
fn calls_with_missing_fields_are_checked_by_the_others() {
    let home = |call: &Value| {
        let host = HostContext {
            cwd: "/home/u/work".into(),
            ..host(&[])
        };
        let refused = |call: &Value| !is_silent(&answer_to_call(&CLAUDE_CODE, call, &host));
        let harmless = call.to_string().replace("git push -f", "git status");
        assert!(
            !refused(&serde_json::from_str(&harmless).unwrap()),
            "{harmless}"
        );
        refused(call)
    };
    let good = call(CAPTURED_CALLS[0].1, "git push -f");
    for field in ["hook_event_name", "cwd", "tool_name", "session_id"] {
        let mut call = good.clone();
        call.as_object_mut().unwrap().remove(field);
        assert!(home(&call), "{field}");
        if field != "session_id" {
            call[field] = Value::Null;
            assert!(home(&call), "{field}");
        }
    }
}

#[test]
fn any_tool_with_a_script_is_checked() {
    let refused = |tool: &str, input: Value| {
        let call =
            json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input });
        !is_silent(&answer_to_call(&CLAUDE_CODE, &call, &host(&[])))
    };
    for (tool, input) in [
        ("Bash", json!({"command": "git push -f"})),
        ("run_shell_command", json!({"command": "git push -f"})),
        (
            "run_in_terminal",
            json!({"command": "git push -f", "isBackground": true}),
        ),
        ("PowerShell", json!({"command": "git push -f"})),
        ("Execute", json!({"command": "git push -f"})),
        ("exec_command", json!({"cmd": "git push -f"})),
        ("shell", json!({"command": ["git", "push", "-f"]})),
        ("shell", json!({"command": ["bash", "-lc", "git push -f"]})),
        ("shell", json!({"command": ["cd src", "git push -f"]})),
        (
            "run_commands",
            json!({"commands": ["ls \\", "git push -f"]}),
        ),
        (
            "run_commands",
            json!({"commands": [{"command": "git", "args": ["push", "-f"]}]}),
        ),
        (
            "run_commands",
            json!({"commands": "\n[\"ls\", \"git push -f\"]"}),
        ),
        (
            "run_command",
            json!({"CommandLine": "git push -f", "Cwd": "/w"}),
        ),
        ("a_new_tool", json!({"command_line": "git push -f"})),
        ("mcp__agent__bash", json!({"command": "git push -f"})),
        ("mcp_agent_bash_run", json!({"command": "git push -f"})),
        (
            "mcp__my-agent-bash__bash",
            json!({"command": "git push -f"}),
        ),
        (
            "mcp__other__spawn",
            json!({"command": "git", "args": ["push", "-f"]}),
        ),
        (
            "send_to_terminal",
            json!({"id": "1", "command": "git push -f"}),
        ),
        (
            "create_and_run_task",
            json!({"workspaceFolder": "/w", "task": {"type": "shell", "command": "git push -f"}}),
        ),
        (
            "create_and_run_task",
            json!({"task": {"label": "a", "command": "git", "args": ["push", "-f"]}}),
        ),
        (
            "create_and_run_task",
            json!({"task": {"command": {"value": "git"}, "args": [{"value": "push"}, "-f", 1]}}),
        ),
        (
            "create_and_run_task",
            json!({"task": {"command": {"value": ["git", "push", "-f"]}}}),
        ),
        (
            "mcp__other__spawn",
            json!({"command": "git", "args": "push -f"}),
        ),
        (
            "mcp__other__spawn",
            json!({"command": ["git"], "args": ["push", "-f"]}),
        ),
        // An agent ignores fields that its tools do not have, and bash runs any text.
        (
            "Bash",
            json!({"command": "git push -f", "args": ["--dry-run"]}),
        ),
        ("Bash", json!({"command": "[\"true\", \"$(git push -f)\"]"})),
        (
            "create_and_run_task",
            json!({"command": "ls", "task": {"command": "git push -f"}}),
        ),
        (
            "create_and_run_task",
            json!({"command": null, "task": {"command": "git push -f"}}),
        ),
        (
            "send_to_terminal",
            json!({"Command": "", "command": "git push -f"}),
        ),
    ] {
        assert!(refused(tool, input.clone()), "{tool} {input}");
        let harmless = input.to_string().replace("push", "log");
        assert!(
            !refused(tool, serde_json::from_str(&harmless).unwrap()),
            "{tool} {harmless}"
        );
    }
}

/// An agent ignores the field for a directory if its tool has none of this name.
#[test]
fn command_is_checked_in_each_directory_that_a_call_names() {
    let (name, captured) = CAPTURED_CALLS[2];
    let mut call = call(captured, "rm -rf u");
    for (conversation, dir_path, cwd, is_refused) in [
        ("/home/u/work", "build", "/home/u", false),
        ("/home", "/home/u/work", "/home/u", true),
        ("/home/u/work", "/home", "/home/u", true),
        ("/home/u/work", "build", "/home", true),
    ] {
        call["cwd"] = conversation.into();
        call["tool_input"]["dir_path"] = dir_path.into();
        call["tool_input"]["cwd"] = cwd.into();
        let answer = answer_to_call(agent(name), &call, &host(&[]));
        assert_eq!(is_silent(&answer), !is_refused, "{call}");
    }
}

#[test]
fn command_allowed_once_in_each_directory_of_its_call_runs_once() {
    let state = tempfile::tempdir().unwrap();
    let mut host = host(&[]);
    let variable = ("AGENT_BASH_STATE_DIR".into(), state.path().into());
    host.env = Arc::new(BTreeMap::from([variable]));
    let (name, captured) = CAPTURED_CALLS[2];
    let mut call = call(captured, "git push -f");
    call["tool_input"]["dir_path"] = "build".into();
    let is_refused = || !is_silent(&answer_to_call(agent(name), &call, &host));
    let exceptions = Exceptions::new(state.path().to_owned(), Arc::new(SystemClock::new()));
    for directory in ["/home/u/work/build", "/home/u/work"] {
        assert!(is_refused(), "{directory}");
        let commands = exceptions.list().unwrap();
        let refused = commands.iter().find(|command| command.allowed.is_none());
        let refused = refused.unwrap();
        assert_eq!(refused.cwd, Path::new(directory));
        let decided = exceptions.decide(&refused.code, Some(Allowance::Once));
        assert!(decided.unwrap());
    }
    assert!(!is_refused());
    assert!(is_refused(), "the exceptions are used up");
}

#[test]
fn tool_without_a_script_passes_without_other_fields() {
    for (agent, captured) in captured_calls() {
        let call: Value = serde_json::from_str(captured).unwrap();
        if call.get("tool_name").is_none() {
            continue;
        }
        for tool in [
            "Read",
            "editFiles",
            "mcp__agent-bash__bash",
            "mcp__agent_bash__bash",
            "mcp_agent-bash_bash",
            "mcp_agent_bash.bash",
            "agent-bash-bash",
            "@agent-bash/bash",
            "mcp__plugin_agent-bash_agent-bash__bash",
            "str_replace_based_edit_tool",
            "apply_patch",
        ] {
            let mut call = call.clone();
            call["tool_name"] = tool.into();
            call["tool_input"] = json!({"files": ["a"], "content": "git push --force"});
            if !matches!(tool, "Read" | "editFiles") {
                call["tool_input"]["command"] = "git push --force".into();
            }
            let answer = answer_to_call(agent, &call, &host(&[]));
            assert!(is_silent(&answer), "{} {tool} {answer:?}", agent.name);
        }
    }
    for call in [
        json!({"hookEventName": "PreToolUse", "tool_name": "editFiles", "tool_input": {"files": ["a"]}}),
        json!({"hook_event_name": "PreToolUse", "tool_name": "Read"}),
        json!({"tool_name": "Read", "cwd": 1, "tool_input": "x"}),
        json!({"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": {}}),
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
        json!({"tool_name": "monitor", "tool_input": {"ws": {"url": "ws://localhost"}}}),
        json!({"agent_action_name": "pre_write_code", "tool_info": {"file_path": "/a"}}),
        json!({"toolName": "view", "toolArgs": "{\"path\": \"/a\"}"}),
    ] {
        for agent in [&CLAUDE_CODE, &AUTO] {
            let answer = answer_to_call(agent, &call, &host(&[]));
            assert!(is_silent(&answer), "{call} {answer:?}");
        }
    }
    let mut watch = call(CAPTURED_CALLS[0].1, "git push --force");
    watch["tool_name"] = "Monitor".into();
    let refused = answer_to_call(&CLAUDE_CODE, &watch, &host(&[]));
    assert!(matches!(effect(&watch, &refused), Effect::Blocked(_)));
}

#[test]
fn arguments_encoded_as_a_string_are_read() {
    let call = json!({"toolName": "bash", "toolArgs": "{\"command\": \"git push -f\"}"});
    for agent in [agent("copilot"), &AUTO] {
        let answer = answer_to_call(agent, &call, &host(&[]));
        assert!(
            matches!(effect(&call, &answer), Effect::Blocked(_)),
            "{answer:?}"
        );
    }
}

/// An agent uses the last value of a duplicate name, also of tools that the hook does not know.
#[test]
fn last_value_of_a_duplicate_argument_is_checked() {
    let last = |tool: &str, script: &str| {
        let arguments = format!(r#"{{"command": "ls", "command": "{script}"}}"#);
        let encoded = json!(format!(" {arguments}"));
        [arguments, encoded.to_string()].map(|arguments| {
            let call = format!(
                r#"{{"event": "preToolUse", "toolName": "{tool}", "toolArgs": {arguments}}}"#
            );
            let answer = answer(agent("copilot"), call.as_bytes(), &host(&[]));
            is_silent(&answer)
        })
    };
    for tool in ["bash", "a_new_tool"] {
        assert_eq!(last(tool, "git push -f"), [false; 2], "{tool}");
        assert_eq!(last(tool, "git status"), [true; 2], "{tool}");
    }
}

#[test]
fn rewriting_in_vscode_replaces_what_starts_a_command_and_leaves_the_question() {
    let rewritten = |call: &Value| {
        let input = call.to_string();
        answer_rewriting(agent("copilot"), input.as_bytes(), &host(&[]), "agent-bash")
    };
    let mut call = call(VSCODE_CALL, "cd a && ls");
    let answer: Value = serde_json::from_str(&rewritten(&call).stdout).unwrap();
    let line = "agent-bash shell --conversation copilot-5a-1 -c 'cd a && ls'";
    let mut input = call["tool_input"].clone();
    input["command"] = line.into();
    // With a decision, VS Code would not ask its user.
    let expected = json!({ "hookEventName": "PreToolUse", "updatedInput": input });
    assert_eq!(answer, json!({ "hookSpecificOutput": expected }));
    // Text for a running program and tasks are checked, but not replaced.
    for (tool, input) in [
        ("send_to_terminal", json!({"id": "1", "command": "SCRIPT"})),
        (
            "create_and_run_task",
            json!({"task": {"command": "SCRIPT"}}),
        ),
    ] {
        call["tool_name"] = tool.into();
        for (script, is_refused) in [("y", false), ("git push --force", true)] {
            let input = input.to_string().replace("SCRIPT", script);
            call["tool_input"] = serde_json::from_str(&input).unwrap();
            let answer = rewritten(&call);
            assert_eq!(is_silent(&answer), !is_refused, "{tool} {answer:?}");
        }
    }
    // A task does not hide that the command of another field is not replaced.
    call["tool_name"] = "run_in_terminal".into();
    call["tool_input"] = json!({"command": "ls", "task": {"command": "ls"}});
    assert_eq!(rewritten(&call).exit_code, BLOCKED_EXIT_CODE);
}

#[test]
fn enter_key_for_a_terminal_of_vscode_passes() {
    for text in ["", " ", "\n"] {
        let mut call = call(VSCODE_CALL, text);
        // Control: the tool that starts commands needs one.
        let blocked = answer_to_call(&CLAUDE_CODE, &call, &host(&[]));
        assert_eq!(blocked.exit_code, BLOCKED_EXIT_CODE);
        call["tool_name"] = "send_to_terminal".into();
        for agent in [&CLAUDE_CODE, agent("copilot"), &AUTO] {
            let answer = answer_to_call(agent, &call, &host(&[]));
            assert!(is_silent(&answer), "{} {answer:?}", agent.name);
        }
    }
}

#[test]
fn text_for_a_terminal_of_openhands_is_checked_and_may_be_empty() {
    let (name, captured) = CAPTURED_CALLS[23];
    assert_eq!(name, "openhands");
    // An empty text asks for more of the output.
    for text in ["", "C-c", "y"] {
        let answer = answer_to_call(agent(name), &call(captured, text), &host(&[]));
        assert!(is_silent(&answer), "{text:?} {answer:?}");
    }
    // The working directory is a field of its own.
    let rules = host(&[]);
    let refused = answer_to_call(agent(name), &call(captured, "git push -f"), &rules);
    assert_eq!(refused.exit_code, BLOCKED_EXIT_CODE);
    let mut elsewhere = call(captured, "rm -rf u");
    assert!(is_silent(&answer_to_call(agent(name), &elsewhere, &rules)));
    elsewhere["working_dir"] = "/home".into();
    let refused = answer_to_call(agent(name), &elsewhere, &rules);
    assert_eq!(refused.exit_code, BLOCKED_EXIT_CODE, "{refused:?}");
}
