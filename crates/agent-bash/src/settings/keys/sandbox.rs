//! The keys of `[sandbox]`.

use crate::settings::key::{Form, Key, Project, from_word, list, to_value};
use crate::{Escalation, Lacking, Tmp};
use agent_bash_core::sandbox::{Network, SandboxLevel};
use std::path::{Path, PathBuf};
use toml::Value;

pub(super) const LEVEL: Key = Key {
    name: "sandbox.level",
    doc: "What commands may write, held by the kernel: off, read_only, workspace_write (docs/sandbox.md).",
    form: Form::Text,
    set: |s, v| from_word::<SandboxLevel>(v).map(|level| s.sandbox.level = level),
    get: |s| to_value(s.sandbox.level),
    project: Project::Tightens(|before, now| now.sandbox.level <= before.sandbox.level),
};

pub(super) const NETWORK: Key = Key {
    name: "sandbox.network",
    doc: "The network of commands in the sandbox: off, loopback, on.",
    form: Form::Text,
    set: |s, v| from_word::<Network>(v).map(|network| s.sandbox.network = network),
    get: |s| to_value(s.sandbox.network),
    project: Project::Tightens(|before, now| now.sandbox.network <= before.sandbox.network),
};

pub(super) const LACKING: Key = Key {
    name: "sandbox.lacking",
    doc: "Where the system cannot enforce what is not essential: accept (the result says what), refuse.",
    form: Form::Text,
    set: |s, v| from_word::<Lacking>(v).map(|lacking| s.sandbox.lacking = lacking),
    get: |s| to_value(s.sandbox.lacking),
    project: Project::Tightens(|before, now| {
        before.sandbox.lacking == Lacking::Accept || now.sandbox.lacking == Lacking::Refuse
    }),
};

pub(super) const WRITABLE: Key = Key {
    name: "sandbox.writable",
    doc: "Directories that workspace_write may write besides the workspace; absolute, or beginning with ~/.",
    form: Form::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.writable = paths),
    get: |s| to_value(&s.sandbox.writable),
    project: Project::Never,
};

pub(super) const READABLE: Key = Key {
    name: "sandbox.readable",
    doc: "Paths that stay readable although they hold secrets, such as ~/.npmrc.",
    form: Form::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.readable = paths),
    get: |s| to_value(&s.sandbox.readable),
    project: Project::Never,
};

pub(super) const HIDDEN: Key = Key {
    name: "sandbox.hidden",
    doc: "Further paths that cannot be read.",
    form: Form::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.hidden = paths),
    get: |s| to_value(&s.sandbox.hidden),
    project: Project::Adds(|before, now| add(&before.sandbox.hidden, &mut now.sandbox.hidden)),
};

pub(super) const PROTECTED: Key = Key {
    name: "sandbox.protected",
    doc: "Further paths in the workspace that cannot be written.",
    form: Form::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.protected = paths),
    get: |s| to_value(&s.sandbox.protected),
    project: Project::Adds(|before, now| {
        add(&before.sandbox.protected, &mut now.sandbox.protected);
    }),
};

pub(super) const DEVICES: Key = Key {
    name: "sandbox.devices",
    doc: "Devices that may be used besides the harmless ones, such as /dev/kvm.",
    form: Form::List,
    set: |s, v| paths(v).map(|paths| s.sandbox.devices = paths),
    get: |s| to_value(&s.sandbox.devices),
    project: Project::Never,
};

pub(super) const TMP: Key = Key {
    name: "sandbox.tmp",
    doc: "Where workspace_write puts temporary files: own (a directory of the call), shared (/tmp may be written too).",
    form: Form::Text,
    set: |s, v| from_word::<Tmp>(v).map(|tmp| s.sandbox.tmp = tmp),
    get: |s| to_value(s.sandbox.tmp),
    project: Project::Tightens(|before, now| {
        before.sandbox.tmp == Tmp::Shared || now.sandbox.tmp == Tmp::Private
    }),
};

pub(super) const ESCALATION: Key = Key {
    name: "sandbox.escalation",
    doc: "A call that asks for more than the sandbox allows: never (refused), ask (the host asks its user).",
    form: Form::Text,
    set: |s, v| from_word::<Escalation>(v).map(|escalation| s.sandbox.escalation = escalation),
    get: |s| to_value(s.sandbox.escalation),
    project: Project::Tightens(|before, now| {
        before.sandbox.escalation == Escalation::Ask || now.sandbox.escalation == Escalation::Never
    }),
};

/// Paths that mean the same everywhere.
fn paths(value: &Value) -> Result<Vec<PathBuf>, String> {
    let paths = list(value)?.into_iter().map(PathBuf::from);
    let is_whole = |path: &Path| path.is_absolute() || path.starts_with("~");
    let paths: Vec<PathBuf> = paths.collect();
    if paths.iter().all(|path| is_whole(path)) {
        Ok(paths)
    } else {
        Err("a list of paths that are absolute or begin with `~/`".to_owned())
    }
}

/// Adds those that are not there yet.
fn add(more: &[PathBuf], to: &mut Vec<PathBuf>) {
    let missing: Vec<PathBuf> = more.iter().filter(|p| !to.contains(p)).cloned().collect();
    to.extend(missing);
}
