//! Runs a bang command, which the user typed. It runs like a tool call, but without the checks,
//! without a time limit, and in the user's persistent shell.

use crate::call::Call;
use crate::stage::audit::{self, AuditFacts};
use crate::stage::changes::ChangeRecord;
use crate::stage::holders::FailedCall;
use crate::stage::parsed_script;
use crate::stage::{changes, holders, journal, parse_input, run, shape};
use crate::tool_context::ToolContext;
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::{
    ArtifactEnd, ArtifactMeta, Caller, Cancel, NotStarted, Outcome, OutputConsumer, OutputLimits,
    Request, RequestError, SessionName, Shell, ShellChoice, Status, Streams, ToolResult,
};
use agent_bash_journal::{JournalEntry, PrintedOutputCollector};
use agent_bash_process::resolve_shell;
use agent_bash_sink::{CallOptions, CallOutput, CallReport, CarriageReturn};
use agent_bash_state::CallChanges;
use agent_bash_tools::{BangMessage, output_text, profiles};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The name of the user's shell.
pub const USER_SHELL: &str = "!";

/// The limits of the shown output. They are the same in every profile, because the user ran the
/// command, not the model.
const OUTPUT_LIMITS: OutputLimits = profiles::STANDARD.output;

/// Options of a user's command.
#[derive(Default)]
pub struct BangOptions<'a> {
    /// True for `!!`: the command is hidden from the model.
    pub excluded_from_context: bool,
    /// Receives the raw output as it arrives; see [`crate::CallOptions::live`].
    pub live: Option<&'a mut dyn OutputConsumer>,
    /// Environment variables for this command. The value `None` unsets the variable.
    pub env: BTreeMap<String, Option<String>>,
    /// The time limit; `None` for no limit.
    pub timeout: Option<Duration>,
}

impl std::fmt::Debug for BangOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BangOptions")
            .field("excluded_from_context", &self.excluded_from_context)
            .field("live", &self.live.is_some())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Runs a bang command to its end.
///
/// # Errors
/// The command is empty or contains NUL, or a name in `env` is invalid. No process was started.
pub(super) async fn run(
    tool: &ToolContext,
    command: &str,
    options: BangOptions<'_>,
    cancel: &Cancel,
) -> Result<BangMessage, RequestError> {
    let parsed = parse_input::parse(Request::new(command).env(options.env).into())?;
    let request = parsed
        .request
        .session(tool.sessions.then(|| SessionName(USER_SHELL.to_owned())));
    let mut call = Call {
        command: request.command.clone(),
        notices: parsed.notices,
        printed: journal::printed(tool),
        ..Call::new(tool.host.cwd.clone(), OUTPUT_LIMITS)
    };
    let mut output = output(tool, &call);
    let is_recorded = tool.changes.level() != ChangesLevel::Off;
    let takes_privileges = is_recorded.then(|| parsed_script::privileges_taken_by(tool, &call));
    let untraceable = changes::untraceable_reason(takes_privileges.flatten());
    let executor = run::executor(tool, None);
    let marks = if options.excluded_from_context {
        "!!"
    } else {
        "!"
    };
    let typed = format!("{marks}{command}");
    let changing = changes::begin(
        tool,
        &mut call,
        &request,
        executor,
        untraceable.as_deref(),
        &typed,
    );
    // `begin` only refuses trials, and a bang command is not a trial.
    let mut changing = changing.await.ok().flatten();
    let marked = changing.as_mut().map_or(Ok(()), ChangeRecord::mark);
    let spec = marked.and_then(|()| run::spec(tool, &call, &request, None, false));
    let mut outcome = match spec.and_then(|spec| Ok(spec.shell(shell(tool)?))) {
        Ok(spec) => {
            // No sandbox: it restricts the model, not the user.
            let spec = spec
                .timeout(options.timeout)
                .trace(changing.as_ref().and_then(ChangeRecord::trace))
                .untraced(untraceable.is_some());
            let labels = (&request, &*typed);
            let records = (&mut changing, &mut output);
            let (live, spec) = (options.live, (None, spec));
            changes::run(tool, &mut call, labels, spec, records, live, cancel).await
        }
        Err(error) => Err(error),
    };
    let changed = changes::complete_record(tool, changing, outcome.as_ref().ok()).await;
    if let Ok(outcome) = &mut outcome {
        holders::add_ports(outcome).await;
    }
    let printed = call.printed.take();
    let excluded = options.excluded_from_context;
    let mut message = message(tool, call, output, outcome, changed, excluded);
    if message.status.is_error() {
        let lines: Vec<&str> = message.output.lines().collect();
        let failed = FailedCall::without_sandbox(&message.command, Path::new(&message.cwd));
        let notices = holders::notices(tool, failed, &lines).await;
        message.notices.extend(notices);
    }
    let unrecorded = audit::record(
        tool,
        AuditFacts {
            by: Caller::User,
            command: &message.command,
            sandbox: None,
            allowed: false,
            overridden_rule: None,
            status: &message.status,
            time: message.time,
            duration_ms: message.duration_ms,
        },
    );
    message.notices.extend(unrecorded);
    let unrecorded = journal::record(tool, || entry(tool, &message, printed));
    message.notices.extend(unrecorded);
    Ok(message)
}

/// Returns the journal entry for a bang command.
fn entry(
    tool: &ToolContext,
    message: &BangMessage,
    printed: Option<PrintedOutputCollector>,
) -> JournalEntry {
    let mut result = ToolResult::new(message.status.clone(), &*message.output, message.time);
    result.duration_ms = message.duration_ms;
    result.cwd.clone_from(&message.cwd);
    result.output.clone_from(&message.summary);
    result.survivors.clone_from(&message.survivors);
    result.changes.clone_from(&message.changes);
    result.notices.clone_from(&message.notices);
    result.artifacts.extend(message.artifact.clone());
    let mut entry = JournalEntry::new(Caller::User, tool.profile.name, &*message.command, result);
    entry.excluded_from_context = message.excluded_from_context;
    entry.printed = printed.map(PrintedOutputCollector::finish);
    entry
}

/// Returns the shell for bang commands. A persistent shell must be bash, so bash replaces another
/// shell of the profile.
fn shell(tool: &ToolContext) -> Result<Shell, NotStarted> {
    match &tool.shell {
        Ok(shell) if shell.is_bash || !tool.sessions => Ok(shell.clone()),
        _ => resolve_shell(None, ShellChoice::Bash, &tool.environment.variables),
    }
}

/// Returns the consumer of the output.
fn output(tool: &ToolContext, call: &Call) -> CallOutput {
    let options = CallOptions {
        streams: Streams::Merged,
        limits: OUTPUT_LIMITS,
        head: None,
        tail: None,
        carriage_return: CarriageReturn::Overwrite,
        share_window: true,
    };
    let meta = ArtifactMeta {
        command: (tool.hide)(&call.command).into_owned(),
        cwd: call.cwd.to_string_lossy().into_owned(),
        started_at: tool.clock.wall(),
    };
    CallOutput::new(options, tool.artifacts.clone(), meta).masked(tool.mask.as_deref())
}

/// Returns the record of the finished command.
fn message(
    tool: &ToolContext,
    call: Call,
    output: CallOutput,
    outcome: Result<Outcome, NotStarted>,
    changed: CallChanges,
    excluded_from_context: bool,
) -> BangMessage {
    let (status, duration) = match &outcome {
        Ok(outcome) => (Status::from(&outcome.ending), outcome.duration),
        Err(error) => (Status::from(error), Duration::ZERO),
    };
    let report = output.finish(&ArtifactEnd {
        status: status.clone(),
        duration,
    });
    let cwd_before = call.cwd.to_string_lossy().into_owned();
    let (time, cwd, survivors, mut notices) = match outcome {
        Ok(outcome) => {
            let notices = shape::notices(call.notices, &outcome, &report);
            let cwd = outcome.final_cwd.as_ref().or(outcome.initial_cwd.as_ref());
            let cwd = cwd.map(|cwd| shape::shown(cwd));
            (outcome.started_at, cwd, outcome.survivors, notices)
        }
        Err(_) => (tool.clock.wall(), None, Vec::new(), call.notices),
    };
    notices.extend(changed.notices);
    let CallReport { first, .. } = report;
    let mut message = BangMessage::new(call.command, status, time);
    message.output = output_text(std::slice::from_ref(&first));
    message.truncated = first.summary.truncated;
    message.artifact = first.artifact;
    message.excluded_from_context = excluded_from_context;
    message.summary = first.summary;
    message.duration_ms = shape::to_millis(duration);
    message.cwd = cwd.unwrap_or(cwd_before);
    message.changes = changed.changes;
    message.survivors = survivors;
    message.notices = notices;
    message
}
