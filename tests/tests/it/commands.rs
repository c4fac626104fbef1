//! The commands other than `run`: what they print, and their exit codes. Calls themselves are
//! tested by the conformance kit.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::world::World;
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

fn agent_bash(world: &World, words: &[&str]) -> anyhow::Result<CommandResult> {
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
        let answer: Value = serde_json::from_str(&ran.stdout)?;
        assert_eq!(
            (ran.code, &answer["verdict"]),
            (code, &json!(verdict)),
            "{words:?}"
        );
    }
    assert!(!world.cwd().join("started").exists());
    Ok(())
}

#[test]
fn refusal_names_rule_and_position() -> anyhow::Result<()> {
    let world = World::new()?;
    let ran = agent_bash(&world, &["check", "--json", "cd src && git add -A && ls"])?;
    let answer: Value = serde_json::from_str(&ran.stdout)?;
    assert_eq!(answer["rule"], "no_blind_git_add");
    assert_eq!(answer["group"], "core");
    let instead = answer["instead"].as_str().unwrap_or_default();
    assert!(instead.contains("name the files"), "{answer}");
    assert_eq!(answer["check"], "safety");
    assert_eq!(answer["span"], json!([10, 20]));
    Ok(())
}

#[test]
fn check_and_run_refuse_alike() -> anyhow::Result<()> {
    let world = World::new()?;
    for script in [
        "git add .", "sudo rm -rf /", "git push -f", "bash -c 'rm -rf ~'",
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
fn schema_names_directory_and_required_fields() -> anyhow::Result<()> {
    let world = World::new()?;
    let cwd = world.cwd().display().to_string();
    for (profile, fields) in [
        ("modes", &["command", "mode"][..]),
        ("workspace", &["command"]),
        ("paged", &["command", "description", "timeout"]),
        (
            "standard",
            &[
                "command", "cwd", "description", "env", "head", "mode", "pty", "session", "show",
                "show_kb", "stdin", "tail", "timeout", "wait",
            ],
        ),
    ] {
        let printed = output_of(&world, &["schema", "--profile", profile])?;
        let printed: Value = serde_json::from_str(&printed)?;
        let shown = printed["input_schema"]["properties"].as_object();
        let mut shown: Vec<&str> = shown
            .into_iter()
            .flatten()
            .map(|(name, _)| &**name)
            .collect();
        shown.sort_unstable();
        assert_eq!(shown, fields, "{profile}");
        assert_eq!(
            printed["input_schema"]["required"],
            json!(["command"]),
            "{profile}"
        );
        let description = printed["description"].as_str().unwrap_or_default();
        assert!(description.contains(&cwd), "{profile}: {description}");
    }
    Ok(())
}

#[test]
fn truncated_output_can_be_read_from_its_artifact() -> anyhow::Result<()> {
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
fn env_prints_the_environment_of_commands() -> anyhow::Result<()> {
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
    let printed = output_of(&world, &["doctor"])?;
    for line in [
        "shell", "canary", "managers", "supervisor", "survivors", "artifacts",
        "terminal    /dev/pts/", "variables",
    ] {
        let good = |printed: &str| printed.starts_with("ok") && printed.contains(line);
        assert!(printed.lines().any(good), "{line}: {printed}");
    }
    assert!(!world.state().join("doctor").exists());
    assert!(!world.state().join("changes/doctor").exists());
    assert!(world.leftovers(PATIENCE).is_empty());
    let mut misspelt = world.command(product::agent_bash()?);
    misspelt.arg("doctor").env("AGENT_BASH_PROFLE", "modes");
    let ran = product::run(misspelt, None)?;
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("you mean AGENT_BASH_PROFILE"),
        "{ran:?}"
    );
    Ok(())
}

#[test]
fn doctor_names_an_unusable_temporary_directory() -> anyhow::Result<()> {
    let world = World::new()?;
    let mut doctor = world.command(product::agent_bash()?);
    doctor.arg("doctor").env("TMPDIR", "/nope");
    let ran = product::run(doctor, None)?;
    assert_eq!(ran.code, 1, "{ran:?}");
    let problem = "PROBLEM  space       cannot create files below $TMPDIR (/nope): ";
    let is_named = |line: &str| line.starts_with(problem) && line.contains("set TMPDIR");
    assert!(ran.stdout.lines().any(is_named), "{ran:?}");
    Ok(())
}

#[test]
fn doctor_accepts_a_shell_other_than_bash() -> anyhow::Result<()> {
    let world = World::new()?;
    let mut doctor = world.command(product::agent_bash()?);
    doctor.arg("doctor").env("AGENT_BASH_SHELL_PATH", "/bin/sh");
    let ran = product::run(doctor, None)?;
    assert_eq!(ran.code, 0, "{ran:?}");
    let shell = "note     shell       /bin/sh, which is not bash: ";
    assert!(
        ran.stdout.lines().any(|line| line.starts_with(shell)),
        "{ran:?}"
    );
    assert!(world.leftovers(PATIENCE).is_empty());
    Ok(())
}

#[test]
fn clean_removes_unused_files_and_lists_them() -> anyhow::Result<()> {
    let world = World::new()?;
    let background = |script: &str| output_of(&world, &["run", "--mode", "background", script]);
    output_of(&world, &["run", "seq 20000"])?;
    output_of(&world, &["run", "--profile", "paged", "seq 20000"])?;
    background("sleep 300")?;
    background("sleep 0.4")?;
    // Leaves a process that keeps writing to its artifact.
    output_of(&world, &["run", "sleep 300 & seq 3"])?;
    output_of(&world, &["jobs", "wait", "2"])?;
    let dead = world.temp().join("agent-bash-session-dead");
    std::fs::create_dir(&dead)?;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        dead.join("status"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )?;
    let printed = output_of(&world, &["clean"])?;
    let lines: Vec<&str> = printed.lines().collect();
    assert!(
        lines[0].starts_with(
            "removed 2 artifacts, 1 finished job, 1 leftover of a killed program, 212."
        ),
        "{printed}"
    );
    assert_eq!(
        lines[1..],
        [
            "kept job 1, which runs: agent-bash jobs kill 1",
            "kept job 3, which runs: agent-bash jobs kill 3",
            "kept 1 artifact in use",
        ]
    );
    assert!(!dead.exists());
    // A heading, and the remaining jobs.
    assert_eq!(output_of(&world, &["jobs", "list"])?.lines().count(), 3);
    assert_eq!(output_of(&world, &["artifact", "list"])?.lines().count(), 2);
    for job in ["1", "3"] {
        output_of(&world, &["jobs", "kill", job])?;
    }
    let other = output_of(&world, &["clean", "--state", "other"])?;
    assert_eq!(other, "there was nothing to remove\n");
    let printed = output_of(&world, &["clean", "--all"])?;
    assert!(
        printed.starts_with("removed 1 artifact, 2 finished jobs, "),
        "{printed}"
    );
    assert_eq!(
        output_of(&world, &["clean"])?,
        "there was nothing to remove\n"
    );
    assert!(world.leftovers(PATIENCE).is_empty());
    Ok(())
}

#[test]
fn man_and_completions_cover_every_command() -> anyhow::Result<()> {
    let world = World::new()?;
    let pages = world.cwd().join("man1");
    output_of(&world, &["man", "--out", &pages.display().to_string()])?;
    let help = output_of(&world, &["--help"])?;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|word| !word.is_empty() && *word != "help")
        .collect();
    assert!(commands.len() > 8, "{commands:?}");
    let completions = output_of(&world, &["completions", "bash"])?;
    for command in commands {
        let page = std::fs::read_to_string(pages.join(format!("agent-bash-{command}.1")))?;
        assert_eq!(output_of(&world, &["man", command])?, page, "{command}");
        assert!(
            completions.contains(&format!("agent__bash,{command})")),
            "{command}"
        );
    }
    assert_eq!(agent_bash(&world, &["man", "nope"])?.code, 2);
    Ok(())
}

#[test]
fn truncated_artifact_names_the_command_for_the_rest() -> anyhow::Result<()> {
    let world = World::new()?;
    let printed = |words: &[&str]| agent_bash(&world, words).map(|ran| ran.stderr);
    output_of(
        &world,
        &["run", "seq 20000; head -c 300000 /dev/zero | tr '\\0' x"],
    )?;
    assert_eq!(
        printed(&["artifact", "show", "0"])?,
        "[Showing lines 1-2000 of 20001. To go on: agent-bash artifact show 0 --offset 2001]\n"
    );
    assert_eq!(
        printed(&["artifact", "show", "0", "--offset", "20001", "--limit", "5"])?,
        "[Showing lines 20001-20001 of 20001. To go on: agent-bash artifact show 0 --limit 5 --byte 364894]\n"
    );
    let rest = output_of(&world, &["artifact", "show", "0", "--byte", "364894"])?;
    assert_eq!(rest.trim_end_matches('x').len(), 0, "{}", rest.len());
    assert_eq!(rest.len(), 44_000);
    let words = [
        "artifact", "grep", "it's|9$", "artifact://0", "--limit", "2",
    ];
    assert_eq!(
        printed(&words)?,
        "[Showing 2 of 2000 matches. To go on: agent-bash artifact grep \"it's|9\"'$' artifact://0 -C 0 --limit 2 --offset 29]\n"
    );
    Ok(())
}

#[test]
fn job_accepts_input_and_output_is_followed() -> anyhow::Result<()> {
    let world = World::new()?;
    let script = "while read -r line; do echo \"got $line\"; done; echo end";
    output_of(
        &world,
        &["run", "--mode", "background", "--stdin=pipe", script],
    )?;
    let mut follow = world.command(product::agent_bash()?);
    follow.args(["jobs", "output", "1", "--follow"]);
    let follow = product::start(follow, None)?;
    output_of(&world, &["jobs", "input", "1", "a b"])?;
    output_of(&world, &["jobs", "input", "1", "-n", "c"])?;
    let mut raw = world.command(product::agent_bash()?);
    raw.args(["jobs", "input", "1"]);
    assert_eq!(product::run(raw, Some("\nd\n"))?.code, 0);
    output_of(&world, &["jobs", "input", "1", "--close", "last"])?;
    let followed: CommandResult = follow.wait_with_output()?.into();
    assert_eq!(followed.code, 0);
    let printed = "got a b\ngot c\ngot d\ngot last\nend\n";
    assert!(followed.stdout.starts_with(printed), "{followed:?}");
    let late = agent_bash(&world, &["jobs", "input", "1", "late"])?;
    assert_eq!(late.code, 1, "{late:?}");
    assert!(world.leftovers(PATIENCE).is_empty());
    Ok(())
}

#[test]
fn terminal_shows_progress_and_removes_it_at_the_end() -> anyhow::Result<()> {
    let world = World::new()?;
    let program = product::agent_bash()?.display();
    let on_terminal = |line: &str| {
        // `script`, from util-linux, which every Debian has: gives a command a terminal and prints
        // its output.
        let mut command = world.command("script");
        command.args([
            "--quiet", "--return", "--flush", "--command", line, "/dev/null",
        ]);
        command.env("TERM", "xterm");
        product::run(command, None)
    };
    let slow = "echo one; sleep 3; echo two";
    let ran = on_terminal(&format!("{program} run '{slow}'"))?;
    let is_shown = |seconds: u8| {
        let progress = format!("\r\x1b[K[{seconds}s: 4 B, 1 line]");
        ran.stdout.contains(&progress)
    };
    assert!((1..=3).any(is_shown), "{ran:?}");
    assert!(ran.stdout.ends_with("]\r\x1b[Kone\r\ntwo\r\n"), "{ran:?}");
    for quiet in [
        format!("{program} run 'echo one'"),
        format!("{program} run --stream '{slow}'"),
        format!("TERM=dumb {program} run '{slow}'"),
    ] {
        let ran = on_terminal(&quiet)?;
        assert!(ran.stdout.starts_with("one\r\n"), "{quiet}: {ran:?}");
    }
    Ok(())
}
