//! The `bash` tool of Anthropic's agent toolset, with results in the form of the Python SDK.

mod text;

use crate::adapter::plan::main_shell;
use crate::adapter::{Adapter, AdapterLimits, AdapterPlan, CallFields, Field, FieldType, Tool};
use agent_bash_core::{Request, Streams, Truncation};
use serde_json::json;
use std::time::Duration;
use text::write;

pub(super) static ADAPTER: Adapter = Adapter {
    name: "anthropic-agent",
    about: "Claude in managed agents, by the toolset's type",
    source: "PyPI anthropic 2.12.0: lib/tools/agent_toolset.py",
    limits: AdapterLimits {
        timeout: Some(Duration::from_secs(120)),
        streams: Streams::Merged,
        truncation: Some(Truncation::Tail { bytes: 100 * 1024 }),
        ..AdapterLimits::NONE
    },
    tools: &[Tool {
        name: "bash",
        about: "Run a command in a persistent bash shell.",
        // The other tools of the toolset are not offered here.
        provider: Some(|| {
            json!({
                "type": "agent_toolset_20260401",
                "default_config": { "enabled": false },
                "configs": [{ "name": "bash", "enabled": true }],
            })
        }),
        fields: &[
            Field::optional(
                "command",
                FieldType::Text,
                "Shell command to execute. Omit only when `restart` is true.",
            ),
            Field::optional(
                "restart",
                FieldType::Flag,
                "When true, restart the persistent bash session instead of running a command.\n\nSubsequent calls without \
                 `restart` will run against the fresh session.",
            ),
            Field::optional(
                "timeout_ms",
                FieldType::Integer,
                "Per-call timeout in milliseconds.\n\nDefaults to the runner-wide tool timeout when omitted or zero.",
            ),
        ],
        forbids_additional_fields: false,
        ignores_unknown_fields: false,
        plan,
        layout: write,
    }],
};

fn plan(fields: &CallFields) -> Result<AdapterPlan, String> {
    if fields.flag("restart") {
        return Ok(AdapterPlan::Restart(main_shell()));
    }
    let command = fields.text("command").filter(|command| !command.is_empty());
    let command = command.ok_or("bash: command is required")?;
    let request = Request::new(command)
        .session(Some(main_shell()))
        .timeout(fields.millis("timeout_ms").filter(|limit| !limit.is_zero()));
    Ok(AdapterPlan::Run(vec![request.into()]))
}
