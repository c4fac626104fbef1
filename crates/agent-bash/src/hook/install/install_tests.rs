//! Files with the hook added, and removed again.

use super::*;
use crate::hook::{AGENTS, CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE};
use serde_json::Value;

const PROGRAM: &str = "agent-bash";

/// The fallback after the program.
const FALLBACK: &str = "sh -c 'echo Not run: agent-bash gave no verdict >&2; exit 2'";

/// Realistic settings files. The last two have comments.
const SETTINGS_FILES: [&str; 18] = [
    "{}",
    "{}\n",
    "{\n}\n",
    "{\n}",
    "{ }\n",
    "{\"model\":\"x\"}",
    "{\n  \"model\": \"x\"\n}\n",
    "{\n\t\"model\": \"x\"\n}\n",
    "{\r\n    \"model\": \"x\"\r\n}\r\n",
    "{\n  \"hooks\": {}\n}\n",
    "{\n  \"hooks\": {\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"BeforeTool\": []\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n    ]\n  },\n  \"z\": 1\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": []}]\n  },\n  \"a\": [1, 2,3]\n}\n",
    "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"./check.sh\"}]}]}}\n",
    "{\n    \"hooks\": {\n        \"BeforeTool\": [ {\"hooks\": [{\"command\": \"agent-bash hook other\"}]} ],\n        \"PreToolUse\": [ 1 ]\n    }\n}",
    "// mine\n{\n  // the model\n  \"model\": \"x\", /* last */ \"ü\": null\n} // end\n",
    "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      // none\n    ]\n  }\n}\n",
];

fn settings() -> [&'static Agent; 3] {
    [&CLAUDE_CODE, &CODEX, &GEMINI_CLI]
}

fn has_comments(text: &str) -> bool {
    text.contains("//")
}

/// The hooks that the agent would run, from a text without comments.
fn commands(agent: &Agent, text: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(text).unwrap();
    let groups = value["hooks"][agent.event].as_array().cloned();
    let groups = groups.unwrap_or_default();
    let handlers = groups.iter().filter_map(|group| group["hooks"].as_array());
    handlers
        .flatten()
        .filter_map(|handler| Some(handler["command"].as_str()?.to_owned()))
        .collect()
}

#[test]
fn a_file_with_the_hook_and_without_is_the_file_that_was() {
    for agent in settings() {
        let comments = SETTINGS_FILES
            .iter()
            .filter(|text| has_comments(text))
            .count();
        assert_eq!(comments, 2);
        for before in SETTINGS_FILES {
            let with = match with_hook(agent, Some(before), PROGRAM) {
                Err(BadFile::NotJson { .. }) if agent.name != "gemini-cli" => {
                    assert!(has_comments(before), "{before}");
                    continue;
                }
                with => with.unwrap(),
            };
            assert_ne!(with, before);
            let again = with_hook(agent, Some(&with), PROGRAM).unwrap();
            assert_eq!(again, with, "set up twice");
            let without = without_hook(agent, &with).unwrap();
            assert_eq!(without.as_deref(), Some(before), "{with}");
            let nothing = without_hook(agent, before).unwrap();
            assert_eq!(nothing.as_deref(), Some(before), "there was none");
            if !has_comments(before) {
                let line = format!("agent-bash hook {} || {FALLBACK}", agent.name);
                let mut want = commands(agent, before);
                want.push(line);
                assert_eq!(commands(agent, &with), want);
            }
        }
    }
}

#[test]
fn where_there_was_no_file_there_is_none_after() {
    for agent in AGENTS {
        let with = with_hook(agent, None, PROGRAM).unwrap();
        assert_eq!(with_hook(agent, Some(&with), PROGRAM).unwrap(), with);
        assert_eq!(without_hook(agent, &with).unwrap(), None, "{with}");
    }
    insta::assert_snapshot!(with_hook(&CLAUDE_CODE, None, PROGRAM).unwrap(), @r#"
    {
      "hooks": {
        "PreToolUse": [
          {
            "matcher": "Bash|Monitor",
            "hooks": [
              {
                "type": "command",
                "command": "agent-bash hook claude-code || sh -c 'echo Not run: agent-bash gave no verdict >&2; exit 2'",
                "timeout": 30
              }
            ]
          }
        ]
      }
    }
    "#);
}

#[test]
fn what_was_changed_meanwhile_stays() {
    let with = with_hook(&CLAUDE_CODE, Some("{}"), PROGRAM).unwrap();
    // An agent rewrites its settings in its own format and adds an entry.
    let mut value: Value = serde_json::from_str(&with).unwrap();
    value["permissions"] = serde_json::json!({"allow": ["Bash(ls)"]});
    let anew = serde_json::to_string_pretty(&value).unwrap();
    let without = without_hook(&CLAUDE_CODE, &anew).unwrap().unwrap();
    let value: Value = serde_json::from_str(&without).unwrap();
    assert_eq!(
        value,
        serde_json::json!({"permissions": {"allow": ["Bash(ls)"]}})
    );
    // Another handler in the same group is left alone.
    let shared = with.replace(
        "\"hooks\": [\n",
        "\"hooks\": [\n{\"type\": \"command\", \"command\": \"mine\"},\n",
    );
    assert_eq!(commands(&CLAUDE_CODE, &shared).len(), 2);
    let without = without_hook(&CLAUDE_CODE, &shared).unwrap().unwrap();
    assert_eq!(commands(&CLAUDE_CODE, &without), ["mine"]);
}

#[test]
fn the_hook_of_another_place_is_replaced() {
    let odd = "/opt/it's mine/agent-bash";
    for before in ["{}", "{\"a\": 1}\n"] {
        let old = with_hook(&CLAUDE_CODE, Some(before), odd).unwrap();
        let line = commands(&CLAUDE_CODE, &old).remove(0);
        let words = shlex::split(&line).unwrap();
        assert_eq!(words[..6], [odd, "hook", "claude-code", "||", "sh", "-c"]);
        let new = with_hook(&CLAUDE_CODE, Some(&old), PROGRAM).unwrap();
        assert_eq!(new, with_hook(&CLAUDE_CODE, Some(before), PROGRAM).unwrap());
        let without = without_hook(&CLAUDE_CODE, &old).unwrap();
        assert_eq!(without.as_deref(), Some(before));
    }
}

#[test]
fn a_file_that_the_agent_cannot_read_is_left_alone() {
    for (text, why) in [
        ("", "it is empty"),
        ("  \n", "it is empty"),
        ("[]", "not an object"),
        ("\"x\"", "not an object"),
        ("{\"a\": }", "line 1 column"),
        ("{\"a\": 1,}", "railing comma"),
        ("{a: 1}", "line 1"),
        ("{'a': 1}", "line 1"),
        ("{\"a\": 1} x", "line 1"),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "line"),
        ("{\"hooks\": []}", "`hooks` must be an object"),
        ("{\"hooks\": null}", "`hooks` must be an object"),
        ("{\"hooks\": {\"PreToolUse\": {}}}", "must be an array"),
    ] {
        for error in [
            with_hook(&CLAUDE_CODE, Some(text), PROGRAM).unwrap_err(),
            without_hook(&CLAUDE_CODE, text).unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(error.contains(why), "{text:?}: {error}");
            assert!(error.contains("repair it"), "{error}");
        }
        // Our parser accepts no more than the agent's, which is JavaScript's or Rust's.
        let shape = text.contains("hooks") || text.starts_with(['[', '"']);
        assert!(shape || serde_json::from_str::<Value>(text).is_err());
    }
    let mine = "export const Mine = async () => ({})\n";
    assert_eq!(
        with_hook(&OPENCODE, Some(mine), PROGRAM),
        Err(BadFile::NotOurs)
    );
    assert_eq!(without_hook(&OPENCODE, mine), Err(BadFile::NotOurs));
}

#[test]
fn the_plugin_names_the_program_as_a_string() {
    let text = with_hook(&OPENCODE, None, "/opt/a \"b\"/agent-bash").unwrap();
    let line = text.lines().find(|line| line.starts_with("const program"));
    assert_eq!(line, Some(r#"const program = "/opt/a \"b\"/agent-bash""#));
    let other = with_hook(&OPENCODE, Some(&text), PROGRAM).unwrap();
    assert!(other.contains("const program = \"agent-bash\""), "{other}");
}

#[test]
fn the_file_is_where_the_agent_looks() {
    let host = |variable: Option<(&str, &str)>, home: Option<&str>| HostContext {
        home: home.map(PathBuf::from),
        env: std::sync::Arc::new(
            variable
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        ),
        ..HostContext::for_tests("/w")
    };
    for (agent, user, variable, named, project) in [
        (
            &CLAUDE_CODE,
            "/h/.claude/settings.json",
            "CLAUDE_CONFIG_DIR",
            "/v/settings.json",
            "/w/.claude/settings.json",
        ),
        (
            &CODEX,
            "/h/.codex/hooks.json",
            "CODEX_HOME",
            "/v/hooks.json",
            "/w/.codex/hooks.json",
        ),
        (
            &GEMINI_CLI,
            "/h/.gemini/settings.json",
            "GEMINI_CLI_HOME",
            "/v/.gemini/settings.json",
            "/w/.gemini/settings.json",
        ),
        (
            &OPENCODE,
            "/h/.config/opencode/plugins/agent-bash.js",
            "XDG_CONFIG_HOME",
            "/v/opencode/plugins/agent-bash.js",
            "/w/.opencode/plugins/agent-bash.js",
        ),
    ] {
        let at = |scope, host: &HostContext| file(agent, scope, host);
        let plain = host(None, Some("/h"));
        assert_eq!(at(Scope::User, &plain), Some(user.into()));
        assert_eq!(at(Scope::Project, &plain), Some(project.into()));
        let moved = host(Some((variable, "/v")), Some("/h"));
        assert_eq!(at(Scope::User, &moved), Some(named.into()));
        assert_eq!(at(Scope::User, &host(None, None)), None);
    }
}
