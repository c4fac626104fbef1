//! The keys of `[sandbox]`.

use crate::key::{ProjectEffect, SettingKey, ValueForm, from_word, list, to_value};
use crate::{CacheAccess, SecretSettings};
use agent_bash_core::sandbox::{Escalation, LackingPolicy, Network, SandboxLevel, TmpDirectory};
use agent_bash_proxy::{AllowedHosts, SecretHosts};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Value;

pub(super) const LEVEL: SettingKey = SettingKey {
    name: "sandbox.level",
    doc: "The files that commands may write, enforced by the kernel: off (all files), read_only, workspace_write (docs/sandbox.md).",
    form: ValueForm::Text,
    set: |s, v| from_word::<SandboxLevel>(v).map(|level| s.sandbox.level = level),
    get: |s| to_value(s.sandbox.level),
    project: ProjectEffect::Tightens(|before, now| now.sandbox.level <= before.sandbox.level),
};

pub(super) const NETWORK: SettingKey = SettingKey {
    name: "sandbox.network",
    doc: "The network of commands in the sandbox: off, loopback, on, or a list of hosts and presets (docs/sandbox.md).",
    form: ValueForm::Text,
    set: |s, v| {
        (s.sandbox.network, s.sandbox.hosts) = network(v)?;
        Ok(())
    },
    get: |s| match s.sandbox.network {
        Network::Hosts => to_value(&s.sandbox.hosts),
        network => to_value(network),
    },
    project: ProjectEffect::Tightens(|before, now| before.sandbox.allows_network_of(&now.sandbox)),
};

pub(super) const SECRETS: SettingKey = SettingKey {
    name: "sandbox.secrets",
    doc: "Variables whose values commands do not get, but placeholders; the proxy of a list of hosts puts their values into requests: NAME = { hosts = [\"api.example.com\"] } (docs/sandbox.md).",
    form: ValueForm::FileOnly,
    set: |s, v| {
        let secrets: Result<BTreeMap<String, SecretSettings>, _> = v.clone().try_into();
        let secrets = secrets.map_err(|error| error.message().to_owned())?;
        for (variable, secret) in &secrets {
            if !is_variable_name(variable) {
                return Err(format!("`{variable}` is no name of a variable"));
            }
            SecretHosts::parse(&secret.hosts).map_err(|error| error.to_string())?;
        }
        s.sandbox.secrets = secrets;
        Ok(())
    },
    get: |s| to_value(&s.sandbox.secrets),
    project: ProjectEffect::Never,
};

pub(super) const LACKING: SettingKey = SettingKey {
    name: "sandbox.lacking",
    doc: "Calls on a system that cannot enforce a non-essential part of the sandbox: accept (they run, and the result names that part), refuse.",
    form: ValueForm::Text,
    set: |s, v| from_word::<LackingPolicy>(v).map(|lacking| s.sandbox.lacking = lacking),
    get: |s| to_value(s.sandbox.lacking),
    project: ProjectEffect::Tightens(|before, now| {
        before.sandbox.lacking == LackingPolicy::Accept
            || now.sandbox.lacking == LackingPolicy::Refuse
    }),
};

pub(super) const WRITABLE: SettingKey = SettingKey {
    name: "sandbox.writable",
    doc: "Further directories that commands may write under workspace_write; absolute, or beginning with ~/.",
    form: ValueForm::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.writable = paths),
    get: |s| to_value(&s.sandbox.writable),
    project: ProjectEffect::Never,
};

pub(super) const READABLE: SettingKey = SettingKey {
    name: "sandbox.readable",
    doc: "Paths that stay readable although they hold secrets, such as ~/.npmrc.",
    form: ValueForm::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.readable = paths),
    get: |s| to_value(&s.sandbox.readable),
    project: ProjectEffect::Never,
};

pub(super) const HIDDEN: SettingKey = SettingKey {
    name: "sandbox.hidden",
    doc: "Further paths that commands cannot read.",
    form: ValueForm::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.hidden = paths),
    get: |s| to_value(&s.sandbox.hidden),
    project: ProjectEffect::Adds(|before, now| {
        add(&before.sandbox.hidden, &mut now.sandbox.hidden);
    }),
};

pub(super) const PROTECTED: SettingKey = SettingKey {
    name: "sandbox.protected",
    doc: "Further paths in the workspace that commands cannot write.",
    form: ValueForm::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.protected = paths),
    get: |s| to_value(&s.sandbox.protected),
    project: ProjectEffect::Adds(|before, now| {
        add(&before.sandbox.protected, &mut now.sandbox.protected);
    }),
};

pub(super) const DEVICES: SettingKey = SettingKey {
    name: "sandbox.devices",
    doc: "Devices that commands may use in addition to the harmless devices, such as /dev/kvm.",
    form: ValueForm::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.devices = paths),
    get: |s| to_value(&s.sandbox.devices),
    project: ProjectEffect::Never,
};

pub(super) const TMP: SettingKey = SettingKey {
    name: "sandbox.tmp",
    doc: "The directory for temporary files under workspace_write: own (each call has its own directory), shared (commands may also write in /tmp).",
    form: ValueForm::Text,
    set: |s, v| from_word::<TmpDirectory>(v).map(|tmp| s.sandbox.tmp = tmp),
    get: |s| to_value(s.sandbox.tmp),
    project: ProjectEffect::Tightens(|before, now| {
        before.sandbox.tmp == TmpDirectory::Shared || now.sandbox.tmp == TmpDirectory::Private
    }),
};

pub(super) const CACHES: SettingKey = SettingKey {
    name: "sandbox.caches",
    doc: "The caches of tools that commands may write under workspace_write: private (caches for the calls of this workspace), shared (the user's caches), off.",
    form: ValueForm::Text,
    set: |s, v| from_word::<CacheAccess>(v).map(|caches| s.sandbox.caches = caches),
    get: |s| to_value(s.sandbox.caches),
    project: ProjectEffect::Tightens(|before, now| now.sandbox.caches <= before.sandbox.caches),
};

pub(super) const ESCALATION: SettingKey = SettingKey {
    name: "sandbox.escalation",
    doc: "A call that asks for more than the sandbox allows: never (it is refused), ask (the host asks the user).",
    form: ValueForm::Text,
    set: |s, v| from_word::<Escalation>(v).map(|escalation| s.sandbox.escalation = escalation),
    get: |s| to_value(s.sandbox.escalation),
    project: ProjectEffect::Tightens(|before, now| {
        before.sandbox.escalation == Escalation::Ask || now.sandbox.escalation == Escalation::Never
    }),
};

fn is_variable_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(is_letter)
}

/// Parses a network: one word, or a list of hosts. A text that is no word is a list with commas, as
/// in an environment variable.
fn network(value: &Value) -> Result<(Network, Vec<String>), String> {
    let hosts = match value {
        Value::String(word) => match word.as_str() {
            "off" => return Ok((Network::Off, Vec::new())),
            "loopback" => return Ok((Network::Loopback, Vec::new())),
            "on" => return Ok((Network::On, Vec::new())),
            list => list.split(',').map(|host| host.trim().to_owned()).collect(),
        },
        other => list(other)?,
    };
    let reason = match AllowedHosts::parse(&hosts) {
        Ok(_) if hosts.is_empty() => "the list is empty".to_owned(),
        Ok(_) => return Ok((Network::Hosts, hosts)),
        Err(error) => error.to_string(),
    };
    let presets: Vec<&str> = AllowedHosts::preset_names().collect();
    let presets = presets.join(", ");
    Err(format!(
        "`off`, `loopback`, `on`, or a list of hosts (`name`, `*.name`, an address, each with an optional `:port`) and presets ({presets}); {reason}"
    ))
}

/// Parses a list of paths that do not depend on the working directory.
fn paths(value: &Value) -> Result<Vec<PathBuf>, String> {
    let paths = list(value)?.into_iter().map(PathBuf::from);
    let is_independent = |path: &Path| path.is_absolute() || path.starts_with("~");
    let paths: Vec<PathBuf> = paths.collect();
    if paths.iter().all(|path| is_independent(path)) {
        Ok(paths)
    } else {
        Err("a list of paths that are absolute or begin with `~/`".to_owned())
    }
}

/// Adds the paths of `added` that `list` lacks.
fn add(added: &[PathBuf], list: &mut Vec<PathBuf>) {
    let missing: Vec<PathBuf> = added
        .iter()
        .filter(|p| !list.contains(p))
        .cloned()
        .collect();
    list.extend(missing);
}
