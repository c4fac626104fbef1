//! The `exec_command` and `write_stdin` tools of Codex: a call returns after a time, while its
//! command continues.

mod text;

use crate::adapter::{
    Adapter, AdapterLimits, AdapterPlan, CallFields, CommandInput, Field, FieldType,
    PlannedCommand, Tool,
};
use agent_bash_core::{Request, Streams};
use std::path::Path;
use std::time::Duration;
use text::{budget, write_exec, write_stdin};

/// Shortest and longest time until the answer to a new command or to input.
const YIELD_BOUNDS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(30)];

/// Shortest and longest time until the answer to a `write_stdin` without input.
const POLL_BOUNDS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(300)];

/// Default time until the answer to a new command.
const DEFAULT_YIELD: Duration = Duration::from_secs(10);

const MAX_OUTPUT_TOKENS: Field = Field::optional(
    "max_output_tokens",
    FieldType::Number,
    "Output token budget. Defaults to 10000 tokens; larger requests may be capped by policy.",
);

pub(super) static ADAPTER: Adapter = Adapter {
    name: "codex",
    about: "GPT, as Codex calls it",
    source: "npm @openai/codex 0.171.0; github openai/codex: codex-rs/core/src/tools/handlers/shell_spec.rs, unified_exec",
    limits: AdapterLimits {
        has_background_timeout: true,
        streams: Streams::Merged,
        ..AdapterLimits::NONE
    },
    tools: &[
        Tool {
            name: "exec_command",
            about: "Runs a command in a PTY, returning output or a session ID for ongoing interaction.",
            provider: None,
            fields: &[
                Field::required("cmd", FieldType::Text, "Shell command to execute."),
                Field::optional(
                    "workdir",
                    FieldType::Text,
                    "Working directory for the command. Defaults to the turn cwd.",
                ),
                Field::optional(
                    "tty",
                    FieldType::Flag,
                    "True allocates a PTY for the command; false or omitted uses plain pipes.",
                ),
                Field::optional(
                    "yield_time_ms",
                    FieldType::Number,
                    "Wait before yielding output. Defaults to 10000 ms; effective range is 250-30000 ms.",
                ),
                MAX_OUTPUT_TOKENS,
                Field::optional(
                    "shell",
                    FieldType::Text,
                    "Shell binary to launch. Defaults to the user's default shell.",
                ),
                Field::optional(
                    "login",
                    FieldType::Flag,
                    "Request login-shell startup. Omit to inherit.",
                ),
                Field::optional(
                    "sandbox_permissions",
                    FieldType::OneOf(&["use_default", REQUIRE_ESCALATED]),
                    "Per-command sandbox override. Defaults to `use_default`; use `require_escalated` for unsandboxed execution.",
                ),
                Field::optional(
                    "justification",
                    FieldType::Text,
                    "User-facing approval question for `require_escalated`; omit otherwise.",
                ),
                Field::optional(
                    "prefix_rule",
                    FieldType::Texts,
                    "Reusable approval prefix for `cmd`, only with `sandbox_permissions: \"require_escalated\"`; for example \
                     [\"git\", \"pull\"].",
                ),
            ],
            forbids_additional_fields: true,
            ignores_unknown_fields: true,
            plan: exec,
            layout: write_exec,
        },
        Tool {
            name: "write_stdin",
            about: "Writes characters to an existing unified exec session and returns recent output.",
            provider: None,
            fields: &[
                Field::required(
                    "session_id",
                    FieldType::Number,
                    "Identifier of the running unified exec session.",
                ),
                Field::optional(
                    "chars",
                    FieldType::Text,
                    "Bytes to write to stdin. Defaults to empty, which polls without writing.",
                ),
                Field::optional(
                    "yield_time_ms",
                    FieldType::Number,
                    "Wait before yielding output. Non-empty writes default to 250 ms and cap at 30000 ms; empty polls wait \
                     5000-300000 ms by default.",
                ),
                MAX_OUTPUT_TOKENS,
            ],
            forbids_additional_fields: true,
            ignores_unknown_fields: true,
            plan: stdin,
            layout: write_stdin,
        },
    ],
};

/// The value of `sandbox_permissions` that asks to run without a sandbox.
const REQUIRE_ESCALATED: &str = "require_escalated";

/// The columns and rows of the terminal that Codex uses.
const TERMINAL_SIZE: (u16, u16) = (80, 24);

/// Plans a call of `exec_command`.
fn exec(fields: &CallFields) -> Result<AdapterPlan, String> {
    let command = fields.text("cmd").unwrap_or_default();
    if let Some(shell) = fields.text("shell")
        && Path::new(shell).file_name() != Some("bash".as_ref())
    {
        return Err(format!(
            "`shell` must be bash or left out, because commands are checked with the syntax of bash; got \"{shell}\""
        ));
    }
    let is_escalated = fields.text("sandbox_permissions") == Some(REQUIRE_ESCALATED);
    let reason = fields.text("justification").unwrap_or(REQUIRE_ESCALATED);
    let planned = PlannedCommand {
        escalation: is_escalated.then(|| reason.to_owned()),
        window: Some(budget(fields).max(1)),
        terminal: fields.flag("tty").then_some(TERMINAL_SIZE),
        ..PlannedCommand::from(Request::new(command).cwd(fields.text("workdir").map(str::to_owned)))
    };
    let [shortest, longest] = YIELD_BOUNDS;
    let wait = fields.millis("yield_time_ms").unwrap_or(DEFAULT_YIELD);
    Ok(AdapterPlan::Yield(
        Box::new(planned),
        wait.clamp(shortest, longest),
    ))
}

/// Plans a call of `write_stdin`.
fn stdin(fields: &CallFields) -> Result<AdapterPlan, String> {
    let chars = fields.text("chars").unwrap_or_default();
    let [shortest, longest] = if chars.is_empty() {
        POLL_BOUNDS
    } else {
        YIELD_BOUNDS
    };
    let wait = fields.millis("yield_time_ms").unwrap_or(shortest);
    Ok(AdapterPlan::Write(CommandInput {
        session: fields
            .count("session_id")
            .ok_or("`session_id` is missing")?,
        chars: chars.to_owned(),
        wait: wait.clamp(shortest, longest),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn planned(tool: usize, input: &Value) -> Result<AdapterPlan, String> {
        let tool = &ADAPTER.tools[tool];
        (tool.plan)(&CallFields::read(tool.fields, tool.ignores_unknown_fields, input).unwrap())
    }

    #[test]
    fn wait_times_are_clamped_to_the_published_bounds() {
        for (given, want) in [
            (None, 10_000),
            (Some(1), 250),
            (Some(400), 400),
            (Some(99_000), 30_000),
        ] {
            let Ok(AdapterPlan::Yield(_, after)) =
                planned(0, &json!({ "cmd": "ls", "yield_time_ms": given }))
            else {
                panic!("no plan to yield");
            };
            assert_eq!(after.as_millis(), want);
        }
        for (chars, given, want) in [
            ("", None, 5_000),
            ("", Some(1), 5_000),
            ("", Some(400_000), 300_000),
            ("x", None, 250),
            ("x", Some(99_000), 30_000),
        ] {
            let input = json!({ "session_id": 1, "chars": chars, "yield_time_ms": given });
            let Ok(AdapterPlan::Write(written)) = planned(1, &input) else {
                panic!("no plan to write");
            };
            assert_eq!(written.wait.as_millis(), want, "{input}");
        }
    }

    #[test]
    fn exec_plans_the_fields_of_the_call() {
        let input = json!({
            "cmd": "ls", "workdir": "src", "tty": true, "shell": "/usr/bin/bash", "max_output_tokens": 5,
            "sandbox_permissions": "require_escalated", "justification": "May I?",
        });
        let Ok(AdapterPlan::Yield(wanted, _)) = planned(0, &input) else {
            panic!("no plan to yield");
        };
        assert_eq!(
            (
                wanted.request.command.as_str(),
                wanted.request.cwd.as_deref()
            ),
            ("ls", Some("src"))
        );
        assert_eq!(
            (wanted.escalation.as_deref(), wanted.window),
            (Some("May I?"), Some(20))
        );
        assert_eq!(wanted.terminal, Some(TERMINAL_SIZE));
        let error = planned(0, &json!({ "cmd": "ls", "shell": "/bin/zsh" })).unwrap_err();
        assert!(error.ends_with("got \"/bin/zsh\""), "{error}");
    }
}
