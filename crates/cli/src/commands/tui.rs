//! `agent-bash tui`: the interface for people.

use crate::args::TuiArgs;
use crate::commands::serve_session::session_name_for;
use crate::commands::{encryption, session, target};
use crate::process_start::StartContext;
use crate::runtime;
use crate::signals::CancelSignals;
use crate::theme::theme;
use crate::usage::UsageError;
use agent_bash::change_sets::ListedChanges;
use agent_bash::core::Clock;
use agent_bash::core::changes::{Changes, ChangesState};
use agent_bash::exec::Job;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::process::{SystemClock, terminal_columns};
use agent_bash::pty::PtyOptions;
use agent_bash::session::ConversationOptions;
use agent_bash::{BashToolBuilder, Conversation};
use agent_bash_tui::{Approvals, JobsAtExit, Terminals, TuiOptions, named_trial, shortened};
use anyhow::Context;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write as _};
use std::sync::Arc;

/// Maximum columns of a command in the list of jobs.
const MAX_COMMAND_COLUMNS: usize = 60;

/// Runs the interface until the user quits.
pub(crate) fn tui(args: &TuiArgs, start: &StartContext) -> anyhow::Result<u8> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let usage = "tui needs a terminal; `agent-bash run` works without one";
        return Err(UsageError(usage.to_owned()).into());
    }
    if start
        .host
        .env
        .get(OsStr::new("TERM"))
        .is_some_and(|name| name == "dumb")
    {
        let usage = "tui needs a terminal that can move the cursor, but TERM is dumb; `agent-bash run` works on it";
        return Err(UsageError(usage.to_owned()).into());
    }
    let runtime = runtime::start(None)?;
    let supervisor = Supervisor::this_program(&start.token);
    let code = runtime.block_on(interface(args, start, supervisor.clone()));
    runtime::end(runtime, &supervisor);
    code
}

async fn interface(
    args: &TuiArgs,
    start: &StartContext,
    supervisor: Supervisor,
) -> anyhow::Result<u8> {
    let signals = CancelSignals::listen().context("cannot listen for signals")?;
    let listens = signals.listen_for_quit();
    listens.context("cannot listen for signals")?;
    let serving = &args.serving;
    let mut settings = start.settings(&serving.chosen())?.settings;
    let on_terminal = args.pty || settings.virtual_terminal;
    // The tool offers terminals; each call decides whether it uses one.
    settings.virtual_terminal = true;
    let (name, _claim) = session_name_for(serving.state.as_deref(), "tui", start);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let terminals = PtyOptions::new(
        supervisor.clone(),
        Arc::clone(&clock),
        start.host.temp_dir(),
    );
    let terminals = Terminals::new(terminals.with_jobs(session::jobs(start, &name)));
    let executor = terminals.executor();
    let history = settings.history(&start.host);
    let approvals = Approvals::new();
    let approver = approvals.approver();
    let options = ConversationOptions::long_lived(name.clone(), supervisor);
    let session = if let Some(on) = &serving.on {
        // Calls on a target get no terminals.
        let with_approver = |builder: BashToolBuilder| builder.approver(approver);
        target::open(on, None, &settings, start, options, with_approver).await?
    } else {
        encryption::warn(&settings);
        Conversation::open_with(&settings, start.host.clone(), options, |builder| {
            builder.terminal(executor).approver(approver)
        })?
    };
    let session = Arc::new(session);
    let offers_terminal = session.tool().offers_terminal();
    let ran = agent_bash_tui::run(TuiOptions {
        session: Arc::clone(&session),
        clock,
        theme: theme(args.theme, &start.host),
        terminals: offers_terminal.then_some(terminals),
        approvals: Some(approvals),
        on_terminal,
        // The profile's time limit is for models, not for lines that the user types.
        has_time_limit: settings.timeout.is_some(),
        on_quit: args.on_quit.into(),
        history,
        stop: signals.cancel().clone(),
    })
    .await;
    session.close();
    if let Some(remote) = session.remote_host() {
        remote.close().await;
    }
    print_jobs(&ran?, &name);
    print_held_trials(&session, &name);
    Ok(signals.exit_code().unwrap_or(0))
}

/// Lists the trials that are neither committed nor discarded, because they expire, and the command
/// that decides them.
fn print_held_trials(session: &Conversation, state: &str) {
    // Without a store, there are no held trials.
    let sets = session.changes().list().unwrap_or_default();
    // An exact trial without changes needs no decision.
    let is_open = |it: &Changes| !it.exact || it.counts.total() > 0;
    let is_held = |it: &&ListedChanges| {
        let set = &it.changes;
        set.state == ChangesState::Held && is_open(set)
    };
    let held: Vec<&ListedChanges> = sets.iter().filter(is_held).collect();
    let mut out = io::stdout().lock();
    let columns = terminal_columns().unwrap_or(usize::MAX);
    for set in &held {
        let _ = writeln!(out, "{}", undecided_line(&set.changes, columns));
    }
    if !held.is_empty() {
        let _ = writeln!(
            out,
            "to commit or discard: agent-bash changes list --state {state}"
        );
    }
}

/// Returns `not decided: trial 25: sleep 60 & echo bg > bg.txt · Δ +1`, and why the trial can no
/// longer be committed.
fn undecided_line(trial: &Changes, columns: usize) -> String {
    const UNDECIDED_PREFIX: &str = "not decided: ";
    let named = named_trial(trial, columns.saturating_sub(UNDECIDED_PREFIX.len()));
    let why = trial.commit_obstacle();
    let why = why.map_or_else(String::new, |why| format!("\n  {why}"));
    format!("{UNDECIDED_PREFIX}{named}{why}")
}

/// Prints the ended and the running jobs, and the command that lists them. A failed write is
/// ignored.
fn print_jobs(jobs: &JobsAtExit, state: &str) {
    let mut out = io::stdout().lock();
    let mut print = |outcome: &str, jobs: &[Job]| {
        for job in jobs {
            let command = shortened(&job.command, MAX_COMMAND_COLUMNS);
            let _ = writeln!(out, "{outcome}: job {}, pid {}: {command}", job.id, job.pid);
        }
    };
    print("ended", &jobs.ended);
    print("still running", &jobs.running);
    if !jobs.running.is_empty() {
        let _ = writeln!(
            out,
            "to see and end them: agent-bash jobs list --state {state}"
        );
    }
}
