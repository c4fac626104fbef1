//! The `shell` tool of `OpenAI`'s Responses API: several commands per call, with an outcome each.

mod text;

use crate::adapter::{
    Adapter, AdapterLimits, AdapterPlan, CallFields, Field, FieldType, PlannedCommand, Tool,
};
use agent_bash_core::{Request, Streams};
use serde_json::json;
use text::{share, write};

pub(super) static ADAPTER: Adapter = Adapter {
    name: "openai-shell",
    about: "GPT, by the Responses API's own tool type",
    source: "PyPI openai 3.54.0: types/responses/function_shell_tool.py; openai-agents 0.24.0: tool.py, run_internal/tool_execution.py",
    limits: AdapterLimits {
        streams: Streams::Split,
        ..AdapterLimits::NONE
    },
    tools: &[Tool {
        name: "shell",
        about: "Runs shell commands, one after the other, each in a shell of its own.",
        provider: Some(|| json!({ "type": "shell", "environment": { "type": "local" } })),
        fields: &[
            Field::required(
                "commands",
                FieldType::Texts,
                "The commands, run in this order.",
            ),
            Field::optional(
                "timeout_ms",
                FieldType::Integer,
                "How long each command may take, in milliseconds; 0: as long as is allowed.",
            ),
            Field::optional(
                "max_output_length",
                FieldType::Integer,
                "Characters of output in the answer, at most.",
            ),
        ],
        forbids_additional_fields: false,
        ignores_unknown_fields: false,
        plan,
        layout: write,
    }],
};

/// Bytes that are reserved for notes on truncated output: its length, and the link to the full
/// output.
const NOTES_BYTES: u64 = 200;

fn plan(fields: &CallFields) -> Result<AdapterPlan, String> {
    let commands = fields.texts("commands");
    if commands.is_empty() {
        return Err("Shell call action must include at least one command.".to_owned());
    }
    let timeout = fields.millis("timeout_ms");
    let window = share(fields, commands.len()).map(shown_bytes);
    let plan_command = |command: &str| PlannedCommand {
        window,
        uses_max_timeout: timeout.is_some_and(|limit| limit.is_zero()),
        ..PlannedCommand::from(
            Request::new(command).timeout(timeout.filter(|limit| !limit.is_zero())),
        )
    };
    Ok(AdapterPlan::Run(
        commands.into_iter().map(plan_command).collect(),
    ))
}

/// Returns how many bytes of the output's end to show. `share` is the command's part of the answer.
/// The reserve for notes is subtracted, unless the share is not larger than the reserve.
fn shown_bytes(share: u64) -> usize {
    share
        .saturating_sub(NOTES_BYTES)
        .max(share.min(NOTES_BYTES))
        .max(1) as usize
}
