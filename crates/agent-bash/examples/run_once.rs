//! One call through the pipeline with real shells: `cargo run -p agent-bash --example run_once -- 'ls | wc -l'`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program prints"
)]

use agent_bash::core::{Cancel, Clock, Executor};
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::{self, Supervisor};
use agent_bash::{BashTool, HostContext, profiles};
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    // First of all: in a supervisor's process this call does not return.
    let token = supervisor::init();
    match run(&Supervisor::this_program(&token)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(supervisor: &Supervisor) -> std::io::Result<u8> {
    let script = std::env::args().nth(1).unwrap_or("echo hello".to_owned());
    let host = HostContext::capture(std::path::absolute(".")?);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let options = ShellCacheOptions::one_call(supervisor.clone(), Arc::clone(&clock));
    let executor: Arc<dyn Executor> = Arc::new(ShellCache::new(options));
    let tool = BashTool::builder(profiles::STANDARD, host, executor, clock).build();

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let result = runtime.block_on(tool.execute(serde_json::Value::from(script), &Cancel::new()));
    println!("{}", result.text);
    Ok(result.status.exit_code())
}
