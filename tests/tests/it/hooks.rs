//! `agent-bash hook` as agents and their users see it: stdin, exit codes, files. The answers for
//! each agent are in `crates/hooks/src/agents`.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::world::World;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The fallback after the program in the hook's command line, for a program that fails or refuses.
const BLOCKS: &str = "sh -c 'echo Not run: agent-bash did not permit it >&2; exit 2'";

/// Each agent with the names of its event and its tool.
const AGENTS: [(&str, &str, &str); 4] = [
    ("claude-code", "PreToolUse", "Bash"),
    ("codex", "PreToolUse", "Bash"),
    ("gemini-cli", "BeforeTool", "run_shell_command"),
    ("opencode", "tool.execute.before", "bash"),
];

fn hook(world: &World, words: &[&str]) -> anyhow::Result<Command> {
    let mut command = world.command(product::agent_bash()?);
    command.arg("hook").args(words);
    Ok(command)
}

fn call(world: &World, event: &str, tool: &str, script: &str) -> String {
    let call = json!({
        "hook_event_name": event, "cwd": world.cwd(), "tool_name": tool, "tool_input": {"command": script},
    });
    call.to_string()
}

/// Returns the answer to Claude Code's call of this script.
fn run_hook(world: &World, script: &str) -> anyhow::Result<CommandResult> {
    let call = call(world, "PreToolUse", "Bash", script);
    product::run(hook(world, &["claude-code"])?, Some(&call))
}

#[test]
fn hook_answers_each_agent_in_its_format_or_not_at_all() -> anyhow::Result<()> {
    let world = World::new()?;
    for (agent, event, tool) in AGENTS {
        let ask = |script: &str| {
            let call = call(&world, event, tool, script);
            product::run(hook(&world, &[agent])?, Some(&call))
        };
        let passed = ask("git status")?;
        assert_eq!(passed.code, 0, "{passed:?}");
        assert_eq!(
            (passed.stdout, passed.stderr),
            (String::new(), String::new())
        );
        let refused = ask("git push --force")?;
        assert_eq!((refused.code, refused.stderr.as_str()), (0, ""));
        let json: Value = serde_json::from_str(&refused.stdout)?;
        let specific = &json["hookSpecificOutput"];
        let reason = match agent {
            "gemini-cli" => (json["decision"] == "deny").then_some(&json["reason"]),
            "opencode" => Some(&json["refused"]),
            _ => (specific["permissionDecision"] == "deny" && specific["hookEventName"] == event)
                .then_some(&specific["permissionDecisionReason"]),
        };
        let reason = reason.and_then(Value::as_str).unwrap_or_default();
        assert!(reason.contains("no_force_push"), "{agent}: {json}");
        assert!(reason.contains("Instead: "), "{agent}: {json}");
    }
    Ok(())
}

#[test]
fn unreadable_input_or_settings_exit_with_2_and_a_reason() -> anyhow::Result<()> {
    let world = World::new()?;
    let good = call(&world, "PreToolUse", "Bash", "ls");
    for input in ["", "git push --force", "{}", &good.replace("\"ls\"", "7")] {
        let ran = product::run(hook(&world, &["claude-code"])?, Some(input))?;
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{input}");
        assert!(ran.stderr.contains("blocked"), "{ran:?}");
    }
    // An agent that reads the settings of another one takes no answer in the other's format.
    let forced = call(&world, "PreToolUse", "Bash", "git push --force");
    let of_another = product::run(hook(&world, &["gemini-cli"])?, Some(&forced))?;
    assert_eq!((of_another.code, of_another.stdout.as_str()), (2, ""));
    assert!(of_another.stderr.contains("Instead: "), "{of_another:?}");
    // Unreadable settings: no rule is known, so everything is blocked.
    fs::write(world.cwd().join(".agent-bash.toml"), "safety = [")?;
    let ran = run_hook(&world, "ls")?;
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains(".agent-bash.toml"), "{ran:?}");
    fs::remove_file(world.cwd().join(".agent-bash.toml"))?;
    assert_eq!(run_hook(&world, "ls")?.code, 0);
    Ok(())
}

#[test]
fn answer_without_a_reader_is_an_error() -> anyhow::Result<()> {
    let world = World::new()?;
    let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
    let mut command = hook(&world, &["claude-code"])?;
    command
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let call = call(&world, "PreToolUse", "Bash", "git push --force");
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        std::io::Write::write_all(stdin, call.as_bytes())?;
    }
    drop(stdin);
    let ran = CommandResult::from(child.wait_with_output()?);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("stdout"), "{ran:?}");
    Ok(())
}

#[test]
fn hook_reads_user_settings_in_the_directory_of_the_call() -> anyhow::Result<()> {
    let world = World::new()?;
    assert_eq!(run_hook(&world, "git reset --hard")?.stdout, "");
    let tighter = "[safety]\non = [\"no_hard_reset\"]\n";
    fs::write(world.cwd().join(".agent-bash.toml"), tighter)?;
    let refused = run_hook(&world, "git reset --hard")?;
    assert!(refused.stdout.contains("no_hard_reset"), "{refused:?}");
    Ok(())
}

#[test]
fn hook_call_given_to_check_is_reported() -> anyhow::Result<()> {
    let world = World::new()?;
    let check = |input: &str| {
        let mut command = world.command(product::agent_bash()?);
        command.args(["check", "-"]);
        product::run(command, Some(input))
    };
    let call = call(&world, "PreToolUse", "Bash", "ls");
    assert!(check(&call)?.stderr.contains("agent-bash hook"));
    assert_eq!(check("{ ls; }")?.stderr, "");
    Ok(())
}

/// A home in which Claude Code's settings are a symbolic link.
fn linked(world: &World, text: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
    let link = world.home().join(".claude/settings.json");
    let file = world.home().join("dotfiles/claude.json");
    for path in [&link, &file] {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
    }
    fs::write(&file, text)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640))?;
    symlink("../dotfiles/claude.json", &link)?;
    Ok((link, file))
}

fn set_up(world: &World, words: &[&str]) -> anyhow::Result<CommandResult> {
    product::run(hook(world, words)?, Some(""))
}

#[test]
fn hook_changes_the_link_target_and_uninstall_restores_it() -> anyhow::Result<()> {
    let world = World::new()?;
    let before = "{\n    \"model\": \"x\",\n    \"hooks\": {\"Stop\": []}\n}";
    let (link, file) = linked(&world, before)?;
    // There is no terminal to confirm on, so the change is shown but not written.
    let shown = set_up(&world, &["--install", "claude-code"])?;
    assert_eq!(shown.code, 2, "{shown:?}");
    assert!(
        shown
            .stdout
            .contains("\"matcher\": \"Bash|Monitor|PowerShell\""),
        "{shown:?}"
    );
    assert!(shown.stderr.contains("--yes"), "{shown:?}");
    assert_eq!(fs::read_to_string(&file)?, before);

    let written = set_up(&world, &["--install", "claude-code", "--yes"])?;
    assert_eq!(written.code, 0, "{written:?}");
    assert!(fs::symlink_metadata(&link)?.is_symlink());
    assert_eq!(fs::metadata(&file)?.mode() & 0o777, 0o640);
    let settings: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
    assert_eq!(settings["model"], "x");
    let group = &settings["hooks"]["PreToolUse"][0];
    assert_eq!(group["matcher"], "Bash|Monitor|PowerShell");
    let command = group["hooks"][0]["command"].as_str().unwrap_or_default();
    // The program is not on PATH, so the full path is written; a hook that cannot be started
    // blocks.
    let binary = product::agent_bash()?.canonicalize()?;
    assert_eq!(
        command,
        format!("{} hook claude-code || {BLOCKS}", binary.display())
    );

    let again = set_up(&world, &["--install", "claude-code", "--yes"])?;
    assert!(again.stdout.contains("already"), "{again:?}");
    let undone = set_up(&world, &["--uninstall", "claude-code", "--yes"])?;
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(fs::read_to_string(&file)?, before);
    assert!(fs::symlink_metadata(&link)?.is_symlink());
    let nothing = set_up(&world, &["--uninstall", "claude-code", "--yes"])?;
    assert!(nothing.stdout.contains("is not installed"), "{nothing:?}");
    Ok(())
}

#[test]
fn installed_hook_blocks_if_the_program_is_missing() -> anyhow::Result<()> {
    let world = World::new()?;
    set_up(&world, &["--install", "claude-code", "--yes"])?;
    let text = fs::read_to_string(world.home().join(".claude/settings.json"))?;
    let settings: Value = serde_json::from_str(&text)?;
    let line = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    let line = line.as_str().unwrap_or_default();
    let run = |line: &str, script: &str| {
        let mut command = world.command("sh");
        command.args(["-c", line]);
        product::run(command, Some(&call(&world, "PreToolUse", "Bash", script)))
    };
    assert_eq!(run(line, "ls")?.code, 0);
    assert!(run(line, "git push --force")?.stdout.contains("deny"));
    let gone = run(&line.replace("agent-bash hook", "gone hook"), "ls")?;
    assert_eq!(gone.code, 2, "{gone:?}");
    assert!(!gone.stderr.trim().is_empty(), "{gone:?}");
    // Some agents show stderr, so there must be a message even if the program itself prints
    // nothing.
    world.script("agent-bash", "exit 127\n")?;
    let program = product::agent_bash()?.canonicalize()?;
    let silent = run(
        &line.replace(&program.display().to_string(), "agent-bash"),
        "ls",
    )?;
    assert_eq!(silent.code, 2, "{silent:?}");
    assert!(silent.stderr.contains("did not permit it"), "{silent:?}");
    Ok(())
}

#[test]
fn installed_hook_uses_the_name_if_path_finds_it() -> anyhow::Result<()> {
    let world = World::new()?;
    let bin = world.home().join("bin");
    fs::create_dir(&bin)?;
    symlink(product::agent_bash()?, bin.join("agent-bash"))?;
    let mut command = hook(&world, &["--install", "--project", "codex", "--yes"])?;
    command.env("PATH", &bin);
    product::run(command, Some(""))?;
    let text = fs::read_to_string(world.cwd().join(".codex/hooks.json"))?;
    assert!(
        text.contains(&format!("\"agent-bash hook codex || {BLOCKS}\"")),
        "{text}"
    );
    Ok(())
}

#[test]
fn created_files_are_private_and_removed_on_uninstall() -> anyhow::Result<()> {
    let world = World::new()?;
    for (agent, path) in [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini-cli", ".gemini/settings.json"),
        ("opencode", ".config/opencode/plugins/agent-bash.js"),
        ("cline", ".cline/hooks/PreToolUse"),
        ("copilot", ".copilot/hooks/agent-bash.json"),
        ("kimi", ".kimi-code/config.toml"),
        ("kiro", ".kiro/hooks/agent-bash.json"),
        ("windsurf", ".codeium/windsurf/hooks.json"),
    ] {
        let path: &Path = &world.home().join(path);
        let made = set_up(&world, &["--install", agent, "--yes"])?;
        assert_eq!(made.code, 0, "{made:?}");
        let permissions = if agent == "cline" { 0o700 } else { 0o600 };
        assert_eq!(fs::metadata(path)?.mode() & 0o777, permissions, "{agent}");
        let undone = set_up(&world, &["--uninstall", agent, "--yes"])?;
        assert_eq!(undone.code, 0, "{undone:?}");
        assert!(!path.exists(), "{agent}");
    }
    Ok(())
}

#[test]
fn path_that_is_not_a_regular_file_is_not_changed() -> anyhow::Result<()> {
    let world = World::new()?;
    let (link, file) = linked(&world, "{\n  // mine\n  \"model\": \"x\"\n}\n")?;
    let refused = set_up(&world, &["--install", "claude-code", "--yes"])?;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("line 2"), "{refused:?}");
    fs::remove_file(&file)?;
    let dangling = set_up(&world, &["--install", "claude-code", "--yes"])?;
    assert!(dangling.stderr.contains("does not exist"), "{dangling:?}");
    assert_ne!(dangling.code, 0);
    fs::remove_file(&link)?;
    fs::create_dir(&link)?;
    let directory = set_up(&world, &["--install", "claude-code", "--yes"])?;
    assert!(
        directory.stderr.contains("not a regular file"),
        "{directory:?}"
    );
    assert_ne!(directory.code, 0);
    Ok(())
}

/// Cline runs the file, and ignores its exit code.
#[test]
fn hook_script_of_cline_answers_if_the_program_is_missing() -> anyhow::Result<()> {
    let world = World::new()?;
    set_up(&world, &["--install", "cline", "--yes"])?;
    let script = world.home().join(".cline/hooks/PreToolUse");
    let text = fs::read_to_string(&script)?;
    let call = |command: &str| {
        let input = json!({"commands": [command]});
        let call = json!({"clineVersion": "", "hookName": "tool_call", "workspaceRoots": [world.cwd()],
                          "tool_call": {"name": "run_commands", "input": input}});
        let ran = product::run(world.command(&script), Some(&call.to_string()))?;
        anyhow::ensure!(ran.code == 0, "{ran:?}");
        Ok::<_, anyhow::Error>(ran.stdout)
    };
    assert_eq!(call("ls")?, "");
    let refused: Value = serde_json::from_str(&call("git push -f")?)?;
    let line = refused["overrideInput"]["commands"][0]
        .as_str()
        .unwrap_or_default();
    assert!(line.contains("no_force_push"), "{refused}");
    let mut command = world.command("sh");
    command.args(["-c", line]);
    let printed = product::run(command, None)?;
    assert_eq!(printed.code, 1);
    assert!(printed.stderr.contains("Instead: "), "{printed:?}");
    fs::write(
        &script,
        text.replace(
            &product::agent_bash()?.canonicalize()?.display().to_string(),
            "gone",
        ),
    )?;
    let gone: Value = serde_json::from_str(&call("ls")?)?;
    assert_eq!(gone["cancel"], true);
    Ok(())
}

/// The hook names the prompt of each call, and `agent-bash shell` records the calls.
#[test]
fn turns_of_an_agent_are_listed_and_undone() -> anyhow::Result<()> {
    let world = World::new()?;
    let id = "c4dc3d50-908a-42e7-8bf2-f57f5aed115b";
    let links = world.home().join(".local/share/agent-bash/links");
    fs::create_dir_all(&links)?;
    symlink(product::agent_bash()?, links.join("bash"))?;
    for (prompt, script) in [
        ("p1", "echo 1 > a"),
        ("p2", "echo 2 >> a"),
        ("p2", "echo 3 > b"),
    ] {
        let call = json!({
            "hook_event_name": "PreToolUse", "session_id": id, "prompt_id": prompt,
            "cwd": world.cwd(), "tool_name": "Bash", "tool_input": {"command": script},
        });
        let hook_run = product::run(hook(&world, &["claude-code"])?, Some(&call.to_string()))?;
        assert_eq!((hook_run.code, &*hook_run.stdout), (0, ""), "{hook_run:?}");
        let mut shell = world.command(product::agent_bash()?);
        shell
            .args(["shell", "-c", script])
            .env("CLAUDE_CODE_SESSION_ID", id);
        let ran = product::run(shell, None)?;
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let changes = |words: &[&str]| {
        let mut command = world.command(product::agent_bash()?);
        let state = format!("claude-code-{id}");
        command.args(["changes", "--state", &state]).args(words);
        product::run(command, None)
    };
    let list = changes(&["list", "--json"])?;
    let sets = list.stdout.lines().map(serde_json::from_str::<Value>);
    let turns: Vec<Value> = sets
        .map(|set| Ok(set?["turn"].clone()))
        .collect::<anyhow::Result<_>>()?;
    assert_eq!(turns, ["1", "2", "2"], "{list:?}");
    let undone = changes(&["undo", "--turn"])?;
    assert_eq!(
        undone.stdout, "[Undone: turn 2, 2 files of changes 3, 2.]\n",
        "{undone:?}"
    );
    assert_eq!(fs::read_to_string(world.cwd().join("a"))?, "1\n");
    Ok(())
}
