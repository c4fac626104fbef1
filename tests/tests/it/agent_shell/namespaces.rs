//! A shell in a PID namespace, as containers and sandboxes of agents start it.

use super::world;
use agent_bash_tests::product;
use anyhow::{Result, ensure};

/// `bwrap --unshare-pid` and `unshare` start a program in the caller's process group. The group has
/// no number in the new namespace; the kernel returns 0.
#[test]
fn shell_runs_where_its_process_group_is_outside_the_pid_namespace() -> Result<()> {
    let world = world()?;
    let mut unshare = world.command("unshare");
    unshare.args([
        "--user", "--map-root-user", "--mount-proc", "--pid", "--fork",
    ]);
    unshare.arg(product::agent_bash()?);
    unshare.args([
        "shell",
        "-c",
        "set -- $(< /proc/self/stat); echo $(($5 > 0)); exit 5",
    ]);
    let ran = product::run(unshare, None)?;
    ensure!((ran.stdout.as_str(), ran.code) == ("1\n", 5), "{ran:?}");
    Ok(())
}
