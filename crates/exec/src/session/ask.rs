//! Asks a session's shell for its definitions, for commands in other shells.

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

/// Time limit for a shell's answer. A slower shell is of no use for commands either.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Longer definitions are not handed over: each command beside the shell would read them.
const MAX_DEFINITION_BYTES: usize = 1 << 20;

impl ShellSession {
    /// Asks the shell, if there is one that has run something. To it, that is a script like any
    /// other, but one after which `$?` is as it was.
    pub(super) async fn definitions(
        &mut self,
        name: &SessionName,
        kind: &ShellKind,
        options: &ShellCacheOptions,
    ) -> Option<Definitions> {
        // Before another script, as they are read only once.
        if let Err(gone) = self.receive_exports(&*options.clock).await {
            self.lost = Some(gone);
        }
        // Taken out, as it is for a call.
        let shell = self.shell.take_if(|shell| !shell.fresh)?;
        let last = shell.last;
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
        let mut said = ProbeOutput::default();
        let remembered = self.remembered.as_ref();
        let never = Cancel::new();
        let call = SessionCall::hand_over(&spec, shell, remembered, options, &never);
        let after = match call.await {
            Ok(call) => call.finish(&mut said).await,
            Err(after) => *after,
        };
        match after {
            StateAfterCall::Alive {
                mut shell,
                cwd: place,
                ..
            } => {
                shell.last = last;
                self.shell = Some(shell);
                self.remembered.get_or_insert_default().cwd = Some(place);
                running_shell::parse_report(&said.0)
            }
            StateAfterCall::Refused { shell, .. } => {
                self.shell = shell;
                None
            }
            StateAfterCall::Ended { reason, .. } | StateAfterCall::RefusedHandoff(reason) => {
                self.lost = Some(reason);
                None
            }
            StateAfterCall::Displaced(_) => None,
        }
    }
}

/// The useful part of its output.
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
