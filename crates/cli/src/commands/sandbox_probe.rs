//! Starts a command in the sandbox, in the current directory. A sandbox that starts in one
//! directory may not start in another, because mounts differ.

use crate::commands::session;
use crate::process_start::StartContext;
use agent_bash::SandboxSettings;
use agent_bash::core::sandbox::{Enforced, SandboxLevel, Sandboxed};
use agent_bash::core::{Cancel, Status};
use agent_bash::process::supervisor::Supervisor;
use agent_bash::settings::Settings;
use std::collections::BTreeSet;

/// A command that does nothing.
const NO_OP_COMMAND: &str = ":";

/// Returns what the sandbox of `settings` enforces in the caller's directory at this level, or why
/// no command starts there.
pub(crate) async fn start_in_directory(
    start: &StartContext,
    settings: &Settings,
    session: &str,
    level: SandboxLevel,
) -> anyhow::Result<Result<Sandboxed, String>> {
    let settings = Settings {
        safe_mode: None,
        // The safety rules are off: the command is our own.
        safety_groups: BTreeSet::new(),
        sandbox: SandboxSettings {
            level,
            ..settings.sandbox_in_force()
        },
        ..settings.clone()
    };
    let supervisor = Supervisor::this_program(&start.token);
    let session = session::open_for_checks(&settings, start, &supervisor, session)?;
    let call = serde_json::Value::from(NO_OP_COMMAND);
    let result = session.tool().execute(call, &Cancel::new()).await;
    let enforced = result
        .sandbox
        .filter(|sandbox| sandbox.enforced != Enforced::Nothing)
        .filter(|_| result.status == Status::Exited { code: 0 });
    let text = result.text.trim_end();
    // The caller's sentence continues with the reason.
    let reason = text.strip_prefix("This call was not run: ").unwrap_or(text);
    Ok(enforced.ok_or_else(|| reason.to_owned()))
}
