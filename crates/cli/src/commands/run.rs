//! `agent-bash run`: one call through the pipeline.

use crate::args::{ChosenSettings, RunArgs, StdinArg};
use crate::commands::{encryption, on_terminal, script, session, target};
use crate::output::{self, LiveOutput};
use crate::process_start::StartContext;
use crate::runtime::{self, OneCallRuntime};
use crate::signals::CancelSignals;
use crate::status_line::StatusLine;
use crate::usage::UsageError;
use agent_bash::core::changes::TrialRequest;
use agent_bash::core::sandbox::{Network, SandboxLevel};
use agent_bash::core::{
    Clock, Mode, OutputConsumer, Request, ShownPart, Status, StdinMode, StdinSource, ToolResult,
    timed_out_text,
};
use agent_bash::policy::InterceptMode;
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::session::{Conversation, ConversationOptions, may_start_ahead};
use agent_bash::settings::Settings;
use agent_bash::sink::Lifetime;
use agent_bash::{BashToolBuilder, CallOptions, Input, allow_line};
use agent_bash_tui::Terminals;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The exit code that shells report for a program killed by SIGPIPE (signal 13).
const BROKEN_PIPE_EXIT_CODE: u8 = 141;

/// Runs the call, prints its result, and returns its exit code (docs/contract.md).
pub(crate) fn run(args: &RunArgs, start: &StartContext) -> anyhow::Result<u8> {
    let supervisor = Supervisor::this_program(&start.token);
    let code = run_supervised(args, start, &supervisor);
    // A supervisor that was started ahead, and not used, may still run.
    supervisor.all_reaped(runtime::REAP_TIMEOUT);
    code
}

/// Makes the call with the supervisor, and prints its result.
fn run_supervised(
    args: &RunArgs,
    start: &StartContext,
    supervisor: &Supervisor,
) -> anyhow::Result<u8> {
    let input = input(args)?.parsed();
    refuse_trial_on_terminal(args, &input)?;
    let settings = settings(args, start)?;
    warn_of_job_without_proxy(&input, &settings);
    let starts_ahead = args.on.is_none() && may_start_ahead(&input, &settings, &start.host);
    if starts_ahead {
        // The supervisor is started before this process has threads and signal handlers.
        supervisor.start_ahead(&start.host.env);
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let (result, code) = if args.pty || args.on.is_some() || io::stderr().is_terminal() {
        // Drawing may block, because terminal output may be stopped; timers and signals then need
        // another worker.
        let runtime = runtime::start(Some(2))?;
        let ran = runtime.block_on(async {
            let expected = starts_ahead.then_some(&input);
            let prepared = match &args.on {
                Some(name) => prepare_on(name, args, &settings, start, supervisor, &clock).await?,
                None => prepare(args, settings, expected, start, supervisor, &clock)?,
            };
            call(prepared, args, input, start).await
        });
        runtime.shutdown_background();
        ran?
    } else {
        let runtime = OneCallRuntime::new()?;
        let prepared = {
            let _in_runtime = runtime.enter();
            let expected = starts_ahead.then_some(&input);
            prepare(args, settings, expected, start, supervisor, &clock)?
        };
        runtime.block_on(call(prepared, args, input, start))??
    };
    // A command may itself exit with this code; only a cancelled call means that stdout has no
    // reader.
    let is_unread = code == BROKEN_PIPE_EXIT_CODE && matches!(result.status, Status::Cancelled);
    if !is_unread {
        print(args, &result)?;
    }
    Ok(code)
}

/// Refuses `--network` and `--writable` at sandbox levels that ignore them, because the user relies
/// on their effect.
fn refuse_ineffective_options(args: &RunArgs, settings: &Settings) -> Result<(), UsageError> {
    let level = settings.sandbox_in_force().level;
    let option = if args.network.is_some() && level == SandboxLevel::Off {
        "--network"
    } else if !args.writable.is_empty() && level != SandboxLevel::WorkspaceWrite {
        "--writable"
    } else {
        return Ok(());
    };
    Err(UsageError(format!(
        "{option} has no effect with the sandbox `{level}`; add --sandbox workspace_write"
    )))
}

/// Refuses a trial on a terminal: the combination is not possible, and the user relies on both.
fn refuse_trial_on_terminal(args: &RunArgs, input: &Input) -> Result<(), UsageError> {
    let is_trial = matches!(input, Input::Parsed(parsed) if parsed.request.trial.is_some());
    if !(args.pty && is_trial) {
        return Ok(());
    }
    let why = "a trial is not possible on a terminal, which shows what it does; leave out --pty or the trial";
    Err(UsageError(why.to_owned()))
}

/// Tells the user that a background job outlives the proxy for its list of hosts.
fn warn_of_job_without_proxy(input: &Input, settings: &Settings) {
    let is_job =
        matches!(input, Input::Parsed(parsed) if parsed.request.mode == Some(Mode::Background));
    let sandbox = settings.sandbox_in_force();
    if is_job && sandbox.level != SandboxLevel::Off && sandbox.network == Network::Hosts {
        output::say(
            "agent-bash: the job reaches no host: the proxy for the list of `sandbox.network` ends with this program",
        );
    }
}

/// A call that can be started.
struct PreparedCall {
    signals: CancelSignals,
    session: Conversation,
    /// Present if the call gets its own terminal.
    terminals: Option<Terminals>,
    /// True if the call's shell may be started before the call.
    is_expected: bool,
    clock: Arc<dyn Clock>,
}

/// Returns the user's settings, overridden by the command line.
fn settings(args: &RunArgs, start: &StartContext) -> anyhow::Result<Settings> {
    let chosen = ChosenSettings {
        profile: args.profile,
        safe_mode: args.safe_mode,
        tools: args.tools.as_deref(),
        sandbox: args.sandbox,
        network: args.network.as_deref(),
    };
    let mut settings = start.settings(&chosen)?.settings;
    if let Some(level) = args.changes {
        settings.changes.level = Some(level.into());
    }
    let writable = args.writable.iter().map(|dir| start.cwd(Some(dir)));
    settings.sandbox.writable.extend(writable);
    // `--cwd` selects the workspace; the request's directory is the model's choice.
    settings.sandbox.directory = args.cwd.as_deref().map(|dir| start.cwd(Some(dir)));
    refuse_ineffective_options(args, &settings)?;
    Ok(settings)
}

/// Opens the session before the call. Starts the shell of an `expected` call in advance.
fn prepare(
    args: &RunArgs,
    mut settings: Settings,
    expected: Option<&Input>,
    start: &StartContext,
    supervisor: &Supervisor,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<PreparedCall> {
    let signals = CancelSignals::listen().context("cannot listen for signals")?;
    if args.tools.is_some() && settings.interceptor == InterceptMode::Off {
        output::say(
            "agent-bash: --tools changes nothing while the interceptor is off: set interceptor.mode, \
             or AGENT_BASH_INTERCEPTOR_MODE, to block or advise",
        );
    }
    encryption::warn(&settings);
    let terminals = if args.pty {
        on_terminal::prepare(args, start, clock)?
    } else {
        None
    };
    settings.virtual_terminal |= terminals.is_some();
    let executor = terminals.as_ref().map(Terminals::executor);
    let offered = |builder: BashToolBuilder| match executor {
        Some(executor) => builder.terminal(executor),
        None => builder,
    };
    let (state, lifetime) = (&args.state, Lifetime::Day);
    let session = session::open_with(&settings, start, supervisor, state, lifetime, offered)?;
    let expected = expected.filter(|_| args.stdin != Some(StdinArg::Inherit));
    if let Some(call) = expected {
        session.announce(call);
    }
    Ok(PreparedCall {
        signals,
        session,
        terminals,
        is_expected: expected.is_some(),
        clock: Arc::clone(clock),
    })
}

/// Prepares a call on the target of that name.
async fn prepare_on(
    name: &str,
    args: &RunArgs,
    settings: &Settings,
    start: &StartContext,
    supervisor: &Supervisor,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<PreparedCall> {
    let signals = CancelSignals::listen().context("cannot listen for signals")?;
    let options = ConversationOptions::one_shot(&args.state, supervisor.clone());
    let cwd = cwd(args)?;
    let session = target::open(name, cwd, settings, start, options, |builder| builder);
    let session = tokio::select! {
        biased;
        session = session => session?,
        () = signals.cancel().cancelled() => bail!("cancelled before the target was reached"),
    };
    Ok(PreparedCall {
        signals,
        session,
        terminals: None,
        is_expected: false,
        clock: Arc::clone(clock),
    })
}

/// Makes the call. Returns its result and the exit code of this process.
async fn call(
    prepared: PreparedCall,
    args: &RunArgs,
    input: Input,
    start: &StartContext,
) -> anyhow::Result<(ToolResult, u8)> {
    let PreparedCall {
        signals,
        session,
        terminals,
        is_expected,
        clock,
    } = prepared;
    if let Some(terminals) = terminals {
        let cancel = signals.cancel();
        let result =
            on_terminal::run(session.tool(), input, terminals, start, &clock, cancel).await?;
        let code = signals
            .exit_code()
            .filter(|_| result.status == Status::Cancelled);
        let code = code.unwrap_or_else(|| result.status.exit_code());
        return Ok((result, code));
    }
    if is_expected {
        session.announce_sandboxed(&input).await;
    }
    let mut live_output = LiveOutput::new(args.json, signals.cancel().clone());
    let mut progress = None;
    let live: Option<&mut dyn OutputConsumer> = if args.stream {
        Some(&mut live_output)
    } else {
        progress = StatusLine::start(&start.host, clock);
        progress.as_mut().map(|progress| progress as _)
    };
    let options = CallOptions {
        live,
        stdin: match args.stdin {
            Some(StdinArg::Inherit) => StdinSource::Inherit,
            Some(StdinArg::Pipe) | None => StdinSource::Null,
        },
        ..CallOptions::default()
    };
    let tool = session.tool();
    let result = tool.execute_with(input, options, signals.cancel()).await;
    drop(progress);
    if let Some(remote) = session.remote_host() {
        remote.close().await;
    }
    if let Some(error) = live_output.write_error {
        return Err(error.into());
    }
    let code = match (&result.status, signals.exit_code()) {
        (Status::Cancelled, Some(code)) => code,
        (Status::Cancelled, None) if live_output.lost_reader => BROKEN_PIPE_EXIT_CODE,
        (status, _) => status.exit_code(),
    };
    Ok((result, code))
}

/// Returns the directory of `--cwd`.
fn cwd(args: &RunArgs) -> Result<Option<&str>, UsageError> {
    let not_utf8 = |dir: &PathBuf| UsageError(format!("--cwd {} is not UTF-8", dir.display()));
    let dir = args.cwd.as_ref();
    dir.map(|dir| dir.to_str().ok_or_else(|| not_utf8(dir)))
        .transpose()
}

/// Returns the call that the command line describes.
fn input(args: &RunArgs) -> anyhow::Result<Input> {
    if args.request {
        let text = script::stdin_text("the request")?;
        let value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| UsageError(format!("the request on stdin is not JSON: {error}")))?;
        return Ok(Input::Json(value));
    }
    let cwd = cwd(args)?.map(|cwd| match &args.on {
        // The session on the target begins in that directory.
        Some(_) if !cwd.starts_with(['/', '~']) => ".".to_owned(),
        _ => cwd.to_owned(),
    });
    let env = args.env.iter();
    let env = env.map(|(name, value)| (name.clone(), Some(value.clone())));
    Ok(Input::Request(
        Request::new(script::script(&args.script)?)
            .mode(args.mode.map(Mode::from))
            .timeout(args.timeout)
            .trial(args.trial.map(TrialRequest::from))
            .cwd(cwd)
            .head(args.head)
            .tail(args.tail)
            .wait(args.wait.then_some(true))
            .show(args.show.map(ShownPart::from))
            .show_kb(args.show_kb)
            .env(env.collect::<BTreeMap<_, _>>())
            .stdin(match args.stdin {
                Some(StdinArg::Pipe) => StdinMode::Pipe,
                Some(StdinArg::Inherit) | None => StdinMode::Null,
            }),
    ))
}

/// Prints the result as the options ask: as JSON, or as the text for a model.
fn print(args: &RunArgs, result: &ToolResult) -> anyhow::Result<()> {
    if args.json {
        return output::print(&format!("{}\n", serde_json::to_string(result)?));
    }
    let started = !matches!(
        result.status,
        Status::NotStarted { .. } | Status::Blocked { .. }
    );
    if args.stream && started {
        // The output has already been streamed; print only the outcome.
        if let Some(line) = outcome_text(&result.status) {
            output::say(&format!("[{line}]"));
        }
        for notice in result.notices.iter().filter(|n| n.kind.is_for_model()) {
            output::say(&format!("[{}]", notice.text));
        }
        return Ok(());
    }
    output::print(&result.text)?;
    // A program that reads the output is not the user. The text on stdout is fixed.
    let code = result.exception_code.as_deref();
    if let Some(code) = code.filter(|_| io::stderr().is_terminal()) {
        output::say(&format!("[{}]", allow_line(code)));
    }
    Ok(())
}

/// Returns the outcome for a user who has already seen the output; `None` for exit code 0, or if
/// nothing was started.
fn outcome_text(status: &Status) -> Option<String> {
    match status {
        Status::Exited { code } if *code != 0 => Some(format!("exited with code {code}")),
        Status::Signaled { signal, .. } => Some(format!("terminated by {signal}")),
        Status::TimedOut { after_ms } => Some(timed_out_text(Duration::from_millis(*after_ms))),
        Status::Cancelled => Some("cancelled".to_owned()),
        Status::Lost { reason, .. } => Some(format!("outcome unknown: {reason}")),
        Status::MovedToBackground {
            job, pid, output, ..
        } => Some(format!("job {job} (pid {pid}), output: {output}")),
        _ => None,
    }
}
