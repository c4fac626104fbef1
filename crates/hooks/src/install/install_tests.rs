//! Files with the hook added, and removed again.

use super::*;
use crate::agent::JsonEntry;
use crate::{CLAUDE_CODE, by_name, hook_agents};
use serde_json::Value;
use std::path::Path;

const PRE_TOOL_USE: &[&str] = &["hooks", "PreToolUse"];

const PROGRAM: &str = "agent-bash";

/// The end of the hook's command line, which blocks the call if the program fails.
const FALLBACK: &str = "sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'";

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

/// Returns the agents with entries in a JSON file, and the form of the entries.
fn json_agents() -> Vec<(&'static Agent, &'static JsonEntry)> {
    let rows = hook_agents().chain(hook_agents().filter_map(|agent| agent.preferred));
    let rows = rows.filter_map(|agent| match &agent.form {
        HookForm::Json(form) => Some((agent, form)),
        _ => None,
    });
    rows.collect()
}

fn has_comments(text: &str) -> bool {
    text.contains("//")
}

/// Returns the text with the header that the agent requires.
fn with_header(form: &JsonEntry, text: &str) -> String {
    let Some((name, value)) = form.header else {
        return text.to_owned();
    };
    let (before, after) = text.split_once('{').unwrap();
    let comma = if after.trim_start().starts_with('}') {
        ""
    } else {
        ","
    };
    format!("{before}{{\"{name}\": {value}{comma}{after}")
}

/// Returns the commands of the hooks in a list, from a text without comments.
fn commands(list: &[&str], text: &str) -> Vec<String> {
    let mut value: Value = serde_json::from_str(text).unwrap();
    for name in list {
        value = value[*name].take();
    }
    let mut found = Vec::new();
    collect(&value, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str() {
                    Some(line) if ["command", "bash"].contains(&&**name) && line != "command" => {
                        found.push(line.to_owned());
                    }
                    _ => collect(value, found),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn file_is_the_same_after_install_and_uninstall() {
    for (agent, form) in json_agents() {
        let mut installed = 0;
        for before in SETTINGS_FILES {
            let before = &*with_header(form, before);
            let with = match with_hook(agent, Some(before), PROGRAM) {
                Err(BadFile::NotJson { .. }) if !form.json.comments => {
                    assert!(has_comments(before), "{before}");
                    continue;
                }
                // Another value at the agent's path.
                Err(BadFile::OtherShape { .. })
                    if agent.name == "kiro"
                        || (form.excluded.is_some() && before.contains("hooks")) =>
                {
                    continue;
                }
                with => with.unwrap(),
            };
            installed += 1;
            assert_ne!(with, before);
            let again = with_hook(agent, Some(&with), PROGRAM).unwrap();
            assert_eq!(again, with, "set up twice");
            let without = without_hook(agent, &with).unwrap();
            assert_eq!(without.as_deref(), Some(before), "{with}");
            let nothing = without_hook(agent, before).unwrap();
            assert_eq!(nothing.as_deref(), Some(before), "there was none");
            if !has_comments(before) {
                for (list, entry) in form.lists {
                    let end = if entry.contains("LINE") {
                        FALLBACK
                    } else {
                        "true"
                    };
                    let mut want = commands(list, before);
                    want.push(format!("agent-bash hook {} || {end}", agent.hook_name()));
                    assert_eq!(commands(list, &with), want);
                }
            }
        }
        assert!(installed >= 9, "{}", agent.name);
    }
}

#[test]
fn file_that_did_not_exist_is_removed() {
    for agent in hook_agents() {
        if agent.name == "auto" {
            assert_eq!(with_hook(agent, None, PROGRAM), Err(BadFile::Unknown));
            continue;
        }
        let with = with_hook(agent, None, PROGRAM).unwrap();
        assert_eq!(with_hook(agent, Some(&with), PROGRAM).unwrap(), with);
        assert_eq!(without_hook(agent, &with).unwrap(), None, "{with}");
    }
}

/// Returns a file that has only the hook.
fn new_file(agent: &str) -> String {
    with_hook(&by_name(agent).unwrap().hook, None, PROGRAM).unwrap()
}

#[test]
fn new_file_has_the_entries_of_the_agent() {
    insta::assert_snapshot!(new_file("claude-code"), @r#"
    {
      "hooks": {
        "PreToolUse": [
          {
            "matcher": "Bash|Monitor|PowerShell",
            "hooks": [
              {
                "type": "command",
                "command": "agent-bash hook claude-code || sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'",
                "timeout": 30
              }
            ]
          }
        ],
        "PreSkillShellCommand": [
          {
            "matcher": "Bash|Monitor|PowerShell",
            "hooks": [
              {
                "type": "command",
                "command": "agent-bash hook claude-code || sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'",
                "timeout": 30
              }
            ]
          }
        ],
        "UserPromptSubmit": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "agent-bash hook claude-code || true",
                "timeout": 30
              }
            ]
          }
        ]
      }
    }
    "#);
    insta::assert_snapshot!(new_file("copilot"), @r#"
    {
      "version": 1,
      "hooks": {
        "preToolUse": [
          {
            "type": "command",
            "bash": "agent-bash hook copilot || sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'",
            "timeoutSec": 30
          }
        ],
        "userPromptSubmitted": [
          {
            "type": "command",
            "bash": "agent-bash hook copilot || true",
            "timeoutSec": 30
          }
        ]
      }
    }
    "#);
    insta::assert_snapshot!(new_file("kiro"), @r#"
    {
      "version": "v1",
      "hooks": [
        {
          "name": "agent-bash",
          "trigger": "PreToolUse",
          "matcher": "execute_bash|execute_cmd|shell",
          "action": {
            "type": "command",
            "command": "agent-bash hook kiro || sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'"
          },
          "timeout": 30
        }
      ]
    }
    "#);
    insta::assert_snapshot!(new_file("kimi"), @r#"
    [[hooks]]
    event = "PreToolUse"
    matcher = "^Bash$"
    command = "agent-bash hook kimi || sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'"
    timeout = 30

    [[hooks]]
    event = "UserPromptSubmit"
    command = "agent-bash hook kimi || true"
    timeout = 30
    "#);
}

#[test]
fn new_file_has_the_form_of_the_agent() {
    insta::assert_snapshot!(new_file("letta"), @r#"
    {
      "hooks": {
        "PreToolUse": [
          {
            "matcher": "*",
            "hooks": [
              {
                "type": "command",
                "command": "agent-bash hook letta || sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'",
                "timeout": 30000
              }
            ]
          }
        ]
      }
    }
    "#);
    insta::assert_snapshot!(new_file("mistral-vibe"), @r#"
    [[hooks]]
    name = "agent-bash"
    type = "pre_tool"
    command = "agent-bash hook mistral-vibe || sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'"
    timeout = 30
    strict = true
    "#);
    insta::assert_snapshot!(new_file("openhands"), @r#"
    {
      "pre_tool_use": [
        {
          "matcher": "terminal",
          "hooks": [
            {
              "type": "command",
              "command": "agent-bash hook openhands || sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'",
              "timeout": 30
            }
          ]
        }
      ]
    }
    "#);
    insta::assert_snapshot!(new_file("cline"), @r#"
    #!/bin/sh
    # Written by `agent-bash hook --install cline`, removed by `--uninstall`.
    # Asks agent-bash before Cline runs a command. A command that agent-bash refuses or cannot check does not run.
    agent-bash hook cline || echo '{"cancel": true, "errorMessage": "Not run: agent-bash did not permit it"}'
    "#);
}

#[test]
fn toml_file_is_the_same_after_install_and_uninstall() {
    let kimi = &by_name("kimi").unwrap().hook;
    for before in [
        "",
        "\n",
        "model = \"x\"",
        "model = \"x\"\n",
        "# mine\nmodel = \"x\" # this\n\n\n",
        "[a]\nb = 1\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"true\"\n# the end\n",
        "text = \"\"\"\n[[hooks]]\n\"\"\"\n",
    ] {
        let with = with_hook(kimi, Some(before), PROGRAM).unwrap();
        let table: toml::Table = with.parse().unwrap();
        let hooks = table["hooks"].as_array().unwrap();
        let lines = hooks.iter().rev().take(2);
        let lines: Vec<_> = lines
            .map(|hook| hook["command"].as_str().unwrap())
            .collect();
        let call = format!("agent-bash hook kimi || {FALLBACK}");
        assert_eq!(lines, ["agent-bash hook kimi || true", &call]);
        assert_eq!(with_hook(kimi, Some(&with), PROGRAM).unwrap(), with);
        let without = without_hook(kimi, &with).unwrap();
        assert_eq!(without.as_deref(), Some(before), "{with}");
        assert_eq!(without_hook(kimi, before).unwrap().as_deref(), Some(before));
        // A hook of another directory is replaced.
        let old = with_hook(kimi, Some(before), "/opt/it's mine/agent-bash").unwrap();
        assert_eq!(with_hook(kimi, Some(&old), PROGRAM).unwrap(), with);
    }
    // The agent writes its settings anew.
    let anew = "model = \"y\"\n\n[[hooks]]\ncommand = 'agent-bash hook kimi || x'\nevent = \"PreToolUse\"\n\n[z]\na = 1\n";
    let without = without_hook(kimi, anew).unwrap().unwrap();
    assert_eq!(without, "model = \"y\"\n\n[z]\na = 1\n");
    for (text, why) in [
        ("a = \n", "not valid TOML"),
        ("hooks = 1\n", "[[hooks]]"),
        ("hooks = []\n", "[[hooks]]"),
    ] {
        let error = with_hook(kimi, Some(text), PROGRAM)
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn settings_that_the_agent_ignores_are_not_used() {
    let project = tempfile::tempdir().unwrap();
    let host = crate::host_in(project.path());
    let droid = &by_name("droid").unwrap().hook;
    let in_use = || {
        file(
            applicable(droid, SettingsScope::Project, &host),
            SettingsScope::Project,
            &host,
        )
    };
    let at = |name: &str| Some(project.path().join(".factory").join(name));
    assert_eq!(in_use(), at("settings.json"));
    std::fs::create_dir(project.path().join(".factory")).unwrap();
    std::fs::write(at("hooks.json").unwrap(), "{}").unwrap();
    assert_eq!(in_use(), at("hooks.json"));
}

#[test]
fn file_without_the_header_is_refused() {
    let cursor = &by_name("cursor").unwrap().hook;
    let error = with_hook(cursor, Some("{\"hooks\": {}}"), PROGRAM).unwrap_err();
    assert_eq!(error.to_string(), "`version` must be 1; repair it first");
}

#[test]
fn uninstall_keeps_later_changes() {
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
    assert_eq!(commands(PRE_TOOL_USE, &shared).len(), 2);
    let without = without_hook(&CLAUDE_CODE, &shared).unwrap().unwrap();
    assert_eq!(commands(PRE_TOOL_USE, &without), ["mine"]);
}

#[test]
fn hook_with_another_program_path_is_replaced() {
    let odd = "/opt/it's mine/agent-bash";
    for before in ["{}", "{\"a\": 1}\n"] {
        let old = with_hook(&CLAUDE_CODE, Some(before), odd).unwrap();
        let line = commands(PRE_TOOL_USE, &old).remove(0);
        let words = shlex::split(&line).unwrap();
        assert_eq!(words[..6], [odd, "hook", "claude-code", "||", "sh", "-c"]);
        let new = with_hook(&CLAUDE_CODE, Some(&old), PROGRAM).unwrap();
        assert_eq!(new, with_hook(&CLAUDE_CODE, Some(before), PROGRAM).unwrap());
        let without = without_hook(&CLAUDE_CODE, &old).unwrap();
        assert_eq!(without.as_deref(), Some(before));
    }
}

#[test]
fn invalid_file_is_refused() {
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
    let opencode = &by_name("opencode").unwrap().hook;
    let mine = "export const Mine = async () => ({})\n";
    assert_eq!(
        with_hook(opencode, Some(mine), PROGRAM),
        Err(BadFile::NotOurs)
    );
    assert_eq!(without_hook(opencode, mine), Err(BadFile::NotOurs));
}

#[test]
fn hook_of_the_user_with_our_name_is_not_replaced() {
    let vibe = &by_name("mistral-vibe").unwrap().hook;
    let other = "[[hooks]]\nname = \"other\"\ntype = \"pre_tool\"\ncommand = \"true\"\n";
    let with = with_hook(vibe, Some(other), PROGRAM).unwrap();
    assert_eq!(with_hook(vibe, Some(&with), PROGRAM).unwrap(), with);
    assert_eq!(without_hook(vibe, &with).unwrap().as_deref(), Some(other));
    // Vibe uses the first hook of a name.
    let named = other.replace("other", "agent-bash");
    let error = with_hook(vibe, Some(&named), PROGRAM).unwrap_err();
    assert!(matches!(error, BadFile::AlreadySet { .. }), "{error}");
}

#[test]
fn file_with_its_lists_in_another_member_is_refused() {
    let openhands = &by_name("openhands").unwrap().hook;
    let error = with_hook(openhands, Some("{\"hooks\": {}}"), PROGRAM).unwrap_err();
    let error = error.to_string();
    assert!(error.starts_with("`hooks` must be absent"), "{error}");
    // Control: the same text at the top level.
    assert!(with_hook(openhands, Some("{\"pre_tool_use\": []}"), PROGRAM).is_ok());
}

#[test]
fn plugin_of_a_fork_calls_the_hook_by_the_name_of_the_fork() {
    let (opencode, kilo) = (new_file("opencode"), new_file("kilo"));
    assert_eq!(opencode.matches("\"hook\", \"opencode\"").count(), 2);
    assert_eq!(opencode.replace("opencode", "kilo"), kilo);
    assert!(kilo.starts_with("// Written by `agent-bash hook --install kilo`"));
    let (pi, omp) = (new_file("pi"), new_file("omp"));
    assert_eq!(
        pi.replace("\"hook\", \"pi\"", "\"hook\", \"omp\"")
            .lines()
            .skip(1)
            .collect::<Vec<_>>(),
        omp.lines().skip(1).collect::<Vec<_>>()
    );
    assert_ne!(pi, omp);
}

#[test]
fn plugin_has_the_program_as_a_string_literal() {
    let opencode = &by_name("opencode").unwrap().hook;
    let text = with_hook(opencode, None, "/opt/a \"b\"/agent-bash").unwrap();
    let line = text.lines().find(|line| line.starts_with("const program"));
    assert_eq!(line, Some(r#"const program = "/opt/a \"b\"/agent-bash""#));
    let other = with_hook(opencode, Some(&text), PROGRAM).unwrap();
    assert!(other.contains("const program = \"agent-bash\""), "{other}");
}

#[test]
fn file_returns_the_settings_path_of_the_agent() {
    let host = |variable: Option<(&str, &str)>, home: Option<&str>| HostContext {
        home: home.map(PathBuf::from),
        env: std::sync::Arc::new(
            variable
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        ),
        ..crate::host_in("/w")
    };
    for (name, user, variable, named, project) in [
        (
            "claude-code", ".claude/settings.json", "CLAUDE_CONFIG_DIR", "settings.json",
            ".claude/settings.json",
        ),
        (
            "cline", ".cline/hooks/PreToolUse", "CLINE_DIR", "hooks/PreToolUse",
            ".cline/hooks/PreToolUse",
        ),
        (
            "codex", ".codex/hooks.json", "CODEX_HOME", "hooks.json", ".codex/hooks.json",
        ),
        (
            "copilot",
            ".copilot/hooks/agent-bash.json",
            "COPILOT_HOME",
            "hooks/agent-bash.json",
            ".github/hooks/agent-bash.json",
        ),
        (
            "crush", ".config/crush/crush.json", "CRUSH_GLOBAL_CONFIG", "crush.json", "crush.json",
        ),
        (
            "gemini-cli", ".gemini/settings.json", "GEMINI_CLI_HOME", ".gemini/settings.json",
            ".gemini/settings.json",
        ),
        (
            "kilo",
            ".config/kilo/plugins/agent-bash.js",
            "XDG_CONFIG_HOME",
            "kilo/plugins/agent-bash.js",
            ".kilo/plugins/agent-bash.js",
        ),
        (
            "mistral-vibe", ".vibe/hooks.toml", "VIBE_HOME", "hooks.toml", ".vibe/hooks.toml",
        ),
        (
            "opencode",
            ".config/opencode/plugins/agent-bash.js",
            "XDG_CONFIG_HOME",
            "opencode/plugins/agent-bash.js",
            ".opencode/plugins/agent-bash.js",
        ),
        (
            "pi",
            ".pi/agent/extensions/agent-bash.ts",
            "PI_CODING_AGENT_DIR",
            "extensions/agent-bash.ts",
            ".pi/extensions/agent-bash.ts",
        ),
    ] {
        let agent = &by_name(name).unwrap().hook;
        let below = |directory: &str, file: &str| Some(Path::new(directory).join(file));
        let at = |scope, host: &HostContext| file(agent, scope, host);
        let plain = host(None, Some("/h"));
        assert_eq!(at(SettingsScope::User, &plain), below("/h", user));
        assert_eq!(at(SettingsScope::Project, &plain), below("/w", project));
        let moved = host(Some((variable, "/v")), Some("/h"));
        assert_eq!(at(SettingsScope::User, &moved), below("/v", named));
        assert_eq!(at(SettingsScope::User, &host(None, None)), None);
    }
}
