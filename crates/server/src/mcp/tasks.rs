//! The extension `io.modelcontextprotocol/tasks`: a call that continues after its answer is a task,
//! whose state the client polls.
//!
//! A task names a call with a handle, and has no state of its own. A call on a terminal is no task:
//! its model types into it. An adapter's tools have their own answers for calls that continue.

use super::jobs::{ToolAnswer, call_name};
use super::random_token::random_token;
use super::tools::object;
use agent_bash::core::{Cancel, Clock, Status, Timestamp, lock};
use agent_bash_running::{LOST_CALL, RunningCall, RunningCalls, WaitOutcome};
use rmcp::RoleServer;
use rmcp::model::{
    CreateTaskResult, DetailedTask, ErrorData, ProtocolVersion, Task, TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time between two polls that clients are told.
const POLL_INTERVAL_MS: u64 = 1000;

/// The tasks of one client, by their ids.
#[derive(Debug)]
pub(super) struct CallTasks {
    calls: Arc<RunningCalls>,
    clock: Arc<dyn Clock>,
    tasks: Mutex<BTreeMap<String, CallTask>>,
}

#[derive(Debug, Clone, Copy)]
struct CallTask {
    /// The number of the call's handle.
    handle: u64,
    created_at: Timestamp,
}

/// True if the client of a request accepts a task as its answer.
pub(super) fn accepted_in(context: &RequestContext<RoleServer>) -> bool {
    let is_new = context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let capabilities = context.client_capabilities();
    is_new && capabilities.is_some_and(|capabilities| capabilities.supports_tasks())
}

impl CallTasks {
    pub(super) fn new(calls: Arc<RunningCalls>, clock: Arc<dyn Clock>) -> Self {
        Self {
            calls,
            clock,
            tasks: Mutex::default(),
        }
    }

    /// Returns the answer that makes a running call a task.
    ///
    /// # Errors
    /// The system has no random numbers for the task's id.
    pub(super) fn create(&self, call: &Arc<RunningCall>) -> Result<CreateTaskResult, String> {
        let id = random_token().map_err(|error| format!("the task has no id: {error}"))?;
        let task = CallTask {
            handle: self.calls.assign_handle(call),
            created_at: self.clock.wall(),
        };
        let mut tasks = lock(&self.tasks);
        // The registry forgets the oldest ended calls.
        tasks.retain(|_, task| self.calls.find(task.handle).is_some());
        tasks.insert(id.clone(), task);
        Ok(CreateTaskResult::new(working(id, task)))
    }

    /// Serves `tasks/get`. `structured`: completed results have structured content.
    pub(super) async fn state(
        &self,
        id: String,
        structured: bool,
    ) -> Result<DetailedTask, ErrorData> {
        let (task, call) = self.find(&id)?;
        let mut state = working(id, task);
        let never = Cancel::new();
        let ended = call.wait(&*self.clock, Some(Duration::ZERO), &never);
        let payload = match ended.await {
            WaitOutcome::StillRunning | WaitOutcome::Cancelled => TaskPayload::Working,
            WaitOutcome::Ended(None) => TaskPayload::Failed {
                error: object(json!(ErrorData::internal_error(LOST_CALL, None))),
            },
            WaitOutcome::Ended(Some(finished_call)) => {
                let result = &finished_call.result;
                let ended_at = Timestamp(result.started_at.0 + result.duration_ms as u64);
                state.last_updated_at = ended_at.max(task.created_at).to_string();
                state.status_message = None;
                if result.status == Status::Cancelled {
                    TaskPayload::Cancelled
                } else {
                    let answer = ToolAnswer::of_bash(result.clone());
                    TaskPayload::Completed {
                        result: object(json!(answer.into_mcp(structured))),
                    }
                }
            }
        };
        Ok(DetailedTask::new(state, payload))
    }

    /// Serves `tasks/cancel`: ends the call with all its processes.
    pub(super) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        let (_, call) = self.find(id)?;
        call.cancel.cancel();
        Ok(())
    }

    /// Serves `tasks/update`: a task asks nothing, so that all responses are ignored.
    pub(super) fn update(&self, id: &str) -> Result<(), ErrorData> {
        self.find(id).map(drop)
    }

    fn find(&self, id: &str) -> Result<(CallTask, Arc<RunningCall>), ErrorData> {
        let task = lock(&self.tasks).get(id).copied();
        let found = task.and_then(|task| Some((task, self.calls.find(task.handle)?)));
        found.ok_or_else(|| {
            let error = format!("there is no task `{id}`: tasks end with their server");
            ErrorData::invalid_params(error, None)
        })
    }
}

/// Returns the task of a call that is running.
fn working(id: String, task: CallTask) -> Task {
    let created_at = task.created_at.to_string();
    let name = call_name(task.handle);
    Task::new(id, TaskStatus::Working, created_at.clone(), created_at)
        .with_poll_interval_ms(POLL_INTERVAL_MS)
        .with_status_message(format!("The command is running as {name}."))
}
