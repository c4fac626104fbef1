//! Selects the variables of a snapshot: variables that the configuration exports, and variables
//! that its functions and aliases use.

use super::cd_hook::{self, PromptHook};
use super::dump::{Definition, ShellDump, ShellState, Variable};
use super::hook_changes::HookChanges;
use super::options::SnapshotOptions;
use super::search_path;
use crate::exports::is_set_by_bash;
use agent_bash_process::environment::{CI, UNATTENDED_DEFAULTS, finds_mise};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The variables and the search path of a configuration.
#[derive(Debug, Default)]
pub(super) struct ConfiguredVariables {
    /// The search path, if the configuration changed it.
    pub(super) path: Option<OsString>,
    /// The changed variables; `None` if the configuration unset the variable.
    pub(super) changed: BTreeMap<String, Option<Variable>>,
    /// The names of variables that are excluded because they hold secrets.
    pub(super) withheld: BTreeSet<String>,
    /// The hooks by which the prompt chooses versions.
    pub(super) prompt_hooks: Vec<&'static PromptHook>,
    /// The changes that other commands of the prompt make for the project.
    pub(super) hooks: HookChanges,
}

/// Compares the variables before and after the configuration was read. `base` is the environment of
/// the shell.
pub(super) fn configured(
    dump: &ShellDump,
    base: &BTreeMap<OsString, OsString>,
    options: &SnapshotOptions,
) -> ConfiguredVariables {
    let (before, after) = (&dump.before, &dump.after);
    let was_read_by_parent =
        search_path::has_active(base) || was_read_by_parent_shell(before, after);
    let mut result = ConfiguredVariables::default();
    let mut project_changes = BTreeMap::new();
    let at_prompt = dump.at_prompt.as_ref();
    let names = before.variables.keys().chain(after.variables.keys());
    let names = names.chain(at_prompt.iter().flat_map(|state| state.variables.keys()));
    for name in names.collect::<BTreeSet<_>>() {
        if name == "PATH" || is_fixed(name, options) {
            continue;
        }
        let [old, after_rc] = [before, after].map(|state| state.variables.get(name));
        // `__ab_restore` restores inherited variables before the prompt's hook runs.
        let is_inherited = base.contains_key(OsStr::new(name));
        let before_hook = if is_inherited { old } else { after_rc };
        let with_hook = at_prompt.map_or(before_hook, |state| state.variables.get(name));
        let now = if is_same(with_hook, before_hook) {
            if is_inherited && was_read_by_parent {
                old
            } else {
                after_rc
            }
        } else {
            with_hook
        };
        // direnv's hook is not one of the changes: the shells of sessions call it.
        let before_prompt = dump.before_prompt.as_ref();
        let unprompted = before_prompt.map_or(before_hook, |state| state.variables.get(name));
        let is_exported = [unprompted, with_hook]
            .iter()
            .any(|variable| variable.is_some_and(Variable::is_exported));
        let is_secret = |variable: &Variable| {
            let secrets = options.secrets.as_ref();
            secrets.is_some_and(|filter| variable.holds_secret(name, filter))
        };
        if !is_same(with_hook, unprompted)
            && is_exported
            && ![unprompted, with_hook].into_iter().flatten().any(is_secret)
        {
            let change = (unprompted.cloned(), with_hook.cloned());
            project_changes.insert(name.clone(), change);
        }
        if is_same(old, now) {
            continue;
        }
        match (now, options.secrets.as_ref()) {
            (Some(variable), Some(filter)) if variable.holds_secret(name, filter) => {
                tracing::debug!(
                    name,
                    "left out of the snapshot: the variable probably holds a secret"
                );
                result.withheld.insert(name.clone());
            }
            (now, _) => drop(result.changed.insert(name.clone(), now.cloned())),
        }
    }
    result.path = path(dump, base, options);
    if options.may_unset_ci && sets_up_mise(after, result.path.as_deref()) {
        result.changed.insert(CI.to_owned(), None);
    }
    result.prompt_hooks = cd_hook::prompt_hooks(after);
    result.hooks = HookChanges::new(project_changes, dump);
    result
}

/// True if the configuration sets up mise: it defines mise's function, or its search path leads to
/// the program.
fn sets_up_mise(after: &ShellState, path: Option<&OsStr>) -> bool {
    let mut functions = after.functions.iter();
    functions.any(|function| function.name == "mise") || path.is_some_and(finds_mise)
}

/// Removes the variables that are neither exported nor used by a function or an alias.
pub(super) fn retain_used(
    changed: &mut BTreeMap<String, Option<Variable>>,
    functions: &[Definition],
    aliases: &[Definition],
) {
    let texts = functions
        .iter()
        .chain(aliases)
        .map(|definition| definition.text.as_slice());
    let mut named: BTreeSet<String> = texts.flat_map(identifiers).map(str::to_owned).collect();
    // The value of a nameref is the name of another variable.
    for variable in changed.values().flatten() {
        if variable.attributes().contains(&b'n') {
            named.extend(identifiers(&variable.declaration).map(str::to_owned));
        }
    }
    changed.retain(|name, variable| match variable {
        Some(variable) => variable.is_exported() || named.contains(name),
        None => true,
    });
}

/// Removes functions and aliases that use one of the `withheld` variables, or call a missing or
/// removed function or alias. Returns the names of the removed functions and aliases.
pub(super) fn drop_broken(
    functions: &mut Vec<Definition>,
    aliases: &mut Vec<Definition>,
    withheld: &BTreeSet<String>,
    missing: &BTreeSet<String>,
) -> BTreeSet<String> {
    let uses_withheld = |definition: &Definition| {
        !withheld.is_empty()
            && expanded_variables(&definition.text).any(|name| withheld.contains(name))
    };
    let mut dropped = missing.clone();
    loop {
        let count = dropped.len();
        for list in [&mut *functions, &mut *aliases] {
            list.retain(|definition| {
                let is_broken = uses_withheld(definition)
                    || !dropped.is_empty()
                        && called_commands(&definition.text).any(|name| dropped.contains(name));
                if is_broken {
                    let name = &definition.name;
                    tracing::debug!(
                        name,
                        "left out of the snapshot: the definition needs an excluded one"
                    );
                    dropped.insert(name.clone());
                }
                !is_broken
            });
        }
        if dropped.len() == count {
            return &dropped - missing;
        }
    }
}

/// True if the parent of this shell had probably read the configuration. Then reading the
/// configuration again exports nothing new, and adds no directory to the search path.
fn was_read_by_parent_shell(before: &ShellState, after: &ShellState) -> bool {
    let is_exported = |state: &ShellState, name: &String| {
        let variable = state.variables.get(name);
        variable.is_some_and(Variable::is_exported)
    };
    let mut names = after.variables.keys();
    let exports_new = names.any(|name| {
        is_exported(after, name) && !before.variables.contains_key(name) && !is_set_by_bash(name)
    });
    let paths = [before, after].map(|state| state.options.path.as_bytes());
    let [old, new] = paths.map(|path| path.split(|byte| *byte == b':').collect::<BTreeSet<_>>());
    !exports_new && new.is_subset(&old)
}

/// True if the configuration must not change this variable.
fn is_fixed(name: &str, options: &SnapshotOptions) -> bool {
    is_set_by_bash(name)
        || UNATTENDED_DEFAULTS
            .iter()
            .any(|default| default.name == name)
        || options.fixed_variables.contains(name)
}

/// Returns the search path if it is set, changed, and contains no secret.
fn path(
    dump: &ShellDump,
    base: &BTreeMap<OsString, OsString>,
    options: &SnapshotOptions,
) -> Option<OsString> {
    let [before, after] = [&dump.before, &dump.after].map(|state| &state.options.path);
    let merged = search_path::merged(before, after, base);
    let at_prompt = dump.at_prompt.as_ref();
    let path = match at_prompt {
        Some(state) => search_path::with_hook_changes(merged, after, &state.options.path),
        None => merged,
    };
    let secrets = options.secrets.as_ref();
    let is_secret = secrets.is_some_and(|filter| filter.is_secret(OsStr::new("PATH"), &path));
    (!path.is_empty() && path != *before && !is_secret).then_some(path)
}

fn is_same(first: Option<&Variable>, second: Option<&Variable>) -> bool {
    first.map(|variable| &variable.declaration) == second.map(|variable| &variable.declaration)
}

fn identifiers(text: &[u8]) -> impl Iterator<Item = &str> {
    let words = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let words = words.filter(|word| word.first().is_some_and(|byte| !byte.is_ascii_digit()));
    words.filter_map(|word| std::str::from_utf8(word).ok())
}

/// Returns the names of the variables that a text expands.
fn expanded_variables(text: &[u8]) -> impl Iterator<Item = &str> {
    let after = text.split(|byte| *byte == b'$').skip(1);
    after.filter_map(|rest| {
        let rest = rest.strip_prefix(b"{").unwrap_or(rest);
        let rest = rest
            .strip_prefix(b"!")
            .or(rest.strip_prefix(b"#"))
            .unwrap_or(rest);
        let end = rest
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        std::str::from_utf8(&rest[..end.unwrap_or(rest.len())]).ok()
    })
}

/// Words after which a command begins.
const COMMAND_OPENERS: &[&str] = &[
    "then", "do", "else", "elif", "if", "while", "until", "!", "{", "time",
];

/// Returns the names of the commands that a text, formatted by `declare -f`, calls: the words at
/// the beginning of a line or after an operator.
fn called_commands(text: &[u8]) -> impl Iterator<Item = &str> {
    let pieces = text.split(|byte| b"\n;|&(`".contains(byte));
    pieces.filter_map(|piece| {
        let piece = std::str::from_utf8(piece).ok()?;
        let mut words = piece.split_whitespace();
        words
            .find(|word| !COMMAND_OPENERS.contains(word))
            .map(|word| word.trim_matches(['\\', '"', '\'', ')']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definitions(texts: &[(&str, &str)]) -> Vec<Definition> {
        let texts = texts.iter().map(|(name, text)| Definition {
            name: (*name).to_owned(),
            text: text.as_bytes().to_vec(),
        });
        texts.collect()
    }

    fn names(texts: &[&str]) -> BTreeSet<String> {
        texts.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn drop_broken_removes_users_of_withheld_variables_and_their_callers() {
        let mut functions = definitions(&[
            ("deploy", "{ \n    curl -H \"X: ${KEY}\"\n}"),
            ("all", "{ \n    if true; then\n        deploy;\n    fi\n}"),
            ("sub", "{ \n    echo \"$(deploy)\"\n}"),
            ("prints", "{ \n    echo deploy KEY\n}"),
        ]);
        let mut aliases = definitions(&[("d", "deploy now"), ("e", "echo deploy")]);
        let withheld = names(&["KEY"]);
        let dropped = drop_broken(&mut functions, &mut aliases, &withheld, &names(&[]));
        assert_eq!(dropped, names(&["deploy", "all", "sub", "d"]));
        assert_eq!(functions.len(), 1);
        assert_eq!(aliases.len(), 1);
    }

    #[test]
    fn retain_used_keeps_exported_and_used_variables() {
        let variable = |declaration: &str| {
            Some(Variable {
                declaration: declaration.as_bytes().to_vec(),
                value: "".into(),
            })
        };
        let mut changed = BTreeMap::from([
            ("A".to_owned(), variable("declare -x A=\"\"")),
            ("b".to_owned(), variable("declare -- b=\"\"")),
            ("c".to_owned(), variable("declare -- c=\"\"")),
            ("GONE".to_owned(), None),
        ]);
        let functions = definitions(&[("f", "{ \n    echo \"${b[0]}\"\n}")]);
        retain_used(&mut changed, &functions, &[]);
        assert_eq!(changed.into_keys().collect::<Vec<_>>(), ["A", "GONE", "b"]);
    }
}
