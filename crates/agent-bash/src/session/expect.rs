//! Announces a call, so that the shell it needs is started while the rest of it is prepared.

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

/// Longer scripts are not judged ahead: that would take longer than what could be started
/// meanwhile.
const MAX_CHECKED_BYTES: usize = 4096;

/// True if something may be started for a call ahead of it. The call must be valid, need a new
/// shell in the host's directory, and pass these settings' rules. The call itself is checked again;
/// this only keeps a call that will be refused from starting anything.
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
    // A view is mounted for its trial.
    request.trial.is_none()
        && request.mode != Some(Mode::Background)
        && request.session.is_none()
        && request.stdin == StdinMode::Null
        && request.sandbox.is_none()
}

impl Conversation {
    /// Announces the next call. The shell that it will need is started and waits for the script;
    /// nothing of the call runs before it is made and has passed all checks. Useful for programs
    /// that make a single call, since others have warm shells anyway. Does nothing for a call that
    /// cannot use such a shell: one that was not parsed ([`Input::parsed`]), in the background, in
    /// a named shell, on a terminal, with input, of a trial; and for one in a box, for which see
    /// [`Self::expect_sandboxed`].
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub fn expect(&self, call: &Input) {
        if self.tool.wiring.sandbox.settings.level == SandboxLevel::Off {
            self.start_for(call, None);
        }
    }

    /// Starts a shell ahead of a call in the sandbox of the settings. Finding the plan of that
    /// sandbox takes a look at files. The shell reports whether this system can enforce the plan,
    /// so that no other sandbox has to be started for that.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub async fn expect_sandboxed(&self, call: &Input) {
        let tool = &*self.tool.wiring;
        let settings = &tool.sandbox.settings;
        if settings.level == SandboxLevel::Off {
            return;
        }
        // The best tier; if it is not to be had, nothing is lost but this shell.
        let facts = tool.sandbox.facts(&tool.host, Tier::Full);
        let clock = Arc::clone(&tool.clock);
        let own = Arc::clone(&tool.sandbox);
        let prepare = move || own.prepare(None, facts, false, &*clock);
        let prepared = tool.sandbox.looks.look(&*tool.clock, prepare).await;
        // The call itself will say why there is none.
        if let Some(Ok(Some(prepared))) = prepared {
            self.start_for(call, Some(prepared.plan));
        }
    }

    fn start_for(&self, call: &Input, sandbox: Option<Arc<Plan>>) {
        let tool = &*self.tool.wiring;
        let (Some(shells), Ok(shell), Some(request)) =
            (&self.parts.shells, &tool.shell, call.request())
        else {
            return;
        };
        if is_plain(request) && terminal::choose(tool, request, StdinSource::Null).is_none() {
            let streams = artifact::streams(tool, None, request);
            let variables = &tool.environment.variables;
            // One that turns out to be unwatched takes another one.
            let traced = tool.changes.level() != ChangesLevel::Off;
            shells.expect(shell, variables, streams, tool.limits, sandbox, traced);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_is_started_for_what_will_be_refused() {
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
            (json!({"command": "true", "trial": true}), false),
            (json!({"command": "true", "trial": "atomic"}), false),
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
