//! `agent-bash setup`: what it proposes, writes and undoes.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use crate::support::{Home, Run};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

/// Every kind of file: the agent, a file of its settings, and realistic contents.
const FILES: [(&str, &str, &str); 15] = [
    (
        "claude-code",
        ".claude/settings.json",
        "{\n    \"model\": \"x\",\n    \"env\": {},\n    \"hooks\": {}\n}",
    ),
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"true\"}\n  }\n}\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"m\" # the model\n\n[mcp_servers.other]\ncommand = \"true\"\n\n# the end",
    ),
    (
        "codex",
        ".codex/hooks.json",
        "{\"hooks\": {\"Stop\": []}}\n",
    ),
    (
        "copilot", ".copilot/mcp-config.json", "{\n\t\"mcpServers\": {}\n}\n",
    ),
    (
        "gemini-cli",
        ".gemini/settings.json",
        "// mine\n{\n  \"mcpServers\": {\n    // none\n  },\n  \"theme\": \"x\" /* t */\n}\n",
    ),
    (
        "kilo",
        ".config/kilo/kilo.jsonc",
        "{\n  // mine\n  \"$schema\": \"https://app.kilo.ai/config.json\"\n}",
    ),
    (
        "kimi",
        ".kimi-code/config.toml",
        "[[hooks]]\nevent = \"Stop\"\ncommand = \"true\"\n",
    ),
    (
        "letta",
        ".letta/settings.json",
        "{\n  \"agents\": [],\n  \"hooks\": {\n    \"Stop\": []\n  }\n}",
    ),
    (
        "mistral-vibe",
        ".vibe/config.toml",
        "active_model = \"m\"\n\n[[mcp_servers]]\nname = \"other\"\ntransport = \"stdio\"\ncommand = \"true\"\n\n\
         [[providers]]\nname = \"p\" # mine\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        "{\r\n  // mine\r\n  \"mcp\": {\"a\": {\"enabled\": false,},},\r\n}\r\n",
    ),
    (
        "openhands",
        ".openhands/hooks.json",
        "{\"stop\": [{\"hooks\": []}]}\n",
    ),
    ("qwen", ".qwen/settings.json", "{}"),
    (
        "vscode",
        ".config/Code/User/settings.json",
        "{\n    // mine\n    \"editor.fontSize\": 12, // points\n}\n",
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\n\t\"servers\": {},\n\t\"inputs\": []\n}\n",
    ),
];

/// A home in which these files exist, and no agent's program is on `PATH`.
fn home() -> Home {
    let home = Home::new();
    for (_, file, text) in FILES {
        home.write(file, text);
    }
    home
}

fn setup(home: &Home, words: &[&str]) -> Run {
    let words = [&["setup"], words].concat();
    home.run_with(&words, &[("PATH", "/nonexistent")])
}

fn text(home: &Home, file: &str) -> String {
    fs::read_to_string(home.path().join(file)).expect("the file")
}

fn assert_unchanged(home: &Home) {
    for (_, file, before) in FILES {
        assert_eq!(text(home, file), before, "{file}");
    }
}

#[test]
fn undo_restores_every_file_after_any_choice() {
    for ways in ["shell", "hook", "mcp", "hook,mcp", "mcp,hook,shell"] {
        let home = home();
        let mut agents = FILES.map(|(agent, ..)| agent).to_vec();
        agents.extend(["cursor", "droid", "pi", "cline"]);
        agents.dedup();
        for agent in agents {
            let chosen = format!("{agent}={ways}");
            let run = setup(&home, &["--agent", &chosen, "--yes"]);
            let is_impossible = run.stderr.contains("cannot use agent-bash as");
            assert_eq!(run.code, Some(i32::from(is_impossible)), "{}", run.stderr);
            let again = setup(&home, &["--agent", &chosen, "--yes"]);
            assert!(!again.stdout.contains("wrote"), "{}", again.stdout);
        }
        let is_changed = |(_, file, before): &(&str, &str, &str)| text(&home, file) != *before;
        assert!(FILES.iter().any(is_changed), "{ways}");
        let undone = setup(&home, &["--undo", "--yes"]);
        assert_eq!(undone.code, Some(0), "{}", undone.stderr);
        assert_unchanged(&home);
        for created in [
            ".cursor", ".factory", ".pi", ".cline", ".config/opencode/plugins", ".local",
        ] {
            assert!(!home.path().join(created).exists(), "{ways}: {created}");
        }
        let nothing = setup(&home, &["--undo", "--yes"]);
        assert_eq!(nothing.stdout, "nothing was changed\n");
    }
}

#[test]
fn links_stay_while_a_running_process_names_them() {
    let home = home();
    let run = setup(&home, &["--agent", "claude-code=shell", "--yes"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let directory = home.path().join(".local/share/agent-bash/links");
    let mut user = home.program("sleep");
    user.arg("600").env("SHELL", directory.join("bash"));
    let mut user = user.spawn().expect("sleep");
    let undone = setup(&home, &["--undo", "--yes"]);
    let named = format!("sleep (process {})", user.id());
    user.kill().and_then(|()| user.wait()).expect("it ends");
    assert_eq!(undone.code, Some(1), "{}", undone.stdout);
    assert!(undone.stderr.contains(&named), "{}", undone.stderr);
    assert!(directory.exists());
    assert_unchanged(&home);
    // An empty directory with another mode than ours is the user's.
    let other = home.path().join(".local");
    fs::set_permissions(&other, Permissions::from_mode(0o755)).expect("a mode");
    let again = setup(&home, &["--undo", "--yes"]);
    assert!(again.stdout.contains("removed "), "{}", again.stdout);
    assert!(!other.join("share").exists() && other.exists());
}

#[test]
fn undo_leaves_the_directories_that_a_link_leads_to() {
    let home = home();
    let target = home.path().join("dotfiles/cursor");
    fs::create_dir_all(&target).expect("a directory");
    fs::set_permissions(&target, Permissions::from_mode(0o700)).expect("a mode");
    symlink(&target, home.path().join(".cursor")).expect("a link");
    let run = setup(&home, &["--agent", "cursor=mcp,hook", "--yes"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(target.join("mcp.json").exists());
    assert_eq!(setup(&home, &["--undo", "--yes"]).code, Some(0));
    assert_eq!(fs::read_dir(&target).expect("it stays").count(), 0);
}

#[test]
fn links_stay_while_the_settings_of_an_agent_name_them() {
    let home = home();
    for agent in ["claude-code", "pi"] {
        let chosen = format!("{agent}=shell");
        let run = setup(&home, &["--agent", &chosen, "--yes"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
    let undone = setup(&home, &["--undo", "--agent", "claude-code", "--yes"]);
    assert_eq!(undone.code, Some(0), "{}", undone.stderr);
    let directory = home.path().join(".local/share/agent-bash/links");
    assert!(directory.join("bash").is_symlink());
}

#[test]
fn entry_of_an_older_installation_is_undone() {
    let home = home();
    let hook = home.run(&["hook", "--install", "claude-code", "--yes"]);
    assert_eq!(hook.code, Some(0), "{}", hook.stderr);
    let both = setup(&home, &["--agent", "claude-code=shell,mcp", "--yes"]);
    assert_eq!(both.code, Some(0), "{}", both.stderr);
    assert_eq!(setup(&home, &["--undo", "--yes"]).code, Some(0));
    assert_unchanged(&home);
}

#[test]
fn without_a_terminal_setup_names_its_options_and_writes_nothing() {
    let home = home();
    let run = setup(&home, &[]);
    assert_eq!(run.code, Some(2));
    for part in ["--yes", "--agent NAME=WAY", "--dry-run"] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    for line in [
        "claude-code (",
        "shell (proposed), hook, mcp\n",
        "codex (",
        "hook, mcp (proposed)\n",
        "vscode (",
        "User): shell, hook, mcp (proposed)\n",
    ] {
        assert!(run.stdout.contains(line), "{}", run.stdout);
    }
    // An agent that is not on this machine is not proposed.
    assert!(!run.stdout.contains("cursor"), "{}", run.stdout);
    let shown = setup(&home, &["--dry-run"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("+[mcp_servers.agent-bash]"));
    assert_eq!(setup(&home, &["--undo"]).code, Some(2));
    assert_unchanged(&home);
    assert!(!home.path().join(".local").exists());
}

#[test]
fn broken_file_is_named_and_the_other_agents_are_set_up() {
    let home = Home::new();
    let broken = [
        (".claude/settings.json", "{\"env\": 3}"),
        (".codex/config.toml", "model = \n"),
        (
            ".gemini/settings.json",
            "{\"mcpServers\": {\"agent-bash\": {},}}",
        ),
    ];
    for (file, text) in broken {
        home.write(file, text);
    }
    home.write(".qwen/settings.json", "{}");
    let run = setup(&home, &["--yes"]);
    assert_eq!(run.code, Some(1));
    for (file, before) in broken {
        assert!(run.stderr.contains(file), "{}", run.stderr);
        assert_eq!(text(&home, file), before);
    }
    assert_eq!(run.stderr.matches("was left as it is").count(), 3);
    assert!(text(&home, ".qwen/settings.json").contains("agent-bash"));
    // If one of two files is broken, the other one is not written either.
    let both = setup(&home, &["--agent", "codex=hook,mcp", "--yes"]);
    assert_eq!(both.code, Some(1));
    assert!(!home.path().join(".codex/hooks.json").exists());
    // An unrelated file is not parsed; a broken file with an entry of ours is named.
    let undone = setup(&home, &["--undo", "--yes"]);
    assert_eq!(undone.code, Some(1));
    assert!(undone.stderr.contains(".gemini"), "{}", undone.stderr);
    assert!(!undone.stderr.contains(".codex"), "{}", undone.stderr);
    assert_eq!(text(&home, ".qwen/settings.json"), "{}");
}

#[test]
fn server_that_the_user_has_added_is_not_changed() {
    let own = [
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers.agent-bash]\ncommand = \"agent-bash\"\nargs = [\"mcp\", \"--safe-mode\"]\n",
        ),
        (
            "copilot",
            ".copilot/mcp-config.json",
            "{\"mcpServers\": {\"agent-bash\": {\"command\": \"/opt/mine\"}}}",
        ),
    ];
    for (agent, file, before) in own {
        let home = Home::new();
        home.write(file, before);
        let chosen = format!("{agent}=mcp");
        let run = setup(&home, &["--agent", &chosen, "--yes"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.contains("left as it is"), "{}", run.stderr);
        assert_eq!(text(&home, file), before);
        assert_eq!(setup(&home, &["--undo", "--yes"]).code, Some(0));
        assert_eq!(text(&home, file), before);
    }
}

#[test]
fn doctor_names_each_connection_and_a_missing_server() {
    let home = Home::new();
    let path = home.path_with_program("codex");
    let doctor = || {
        let run = home.run_with(&["doctor"], &[("PATH", &path)]);
        let lines = run.stdout.lines().map(str::to_owned);
        let lines: Vec<String> = lines.filter(|line| line.contains("codex ")).collect();
        lines.join("\n")
    };
    assert!(doctor().starts_with("note "), "control: {}", doctor());
    let run = setup(&home, &["--agent", "codex=hook,mcp", "--yes"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let after = doctor();
    assert_eq!(after.matches("ok       codex").count(), 2, "{after}");
    assert!(!after.contains("note"), "{after}");
    let file = home.path().join(".codex/config.toml");
    let program = env!("CARGO_BIN_EXE_agent-bash");
    let moved = text(&home, ".codex/config.toml").replace(program, "/gone/agent-bash");
    fs::write(file, moved).expect("a file");
    assert!(doctor().contains("PROBLEM  codex"), "{}", doctor());
    // The next run repairs it.
    let again = setup(&home, &["--agent", "codex=mcp", "--yes"]);
    assert!(again.stdout.contains("+command"), "{}", again.stdout);
}

#[test]
fn impossible_choice_is_refused() {
    let home = Home::new();
    let run = setup(&home, &["--agent", "pi=mcp", "--yes"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("only as shell, hook"), "{}", run.stderr);
    for words in [&["--agent", "emacs"], &["--agent", "codex=telnet"]] {
        assert_eq!(setup(&home, words).code, Some(2));
    }
    let none = setup(&home, &["--agent", "codex=none", "--yes"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
    let empty = setup(&home, &["--yes"]);
    assert_eq!(empty.code, Some(0));
    assert!(empty.stdout.starts_with("no agent was found"));
}
