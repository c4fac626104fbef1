//! Calls under the system call refusals of container engines: calls end, missing facilities are
//! reported, and no broken promise is claimed. The conformance kit runs under the same refusals.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::refusals::{self, ENGINES, Engine, Facility, Refusal, When, always, when};
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use libc::{EINVAL, ENOSYS, EPERM};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(60);

/// The refusal of seccomp filters with a listener.
const NO_LISTENER: [Refusal; 2] = [
    when(libc::SYS_seccomp, &[When::Is(1, 0x8)], EINVAL),
    when(libc::SYS_seccomp, &[When::Is(1, 0x28)], EINVAL),
];

fn engine(name: &str) -> Result<&'static [Refusal]> {
    let engine = ENGINES.iter().find(|engine| engine.name == name);
    Ok(engine.context("there is such an engine")?.refusals)
}

fn run(world: &World, refusals: &[Refusal], words: &[&str]) -> Result<CommandResult> {
    run_with_input(world, refusals, words, None)
}

fn run_with_input(
    world: &World,
    refusals: &[Refusal],
    words: &[&str],
    input: Option<&str>,
) -> Result<CommandResult> {
    let refuse = Path::new(env!("CARGO_BIN_EXE_refuse"));
    let mut command = refusals::agent_bash(world, refuse, refusals)?;
    command.args(words);
    product::run(command, input)
}

fn result(world: &World, refusals: &[Refusal], words: &[&str]) -> Result<Value> {
    let words = [&["run", "--json"], words].concat();
    let ran = run(world, refusals, &words)?;
    serde_json::from_str(&ran.stdout).with_context(|| format!("{ran:?}"))
}

fn repository() -> Result<World> {
    let world = World::new()?;
    fs::create_dir_all(world.cwd().join(".git/hooks"))?;
    fs::write(world.cwd().join("file"), "before\n")?;
    Ok(world)
}

fn content(world: &World) -> String {
    fs::read_to_string(world.cwd().join("file")).unwrap_or_default()
}

#[test]
fn call_ends_with_its_command_without_pidfds_and_with_a_strict_subreaper() -> Result<()> {
    let world = World::new()?;
    let refused = [
        when(
            libc::SYS_prctl,
            &[When::Is(0, 36), When::IsNot(1, 1)],
            EINVAL,
        ),
        always(libc::SYS_pidfd_open, ENOSYS),
    ];
    let ended = result(
        &world,
        &refused,
        &["--timeout", "20", "echo hi; sleep 60 & true"],
    )?;
    ensure!(ended["status"]["kind"] == "exited", "{ended}");
    ensure!(ended["survivors"][0]["command"] == "sleep 60", "{ended}");
    world.sweep();
    // Without a subreaper, a thread of the host supervises the call, and a notice gives the reason.
    let refused = [
        when(libc::SYS_prctl, &[When::Is(0, 36)], EPERM),
        always(libc::SYS_pidfd_open, ENOSYS),
    ];
    let ended = result(
        &world,
        &refused,
        &["--timeout", "20", "(sleep 0.2; echo late) & wait"],
    )?;
    ensure!(ended["status"]["kind"] == "exited", "{ended}");
    ensure!(ended["text"] == "late\n", "{ended}");
    let reason = ended["notices"][0]["reason"].as_str().unwrap_or_default();
    ensure!(reason.contains("PR_SET_CHILD_SUBREAPER"), "{ended}");
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Without mounts, calls can write protected files, which are compared afterwards.
#[test]
fn settings_that_a_call_of_a_partial_sandbox_changes_stay_in_force() -> Result<()> {
    let world = repository()?;
    let refusals = engine("docker-2026")?;
    let secret = world.home().join("secret");
    fs::write(&secret, "CANARY\n")?;
    let settings = format!("[sandbox]\nhidden = [\"{}\"]\n", secret.display());
    let dotfiles = world.cwd().join("dot/agent-bash");
    fs::create_dir_all(&dotfiles)?;
    fs::create_dir_all(world.home().join(".config/agent-bash"))?;
    let user = dotfiles.join("config.toml");
    let link = world.home().join(".config/agent-bash/config.toml");
    std::os::unix::fs::symlink(&user, link)?;
    let project = world.cwd().join(".agent-bash.toml");
    let call = |script: &str| {
        let words = ["--sandbox", "workspace_write", script];
        result(&world, refusals, &words)
    };
    let read = format!("cat {}", secret.display());
    for file in [&project, &user] {
        fs::write(file, &settings)?;
        let path = file.strip_prefix(world.cwd())?.display().to_string();
        for script in [
            "true".to_owned(),
            format!("echo > {path}"),
            // The same text once more, and a file with the same text.
            format!("touch {path}"),
            format!("echo > other; mv other {path}"),
            format!("rm {path}"),
            format!("rm -f {path}; ln -s /dev/null {path}"),
        ] {
            let ended = call(&script)?;
            ensure!(ended["status"]["kind"] == "exited", "{script}: {ended}");
            let seen = call(&read)?;
            let text = seen["text"].as_str().unwrap_or_default();
            ensure!(!text.contains("CANARY"), "{path}, {script}: {seen}");
        }
        // The user saves the file again.
        fs::remove_file(file)?;
        fs::write(file, "# mine\n")?;
        let seen = call(&read)?;
        let text = seen["text"].as_str().unwrap_or_default();
        ensure!(text.starts_with("CANARY\n"), "{path}: {seen}");
        fs::remove_file(file)?;
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn doctor_reports_working_facilities_in_each_engine() -> Result<()> {
    for Engine {
        name,
        refusals,
        lacks,
    } in ENGINES
    {
        let world = World::new()?;
        let ran = run(&world, refusals, &["doctor"])?;
        let grade = |line: &str| {
            let mut lines = ran.stdout.lines();
            let found = lines.find(|it| it.split_whitespace().nth(1) == Some(line));
            found.map(|found| found.starts_with("ok "))
        };
        let has = |facility| Some(!lacks.contains(&facility));
        ensure!(
            grade("records") == has(Facility::Records),
            "{name}: {ran:?}"
        );
        ensure!(grade("trials") == has(Facility::Trials), "{name}: {ran:?}");
        ensure!(ran.code == 0, "{name}: {ran:?}");
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn record_reads_paths_without_process_vm_readv() -> Result<()> {
    let world = repository()?;
    let changing = ["--changes=undo", "rm file"];
    for refused in [
        engine("docker-20")?,
        &[always(libc::SYS_process_vm_readv, ENOSYS)],
    ] {
        let ended = result(&world, refused, &changing)?;
        ensure!(ended["changes"]["by"] == "trace", "{ended}");
        let id = ended["changes"]["id"].as_str().unwrap_or_default();
        let undone = run(&world, refused, &["changes", "undo", id])?;
        ensure!(
            undone.code == 0 && content(&world) == "before\n",
            "{undone:?}"
        );
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn untraced_call_is_scanned_before_it_runs() -> Result<()> {
    let world = repository()?;
    let ended = result(&world, &NO_LISTENER, &["--changes=undo", "rm file"])?;
    ensure!(ended["changes"]["by"] == "scan", "{ended}");
    ensure!(ended["changes"]["counts"]["deleted"] == 1, "{ended}");
    let listed = run(&world, &[], &["changes", "list"])?;
    ensure!(!listed.stdout.contains("interrupted"), "{listed:?}");
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn trial_that_is_refused_leaves_no_set() -> Result<()> {
    let world = repository()?;
    let refused = result(&world, engine("docker-2026")?, &["--trial", "rm file"])?;
    ensure!(refused["status"]["kind"] == "not_started", "{refused}");
    let committed = run(&world, &[], &["changes", "commit", "1"])?;
    let is_unknown = committed.stderr.contains("changes 1 do not exist");
    ensure!(is_unknown && committed.code == 1, "{committed:?}");
    ensure!(content(&world) == "before\n", "the trial was real");
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn partial_sandbox_reports_missing_promises_to_model_and_user() -> Result<()> {
    let world = repository()?;
    let docker = engine("docker-2026")?;
    let sandboxed = ["--sandbox", "workspace_write", "echo x >.git/config"];
    let ended = result(&world, docker, &sandboxed)?;
    let text = ended["text"].as_str().unwrap_or_default();
    let consequence =
        "hooks and configuration of git, editors and agents in the workspace can be written";
    ensure!(text.contains(consequence), "{ended}");
    ensure!(
        text.contains("reach the network fail (`Permission denied`)"),
        "{ended}"
    );
    let request = json!({"id": 1, "type": "schema"}).to_string();
    let refuse = Path::new(env!("CARGO_BIN_EXE_refuse"));
    for (refused, promised) in [(docker, false), (&[][..], true)] {
        let mut command = refusals::agent_bash(&world, refuse, refused)?;
        command
            .arg("rpc")
            .env("AGENT_BASH_SANDBOX_LEVEL", "workspace_write");
        let ran = product::run(command, Some(&format!("{request}\n")))?;
        ensure!(
            ran.stdout.contains("in the workspace cannot be changed") == promised,
            "{ran:?}"
        );
        ensure!(ran.stdout.contains(consequence) != promised, "{ran:?}");
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn files_are_recorded_undone_and_named_without_openat2() -> Result<()> {
    for error in [ENOSYS, EPERM] {
        let world = repository()?;
        let refused = [always(libc::SYS_openat2, error)];
        let ended = result(&world, &refused, &["--changes=undo", "echo after >file"])?;
        ensure!(ended["changes"]["undo"] == "whole", "{ended}");
        let undone = run(&world, &refused, &["changes", "undo", "1"])?;
        ensure!(content(&world) == "before\n", "{undone:?}");
        let denied = result(
            &world,
            &refused,
            &["--sandbox", "read_only", "echo x >file"],
        )?;
        let path = &denied["sandbox"]["denied"][0]["path"];
        ensure!(
            *path == *world.cwd().join("file").to_string_lossy(),
            "{denied}"
        );
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn sandboxed_call_is_recorded_without_pidfd_getfd() -> Result<()> {
    let world = repository()?;
    let refused = [always(libc::SYS_pidfd_getfd, EPERM)];
    let words = ["--sandbox", "workspace_write", "--changes=undo", "rm file"];
    let ended = result(&world, &refused, &words)?;
    ensure!(ended["changes"]["by"] == "trace", "{ended}");
    let words = [
        "--sandbox", "read_only", "--network", "loopback", "echo ran",
    ];
    let ended = result(&world, &refused, &words)?;
    ensure!(ended["text"] == "ran\n", "{ended}");
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn cwd_of_a_remote_call_determines_the_workspace() -> Result<()> {
    let world = repository()?;
    let config = world.home().join(".config/agent-bash");
    fs::create_dir_all(&config)?;
    let target = "[targets.box]\ntransport = \"command\"\ncommand = [\"sh\", \"-c\", \"cd / && exec sh -c \\\"$1\\\"\", \
                  \"sh\", \"{script}\"]\n";
    fs::write(config.join("config.toml"), target)?;
    let cwd = world.cwd();
    let cwd = cwd.to_str().context("a test's directory is UTF-8")?;
    let words = [
        "--on", "box", "--cwd", cwd, "--sandbox", "workspace_write", "echo x >new",
    ];
    let ended = result(&world, &[], &words)?;
    ensure!(ended["status"]["kind"] == "exited", "{ended}");
    ensure!(world.cwd().join("new").exists(), "{ended}");
    let words = ["--on", "box", "--cwd", cwd, "--changes=undo", "rm file"];
    let ended = result(&world, &[], &words)?;
    ensure!(ended["changes"]["root"] == cwd, "{ended}");
    // Relative to the directory in which the target begins.
    let ended = result(&world, &[], &["--on", "box", "--cwd", "tmp", "pwd"])?;
    ensure!(ended["text"] == "/tmp\n", "{ended}");
    let missing = result(&world, &[], &["--on", "box", "--cwd", "/no/such", "pwd"])?;
    ensure!(
        missing["text"].to_string().contains("/no/such"),
        "{missing}"
    );
    world.assert_nothing_left(SOON);
    Ok(())
}
