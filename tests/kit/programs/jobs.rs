//! A second host for the tests of background jobs: starts the same job several times, reports each,
//! and runs until its stdin ends or it is killed.

use agent_bash_core::sandbox::Plan;
use agent_bash_core::{Cancel, Environment, RunSpec, Shell};
use agent_bash_exec::{JobStdin, Jobs, JobsOptions, ShellCache, ShellCacheOptions};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::{self, Supervisor};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let token = supervisor::init();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [directory, count, script, plan @ ..] = &args[..] else {
        return Err("usage: exec-test-jobs DIRECTORY COUNT SCRIPT [PLAN OF THEIR BOX]".into());
    };
    let plan: Option<Plan> = plan
        .first()
        .map(|plan| serde_json::from_str(plan))
        .transpose()?;
    let clock = Arc::new(SystemClock::new());
    let jobs = Jobs::new(JobsOptions::new(directory, clock.clone()));
    let cache = ShellCache::new(ShellCacheOptions {
        jobs: Some(Arc::new(jobs)),
        ..ShellCacheOptions::one_shot(
            Supervisor::this_program(&token),
            clock,
            std::env::temp_dir(),
        )
    });
    let spec = RunSpec::new(script.clone(), "/")
        .shell(Shell::bash("/bin/bash"))
        .env(Environment {
            base: Arc::new(std::env::vars_os().collect()),
            changes: BTreeMap::new(),
        })
        .grace(Duration::from_millis(300))
        .sandbox(plan.map(Arc::new))
        .enter_cwd(false);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        for _ in 0..count.parse()? {
            let started = cache.start_job(&spec, JobStdin::Null, &Cancel::new()).await;
            let line = match started {
                Ok(job) => format!("job {} {}", job.id, job.pgid),
                Err(error) => format!("error {error}"),
            };
            writeln!(io::stdout(), "{line}")?;
        }
        Ok::<_, Box<dyn Error>>(())
    })?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
