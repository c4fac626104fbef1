//! `agent-bash rpc`: JSON lines over stdin and stdout.

use crate::args::RpcArgs;
use crate::commands::serving;
use crate::start::Start;
use agent_bash_server::{rpc, stdio};
use anyhow::Context;

/// Serves until stdin ends.
pub(crate) fn rpc(args: &RpcArgs, start: &Start) -> anyhow::Result<u8> {
    serving::serve(
        &args.serving,
        start,
        "rpc",
        |session, _, called_off| async move {
            let (input, output) = stdio().context("stdin and stdout cannot be used")?;
            rpc::serve(input, output, session, called_off.cancel())
                .await
                .context("cannot read stdin")
        },
    )
}
