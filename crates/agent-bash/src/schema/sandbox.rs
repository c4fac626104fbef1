//! The model's description of the sandbox, and the field that requests another one.

use crate::{Escalation, LackingPolicy, SandboxSettings, TmpDirectory};
use agent_bash_core::sandbox::{Lack, Network, SandboxLevel};
use serde_json::{Value, json};

/// Returns the description of the sandbox in force; `None` without one. `missing` is what this
/// system does not enforce, if that is known.
pub(super) fn description(own: &SandboxSettings, missing: Option<&[Lack]>) -> Option<String> {
    let temporary = match own.tmp {
        TmpDirectory::Private => "$TMPDIR",
        TmpDirectory::Shared => "/tmp",
    };
    let places = match own.level {
        SandboxLevel::Off => return None,
        SandboxLevel::ReadOnly => "$TMPDIR".to_owned(),
        SandboxLevel::WorkspaceWrite => format!("the workspace and {temporary}"),
    };
    let lacks = |lack| missing.is_some_and(|missing| missing.contains(&lack));
    let kept = match own.level {
        SandboxLevel::WorkspaceWrite if !lacks(Lack::Protected) => {
            "hooks and configuration of git, editors and agents in it stay as they are (so `git config` and `git remote \
             add` fail); "
        }
        _ => "",
    };
    let signals = if lacks(Lack::Signals) {
        ""
    } else {
        ", and processes of other calls not be signalled (jobs are ended by the job tool)"
    };
    let network = match own.network {
        Network::Off => "no network",
        Network::Loopback => "a network of their own, without the outside",
        Network::On => "the network",
    };
    let partly = match missing {
        None => " A result names what this system does not enforce of that.".to_owned(),
        Some(missing) => {
            let is_felt =
                |lack: &&Lack| own.level != SandboxLevel::ReadOnly || **lack != Lack::Protected;
            let felt: Vec<Lack> = missing.iter().filter(is_felt).copied().collect();
            match (&felt[..], own.lacking) {
                ([], _) => String::new(),
                (felt, LackingPolicy::Accept) => format!(
                    " This system enforces it only partly. Not enforced: {}.",
                    Lack::consequences(felt)
                ),
                (_, LackingPolicy::Refuse) => {
                    " This system enforces it only partly, so every call is refused.".to_owned()
                }
            }
        }
    };
    let more = match own.escalation {
        Escalation::Never => "",
        Escalation::Ask => {
            " A call that needs more asks for it by `sandbox`, with the reason; a person decides."
        }
    };
    Some(format!(
        "Commands run in a sandbox ({}): they may write in {places} only and have {network}; {kept}secrets cannot be \
         read{signals}.{partly}{more}",
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
