//! The JSON Schema of each field that a profile may show.

use super::words::words;
use agent_bash_core::{MAX_SHOW_KB, Profile};
use serde_json::{Value, json};

/// Returns the schema of a field. Descriptions mention the profile's limits.
pub(crate) fn field(profile: &Profile, name: &str) -> Value {
    let times = &profile.timeouts;
    match name {
        "command" => {
            json!({ "type": "string", "description": "The script; bash gets it byte for byte" })
        }
        "mode" => json!({
            "type": "string",
            "enum": ["default", "slow", "background"],
            "description": format!(
                "slow: {}; background: returns at once",
                words(times.slow)
            )
        }),
        "timeout" => json!({
            "type": ["number", "string"],
            "description": format!(
                "Seconds, or a text such as \"2m\"; {} if left out, at most {}",
                words(times.default),
                words(times.max)
            )
        }),
        "cwd" => json!({ "type": "string", "description": "Directory to run in" }),
        "head" => {
            json!({ "type": "integer", "minimum": 1, "description": "Keep only the first N lines of stdout" })
        }
        "tail" => json!({
            "type": "integer", "minimum": 1,
            "description": "Keep only the last N lines of stdout, after `head`"
        }),
        "wait" => {
            json!({ "type": "boolean", "description": "Wait for the command's end, however long" })
        }
        "show" => {
            json!({ "enum": ["start", "end", "both"], "description": "Part of a long output" })
        }
        "show_kb" => {
            json!({ "type": "integer", "description": format!("Show up to N KB, at most {MAX_SHOW_KB}") })
        }
        "session" => json!({
            "type": "string",
            "description": "Persistent shell of this name: `cd`, variables and functions stay"
        }),
        "pty" => {
            json!({ "type": "boolean", "description": "Ask for, or refuse, a terminal where one is offered" })
        }
        "env" => json!({
            "type": "object",
            "additionalProperties": { "type": ["string", "null"] },
            "description": "Variables for this call; null unsets"
        }),
        "stdin" => json!({
            "type": "string", "enum": ["null", "pipe"],
            "description": "pipe: a background job's input is written later"
        }),
        "description" => json!({
            "type": "string",
            "description": "What the command does, in a few words, for people"
        }),
        // A profile of the host may list a field of a later version.
        _ => json!({}),
    }
}

/// Returns the schema of `pty` for a tool with terminals on which the model can type.
pub(crate) fn driven_terminal() -> Value {
    json!({
        "type": "boolean",
        "description": "On a terminal, which bash_input types on: for programs that ask or draw"
    })
}

/// Returns the schema of `trial`.
pub(crate) fn trial() -> Value {
    json!({
        "enum": [true, "atomic"],
        "description": "true: only show what it would do to files; \"atomic\": do it if it exits with 0"
    })
}
