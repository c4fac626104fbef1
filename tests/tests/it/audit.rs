//! The audit log as a setting: every call writes a line, without the command unless the settings
//! ask for it.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::world::World;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

fn run(world: &World, variables: &[(&str, &str)], words: &[&str]) -> Result<CommandResult> {
    let mut command = world.command(product::agent_bash()?);
    let log = world.home().join("logs/audit.jsonl");
    command.env("AGENT_BASH_AUDIT_FILE", log);
    command
        .envs(variables.iter().copied())
        .arg("run")
        .args(words);
    product::run(command, None)
}

fn lines(world: &World) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(world.home().join("logs/audit.jsonl"))?;
    text.lines()
        .map(|line| serde_json::from_str(line).context("a line of JSON"))
        .collect()
}

/// The line without fields that differ between runs.
fn without_varying_fields(line: &Value) -> Result<Value> {
    let mut line = line.clone();
    let fields = line.as_object_mut().context("an object")?;
    let time = fields.remove("time").context("a time")?;
    anyhow::ensure!(
        time.as_str().is_some_and(|time| time.ends_with('Z')),
        "{time}"
    );
    let duration = fields.remove("duration_ms").context("a duration")?;
    anyhow::ensure!(duration.is_number(), "{duration}");
    Ok(line)
}

#[test]
fn each_call_writes_a_line_without_its_command() -> Result<()> {
    let world = World::new()?;
    run(&world, &[], &["ls -la"])?;
    run(&world, &[], &["git push --force"])?;
    run(&world, &[], &["--cwd", "nowhere", "ls -la"])?;
    run(&world, &[], &[" "])?;
    run(
        &world,
        &[],
        &["--timeout", "1", "--profile", "modes", "sleep 30"],
    )?;
    let lines = lines(&world)?;
    let missing = format!(
        "Working directory does not exist: {}",
        world.cwd().join("nowhere").display()
    );
    let ls = "1de700c29687cae34561545f50d3c8b3d9afe88e04cc11069f8a6dc6e4ce9464";
    for (line, want) in lines.iter().zip([
        json!({"profile": "standard", "by": "model", "command_sha256": ls, "command_bytes": 6,
               "verdict": "allowed", "status": {"kind": "exited", "code": 0}}),
        json!({"profile": "standard", "by": "model", "command_bytes": 16, "verdict": "blocked",
               "command_sha256": "any",
               "rule": "no_force_push", "status": {"kind": "blocked", "rule": "no_force_push"}}),
        json!({"profile": "standard", "by": "model", "command_sha256": ls, "command_bytes": 6,
               "verdict": "allowed", "status": {"kind": "not_started", "reason": missing}}),
        json!({"profile": "standard", "by": "model", "command_bytes": 0, "verdict": "not_asked",
               "command_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
               "status": {"kind": "not_started", "reason": "`command` is empty; give the script to run"}}),
        json!({"profile": "modes", "by": "model", "command_bytes": 8, "verdict": "allowed",
               "command_sha256": "any", "status": {"kind": "timed_out", "after_ms": 1000}}),
    ]) {
        let mut got = without_varying_fields(line)?;
        let mut want = want;
        if want["command_sha256"].as_str().is_some_and(|text| text.len() < 64) {
            got["command_sha256"].take();
            want["command_sha256"].take();
        }
        assert_eq!(got, want);
    }
    assert_eq!(lines.len(), 5);
    Ok(())
}

#[test]
fn command_is_logged_if_the_settings_ask_for_it() -> Result<()> {
    let world = World::new()?;
    let wanted = [("AGENT_BASH_AUDIT_COMMANDS", "true")];
    run(&world, &wanted, &["echo 'two words'"])?;
    assert_eq!(lines(&world)?[0]["command"], "echo 'two words'");
    Ok(())
}

#[test]
fn unwritable_log_is_reported_and_calls_still_run() -> Result<()> {
    let world = World::new()?;
    std::fs::write(
        world.home().join("logs"),
        "a file where a directory should be",
    )?;
    let ran = run(&world, &[], &["--json", "echo on"])?;
    let result: Value = serde_json::from_str(&ran.stdout)?;
    assert_eq!((result["text"].as_str(), ran.code), (Some("on\n"), 0));
    assert_eq!(result["notices"][0]["kind"], "audit_failed", "{result}");
    Ok(())
}

#[test]
fn project_file_cannot_set_the_log() -> Result<()> {
    let world = World::new()?;
    std::fs::write(
        world.cwd().join(".agent-bash.toml"),
        "audit.file = '/tmp/x'\n",
    )?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["run", "true"]);
    let ran = product::run(command, None)?;
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("audit.file"), "{ran:?}");
    Ok(())
}
