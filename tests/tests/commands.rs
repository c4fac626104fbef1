//! The commands beside `run`: what they print, and how they exit. Calls themselves are the conformance kit's.

use agent_bash_tests::product::{self, Ran};
use agent_bash_tests::world::World;
use serde_json::{Value, json};

fn agent_bash(world: &World, words: &[&str]) -> anyhow::Result<Ran> {
    let mut command = world.command(product::agent_bash()?);
    command.args(words);
    product::run(command, None)
}

fn output_of(world: &World, words: &[&str]) -> anyhow::Result<String> {
    let ran = agent_bash(world, words)?;
    anyhow::ensure!(ran.code == 0, "{words:?}: {ran:?}");
    Ok(ran.stdout)
}

#[test]
fn check_exits_by_its_verdict_and_starts_nothing() -> anyhow::Result<()> {
    let world = World::new()?;
    for (words, code, verdict) in [
        (&["ls -la"][..], 0, "allow"),
        (&["touch started; git push --force"], 1, "block"),
        (&["rm -rf \"$DIR\"/*"], 1, "block"),
        (&["echo ("], 2, "unreadable"),
        (&["git reset --hard"], 0, "allow"),
        (
            &["--groups", "core,data_loss", "git reset --hard"],
            1,
            "block",
        ),
    ] {
        let mut plain = vec!["check"];
        plain.extend(words);
        let ran = agent_bash(&world, &plain)?;
        assert_eq!(ran.code, code, "{words:?}: {ran:?}");
        plain.push("--json");
        let ran = agent_bash(&world, &plain)?;
        let said: Value = serde_json::from_str(&ran.stdout)?;
        assert_eq!(
            (ran.code, &said["verdict"]),
            (code, &json!(verdict)),
            "{words:?}"
        );
    }
    assert!(!world.cwd().join("started").exists());
    Ok(())
}

#[test]
fn a_refusal_names_rule_and_place() -> anyhow::Result<()> {
    let world = World::new()?;
    let ran = agent_bash(&world, &["check", "--json", "cd src && git add -A && ls"])?;
    let said: Value = serde_json::from_str(&ran.stdout)?;
    assert_eq!(said["rule"], "no_blind_git_add");
    assert_eq!(said["group"], "core");
    assert_eq!(said["check"], "safety");
    assert_eq!(said["span"], json!([10, 20]));
    Ok(())
}

#[test]
fn check_and_run_refuse_alike() -> anyhow::Result<()> {
    let world = World::new()?;
    for script in [
        "git add .",
        "sudo rm -rf /",
        "git push -f",
        "bash -c 'rm -rf ~'",
    ] {
        let check = agent_bash(&world, &["check", "--json", script])?;
        let run = agent_bash(&world, &["run", "--json", script])?;
        let (check, run): (Value, Value) = (
            serde_json::from_str(&check.stdout)?,
            serde_json::from_str(&run.stdout)?,
        );
        assert_eq!(run["status"]["kind"], "blocked", "{script}");
        assert_eq!(run["rule"], check["rule"], "{script}");
    }
    Ok(())
}

#[test]
fn the_schema_names_the_directory_and_what_is_required() -> anyhow::Result<()> {
    let world = World::new()?;
    let cwd = world.cwd().display().to_string();
    for (profile, fields) in [
        ("modes", &["command", "mode"][..]),
        ("workspace", &["command"]),
        ("paged", &["command", "description", "timeout"]),
        (
            "standard",
            &[
                "command",
                "cwd",
                "description",
                "env",
                "head",
                "mode",
                "pty",
                "session",
                "stdin",
                "tail",
                "timeout",
            ],
        ),
    ] {
        let said = output_of(&world, &["schema", "--profile", profile])?;
        let said: Value = serde_json::from_str(&said)?;
        let shown = said["input_schema"]["properties"].as_object();
        let mut shown: Vec<&str> = shown
            .into_iter()
            .flatten()
            .map(|(name, _)| &**name)
            .collect();
        shown.sort_unstable();
        assert_eq!(shown, fields, "{profile}");
        assert_eq!(
            said["input_schema"]["required"],
            json!(["command"]),
            "{profile}"
        );
        let description = said["description"].as_str().unwrap_or_default();
        assert!(description.contains(&cwd), "{profile}: {description}");
    }
    Ok(())
}

#[test]
fn what_is_not_shown_can_be_read_later() -> anyhow::Result<()> {
    let world = World::new()?;
    let text = output_of(&world, &["run", "seq 50000"])?;
    let link = text
        .split("Full: ")
        .nth(1)
        .and_then(|rest| rest.strip_suffix("]"))
        .ok_or_else(|| anyhow::anyhow!("no link: {text:.200}"))?;
    let page = output_of(
        &world,
        &[
            "artifact", "show", link, "--offset", "25000", "--limit", "2",
        ],
    )?;
    assert!(page.starts_with("25000\n25001"), "{page}");
    let end = output_of(&world, &["artifact", "show", link, "--tail", "1"])?;
    assert!(end.starts_with("50000"), "{end}");
    let found = output_of(&world, &["artifact", "grep", "^4999[89]$", link])?;
    assert!(
        found.contains("49998") && found.contains("49999"),
        "{found}"
    );
    let list = output_of(&world, &["artifact", "list"])?;
    assert!(list.contains(link) && list.contains("seq 50000"), "{list}");

    let absent = agent_bash(&world, &["artifact", "show", "77"])?;
    assert_ne!(absent.code, 0);
    assert!(
        absent
            .stderr
            .contains("Artifact 77 not found. Available: 0"),
        "{absent:?}"
    );
    let nonsense = agent_bash(&world, &["artifact", "show", "artifact://x"])?;
    assert!(
        nonsense
            .stderr
            .contains("artifact:// ID must be numeric, got: x"),
        "{nonsense:?}"
    );
    Ok(())
}

#[test]
fn env_shows_what_a_command_would_find() -> anyhow::Result<()> {
    let world = World::new()?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["env"]).env("GITHUB_TOKEN", "hidden-value");
    let ran = product::run(command, None)?;
    assert!(!format!("{ran:?}").contains("hidden-value"));
    assert!(
        ran.stdout
            .lines()
            .any(|line| line == "GIT_TERMINAL_PROMPT=0"),
        "{ran:?}"
    );
    Ok(())
}

#[test]
fn doctor_finds_a_healthy_machine() -> anyhow::Result<()> {
    let world = World::new()?;
    let said = output_of(&world, &["doctor"])?;
    for line in ["shell", "canary", "supervisor", "survivors", "artifacts"] {
        let good = |said: &str| said.starts_with("ok") && said.contains(line);
        assert!(said.lines().any(good), "{line}: {said}");
    }
    Ok(())
}
