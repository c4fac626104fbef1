//! Serves the calls of adapters: reads their fields, takes what they ask for through the pipeline, has the answer written.

use super::{Adapter, Done, Given, Plan, Ran, Shown, Tool, Wanted};
use crate::Session;
use crate::running::{NoRoom, Running, RunningCall, StartOptions, Waited};
use agent_bash_core::{Cancel, Clock, Status, ToolResult, Truncation};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// The adapters of one client: all calls of a session, in a registry that ends with the client.
#[derive(Debug, Clone)]
pub struct Adapted {
    session: Arc<Session>,
    running: Arc<Running>,
    clock: Arc<dyn Clock>,
}

/// What a call of an adapter's tool is answered with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What the model reads, in the tool's own words.
    pub content: String,
    /// Whether the tool calls it an error.
    pub is_error: bool,
    /// The answer as the tool's programs take it; `null` where it has no such form.
    pub structured: Option<Value>,
    /// The ordinary result, of the last command where there were several; `null` while it goes on and where none was asked for.
    pub result: Option<ToolResult>,
}

/// What became of a call, kept until its answer is written.
enum Outcome {
    Ran(Vec<Ran>),
    Restarted,
}

impl Adapted {
    /// Serves calls of `session`. What goes on after its answer is in `running`, and ends with it.
    pub fn new(session: Arc<Session>, running: Arc<Running>, clock: Arc<dyn Clock>) -> Self {
        Self {
            session,
            running,
            clock,
        }
    }

    /// Serves one call. Never fails: what is wrong with it is an answer.
    pub async fn call(
        &self,
        adapter: &'static Adapter,
        tool: &str,
        input: &Value,
        cancel: &Cancel,
    ) -> Answer {
        let tool = match adapter.tool(tool) {
            Ok(tool) => tool,
            Err(error) => return answer(Shown::error(error), None),
        };
        let (given, error) = match Given::read(tool.fields, input) {
            Ok(given) => match self.serve(adapter, tool, &given, cancel).await {
                Ok(outcome) => return written(tool, &given, &outcome),
                Err(error) => (given, error),
            },
            Err(error) => (Given::default(), error),
        };
        answer((tool.layout)(&given, &Done::Invalid(&error)), None)
    }

    async fn serve(
        &self,
        adapter: &'static Adapter,
        tool: &Tool,
        given: &Given,
        cancel: &Cancel,
    ) -> Result<Outcome, String> {
        match (tool.plan)(given)? {
            Plan::Run(commands) => {
                let mut ran = Vec::new();
                for wanted in commands {
                    let call = self
                        .start(adapter, wanted)
                        .map_err(|error| error.to_string())?;
                    let account = self.to_its_end(&call, cancel).await?;
                    let is_over = matches!(
                        account.account.result.status,
                        Status::TimedOut { .. } | Status::Cancelled
                    );
                    ran.push(account);
                    if is_over {
                        break;
                    }
                }
                Ok(Outcome::Ran(ran))
            }
            Plan::Restart(name) => {
                self.session.reset_shell(&name);
                Ok(Outcome::Restarted)
            }
        }
    }

    fn start(&self, adapter: &Adapter, wanted: Wanted) -> Result<Arc<RunningCall>, NoRoom> {
        let tool = self.session.tool();
        let mut profile = adapter.knobs.profile(tool.profile());
        if let Some(bytes) = wanted.window {
            profile.output.truncation = Truncation::Tail { bytes };
        }
        let options = StartOptions {
            escalation: wanted.escalation,
            ..StartOptions::default()
        };
        self.running
            .start(&tool.with_profile(profile), wanted.request, options)
    }

    /// Waits for its end; a caller that calls it off ends it.
    async fn to_its_end(&self, call: &RunningCall, cancel: &Cancel) -> Result<Ran, String> {
        let account = match call.wait(&*self.clock, None, cancel).await {
            Waited::Ended(account) => account,
            Waited::GoesOn | Waited::CalledOff => {
                call.cancel.cancel();
                call.ended().await
            }
        };
        Ok(Ran {
            account: account.ok_or("the call was given up")?,
            group: call.process().map(|(_, group)| group),
        })
    }
}

fn written(tool: &Tool, given: &Given, outcome: &Outcome) -> Answer {
    let (done, result) = match outcome {
        Outcome::Ran(ran) => {
            let last = ran.last().map(|ran| ran.account.result.clone());
            (Done::Ran(ran), last)
        }
        Outcome::Restarted => (Done::Restarted, None),
    };
    answer((tool.layout)(given, &done), result)
}

fn answer(shown: Shown, result: Option<ToolResult>) -> Answer {
    Answer {
        content: shown.content,
        is_error: shown.is_error,
        structured: shown.structured,
        result,
    }
}
