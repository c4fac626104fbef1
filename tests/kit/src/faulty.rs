//! An executor that panics.

use agent_bash_core::{Cancel, Executor, NotStarted, Outcome, OutputConsumer, RunSpec, StreamId};
use async_trait::async_trait;

/// Prints `printed`, then panics.
#[derive(Debug, Clone, Copy)]
pub struct FaultyExecutor;

#[async_trait]
impl Executor for FaultyExecutor {
    async fn run(
        &self,
        _: &RunSpec,
        out: &mut dyn OutputConsumer,
        _: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        out.chunk(StreamId::Merged, b"printed\n");
        tokio::task::yield_now().await;
        panic!("an executor")
    }
}
