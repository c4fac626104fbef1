//! The handler that `rmcp` calls: dispatches each request.

mod bash_call;

use super::adapter::AdapterTools;
use super::approval::{ApprovalQuestions, RequestApprover};
use super::changes;
use super::jobs::{JobTools, ToolAnswer};
use super::log::LogLevel;
use super::parameter_error::parameter_error;
use super::tasks::CallTasks;
use super::tools::{self, McpTool, ReadArgs};
use super::{McpOptions, artifacts, instructions, windows};
use crate::field_error::field_error;
use agent_bash::core::{Cancel, Clock, Window};
use agent_bash::tools::ToolSchema;
use agent_bash::{Approver, Conversation};
use agent_bash_running::{ClientAdapters, RunningCalls};
#[expect(deprecated, reason = "as in `log`")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    CustomRequest, CustomResult, ErrorCode, GetTaskParams, GetTaskResult, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::pin::pin;
use std::sync::Arc;

/// The server of one client.
#[derive(Debug)]
pub(super) struct McpServer {
    session: Arc<Conversation>,
    calls: Arc<RunningCalls>,
    jobs: JobTools,
    tasks: CallTasks,
    /// The adapter's tools, if they are offered instead of the default tools.
    adapter: Option<AdapterTools>,
    log: LogLevel,
    clock: Arc<dyn Clock>,
    options: McpOptions,
    questions: ApprovalQuestions,
}

/// Maximum size of the lines that this server adds to an output.
const MAX_OWN_BYTES: usize = 1024;

/// Maximum number of lines that this server adds to an output.
const MAX_OWN_LINES: usize = 8;

/// The key in a call's `_meta` for the client's name of the turn.
const TURN_KEY: &str = "agent-bash/turn";

impl McpServer {
    pub(super) fn new(
        session: Arc<Conversation>,
        calls: Arc<RunningCalls>,
        clock: Arc<dyn Clock>,
        options: McpOptions,
    ) -> Self {
        let adapter = options.adapter.map(|adapter| {
            let adapted =
                ClientAdapters::new(Arc::clone(&session), Arc::clone(&calls), Arc::clone(&clock));
            AdapterTools::new(adapter, adapted, options.structured)
        });
        let jobs = JobTools::new(Arc::clone(&session), Arc::clone(&calls), Arc::clone(&clock));
        let tasks = CallTasks::new(Arc::clone(&calls), Arc::clone(&clock));
        Self {
            session,
            calls,
            jobs,
            tasks,
            adapter,
            log: LogLevel::default(),
            clock,
            options,
            questions: ApprovalQuestions::default(),
        }
    }

    /// Returns the offered tools, with `bash` first unless an adapter's tools are offered.
    fn tools(&self, bash: &ToolSchema) -> Vec<Tool> {
        match &self.adapter {
            Some(adapter) => adapter.all(&self.session),
            None => tools::all(&self.session, bash, self.options.structured),
        }
    }

    /// Calls a tool of this server.
    async fn answer(
        &self,
        tool: McpTool,
        arguments: Value,
        context: &RequestContext<RoleServer>,
        approver: Option<Arc<RequestApprover>>,
        cancel: &Cancel,
    ) -> Result<CallToolResponse, String> {
        let window = window(context).map(without_own_lines);
        let answer = match tool {
            McpTool::Bash => return self.bash(arguments, context, approver, cancel).await,
            McpTool::Output => {
                let args = arguments_of(arguments)?;
                self.jobs.output(args, window, cancel).await
            }
            McpTool::Input => self.jobs.input(arguments_of(arguments)?, cancel).await,
            McpTool::Kill => self.jobs.kill(&arguments_of(arguments)?, cancel).await,
            McpTool::Jobs => self.jobs.list(cancel).await,
            McpTool::Changes => {
                let args = arguments_of(arguments)?;
                let approver = approver.as_deref().map(|asker| asker as &dyn Approver);
                changes::answer(&self.session, args, window, approver, cancel).await
            }
            McpTool::Read => self.read(arguments_of(arguments)?, window, cancel).await,
        };
        Ok(answer?.into_mcp(self.options.structured).into())
    }

    /// Serves `read_artifact`.
    async fn read(
        &self,
        args: ReadArgs,
        window: Option<Window>,
        cancel: &Cancel,
    ) -> Result<ToolAnswer, String> {
        if let Some(remote_host) = self.session.remote_host() {
            return artifacts::read_remote(&**remote_host, &args, window, cancel).await;
        }
        let session = Arc::clone(&self.session);
        let read = agent_bash::run_blocking(move || artifacts::read(&session, &args, window));
        read.await.map_err(|error| error.to_string())?
    }

    /// Calls an offered tool, of this server or of the adapter, and returns its answer.
    async fn call_offered_tool(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        approver: Option<Arc<RequestApprover>>,
        cancel: &Cancel,
    ) -> Result<CallToolResponse, ErrorData> {
        if !context.meta.contains_key(TURN_KEY) {
            let agent = self.options.agent.as_deref();
            let begun = super::call_turn::begin(&self.session, &context.meta, agent);
            begun.map_err(|refused| ErrorData::internal_error(refused.to_string(), None))?;
        }
        let input = Value::Object(request.arguments.unwrap_or_default());
        if let Some(adapter) = &self.adapter {
            let window = window(context).map(without_own_lines);
            let call = adapter.call(&request.name, &input, (window, approver), cancel);
            return Ok(Box::pin(call).await?.into());
        }
        let tool = McpTool::named(&request.name);
        let Some(tool) = tool.filter(|tool| tool.is_offered(&self.session)) else {
            let offered = tools::names(&self.session).join(", ");
            let error = format!("there is no tool `{}`; offered are {offered}", request.name);
            return Err(ErrorData::invalid_params(error, None));
        };
        let answer = Box::pin(self.answer(tool, input, context, approver, cancel)).await;
        Ok(answer
            .unwrap_or_else(|error| CallToolResult::error(vec![ContentBlock::text(error)]).into()))
    }
}

impl ServerHandler for McpServer {
    #[expect(deprecated, reason = "as in `log`")]
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_resources()
            .enable_tools()
            .enable_tasks()
            .build();
        let name = Implementation::new("agent-bash", env!("CARGO_PKG_VERSION"));
        let config =
            ServerConfig::new(capabilities).with_server_info(name.with_title("agent-bash"));
        if self.adapter.is_some() {
            // The adapter's models know their tools without instructions.
            return config;
        }
        let text = instructions::text(
            self.session.tool().profile(),
            self.session.changes().is_recording(),
            self.options.handle_after,
        );
        config.with_instructions(text)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // `rmcp` only needs parts of the definition that do not depend on the session's state.
        let tools = self.tools(&self.session.tool().schema());
        tools.into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let bash = self.session.tool().offered_schema().await;
        Ok(ListToolsResult::with_all_items(self.tools(&bash)))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asks = self.options.asks;
        let approver = asks.then(|| self.questions.approver(&mut request, &context, &self.clock));
        let cancel = Cancel::new();
        let mut call = pin!(self.call_offered_tool(request, &context, approver.clone(), &cancel));
        let result = tokio::select! {
            biased;
            result = &mut call => Some(result),
            () = context.ct.cancelled() => {
                cancel.cancel();
                None
            }
        };
        let result = match result {
            Some(result) => result,
            None => call.await,
        };
        match approver.and_then(|approver| self.questions.required(&approver)) {
            Some(required) => Ok(required.into()),
            None => result.map(|response| as_shown_whole(response, &context)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if let Some(remote_host) = self.session.remote_host() {
            let resources = artifacts::remote_resources(&**remote_host).await;
            let resources = resources.map_err(|error| ErrorData::internal_error(error, None))?;
            return Ok(ListResourcesResult::with_all_items(resources));
        }
        let session = Arc::clone(&self.session);
        let resources = agent_bash::run_blocking(move || {
            let mut resources = artifacts::resources(&session);
            resources.extend(changes::resources(&session));
            resources
        })
        .await;
        let resources = resources.map_err(|error| internal(&error))?;
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut templates = vec![artifacts::template()];
        if self.session.remote_host().is_none() && self.session.changes().is_recording() {
            templates.push(changes::template());
        }
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (session, uri) = (Arc::clone(&self.session), request.uri.clone());
        let text = if let Some(remote_host) = self.session.remote_host() {
            Ok(artifacts::remote_resource(&**remote_host, uri).await)
        } else {
            let read = agent_bash::run_blocking(move || {
                if uri.starts_with(changes::SCHEME) {
                    changes::resource(&session, &uri)
                } else {
                    artifacts::resource(&session, &uri)
                }
            });
            read.await
        };
        match text.map_err(|error| internal(&error))? {
            Ok(text) => {
                let contents = vec![ResourceContents::text(text, request.uri)];
                Ok(ReadResourceResult::new(contents).into())
            }
            Err(error) => {
                let data = json!({ "uri": request.uri });
                Err(ErrorData::resource_not_found(error, Some(data)))
            }
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let state = self.tasks.state(request.task_id, self.options.structured);
        Ok(GetTaskResult::new(state.await?))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update(&request.task_id)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel(&request.task_id)
    }

    /// Refuses a request of an unknown method, or with invalid parameters. `rmcp` passes both on as
    /// custom requests.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        Err(match parameter_error(&method, params.unwrap_or_default()) {
            Some(error) => {
                ErrorData::invalid_params(format!("`params` of {method}: {error}"), None)
            }
            None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        })
    }

    #[expect(deprecated, reason = "as in `log`")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.log.set(request.level);
        Ok(())
    }
}

/// Returns the amount of text that the requesting client passes on to its model uncut.
fn window(context: &RequestContext<RoleServer>) -> Option<Window> {
    windows::of(&context.client_info()?.name)
}

/// Returns the response without its mark as an error, if the client would show its model the marked
/// text in part or as JSON. The text says how the call ended.
fn as_shown_whole(
    mut response: CallToolResponse,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    if let CallToolResponse::Complete(result) = &mut response
        && result.is_error == Some(true)
        && let Some(client) = context.client_info()
        && let Some(limit) = windows::error_limit(&client.name)
    {
        let texts = result.content.iter().filter_map(ContentBlock::as_text);
        let is_whole = texts.map(|text| text.text.len()).sum::<usize>() <= limit;
        result.is_error = Some(is_whole);
    }
    response
}

/// Returns the window minus the space for the lines that this server adds.
fn without_own_lines(window: Window) -> Window {
    window.less(MAX_OWN_BYTES, MAX_OWN_LINES)
}

fn arguments_of<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    T::deserialize(&arguments).map_err(|error| match arguments {
        Value::Object(fields) => field_error::<T>(fields, &error),
        _ => error.to_string(),
    })
}

fn internal(error: &std::io::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
