//! The `Bash` and `TaskStop` tools of Claude Code.

mod text;

use crate::adapter::{
    Adapter, AdapterLimits, AdapterPlan, CallFields, Field, FieldType, PlannedCommand, Tool,
};
use agent_bash_core::{JobId, Mode, Request, Streams};
use std::time::Duration;
use text::{write, write_stop};

/// Default time limit of a background command in Claude Code 2.1.332. The type declarations of its
/// SDK state 30 minutes, but the program uses 10.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(600);

pub(super) static ADAPTER: Adapter = Adapter {
    name: "claude-code",
    about: "Claude, as Claude Code calls it",
    source: "npm @anthropic-ai/claude-agent-sdk 0.3.330: sdk-tools.d.ts",
    limits: AdapterLimits {
        timeout: Some(Duration::from_secs(120)),
        timeout_max: Some(Duration::from_secs(600)),
        background_max: Some(Duration::from_secs(7200)),
        streams: Streams::Split,
        ..AdapterLimits::NONE
    },
    tools: &[
        Tool {
            name: "Bash",
            about: "Executes a bash command in a shell of its own and returns its output.",
            provider: None,
            fields: &[
                Field::required("command", FieldType::Text, "The command to execute"),
                Field::optional(
                    "timeout",
                    FieldType::Number,
                    "Optional timeout in milliseconds (max 600000 for a foreground command)",
                ),
                Field::optional("description", FieldType::Text, DESCRIPTION),
                Field::optional(
                    "run_in_background",
                    FieldType::Flag,
                    "Set to true to run this command in the background. With it, `timeout` limits how long the command may run \
                     in the background before it is stopped (default 600000 ms, max 7200000 ms).",
                ),
                Field::optional(
                    "dangerouslyDisableSandbox",
                    FieldType::Flag,
                    "Set this to true to dangerously override sandbox mode and run commands without sandboxing.",
                ),
            ],
            forbids_additional_fields: true,
            ignores_unknown_fields: false,
            plan,
            layout: write,
        },
        Tool {
            name: "TaskStop",
            about: "Stops a command that runs in the background.",
            provider: None,
            fields: &[
                Field::optional(
                    "task_id",
                    FieldType::Text,
                    "The ID of the background task to stop. Agent-team teammates and named background agents are also accepted by \
                     agent ID or name.",
                ),
                Field::optional(
                    "shell_id",
                    FieldType::Text,
                    "Deprecated: use task_id instead",
                ),
            ],
            forbids_additional_fields: true,
            ignores_unknown_fields: false,
            plan: stop,
            layout: write_stop,
        },
    ],
};

/// The published text about the field `description`.
const DESCRIPTION: &str = r#"Clear, concise description of what this command does in active voice. Never use words like "complex" or "risk" in the description - just describe what it does.

Say what the command does in plain words: do not echo the command's text, its flags, or file paths - the user reads this description, often without seeing the command.

For simple commands (git, npm, standard CLI tools), keep it brief (5-10 words):
- ls → "List files in current directory"
- git status → "Show working tree status"
- npm install → "Install package dependencies"

For commands that are harder to parse at a glance (piped commands, obscure flags, etc.), add enough context to clarify what it does:
- find . -name "*.tmp" -exec rm {} \; → "Find and delete all .tmp files recursively"
- git reset --hard origin/main → "Discard all local changes and match remote main"
- curl -s url | jq '.data[]' → "Fetch JSON from URL and extract data array elements""#;

/// Plans a call of `Bash`.
fn plan(fields: &CallFields) -> Result<AdapterPlan, String> {
    let command = fields.text("command").ok_or("`command` is missing")?;
    let is_background = fields.flag("run_in_background");
    let request = Request::new(command)
        .timeout(
            fields
                .millis("timeout")
                .filter(|limit| !limit.is_zero())
                .or(is_background.then_some(BACKGROUND_TIMEOUT)),
        )
        .description(fields.text("description").map(str::to_owned))
        .mode(is_background.then_some(Mode::Background));
    let reason = fields
        .text("description")
        .unwrap_or("dangerouslyDisableSandbox");
    let planned = PlannedCommand {
        escalation: fields
            .flag("dangerouslyDisableSandbox")
            .then(|| reason.to_owned()),
        ..PlannedCommand::from(request)
    };
    Ok(AdapterPlan::Run(vec![planned]))
}

/// Plans a call of `TaskStop`.
fn stop(fields: &CallFields) -> Result<AdapterPlan, String> {
    let task = fields.text("task_id").or(fields.text("shell_id"));
    let task = task.ok_or("`task_id` is missing; give the id from the answer of `Bash` (the old name `shell_id` works, too)")?;
    Ok(AdapterPlan::Stop(JobId(task.to_owned())))
}
