//! Serves the calls of adapters, which are the shell tools that models were trained on: parses
//! their fields, runs their plans, and writes the answers. `agent-bash-tools` defines the adapters.

use crate::calls::{LOST_CALL, RunningCall, RunningCalls, StartOptions, WaitOutcome, WriteError};
use crate::terminal::opened_terminal;
use agent_bash::core::{Cancel, Clock, JobId, Status, ToolResult, Truncation, Window};
use agent_bash::exec::{JobError, JobState, OutputRange};
use agent_bash::pty::{PtyOptions, PtySize};
use agent_bash::remote::protocol::data::AdapterCallData;
use agent_bash::tools::adapter::{
    Adapter, AdapterPlan, CallFields, CallOutcome, CommandInput, FinishedRun, OutputChunk,
    PlannedCommand, StoppedJob, Tool, WrittenAnswer,
};
use agent_bash::tools::{FinishedCall, clean};
use agent_bash::{Approver, Conversation, mask_job_output, run_blocking};
use serde_json::Value;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;

/// Serves the adapter calls of one client. The registry of running calls ends with the client.
#[derive(Debug, Clone)]
pub struct ClientAdapters {
    conversation: Arc<Conversation>,
    running: Arc<RunningCalls>,
    clock: Arc<dyn Clock>,
    /// The model's other tools, as in [`agent_bash::CallOptions::tools`].
    tools: Option<Vec<String>>,
    /// The largest text that the client passes on, as in [`agent_bash::CallOptions::window`].
    window: Option<Window>,
    /// The approver that replaces the approver of the conversation's tool.
    approver: Option<Approvals>,
}

/// An approver, with a `Debug` implementation.
#[derive(Clone)]
struct Approvals(Arc<dyn Approver>);

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Approvals")
    }
}

/// The outcome of a valid call: owns the values of the corresponding [`CallOutcome`].
enum Outcome {
    Ran(Vec<FinishedRun>),
    Restarted,
    Chunk(Box<OutputChunk>),
    Stopped(Box<StoppedJob>),
}

impl ClientAdapters {
    /// Serves calls of `conversation`. The registry `running` holds the commands that outlive their
    /// answer; cancelling the registry ends them.
    pub fn new(
        conversation: Arc<Conversation>,
        running: Arc<RunningCalls>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            conversation,
            running,
            clock,
            tools: None,
            window: None,
            approver: None,
        }
    }

    /// Sets the approver that replaces the approver of the conversation's tool.
    #[must_use]
    pub fn with_approver(self, approver: Arc<dyn Approver>) -> Self {
        let approver = Some(Approvals(approver));
        Self { approver, ..self }
    }

    /// Sets the names of the model's other tools, which override the names from the host.
    #[must_use]
    pub fn with_tools(self, tools: Option<Vec<String>>) -> Self {
        Self { tools, ..self }
    }

    /// Sets the largest answer that the client passes on, not counting the text around the output.
    #[must_use]
    pub fn with_client_limit(self, window: Option<Window>) -> Self {
        Self { window, ..self }
    }

    /// Serves one call. Never fails: errors are answers, too.
    pub async fn call(
        &self,
        adapter: &'static Adapter,
        tool: &str,
        input: &Value,
        cancel: &Cancel,
    ) -> AdapterCallData {
        let tool = match adapter.tool(tool) {
            Ok(tool) => tool,
            Err(error) => return answer(WrittenAnswer::error(error), None),
        };
        let fields = match CallFields::read(tool.fields, tool.ignores_unknown_fields, input) {
            Ok(fields) => fields.with_client_limit(self.window),
            Err(error) => {
                let fields = CallFields::default();
                return answer(
                    (tool.layout)(&fields, &CallOutcome::WrongFields(&error)),
                    None,
                );
            }
        };
        let mut answer = match self.serve(adapter, tool, &fields, cancel).await {
            Ok(outcome) => written(tool, &fields, &outcome),
            Err(error) => answer((tool.layout)(&fields, &CallOutcome::Invalid(&error)), None),
        };
        if let Some(notice) = fields.notice() {
            if !answer.content.ends_with('\n') {
                answer.content.push('\n');
            }
            answer.content.push_str(&notice);
        }
        answer
    }

    /// Plans the call and carries out the plan. The error is for the model.
    async fn serve(
        &self,
        adapter: &'static Adapter,
        tool: &Tool,
        fields: &CallFields,
        cancel: &Cancel,
    ) -> Result<Outcome, String> {
        match (tool.plan)(fields)? {
            AdapterPlan::Run(commands) => {
                let ran = self.run_in_order(adapter, commands, cancel).await?;
                Ok(Outcome::Ran(ran))
            }
            AdapterPlan::Restart(name) => {
                self.conversation.reset_shell(&name);
                Ok(Outcome::Restarted)
            }
            AdapterPlan::Yield(planned, longest_wait) => {
                let chunk = self.begin(adapter, *planned, longest_wait, cancel).await?;
                Ok(Outcome::Chunk(Box::new(chunk)))
            }
            AdapterPlan::Write(written) => {
                let chunk = self.write_to_running(written, cancel).await?;
                Ok(Outcome::Chunk(Box::new(chunk)))
            }
            AdapterPlan::Stop(job) => {
                let killed = self.stop(&job).await?;
                Ok(Outcome::Stopped(Box::new(killed)))
            }
        }
    }

    /// Runs the commands in order, up to the first one that times out or is cancelled.
    async fn run_in_order(
        &self,
        adapter: &Adapter,
        commands: Vec<PlannedCommand>,
        cancel: &Cancel,
    ) -> Result<Vec<FinishedRun>, String> {
        let mut all = Vec::new();
        // The commands share one answer.
        let share = commands.len().max(1);
        let window = self.window.map(|window| Window {
            bytes: window.bytes / share,
            lines: window.lines / share,
        });
        for planned in commands {
            let linger = planned.linger;
            let call = self.start(adapter, planned, window)?;
            let mut ran = self.wait_for_end(&call, cancel).await?;
            let status = &ran.finished_call.result.status;
            let is_last = matches!(status, Status::TimedOut { .. } | Status::Cancelled);
            if let (Some(delay), Status::MovedToBackground { job, .. }) = (linger, status) {
                ran.initial = Some(self.first_output(job, delay, cancel).await);
            }
            all.push(ran);
            if is_last {
                break;
            }
        }
        Ok(all)
    }

    /// Starts a command, and returns its output when the command has ended or `longest_wait` has
    /// passed. Cancelling ends the command.
    async fn begin(
        &self,
        adapter: &Adapter,
        planned: PlannedCommand,
        longest_wait: Duration,
        cancel: &Cancel,
    ) -> Result<OutputChunk, String> {
        let begun = self.clock.now();
        let call = self.start(adapter, planned, self.window)?;
        let finished_call = match call.wait(&*self.clock, Some(longest_wait), cancel).await {
            WaitOutcome::Ended(finished_call) => Some(finished_call.ok_or(LOST_CALL)?),
            WaitOutcome::StillRunning => None,
            WaitOutcome::Cancelled => {
                call.cancel.cancel();
                Some(call.ended().await.ok_or(LOST_CALL)?)
            }
        };
        let session = finished_call
            .is_none()
            .then(|| self.running.assign_handle(&call));
        Ok(self.chunk(&call, session, finished_call, begun))
    }

    /// Writes to a running command, and returns its output as [`Self::begin`] does. Cancelling ends
    /// the wait, not the command.
    async fn write_to_running(
        &self,
        written: CommandInput,
        cancel: &Cancel,
    ) -> Result<OutputChunk, String> {
        let CommandInput {
            session,
            chars,
            wait,
        } = written;
        let begun = self.clock.now();
        let call = self.running.find(session);
        let call = call.ok_or_else(|| format!("Unknown process id {session}"))?;
        if chars == CTRL_C && !call.is_on_terminal() {
            call.cancel.cancel();
        } else if !chars.is_empty() && call.finished_call().is_none() {
            if call.is_on_terminal() {
                // A command that has just been started has no terminal yet.
                tokio::select! {
                    biased;
                    _ = opened_terminal(&call, &*self.clock) => {}
                    _ = call.ended() => {}
                    () = cancel.cancelled() => {}
                }
            }
            call.write(chars.as_bytes()).map_err(|error| match error {
                WriteError::NoInput => STDIN_CLOSED.to_owned(),
                error => format!("failed to write to stdin: {error}"),
            })?;
        }
        let finished_call = match call.wait(&*self.clock, Some(wait), cancel).await {
            WaitOutcome::Ended(finished_call) => Some(finished_call.ok_or(LOST_CALL)?),
            WaitOutcome::StillRunning | WaitOutcome::Cancelled => None,
        };
        if finished_call.is_some() {
            self.running.forget(session);
        }
        let session = finished_call.is_none().then_some(session);
        Ok(self.chunk(&call, session, finished_call, begun))
    }

    /// Returns the output since the last answer. `begun` is the time at which this call began.
    fn chunk(
        &self,
        call: &RunningCall,
        session: Option<u64>,
        finished_call: Option<Arc<FinishedCall>>,
        begun: Duration,
    ) -> OutputChunk {
        let waited = self.clock.now().saturating_sub(begun);
        // A random id. It need be neither secret nor unique.
        let id = RandomState::new().hash_one(begun) & 0xff_ffff;
        OutputChunk {
            id: format!("{id:06x}"),
            waited,
            session,
            part: call.read(None),
            finished_call,
            is_on_terminal: call.is_on_terminal(),
            keep: call.keep.clone(),
        }
    }

    /// Ends a background job.
    async fn stop(&self, job: &JobId) -> Result<StoppedJob, String> {
        let error_text = |error| match error {
            JobError::Unknown { id } => format!("there is no task with the id {id}"),
            error => error.to_string(),
        };
        let jobs = self.conversation.jobs().ok_or(NO_JOBS)?;
        if let JobState::Ended(_) = jobs.show(job).map_err(error_text)?.state {
            return Err(format!("task {job} is not running: it has ended"));
        }
        let grace = self.conversation.tool().profile().grace;
        let killed = jobs.kill(job, grace).await.map_err(error_text)?;
        Ok(StoppedJob {
            id: killed.job.id,
            command: killed.job.command,
            survivors: killed.survivors,
        })
    }

    /// Returns the output of a job during `delay`.
    async fn first_output(&self, job: &JobId, delay: Duration, cancel: &Cancel) -> String {
        let Some(jobs) = self.conversation.jobs() else {
            return String::new();
        };
        // The job's end also ends the wait.
        let waited = jobs.wait(job, Some(delay), cancel).await;
        if let Err(error) = waited {
            tracing::debug!(%error, %job, "a job that was started is not found");
        }
        let (jobs, job) = (Arc::clone(jobs), job.clone());
        let read = run_blocking(move || {
            let range = OutputRange::From {
                offset: 0,
                max_bytes: MAX_FIRST_OUTPUT_BYTES,
            };
            jobs.output(&job, range)
        });
        match read.await {
            Ok(Ok(mut part)) => {
                let mask = self.conversation.tool().output_mask();
                mask_job_output(mask.map(|mask| &**mask), &mut part);
                clean(&part.bytes)
            }
            _ => String::new(),
        }
    }

    /// Starts a command with the adapter's limits. `window` limits the text of its answer.
    fn start(
        &self,
        adapter: &Adapter,
        planned: PlannedCommand,
        window: Option<Window>,
    ) -> Result<Arc<RunningCall>, String> {
        let tool = self.conversation.tool();
        let mut profile = adapter.limits.profile(tool.profile());
        if let Some(bytes) = planned.window {
            profile.output.truncation = Truncation::Tail { bytes };
        }
        let mut request = planned.request;
        if planned.uses_max_timeout {
            request.timeout = Some(profile.timeouts.max);
        }
        let terminal = match planned.terminal {
            None => None,
            Some((cols, rows)) => {
                let size = PtySize::clamped(cols, rows);
                let options = self.conversation.terminals().ok_or(NO_TERMINALS)?.clone();
                Some(PtyOptions { size, ..options })
            }
        };
        let options = StartOptions {
            escalation: planned.escalation,
            terminal,
            tools: self.tools.clone(),
            window,
            ..StartOptions::default()
        };
        let mut tool = tool.with_profile(profile);
        if let Some(Approvals(approver)) = &self.approver {
            tool = tool.with_approver(Arc::clone(approver));
        }
        let call = self.running.start(&tool, request, options);
        call.map_err(|error| error.to_string())
    }

    /// Waits for the command's end. Cancelling ends the command.
    async fn wait_for_end(
        &self,
        call: &RunningCall,
        cancel: &Cancel,
    ) -> Result<FinishedRun, String> {
        let finished_call = match call.wait(&*self.clock, None, cancel).await {
            WaitOutcome::Ended(finished_call) => finished_call,
            WaitOutcome::StillRunning | WaitOutcome::Cancelled => {
                call.cancel.cancel();
                call.ended().await
            }
        };
        Ok(FinishedRun {
            finished_call: finished_call.ok_or(LOST_CALL)?,
            group: call.process().map(|(_, group)| group),
            part: Arc::new(call.read(None)),
            initial: None,
        })
    }
}

const NO_JOBS: &str =
    "this host has no directory for background jobs: set HOME or AGENT_BASH_STATE_DIR";

const NO_TERMINALS: &str = "this host provides no terminals; run the command without `tty`";

/// The message of Codex for a command without an open stdin.
const STDIN_CLOSED: &str =
    "stdin is closed for this session; rerun exec_command with tty=true to keep stdin open";

/// Ctrl-C, which a terminal turns into SIGINT. A command without a terminal is cancelled instead.
const CTRL_C: &str = "\u{3}";

/// Maximum bytes of a background command's first output in its answer.
const MAX_FIRST_OUTPUT_BYTES: usize = 16 * 1024;

/// Writes the answer to a call with this outcome.
fn written(tool: &Tool, fields: &CallFields, outcome: &Outcome) -> AdapterCallData {
    let (done, result) = match outcome {
        Outcome::Ran(ran) => {
            let last = ran.last().map(|ran| ran.finished_call.result.clone());
            (CallOutcome::Ran(ran), last)
        }
        Outcome::Restarted => (CallOutcome::Restarted, None),
        Outcome::Chunk(chunk) => {
            let finished_call = chunk.finished_call.as_ref();
            let result = finished_call.map(|finished_call| finished_call.result.clone());
            (CallOutcome::Chunk(chunk), result)
        }
        Outcome::Stopped(killed) => (CallOutcome::Stopped(killed), None),
    };
    answer((tool.layout)(fields, &done), result)
}

/// Returns a written answer together with the regular result.
fn answer(written: WrittenAnswer, result: Option<ToolResult>) -> AdapterCallData {
    AdapterCallData {
        content: written.content,
        is_error: written.is_error,
        structured: written.structured,
        result,
    }
}
