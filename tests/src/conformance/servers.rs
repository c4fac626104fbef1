//! The servers as interfaces. All calls of a case use one server, as an agent in another language
//! would.

use super::case::Case;
use super::surface::{Call, Reply, Surface};
use crate::server_client::ServerClient;
use crate::world::World;
use crate::{poll, product, targets};
use agent_bash_core::ToolResult;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);

/// `agent-bash rpc`: `tool_call`.
#[derive(Debug)]
pub struct Rpc;

impl Surface for Rpc {
    fn name(&self) -> &'static str {
        "rpc"
    }

    fn takes(&self, _: &Case) -> bool {
        true
    }

    fn call(&self, call: &Call<'_>, server: &mut Option<ServerClient>) -> Result<Reply> {
        let server = match server {
            Some(server) => server,
            None => server.insert(start(call, "rpc", None)?),
        };
        by_rpc(call, server)
    }
}

/// `agent-bash rpc --on`: `tool_call` on a target that a real engine leads to.
#[derive(Debug)]
pub struct RpcOn {
    /// The name in reports.
    pub name: &'static str,
    /// Makes the targets of worlds.
    pub engine: Box<dyn TargetSetup>,
}

/// Makes the target [`targets::NAME`] of a world. The returned value must live as long as the
/// world.
pub trait TargetSetup: std::fmt::Debug + Send + Sync {
    /// Makes the target, with these variables in the environment of all its commands.
    ///
    /// # Errors
    /// The engine cannot be started.
    fn connect(
        &self,
        world: &World,
        environment: &BTreeMap<String, String>,
    ) -> Result<Box<dyn Any + Send + Sync>>;
}

impl Surface for RpcOn {
    fn name(&self) -> &'static str {
        self.name
    }

    fn call(&self, call: &Call<'_>, server: &mut Option<ServerClient>) -> Result<Reply> {
        let server = if let Some(server) = server {
            server
        } else {
            let target = self.engine.connect(call.world, call.environment)?;
            let on = Some(format!("--on={}", targets::NAME));
            server.insert(start(call, "rpc", on)?.keep_alive(target))
        };
        by_rpc(call, server)
    }
}

fn by_rpc(call: &Call<'_>, server: &mut ServerClient) -> Result<Reply> {
    let request: Value = serde_json::from_str(call.request)?;
    let id = server.new_id();
    server.send(&match call.adapter {
        None => json!({"id": id, "type": "tool_call", "request": request, "tools": call.tools}),
        Some((adapter, tool)) => json!({
            "id": id, "type": "adapter_call", "adapter": adapter, "tool": tool, "input": request,
        }),
    })?;
    if let Some(file) = &call.cancel_when {
        poll::until(CALL_TIMEOUT, || file.exists().then_some(()));
        server.send(&json!({"id": "cancel", "type": "cancel", "target": id}))?;
    }
    let response = server.next_where(CALL_TIMEOUT, |line| line["id"] == id)?;
    ensure!(response["success"] == true, "{response}");
    let data = &response["data"];
    if call.adapter.is_none() {
        return reply(data.clone());
    }
    let some = |value: &Value| (!value.is_null()).then(|| value.clone());
    Ok(Reply {
        text: content(&data["content"])?,
        is_error: data["is_error"].as_bool(),
        structured: some(&data["structured"]),
        result: some(&data["result"]),
        ..Reply::default()
    })
}

/// `agent-bash mcp`: the tool `bash`.
#[derive(Debug)]
pub struct Mcp;

impl Surface for Mcp {
    fn name(&self) -> &'static str {
        "mcp"
    }

    /// The protocol requires arguments to be an object, and a cancelled request gets no response.
    fn takes(&self, case: &Case) -> bool {
        case.steps.iter().all(|step| {
            let is_object = step.request.as_ref().is_none_or(|request| {
                serde_json::from_str::<Value>(request).is_ok_and(|request| request.is_object())
            });
            is_object && step.cancel_when.is_none()
        })
    }

    fn call(&self, call: &Call<'_>, server: &mut Option<ServerClient>) -> Result<Reply> {
        let server = if let Some(server) = server {
            server
        } else {
            let server = server.insert(start(call, "mcp", call.tools_option())?);
            shake_hands(server)?;
            server
        };
        let request: Value = serde_json::from_str(call.request)?;
        let id = server.new_id();
        server.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": call.adapter.map_or("bash", |(_, tool)| tool), "arguments": request},
        }))?;
        let response = server.next_where(CALL_TIMEOUT, |line| line["id"] == id)?;
        let answer = &response["result"];
        if call.adapter.is_some() {
            let [content] = answer["content"].as_array().map_or(&[][..], Vec::as_slice) else {
                bail!("the content is not one text: {response}");
            };
            return Ok(Reply {
                text: self::content(&content["text"])?,
                is_error: answer["isError"].as_bool(),
                ..Reply::default()
            });
        }
        let result = answer["structuredContent"].clone();
        ensure!(
            answer["isError"] == result["is_error"],
            "isError is not is_error: {response}"
        );
        ensure!(
            answer["content"] == json!([{"type": "text", "text": result["text"]}]),
            "the content is not the text: {response}"
        );
        reply(result)
    }
}

/// Initialises a session of the Model Context Protocol.
///
/// # Errors
/// The server does not respond correctly.
pub fn shake_hands(server: &mut ServerClient) -> Result<Value> {
    shake_hands_as(server, "test")
}

/// Initialises a session as [`shake_hands`] does, with `client` as the client's name.
///
/// # Errors
/// As for [`shake_hands`].
pub fn shake_hands_as(server: &mut ServerClient, client: &str) -> Result<Value> {
    server.send(&json!({
        "jsonrpc": "2.0", "id": "hello", "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": client, "version": "1"},
        },
    }))?;
    let response = server.next_where(CALL_TIMEOUT, |line| line["id"] == "hello")?;
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    Ok(response["result"].clone())
}

fn start(call: &Call<'_>, command: &str, option: Option<String>) -> Result<ServerClient> {
    let mut program = call.world.command(product::agent_bash()?);
    program
        .args([command, "--profile", call.profile])
        .args(adapter(call, command))
        .args(option)
        // Cases may take longer than the default.
        .env("AGENT_BASH_MCP_HANDLE_AFTER", "0")
        // The result object is compared.
        .env("AGENT_BASH_MCP_STRUCTURED", "on")
        .envs(call.environment);
    ServerClient::start(program)
}

/// Returns the option that names the adapter. MCP gets the adapter once at the start, RPC with
/// every call.
fn adapter(call: &Call<'_>, command: &str) -> Option<String> {
    let (name, _) = call.adapter.filter(|_| command == "mcp")?;
    Some(format!("--adapter={name}"))
}

fn content(value: &Value) -> Result<String> {
    let text = value.as_str();
    Ok(text
        .with_context(|| format!("the content is no text: {value}"))?
        .to_owned())
}

fn reply(result: Value) -> Result<Reply> {
    let typed: ToolResult = serde_json::from_value(result.clone())
        .with_context(|| format!("this is no result object: {result}"))?;
    Ok(Reply {
        exit_code: Some(typed.status.exit_code().into()),
        text: typed.text,
        result: Some(result),
        ..Reply::default()
    })
}
