//! The answers for each agent. `captured/` holds what the programs really sent (each with its
//! version in the file name) when a model asked for `echo hi`; only paths were changed.

use super::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

/// The captured input of each agent.
const CAPTURED_CALLS: [(&Agent, &str, &str); 4] = [
    (
        &CLAUDE_CODE,
        "2.1.197",
        include_str!("captured/claude-code-2.1.197.json"),
    ),
    (
        &CODEX,
        "0.169.0",
        include_str!("captured/codex-0.169.0.json"),
    ),
    (
        &GEMINI_CLI,
        "0.61.0",
        include_str!("captured/gemini-cli-0.61.0.json"),
    ),
    // Written by our plugin from what it received.
    (
        &OPENCODE,
        "1.18.33",
        include_str!("captured/opencode-1.18.33.json"),
    ),
];

/// The effect of an answer on an agent, according to its documentation.
#[derive(Debug, PartialEq)]
enum Effect {
    /// The agent continues as without a hook.
    Nothing,
    /// The command does not run; the model reads this.
    Blocked(String),
    /// The user is not asked.
    Granted,
}

/// Simulates an agent reading an answer: exit code 2 blocks with stderr as the reason, any other
/// failure does not block, and unknown JSON fields are ignored.
fn effect(agent: &Agent, answer: &HookAnswer) -> Effect {
    match answer.exit_code {
        0 => {}
        // Codex blocks only if there is a reason.
        2 if !answer.stderr.trim().is_empty() => return Effect::Blocked(answer.stderr.clone()),
        _ => return Effect::Nothing,
    }
    let Ok(said) = serde_json::from_str::<Value>(&answer.stdout) else {
        return Effect::Nothing;
    };
    let specific = &said["hookSpecificOutput"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if agent.name == GEMINI_CLI.name {
        return match said["decision"].as_str() {
            Some("deny" | "block") => Effect::Blocked(text(&said["reason"])),
            _ => Effect::Nothing,
        };
    }
    if agent.name == OPENCODE.name {
        return match &said["refused"] {
            Value::Null => Effect::Nothing,
            reason => Effect::Blocked(text(reason)),
        };
    }
    if specific["hookEventName"] != "PreToolUse" {
        return Effect::Nothing;
    }
    let reason = text(&specific["permissionDecisionReason"]);
    match specific["permissionDecision"].as_str() {
        Some("deny") => Effect::Blocked(reason),
        Some("allow") => Effect::Granted,
        _ => Effect::Nothing,
    }
}

fn host(variables: &[(&str, &str)]) -> HostContext {
    let env: BTreeMap<OsString, OsString> = variables
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    HostContext {
        home: Some("/home/u".into()),
        env: Arc::new(env),
        ..HostContext::for_tests("/")
    }
}

fn answer_to_call(agent: &Agent, call: &Value, host: &HostContext) -> HookAnswer {
    answer(agent, call.to_string().as_bytes(), host)
}

/// The captured call with another script.
fn call(captured: &str, script: &str) -> Value {
    let mut call: Value = serde_json::from_str(captured).unwrap();
    call["tool_input"]["command"] = script.into();
    call
}

#[test]
fn what_the_programs_wrote_passes_without_a_word() {
    for (agent, version, captured) in CAPTURED_CALLS {
        assert!(agent.tried_with.ends_with(version), "{agent:?}");
        let said = answer(agent, captured.as_bytes(), &host(&[]));
        assert_eq!(said, HookAnswer::silent(), "{}", agent.name);
        let unlike: Value = serde_json::from_str(captured).unwrap();
        assert_eq!(unlike["tool_input"]["command"], "echo hi");
    }
}

#[test]
fn a_command_is_read_as_the_users_shell_reads_it() {
    let (agent, _, captured) = CAPTURED_CALLS[0];
    let call = call(captured, "git push origin $branch:release");
    let refuses =
        |shell| answer_to_call(agent, &call, &host(&[("SHELL", shell)])) != HookAnswer::silent();
    assert!(refuses("/bin/zsh"));
    assert!(!refuses("/bin/bash"));
}

#[test]
fn a_harmless_command_is_never_allowed_in_the_users_place() {
    let scripts = [
        "git status",
        "rm -rf node_modules",
        "cargo test 2>&1 | tail -n 20",
        "git push --force-with-lease origin topic",
        // Bash reports the syntax error itself.
        "echo 'unfinished",
    ];
    for (agent, _, captured) in CAPTURED_CALLS {
        for script in scripts {
            let said = answer_to_call(agent, &call(captured, script), &host(&[]));
            assert_eq!(said, HookAnswer::silent(), "{} {script}", agent.name);
        }
    }
}

#[test]
fn a_refusal_says_why_and_what_to_do_instead() {
    for (agent, _, captured) in CAPTURED_CALLS {
        for (script, rule, instead) in [
            ("git push --force", "no_force_push", "--force-with-lease"),
            ("cd src && git add -A", "no_blind_git_add", "name the files"),
            ("rm -rf \"$DIR\"/*", "no_dangerous_rm", "rm -rf ./build"),
        ] {
            let said = answer_to_call(agent, &call(captured, script), &host(&[]));
            let Effect::Blocked(reason) = effect(agent, &said) else {
                panic!("{} let through {script}: {said:?}", agent.name);
            };
            assert_eq!((said.exit_code, said.stderr.as_str()), (0, ""));
            assert!(reason.contains(rule), "{reason}");
            let told = reason.split_once("\nInstead: ").unwrap().1;
            assert!(told.contains(instead), "{reason}");
        }
    }
}

/// Control for the tests above: answers that look like refusals but are not for these agents.
#[test]
fn what_another_agent_would_read_blocks_nothing() {
    let says = |stdout: &str, stderr: &str, exit_code| HookAnswer {
        stdout: stdout.into(),
        stderr: stderr.into(),
        exit_code,
    };
    let old = r#"{"decision":"deny","reason":"no","rule":"no_force_push"}"#;
    for answer in [
        says(old, "", 0),
        says("", "no", 1),
        says("", "no", 101),
        says("no", "no", 0),
        says(
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
            "",
            0,
        ),
    ] {
        assert_eq!(effect(&CLAUDE_CODE, &answer), Effect::Nothing, "{answer:?}");
    }
    assert_eq!(
        effect(&GEMINI_CLI, &says(old, "", 0)),
        Effect::Blocked("no".into())
    );
    let allowed = (CLAUDE_CODE.refuse)("x")
        .to_string()
        .replace("deny", "allow");
    assert_eq!(
        effect(&CLAUDE_CODE, &says(&allowed, "", 0)),
        Effect::Granted
    );
}

#[test]
fn whatever_cannot_be_judged_is_blocked_with_the_reason() {
    for (agent, _, captured) in CAPTURED_CALLS {
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
            (captured.as_bytes()[..captured.len() - 3].to_vec(), "EOF"),
            (format!("{captured}{captured}").into_bytes(), "trailing"),
            (captured.replace("hi", "\u{1}").into_bytes(), "control"),
            ([captured.as_bytes(), b"\xff"].concat(), "no call"),
            (
                captured.replace("echo hi", "echo \\ud800").into_bytes(),
                "hex escape",
            ),
            (deep.into_bytes(), "recursion"),
            (twice.into_bytes(), "duplicate"),
            (vec![b' '; MAX_INPUT_BYTES + 1], "more than"),
            (without("tool_name"), "tool_name"),
            (without("hook_event_name"), "hook_event_name"),
            (without("cwd"), "cwd"),
            (without("tool_input"), "null"),
            (with("/tool_name", json!(1)), "invalid type"),
            (with("/tool_name", json!(null)), "invalid type"),
            (with("/cwd", json!(null)), "invalid type"),
            (with("/cwd", json!("work")), "absolute"),
            (with("/cwd", json!("")), "absolute"),
            (with("/hook_event_name", json!("PostToolUse")), "set it up"),
            (with("/tool_input", json!("echo hi")), "a string"),
            (with("/tool_input", json!([])), "an array"),
            (with("/tool_input", json!({})), "nothing"),
            (with("/tool_input/command", json!(["echo"])), "an array"),
            (with("/tool_input/command", json!(null)), "null"),
            (with("/tool_input/command", json!("")), "empty"),
            (with("/tool_input/command", json!("a\0b")), "NUL"),
        ] {
            let shown = String::from_utf8_lossy(&input[..input.len().min(300)]).into_owned();
            let said = answer(agent, &input, &host(&[]));
            let Effect::Blocked(reason) = effect(agent, &said) else {
                panic!("{} let through {shown}: {said:?}", agent.name);
            };
            assert_eq!(
                (said.exit_code, said.stdout.as_str()),
                (BLOCKED_EXIT_CODE, "")
            );
            assert!(reason.contains(why), "{shown}: {reason}");
        }
    }
}

#[test]
fn tools_that_run_no_command_pass() {
    for (agent, _, captured) in CAPTURED_CALLS {
        for tool in [
            "Read",
            "mcp__agent-bash__bash",
            "mcp_agent-bash_bash",
            "bash_",
        ] {
            let mut call = call(captured, "git push --force");
            call["tool_name"] = tool.into();
            assert_eq!(
                answer_to_call(agent, &call, &host(&[])),
                HookAnswer::silent(),
                "{tool}"
            );
        }
    }
    let mut watch = call(CAPTURED_CALLS[0].2, "git push --force");
    watch["tool_name"] = "Monitor".into();
    let refused = answer_to_call(&CLAUDE_CODE, &watch, &host(&[]));
    assert!(matches!(effect(&CLAUDE_CODE, &refused), Effect::Blocked(_)));
    watch["tool_input"] = json!({"description": "d", "ws": {"url": "ws://localhost"}});
    assert_eq!(
        answer_to_call(&CLAUDE_CODE, &watch, &host(&[])),
        HookAnswer::silent()
    );
}

#[test]
fn the_directory_that_the_command_runs_in_counts() {
    for (index, agent, field) in [(2, &GEMINI_CLI, "dir_path"), (3, &OPENCODE, "workdir")] {
        let mut call = call(CAPTURED_CALLS[index].2, "rm -rf u");
        call["tool_input"][field] = "build".into();
        assert_eq!(
            answer_to_call(agent, &call, &host(&[])),
            HookAnswer::silent()
        );
        for above in ["../..", "/home"] {
            call["tool_input"][field] = above.into();
            let above = answer_to_call(agent, &call, &host(&[]));
            assert!(matches!(effect(agent, &above), Effect::Blocked(_)));
        }
        call["tool_input"][field] = json!(1);
        let wrong = answer_to_call(agent, &call, &host(&[]));
        assert!(wrong.stderr.contains(field), "{wrong:?}");
    }
}

#[test]
fn the_users_settings_decide() {
    for (agent, _, captured) in CAPTURED_CALLS {
        let blocked = |script: &str, variables: &[(&str, &str)]| {
            let said = answer_to_call(agent, &call(captured, script), &host(variables));
            matches!(effect(agent, &said), Effect::Blocked(_))
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
        let said = answer_to_call(agent, &call(captured, "ls"), &host(&wrong));
        let Effect::Blocked(reason) = effect(agent, &said) else {
            panic!("{said:?}");
        };
        assert!(reason.contains("AGENT_BASH_SAFETY_GROUPS"), "{reason}");
    }
}

#[test]
fn safe_mode_is_refused_as_a_hook_cannot_confine_the_agents_shell() {
    for (agent, _, captured) in CAPTURED_CALLS {
        for (level, blocks) in [("read_only", true), ("listed", false)] {
            let host = host(&[("AGENT_BASH_SAFE_MODE_LEVEL", level)]);
            let said = answer_to_call(agent, &call(captured, "git diff HEAD"), &host);
            match effect(agent, &said) {
                Effect::Blocked(reason) if blocks => assert!(reason.contains("listed"), "{reason}"),
                other => assert_eq!((other, blocks), (Effect::Nothing, false)),
            }
        }
    }
}

/// Compared exactly, as agents silently drop what they do not know.
#[test]
fn advice_goes_with_the_call_where_the_agent_has_a_form_for_it() {
    const ADVICE: &str =
        "Prefer the `read` tool: Use the `read` tool instead of cat/head/tail/less.";
    let tools = ("AGENT_BASH_INTERCEPTOR_TOOLS", "read,grep");
    let advise = ("AGENT_BASH_INTERCEPTOR_MODE", "advise");
    let specific = |fields: Value| json!({ "hookSpecificOutput": fields });
    let wanted = [
        Some(specific(
            json!({ "hookEventName": "PreToolUse", "additionalContext": ADVICE }),
        )),
        Some(specific(
            json!({ "hookEventName": "PreToolUse", "additionalContext": ADVICE }),
        )),
        None,
        Some(json!({ "advice": ADVICE })),
    ];
    for ((agent, _, captured), wanted) in CAPTURED_CALLS.into_iter().zip(wanted) {
        let call = call(captured, "cat notes.txt");
        let told = answer_to_call(agent, &call, &host(&[tools, advise]));
        let read = (!told.stdout.is_empty()).then(|| serde_json::from_str(&told.stdout).unwrap());
        assert_eq!(read, wanted, "{}", agent.name);
        // The agent continues as without a hook: neither granted nor blocked.
        assert_eq!(effect(agent, &told), Effect::Nothing, "{}", agent.name);
        // Control: without the mode, without the tool, for another command.
        for silent in [&[tools][..], &[advise]] {
            assert_eq!(
                answer_to_call(agent, &call, &host(silent)),
                HookAnswer::silent()
            );
        }
        let other = self::call(captured, "ls");
        assert_eq!(
            answer_to_call(agent, &other, &host(&[tools, advise])),
            HookAnswer::silent()
        );
    }
}

#[test]
fn control_characters_of_a_command_are_marked() {
    let safe = host(&[("AGENT_BASH_SAFE_MODE_LEVEL", "read_only")]);
    let script = "find . -delete\u{1b}]0;title\u{7}";
    let said = answer_to_call(&CLAUDE_CODE, &call(CAPTURED_CALLS[0].2, script), &safe);
    let Effect::Blocked(reason) = effect(&CLAUDE_CODE, &said) else {
        panic!("{said:?}");
    };
    assert!(!reason.contains(['\u{1b}', '\u{7}']), "{reason:?}");
}

#[test]
fn rewriting_allows_a_harmless_command_and_refuses_as_before() {
    let codex = CAPTURED_CALLS[1].2;
    let rewritten = |call: &Value| {
        let input = call.to_string();
        answer_rewriting(&CODEX, input.as_bytes(), &host(&[]), "/opt/a b/agent-bash")
    };
    let script = "echo 'a  b' && cat <<E\n$x\nE";
    let mut call = call(codex, script);
    call["tool_input"]["other"] = json!(1);
    let answer = rewritten(&call);
    assert_eq!(effect(&CODEX, &answer), Effect::Granted);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    let input = &answer["hookSpecificOutput"]["updatedInput"];
    assert_eq!(input["other"], 1);
    let words = shlex::split(input["command"].as_str().unwrap()).unwrap();
    assert_eq!(words, ["/opt/a b/agent-bash", "shell", "-c", script]);
    // Refusals, failures and other tools are answered as without rewriting.
    call["tool_input"]["command"] = "git push --force".into();
    let refused = rewritten(&call);
    assert!(matches!(effect(&CODEX, &refused), Effect::Blocked(_)));
    assert_eq!(refused, answer_to_call(&CODEX, &call, &host(&[])));
    call["tool_name"] = "Read".into();
    assert_eq!(rewritten(&call), HookAnswer::silent());
    call["cwd"] = json!(null);
    assert_eq!(rewritten(&call).exit_code, BLOCKED_EXIT_CODE);
    // An agent whose commands cannot be replaced does not run them.
    let other = answer_rewriting(
        &GEMINI_CLI,
        CAPTURED_CALLS[2].2.as_bytes(),
        &host(&[]),
        "agent-bash",
    );
    assert_eq!(other.exit_code, BLOCKED_EXIT_CODE);
}
