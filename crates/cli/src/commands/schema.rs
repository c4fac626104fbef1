//! `agent-bash schema`: the tool definition for a model.

use crate::args::SchemaArgs;
use crate::output;
use crate::start::{Chosen, Start};
use agent_bash::schema;
use serde_json::json;

/// Prints name, description and schema as one JSON document.
pub(crate) fn schema(args: &SchemaArgs, start: &Start) -> anyhow::Result<u8> {
    if let Some(adapter) = args.adapter {
        let tools = json!({ "tools": adapter.declared() });
        output::print(&format!("{tools:#}\n"))?;
        return Ok(0);
    }
    let loaded = start.settings(&Chosen {
        profile: args.profile,
        ..Chosen::default()
    })?;
    let policy = loaded.settings.policy()?;
    let tool = schema::tool(&loaded.settings.profile(), &start.cwd(args.cwd.as_deref()))
        .under(policy.safe_mode.as_ref())
        .within(&loaded.settings.sandbox_in_force());
    let json = serde_json::to_string_pretty(&tool)?;
    output::print(&format!("{json}\n"))?;
    Ok(0)
}
