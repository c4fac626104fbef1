//! Sandboxed jobs: they stay in the sandbox after their host has ended, and their facts name it.

use super::hosts::{host_with, lines};
use super::world::World;
use crate::support::{Collect, soon};
use agent_bash_core::sandbox::{Enforced, JobSandbox, Network, Plan, SandboxLevel, Tier};
use agent_bash_core::{Cancel, Executor, JobId, RunSpec, ScriptEnding, SessionName};
use agent_bash_exec::{Job, JobKind, JobState, JobStdin, ShellCache};
use agent_bash_test_kit::test_workspace::{TIERS, TestWorkspace};
use std::fs;

/// Returns a script that waits for a file, then writes in the workspace and outside of it.
fn writes_later(workspace: &TestWorkspace) -> String {
    format!(
        "until [[ -e go ]]; do sleep .01; done; {}",
        workspace.writes("late")
    )
}

/// Lets the job write. Returns whether the two files were written.
async fn written(workspace: &TestWorkspace) -> (bool, bool) {
    fs::write(workspace.workspace.join("go"), "").unwrap();
    assert!(soon(|| workspace.written("late").0).await);
    // The write outside of the workspace comes later, if at all.
    workspace.written("late")
}

fn sandboxed(world: &World, workspace: &TestWorkspace, script: &str, tier: Tier) -> RunSpec {
    workspace.in_sandbox(world.spec(script), tier)
}

fn reported_sandbox(job: &Job) -> (SandboxLevel, Network, Enforced) {
    let JobSandbox {
        level,
        network,
        enforced,
        missing,
        ..
    } = job.sandbox.as_ref().unwrap();
    assert_eq!(missing.is_empty(), *enforced == Enforced::Full, "{job:?}");
    (*level, *network, *enforced)
}

fn in_workspace(tier: Tier) -> (SandboxLevel, Network, Enforced) {
    let enforced = match tier {
        Tier::Base => Enforced::Partial,
        Tier::Full => Enforced::Full,
    };
    (SandboxLevel::WorkspaceWrite, Network::Off, enforced)
}

#[tokio::test(flavor = "multi_thread")]
async fn job_stays_in_its_sandbox() {
    for tier in TIERS {
        for stdin in [JobStdin::Null, JobStdin::Pipe] {
            let (world, workspace) = (World::new(), TestWorkspace::new());
            let spec = sandboxed(&world, &workspace, &workspace.writes("x"), tier);
            let job = world.try_start(&spec, stdin).await.unwrap();
            assert_eq!(
                world.end(&job.id).await.ending,
                ScriptEnding::Exited { code: 1 }
            );
            assert_eq!(workspace.written("x"), (true, false));
            for job in [job.clone(), world.again().show(&job.id).unwrap()] {
                assert_eq!(reported_sandbox(&job), in_workspace(tier));
            }
            // Without a sandbox, the same job writes both files, and no sandbox is reported.
            let job = world.try_start(&spec.sandbox(None), stdin).await.unwrap();
            assert_eq!(
                world.end(&job.id).await.ending,
                ScriptEnding::Exited { code: 0 }
            );
            assert_eq!(workspace.written("x"), (true, true));
            assert_eq!(job.sandbox, None);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn job_stays_in_its_sandbox_after_its_host_is_killed() {
    for tier in TIERS {
        let (world, workspace) = (World::new(), TestWorkspace::new());
        let plan = Plan {
            tier,
            ..workspace.plan()
        };
        let plan = serde_json::to_string(&plan).unwrap();
        let script = format!(
            "cd {}; {}",
            workspace.workspace.display(),
            writes_later(&workspace)
        );
        let mut host = host_with(&world, 1, &script, &[&plan]);
        lines(&mut host, 1);
        host.kill().unwrap();
        host.wait().unwrap();
        assert_eq!(written(&workspace).await, (true, false));
        let id = JobId("1".into());
        assert_eq!(
            world.end(&id).await.ending,
            ScriptEnding::Exited { code: 1 }
        );
        assert_eq!(workspace.written("late"), (true, false));
        assert_eq!(
            reported_sandbox(&world.again().show(&id).unwrap()),
            in_workspace(tier)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn survivors_stay_in_the_sandbox_of_their_call() {
    for tier in TIERS {
        for session in [None, Some(SessionName("a".into()))] {
            let (mut world, workspace) = (World::new(), TestWorkspace::new());
            let script = format!("({}; sleep 1000) & echo left", writes_later(&workspace));
            let spec = sandboxed(&world, &workspace, &script, tier).session(session);
            let (mut out, cancel) = (Collect::default(), Cancel::new());
            let outcome = world.cache.run(&spec, &mut out, &cancel).await.unwrap();
            let id = outcome.survivors[0].job.clone().unwrap();
            let job = world.jobs.show(&id).unwrap();
            assert_eq!(
                (job.kind, &job.state),
                (JobKind::Adopted, &JobState::Running)
            );
            assert_eq!(reported_sandbox(&job), in_workspace(tier));
            // The host of the job ends.
            world.cache = ShellCache::new(crate::support::options());
            assert_eq!(written(&workspace).await, (true, false));
            let asleep = || {
                world
                    .census
                    .commands()
                    .iter()
                    .any(|one| one.name == "sleep")
            };
            assert!(soon(asleep).await);
            assert_eq!(workspace.written("late"), (true, false));
            world.kill(&id).await;
            world.census.assert_empty_soon("its end").await;
        }
    }
}

/// Keeps the description of a job, with this process as its supervisor. Arguments: the directory of
/// the jobs, and the description.
const INVENT_A_JOB: &str = r#"
import json, os, sys, time
entry, me = json.loads(sys.argv[2]), os.getpid()
stat = open(f"/proc/{me}/stat").read()
entry["supervisor"].update(pid=me, start_time=int(stat.rsplit(")", 1)[1].split()[19]))
copy = os.memfd_create("agent-bash-job-99", 0)
os.write(copy, sys.argv[1].encode() + b"\0" + json.dumps(entry).encode())
print("invented", flush=True)
time.sleep(1000)
"#;

#[tokio::test(flavor = "multi_thread")]
async fn job_that_a_sandboxed_process_invents_is_not_listed() {
    for tier in TIERS {
        let (world, workspace) = (World::new(), TestWorkspace::new());
        let job = world.start("sleep 1000").await;
        let registry = fs::canonicalize(world.registry()).unwrap();
        let entry = fs::read_to_string(registry.join(&job.id.0).join("job.json")).unwrap();
        let words = [INVENT_A_JOB, registry.to_str().unwrap(), &entry];
        let words = words.map(|word| format!("'{word}'")).join(" ");
        let script = format!("exec -a agent-bash-supervisor python3 -c {words}");
        let invented = JobId("99".to_owned());
        for is_confined in [true, false] {
            let spec = sandboxed(&world, &workspace, &script, tier);
            let spec = if is_confined {
                spec
            } else {
                spec.sandbox(None)
            };
            let inventor = world.try_start(&spec, JobStdin::Null).await.unwrap();
            world.printed(&inventor, "invented").await;
            assert_eq!(
                world.again().show(&invented).is_err(),
                is_confined,
                "{tier:?}"
            );
            world.kill(&inventor.id).await;
        }
        world.kill(&job.id).await;
        world.census.assert_empty_soon("their end").await;
    }
}
