//! `agent-bash rpc`: JSON lines over stdin and stdout.

use crate::args::RpcArgs;
use crate::commands::serve_session;
use crate::process_start::StartContext;
use crate::runtime;
use crate::signals::CancelSignals;
use agent_bash::process::supervisor::Supervisor;
use agent_bash_server::rpc::worker::{self, WorkerEnvironment};
use agent_bash_server::{rpc, stdio};
use anyhow::Context;

/// Serves until stdin ends.
pub(crate) fn rpc(args: &RpcArgs, start: &StartContext) -> anyhow::Result<u8> {
    if args.worker {
        return worker(start);
    }
    serve_session::serve(
        &args.serving,
        start,
        "rpc",
        |session, _, signals| async move {
            let (input, output) = stdio().context(NO_STDIO)?;
            rpc::serve(input, output, session, signals.cancel())
                .await
                .context(NO_STDIN)
        },
    )
}

const NO_STDIO: &str = "stdin and stdout cannot be used";
const NO_STDIN: &str = "cannot read stdin";

/// Serves a host that sends calls it has already checked, until the host disconnects. Exits with 1
/// if no host connected.
fn worker(start: &StartContext) -> anyhow::Result<u8> {
    let runtime = runtime::start(Some(WORKER_THREADS))?;
    let supervisor = Supervisor::this_program(&start.token);
    let environment = WorkerEnvironment {
        host: start.host.clone(),
        supervisor: supervisor.clone(),
    };
    let served = runtime.block_on(async {
        let signals = CancelSignals::listen().context("cannot listen for signals")?;
        // The server runs as a task, as in `serve_session::serve`.
        let served = tokio::spawn(async move {
            let (input, output) = stdio().context(NO_STDIO)?;
            worker::serve(input, output, environment, signals.cancel())
                .await
                .context(NO_STDIN)
        });
        served.await.context("the server has panicked")?
    });
    runtime::end(runtime, &supervisor);
    worker::outlast();
    served.map(|was_served| u8::from(!was_served))
}

/// Threads of a worker. It mostly waits, and one machine may run many workers.
const WORKER_THREADS: usize = 2;
