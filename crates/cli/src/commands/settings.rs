//! `agent-bash settings`: the settings in force and where they came from.

use crate::args::{ChosenSettings, SettingsArgs};
use crate::output;
use crate::process_start::StartContext;
use agent_bash::core::short_duration;
use agent_bash::settings::{Origin, Settings, default_file};
use agent_bash::shell_in_force;
use std::fmt::Write as _;

/// Prints the settings, or a template for a settings file.
pub(crate) fn settings(args: &SettingsArgs, start: &StartContext) -> anyhow::Result<u8> {
    if args.default {
        output::print(&default_file())?;
        return Ok(0);
    }
    let loaded = start.settings(&ChosenSettings::default())?;
    let all = loaded.provenance().map(|(key, value, origin)| {
        match (value, in_force(key, &loaded.settings, start)) {
            (_, Some(value)) if *origin == Origin::Default => {
                let profile = format!("profile {}", loaded.settings.profile.as_str());
                (key, Some(value), profile)
            }
            (_, Some(value)) => (key, Some(value), origin.to_string()),
            (value, None) => (key, value, origin.to_string()),
        }
    });
    let mut text = String::new();
    if args.json {
        let all: serde_json::Map<String, serde_json::Value> = all
            .map(|(key, value, origin)| {
                let entry = serde_json::json!({ "value": value, "origin": origin });
                (key.to_owned(), entry)
            })
            .collect();
        let _ = writeln!(text, "{}", serde_json::Value::from(all));
    } else {
        for (key, value, origin) in all {
            let value = value.unwrap_or_else(|| "(not set)".to_owned());
            let _ = writeln!(text, "{key} = {}  # {origin}", shortened(&value));
        }
    }
    for (path, reason) in loaded.ignored() {
        output::say(&format!("ignored: {}: {reason}", path.display()));
    }
    output::print(&text)?;
    if loaded.settings.interceptor_names_no_tools() {
        output::say(&format!("agent-bash: {NAMES_NO_TOOLS}"));
    }
    Ok(0)
}

/// The warning about an interceptor that has no tools to propose.
pub(crate) const NAMES_NO_TOOLS: &str = "interceptor.mode is on and names no tools, so nothing is intercepted: \
     name the model's other tools with the setting interceptor.tools, with --tools, or with `tools` of an RPC call";

/// Returns the value in force of a key whose default or upper bound comes from the profile; `None`
/// for other keys.
fn in_force(key: &str, settings: &Settings, start: &StartContext) -> Option<String> {
    let profile = settings.profile();
    let quoted = |text: &str| format!("\"{text}\"");
    match key {
        "timeout.default" => Some(quoted(&short_duration(profile.timeouts.default))),
        "timeout.max" => Some(quoted(&short_duration(profile.timeouts.max))),
        "shell.path" => {
            let safe = settings.safe_mode.is_some();
            let named = settings.shell.as_deref();
            let shell = shell_in_force(&profile, named, safe, &start.host.env).ok()?;
            Some(quoted(&shell.path.display().to_string()))
        }
        _ => None,
    }
}

/// Returns a value shortened for the list; `--json` prints whole values.
fn shortened(value: &str) -> String {
    const MAX_VALUE_CHARS: usize = 100;
    match value.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
