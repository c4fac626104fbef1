//! Pipelines whose last stage hides an earlier failure. The exit code stays bash's own, and a
//! notice reports the failure, unless the stage's exit status is benign. The cases are data; the
//! profile runs scripts unmodified.

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use serde_json::Value;
use std::time::Duration;

const CASES: &str = include_str!("../../data/truth_table.tsv");

#[test]
fn failure_of_an_earlier_stage_is_reported() -> anyhow::Result<()> {
    let world = World::new()?;
    let mut cases = 0;
    for line in CASES.lines().skip(1) {
        let [script, exit, notice] = line.split('\t').collect::<Vec<_>>()[..] else {
            anyhow::bail!("not a case: {line}");
        };
        let mut command = world.command(product::agent_bash()?);
        command.args(["run", "--json", "--profile", "modes", script]);
        let ran = product::run(command, None)?;
        let result: Value = serde_json::from_str(&ran.stdout)?;
        let code = &result["status"]["code"];
        assert_eq!(code, &exit.parse::<i64>()?, "{script}: {result}");
        let noticed = result["notices"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["kind"] == "failed_stage"));
        assert_eq!(noticed, notice == "yes", "{script}: {result}");
        cases += 1;
    }
    assert!(cases >= 14, "{cases} cases were read");
    let left = world.end(Duration::from_secs(60));
    assert!(left.is_empty(), "left behind:\n{left}");
    Ok(())
}

/// Without `CAP_SYS_PTRACE`, as for an ordinary user and for root in most containers, the shell
/// cannot open a descriptor of the supervisor.
#[test]
fn failed_stage_is_reported_without_the_capability_to_trace() -> anyhow::Result<()> {
    let world = World::new()?;
    for changes in ["off", "list", "undo"] {
        let program = product::agent_bash()?;
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = world.command("setpriv");
            command.args(["--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]);
            command.arg(program);
            command
        } else {
            world.command(program)
        };
        command.args(["run", "--json", "--changes", changes, "false | true"]);
        let ran = product::run(command, None)?;
        let result: Value = serde_json::from_str(&ran.stdout)?;
        assert_eq!(result["notices"][0]["kind"], "failed_stage", "{result}");
        assert_eq!(result["notices"].as_array().map(Vec::len), Some(1));
        // The shell writes its report to a file that is no change of the call.
        assert!(result["changes"]["outside"].is_null(), "{result}");
    }
    world.assert_nothing_left(Duration::from_secs(60));
    Ok(())
}
