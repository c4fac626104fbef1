//! `agent-bash env`: the environment as a command would see it.

use crate::args::{ChosenSettings, EnvArgs};
use crate::output;
use crate::process_start::StartContext;
use agent_bash::process::environment::BaseEnvironment;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Prints the variables, then the names (never the values) of those that were removed.
pub(crate) fn env(args: &EnvArgs, start: &StartContext) -> anyhow::Result<u8> {
    let host = (*start.host.env).clone();
    let settings = start.settings(&ChosenSettings::default())?.settings;
    let built = BaseEnvironment::build(host, &settings.environment());
    let variables: BTreeMap<String, String> = built
        .variables
        .iter()
        .map(|(name, value)| {
            let text = |s: &std::ffi::OsStr| s.to_string_lossy().into_owned();
            (text(name), text(value))
        })
        .collect();
    let text = if args.json {
        let all = serde_json::json!({
            "variables": variables, "removed": built.removed, "unattended": built.defaults,
        });
        format!("{all}\n")
    } else {
        environment_text(&variables, &built.removed, &built.defaults)
    };
    output::print(&text)?;
    Ok(0)
}

fn environment_text(
    variables: &BTreeMap<String, String>,
    removed: &[String],
    unattended: &[&str],
) -> String {
    let mut text = String::new();
    for (name, value) in variables {
        // Values are quoted where necessary, so that a shell can read the list.
        let value = shlex::try_quote(value).unwrap_or_default();
        let _ = writeln!(text, "{name}={value}");
    }
    let _ = writeln!(
        text,
        "# set or removed so that nothing asks or waits: {}",
        unattended.join(" ")
    );
    let removed = match removed {
        [] => "none".to_owned(),
        names => names.join(" "),
    };
    let _ = writeln!(text, "# removed because they look like secrets: {removed}");
    text
}
