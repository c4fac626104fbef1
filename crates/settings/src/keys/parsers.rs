//! Parsers of the values of single keys.

use crate::SecretSettings;
use crate::key::{count, list, typed};
use crate::targets::TargetSettings;
use agent_bash_core::sandbox::Network;
use agent_bash_policy::{Group, RuleSelection, UserRule};
use agent_bash_proxy::{AllowedHosts, SecretHosts};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Value;

pub(super) fn chars(value: &Value) -> Result<Option<usize>, String> {
    count(value).map(|chars: u64| usize::try_from(chars).ok())
}

pub(super) fn groups(value: &Value) -> Result<BTreeSet<Group>, String> {
    let names: Vec<String> = list(value)?;
    let groups: Result<_, _> = names.iter().map(|name| name.parse::<Group>()).collect();
    groups.map_err(|error| error.to_string())
}

/// Parses the names of rules. An unknown name is an error.
pub(super) fn rules(value: &Value) -> Result<BTreeSet<String>, String> {
    let names: Vec<String> = list(value)?;
    let mut known = RuleSelection::none();
    for name in &names {
        known
            .switch(name, true)
            .map_err(|error| error.to_string())?;
    }
    Ok(names.into_iter().collect())
}

/// Parses the user's own rules. A path, and a program with its arguments, are errors: such a rule
/// would refuse nothing. In the name of a program, `*` stands for a space.
pub(super) fn user_rules(value: &Value) -> Result<Vec<UserRule>, String> {
    let rules: Vec<UserRule> = typed(value)?;
    let is_name = |name: &str| !name.is_empty() && !name.contains(['/', ' ']);
    let mut programs = rules.iter().map(|rule| &rule.pattern.program);
    match programs.find(|program| !program.split('|').all(is_name)) {
        Some(program) => Err(format!(
            "`{program}` is not the name of a program: leave out its directory, and write words after it in `arguments`"
        )),
        None => Ok(rules),
    }
}

pub(super) fn variables(value: &Value) -> Result<BTreeMap<String, String>, String> {
    typed(value).map_err(|_| "a table of texts".to_owned())
}

pub(super) fn targets(value: &Value) -> Result<BTreeMap<String, TargetSettings>, String> {
    let targets: BTreeMap<String, TargetSettings> = typed(value)?;
    for (name, target) in &targets {
        target.target(name).map_err(|error| error.to_string())?;
    }
    Ok(targets)
}

pub(super) fn secrets(value: &Value) -> Result<BTreeMap<String, SecretSettings>, String> {
    let secrets: BTreeMap<String, SecretSettings> = typed(value)?;
    for (variable, secret) in &secrets {
        if !is_variable_name(variable) {
            return Err(format!("`{variable}` is no name of a variable"));
        }
        SecretHosts::parse(&secret.hosts).map_err(|error| error.to_string())?;
    }
    Ok(secrets)
}

fn is_variable_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(is_letter)
}

/// Parses a network: one word, or a list of hosts. A text that is no word is a list with commas, as
/// in an environment variable.
pub(super) fn network(value: &Value) -> Result<(Network, Vec<String>), String> {
    let hosts: Vec<String> = match value {
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
pub(super) fn paths(value: &Value) -> Result<Vec<PathBuf>, String> {
    let paths = list::<Vec<String>>(value)?.into_iter().map(PathBuf::from);
    let is_independent = |path: &Path| path.is_absolute() || path.starts_with("~");
    let paths: Vec<PathBuf> = paths.collect();
    if paths.iter().all(|path| is_independent(path)) {
        Ok(paths)
    } else {
        Err("a list of paths that are absolute or begin with `~/`".to_owned())
    }
}
