//! The description of the sandbox for the model, and the schema of the field that requests another
//! sandbox.

use agent_bash_core::sandbox::{
    Escalation, LackingPolicy, MissingPromise, Network, SandboxLevel, TmpDirectory,
};
use serde_json::{Value, json};

/// The settings of the sandbox that the tool's definition states.
#[derive(Debug, Clone, Copy)]
pub struct SandboxTerms<'a> {
    /// The write access.
    pub level: SandboxLevel,
    /// The network access.
    pub network: Network,
    /// The hosts that calls may reach with [`Network::Hosts`].
    pub hosts: &'a [String],
    /// True if variables have placeholders, with [`Network::Hosts`].
    pub has_placeholders: bool,
    /// The policy on a system that cannot enforce all promises.
    pub lacking: LackingPolicy,
    /// The temporary directory that calls may write.
    pub tmp: TmpDirectory,
    /// The policy for a call that asks for more.
    pub escalation: Escalation,
}

/// Returns the description of the sandbox in force. `None` if commands run without a sandbox.
/// `missing` has the promises that this system does not enforce; `None` if these are not known yet.
pub(crate) fn description(
    terms: &SandboxTerms<'_>,
    missing: Option<&[MissingPromise]>,
) -> Option<String> {
    let temporary = match terms.tmp {
        TmpDirectory::Private => "$TMPDIR",
        TmpDirectory::Shared => "/tmp",
    };
    let writable = match terms.level {
        SandboxLevel::Off => return None,
        SandboxLevel::ReadOnly => "$TMPDIR".to_owned(),
        SandboxLevel::WorkspaceWrite => format!("the workspace and {temporary}"),
    };
    let lacks = |lack| missing.is_some_and(|missing| missing.contains(&lack));
    let protected = match terms.level {
        SandboxLevel::WorkspaceWrite if !lacks(MissingPromise::Protected) => {
            "hooks and configuration of git, editors and agents in the workspace cannot be changed (so `git config` and \
             `git remote add` fail); "
        }
        _ => "",
    };
    let signals = if lacks(MissingPromise::Signals) {
        ""
    } else {
        ", and processes of other calls cannot be signalled (end jobs with the job tool)"
    };
    let placeholders = if terms.has_placeholders {
        "; variables with tokens have placeholders, and the proxy puts the tokens into the credentials of requests to \
         `http://HOST/`, which it sends encrypted"
    } else {
        ""
    };
    let network = match terms.network {
        // A sandbox without namespaces lacks this promise, and has no loopback.
        Network::Off if missing.is_some() && !lacks(MissingPromise::Ipc) => {
            "no network but each call's own loopback".to_owned()
        }
        Network::Off => "no network".to_owned(),
        Network::Loopback => "a private loopback network".to_owned(),
        Network::Hosts => format!(
            "the network only by the HTTP proxy of their environment, and only to these hosts: {}{placeholders}",
            terms.hosts.join(", ")
        ),
        Network::On => "the network".to_owned(),
    };
    let partly = match missing {
        None => {
            " A result names the parts of the sandbox that this system does not enforce.".to_owned()
        }
        Some(missing) => {
            let is_relevant = |lack: &&MissingPromise| {
                terms.level != SandboxLevel::ReadOnly || **lack != MissingPromise::Protected
            };
            let relevant: Vec<MissingPromise> =
                missing.iter().filter(is_relevant).copied().collect();
            match (&relevant[..], terms.lacking) {
                ([], _) => String::new(),
                (relevant, LackingPolicy::Accept) => format!(
                    " This system enforces the sandbox only partly. Not enforced: {}.",
                    MissingPromise::consequences(relevant)
                ),
                (_, LackingPolicy::Refuse) => {
                    " This system enforces the sandbox only partly, so every call is refused."
                        .to_owned()
                }
            }
        }
    };
    let more = match terms.escalation {
        Escalation::Never => "",
        Escalation::Ask => {
            " A call that needs more access asks for it with `sandbox` and the reason; a person decides."
        }
    };
    Some(format!(
        "Commands run in a sandbox ({}): they may write in {writable} only and have {network}; {protected}secrets cannot \
         be read{signals}.{partly}{more}",
        terms.level
    ))
}

/// Returns the schema of the field `sandbox` of a call.
pub(crate) fn field(terms: &SandboxTerms<'_>) -> Value {
    let description = match terms.escalation {
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
                "description": format!("{} if left out", terms.level)
            },
            "network": {
                "type": "string", "enum": ["off", "loopback", "hosts", "on"],
                "description": format!("{} if left out", terms.network)
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
