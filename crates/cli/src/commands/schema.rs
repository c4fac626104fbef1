//! `agent-bash schema`: the tool definition for a model.

use crate::args::{ChosenSettings, SchemaArgs};
use crate::commands::remote_command;
use crate::output;
use crate::process_start::StartContext;
use crate::runtime;
use agent_bash::core::Clock;
use agent_bash::core::sandbox::{Report, SandboxLevel};
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::profiles;
use serde_json::json;
use std::sync::Arc;

/// Prints name, description and schema as one JSON document.
pub(crate) fn schema(args: &SchemaArgs, start: &StartContext) -> anyhow::Result<u8> {
    if let Some(adapter) = args.adapter {
        let tools = json!({ "tools": adapter.declared() });
        output::print(&format!("{tools:#}\n"))?;
        return Ok(0);
    }
    let chosen = ChosenSettings {
        profile: args.profile,
        ..ChosenSettings::default()
    };
    if let Some(on) = &args.on {
        return on_target(on, &chosen, start);
    }
    let loaded = start.settings(&chosen)?;
    let policy = loaded.settings.policy()?;
    let sandbox = loaded.settings.sandbox_in_force();
    let enforced = match sandbox.level {
        SandboxLevel::Off => None,
        _ => enforced(start)?,
    };
    let tool = profiles::schema(&loaded.settings.profile(), &start.cwd(args.cwd.as_deref()))
        .with_safe_mode(policy.safe_mode.as_ref())
        .with_sandbox(&sandbox.terms(), enforced.as_ref());
    let json = serde_json::to_string_pretty(&tool)?;
    output::print(&format!("{json}\n"))?;
    Ok(0)
}

/// Returns the promises of a sandbox that this system enforces; `None` if no sandbox is possible.
fn enforced(start: &StartContext) -> anyhow::Result<Option<Report>> {
    let runtime = runtime::start(Some(2))?;
    let supervisor = Supervisor::this_program(&start.token);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let directory = start.host.temp_dir();
    let enforced = runtime.block_on(supervisor.sandbox_report(&directory, &clock));
    runtime.shutdown_background();
    Ok(enforced.ok())
}

/// Prints the tool that a server for this target offers.
fn on_target(on: &str, chosen: &ChosenSettings<'_>, start: &StartContext) -> anyhow::Result<u8> {
    let runtime = runtime::start(Some(2))?;
    let tool = runtime.block_on(async {
        let session = remote_command::session(on, chosen, start).await?;
        let tool = serde_json::to_string_pretty(&session.tool().schema())?;
        if let Some(remote) = session.remote_host() {
            remote.close().await;
        }
        anyhow::Ok(tool)
    });
    runtime.shutdown_background();
    output::print(&format!("{}\n", tool?))?;
    Ok(0)
}
