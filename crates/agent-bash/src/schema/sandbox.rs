//! The description of the sandbox for the model, and the schema of the field that requests another
//! sandbox.

use crate::{Escalation, LackingPolicy, SandboxSettings, TmpDirectory};
use agent_bash_core::sandbox::{Lack, Network, SandboxLevel};
use serde_json::{Value, json};

/// Returns the description of the sandbox in force. `None` if commands run without a sandbox.
/// `missing` has the promises that this system does not enforce; `None` if these are not known yet.
pub(super) fn description(settings: &SandboxSettings, missing: Option<&[Lack]>) -> Option<String> {
    let temporary = match settings.tmp {
        TmpDirectory::Private => "$TMPDIR",
        TmpDirectory::Shared => "/tmp",
    };
    let writable = match settings.level {
        SandboxLevel::Off => return None,
        SandboxLevel::ReadOnly => "$TMPDIR".to_owned(),
        SandboxLevel::WorkspaceWrite => format!("the workspace and {temporary}"),
    };
    let lacks = |lack| missing.is_some_and(|missing| missing.contains(&lack));
    let protected = match settings.level {
        SandboxLevel::WorkspaceWrite if !lacks(Lack::Protected) => {
            "hooks and configuration of git, editors and agents in the workspace cannot be changed (so `git config` and \
             `git remote add` fail); "
        }
        _ => "",
    };
    let signals = if lacks(Lack::Signals) {
        ""
    } else {
        ", and processes of other calls cannot be signalled (end jobs with the job tool)"
    };
    let network = match settings.network {
        Network::Off => "no network".to_owned(),
        Network::Loopback => "a private loopback network".to_owned(),
        Network::Hosts => format!(
            "the network only by the HTTP proxy of their environment, and only to these hosts: {}",
            settings.hosts.join(", ")
        ),
        Network::On => "the network".to_owned(),
    };
    let partly = match missing {
        None => {
            " A result names the parts of the sandbox that this system does not enforce.".to_owned()
        }
        Some(missing) => {
            let is_relevant = |lack: &&Lack| {
                settings.level != SandboxLevel::ReadOnly || **lack != Lack::Protected
            };
            let relevant: Vec<Lack> = missing.iter().filter(is_relevant).copied().collect();
            match (&relevant[..], settings.lacking) {
                ([], _) => String::new(),
                (relevant, LackingPolicy::Accept) => format!(
                    " This system enforces the sandbox only partly. Not enforced: {}.",
                    Lack::consequences(relevant)
                ),
                (_, LackingPolicy::Refuse) => {
                    " This system enforces the sandbox only partly, so every call is refused."
                        .to_owned()
                }
            }
        }
    };
    let more = match settings.escalation {
        Escalation::Never => "",
        Escalation::Ask => {
            " A call that needs more access asks for it with `sandbox` and the reason; a person decides."
        }
    };
    Some(format!(
        "Commands run in a sandbox ({}): they may write in {writable} only and have {network}; {protected}secrets cannot \
         be read{signals}.{partly}{more}",
        settings.level
    ))
}

/// Returns the schema of the field `sandbox` of a call.
pub(super) fn field(settings: &SandboxSettings) -> Value {
    let description = match settings.escalation {
        Escalation::Never => "A stricter sandbox for this call",
        Escalation::Ask => {
            "Another sandbox for this call; a person decides on a sandbox that allows more"
        }
    };
    json!({
        "type": "object",
        "required": ["reason"],
        "properties": {
            "level": {
                "type": "string", "enum": ["read_only", "workspace_write", "off"],
                "description": format!("{} if left out", settings.level)
            },
            "network": {
                "type": "string", "enum": ["off", "loopback", "hosts", "on"],
                "description": format!("{} if left out", settings.network)
            },
            "hosts": {
                "type": "array", "items": { "type": "string" },
                "description": "With `hosts`: the only hosts to reach, such as pypi.org or *.example.org:8443"
            },
            "writable": {
                "type": "array", "items": { "type": "string" },
                "description": "Further writable directories; absolute, or beginning with ~/"
            },
            "reason": { "type": "string", "description": "Why, for the person who decides" }
        },
        "description": description
    })
}
