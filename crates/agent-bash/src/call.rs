//! A call in progress: what its caller adds, what the stages find out and decide, and its result.
//! Depends on none of the stages, like [`crate::wiring`].

use crate::changes::CallChanges;
use crate::journal::RequestDetails;
use crate::panics::WorkPanicked;
use crate::refusal::Refusal;
use crate::sandbox::CallSandbox;
use crate::tool_context::Terminal;
use agent_bash_core::changes::Overlay;
use agent_bash_core::sandbox::{Plan, SandboxRequest};
use agent_bash_core::{
    Definitions, Executor, Invocation, Notice, Outcome, OutputConsumer, OutputLimits, StdinSource,
    Streams, ToolResult, Window,
};
use agent_bash_exec::Job;
use agent_bash_journal::PrintedTail;
use agent_bash_policy::Predefined;
use agent_bash_sink::{CallOutput, SinkReport};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The options of a call besides its JSON.
#[derive(Default)]
pub struct CallOptions<'a> {
    /// Receives the raw output as it comes, before truncation. It is called synchronously, so a
    /// slow consumer slows down the command. After [`agent_bash_core::Flow::Stop`] it is not called
    /// again, and the command continues.
    pub live: Option<&'a mut dyn OutputConsumer>,
    /// The command's stdin.
    pub stdin: StdinSource,
    /// Runs the command on its own terminal, whether or not the tool offers terminals to its calls.
    /// The terminal is its input, and needs no viewer.
    pub terminal: Option<Arc<dyn Executor>>,
    /// True if a user sits at the terminal and can end the command there. It then has no time
    /// limit, unless the request names one: an editor is not closed while the user writes.
    pub is_attended: bool,
    /// True for no default time limit: the user watches the call and can end it.
    pub unlimited: bool,
    /// Functions, aliases and options for its shell, in place of those of the user's configuration;
    /// not in safe mode, and not for a persistent shell.
    pub definitions: Option<Arc<Definitions>>,
    /// Asks to run without a sandbox, for this reason:
    /// [`Approver::escalate`](crate::Approver::escalate) is called instead of
    /// [`Approver::approve`](crate::Approver::approve).
    pub escalation: Option<String>,
    /// True to keep the full output even if the result shows all of it.
    pub keep: Option<KeepOutput>,
    /// The model's other tools, for this call; overrides
    /// [`HostContext::tools`](crate::HostContext::tools).
    pub tools: Option<Vec<String>>,
    /// The working directory of the persistent shell that the request names, if the host knows it.
    /// The rules resolve relative paths from this directory, unless the request names one.
    pub stands_in: Option<PathBuf>,
    /// The largest text that the reader passes on, if that may be less than the profile shows. The
    /// whole text fits, including everything around the output.
    pub window: Option<Window>,
    /// Runs this command line, which the request's command describes. Its captured output goes to
    /// `live` alone, and the result has none of it.
    pub invocation: Option<Arc<Invocation>>,
}

/// A flag that may be set while a call runs: a watcher did not show all of the output, so all of it
/// must be kept. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct KeepOutput(Arc<AtomicBool>);

impl KeepOutput {
    /// Sets it.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns true if the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl fmt::Debug for CallOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("live", &self.live.is_some())
            .field("stdin", &self.stdin)
            .field("terminal", &self.terminal.is_some())
            .field("is_attended", &self.is_attended)
            .field("unlimited", &self.unlimited)
            .field("definitions", &self.definitions.is_some())
            .field("escalation", &self.escalation)
            .field("keep", &self.keep)
            .field("tools", &self.tools)
            .field("stands_in", &self.stands_in)
            .field("window", &self.window)
            .field("invocation", &self.invocation)
            .finish()
    }
}

/// The state of a call, however it ends.
pub(crate) struct Call {
    /// The script as given; empty if the request was invalid.
    pub(crate) command: String,
    /// The call's working directory; absolute.
    pub(crate) cwd: PathBuf,
    /// The model's other tools, if the call names them.
    pub(crate) tools: Option<Vec<String>>,
    /// Notices from the stages.
    pub(crate) notices: Vec<Notice>,
    /// True if the call passed all checks.
    pub(crate) allowed: bool,
    /// True once parts of the script may have run.
    pub(crate) started: bool,
    /// The box that it asks for instead of the settings'.
    pub(crate) sandbox: Option<SandboxRequest>,
    /// The largest text that the reader passes on.
    pub(crate) window: Option<Window>,
    /// Further recorded fields of the request.
    pub(crate) details: RequestDetails,
    /// The recorded output.
    pub(crate) printed: Option<PrintedTail>,
    /// The command line that runs in place of the command.
    pub(crate) invocation: Option<Arc<Invocation>>,
    /// The definitions of its shell, for the rules.
    pub(crate) predefined: Arc<Predefined>,
}

/// How a started call ended.
pub(crate) enum StartedCallEnd {
    /// The call has ended.
    Ran(Box<FinishedRun>),
    /// The call continues in the background.
    Detached(Box<DetachedCall>),
    /// The call ran, or continues, on a remote host.
    Elsewhere(Box<ToolResult>),
    /// The call's outcome is unknown, because of a panic.
    Lost(WorkPanicked),
}

/// A call that continues as a job.
pub(crate) struct DetachedCall {
    pub(crate) job: Job,
    /// The box that it is in, or was let out of.
    pub(crate) boxed: Option<CallSandbox>,
    /// The record of changes.
    pub(crate) changed: CallChanges,
}

/// A call that was started and has ended.
pub(crate) struct FinishedRun {
    /// The executor's observation.
    pub(crate) outcome: Outcome,
    /// The command's output.
    pub(crate) output: CallOutput,
    /// Filters were lifted from its end, and exit code 1 of what ran is a result, not a failure.
    pub(crate) exit_1_is_ok: bool,
    /// For each stage of the pipeline at the script's end, whether exit code 1 is a result; `None`
    /// if it does not end with one.
    pub(crate) last_pipeline: Option<Vec<bool>>,
    /// The box that it ran in, or was let out of.
    pub(crate) boxed: Option<CallSandbox>,
    /// The record of changes.
    pub(crate) changed: CallChanges,
}

/// The decisions of earlier stages, besides the request.
pub(crate) struct StageDecisions<'a> {
    /// Run in a subshell: in a persistent shell, a stage lifted out of a pipeline must not change
    /// the shell.
    pub(crate) subshell: bool,
    /// Ask for the exit status of each stage of the last pipeline.
    pub(crate) report_stages: bool,
    /// `None` means no limit.
    pub(crate) limit: Option<Duration>,
    pub(crate) streams: Streams,
    pub(crate) stdin: StdinSource,
    /// True in safe mode: no definition may replace a listed command.
    pub(crate) is_safe_mode: bool,
    /// Functions, aliases and options of another shell.
    pub(crate) definitions: Option<Arc<Definitions>>,
    /// The terminal to run on, if any.
    pub(crate) terminal: Option<&'a Terminal>,
    /// The box to run in, if any.
    pub(crate) sandbox: Option<Arc<Plan>>,
    /// The number of the sandbox plan; only waiting shells with the same number may run the call.
    pub(crate) pool: Option<u64>,
    /// The overlay that holds back the call's changes.
    pub(crate) trial: Option<Arc<Overlay>>,
    /// The directory of the change set in which the call's changes are recorded.
    pub(crate) trace: Option<PathBuf>,
    /// True if a call that turns out to be untraced is started again, to be scanned instead.
    pub(crate) needs_trace: bool,
    /// True if the call must not be traced.
    pub(crate) unwatched: bool,
}

/// A finished call as data: its result, and what other texts can be made from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FinishedCall {
    /// The result.
    pub result: ToolResult,
    /// The output: one stream, or stdout and stderr; empty if nothing was started.
    pub printed: Vec<SinkReport>,
    /// The limits in force for what is shown.
    pub limits: OutputLimits,
    /// Why nothing was started, if so.
    pub refusal: Option<Refusal>,
}
