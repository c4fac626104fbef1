//! Runs a script like `bash -c`, with a time limit, and reports how it ended: `cargo run -p
//! agent-bash-exec --example run_script -- 'sleep 300 & echo hi'`.

#![expect(clippy::print_stdout, reason = "a program prints")]

use agent_bash_core::{
    Cancel, ConsumerFlow, Executor, OutputConsumer, RunSpec, ShellChoice, StreamId, SurvivorPolicy,
};
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use agent_bash_process::environment::{BaseEnvironment, EnvironmentPolicy};
use agent_bash_process::supervisor::{self, Supervisor};
use agent_bash_process::{SystemClock, resolve_shell};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// Prints output as it arrives.
struct Print;

impl OutputConsumer for Print {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        match std::io::stdout().write_all(bytes) {
            Ok(()) => ConsumerFlow::Continue,
            Err(_) => ConsumerFlow::Stop,
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Must come first: in a supervisor process this call does not return.
    let token = supervisor::init();
    let script = std::env::args().nth(1).unwrap_or("echo hello".to_owned());

    // The host's environment without secrets, with defaults that keep programs from waiting for a
    // user.
    let ours: BTreeMap<_, _> = std::env::vars_os().collect();
    let environment = BaseEnvironment::build(ours, &EnvironmentPolicy::default());
    let spec = RunSpec::new(script, std::path::absolute(".")?)
        .shell(resolve_shell(
            None,
            ShellChoice::Bash,
            &environment.variables,
        )?)
        .env(environment.for_call(&BTreeMap::new()))
        .timeout(Duration::from_secs(10))
        // Background processes are ended along with the call.
        .survivors(SurvivorPolicy::Kill);
    let supervisor = Supervisor::this_program(&token);
    let clock = Arc::new(SystemClock::new());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(async {
        let cache = ShellCache::new(ShellCacheOptions::one_shot(
            supervisor,
            clock,
            std::env::temp_dir(),
        ));
        cache.run(&spec, &mut Print, &Cancel::new()).await
    })?;
    println!("{:?} after {:?}", outcome.ending, outcome.duration);
    Ok(())
}
