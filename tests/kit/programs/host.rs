//! A host for this crate's tests, in its own process: it runs one script in its own environment and
//! exits like the script. The host handles no signals, so that tests can kill it with one and
//! observe the command.

use agent_bash_core::{
    Cancel, ConsumerFlow, Environment, Executor, OutputConsumer, RunSpec, ScriptEnding, Shell,
    StreamId, Streams,
};
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::{self, Supervisor};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Exit code if the script did not exit by itself.
const OTHER_ENDING: u8 = 99;

/// Prints output as it arrives.
struct Print;

impl OutputConsumer for Print {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        let written = match stream {
            StreamId::Stderr => io::stderr().write_all(bytes),
            StreamId::Stdout | StreamId::Merged => {
                let mut out = io::stdout();
                out.write_all(bytes).and_then(|()| out.flush())
            }
        };
        match written {
            Ok(()) => ConsumerFlow::Continue,
            Err(_) => ConsumerFlow::Stop,
        }
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let token = supervisor::init();
    let mut arguments = std::env::args().skip(1);
    let script = arguments
        .next()
        .ok_or("usage: exec-test-host SCRIPT [fallback]")?;
    let supervisor = match arguments.next().as_deref() {
        Some("fallback") => Supervisor::fallback(),
        _ => Supervisor::this_program(&token),
    };
    let spec = RunSpec::new(script, "/")
        .shell(Shell::bash("/bin/bash"))
        .env(Environment {
            base: Arc::new(std::env::vars_os().collect()),
            changes: BTreeMap::new(),
        })
        .streams(Streams::Split)
        .grace(Duration::from_millis(300))
        .enter_cwd(false);
    let cache = ShellCache::new(ShellCacheOptions::one_shot(
        supervisor,
        Arc::new(SystemClock::new()),
        std::env::temp_dir(),
    ));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(cache.run(&spec, &mut Print, &Cancel::new()))?;
    Ok(match outcome.ending {
        ScriptEnding::Exited { code } => ExitCode::from(u8::try_from(code)?),
        _ => ExitCode::from(OTHER_ENDING),
    })
}
