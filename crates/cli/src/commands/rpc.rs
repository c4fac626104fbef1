//! `agent-bash rpc`: JSON lines over stdin and stdout.

use crate::args::RpcArgs;
use crate::commands::serving;
use crate::runtime;
use crate::signals::CalledOff;
use crate::start::StartContext;
use agent_bash::process::supervisor::Supervisor;
use agent_bash_server::rpc::worker::{self, WorkerEnvironment};
use agent_bash_server::{rpc, stdio};
use anyhow::Context;

/// Serves until stdin ends.
pub(crate) fn rpc(args: &RpcArgs, start: &StartContext) -> anyhow::Result<u8> {
    if args.worker {
        return worker(start);
    }
    serving::serve(
        &args.serving,
        start,
        "rpc",
        |builder| builder,
        |session, _, called_off| async move {
            let (input, output) = stdio().context(NO_STDIO)?;
            rpc::serve(input, output, session, called_off.cancel())
                .await
                .context(NO_STDIN)
        },
    )
}

const NO_STDIO: &str = "stdin and stdout cannot be used";
const NO_STDIN: &str = "cannot read stdin";

/// Runs what a host has judged, until it is gone. Exits with 1 if no host could be served.
fn worker(start: &StartContext) -> anyhow::Result<u8> {
    let runtime = runtime::start(Some(WORKER_THREADS))?;
    let supervisor = Supervisor::this_program(&start.token);
    let workplace = WorkerEnvironment {
        host: start.host.clone(),
        supervisor: supervisor.clone(),
    };
    let served = runtime.block_on(async {
        let called_off = CalledOff::listen().context("cannot listen for signals")?;
        // As a task, like every server.
        let served = tokio::spawn(async move {
            let (input, output) = stdio().context(NO_STDIO)?;
            worker::serve(input, output, workplace, called_off.cancel())
                .await
                .context(NO_STDIN)
        });
        served.await.context("the server has panicked")?
    });
    runtime::end(runtime, &supervisor);
    worker::outlast();
    served.map(|was_served| u8::from(!was_served))
}

/// Threads of a worker: what it does is mostly waiting, and there may be many on one machine.
const WORKER_THREADS: usize = 2;
