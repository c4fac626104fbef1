//! Announces a call ahead, so that the call's shell starts while the host still prepares the call.

use super::Conversation;
use crate::HostContext;
use crate::settings::Settings;
use crate::stage::parse_input::Input;
use crate::stage::{artifact, terminal};
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::sandbox::{Plan, SandboxLevel, Tier};
use agent_bash_core::{Mode, Request, StdinMode, StdinSource};
use agent_bash_policy::Script;
use std::sync::Arc;

/// Maximum size of a script that is checked ahead of the call. For a longer script, the check would
/// take longer than the start of a shell.
const MAX_CHECKED_BYTES: usize = 4096;

/// True if a supervisor may be started ahead of a call. The call must be valid, and must need a new
/// shell in the host's directory. The call must also pass the rules of these settings, so that no
/// process is started for a call that will be refused. The call itself runs all checks again.
pub fn may_start_ahead(call: &Input, settings: &Settings, host: &HostContext) -> bool {
    let Some(request) = call.request() else {
        return false;
    };
    is_plain(request)
        && request.cwd.is_none()
        && request.command.len() <= MAX_CHECKED_BYTES
        && settings.policy().is_ok_and(|mut policy| {
            if let Some(tools) = &host.tools {
                policy.tools.clone_from(tools);
            }
            let context = settings.context(host);
            let script = Script::read(&request.command, &context);
            !policy.decide(&script).refuses()
        })
}

/// True if the request needs only a new shell without input.
fn is_plain(request: &Request) -> bool {
    request.mode != Some(Mode::Background)
        && request.session.is_none()
        && request.stdin == StdinMode::Null
        && request.sandbox.is_none()
}

impl Conversation {
    /// Announces the next call: starts a shell that waits for the call's script. The script runs
    /// only after the call was made and has passed all checks. For programs that make a single
    /// call; long-lived programs have warm shells instead.
    ///
    /// Does nothing for a call that cannot use such a shell: a call that was not parsed
    /// ([`Input::parsed`]), a background job, a trial, or a call in a named shell, on a terminal or
    /// with input. For a sandboxed call, use [`Self::announce_sandboxed`].
    ///
    /// # Panics
    /// Panics outside of a tokio runtime with I/O enabled.
    pub fn announce(&self, call: &Input) {
        if self.tool.context.sandbox.settings.level == SandboxLevel::Off {
            self.start_for(call, None);
        }
    }

    /// Announces the next call, like [`Self::announce`], and starts the shell in the sandbox of the
    /// settings. Reads files to make the plan of the sandbox. The shell reports whether this system
    /// can enforce the plan, which saves a separate test.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime with I/O enabled.
    pub async fn announce_sandboxed(&self, call: &Input) {
        let tool = &*self.tool.context;
        let settings = &tool.sandbox.settings;
        let is_trial = call
            .request()
            .is_some_and(|request| request.trial.is_some());
        if settings.level == SandboxLevel::Off || is_trial {
            return;
        }
        // This assumes the best tier. On a system without the full tier, this shell is not used.
        let facts = tool.sandbox.facts(&tool.host, Tier::Full);
        let clock = Arc::clone(&tool.clock);
        let sandbox_state = Arc::clone(&tool.sandbox);
        let prepare = move || sandbox_state.prepare(None, facts, false, &*clock);
        let prepared = tool.within_limit(prepare).await;
        // Without a plan, no shell is started, and the call itself reports the reason.
        if let Some(Ok(Some(prepared))) = prepared {
            tool.sandbox
                .report_git_keys_later(prepared.dropped_git_keys);
            self.start_for(call, Some(prepared.plan));
        }
    }

    /// Starts a shell for the call, if the call can use such a shell.
    fn start_for(&self, call: &Input, sandbox: Option<Arc<Plan>>) {
        let tool = &*self.tool.context;
        let (Some(shells), Ok(shell), Some(request)) =
            (&self.parts.shells, &tool.shell, call.request())
        else {
            return;
        };
        // The shell of a trial needs the trial's mounts.
        let needs_mounts = request.trial.is_some();
        if is_plain(request)
            && !needs_mounts
            && terminal::choose(tool, request, StdinSource::Null).is_none()
        {
            let streams = artifact::streams(tool, None, request);
            let variables = &tool.environment.variables;
            // A call that cannot be traced uses another shell.
            let traced = tool.changes.level() != ChangesLevel::Off;
            shells.start_in_advance(shell, variables, streams, tool.limits, sandbox, traced);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn may_start_ahead_is_false_for_calls_that_will_be_refused() {
        let host = HostContext::capture("/".into());
        let settings = Settings::default();
        for (call, want) in [
            (json!("true"), true),
            (json!({"command": "echo a | head -1", "timeout": 5}), true),
            (json!("git add -A"), false),
            (json!({"cmd": "git push --force"}), false),
            (json!({"command": " "}), false),
            (json!({"command": "true", "nonsense": 1}), false),
            (json!({"command": "true", "cwd": "/nowhere"}), false),
            (json!({"command": "true", "session": "a"}), false),
            (json!({"command": "true", "mode": "background"}), false),
            (json!({"command": "true", "trial": true}), true),
            (json!({"command": "git add -A", "trial": true}), false),
            (
                json!(format!("true {}", "x".repeat(MAX_CHECKED_BYTES))),
                false,
            ),
        ] {
            let input = Input::from(call).parsed();
            assert_eq!(may_start_ahead(&input, &settings, &host), want, "{input:?}");
        }
        let unread = Input::from(json!("true"));
        assert!(!may_start_ahead(&unread, &settings, &host));
        let safe = Settings {
            safe_mode: Some(agent_bash_policy::SafeLevel::default()),
            ..Settings::default()
        };
        let make = Input::from(json!("make")).parsed();
        assert!(may_start_ahead(&make, &settings, &host));
        assert!(!may_start_ahead(&make, &safe, &host));
    }
}
