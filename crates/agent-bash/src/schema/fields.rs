//! The JSON Schema of each field that a profile may show.

use super::words::words;
use agent_bash_core::{MAX_SHOW_KB, Profile};
use serde_json::{Value, json};

/// One field, with the profile's limits.
pub(super) fn field(profile: &Profile, name: &str) -> Value {
    let times = &profile.timeouts;
    match name {
        "command" => {
            json!({ "type": "string", "description": "The script; bash gets it byte for byte" })
        }
        "mode" => json!({
            "type": "string",
            "enum": ["default", "slow", "background"],
            "description": format!(
                "default ({}), slow ({}; for builds, tests, installs), background (detached; returns at once)",
                words(times.default),
                words(times.slow)
            )
        }),
        "timeout" => json!({
            "type": ["number", "string"],
            "description": format!(
                "Seconds, or a text such as \"90s\" or \"2m\"; {} if left out, at most {}",
                words(times.default),
                words(times.max)
            )
        }),
        "cwd" => json!({
            "type": "string",
            "description": "Directory to run in; relative to the working directory"
        }),
        "head" => json!({
            "type": "integer", "minimum": 1,
            "description": "Keep only the first N lines of stdout"
        }),
        "tail" => json!({
            "type": "integer", "minimum": 1,
            "description": "Keep only the last N lines of stdout; after `head`, if both are given"
        }),
        "wait" => json!({
            "type": "boolean",
            "description": "Wait for its end, however long"
        }),
        "show" => json!({
            "enum": ["start", "end", "both"],
            "description": "The part of a long output to show"
        }),
        "show_kb" => json!({
            "type": "integer", "minimum": 1, "maximum": MAX_SHOW_KB,
            "description": "Show up to so many KB"
        }),
        "session" => json!({
            "type": "string",
            "description": "Run in the persistent shell of this name: `cd`, variables and functions stay"
        }),
        "pty" => json!({
            "type": "boolean",
            "description": "Ask for, or refuse, a terminal where one is offered"
        }),
        "env" => json!({
            "type": "object",
            "additionalProperties": { "type": ["string", "null"] },
            "description": "Extra variables for this call; null unsets one"
        }),
        "stdin" => json!({
            "type": "string", "enum": ["null", "pipe"],
            "description": "pipe: a background job or session whose input is written later"
        }),
        "description" => json!({
            "type": "string",
            "description": "What the command does, in a few words, for people"
        }),
        // A host's own profile may list a field that only a later version knows.
        _ => json!({}),
    }
}

/// The field of calls that can be tried.
pub(super) fn trial() -> Value {
    json!({
        "enum": [true, "atomic"],
        "description": "true: only show what it would do to files; \"atomic\": do it if it exits with 0"
    })
}
