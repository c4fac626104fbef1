//! Adapters against the SDKs that define their interfaces: checks what the SDKs really accept.

use super::{PATIENCE, Tools, ran_well, root, world};
use agent_bash_tests::conformance::{self, Adapter};
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// Contains the types that the Agents SDK is written with.
const OPENAI: &str = "openai==3.54.0";

/// The last version of the compiler that is written in JavaScript.
const TYPESCRIPT: &str = "typescript@5.9.3";

/// Time limit of a call.
const CALL: Duration = Duration::from_secs(60);

/// The Python and TypeScript packages, in the versions that the golden texts name as their source.
pub(crate) fn packages() -> Result<(Vec<String>, Vec<String>)> {
    let adapters = conformance::load(&root()?.join("tests/conformance"))?.adapters;
    let named = |registry: &str, joint: &str| -> Vec<String> {
        let of = |adapter: &&Adapter| adapter.source.registry == registry;
        let mut named: Vec<_> = adapters
            .iter()
            .filter(of)
            .map(|Adapter { source, .. }| format!("{}{joint}{}", source.package, source.version))
            .collect();
        named.dedup();
        named
    };
    let mut python = named("pypi", "==");
    python.push(OPENAI.to_owned());
    // Sources that are programs have no types.
    let mut types = named("npm", "@");
    types.retain(|package| package.starts_with("@anthropic-ai/claude-agent-sdk@"));
    types.push(TYPESCRIPT.to_owned());
    Ok((python, types))
}

/// The SDK's own tool and the adapter get the same calls.
pub(crate) fn anthropic(tools: &Tools) -> Result<()> {
    by_script(tools, "anthropic")
}

/// The SDK's runner executes the calls of a model stub with the adapter's tool.
pub(crate) fn openai(tools: &Tools) -> Result<()> {
    by_script(tools, "openai")
}

fn by_script(tools: &Tools, part: &str) -> Result<()> {
    let world = world()?;
    let mut command = world.command(tools.python()?);
    command
        .arg(root()?.join("tests/clients/adapters.py"))
        .arg(part);
    let printed = ran_well(world, command)?;
    ensure!(printed == "ok\n", "{printed}");
    Ok(())
}

/// Compiles the adapter's answers as values of the SDK's types; slightly wrong answers must be
/// rejected.
pub(crate) fn claude(tools: &Tools) -> Result<()> {
    let world = world()?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("rpc");
    let mut server = ServerClient::start(command)?;
    let mut script = String::from(
        "import type { BashInput, BashOutput, TaskStopInput, TaskStopOutput } from \"@anthropic-ai/claude-agent-sdk/sdk-tools\";\n",
    );
    let mut add = |name: &str, kind: &str, value: &Value| {
        // Writing to a String cannot fail.
        let _ = writeln!(script, "export const {name}: {kind} = {value};");
    };
    let declared = ask(
        &mut server,
        json!({"type": "schema", "adapter": "claude-code"}),
    )?;
    for (index, name) in ["Bash", "TaskStop"].into_iter().enumerate() {
        let tool = &declared["tools"][index];
        ensure!(tool["name"] == name, "{declared}");
        // The answers have exactly the fields of the type.
        let input = example(&tool["input_schema"])?;
        add(
            &format!("input{index}"),
            &format!("Required<{name}Input>"),
            &input,
        );
    }
    let mut call = |tool: &str, input: Value| -> Result<Value> {
        let message =
            json!({"type": "adapter_call", "adapter": "claude-code", "tool": tool, "input": input});
        let answer = ask(&mut server, message)?;
        let structured = answer["structured"].clone();
        ensure!(structured.is_object(), "nothing for programs: {answer}");
        Ok(structured)
    };
    let mut answers = Vec::new();
    for input in [
        json!({"command": "echo out; echo err >&2", "description": "Say it"}),
        json!({"command": "exit 3"}),
        json!({"command": "echo part; sleep 60", "timeout": 1000}),
        json!({"command": "seq 50000"}),
        json!({"command": "git push --force"}),
        json!({"command": "cd nowhere-at-all"}),
        json!({"command": "sleep 300", "run_in_background": true}),
    ] {
        answers.push(call("Bash", input)?);
    }
    let stopped = call(
        "TaskStop",
        json!({"task_id": answers[6]["backgroundTaskId"]}),
    )?;
    for (index, answer) in answers.iter().enumerate() {
        add(&format!("output{index}"), "BashOutput", answer);
    }
    add("stopped", "TaskStopOutput", &stopped);
    server.end()?;

    let printed = compile(&world, tools, &script)?;
    ensure!(printed.is_empty(), "{printed}\n{script}");
    // Control: a wrong name, a wrong type, a wrong field.
    for (from, to, want) in [
        (
            "\"interrupted\":", "\"wasInterrupted\":", "'\"wasInterrupted\"'",
        ),
        ("\"stderr\":\"\"", "\"stderr\":null", "Type 'null'"),
        ("\"task_type\":", "\"kind\":", "'\"kind\"'"),
        (
            "\"run_in_background\":", "\"background\":", "'\"background\"'",
        ),
    ] {
        let off = script.replacen(from, to, 1);
        ensure!(off != script, "no {from} in {script}");
        let printed = compile(&world, tools, &off)?;
        ensure!(printed.contains(want), "{to} is taken: {printed}");
    }
    let left = world.end(PATIENCE);
    ensure!(left.is_empty(), "left behind:\n{left}");
    Ok(())
}

fn ask(server: &mut ServerClient, mut message: Value) -> Result<Value> {
    let id = server.new_id();
    message["id"] = id.into();
    server.send(&message)?;
    let response = server.next_where(CALL, |line| line["id"] == id)?;
    ensure!(response["success"] == true, "{response}");
    Ok(response["data"].clone())
}

/// A value with every field of a schema.
fn example(schema: &Value) -> Result<Value> {
    let properties = schema["properties"].as_object();
    let properties = properties.with_context(|| format!("no properties: {schema}"))?;
    let fields = properties.iter().map(|(name, field)| {
        let value = match field["type"].as_str() {
            Some("string") => json!(""),
            Some("boolean") => json!(true),
            Some("integer" | "number") => json!(1),
            other => anyhow::bail!("`{name}` has the type {other:?}"),
        };
        Ok((name.clone(), value))
    });
    Ok(fields.collect::<Result<Map<_, _>>>()?.into())
}

/// The compiler's errors for a script; empty if it is accepted.
fn compile(world: &World, tools: &Tools, script: &str) -> Result<String> {
    // In the directory of its packages, where the compiler looks for them.
    let packages = tools.types()?;
    let file = packages.join("answers.ts");
    std::fs::write(&file, script)?;
    let mut command = world.command("node");
    command
        .arg(packages.join("node_modules/typescript/bin/tsc"))
        .args(["--strict", "--noEmit", "--module", "nodenext"])
        .arg(file);
    Ok(product::run(command, None)?.stdout)
}
