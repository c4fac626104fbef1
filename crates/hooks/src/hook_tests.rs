//! The answers for each agent. `captured/` holds the calls that the agents sent when a model asked
//! for `echo hi`; only paths were changed. The file names contain the agent's version. Files with
//! `documented` in their name were written from the agent's documentation.

use super::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

#[path = "hook_tests/shape_tests.rs"]
mod shapes;

/// The captured inputs, with the agent whose hook is configured.
const CAPTURED_CALLS: [(&str, &str); 25] = [
    (
        "claude-code",
        include_str!("captured/claude-code-2.1.332.json"),
    ),
    ("codex", include_str!("captured/codex-0.171.0.json")),
    (
        "gemini-cli",
        include_str!("captured/gemini-cli-0.61.0.json"),
    ),
    // Calls that the plugins of agent-bash wrote from the data that they received.
    ("opencode", include_str!("captured/opencode-1.18.33.json")),
    ("pi", include_str!("captured/pi-1.6.0.json")),
    (
        "claude-code",
        include_str!("captured/claude-code-2.1.332-skill.json"),
    ),
    ("cline", include_str!("captured/cline-3.0.65.json")),
    ("copilot", include_str!("captured/copilot-1.0.102.json")),
    ("kimi", include_str!("captured/kimi-2.1.0.json")),
    ("qwen", include_str!("captured/qwen-0.24.4.json")),
    ("crush", include_str!("captured/crush-documented.json")),
    ("cursor", include_str!("captured/cursor-documented.json")),
    (
        "cursor",
        include_str!("captured/cursor-documented-tool.json"),
    ),
    ("droid", include_str!("captured/droid-0.225.2.json")),
    ("kiro", include_str!("captured/kiro-documented.json")),
    ("kiro", include_str!("captured/kiro-documented-v3.json")),
    (
        "windsurf",
        include_str!("captured/windsurf-documented.json"),
    ),
    // VS Code (if its user says so) and Copilot read the settings of Claude Code.
    (
        "claude-code",
        include_str!("captured/vscode-documented.json"),
    ),
    ("claude-code", include_str!("captured/qwen-0.24.4.json")),
    ("copilot", VSCODE_CALL),
    // Kilo runs the plugin of opencode.
    ("kilo", include_str!("captured/opencode-1.18.33.json")),
    ("letta", include_str!("captured/letta-0.32.18.json")),
    (
        "mistral-vibe",
        include_str!("captured/mistral-vibe-3.0.2.json"),
    ),
    ("openhands", include_str!("captured/openhands-1.16.0.json")),
    // Oh My Pi runs the plugin of pi.
    ("omp", include_str!("captured/pi-1.6.0.json")),
];

/// A call of VS Code's agent, which also runs the hook of Copilot CLI.
const VSCODE_CALL: &str = include_str!("captured/vscode-documented-copilot.json");

/// The captured inputs with the four fields that most agents send.
const COMMON_CALLS: [(&str, &str); 4] = [
    CAPTURED_CALLS[0], CAPTURED_CALLS[1], CAPTURED_CALLS[2], CAPTURED_CALLS[3],
];

fn agent(name: &str) -> &'static Agent {
    &by_name(name).unwrap().hook
}

/// All inputs, sent to the hook of their agent and to the hook `auto`.
fn captured_calls() -> impl Iterator<Item = (&'static Agent, &'static str)> {
    CAPTURED_CALLS
        .into_iter()
        .flat_map(|(name, captured)| [(agent(name), captured), (&AUTO, captured)])
}

/// The effect of an answer on an agent, according to its documentation.
#[derive(Debug, PartialEq)]
enum Effect {
    /// The agent continues as without a hook.
    Nothing,
    /// The command does not run; the model reads this text.
    Blocked(String),
    /// The command runs without a question to the user.
    Granted,
}

/// Returns how the agent that sent `call` reacts to the answer. Agents ignore unknown JSON fields.
fn effect(call: &Value, answer: &HookAnswer) -> Effect {
    let sent = |field: &str| call.get(field).is_some();
    match answer.exit_code {
        0 => {}
        // The agent shows another text than stderr.
        _ if sent("toolName") || sent("hookName") => return Effect::Nothing,
        // Codex blocks only if there is a reason.
        2 if !answer.stderr.trim().is_empty() => return Effect::Blocked(answer.stderr.clone()),
        _ => return Effect::Nothing,
    }
    let Ok(output) = serde_json::from_str::<Value>(&answer.stdout) else {
        return Effect::Nothing;
    };
    let event = ["hook_event_name", "hookEventName", "event"];
    let event = event.iter().find_map(|name| call[*name].as_str());
    let (object, decision, deny, reason) = match event {
        _ if sent("cursor_version") => (&output, "permission", "deny", "agent_message"),
        _ if sent("hookName") => {
            let line = output["overrideInput"]["commands"][0].as_str();
            let words = line.and_then(shlex::split).unwrap_or_default();
            return match (&output["cancel"], words.get(2)) {
                (Value::Bool(true), _) => {
                    Effect::Blocked(output["errorMessage"].as_str().unwrap().to_owned())
                }
                (_, Some(reason)) => Effect::Blocked(reason.clone()),
                _ => Effect::Nothing,
            };
        }
        None if sent("toolName") => (
            &output, "permissionDecision", "deny", "permissionDecisionReason",
        ),
        Some("BeforeTool" | "pre_tool") => (&output, "decision", "deny", "reason"),
        _ if sent("event") => (&output, "decision", "deny", "reason"),
        Some("tool.execute.before" | "tool_call") => {
            return match &output["refused"] {
                Value::Null => Effect::Nothing,
                reason => Effect::Blocked(reason.as_str().unwrap().to_owned()),
            };
        }
        Some(event) => {
            let specific = &output["hookSpecificOutput"];
            if specific["hookEventName"] != event {
                return Effect::Nothing;
            }
            (
                specific, "permissionDecision", "deny", "permissionDecisionReason",
            )
        }
        None => return Effect::Nothing,
    };
    match object[decision].as_str() {
        Some(word) if word == deny => {
            Effect::Blocked(object[reason].as_str().unwrap_or_default().to_owned())
        }
        Some("allow") => Effect::Granted,
        _ => Effect::Nothing,
    }
}

/// True if the agent continues, and the model reads nothing.
fn is_silent(answer: &HookAnswer) -> bool {
    let stdout = answer.stdout.trim();
    answer.exit_code == 0 && answer.stderr.is_empty() && ["", "{}"].contains(&stdout)
}

fn host(variables: &[(&str, &str)]) -> HostContext {
    let env: BTreeMap<OsString, OsString> = variables
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        // No file can be created below this path.
        .chain([("AGENT_BASH_STATE_DIR".into(), "/dev/null/state".into())])
        .collect();
    HostContext {
        home: Some("/home/u".into()),
        env: Arc::new(env),
        ..host_in("/")
    }
}

fn answer_to_call(agent: &Agent, call: &Value, host: &HostContext) -> HookAnswer {
    answer(agent, call.to_string().as_bytes(), host)
}

/// Returns the captured call with another script.
fn call(captured: &str, script: &str) -> Value {
    let script = json!(script).to_string();
    let encoded = json!(format!("[{script}]")).to_string();
    let text = captured.replace(r#""[\"echo hi\"]""#, &encoded);
    serde_json::from_str(&text.replace(r#""echo hi""#, &script)).unwrap()
}

#[test]
fn captured_calls_get_a_silent_answer() {
    for (agent, captured) in captured_calls() {
        let answer = answer(agent, captured.as_bytes(), &host(&[]));
        assert!(is_silent(&answer), "{} {captured} {answer:?}", agent.name);
        assert!(captured.contains("echo hi"));
    }
}

#[test]
fn command_is_parsed_in_the_dialect_of_the_users_shell() {
    let call = call(CAPTURED_CALLS[0].1, "git push origin $branch:release");
    let refuses = |shell| {
        let host = host(&[("SHELL", shell)]);
        !is_silent(&answer_to_call(&CLAUDE_CODE, &call, &host))
    };
    assert!(refuses("/bin/zsh"));
    assert!(!refuses("/bin/bash"));
}

#[test]
fn harmless_command_gets_no_decision() {
    let scripts = [
        "git status",
        "rm -rf node_modules",
        "cargo test 2>&1 | tail -n 20",
        "git push --force-with-lease origin topic",
        // Bash reports the syntax error itself.
        "echo 'unfinished",
    ];
    for (agent, captured) in captured_calls() {
        for script in scripts {
            let answer = answer_to_call(agent, &call(captured, script), &host(&[]));
            assert!(is_silent(&answer), "{} {script} {answer:?}", agent.name);
        }
    }
}

#[test]
fn refusal_has_the_reason_and_an_alternative() {
    for (agent, captured) in captured_calls() {
        for (script, rule, instead) in [
            ("git push --force", "no_force_push", "--force-with-lease"),
            ("cd src && git add -A", "no_blind_git_add", "name the files"),
            ("rm -rf \"$DIR\"/*", "no_dangerous_rm", "rm -rf ./build"),
        ] {
            let call = call(captured, script);
            let answer = answer_to_call(agent, &call, &host(&[]));
            let Effect::Blocked(reason) = effect(&call, &answer) else {
                panic!("{} let through {call}: {answer:?}", agent.name);
            };
            assert!(reason.contains(rule), "{reason}");
            let advice = reason.split_once("\nInstead: ").unwrap().1;
            assert!(advice.contains(instead), "{reason}");
        }
    }
}

/// A control for the other tests: these answers refuse a call only for other agents.
#[test]
fn answer_in_another_agents_format_does_not_block() {
    let written = |stdout: &str, stderr: &str, exit_code| HookAnswer {
        stdout: stdout.into(),
        stderr: stderr.into(),
        exit_code,
    };
    let claude: Value = serde_json::from_str(CAPTURED_CALLS[0].1).unwrap();
    let gemini: Value = serde_json::from_str(CAPTURED_CALLS[2].1).unwrap();
    let old = r#"{"decision":"deny","reason":"no","rule":"no_force_push"}"#;
    for answer in [
        written(old, "", 0),
        written("", "no", 1),
        written("", "no", 101),
        written("no", "no", 0),
        written(
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
            "",
            0,
        ),
    ] {
        assert_eq!(effect(&claude, &answer), Effect::Nothing, "{answer:?}");
    }
    assert_eq!(
        effect(&gemini, &written(old, "", 0)),
        Effect::Blocked("no".into())
    );
    let refused = answer_to_call(
        &CLAUDE_CODE,
        &call(CAPTURED_CALLS[0].1, "git push -f"),
        &host(&[]),
    );
    let allowed = refused.stdout.replace("deny", "allow");
    assert_eq!(effect(&claude, &written(&allowed, "", 0)), Effect::Granted);
}

#[test]
fn shell_call_that_cannot_be_checked_is_blocked_with_the_reason() {
    for (name, captured) in COMMON_CALLS {
        let agent = agent(name);
        let good: Value = serde_json::from_str(captured).unwrap();
        let with = |pointer: &str, value: Value| {
            let mut call = good.clone();
            *call.pointer_mut(pointer).unwrap() = value;
            call.to_string().into_bytes()
        };
        let without = |field: &str| {
            let mut call = good.clone();
            call.as_object_mut().unwrap().remove(field);
            call.to_string().into_bytes()
        };
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        let deep = captured.replace(r#""echo hi""#, &deep);
        let twice = captured.replacen('{', r#"{"tool_name":"Read","#, 1);
        for (input, why) in [
            (Vec::new(), "an object"),
            (b"git push --force".to_vec(), "an object"),
            // Fields as an array are not accepted either.
            (br#"["PreToolUse", "/w", "Read", {}]"#.to_vec(), "an object"),
            (b"null".to_vec(), "an object"),
            (b"{}".to_vec(), "tool_name"),
            (captured.as_bytes()[..captured.len() - 3].to_vec(), "EOF"),
            (format!("{captured}{captured}").into_bytes(), "trailing"),
            (captured.replace("hi", "\u{1}").into_bytes(), "control"),
            ([captured.as_bytes(), b"\xff"].concat(), "not a tool call"),
            (
                captured.replace("echo hi", "echo \\ud800").into_bytes(),
                "hex escape",
            ),
            (deep.into_bytes(), "recursion"),
            (twice.into_bytes(), "duplicate"),
            (vec![b' '; MAX_INPUT_BYTES + 1], "more than"),
            (without("tool_input"), "nothing"),
            (with("/tool_name", json!(1)), "a number"),
            (with("/cwd", json!(1)), "a number"),
            (with("/cwd", json!("work")), "absolute"),
            (
                with("/hook_event_name", json!("PostToolUse")),
                "set the hook up",
            ),
            (
                with("/hook_event_name", json!("PermissionRequest")),
                "set the hook up",
            ),
            (with("/tool_input", json!("echo hi")), "a string"),
            (with("/tool_input", json!([])), "an array"),
            (with("/tool_input", json!({})), "nothing"),
            (with("/tool_input/command", json!([])), "an array"),
            (with("/tool_input/command", json!([1])), "an array"),
            (with("/tool_input/command", json!(null)), "null"),
            (with("/tool_input/command", json!("")), "empty"),
            (with("/tool_input/command", json!("a\0b")), "NUL"),
        ] {
            let shown = String::from_utf8_lossy(&input[..input.len().min(300)]).into_owned();
            let answer = answer(agent, &input, &host(&[]));
            let Effect::Blocked(reason) = effect(&good, &answer) else {
                panic!("{} let through {shown}: {answer:?}", agent.name);
            };
            assert_eq!(
                (answer.exit_code, answer.stdout.as_str()),
                (BLOCKED_EXIT_CODE, "")
            );
            assert!(reason.contains(why), "{shown}: {reason}");
        }
    }
}

#[test]
fn failure_reaches_agents_that_ignore_exit_codes() {
    for (name, index) in [("cline", 6), ("copilot", 7)] {
        let call = call(CAPTURED_CALLS[index].1, "a\0b");
        let answer = answer_to_call(agent(name), &call, &host(&[]));
        let Effect::Blocked(reason) = effect(&call, &answer) else {
            panic!("{name}: {answer:?}");
        };
        assert!(reason.contains("NUL"), "{reason}");
    }
    // VS Code and Copilot CLI run the same hook: either may have sent a call without fields.
    let unparsed = answer(agent("copilot"), b"{", &host(&[]));
    for captured in [CAPTURED_CALLS[7].1, VSCODE_CALL] {
        let call: Value = serde_json::from_str(captured).unwrap();
        let Effect::Blocked(reason) = effect(&call, &unparsed) else {
            panic!("{call}: {unparsed:?}");
        };
        assert!(reason.contains("EOF"), "{reason}");
    }
}

/// Cursor and other agents may read the settings of Claude Code.
#[test]
fn agent_that_reads_the_settings_of_another_one_is_blocked_by_exit_code() {
    for (name, index) in [("claude-code", 11), ("claude-code", 7), ("gemini-cli", 6)] {
        let harmless = answer_to_call(
            agent(name),
            &call(CAPTURED_CALLS[index].1, "ls"),
            &host(&[]),
        );
        assert_eq!(harmless, HookAnswer::silent());
        let call = call(CAPTURED_CALLS[index].1, "git push -f");
        let answer = answer_to_call(agent(name), &call, &host(&[]));
        assert_eq!(
            (answer.exit_code, answer.stdout.as_str()),
            (BLOCKED_EXIT_CODE, "")
        );
        assert!(answer.stderr.contains("no_force_push"), "{answer:?}");
    }
}

#[test]
fn rules_use_the_directory_of_the_call_in_any_spelling() {
    let refused = |call: Value| !is_silent(&answer_to_call(&AUTO, &call, &host(&[])));
    let script = json!({"command": "rm -rf u"});
    for above in [
        json!({"tool_name": "Bash", "tool_input": script, "cwd": "/home"}),
        json!({"tool_name": "Bash", "tool_input": script, "workspace_roots": ["/home"]}),
        json!({"tool_name": "Bash", "tool_input": script, "cwd": "", "workspaceRoots": ["file:///home"]}),
        json!({"hook_event_name": "beforeShellExecution", "command": "rm -rf u", "cwd": "/home"}),
        json!({"agent_action_name": "pre_run_command", "tool_info": {"command_line": "rm -rf u", "cwd": "/home"}}),
    ] {
        assert!(refused(above.clone()), "{above}");
        let below = above.to_string().replace("/home", "/home/u/w");
        assert!(!refused(serde_json::from_str(&below).unwrap()), "{below}");
    }
}

#[test]
fn rules_use_the_working_directory_of_the_command() {
    for (index, field) in [(2, "dir_path"), (3, "workdir")] {
        let agent = agent(CAPTURED_CALLS[index].0);
        let mut call = call(CAPTURED_CALLS[index].1, "rm -rf u");
        call["tool_input"][field] = "build".into();
        assert_eq!(
            answer_to_call(agent, &call, &host(&[])),
            HookAnswer::silent()
        );
        for above in ["../..", "/home"] {
            call["tool_input"][field] = above.into();
            let above = answer_to_call(agent, &call, &host(&[]));
            assert!(matches!(effect(&call, &above), Effect::Blocked(_)));
        }
        call["tool_input"][field] = json!(1);
        let wrong = answer_to_call(agent, &call, &host(&[]));
        assert!(wrong.stderr.contains(field), "{wrong:?}");
    }
}

#[test]
fn users_settings_decide() {
    for (agent, captured) in captured_calls() {
        let blocked = |script: &str, variables: &[(&str, &str)]| {
            let call = call(captured, script);
            let answer = answer_to_call(agent, &call, &host(variables));
            matches!(effect(&call, &answer), Effect::Blocked(_))
        };
        let loss = [("AGENT_BASH_SAFETY_GROUPS", "core,data_loss")];
        assert!(!blocked("git reset --hard", &[]));
        assert!(blocked("git reset --hard", &loss));
        let off = [("AGENT_BASH_SAFETY_OFF", "no_force_push")];
        assert!(!blocked("git push --force", &off));
        let safe = [("AGENT_BASH_SAFE_MODE_LEVEL", "listed")];
        assert!(blocked("touch x", &safe));
        assert!(!blocked("ls", &safe));
        let tools = ("AGENT_BASH_INTERCEPTOR_TOOLS", "read,grep");
        let block = ("AGENT_BASH_INTERCEPTOR_MODE", "block");
        assert!(!blocked("cat notes.txt", &[block]));
        assert!(!blocked("cat notes.txt", &[tools]));
        assert!(blocked("cat notes.txt", &[tools, block]));
        // Invalid settings block everything, and are named.
        let wrong = [("AGENT_BASH_SAFETY_GROUPS", "cores")];
        let call = call(captured, "ls");
        let answer = answer_to_call(agent, &call, &host(&wrong));
        let Effect::Blocked(reason) = effect(&call, &answer) else {
            panic!("{answer:?}");
        };
        assert!(reason.contains("AGENT_BASH_SAFETY_GROUPS"), "{reason}");
    }
}

#[test]
fn read_only_safe_mode_refuses_every_command() {
    for (agent, captured) in captured_calls() {
        for (level, blocks) in [("read_only", true), ("listed", false)] {
            let host = host(&[("AGENT_BASH_SAFE_MODE_LEVEL", level)]);
            let call = call(captured, "git diff HEAD");
            match effect(&call, &answer_to_call(agent, &call, &host)) {
                Effect::Blocked(reason) if blocks => assert!(reason.contains("listed"), "{reason}"),
                other => assert_eq!((other, blocks), (Effect::Nothing, false)),
            }
        }
    }
}

/// Compared exactly, as agents silently drop what they do not know.
#[test]
fn advice_is_sent_to_agents_that_accept_it() {
    const ADVICE: &str =
        "Prefer the `read` tool: Use the `read` tool instead of cat/head/tail/less.";
    let tools = ("AGENT_BASH_INTERCEPTOR_TOOLS", "read,grep");
    let advise = ("AGENT_BASH_INTERCEPTOR_MODE", "advise");
    let specific = |fields: Value| json!({ "hookSpecificOutput": fields });
    let context = || json!({ "hookEventName": "PreToolUse", "additionalContext": ADVICE });
    for (name, captured) in CAPTURED_CALLS {
        let call = call(captured, "cat notes.txt");
        let wanted = match name {
            _ if call["hook_event_name"] == "PreSkillShellCommand" => None,
            "claude-code" | "codex" | "kimi" | "qwen" | "droid" => Some(specific(context())),
            _ if captured == VSCODE_CALL => Some(specific(context())),
            "copilot" => Some(json!({ "additionalContext": ADVICE })),
            "crush" => Some(json!({ "context": ADVICE })),
            "cline" => Some(json!({ "contextModification": ADVICE })),
            "kilo" | "omp" | "opencode" | "pi" => Some(json!({ "advice": ADVICE })),
            _ => None,
        };
        let agent = agent(name);
        let answer = answer_to_call(agent, &call, &host(&[tools, advise]));
        let read = serde_json::from_str(&answer.stdout).ok();
        let read = read.filter(|read| *read != json!({}));
        assert_eq!(read, wanted, "{name}");
        // The agent continues as without a hook: neither granted nor blocked.
        assert_eq!(effect(&call, &answer), Effect::Nothing, "{name}");
        // Control: without the mode, without the tool, for another command.
        for silent in [&[tools][..], &[advise]] {
            assert!(is_silent(&answer_to_call(agent, &call, &host(silent))));
        }
        let other = self::call(captured, "ls");
        assert!(is_silent(&answer_to_call(
            agent,
            &other,
            &host(&[tools, advise])
        )));
    }
}

#[test]
fn control_characters_of_a_command_are_marked() {
    let safe = host(&[("AGENT_BASH_SAFE_MODE_LEVEL", "read_only")]);
    let script = "find . -delete\u{1b}]0;title\u{7}";
    let call = call(CAPTURED_CALLS[0].1, script);
    let answer = answer_to_call(&CLAUDE_CODE, &call, &safe);
    let Effect::Blocked(reason) = effect(&call, &answer) else {
        panic!("{answer:?}");
    };
    assert!(!reason.contains(['\u{1b}', '\u{7}']), "{reason:?}");
}

#[test]
fn rewriting_allows_a_harmless_command_and_refuses_as_before() {
    let codex = CAPTURED_CALLS[1].1;
    let rewritten = |call: &Value| {
        let input = call.to_string();
        answer_rewriting(
            agent("codex"),
            input.as_bytes(),
            &host(&[]),
            "/opt/a b/agent-bash",
        )
    };
    let script = "echo 'a  b' && cat <<E\n$x\nE";
    let mut call = call(codex, script);
    call["tool_input"]["other"] = json!(1);
    let answer = rewritten(&call);
    assert_eq!(effect(&call, &answer), Effect::Granted);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    let input = &answer["hookSpecificOutput"]["updatedInput"];
    assert_eq!(input["other"], 1);
    let words = shlex::split(input["command"].as_str().unwrap()).unwrap();
    assert_eq!(words, ["/opt/a b/agent-bash", "shell", "-c", script]);
    // Refusals, failures and other tools are answered as without rewriting.
    call["tool_input"]["command"] = "git push --force".into();
    let refused = rewritten(&call);
    assert!(matches!(effect(&call, &refused), Effect::Blocked(_)));
    assert_eq!(refused, answer_to_call(agent("codex"), &call, &host(&[])));
    call["tool_name"] = "Read".into();
    call["tool_input"] = json!({"file_path": "/a"});
    assert_eq!(rewritten(&call), HookAnswer::silent());
    call["tool_input"] = json!({"command": "ls"});
    call["tool_name"] = "Bash".into();
    call["cwd"] = json!(1);
    assert_eq!(rewritten(&call).exit_code, BLOCKED_EXIT_CODE);
    // An agent whose commands cannot be replaced does not run them.
    let (name, call) = CAPTURED_CALLS[8];
    let other = answer_rewriting(agent(name), call.as_bytes(), &host(&[]), "agent-bash");
    assert_eq!((name, other.exit_code), ("kimi", BLOCKED_EXIT_CODE));
}

#[test]
fn rewriting_leaves_the_question_to_agents_that_take_a_new_text_without_allow() {
    let gemini = "agent-bash shell --conversation gemini-cli-23030f5c-40f5-4a8b-a217-a52f9a74ab12 -c 'echo hi'";
    let vibe = "agent-bash shell --conversation mistral-vibe-6011e9db-55ea-bbe8-4151-4133aa977c15 -c 'echo hi'";
    for (captured, path, line) in [
        (CAPTURED_CALLS[2], "/hookSpecificOutput/tool_input", gemini),
        (
            CAPTURED_CALLS[7],
            "/modifiedArgs",
            "agent-bash shell -c 'echo hi'",
        ),
        (CAPTURED_CALLS[22], "/hook_specific_output/tool_input", vibe),
    ] {
        let (name, call) = captured;
        let answer = answer_rewriting(agent(name), call.as_bytes(), &host(&[]), "agent-bash");
        let call: Value = serde_json::from_str(call).unwrap();
        assert_eq!(effect(&call, &answer), Effect::Nothing, "{name}");
        let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
        let input = answer.pointer(path).unwrap();
        assert_eq!(input["command"], line, "{name}");
        let description = call["tool_input"].get("description");
        let description = description.or(call["toolArgs"].get("description"));
        assert_eq!(input.get("description"), description, "{name}");
        let cost = agent(name).rewriting_cost();
        assert!(cost.contains("asks you about the new text"), "{cost}");
    }
}
