//! The `bash` tool of Anthropic's Messages API (`type: bash_20250124`): a persistent shell that can
//! be restarted.

mod text;

use crate::adapter::plan::main_shell;
use crate::adapter::{Adapter, AdapterLimits, AdapterPlan, CallFields, Field, FieldType, Tool};
use agent_bash_core::{Request, Streams};
use serde_json::json;
use std::time::Duration;
use text::write;

pub(super) static ADAPTER: Adapter = Adapter {
    name: "anthropic-bash",
    about: "Claude, by the Messages API's own tool type",
    source: "PyPI anthropic 2.12.0: types/tool_bash_20250124_param.py",
    limits: AdapterLimits {
        timeout: Some(Duration::from_secs(120)),
        streams: Streams::Merged,
        ..AdapterLimits::NONE
    },
    tools: &[Tool {
        name: "bash",
        about: "Runs a command in a bash shell that stays from call to call: its directory, variables and functions persist.",
        provider: Some(|| json!({ "type": "bash_20250124", "name": "bash" })),
        fields: &[
            Field::optional(
                "command",
                FieldType::Text,
                "The command to run. Required unless the tool is being restarted.",
            ),
            Field::optional(
                "restart",
                FieldType::Flag,
                "True restarts the tool. Otherwise leave it out.",
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
    let Some(command) = fields.text("command") else {
        return Err(
            "neither `command` nor `restart` is given; give `command`, the script to run, or \
             `restart: true` for a new shell"
                .to_owned(),
        );
    };
    let request = Request::new(command).session(Some(main_shell()));
    Ok(AdapterPlan::Run(vec![request.into()]))
}
