//! The servers as interfaces. All calls of a case use one server, as an agent in another language
//! would.

use super::action::{Action, SCREEN_SECONDS, TerminalUse};
use super::case::Case;
use super::surface::{Call, Reply, Surface};
use crate::prompt_page;
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
        by_rpc(call, rpc_server(call, server)?)
    }

    fn act(
        &self,
        call: &Call<'_>,
        action: &Action,
        server: &mut Option<ServerClient>,
    ) -> Result<Reply> {
        act_by_rpc(action, rpc_server(call, server)?)
    }
}

fn rpc_server<'a>(
    call: &Call<'_>,
    server: &'a mut Option<ServerClient>,
) -> Result<&'a mut ServerClient> {
    if let Some(server) = server {
        return Ok(server);
    }
    let server = server.insert(start(call, "rpc", None)?);
    if !call.answers.is_empty() {
        ask(server, json!({"type": "hello", "prompts": true}))?;
    }
    Ok(server)
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

    /// A target has no terminals, and its prompts do not reach the user.
    fn takes(&self, case: &Case) -> bool {
        case.adapter.is_none() && !case.drives_terminal() && !case.asks_user()
    }

    fn call(&self, call: &Call<'_>, server: &mut Option<ServerClient>) -> Result<Reply> {
        by_rpc(call, self.server(call, server)?)
    }

    fn act(
        &self,
        call: &Call<'_>,
        action: &Action,
        server: &mut Option<ServerClient>,
    ) -> Result<Reply> {
        act_by_rpc(action, self.server(call, server)?)
    }
}

impl RpcOn {
    fn server<'a>(
        &self,
        call: &Call<'_>,
        server: &'a mut Option<ServerClient>,
    ) -> Result<&'a mut ServerClient> {
        if let Some(server) = server {
            return Ok(server);
        }
        let target = self.engine.connect(call.world, call.environment)?;
        let on = Some(format!("--on={}", targets::NAME));
        Ok(server.insert(start(call, "rpc", on)?.keep_alive(target)))
    }
}

fn by_rpc(call: &Call<'_>, server: &mut ServerClient) -> Result<Reply> {
    let request: Value = serde_json::from_str(call.request)?;
    let id = server.new_id();
    server.send(&match call.adapter {
        None => json!({
            "id": id, "type": "tool_call", "request": request, "tools": call.tools,
            "turn": call.turn_name,
        }),
        Some((adapter, tool)) => json!({
            "id": id, "type": "adapter_call", "adapter": adapter, "tool": tool, "input": request,
        }),
    })?;
    if let Some(file) = &call.cancel_when {
        poll::until(CALL_TIMEOUT, || file.exists().then_some(()));
        server.send(&json!({"id": "cancel", "type": "cancel", "target": id}))?;
    }
    let mut answers = call.answers.iter();
    let response = loop {
        let line = server.next_where(CALL_TIMEOUT, |line| line["id"] == id)?;
        if line["type"] != "prompt" {
            break line;
        }
        server.send(&json!({
            "id": "answer", "type": "prompt.answer", "prompt": line["prompt"],
            "answer": answers.next(),
        }))?;
    };
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

fn act_by_rpc(action: &Action, server: &mut ServerClient) -> Result<Reply> {
    let response = match (action, action.rpc()) {
        (_, Some(request)) => ask(server, request)?,
        (Action::Terminal(used), None) => drive_by_rpc(used, server)?,
        (other, None) => bail!("RPC does not have {other:?}"),
    };
    let data = &response["data"];
    let texts = [&data["text"], &data["output"], &data["screen"]["text"]];
    let text = texts.into_iter().find_map(Value::as_str);
    let text = text.or_else(|| response["error"].as_str());
    Ok(Reply {
        text: text.unwrap_or_default().to_owned(),
        data: Some(data.clone()),
        is_error: response["success"].as_bool().map(|is_served| !is_served),
        ..Reply::default()
    })
}

/// Sends a request and returns its response.
fn ask(server: &mut ServerClient, mut request: Value) -> Result<Value> {
    let id = server.new_id();
    request["id"] = json!(id);
    server.send(&request)?;
    server.next_where(CALL_TIMEOUT, |line| line["id"] == id)
}

/// Drives a terminal. Returns the response with the last screen.
fn drive_by_rpc(used: &TerminalUse, server: &mut ServerClient) -> Result<Value> {
    let start = json!({"type": "terminal.start", "request": used.command, "size": used.size});
    let started = ask(server, start)?;
    let name = &started["data"]["terminal"];
    let until = |server: &mut ServerClient, line: &str| {
        let request = json!({
            "type": "terminal.screen", "terminal": name, "until": {"line": line},
            "timeout": SCREEN_SECONDS,
        });
        let response = ask(server, request)?;
        ensure!(
            response["data"]["met"].is_object(),
            "no line is {line}: {response}"
        );
        Ok(response)
    };
    for input in &used.input {
        until(server, &input.until)?;
        let request = json!({
            "type": "terminal.input", "terminal": name, "text": input.text, "keys": input.keys,
        });
        let response = ask(server, request)?;
        ensure!(response["success"] == true, "{response}");
    }
    let last = until(server, &used.until)?;
    ask(server, json!({"type": "terminal.end", "terminal": name}))?;
    Ok(last)
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

    fn act(
        &self,
        call: &Call<'_>,
        action: &Action,
        server: &mut Option<ServerClient>,
    ) -> Result<Reply> {
        let server = mcp_server(call, server)?;
        let response = match (action, action.mcp()) {
            (_, Some((tool, arguments))) => call_tool(server, tool, &arguments, None)?,
            (Action::Terminal(used), None) => drive_by_mcp(used, server)?,
            (other, None) => bail!("MCP does not have {other:?}"),
        };
        let answer = &response["result"];
        let screen = &answer["structuredContent"]["screen"]["text"];
        let text = Some(screen).filter(|screen| screen.is_string());
        Ok(Reply {
            text: content(text.unwrap_or(&answer["content"][0]["text"]))?,
            data: Some(answer["structuredContent"].clone()),
            is_error: answer["isError"].as_bool(),
            ..Reply::default()
        })
    }

    fn call(&self, call: &Call<'_>, server: &mut Option<ServerClient>) -> Result<Reply> {
        let server = mcp_server(call, server)?;
        let request: Value = serde_json::from_str(call.request)?;
        let tool = call.adapter.map_or("bash", |(_, tool)| tool);
        let response = call_tool_answering(server, tool, &request, call)?;
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

fn mcp_server<'a>(
    call: &Call<'_>,
    server: &'a mut Option<ServerClient>,
) -> Result<&'a mut ServerClient> {
    if let Some(server) = server {
        return Ok(server);
    }
    let server = server.insert(start(call, "mcp", call.tools_option())?);
    if call.answers.is_empty() {
        shake_hands(server)?;
    } else {
        // Passwords are asked for on a page, which this revision knows.
        initialise(
            server,
            "test",
            "2025-11-25",
            &json!({"elicitation": {"url": {}}}),
        )?;
    }
    Ok(server)
}

/// Calls a tool, and answers the prompts of the call as its user. Returns the response.
fn call_tool_answering(
    server: &mut ServerClient,
    tool: &str,
    arguments: &Value,
    call: &Call<'_>,
) -> Result<Value> {
    let id = send_tool_call(server, tool, arguments, call.turn_name)?;
    let mut answers = call.answers.iter();
    loop {
        let line = server.next_where(CALL_TIMEOUT, |line| {
            line["method"] == "elicitation/create" || line["id"] == id
        })?;
        if line["method"].is_null() {
            return Ok(line);
        }
        let answer = answers.next();
        let action = if answer.is_some() {
            "accept"
        } else {
            "decline"
        };
        server.send(&json!({"jsonrpc": "2.0", "id": line["id"], "result": {"action": action}}))?;
        if let Some(answer) = answer {
            let url = line["params"]["url"].as_str().context("a URL")?;
            let form = format!("answer={}", answer.replace(' ', "+"));
            prompt_page::request(url, "POST", &form)?;
        }
    }
}

/// Calls a tool and returns the response.
fn call_tool(
    server: &mut ServerClient,
    tool: &str,
    arguments: &Value,
    turn: Option<&str>,
) -> Result<Value> {
    let id = send_tool_call(server, tool, arguments, turn)?;
    server.next_where(CALL_TIMEOUT, |line| line["id"] == id)
}

/// Sends the call of a tool. Returns the id of the response.
fn send_tool_call(
    server: &mut ServerClient,
    tool: &str,
    arguments: &Value,
    turn: Option<&str>,
) -> Result<Value> {
    let id = json!(server.new_id());
    let mut params = json!({"name": tool, "arguments": arguments});
    if let Some(turn) = turn {
        params["_meta"] = json!({"agent-bash/turn": turn});
    }
    server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))?;
    Ok(id)
}

/// Drives a terminal. Returns the response with the last screen.
fn drive_by_mcp(used: &TerminalUse, server: &mut ServerClient) -> Result<Value> {
    let start = json!({"command": used.command, "pty": true, "size": used.size});
    let started = call_tool(server, "bash", &start, None)?;
    let name = &started["result"]["structuredContent"]["status"]["job"];
    let until = |server: &mut ServerClient, line: &str| {
        let arguments = json!({"job": name, "until": {"line": line}, "wait": SCREEN_SECONDS});
        let response = call_tool(server, "bash_output", &arguments, None)?;
        let met = &response["result"]["structuredContent"]["met"];
        ensure!(met.is_object(), "no line is {line}: {response}");
        Ok(response)
    };
    for input in &used.input {
        until(server, &input.until)?;
        let arguments = json!({"job": name, "text": input.text, "keys": input.keys});
        let response = call_tool(server, "bash_input", &arguments, None)?;
        ensure!(response["result"]["isError"] != true, "{response}");
    }
    let last = until(server, &used.until)?;
    call_tool(server, "bash_kill", &json!({"job": name}), None)?;
    Ok(last)
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
    initialise(server, client, "2025-06-18", &json!({}))
}

/// Initialises a session of this revision, with the client's name and capabilities.
fn initialise(
    server: &mut ServerClient,
    client: &str,
    revision: &str,
    capabilities: &Value,
) -> Result<Value> {
    server.send(&json!({
        "jsonrpc": "2.0", "id": "hello", "method": "initialize",
        "params": {
            "protocolVersion": revision, "capabilities": capabilities,
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
