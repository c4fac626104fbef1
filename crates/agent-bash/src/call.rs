//! A call in progress: the caller's options, the findings and decisions of the stages, and the
//! result. Like [`crate::tool_context`], this module depends on none of the stages.

use crate::approval::Proposal;
use crate::journal::RequestDetails;
use agent_bash_core::sandbox::SandboxRequest;
use agent_bash_core::{
    Definitions, Executor, Invocation, Notice, Outcome, OutputConsumer, OutputLimits, Request,
    StdinSource, ToolResult, Window,
};
use agent_bash_exec::Job;
use agent_bash_journal::PrintedOutputCollector;
use agent_bash_policy::{Predefined, Verdict};
use agent_bash_process::environment::PromptAnswers;
use agent_bash_sink::CallOutput;
use agent_bash_state::panics::WorkPanicked;
use agent_bash_state::{CallChanges, CallSandbox};
use agent_bash_tools::KeepOutput;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The options of a call in addition to its JSON.
#[derive(Default)]
pub struct CallOptions<'a> {
    /// Receives the raw output as it arrives, before truncation. The consumer is called
    /// synchronously, so a slow consumer slows down the command. After the consumer returns
    /// [`agent_bash_core::ConsumerFlow::Stop`], it is not called again, and the command continues.
    pub live: Option<&'a mut dyn OutputConsumer>,
    /// The command's stdin.
    pub stdin: StdinSource,
    /// The executor that runs the command on its own terminal, whether or not the tool offers
    /// terminals to its calls. The terminal is the command's input, and needs no viewer.
    pub terminal: Option<Arc<dyn Executor>>,
    /// True if a user sits at the terminal and can end the command there. The command then has no
    /// time limit unless the request names a limit: an editor must not close while the user writes.
    pub is_attended: bool,
    /// True if the call has no default time limit, because the user watches the call and can end
    /// it.
    pub unlimited: bool,
    /// Functions, aliases and options for the call's shell, instead of those of the user's
    /// configuration. Ignored in safe mode and for a persistent shell.
    pub definitions: Option<Arc<Definitions>>,
    /// The reason for running without a sandbox, if the call asks for that. In this case,
    /// [`Approver::escalate`](crate::Approver::escalate) is called instead of
    /// [`Approver::approve`](crate::Approver::approve).
    pub escalation: Option<String>,
    /// A flag that a watcher sets to store the full output even if the result shows all of it.
    pub keep: Option<KeepOutput>,
    /// The names of the model's other tools, which override
    /// [`HostContext::tools`](crate::HostContext::tools) for this call.
    pub tools: Option<Vec<String>>,
    /// The largest text that the client passes on to the model, if that may be less than the
    /// profile shows. The limit holds for the complete text, including the lines around the output.
    pub window: Option<Window>,
    /// The command line that runs instead of the request's command, which only describes it. The
    /// captured output goes to `live`, not into the result.
    pub invocation: Option<Arc<Invocation>>,
}

impl fmt::Debug for CallOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("stdin", &self.stdin)
            .field("escalation", &self.escalation)
            .field("invocation", &self.invocation)
            .finish_non_exhaustive()
    }
}

/// The state of a call, from its beginning to its result.
pub(crate) struct Call {
    /// The original script; empty if the request was invalid.
    pub(crate) command: String,
    /// The call's working directory; absolute.
    pub(crate) cwd: PathBuf,
    /// The model's other tools, if the call names them.
    pub(crate) tools: Option<Vec<String>>,
    /// Notices from the stages.
    pub(crate) notices: Vec<Notice>,
    /// True if the call passed all checks.
    pub(crate) allowed: bool,
    /// The rule that refuses the command, if the user allowed the command.
    pub(crate) overridden_rule: Option<String>,
    /// True once parts of the script may have run.
    pub(crate) started: bool,
    /// The sandbox that the call requests instead of the sandbox of the settings.
    pub(crate) sandbox: Option<SandboxRequest>,
    /// The largest text that the client passes on.
    pub(crate) window: Option<Window>,
    /// How much of the output is shown.
    pub(crate) limits: OutputLimits,
    /// Further recorded fields of the request.
    pub(crate) details: RequestDetails,
    /// Collects the output for the journal.
    pub(crate) printed: Option<PrintedOutputCollector>,
    /// The command line that runs instead of the command.
    pub(crate) invocation: Option<Arc<Invocation>>,
    /// The functions and aliases that the call's shell has, for the rules.
    pub(crate) predefined: Arc<Predefined>,
    /// The user's answers to password prompts, if the user can answer those of this call.
    pub(crate) answers: Option<PromptAnswers>,
}

impl Call {
    /// Returns a call without a command and findings, in the tool's directory.
    pub(crate) fn new(cwd: PathBuf, limits: OutputLimits) -> Self {
        Self {
            command: String::new(),
            cwd,
            tools: None,
            notices: Vec::new(),
            allowed: false,
            overridden_rule: None,
            started: false,
            sandbox: None,
            window: None,
            limits,
            details: RequestDetails::default(),
            printed: None,
            invocation: None,
            predefined: Arc::default(),
            answers: None,
        }
    }

    pub(crate) fn proposal<'a>(
        &'a self,
        request: &'a Request,
        verdict: &'a Verdict,
    ) -> Proposal<'a> {
        Proposal {
            command: &request.command,
            cwd: &self.cwd,
            request,
            verdict,
        }
    }
}

/// How a started call ended.
pub(crate) enum StartedCallEnd {
    /// The call has ended.
    Ran(Box<FinishedRun>),
    /// The call continues in the background.
    Detached(Box<DetachedCall>),
    /// The call ran, or continues, on a remote host.
    Remote(Box<ToolResult>),
    /// The call's outcome is unknown, because of a panic.
    Lost(WorkPanicked),
}

/// A call that continues as a job.
pub(crate) struct DetachedCall {
    pub(crate) job: Job,
    /// The sandbox, or the approval to run without one.
    pub(crate) sandbox: Option<CallSandbox>,
    /// The record of changes.
    pub(crate) changed: CallChanges,
}

/// A call that was started and has ended.
pub(crate) struct FinishedRun {
    /// The outcome that the executor observed.
    pub(crate) outcome: Outcome,
    /// The command's output.
    pub(crate) output: CallOutput,
    /// True if filters were lifted from the command's end, and exit code 1 of the rest is a result,
    /// not a failure.
    pub(crate) exit_1_is_ok: bool,
    /// For each stage of the pipeline at the script's end, whether exit code 1 is a result; `None`
    /// if the script does not end with a pipeline.
    pub(crate) last_pipeline: Option<Vec<bool>>,
    /// The sandbox, or the approval to run without one.
    pub(crate) sandbox: Option<CallSandbox>,
    /// The record of changes.
    pub(crate) changed: CallChanges,
}
