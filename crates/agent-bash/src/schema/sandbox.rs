//! The model's description of the sandbox, and the field that requests another one.

use crate::{Escalation, SandboxSettings, Tmp};
use agent_bash_core::sandbox::{Network, SandboxLevel};
use serde_json::{Value, json};

/// Returns the description of the sandbox in force; `None` without one.
pub(super) fn description(own: &SandboxSettings) -> Option<String> {
    let temporary = match own.tmp {
        Tmp::Private => "$TMPDIR",
        Tmp::Shared => "/tmp",
    };
    let places = match own.level {
        SandboxLevel::Off => return None,
        SandboxLevel::ReadOnly => "$TMPDIR".to_owned(),
        SandboxLevel::WorkspaceWrite => format!("the workspace and {temporary}"),
    };
    let kept = match own.level {
        SandboxLevel::WorkspaceWrite => {
            "hooks and configuration of git, editors and agents in it stay as they are (so `git config` and `git remote \
             add` fail); "
        }
        _ => "",
    };
    let network = match own.network {
        Network::Off => "no network",
        Network::Loopback => "a network of their own, without the outside",
        Network::On => "the network",
    };
    let more = match own.escalation {
        Escalation::Never => "",
        Escalation::Ask => {
            " A call that needs more asks for it by `sandbox`, with the reason; a person decides."
        }
    };
    Some(format!(
        "Commands run in a sandbox ({}): they may write in {places} only and have {network}; {kept}secrets cannot be read, \
         and processes of other calls not be signalled (jobs are ended by the job tool).{more}",
        own.level
    ))
}

/// The field of a call.
pub(super) fn field(own: &SandboxSettings) -> Value {
    let what = match own.escalation {
        Escalation::Never => "A stricter sandbox for this call",
        Escalation::Ask => {
            "Another sandbox for this call; one that allows more is decided on by a person"
        }
    };
    json!({
        "type": "object",
        "required": ["reason"],
        "properties": {
            "level": {
                "type": "string", "enum": ["read_only", "workspace_write", "off"],
                "description": format!("{} if left out", own.level)
            },
            "network": {
                "type": "string", "enum": ["off", "loopback", "on"],
                "description": format!("{} if left out", own.network)
            },
            "writable": {
                "type": "array", "items": { "type": "string" },
                "description": "Directories to write in besides; absolute, or beginning with ~/"
            },
            "reason": { "type": "string", "description": "Why, for the person who decides" }
        },
        "description": what
    })
}
