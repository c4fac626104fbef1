//! Reads the definitions of a session's shell, for commands in other shells.

use super::ShellSession;
use super::call::{SessionCall, StateAfterCall};
use crate::options::ShellCacheOptions;
use crate::pool::ShellKind;
use crate::snapshot::running_shell;
use agent_bash_core::{
    Cancel, ConsumerFlow, Definitions, Environment, OutputConsumer, RunSpec, SessionName, StreamId,
    Streams,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for a shell's report. If a shell is slower, the caller continues without its
/// definitions.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of the definitions in bytes, as of a snapshot: each command that uses them reads
/// all of them.
const MAX_DEFINITION_BYTES: usize = 4 << 20;

impl ShellSession {
    /// Returns the definitions of the shell, if the shell has run a script. To read them, runs a
    /// script that changes no state of the shell, not even `$?`.
    pub(super) async fn definitions(
        &mut self,
        name: &SessionName,
        kind: &ShellKind,
        options: &ShellCacheOptions,
    ) -> Option<Definitions> {
        // The exports must be read before another script runs.
        if let Err(reason) = self.receive_exports(&*options.clock).await {
            self.unreported_end = Some(reason);
        }
        // If this future is dropped, the shell is dropped, too, because the state of the shell is
        // unknown then.
        let shell = self.shell.take_if(|shell| !shell.is_fresh)?;
        let last_status = shell.last_status;
        let env = Environment {
            base: Arc::clone(&kind.base),
            changes: BTreeMap::new(),
        };
        let spec = RunSpec::new(running_shell::report_script(&kind.shell), "/")
            .shell(kind.shell.clone())
            .env(env)
            .streams(Streams::Split)
            .timeout(Some(ANSWER_TIMEOUT))
            .session(Some(name.clone()))
            .enter_cwd(false);
        let mut output = ProbeOutput::default();
        let remembered = self.remembered.as_ref();
        let never = Cancel::new();
        let call = SessionCall::hand_over(&spec, shell, remembered, options, &never);
        let after = match call.await {
            Ok(call) => Box::pin(call.finish(&mut output)).await,
            Err(after) => *after,
        };
        match after {
            StateAfterCall::Alive { mut shell, cwd, .. } => {
                shell.last_status = last_status;
                self.shell = Some(shell);
                self.remembered.get_or_insert_default().cwd = Some(cwd);
                running_shell::parse_report(&output.0)
            }
            StateAfterCall::Refused { shell, .. } => {
                self.shell = shell;
                None
            }
            StateAfterCall::Ended { reason, .. } | StateAfterCall::RefusedHandoff(reason) => {
                self.unreported_end = Some(reason);
                None
            }
            StateAfterCall::Displaced(_) => None,
        }
    }
}

/// Collects the stdout of the shell.
#[derive(Default)]
struct ProbeOutput(Vec<u8>);

impl OutputConsumer for ProbeOutput {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        if stream == StreamId::Stdout && self.0.len() <= MAX_DEFINITION_BYTES {
            self.0.extend_from_slice(bytes);
        }
        ConsumerFlow::Continue
    }
}
