//! The formats of a hook's answer.

use super::answer::{BLOCKED_EXIT_CODE, HookAnswer};
use super::call_fields::{self, CallFields, EVENT_NAMES, is_of_vscode};
use serde_json::{Value, json};

/// The format of an answer, by the agent that defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerFormat {
    /// `hookSpecificOutput`, as declared in the SDK of Claude Code. Codex, Kimi Code, Qwen Code,
    /// Droid and VS Code accept the same format.
    ClaudeCode,
    /// `permissionDecision` at the top level, for Copilot's own event `preToolUse`.
    Copilot,
    /// `decision`. Gemini CLI has no field that a model reads before a tool runs.
    Gemini,
    /// `decision` and `context`.
    Crush,
    /// `decision`, and an input in snake case.
    MistralVibe,
    /// `permission`, with separate texts for the user and the model.
    Cursor,
    /// `overrideInput`: a command that prints the reason. Cline ignores an exit code, and `cancel`
    /// ends the whole task without showing the model the reason.
    Cline,
    /// The format of our own plugins.
    Plugin,
    /// Exit code 2, with the reason on stderr. For agents that accept only this format, or whose
    /// other formats are unknown.
    ExitCode,
}

impl AnswerFormat {
    /// Returns the format that a call's fields imply.
    pub(crate) fn of(call: &CallFields) -> Self {
        let has = |name: &str| call.0.contains_key(name);
        let event = call.first(EVENT_NAMES);
        let (name, event) = event.map_or(("", ""), |(name, value)| {
            (name, value.as_str().unwrap_or(""))
        });
        match event {
            _ if has("cursor_version") => Self::Cursor,
            _ if has("clineVersion") || has("preToolUse") => Self::Cline,
            "beforeShellExecution" => Self::Cursor,
            "BeforeTool" => Self::Gemini,
            "pre_tool" if name == "hook_event_name" => Self::MistralVibe,
            "tool_call" if name == "hookName" => Self::Cline,
            "tool.execute.before" | "tool_call" => Self::Plugin,
            "" if has("toolName") => Self::Copilot,
            "PreToolUse" | "PreSkillShellCommand" if name == "event" => Self::Crush,
            "PreToolUse" | "PreSkillShellCommand" if name.starts_with("hook") => Self::ClaudeCode,
            _ => Self::ExitCode,
        }
    }

    /// Refuses a call, for this reason.
    pub(crate) fn refuse(self, call: &CallFields, reason: &str) -> HookAnswer {
        HookAnswer::json(&match self {
            Self::ClaudeCode => hook_specific(call, denial(reason)),
            Self::Copilot => denial(reason),
            Self::Gemini | Self::Crush | Self::MistralVibe => {
                json!({ "decision": "deny", "reason": reason })
            }
            Self::Cursor => {
                json!({ "permission": "deny", "user_message": reason, "agent_message": reason })
            }
            Self::Cline => match input_that_prints(call, reason) {
                Some(input) => json!({ "overrideInput": input }),
                None => json!({ "cancel": true, "errorMessage": reason }),
            },
            Self::Plugin => json!({ "refused": reason }),
            Self::ExitCode => {
                return HookAnswer {
                    stderr: format!("{reason}\n"),
                    exit_code: BLOCKED_EXIT_CODE,
                    ..HookAnswer::silent()
                };
            }
        })
    }

    /// Blocks a call that could not be checked. Uses the exit code if the agent then shows the
    /// reason, because an exit code works for any event.
    pub(crate) fn block(self, call: &CallFields, reason: &str) -> HookAnswer {
        match self {
            // The call may be of VS Code, which runs the same hook and ignores Copilot's fields.
            Self::Copilot => {
                let mut answer = denial(reason);
                answer["hookSpecificOutput"] =
                    hook_specific(call, denial(reason))["hookSpecificOutput"].take();
                HookAnswer::json(&answer)
            }
            Self::Cline => self.refuse(&CallFields::default(), reason),
            _ => Self::ExitCode.refuse(call, reason),
        }
    }

    /// Returns the silent answer: the agent continues as if there were no hook.
    pub(crate) fn silent(self) -> HookAnswer {
        match self {
            // Cursor expects JSON.
            Self::Cursor => HookAnswer::json(&json!({})),
            _ => HookAnswer::silent(),
        }
    }

    /// Returns an answer with advice for the model that leaves the decision to the agent. `null` if
    /// the format has no field for advice.
    pub(crate) fn advise(self, call: &CallFields, advice: &str) -> Value {
        match self {
            // Commands of a skill run before the model is called, so there is no context to add to.
            Self::ClaudeCode if event_of(call) == "PreSkillShellCommand" => Value::Null,
            Self::ClaudeCode => hook_specific(call, json!({ "additionalContext": advice })),
            Self::Copilot => json!({ "additionalContext": advice }),
            Self::Crush => json!({ "context": advice }),
            Self::Cline => json!({ "contextModification": advice }),
            Self::Plugin => json!({ "advice": advice }),
            Self::Gemini | Self::MistralVibe | Self::Cursor | Self::ExitCode => Value::Null,
        }
    }

    /// Returns an answer that gives the call another input, and advice for the model if the format
    /// has a field for that. `None` if no agent of this format was tested with such an answer.
    pub(crate) fn rewrite(
        self,
        call: &CallFields,
        input: &Value,
        advice: Option<&str>,
    ) -> Option<Value> {
        let mut answer = match self {
            // Without a decision, VS Code 1.139.1 asks its user about the new input.
            Self::ClaudeCode if is_of_vscode(call) => json!({ "updatedInput": input }),
            // Codex 0.171.0 accepts a new input only with `allow`. Without `allow`, the hook fails
            // and the old command runs.
            Self::ClaudeCode => json!({ "permissionDecision": "allow", "updatedInput": input }),
            Self::Copilot => json!({ "modifiedArgs": input }),
            Self::Gemini => return Some(hook_specific(call, json!({ "tool_input": input }))),
            Self::MistralVibe => {
                return Some(json!({ "hook_specific_output": { "tool_input": input } }));
            }
            _ => return None,
        };
        if let Some(advice) = advice {
            answer["additionalContext"] = advice.into();
        }
        Some(match self {
            Self::ClaudeCode => hook_specific(call, answer),
            _ => answer,
        })
    }
}

/// Returns the fields by which Claude Code and Copilot refuse a call.
fn denial(reason: &str) -> Value {
    json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })
}

/// Returns the tool's input in which each script is replaced by a script that prints `text` and
/// fails. `None` if the input has no script.
fn input_that_prints(call: &CallFields, text: &str) -> Option<Value> {
    let (_, Value::Object(mut input)) = call.input()? else {
        return None;
    };
    let line = shlex::try_join(["printf", "%s\\n", text]).ok()?;
    let line = Value::from(format!("{line} >&2; exit 1"));
    let names: Vec<String> = call_fields::scripts(&input)
        .map(|(name, _)| name.to_owned())
        .collect();
    for name in &names {
        let script = match &input[name] {
            Value::Array(_) => json!([line]),
            _ => line.clone(),
        };
        input.insert(name.clone(), script);
    }
    (!names.is_empty()).then_some(Value::Object(input))
}

/// Returns the name of the call's event; `PreToolUse` if the call names no event.
fn event_of(call: &CallFields) -> &str {
    let event = call
        .first(EVENT_NAMES)
        .and_then(|(_, event)| event.as_str());
    event
        .filter(|event| !call_fields::plain(event).is_empty())
        .unwrap_or("PreToolUse")
}

/// Returns the answer as `hookSpecificOutput`, with the event's name. Without the name, Claude Code
/// ignores an answer.
fn hook_specific(call: &CallFields, mut answer: Value) -> Value {
    answer["hookEventName"] = event_of(call).into();
    json!({ "hookSpecificOutput": answer })
}
