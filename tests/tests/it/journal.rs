//! The record of a session: what `rpc` records by default and on request, and the output of `log`
//! and `report`.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const SECRET: &str = "correct-horse-battery";

const PATIENCE: Duration = Duration::from_secs(60);

/// Makes these calls of a server, one after another; returns their results.
fn serve(world: &World, level: Option<&str>, commands: &[&str]) -> Result<Vec<Value>> {
    let mut command = world.command(product::agent_bash()?);
    command
        .args(["rpc", "--state", "chat"])
        .env("MY_API_TOKEN", SECRET);
    if let Some(level) = level {
        command.env("AGENT_BASH_JOURNAL_LEVEL", level);
    }
    let mut server = ServerClient::start(command)?;
    let mut results = Vec::new();
    for script in commands {
        let id = server.new_id();
        server.send(&json!({"id": id, "type": "tool_call", "request": {"command": script}}))?;
        let answer = server.next_where(PATIENCE, |line| {
            line["id"] == id && line["type"] == "response"
        })?;
        results.push(answer["data"].clone());
    }
    let ended = server.end()?;
    ensure!(ended.status.success(), "{}", ended.stderr);
    Ok(results)
}

fn read(world: &World, words: &[&str]) -> Result<CommandResult> {
    let mut command = world.command(product::agent_bash()?);
    command.args(words);
    product::run(command, None)
}

fn log(world: &World) -> Result<Vec<Value>> {
    let ran = read(world, &["log", "chat", "--json"])?;
    ran.stdout
        .lines()
        .map(|line| serde_json::from_str(line).context("a line of JSON"))
        .collect()
}

#[test]
fn server_records_commands_without_outputs_by_default() -> Result<()> {
    let world = World::new()?;
    serve(
        &world,
        None,
        &["echo printed-by-it", "git add -A && git commit", "exit 3"],
    )?;
    let entries = log(&world)?;
    let seen: Vec<_> = entries
        .iter()
        .map(|entry| (&entry["command"], &entry["result"]["status"]["kind"]))
        .map(|(command, kind)| (command.as_str(), kind.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (Some("echo printed-by-it"), Some("exited")),
            (Some("git add -A && git commit"), Some("blocked")),
            (Some("exit 3"), Some("exited")),
        ]
    );
    assert_eq!(entries[0]["result"]["text"], "");
    assert_eq!(entries[0]["printed"], Value::Null);
    assert_eq!(entries[1]["objection"]["span"], json!([0, 10]));
    Ok(())
}

#[test]
fn full_level_records_outputs_without_secrets() -> Result<()> {
    let world = World::new()?;
    let script = format!("printf '\\033[31mred\\033[0m\\n'; echo {SECRET} {SECRET}");
    serve(&world, Some("full"), &[&script])?;
    let entries = log(&world)?;
    assert_eq!(
        entries[0]["printed"]["head"],
        "\u{1b}[31mred\u{1b}[0m\n[hidden] [hidden]\n"
    );
    let page = read(&world, &["report", "chat", "-o", "-"])?;
    ensure!(page.code == 0, "{page:?}");
    assert!(page.stdout.contains("<span class=\"f1\">red</span>"));
    assert!(!page.stdout.contains(SECRET) && !entries[0].to_string().contains(SECRET));
    Ok(())
}

#[test]
fn log_without_a_name_shows_the_last_session() -> Result<()> {
    let world = World::new()?;
    let mut other = world.command(product::agent_bash()?);
    other
        .args(["run", "echo of another session"])
        .env("AGENT_BASH_JOURNAL_LEVEL", "metadata");
    product::run(other, None)?;
    serve(&world, None, &["echo first"])?;
    serve(&world, None, &["echo second"])?;
    for (words, expected) in [
        (&["log", "--json"][..], &["echo second"][..]),
        (&["log", "--json", "--all"], &["echo first", "echo second"]),
    ] {
        let ran = read(&world, words)?;
        let commands = ran.stdout.lines().map(|line| -> Result<String> {
            let entry: Value = serde_json::from_str(line)?;
            Ok(entry["command"].as_str().unwrap_or_default().to_owned())
        });
        assert_eq!(commands.collect::<Result<Vec<_>>>()?, expected, "{ran:?}");
    }
    let listed = read(&world, &["log", "--list"])?.stdout;
    assert_eq!(listed.lines().count(), 4, "{listed}");
    Ok(())
}

#[test]
fn off_records_nothing_nor_does_a_single_call() -> Result<()> {
    let world = World::new()?;
    serve(&world, Some("off"), &["true"])?;
    read(&world, &["run", "true"])?;
    let listed = read(&world, &["log", "--list"])?;
    assert_eq!((listed.stdout.as_str(), listed.code), ("", 0));
    let nothing = read(&world, &["report"])?;
    assert_eq!(nothing.code, 1);
    assert!(
        nothing.stderr.contains("nothing is recorded"),
        "{nothing:?}"
    );
    assert!(!world.cwd().join("report.html").exists());
    Ok(())
}

#[test]
fn unwritable_record_is_reported_and_calls_still_run() -> Result<()> {
    let world = World::new()?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["env", "--json"]);
    let blocker = state(&world).join("journal/chat");
    std::fs::create_dir_all(blocker.parent().context("it has one")?)?;
    std::fs::write(&blocker, "a file where a directory should be")?;
    let results = serve(&world, None, &["echo on"])?;
    assert_eq!(results[0]["text"], "on\n");
    assert_eq!(
        results[0]["notices"][0]["kind"], "journal_failed",
        "{}",
        results[0]
    );
    Ok(())
}

/// The record has what the user typed, also what is hidden from the model.
#[test]
fn sandboxed_call_cannot_read_the_record() -> Result<()> {
    let world = World::new()?;
    serve(&world, Some("full"), &["echo recorded"])?;
    let script = format!("cat {}/journal/*/*", state(&world).display());
    for (level, is_read) in [
        ("off", true),
        ("read_only", false),
        ("workspace_write", false),
    ] {
        let ran = read(&world, &["run", "--sandbox", level, &script])?;
        ensure!(
            ran.stdout.contains("echo recorded") == is_read,
            "{level} {ran:?}"
        );
    }
    Ok(())
}

/// The product's state directory in this world.
fn state(world: &World) -> std::path::PathBuf {
    let environment = world.environment();
    let named = environment.get("AGENT_BASH_STATE_DIR");
    named.map_or_else(
        || world.home().join(".local/state/agent-bash"),
        |dir| Path::new(dir).to_owned(),
    )
}

#[test]
fn report_and_log_show_changed_files() -> Result<()> {
    let world = World::new()?;
    let ran = {
        let mut command = world.command(product::agent_bash()?);
        command.env("AGENT_BASH_JOURNAL_LEVEL", "metadata").args([
            "run",
            "--changes=undo",
            "echo new > made-by-it; echo new > another",
        ]);
        product::run(command, None)?
    };
    ensure!(ran.code == 0, "{ran:?}");
    let text = read(&world, &["log"])?.stdout;
    assert!(
        text.contains("1: +2") && text.contains("✓ exit 0"),
        "{text}"
    );
    let page = read(&world, &["report"])?;
    ensure!(page.code == 0, "{page:?}");
    let html = std::fs::read_to_string(world.cwd().join("report.html"))?;
    assert!(
        html.contains("made-by-it") && html.contains("<span class=\"add\">+new"),
        "{html}"
    );
    // The current state of the changes is read again.
    for (undo, row, part) in [
        (
            &["changes", "undo", "1", "another"][..],
            "+2 undone in part",
            " · changes 1 · undone in part · ",
        ),
        (
            &["changes", "undo", "1"],
            "+2 undone ",
            " · changes 1 · undone · ",
        ),
    ] {
        let undone = read(&world, undo)?;
        ensure!(undone.code == 0, "{undone:?}");
        let text = read(&world, &["log"])?.stdout;
        ensure!(text.contains(row), "{text}");
        ensure!(read(&world, &["report"])?.code == 0, "no page");
        let html = std::fs::read_to_string(world.cwd().join("report.html"))?;
        ensure!(
            html.contains(row.trim_end()) && html.contains(part),
            "{html}"
        );
    }
    Ok(())
}
