//! The `run_shell_command` tool of gemini-cli.

mod text;

use crate::adapter::{
    Adapter, AdapterLimits, AdapterPlan, CallFields, Field, FieldType, PlannedCommand, Tool,
};
use agent_bash_core::{Mode, Request, Streams, Truncation};
use std::time::Duration;
use text::{MAX_OUTPUT_BYTES, write};

pub(super) static ADAPTER: Adapter = Adapter {
    name: "gemini",
    about: "Gemini, as gemini-cli calls it",
    source: "npm @google/gemini-cli-core 0.61.0: tools/shell.js, tools/definitions/dynamic-declaration-helpers.js",
    limits: AdapterLimits {
        streams: Streams::Merged,
        truncation: Some(Truncation::Tail {
            bytes: MAX_OUTPUT_BYTES,
        }),
        ..AdapterLimits::NONE
    },
    tools: &[Tool {
        name: "run_shell_command",
        about: DESCRIPTION,
        provider: None,
        fields: &[
            Field::required(
                "command",
                FieldType::Text,
                "Exact bash command to execute as `bash -c <command>`",
            ),
            Field::optional(
                "description",
                FieldType::Text,
                "Brief description of the command for the user. Be specific and concise. Ideally a single sentence. Can be up to \
                 3 sentences for clarity. No line breaks.",
            ),
            Field::optional(
                "dir_path",
                FieldType::Text,
                "(OPTIONAL) The path of the directory to run the command in. If not provided, the project root directory is \
                 used. Must be a directory within the workspace and must already exist.",
            ),
            Field::optional(
                "is_background",
                FieldType::Flag,
                "Set to true if this command should be run in the background (e.g. for long-running servers or watchers). The \
                 command will be started, allowed to run for a brief moment to check for immediate errors, and then moved to \
                 the background.",
            ),
            Field::optional(
                "delay_ms",
                FieldType::Integer,
                "Optional. Delay in milliseconds to wait after starting the process in the background. Useful to allow the \
                 process to start and generate initial output before returning.",
            ),
        ],
        forbids_additional_fields: false,
        ignores_unknown_fields: false,
        plan,
        layout: write,
    }],
};

const DESCRIPTION: &str = "\
This tool executes a given shell command as `bash -c <command>`. Command can start background processes using `&`. Command is \
executed as a subprocess that leads its own process group. Command process group can be terminated as `kill -- -PGID` or \
signaled as `kill -s SIGNAL -- -PGID`.

      Efficiency Guidelines:
      - Quiet Flags: Always prefer silent or quiet flags (e.g., `npm install --silent`, `git --no-pager`) to reduce output \
volume while still capturing necessary information.
      - Pagination: Always disable terminal pagination to ensure commands terminate (e.g., use `git --no-pager`, `systemctl \
--no-pager`, or set `PAGER=cat`).

      The following information is returned:

      Output: Combined stdout/stderr. Can be `(empty)` or partial on error and for any unwaited background processes.
      Exit Code: Only included if non-zero (command failed).
      Error: Only included if a process-level error occurred (e.g., spawn failure).
      Signal: Only included if process was terminated by a signal.
      Background PIDs: Only included if background processes were started.
      Process Group PGID: Only included if available.";

/// Maximum `delay_ms`: how long an answer waits for the first output of a background command.
const MAX_DELAY: Duration = Duration::from_secs(30);

fn plan(fields: &CallFields) -> Result<AdapterPlan, String> {
    let command = fields.text("command").unwrap_or_default();
    if command.trim().is_empty() {
        return Err("Command cannot be empty.".to_owned());
    }
    let is_background = fields.flag("is_background");
    let delay = fields.millis("delay_ms").unwrap_or_default();
    let request = Request::new(command)
        .cwd(fields.text("dir_path").map(str::to_owned))
        .description(fields.text("description").map(str::to_owned))
        .mode(is_background.then_some(Mode::Background));
    let planned = PlannedCommand {
        linger: is_background.then_some(delay.min(MAX_DELAY)),
        ..PlannedCommand::from(request)
    };
    Ok(AdapterPlan::Run(vec![planned]))
}
