//! `agent-bash settings`: what is in force, and where it came from.

use crate::args::SettingsArgs;
use crate::output;
use crate::start::Start;
use agent_bash::settings::default_file;
use std::fmt::Write as _;

/// Prints the settings, or a file to start from.
pub(crate) fn settings(args: &SettingsArgs, start: &Start) -> anyhow::Result<u8> {
    if args.default {
        output::print(&default_file())?;
        return Ok(0);
    }
    let loaded = start.settings(None, None)?;
    let mut text = String::new();
    if args.json {
        let all: serde_json::Map<String, serde_json::Value> = loaded
            .provenance()
            .map(|(key, value, origin)| {
                let entry = serde_json::json!({ "value": value, "origin": origin.to_string() });
                (key.to_owned(), entry)
            })
            .collect();
        let _ = writeln!(text, "{}", serde_json::Value::from(all));
    } else {
        for (key, value, origin) in loaded.provenance() {
            let value = value.unwrap_or_else(|| "(not set)".to_owned());
            let _ = writeln!(text, "{key} = {}  # {origin}", shortened(&value));
        }
    }
    output::print(&text)?;
    Ok(0)
}

/// One line of a table; the whole of a long value is in `--json`.
fn shortened(value: &str) -> String {
    const SHOWN: usize = 100;
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
