//! The tools of an adapter instead of the default tools: with names, fields and texts that a family
//! of models knows.

use super::approval::RequestApprover;
use super::jobs::ToolAnswer;
use super::tools::{FRAME_BYTES, for_claude_code, object};
use agent_bash::Conversation;
use agent_bash::core::{Cancel, Window};
use agent_bash::tools::adapter::Adapter;
use agent_bash_protocol::data::AdapterCallData;
use agent_bash_running::ClientAdapters;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use serde_json::Value;
use std::sync::Arc;

/// Maximum number of lines that an adapter adds around an output.
const MAX_HEADING_LINES: usize = 8;

/// The tools of one adapter, for one client.
#[derive(Debug)]
pub(super) struct AdapterTools {
    adapter: &'static Adapter,
    calls: ClientAdapters,
    /// True to add structured data to the answers of tools that define its form.
    structured: bool,
}

impl AdapterTools {
    pub(super) fn new(adapter: &'static Adapter, calls: ClientAdapters, structured: bool) -> Self {
        Self {
            adapter,
            calls,
            structured,
        }
    }

    /// Returns the tool definitions for a client.
    pub(super) fn all(&self, session: &Conversation) -> Vec<Tool> {
        let profile = self.adapter.limits.profile(session.tool().profile());
        let max_answer_bytes = profile.output.truncation.longest() + FRAME_BYTES;
        let hints = ToolAnnotations::new().read_only(false);
        let hints = hints.destructive(true).open_world(true);
        let tools = self.adapter.tools.iter();
        tools
            .map(|tool| {
                Tool::new(tool.name, tool.about, object(tool.input_schema()))
                    .with_annotations(hints.clone())
                    .with_meta(for_claude_code(max_answer_bytes))
            })
            .collect()
    }

    /// Serves a call of one of the tools.
    pub(super) async fn call(
        &self,
        tool: &str,
        input: &Value,
        (window, approver): (Option<Window>, Option<Arc<RequestApprover>>),
        cancel: &Cancel,
    ) -> Result<CallToolResult, ErrorData> {
        let tool = self.adapter.tool(tool);
        let tool = tool.map_err(|error| ErrorData::invalid_params(error, None))?;
        let window = window.map(|window| window.less(0, MAX_HEADING_LINES));
        let mut calls = self.calls.clone().with_client_limit(window);
        if let Some(approver) = approver {
            calls = calls.with_approver(approver);
        }
        let answer = calls.call(self.adapter, tool.name, input, cancel);
        let AdapterCallData {
            content,
            is_error,
            structured,
            ..
        } = Box::pin(answer).await;
        let answer = ToolAnswer {
            text: content,
            data: structured.unwrap_or_default(),
            is_error,
        };
        Ok(answer.into_mcp(self.structured))
    }
}
