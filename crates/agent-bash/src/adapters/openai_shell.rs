//! The `shell` tool of `OpenAI`'s Responses API: several commands per call, with an outcome each.

use super::{
    Adapter, AdapterLimits, AdapterPlan, CallFields, Field, FieldType, PlannedCommand, Tool,
};
use crate::layout::adapters::openai_shell::{share, write};
use agent_bash_core::{Request, Streams};
use serde_json::json;

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
        tolerant: false,
        plan,
        layout: write,
    }],
};

/// Bytes that are reserved for notes on truncated output: its length, and the link to the full
/// output.
const NOTES_BYTES: u64 = 200;

fn plan(given: &CallFields) -> Result<AdapterPlan, String> {
    let commands = given.texts("commands");
    if commands.is_empty() {
        return Err("Shell call action must include at least one command.".to_owned());
    }
    let timeout = given.millis("timeout_ms");
    let window = share(given, commands.len()).map(window);
    let wanted = |command: &str| PlannedCommand {
        window,
        longest: timeout.is_some_and(|limit| limit.is_zero()),
        ..PlannedCommand::from(
            Request::new(command).timeout(timeout.filter(|limit| !limit.is_zero())),
        )
    };
    Ok(AdapterPlan::Run(commands.into_iter().map(wanted).collect()))
}

/// Returns the number of bytes of the output's end to show: the share without the reserve for
/// notes, or the whole share if it is not larger than the reserve.
fn window(share: u64) -> usize {
    share
        .saturating_sub(NOTES_BYTES)
        .max(share.min(NOTES_BYTES))
        .max(1) as usize
}
