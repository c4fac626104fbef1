//! The tool definitions of adapters on each interface that returns them:
//! `adapters/NAME.tools.json`.

use agent_bash_tests::conformance::{Adapter, shake_hands};
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Result, ensure};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The time that an interface may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Checks the definitions that one interface returns.
type DefinitionCheck = fn(&Adapter) -> Result<()>;

/// A test per adapter and interface.
pub(crate) fn trials(adapters: Vec<Adapter>) -> Vec<Trial> {
    let surfaces: [(&str, DefinitionCheck); 4] = [
        ("rpc", by_rpc),
        ("cli", by_cli),
        ("mcp", by_mcp),
        ("docs", by_docs),
    ];
    let mut trials = Vec::new();
    for adapter in adapters.into_iter().map(Arc::new) {
        for (surface, check) in surfaces {
            let adapter = Arc::clone(&adapter);
            let name = format!("{surface} adapters/{}: tool definitions", adapter.name);
            trials.push(Trial::test(name, move || {
                check(&adapter).map_err(|error| format!("{error:#}").into())
            }));
        }
    }
    trials
}

fn by_rpc(adapter: &Adapter) -> Result<()> {
    let world = World::new()?;
    let mut server = serve(&world, &["rpc"])?;
    server.send(&json!({"id": 1, "type": "schema", "adapter": adapter.name}))?;
    let answer = server.next_where(PATIENCE, |line| line["id"] == 1)?;
    same(&answer["data"]["tools"], &adapter.tools)
}

fn by_cli(adapter: &Adapter) -> Result<()> {
    let world = World::new()?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["schema", "--adapter", &adapter.name]);
    let ran = product::run(command, None)?;
    let printed: Value = serde_json::from_str(&ran.stdout)?;
    same(&printed["tools"], &adapter.tools)
}

/// MCP has no provider-specific tool types: a tool defined by its type gets explicit fields here.
fn by_mcp(adapter: &Adapter) -> Result<()> {
    let world = World::new()?;
    let mut server = serve(&world, &["mcp", "--adapter", &adapter.name])?;
    shake_hands(&mut server)?;
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))?;
    let answer = server.next_where(PATIENCE, |line| line["id"] == 1)?;
    let listed = answer["result"]["tools"].as_array();
    let listed = listed.map_or(&[][..], Vec::as_slice);
    let definitions = adapter.tools.as_array().map_or(&[][..], Vec::as_slice);
    ensure!(!definitions.is_empty(), "no tools");
    for (index, definition) in definitions.iter().enumerate() {
        let tool = listed.get(index).unwrap_or(&Value::Null);
        ensure!(tool["inputSchema"]["type"] == "object", "{answer}");
        if definition.get("input_schema").is_some() {
            let published = json!({
                "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"],
            });
            same(&published, definition)?;
        }
    }
    Ok(())
}

/// The page and the program must name the package and version that the golden texts are from.
fn by_docs(adapter: &Adapter) -> Result<()> {
    let source = &adapter.source;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/adapters.md");
    let page = std::fs::read_to_string(page)?;
    let row = format!("| `{}` |", adapter.name);
    let row = page.lines().find(|line| line.starts_with(&row));
    let named = format!("`{}` {}", source.package, source.version);
    ensure!(
        row.is_some_and(|row| row.contains(&named)),
        "docs/adapters.md does not say {named}: {row:?}"
    );
    let published = agent_bash::tools::adapters::by_name(&adapter.name)?.source;
    let named = format!("{} {}", source.package, source.version);
    ensure!(
        published.contains(&named),
        "{published:?} does not say {named}"
    );
    Ok(())
}

fn serve(world: &World, words: &[&str]) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command.args(words);
    ServerClient::start(command)
}

fn same(published: &Value, definition: &Value) -> Result<()> {
    ensure!(
        published == definition,
        "published {}\nnot {}",
        serde_json::to_string_pretty(published)?,
        serde_json::to_string_pretty(definition)?
    );
    Ok(())
}
