//! A call on its way: what its caller adds, what the stages find out and decide, and what it is when it is over. At the
//! bottom, as [`crate::wiring`] is.

use crate::panics::Panicked;
use crate::refusal::Refusal;
use crate::wiring::Terminal;
use agent_bash_core::{
    Executor, Notice, Outcome, OutputConsumer, OutputLimits, StdinSource, Streams, ToolResult,
    Window,
};
use agent_bash_exec::Job;
use agent_bash_policy::HardenedEnvironment;
use agent_bash_sink::{CallOutput, SinkReport};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a caller adds to a request: things that are no part of its JSON.
#[derive(Default)]
pub struct CallOptions<'a> {
    /// Gets the output as it comes, raw, before anything is cut. It is called on the way of the output, so a slow one
    /// slows the command; after [`agent_bash_core::Flow::Stop`] it is called no more, and the command goes on.
    pub live: Option<&'a mut dyn OutputConsumer>,
    /// What the command reads.
    pub stdin: StdinSource,
    /// Runs the command on a terminal of its own, whether or not the tool offers one to its calls. The terminal is its input;
    /// nobody needs to see it.
    pub terminal: Option<Arc<dyn Executor>>,
    /// The call wants to be free of a sandbox, for the reason given: [`Approver::escalate`] is asked instead of
    /// [`Approver::approve`].
    pub escalation: Option<String>,
    /// Whether its whole output is to be kept, also where the result shows all of it.
    pub keep: Option<Keep>,
    /// The tools that the model has beside this one, for this call, in place of [`HostContext::tools`].
    pub tools: Option<Vec<String>>,
    /// What whoever reads the text takes of one, where that may be less than the profile shows. The text fits it, with
    /// everything that is said beside the output.
    pub window: Option<Window>,
}

/// A word that may be given while a call runs: that not all of its output was shown by whoever watches, so that it is to be
/// kept. Clones are the same word.
#[derive(Debug, Clone, Default)]
pub struct Keep(Arc<AtomicBool>);

impl Keep {
    /// Gives it.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was given.
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
            .field("escalation", &self.escalation)
            .field("keep", &self.keep)
            .field("tools", &self.tools)
            .field("window", &self.window)
            .finish()
    }
}

/// What is known of a call, whatever becomes of it.
pub(crate) struct Call {
    /// The script as it was given; empty where the request was not understood.
    pub(crate) command: String,
    /// Where it runs; absolute.
    pub(crate) cwd: PathBuf,
    /// The model's other tools, where the call names them.
    pub(crate) tools: Option<Vec<String>>,
    /// What the stages noticed.
    pub(crate) notices: Vec<Notice>,
    /// It passed all checks.
    pub(crate) allowed: bool,
    /// From here on something of it may run.
    pub(crate) started: bool,
    /// What its reader takes of a text.
    pub(crate) window: Option<Window>,
}

/// What became of a call that was started.
pub(crate) enum Ended {
    /// It has ended.
    Ran(Box<Ran>),
    /// It goes on without its caller.
    Detached(Job),
    /// Nobody knows how it did.
    Lost(Panicked),
}

/// A call that was started and has ended.
pub(crate) struct Ran {
    /// What the executor observed.
    pub(crate) outcome: Outcome,
    /// What was printed.
    pub(crate) output: CallOutput,
    /// The pipeline that ran, where filters were lifted from its end.
    pub(crate) lifted_from: Option<String>,
    /// The leading words of each stage of the pipeline that the script ends with, if it ends with one.
    pub(crate) last_pipeline: Option<Vec<Vec<String>>>,
}

/// What the stages before have decided, beside the request.
pub(crate) struct Decisions<'a> {
    /// A subshell of its own: the stage of a pipeline that was lifted apart, in a shell that goes on.
    pub(crate) subshell: bool,
    /// Ask for the exit status of each stage of the last pipeline.
    pub(crate) report_stages: bool,
    /// `None`: it may take for ever.
    pub(crate) limit: Option<Duration>,
    pub(crate) streams: Streams,
    pub(crate) stdin: StdinSource,
    /// What safe mode changes of the environment.
    pub(crate) hardened: Option<HardenedEnvironment>,
    /// It runs on one.
    pub(crate) terminal: Option<&'a Terminal>,
}

/// A call that is over, as data: its result, and what a text of another form is made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The result.
    pub result: ToolResult,
    /// What was printed: one stream, or stdout and stderr; nothing where nothing was started.
    pub printed: Vec<SinkReport>,
    /// The limits that were in force for what is shown.
    pub limits: OutputLimits,
    /// Why nothing was started, where nothing was.
    pub refusal: Option<Refusal>,
}
