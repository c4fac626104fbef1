//! `agent-bash run --pty`: runs one command on its own terminal, shown on ours.

use crate::args::{RunArgs, ThemeArg};
use crate::commands::session;
use crate::output;
use crate::process_start::StartContext;
use crate::theme::theme;
use agent_bash::core::{Cancel, Clock, ToolResult};
use agent_bash::process::environment::attended;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::pty::PtyOptions;
use agent_bash::{BashTool, Input};
use agent_bash_tui::Terminals;
use anyhow::Context;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::sync::Arc;

/// Returns the terminals for this command; `None`, with a message on stderr, if stdin or stdout is
/// no terminal.
pub(crate) fn prepare(
    args: &RunArgs,
    start: &StartContext,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<Terminals>> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        output::say("agent-bash: there is no terminal here: the command runs without one");
        return Ok(None);
    }
    let supervisor = Supervisor::this_program(&start.token);
    let terminals = PtyOptions::new(supervisor, Arc::clone(clock), start.host.temp_dir());
    let terminals = Terminals::new(terminals.with_jobs(session::jobs(start, &args.state)));
    if let Some(path) = &args.record {
        let file =
            File::create(path).with_context(|| format!("cannot record to {}", path.display()))?;
        terminals.record_next(Box::new(file));
    }
    Ok(Some(terminals))
}

/// Runs the call and shows its terminal.
pub(crate) async fn run(
    tool: &BashTool,
    mut input: Input,
    terminals: Terminals,
    start: &StartContext,
    clock: &Arc<dyn Clock>,
    cancel: &Cancel,
) -> anyhow::Result<ToolResult> {
    if !tool.offers_terminal() {
        output::say("agent-bash: terminals are off here: the command runs without one");
    }
    if let Input::Parsed(parsed) = &mut input {
        // A user at the terminal expects their own editor and pager. The request's own variables
        // take precedence.
        let request = &mut parsed.request;
        for (name, value) in attended(&start.host.env) {
            request.env.entry(name).or_insert(value);
        }
    }
    let command = input.command().unwrap_or_default().to_owned();
    let theme = theme(ThemeArg::Auto, &start.host);
    let call = tool.execute(input, cancel);
    let (result, shown) = Box::pin(agent_bash_tui::show(
        terminals, clock, &theme, &command, cancel, call,
    ))
    .await;
    shown.context("cannot show the command's terminal")?;
    Ok(result)
}
