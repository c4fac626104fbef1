//! Serves a request and produces the data of its response.

use super::answer::{RpcAnswer, data, run_blocking};
use super::in_flight::RequestsInFlight;
use super::outbox::Outbox;
use super::prompts::OpenPrompts;
use super::request_error::ErrorReply;
use super::requests::{changes, checks, files::Uploads, remote, run_program};
use super::updates;
use crate::into_data::IntoData;
use crate::jobs::{DEFAULT_GRACE, duration, write_input};
use crate::live_output::{self, UpdateSender};
use crate::stored_output;
use agent_bash::core::{
    Cancel, Clock, Findings, JobId, OutputMask, PolicyFindings, Request, SessionName, Status,
};
use agent_bash::exec::{JobState, OutputRange};
use agent_bash::session::{BangMessage, BangOptions};
use agent_bash::sink::{LiveUpdate, LiveUpdates};
use agent_bash::tools::{adapters, clean};
use agent_bash::{BashTool, CallOptions, CallPolicy, CheckOptions, Conversation, Input, LiveFeed};
use agent_bash::{mask_condition, mask_job_output};
use agent_bash_protocol::data::{
    BashData, CancelData, HelloData, JobData, JobKillData, JobOutputData, JobWaitData, JobsData,
    MachineData, MessagesData, PingData, ResetData, ShellsData,
};
use agent_bash_protocol::message::{RpcCall, RpcId, Stream};
use agent_bash_protocol::{BUILD_NAME, ErrorCode, Hello, PROTOCOL_VERSION};
use agent_bash_running::until::{LAST_OUTPUT, wait_until};
use agent_bash_running::{ClientAdapters, RunningCalls};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::slice;
use std::sync::Arc;

/// Maximum number of bytes of a job's output in one response.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;

/// Serves `abort_bash` and `cancel`, which concern other requests. Returns `None` for any other
/// call.
pub(super) fn control(call: &RpcCall, in_flight: &RequestsInFlight) -> Option<RpcAnswer> {
    match call {
        RpcCall::AbortBash { target } => {
            in_flight.abort_bash(target.as_ref());
            Some(Ok(None))
        }
        RpcCall::Cancel { target } => {
            let cancelled = in_flight.cancel(target);
            Some(data(CancelData { cancelled }))
        }
        _ => None,
    }
}

/// Answers `hello`. `tools` are the names that the client has sent in this or an earlier `hello`.
pub(super) fn hello(
    session: &Conversation,
    hello: &Hello,
    tools: Option<&Vec<String>>,
    machine: Option<MachineData>,
) -> RpcAnswer {
    check_protocol(hello)?;
    let profile = session.tool().profile();
    data(HelloData {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL_VERSION,
        machine,
        profile: profile.name.as_str().to_owned(),
        tools: tools.or(session.host().tools.as_ref()).cloned(),
    })
}

/// Refuses a client with another version of the protocol.
pub(super) fn check_protocol(hello: &Hello) -> Result<(), ErrorReply> {
    match hello.protocol {
        Some(theirs) if theirs != PROTOCOL_VERSION => Err(ErrorReply::new(
            ErrorCode::Protocol,
            format!(
                "this agent-bash speaks version {PROTOCOL_VERSION} of the protocol, and not {theirs}; use the same version of agent-bash on both sides"
            ),
        )),
        _ => Ok(()),
    }
}

/// A request that is being served.
#[derive(Clone)]
pub(super) struct ServedRequest {
    pub(super) id: Option<RpcId>,
    pub(super) session: Arc<Conversation>,
    pub(super) adapted: ClientAdapters,
    /// The calls that continue after their answer.
    pub(super) running: Arc<RunningCalls>,
    pub(super) clock: Arc<dyn Clock>,
    /// True for a worker, which runs only calls with its host's findings.
    pub(super) is_worker: bool,
    /// The model's other tools, if `hello` has named them.
    pub(super) tools: Option<Vec<String>>,
    pub(super) outbox: Outbox,
    pub(super) uploads: Arc<Uploads>,
    /// The open password prompts, if the client asks its user.
    pub(super) prompts: Option<OpenPrompts>,
    /// Triggered when the request is cancelled.
    pub(super) cancel: Cancel,
}

impl ServedRequest {
    /// Serves the request, except `hello`, `cancel` and `abort_bash`.
    pub(super) async fn answer(&self, call: RpcCall) -> RpcAnswer {
        let session = &*self.session;
        if let Some(remote_host) = session.remote_host()
            && let Some(answer) = remote::answer(&**remote_host, &call, &self.cancel).await
        {
            if let RpcCall::SessionReset { session: name } = call {
                // The calls for the remote host wait in this server's queue.
                session.reset_shell(&SessionName(name));
            }
            return data(answer?);
        }
        self.answer_here(call).await
    }

    /// Serves the request on this machine.
    async fn answer_here(&self, call: RpcCall) -> RpcAnswer {
        let session = &*self.session;
        match call {
            RpcCall::Bash {
                command,
                stream,
                exclude_from_context,
            } => self.bash(&command, stream, exclude_from_context).await,
            RpcCall::ToolCall {
                request,
                stream,
                tools,
                turn_name,
                findings,
            } => {
                if let Some(turn) = turn_name {
                    session.begin_changes_turn(turn).await?;
                }
                let input = self.input(request, findings)?;
                self.tool_call(input, stream, tools).await
            }
            // Already served by `control` and `hello`.
            RpcCall::AbortBash { .. } | RpcCall::Cancel { .. } | RpcCall::Hello(_) => Ok(None),
            RpcCall::Check {
                command,
                tools,
                session: shell,
                cwd,
            } => checks::check(self.policy(tools, shell, cwd).await?, command).await,
            RpcCall::Explain {
                command,
                tools,
                session: shell,
                cwd,
            } => checks::explain(self.policy(tools, shell, cwd).await?, command).await,
            RpcCall::Schema { adapter } => self.schema(adapter.as_deref()).await,
            RpcCall::AdapterCall {
                adapter,
                tool,
                input,
            } => self.adapter_call(&adapter, &tool, &input).await,
            RpcCall::PromptAnswer { prompt, answer } => self.answer_prompt(prompt, answer),
            RpcCall::Ping => data(PingData {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                protocol: PROTOCOL_VERSION,
                build: BUILD_NAME.to_owned(),
            }),
            RpcCall::JobsList { .. }
            | RpcCall::JobsShow { .. }
            | RpcCall::JobsOutput { .. }
            | RpcCall::JobsWait { .. }
            | RpcCall::JobsKill { .. }
            | RpcCall::JobsInput { .. } => self.jobs(call).await,
            RpcCall::TerminalStart { .. } if self.is_worker => Err(missing_findings()),
            RpcCall::TerminalStart { .. }
            | RpcCall::TerminalInput { .. }
            | RpcCall::TerminalScreen { .. }
            | RpcCall::TerminalEnd { .. } => self.terminals(call).await,
            RpcCall::ArtifactList | RpcCall::ArtifactShow { .. } | RpcCall::ArtifactGrep { .. } => {
                self.artifacts(call).await
            }
            RpcCall::ChangesList
            | RpcCall::ChangesShow { .. }
            | RpcCall::ChangesDiff { .. }
            | RpcCall::ChangesPreview { .. }
            | RpcCall::ChangesCommit { .. }
            | RpcCall::ChangesDiscard { .. }
            | RpcCall::ChangesUndo { .. }
            | RpcCall::ChangesRedo { .. }
            | RpcCall::ChangesUndoAll { .. }
            | RpcCall::ChangesRedoAll { .. }
            | RpcCall::ChangesPreviewAll { .. } => {
                changes::answer(&self.session, call, &self.cancel).await
            }
            RpcCall::SessionList => self.shells(),
            RpcCall::SessionReset { session: name } => data(ResetData {
                reset: session.reset_shell(&SessionName(name)),
            }),
            RpcCall::SessionMessages => messages(session.messages()),
            RpcCall::SessionBeginTurn => {
                session.begin_turn();
                Ok(None)
            }
            RpcCall::FileRead { .. } | RpcCall::FileWrite { .. } => self.files(call).await,
            RpcCall::Program { words, input } if self.is_worker => {
                data(run_program::run(session, words, input, &self.cancel).await?)
            }
            RpcCall::Program { .. } => {
                let error =
                    "only a worker serves `program`; run agent-bash on this machine yourself";
                Err(ErrorReply::from(error.to_owned()))
            }
            RpcCall::SessionEndTurn => messages(session.end_turn()),
        }
    }

    fn shells(&self) -> RpcAnswer {
        let shells = self.session.shells().into_iter();
        data(ShellsData {
            sessions: shells.map(IntoData::into_data).collect(),
        })
    }

    async fn schema(&self, adapter: Option<&str>) -> RpcAnswer {
        let Some(name) = adapter else {
            return data(self.session.tool().offered_schema().await);
        };
        let adapter = adapters::by_name(name).map_err(to_reply)?;
        data(json!({ "tools": adapter.declared() }))
    }

    async fn adapter_call(&self, adapter: &str, tool: &str, input: &Value) -> RpcAnswer {
        if self.is_worker {
            return Err(missing_findings());
        }
        let adapter = adapters::by_name(adapter).map_err(to_reply)?;
        adapter.tool(tool)?;
        let mut calls = self.adapted.clone().with_tools(self.tools.clone());
        if let Some(approver) = self.prompt_approver() {
            calls = calls.with_approver(approver);
        }
        let call = calls.call(adapter, tool, input, &self.cancel);
        data(Box::pin(call).await)
    }

    /// Returns the tool for a call of the model.
    pub(super) fn tool(&self) -> Cow<'_, BashTool> {
        let tool = self.session.tool();
        match self.prompt_approver() {
            Some(approver) => Cow::Owned(tool.with_approver(approver)),
            None => Cow::Borrowed(tool),
        }
    }

    /// Returns the checks of a call that the client would send now.
    async fn policy(
        &self,
        tools: Option<Vec<String>>,
        session: Option<String>,
        cwd: Option<String>,
    ) -> Result<CallPolicy, ErrorReply> {
        let options = CheckOptions {
            tools: tools.or_else(|| self.tools.clone()),
            session: session.map(SessionName),
            cwd,
        };
        let policy = self.session.tool().call_policy(options, &self.cancel).await;
        let cancelled = "cancelled while an earlier call of the session ran";
        policy.ok_or_else(|| cancelled.to_owned().into())
    }

    /// Returns the call as input for the pipeline.
    fn input(&self, request: Value, findings: Option<Box<Findings>>) -> Result<Input, ErrorReply> {
        match (self.is_worker, findings) {
            (false, None) => Ok(Input::Json(request)),
            (true, Some(findings)) => {
                let request = Request::deserialize(request);
                let request = request.map_err(|error| format!("`request`: {error}"))?;
                let findings = *findings;
                Ok(Input::Checked(Box::new(PolicyFindings {
                    request,
                    findings,
                })))
            }
            (true, None) => Err(missing_findings()),
            (false, Some(_)) => {
                let error = "`findings`: this server checks calls itself; only a worker takes the findings of its host";
                Err(ErrorReply::from(error.to_owned()))
            }
        }
    }

    async fn tool_call(
        &self,
        request: Input,
        stream: Stream,
        tools: Option<Vec<String>>,
    ) -> RpcAnswer {
        let tool = self.tool();
        let live = updates::kind(stream).map(live_output::updates);
        let mut feed = live.as_ref().map(LiveFeed);
        let options = CallOptions {
            tools: tools.or_else(|| self.tools.clone()),
            live: feed.as_mut().map(|feed| feed as _),
            ..CallOptions::default()
        };
        let call = tool.execute_with(request, options, &self.cancel);
        data(self.with_updates(live.as_ref(), call).await)
    }

    async fn bash(&self, command: &str, stream: Stream, excluded_from_context: bool) -> RpcAnswer {
        let live = updates::kind(stream).map(live_output::updates);
        let mut feed = live.as_ref().map(LiveFeed);
        let options = BangOptions {
            excluded_from_context,
            live: feed.as_mut().map(|feed| feed as _),
            ..BangOptions::default()
        };
        let call = self.session.execute_bash(command, options, &self.cancel);
        let executed = self.with_updates(live.as_ref(), call).await;
        let message = executed.map_err(to_reply)?;
        match message.status {
            // Empty output without an exit code would look like a command that ran.
            Status::NotStarted { reason } => Err(format!("not started: {reason}").into()),
            Status::Lost { reason, .. } => {
                Err(format!("the end of the command was not observed: {reason}").into())
            }
            _ => data::<BashData>(message.into_data()),
        }
    }

    /// Awaits a call, and sends the updates that it feeds, if the client asked for updates.
    async fn with_updates<T>(
        &self,
        live: Option<&LiveUpdates>,
        call: impl Future<Output = T>,
    ) -> T {
        let call = Box::pin(call);
        match live {
            None => call.await,
            Some(live) => live_output::run_with_updates(call, live, &mut ClientSender(self)).await,
        }
    }

    fn mask(&self) -> Option<&dyn OutputMask> {
        self.session.tool().output_mask().map(|mask| &**mask)
    }

    /// Serves the requests about jobs.
    async fn jobs(&self, call: RpcCall) -> RpcAnswer {
        let jobs = stored_output::jobs(&self.session).map_err(to_reply)?;
        match call {
            RpcCall::JobsShow { job } => {
                let mut job = jobs.show(&JobId(job.0)).map_err(to_reply)?;
                jobs.find_ports(slice::from_mut(&mut job)).await;
                data::<JobData>(job.into_data())
            }
            RpcCall::JobsOutput { job, offset, tail } => {
                let range = match tail {
                    Some(lines) => OutputRange::Tail {
                        lines: lines.get(),
                        max_bytes: MAX_OUTPUT_BYTES,
                    },
                    None => OutputRange::From {
                        offset: offset.unwrap_or(0),
                        max_bytes: MAX_OUTPUT_BYTES,
                    },
                };
                let jobs = Arc::clone(jobs);
                let reader = Arc::clone(&jobs);
                let part =
                    run_blocking(move || reader.output(&JobId(job.0), range).map_err(to_reply));
                let mut part = part.await?;
                mask_job_output(self.mask(), &mut part);
                jobs.find_ports(slice::from_mut(&mut part.job)).await;
                data::<JobOutputData>(part.into_data())
            }
            RpcCall::JobsWait {
                job,
                until,
                offset,
                timeout,
            } => {
                let timeout = timeout.as_ref().map(|time| duration("timeout", time));
                let (id, limit) = (JobId(job.0), timeout.transpose()?);
                let condition = (&until, offset.unwrap_or(0));
                let waited = wait_until(jobs, &id, condition, limit, &self.cancel).await;
                let mut waited = waited.map_err(to_reply)?;
                let mut output = None;
                if !until.is_end() {
                    jobs.find_ports(slice::from_mut(&mut waited.job)).await;
                    let jobs = Arc::clone(jobs);
                    let tail =
                        run_blocking(move || jobs.output(&id, LAST_OUTPUT).map_err(to_reply));
                    output = tail.await.ok().map(|mut tail| {
                        mask_job_output(self.mask(), &mut tail);
                        clean(&tail.bytes)
                    });
                    mask_condition(self.mask(), &mut waited.met);
                }
                data(JobWaitData {
                    over: waited.job.state != JobState::Running,
                    met: waited.met,
                    output,
                    job: waited.job.into_data(),
                })
            }
            RpcCall::JobsKill { job, grace } => {
                let grace = grace.as_ref().map(|time| duration("grace", time));
                let grace = grace.transpose()?.unwrap_or(DEFAULT_GRACE);
                let killed = jobs.kill(&JobId(job.0), grace).await.map_err(to_reply)?;
                data(JobKillData {
                    job: killed.job.into_data(),
                    survivors: killed.survivors,
                })
            }
            RpcCall::JobsInput {
                job,
                text: input,
                close,
            } => {
                let id = JobId(job.0);
                let fed = write_input(&self.session, &id, &input, close, &self.cancel);
                data::<JobData>(fed.await?.into_data())
            }
            RpcCall::JobsList { port } => {
                let jobs = jobs.list_with_ports(port).await.map_err(to_reply)?;
                data(JobsData {
                    jobs: jobs.into_iter().map(IntoData::into_data).collect(),
                })
            }
            _ => Ok(None),
        }
    }
}

/// Returns the refusal of a call that has no findings.
fn missing_findings() -> ErrorReply {
    let error =
        "a worker runs only checked calls; send a `tool_call` with the `findings` of its host";
    ErrorReply::new(ErrorCode::NotJudged, error)
}

/// Sends updates to the outbox.
struct ClientSender<'a>(&'a ServedRequest);

impl UpdateSender for ClientSender<'_> {
    async fn send(&mut self, update: LiveUpdate) {
        if let Some(message) = updates::message(self.0.id.clone(), update) {
            self.0.outbox.send(&message).await;
        }
    }
}

pub(super) fn to_reply(error: impl std::fmt::Display) -> ErrorReply {
    ErrorReply::from(error.to_string())
}

/// Answers with messages of the conversation.
fn messages(messages: Vec<BangMessage>) -> RpcAnswer {
    data(MessagesData {
        messages: messages.into_iter().map(IntoData::into_data).collect(),
    })
}
