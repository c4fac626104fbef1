//! Tests of adding and removing the setting that makes our link the agent's shell.

use super::*;
use crate::{SUPPORTED, by_name};
use serde_json::Value;

fn settings() -> Vec<&'static ShellSetting> {
    let settings = SUPPORTED.iter().filter_map(|agent| match &agent.shell {
        Some(ShellWay::Setting(setting)) => Some(setting),
        _ => None,
    });
    settings.collect()
}

fn setting(agent: &str) -> &'static ShellSetting {
    let all = settings();
    all.into_iter().find(|it| it.agent == agent).unwrap()
}

fn link(setting: &ShellSetting) -> String {
    format!("/h/.local/share/agent-bash/links/{}", setting.link.name())
}

/// Returns the setting that the agent reads, from a text without comments.
fn value(setting: &ShellSetting, text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap();
    let mut path = setting.keys.iter().chain(&setting.member);
    let found = path.try_fold(&value, |at, name| at.get(name));
    found.cloned().unwrap_or_default()
}

/// Realistic settings files. The last three have comments or trailing commas.
const SETTINGS_FILES: [&str; 13] = [
    "{}",
    "{}\n",
    "{\n}\n",
    "{ }\n",
    "{\"model\":\"x\"}",
    "{\n\t\"model\": \"x\"\n}\n",
    "{\r\n    \"model\": \"x\"\r\n}\r\n",
    "{\n  \"env\": {}\n}\n",
    "{\n  \"env\": {\n  },\n  \"z\": [1, 2,3]\n}\n",
    "{\n  \"env\": {\n    \"A\": \"1\"\n  }\n}",
    "// mine\n{\n  // the model\n  \"model\": \"x\" /* last */\n} // end\n",
    "{\n  \"model\": \"x\",\n}\n",
    "{\n  \"env\": {\"A\": \"1\",}, // mine\n}\n",
];

#[test]
fn file_is_the_same_after_install_and_uninstall() {
    for setting in settings() {
        let link = link(setting);
        let mut refused = 0;
        for before in SETTINGS_FILES {
            let with = match with_shell(setting, Some(before), &link) {
                Err(BadFile::NotJson { .. }) if !setting.json.comments => {
                    refused += 1;
                    continue;
                }
                with => with.unwrap(),
            };
            assert_ne!(with, before);
            assert_eq!(with_shell(setting, Some(&with), &link).unwrap(), with);
            let found = shell_of(setting, &with).unwrap();
            assert_eq!(found.as_deref(), Some(&*link), "{with}");
            let without = without_shell(setting, &with).unwrap();
            assert_eq!(without.as_deref(), Some(before), "{with}");
            // Without the link, nothing is removed.
            let same = without_shell(setting, before).unwrap();
            assert_eq!(same.as_deref(), Some(before));
            assert_eq!(shell_of(setting, before).unwrap(), None);
            if serde_json::from_str::<Value>(before).is_ok() {
                assert_eq!(value(setting, &with), *link);
            }
        }
        assert_eq!(refused, if setting.json.comments { 0 } else { 3 });
    }
}

#[test]
fn created_file_is_removed_on_uninstall() {
    for setting in settings() {
        let with = with_shell(setting, None, &link(setting)).unwrap();
        assert_eq!(without_shell(setting, &with).unwrap(), None, "{with}");
        // Control: a file with anything else stays.
        let other = with.replacen('{', "{\n  \"model\": \"x\",", 1);
        let without = without_shell(setting, &other).unwrap().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&without).unwrap(),
            serde_json::json!({"model": "x"})
        );
    }
    let claude_code = setting("claude-code");
    insta::assert_snapshot!(with_shell(claude_code, None, &link(claude_code)).unwrap(), @r#"
    {
      "env": {
        "CLAUDE_CODE_SHELL_PREFIX": "/h/.local/share/agent-bash/links/agent-bash-shell"
      }
    }
    "#);
}

#[test]
fn created_file_is_removed_after_the_agent_has_inserted_its_own_member() {
    for (agent, host) in [("opencode", "opencode.ai"), ("kilo", "app.kilo.ai")] {
        let agent = setting(agent);
        let with = with_shell(agent, None, &link(agent)).unwrap();
        let schema = format!("\n  \"$schema\": \"https://{host}/config.json\",");
        let started = with.replacen('{', &format!("{{{schema}"), 1);
        assert_eq!(without_shell(agent, &started).unwrap(), None);
        // Control: a file that the user wrote stays as the agent has left it.
        let before = format!("{{{schema}\n  \"model\": \"x\"\n}}\n");
        let with = with_shell(agent, Some(&before), &link(agent)).unwrap();
        let without = without_shell(agent, &with).unwrap();
        assert_eq!(without.as_deref(), Some(&*before));
    }
}

#[test]
fn link_of_another_directory_is_replaced() {
    for setting in settings() {
        let old = format!("/old/agent-bash/links/{}", setting.link.name());
        for before in ["{}", "{\"a\": 1}\n"] {
            let with_old = with_shell(setting, Some(before), &old).unwrap();
            let with = with_shell(setting, Some(&with_old), &link(setting)).unwrap();
            let expected = with_shell(setting, Some(before), &link(setting)).unwrap();
            assert_eq!(with, expected);
        }
    }
}

#[test]
fn shell_that_the_user_has_set_is_not_removed() {
    for (agent, text) in [
        ("opencode", "{\"shell\": \"/bin/zsh\"}"),
        ("opencode", "{\"shell\": \"/other/links/bash\"}"),
        ("pi", "{\"shellPath\": null}"),
        (
            "claude-code",
            "{\"env\": {\"CLAUDE_CODE_SHELL_PREFIX\": \"/x/wrap\"}}",
        ),
        (
            "vscode",
            "{\"terminal.integrated.automationProfile.linux\": null}",
        ),
        // A profile of ours that the user has extended.
        (
            "vscode",
            r#"{"terminal.integrated.automationProfile.linux": {"path": "/h/agent-bash/links/bash", "args": ["-l"]}}"#,
        ),
    ] {
        let setting = setting(agent);
        let error = with_shell(setting, Some(text), &link(setting)).unwrap_err();
        assert!(matches!(error, BadFile::AlreadySet { .. }), "{error}");
        let without = without_shell(setting, text).unwrap();
        assert_eq!(without.as_deref(), Some(text));
        assert_eq!(shell_of(setting, text).unwrap(), None);
    }
    let error = with_shell(
        setting("opencode"),
        Some("{\"shell\": \"/bin/zsh\"}"),
        "/agent-bash/links/bash",
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("`shell` is \"/bin/zsh\" already"),
        "{error}"
    );
}

#[test]
fn object_with_the_shell_is_added_after_comments_and_named_in_one_line() {
    let vscode = setting("vscode");
    let before = "{\n    // mine\n    \"editor.fontSize\": 12, // points\n}\n";
    let with = with_shell(vscode, Some(before), &link(vscode)).unwrap();
    insta::assert_snapshot!(with, @r#"
    {
        // mine
        "editor.fontSize": 12,
        "terminal.integrated.automationProfile.linux": {
            "path": "/h/.local/share/agent-bash/links/bash"
        }, // points
    }
    "#);
    let without = without_shell(vscode, &with).unwrap();
    assert_eq!(without.as_deref(), Some(before));
    let zsh = with.replace("/h/.local/share/agent-bash/links/bash", "/bin/zsh");
    let error = with_shell(vscode, Some(&zsh), &link(vscode)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains(r#"automationProfile.linux` is {"path":"/bin/zsh"} already"#),
        "{error}"
    );
}

#[test]
fn reformatted_file_loses_only_the_setting() {
    let claude_code = setting("claude-code");
    let with = with_shell(claude_code, Some("{}"), &link(claude_code)).unwrap();
    let mut changed: Value = serde_json::from_str(&with).unwrap();
    changed["env"]["A"] = "1".into();
    let text = serde_json::to_string_pretty(&changed).unwrap();
    let without = without_shell(claude_code, &text).unwrap().unwrap();
    let without: Value = serde_json::from_str(&without).unwrap();
    assert_eq!(without, serde_json::json!({"env": {"A": "1"}}));
    let opencode = setting("opencode");
    let text = format!("{{\n  \"shell\": \"{}\",\n}}\n", link(opencode));
    let without = without_shell(opencode, &text).unwrap().unwrap();
    assert_eq!(without, "{\n}\n");
}

#[test]
fn hook_and_link_in_one_file_are_independent() {
    let claude_code = setting("claude-code");
    let agent = &crate::CLAUDE_CODE;
    for before in [None, Some("{}\n"), Some("{\n  \"model\": \"x\"\n}\n")] {
        let link = with_shell(claude_code, before, &link(claude_code)).unwrap();
        let both = with_hook(agent, Some(&link), "agent-bash").unwrap();
        let last_first = without_hook(agent, &both).unwrap().unwrap();
        assert_eq!(last_first, link);
        let first_first = without_shell(claude_code, &both).unwrap().unwrap();
        let rest = without_hook(agent, &first_first).unwrap();
        let (rest, before) = match (rest, before) {
            (None, None) => continue,
            (rest, before) => (rest.unwrap(), before.unwrap_or("{}")),
        };
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(parse(&rest), parse(before));
    }
}

#[test]
fn file_of_wrong_shape_is_refused() {
    let claude_code = setting("claude-code");
    for (text, why) in [
        ("{\"env\": []}", "`env` must be an object"),
        ("[]", "not an object"),
        ("", "it is empty"),
        ("{\"a\": 1,}", "railing comma"),
    ] {
        for error in [
            with_shell(claude_code, Some(text), "/x").unwrap_err(),
            without_shell(claude_code, text).unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}

#[test]
fn shell_file_returns_the_settings_path_of_the_agent() {
    let home = tempfile::tempdir().unwrap();
    let host = |variables: &[(&str, &str)]| {
        let env = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        HostContext {
            home: Some(home.path().to_owned()),
            env: std::sync::Arc::new(env.collect()),
            ..crate::host_in("/w")
        }
    };
    for (agent, user, variable, named, project) in [
        (
            "claude-code", ".claude/settings.json", "CLAUDE_CONFIG_DIR", "/v/settings.json",
            "/w/.claude/settings.json",
        ),
        (
            "kilo", ".config/kilo/kilo.jsonc", "XDG_CONFIG_HOME", "/v/kilo/kilo.jsonc",
            "/w/.kilo/kilo.jsonc",
        ),
        (
            "opencode",
            ".config/opencode/opencode.json",
            "XDG_CONFIG_HOME",
            "/v/opencode/opencode.json",
            "/w/.opencode/opencode.json",
        ),
        (
            "pi", ".pi/agent/settings.json", "PI_CODING_AGENT_DIR", "/v/settings.json",
            "/w/.pi/settings.json",
        ),
        (
            "vscode",
            ".config/Code/User/settings.json",
            "XDG_CONFIG_HOME",
            "/v/Code/User/settings.json",
            "/w/.vscode/settings.json",
        ),
        (
            "vscode-insiders",
            ".config/Code - Insiders/User/settings.json",
            "XDG_CONFIG_HOME",
            "/v/Code - Insiders/User/settings.json",
            "/w/.vscode/settings.json",
        ),
        (
            "vscodium",
            ".config/VSCodium/User/settings.json",
            "XDG_CONFIG_HOME",
            "/v/VSCodium/User/settings.json",
            "/w/.vscode/settings.json",
        ),
    ] {
        let at = |scope, host: &HostContext| shell_file(setting(agent), scope, host);
        let plain = host(&[]);
        assert_eq!(
            at(SettingsScope::User, &plain),
            Some(home.path().join(user))
        );
        assert_eq!(at(SettingsScope::Project, &plain), Some(project.into()));
        assert_eq!(
            at(SettingsScope::User, &host(&[(variable, "/v")])),
            Some(named.into())
        );
    }
    // opencode reads a file with comments by another name.
    let directory = home.path().join(".config/opencode");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("opencode.jsonc"), "{}").unwrap();
    let found = || shell_file(setting("opencode"), SettingsScope::User, &host(&[]));
    assert_eq!(found(), Some(directory.join("opencode.jsonc")));
    std::fs::write(directory.join("opencode.json"), "{}").unwrap();
    assert_eq!(found(), Some(directory.join("opencode.json")));
    assert!(by_name("nothing").is_none());
}
