//! Runs one case through one interface.

use super::action::Action;
use super::case::{Case, Step};
use super::surface::{Call, Surface};
use super::{check, text};
use crate::server_client::ServerClient;
use crate::world::World;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use std::path::Path;
use std::time::Duration;

/// How long processes started by a case may take to end afterwards.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs `case` through `surface` in a fresh world, in which `misbehave` (given as a path) can be
/// called.
///
/// # Errors
/// All differences from the expectation, and the path of the world, which is not removed.
pub fn play(case: &Case, surface: &dyn Surface, misbehave: &Path) -> Result<()> {
    let mut world = World::new()?.with_program(misbehave)?;
    set_up(case, &world)?;
    let mut server = None;
    for (index, step) in case.steps.iter().enumerate() {
        let outcome = play_step(case, step, surface, &world, &mut server);
        let faults = match outcome {
            Ok(faults) if faults.is_empty() => continue,
            Ok(faults) => faults.join("\n  "),
            Err(error) => format!("{error:#}"),
        };
        drop(server);
        world.sweep();
        bail!(
            "step {} on {}:\n  {faults}\n  its world was kept: {}",
            index + 1,
            surface.name(),
            world.keep().display()
        );
    }
    drop(server);
    let leftovers = if case.leaves_processes {
        // Warm shells have their own directories until they have exited.
        world.leftovers_once(SETTLE_TIMEOUT, |leftovers| leftovers.files.is_empty())
    } else {
        world.settle(SETTLE_TIMEOUT)
    };
    let has_processes = !leftovers.processes.is_empty();
    if case.leaves_processes && !has_processes {
        bail!("processes were meant to outlive the call, and none did");
    }
    if (has_processes && !case.leaves_processes) || !leftovers.files.is_empty() {
        bail!("left behind:\n{leftovers}");
    }
    Ok(())
}

fn set_up(case: &Case, world: &World) -> Result<()> {
    for directory in &case.setup.directories {
        std::fs::create_dir_all(world.cwd().join(directory))?;
    }
    for (name, content) in &case.setup.files {
        let path = world.cwd().join(name);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(&path, text::fill(content, world)?)
            .with_context(|| format!("setting up {name}"))?;
    }
    Ok(())
}

fn play_step(
    case: &Case,
    step: &Step,
    surface: &dyn Surface,
    world: &World,
    server: &mut Option<ServerClient>,
) -> Result<Vec<String>> {
    let request = match &step.action {
        None => request(step, world)?,
        Some(_) => String::new(),
    };
    let call = Call {
        world,
        profile: &case.profile,
        request: &request,
        adapter: case.adapter.as_deref().zip(step.tool.as_deref()),
        may_reword: step.command.is_some(),
        environment: &case.setup.environment,
        tools: case.setup.tools.as_deref(),
        cancel_when: step.cancel_when.as_ref().map(|name| world.cwd().join(name)),
        turn_name: step.turn_name.as_deref(),
        answers: &step.answers,
    };
    let reply = match &step.action {
        None => surface.call(&call, server)?,
        Some(action) => {
            let action: Action =
                serde_json::from_value(filled(serde_json::to_value(action)?, world)?)?;
            surface.act(&call, &action, server)?
        }
    };
    let mut faults = check::differences(&step.expect, &reply, world)?;
    if !faults.is_empty() && !reply.stderr.is_empty() {
        faults.push(format!("stderr: {}", reply.stderr));
    }
    Ok(faults)
}

/// The request as the JSON text to send.
fn request(step: &Step, world: &World) -> Result<String> {
    if let Some(whole) = &step.request {
        return text::fill(whole, world);
    }
    if let Some(input) = &step.input {
        return Ok(filled(serde_json::to_value(input)?, world)?.to_string());
    }
    let mut fields = Map::new();
    for (name, value) in &step.with {
        fields.insert(name.clone(), filled(serde_json::to_value(value)?, world)?);
    }
    let command = step.command.as_deref().unwrap_or_default();
    fields.insert("command".to_owned(), text::fill(command, world)?.into());
    Ok(Value::Object(fields).to_string())
}

/// The value with placeholders replaced in all its strings.
fn filled(value: Value, world: &World) -> Result<Value> {
    Ok(match value {
        Value::String(text) => Value::String(text::fill(&text, world)?),
        Value::Array(values) => values
            .into_iter()
            .map(|value| filled(value, world))
            .collect::<Result<_>>()?,
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| Ok((name, filled(value, world)?)))
            .collect::<Result<Map<_, _>>>()?
            .into(),
        other => other,
    })
}
