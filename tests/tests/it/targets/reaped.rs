//! A worker below a PID 1 that reaps no orphans, as in a container that runs `sleep`: the worker
//! reaps processes that outlive its host.

use super::{SOON, on};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, procfs};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::process::Stdio;

#[test]
fn worker_reaps_orphans_if_pid_1_does_not() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        // Only root can enter another pid namespace.
        return Ok(());
    }
    let world = World::new()?;
    let mut first = world.command("unshare");
    first.args([
        "--pid", "--fork", "--kill-child", "--mount-proc", "sleep", "100000",
    ]);
    let mut unshare = first.stdout(Stdio::null()).spawn()?;
    let is_first = |process: &procfs::Process| process.parent == unshare.id();
    let pid_1 = poll::until(SOON, || {
        let found = procfs::processes().into_iter().find(is_first)?;
        found.command.starts_with("sleep").then_some(found.pid)
    });
    let pid_1 = pid_1.context("no PID 1")?;
    let config = world.home().join(".config/agent-bash");
    fs::create_dir_all(&config)?;
    // In its own process group, as behind an engine: the worker outlives the connection.
    let words = format!(
        "[\"nsenter\", \"-t\", \"{pid_1}\", \"-p\", \"-m\", \"--\", \"setsid\", \"sh\", \"-c\", \"{{script}}\"]"
    );
    fs::write(
        config.join("config.toml"),
        format!(
            "[targets.box]\ntransport = \"command\"\ncommand = {words}\n[targets.box.env]\nHOME = {:?}\n",
            world.home()
        ),
    )?;
    for (script, mode) in [
        ("sleep 3 > /dev/null 2>&1 &", "default"),
        ("sleep 3", "background"),
    ] {
        let ran = on(&world, &["run", "--mode", mode, script])?;
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    // Control: below such a PID 1 an orphan remains a zombie.
    let mut orphan = world.command("nsenter");
    orphan.args(["-t", &pid_1.to_string(), "-p", "sh", "-c", "(sleep 0.1 &)"]);
    orphan.status()?;
    let namespace = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let inside = namespace(pid_1);
    let all_ended = poll::until(SOON, || {
        let mut alive = procfs::processes().into_iter();
        let lives_on = alive.any(|process| {
            process.pid != pid_1 && process.is_alive() && namespace(process.pid) == inside
        });
        (!lives_on).then_some(())
    });
    ensure!(all_ended.is_some(), "something lives on");
    let left: Vec<_> = procfs::processes()
        .into_iter()
        .filter(|process| process.parent == pid_1)
        .collect();
    let [zombie] = &left[..] else {
        bail!("below PID 1: {left:?}");
    };
    ensure!(
        zombie.state == 'Z' && zombie.command.contains("sleep"),
        "{zombie:?}"
    );
    unshare.kill()?;
    unshare.wait()?;
    world.assert_nothing_left(SOON);
    Ok(())
}
