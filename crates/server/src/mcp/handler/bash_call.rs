//! Runs a call of the tool `bash`, and answers when the call has ended or continues.

use super::{McpServer, TURN_KEY, window, without_own_lines};
use crate::live_output;
use crate::mcp::approval::RequestApprover;
use crate::mcp::job_texts::with_line;
use crate::mcp::jobs::{ToolAnswer, call_name};
use crate::mcp::output_so_far::OutputSoFar;
use crate::mcp::progress::ProgressNotifier;
use crate::mcp::tasks;
use crate::mcp::terminal::{TerminalFields, first_text};
use agent_bash::Input;
use agent_bash::core::{Cancel, JobId, Status, Timestamp, ToolResult, Window, short_duration};
use agent_bash::sink::LiveKind;
use agent_bash_running::terminal::{self, QuietAfter};
use agent_bash_running::{LOST_CALL, RunningCall, StartOptions, WaitOutcome};
use rmcp::RoleServer;
use rmcp::model::CallToolResponse;
use rmcp::service::RequestContext;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of the output in an answer with a handle, the name (`call-1`) of a call that
/// continues. The answer shows the end of the output so far.
const LIVE_WINDOW: Window = Window {
    bytes: 16 * 1024,
    lines: usize::MAX,
};

impl McpServer {
    /// Runs a call of `bash`. If the call continues, returns a task to a client that accepts one,
    /// else a result with the call's handle.
    pub(super) async fn bash(
        &self,
        mut request: Value,
        context: &RequestContext<RoleServer>,
        approver: Option<Arc<RequestApprover>>,
        cancel: &Cancel,
    ) -> Result<CallToolResponse, String> {
        if let Some(turn) = context.meta.get(TURN_KEY).and_then(Value::as_str) {
            let begun = self.session.begin_changes_turn(turn.to_owned()).await;
            begun.map_err(|refused| refused.to_string())?;
        }
        let mut fields = TerminalFields::take_from(&mut request)?;
        // Some profiles have no terminals: they ignore the field.
        fields.on_terminal &= self.session.tool().profile().pty;
        // Programs on a terminal draw the screen, so their output is not sent as progress.
        let token = context.meta.get_progress_token();
        let token = token.filter(|_| !fields.on_terminal);
        let live = token
            .as_ref()
            .map(|_| live_output::updates(LiveKind::Delta));
        let (started_at, start) = (self.clock.wall(), self.clock.now());
        let window = window(context);
        // The client of a task waits for the end.
        let may_be_task = !fields.on_terminal && tasks::accepted_in(context);
        let waits_for_end = request["wait"] == true && !may_be_task;
        let mut options = StartOptions {
            live: live.clone(),
            window,
            ..StartOptions::default()
        };
        let input = if fields.on_terminal {
            let size = fields.size.as_deref();
            options.terminal = Some(terminal::options(&self.session, size)?);
            terminal::call_input(&self.session, request)
        } else {
            Input::Json(request)
        };
        let tool = self.session.tool();
        let tool = match approver {
            Some(approver) => &tool.with_approver(approver),
            None => tool,
        };
        let call = self.calls.start(tool, input, options);
        let call = call.map_err(|error| error.to_string())?;
        let waited = match (live, token) {
            (Some(live), Some(token)) => {
                let mut progress = ProgressNotifier {
                    token,
                    peer: context.peer.clone(),
                };
                let work = self.wait(&call, waits_for_end, cancel);
                live_output::run_with_updates(work, &live, &mut progress).await
            }
            _ if fields.on_terminal => self.wait_for_screen(&call, cancel).await,
            _ => self.wait(&call, waits_for_end, cancel).await,
        };
        let result = match waited {
            WaitOutcome::Ended(Some(finished_call)) => Arc::unwrap_or_clone(finished_call).result,
            WaitOutcome::Ended(None) => return Err(LOST_CALL.to_owned()),
            WaitOutcome::StillRunning if may_be_task => {
                return Ok(self.tasks.create(&call)?.into());
            }
            WaitOutcome::StillRunning | WaitOutcome::Cancelled => {
                let elapsed = self.clock.now().saturating_sub(start);
                let name = call_name(self.calls.assign_handle(&call));
                let shown = window.map_or(LIVE_WINDOW, |window| {
                    LIVE_WINDOW.and(without_own_lines(window))
                });
                self.handle_result(&call, name, elapsed, started_at, shown)
            }
        };
        self.log.ended(&context.peer, &call.command, &result).await;
        let answer = ToolAnswer::of_bash(result);
        Ok(answer.into_mcp(self.options.structured).into())
    }

    /// Waits for the end of a call; unless `waits_for_end`, at most for
    /// [`handle_after`](crate::mcp::McpOptions::handle_after). If the client cancels the request,
    /// cancels the call.
    async fn wait(&self, call: &RunningCall, waits_for_end: bool, cancel: &Cancel) -> WaitOutcome {
        let limit = Some(self.options.handle_after);
        let limit = limit.filter(|after| !after.is_zero() && !waits_for_end);
        match call.wait(&*self.clock, limit, cancel).await {
            WaitOutcome::Cancelled => {
                call.cancel.cancel();
                WaitOutcome::Ended(call.ended().await)
            }
            waited => waited,
        }
    }

    /// Waits until the first screen of a call on a terminal is quiet. If the client cancels the
    /// request, cancels the call.
    async fn wait_for_screen(&self, call: &RunningCall, cancel: &Cancel) -> WaitOutcome {
        terminal::until_quiet(call, &*self.clock, QuietAfter::Start, cancel).await;
        if cancel.is_cancelled() {
            call.cancel.cancel();
            return WaitOutcome::Ended(call.ended().await);
        }
        match call.finished_call() {
            Some(finished_call) => WaitOutcome::Ended(Some(finished_call)),
            None => WaitOutcome::StillRunning,
        }
    }

    /// Returns the answer for a call that continues, with its handle.
    fn handle_result(
        &self,
        call: &RunningCall,
        name: String,
        elapsed: Duration,
        started_at: Timestamp,
        window: Window,
    ) -> ToolResult {
        let (pid, process_group) = call.process().unwrap_or_default();
        let screen = terminal::screen(&self.session, call);
        let so_far = OutputSoFar::of(&call.read(Some(0)), 0, None, window);
        let text = if let Some(screen) = screen {
            first_text(&name, &screen)
        } else {
            let after = short_duration(self.options.handle_after);
            let shown = so_far
                .shown_range()
                .map(|shown| format!("[Showing {shown} so far.]\n"))
                .unwrap_or_default();
            let line = format!(
                "{shown}[The command is still running after {after} and goes on as {name}. \
                     bash_output {{\"job\": \"{name}\", \"wait\": 50}} waits for its end and gives the result; \
                     bash_kill ends it.]"
            );
            with_line(&so_far.text, &line)
        };
        let status = Status::MovedToBackground {
            job: JobId(name),
            pid,
            pgid: process_group,
            // The output of a call is only in this server's memory, so there is no file to name.
            output: String::new(),
        };
        let mut result = ToolResult::new(status, text, started_at);
        result.output = so_far.output;
        result.duration_ms = elapsed.as_secs_f64() * 1000.0;
        result.cwd = self.session.cwd().display().to_string();
        result
    }
}
