//! Passes the script to the executor.

use crate::call::Call;
use crate::journal::masked;
use crate::tool_context::{Terminal, ToolContext};
use agent_bash_core::{
    Cancel, ConsumerFlow, Executor, NotStarted, Outcome, OutputConsumer, OutputMask, Request,
    RunSpec, ScriptEnding, StreamId, StreamMasks,
};
use agent_bash_journal::PrintedOutputCollector;
use agent_bash_sink::CallOutput;
use agent_bash_state::panics::await_catching_panic;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Returns the specification of the run for the executor, without the decisions of the call's
/// stages. If `subshell` is true, the script runs in a subshell.
pub(crate) fn spec(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    terminal: Option<&Terminal>,
    subshell: bool,
) -> Result<RunSpec, NotStarted> {
    let base = terminal.map_or(&tool.environment, |terminal| &terminal.environment);
    let script = match &tool.prefix {
        Some(prefix) => format!("{prefix} {}", request.command),
        // A script may begin with `(`. Without the space, the result would begin with `((`, an
        // arithmetic command.
        None if subshell => format!("( {}\n)", request.command),
        None => request.command.clone(),
    };
    let recorded = masked(&tool.hide, &tool.environment_policy, request, &script);
    Ok(RunSpec::new(script, call.cwd.clone())
        .recorded_script(Some(recorded))
        .shell(tool.shell.clone()?)
        .env(base.for_call(&request.env))
        .grace(tool.profile.grace)
        .survivors(tool.profile.survivors)
        .completion_status(tool.profile.completion_status)
        .session(request.session.clone())
        .enter_cwd(request.cwd.is_some())
        .snapshot(true)
        .limits(tool.limits)
        .needs_trace(tool.changes.is_level_set())
        .invocation(call.invocation.clone()))
}

/// Returns the executor of the script.
pub(crate) fn executor<'a>(
    tool: &'a ToolContext,
    terminal: Option<&'a Terminal>,
) -> &'a dyn Executor {
    let executor = terminal.map_or(&tool.executor, |terminal| &terminal.executor);
    &**executor
}

/// Runs the script to its end. If the executor or a watcher panics, the outcome is
/// [`ScriptEnding::Lost`], and the result has the output so far.
pub(crate) async fn run(
    tool: &ToolContext,
    terminal: Option<&Terminal>,
    spec: &RunSpec,
    output: &mut CallOutput,
    watched: OutputWatchers<'_, '_>,
    cancel: Cancel,
) -> Result<Outcome, NotStarted> {
    let mut tee = Tee::new(output, watched, spec, tool.mask.as_ref());
    let executor = executor(tool, terminal);
    let (started_at, begun) = (tool.clock.wall(), tool.clock.now());
    let ran = await_catching_panic(executor.run(spec, &mut tee, &cancel)).await;
    tee.finish();
    match ran {
        Ok(ran) => ran,
        Err(panicked) => {
            let reason = panicked.to_string();
            let duration = tool.clock.now().saturating_sub(begun);
            Ok(Outcome::new(
                ScriptEnding::Lost { reason },
                started_at,
                duration,
            ))
        }
    }
}

/// The consumers of the output in addition to [`CallOutput`].
pub(crate) struct OutputWatchers<'l, 'p> {
    /// The caller's consumer.
    pub(crate) live: Option<&'l mut dyn OutputConsumer>,
    /// The collector for the journal.
    pub(crate) printed: Option<&'p mut PrintedOutputCollector>,
}

impl<'l, 'p> OutputWatchers<'l, 'p> {
    /// Returns the caller's consumer, and the collector for the journal of a recorded call.
    pub(crate) fn of(live: Option<&'l mut dyn OutputConsumer>, call: &'p mut Call) -> Self {
        Self {
            live,
            printed: call.printed.as_mut(),
        }
    }
}

/// A consumer that stores the output and passes the output on to the watchers.
struct Tee<'a, 'l, 'p> {
    output: &'a mut CallOutput,
    watched: OutputWatchers<'l, 'p>,
    /// True if the output is not stored, but only passed to the caller's consumer, which may also
    /// end the output.
    passes_through: bool,
    /// The masks for the bytes that the caller's consumer receives.
    live_masks: Option<StreamMasks>,
    /// The masks for the bytes that the journal receives.
    printed_masks: Option<StreamMasks>,
}

impl<'a, 'l, 'p> Tee<'a, 'l, 'p> {
    fn new(
        output: &'a mut CallOutput,
        mut watched: OutputWatchers<'l, 'p>,
        spec: &RunSpec,
        mask: Option<&Arc<dyn OutputMask>>,
    ) -> Self {
        let masks = || mask.map(|mask| StreamMasks::new(Arc::clone(mask)));
        let live = watched.live.as_mut();
        let masks_output = live.zip(mask).map(|(live, mask)| live.masks_output(mask));
        Self {
            output,
            passes_through: spec.invocation.is_some(),
            live_masks: masks().filter(|_| masks_output == Some(false)),
            printed_masks: masks().filter(|_| watched.printed.is_some()),
            watched,
        }
    }

    /// Passes a chunk to the caller's consumer, masked if necessary.
    fn live_chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        let Some(live) = &mut self.watched.live else {
            return ConsumerFlow::Continue;
        };
        let Some(masks) = &mut self.live_masks else {
            return live.chunk(stream, bytes);
        };
        let mut flow = ConsumerFlow::Continue;
        masks.push(stream, bytes, &mut |piece| {
            if flow == ConsumerFlow::Continue {
                flow = live.chunk(stream, piece.shown());
            }
        });
        flow
    }

    /// Passes on the bytes that the masks still hold back.
    fn finish(&mut self) {
        if let (Some(masks), Some(printed)) = (&mut self.printed_masks, &mut self.watched.printed) {
            masks.finish(&mut |_, piece| printed.push(piece.shown()));
        }
        if let (Some(masks), Some(live)) = (&mut self.live_masks, &mut self.watched.live) {
            masks.finish(&mut |stream, piece| {
                live.chunk(stream, piece.shown());
            });
        }
    }
}

impl OutputConsumer for Tee<'_, '_, '_> {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        if let Some(printed) = &mut self.watched.printed {
            match &mut self.printed_masks {
                Some(masks) => {
                    masks.push(stream, bytes, &mut |piece| printed.push(piece.shown()));
                }
                None => printed.push(bytes),
            }
        }
        let flow = self.live_chunk(stream, bytes);
        if self.passes_through {
            return flow;
        }
        if flow == ConsumerFlow::Stop {
            self.watched.live = None;
        }
        self.output.chunk(stream, bytes)
    }

    fn destination(&self, stream: StreamId) -> Option<BorrowedFd<'_>> {
        let reads_bytes = !self.passes_through || self.watched.printed.is_some();
        let live = self.watched.live.as_ref();
        live.filter(|_| !reads_bytes && self.live_masks.is_none())?
            .destination(stream)
    }

    fn started(&mut self, pid: u32, group: u32) {
        if let Some(live) = &mut self.watched.live {
            live.started(pid, group);
        }
    }

    fn file_for_survivors(&mut self, stream: StreamId) -> Option<File> {
        self.output.take_file_for_survivors(stream)
    }
}
