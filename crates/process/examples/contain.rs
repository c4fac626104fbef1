//! Starts a shell below a supervisor and names the processes that the shell leaves running, even in
//! other process sessions: `cargo run -p agent-bash-process --example contain`.

#![expect(clippy::print_stdout, reason = "a program prints")]

use agent_bash_core::{Clock, Shell, StreamId};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::{self, Event, ShellStart, StartError, Supervisor};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Must come first: in a supervisor process this call does not return.
    let token = supervisor::init();
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let env = [("PATH".into(), "/usr/bin:/bin".into())].into();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let mut supervised = Supervisor::this_program(&token)
            .launch(&env, &clock)
            .await?;
        let args = ["-c", "setsid sleep 300 & echo hi"].map(Into::into);
        let start = ShellStart {
            output: vec![StreamId::Merged],
            ..ShellStart::of(&Shell::bash("/bin/bash"), args.into())
        };
        let fds = supervised.start(start, None).await?;
        println!("shell {} runs; its output is in {:?}", fds.pid, fds.output);
        while let Ok((event, _)) = supervised.event().await {
            if let Event::Ended { end, .. } = event {
                println!(
                    "it ended: {end:?}; left: {:?}",
                    supervised.survivors().await
                );
                break;
            }
        }
        // Ends all remaining processes.
        supervised.close().await;
        Ok::<(), StartError>(())
    })?;
    Ok(())
}
