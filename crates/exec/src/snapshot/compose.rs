//! Converts the report of a shell into the text with definitions that other shells load, and the
//! commands that set options.
//!
//! Definitions and options are separate because they are applied at different times. A shell loads
//! the definitions before it has a call. Options such as `set -e` or `failglob` would also affect
//! the wrapper around the script, so they are set immediately before the script.

use super::dump::{Definition, ShellOptions, ShellState, Variable};
use agent_bash_core::words;
use agent_bash_process::quoted;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// `set -o` options that are not copied: options of interactive shells, options that cannot be set,
/// and options that would end a shell before the script. (An interactive bash ignores `noexec`,
/// other shells do not.)
const SKIPPED_SET_OPTIONS: &[&str] = words![
    "emacs histexpand history ignoreeof monitor noexec notify onecmd privileged restricted vi"
];

/// `shopt` options that are not copied: options that cannot be set, and `expand_aliases`, which
/// [`option_commands`] sets.
const SKIPPED_SHOPT_OPTIONS: &[&str] = &["expand_aliases", "login_shell", "restricted_shell"];

/// Options with which bash prints the commands that it runs, and so also the commands that follow
/// the script.
pub(super) const PRINTING_OPTIONS: &[&str] = &["verbose", "xtrace"];

/// Returns the text that defines a function.
pub(super) fn function(definition: &Definition) -> Vec<u8> {
    definition.text.clone()
}

/// Returns the command that defines an alias.
pub(super) fn alias(definition: &Definition) -> Vec<u8> {
    let mut value = definition.name.clone().into_bytes();
    value.push(b'=');
    value.extend_from_slice(&definition.text);
    let mut command = b"\\builtin alias -- ".to_vec();
    command.extend(quoted(OsStr::from_bytes(&value)));
    command.push(b'\n');
    command
}

/// Returns the command that declares a variable, or unsets it. The attribute `readonly` is dropped:
/// scripts may change the variable.
pub(super) fn variable(name: &str, variable: Option<&Variable>) -> Vec<u8> {
    let Some(variable) = variable else {
        return format!("\\builtin unset -v {name}\n").into_bytes();
    };
    let text = &variable.declaration;
    let rest = text.splitn(3, |byte| *byte == b' ').nth(2);
    let attributes = variable.attributes().iter().copied();
    let attributes = attributes.filter(u8::is_ascii_alphabetic);
    let attributes = attributes.filter(|letter| *letter != b'r');
    let mut command = b"\\builtin declare -g".to_vec();
    command.extend(attributes);
    command.push(b' ');
    let assignment = rest.unwrap_or_default().trim_ascii_end();
    if variable.is_array() {
        // After `\builtin`, `NAME=(...)` is a syntax error; `declare` accepts the list as one
        // quoted word.
        command.extend(quoted(OsStr::from_bytes(assignment)));
    } else {
        command.extend_from_slice(assignment);
    }
    command.push(b'\n');
    command
}

/// Returns the commands that set the umask and the soft limits that the configuration has changed.
pub(super) fn limits(before: &ShellState, after: &ShellState) -> Vec<u8> {
    let mut commands = Vec::new();
    let is_octal = after
        .umask
        .bytes()
        .all(|byte| (b'0'..=b'7').contains(&byte));
    if after.umask != before.umask && is_octal && !after.umask.is_empty() {
        commands.push(format!("\\builtin umask {}\n", after.umask));
    }
    for (letter, value) in &after.limits {
        if before.limits.get(letter).is_some_and(|old| old != value) {
            commands.push(format!("\\builtin ulimit -S -{letter} {value}\n"));
        }
    }
    commands.concat().into_bytes()
}

/// Returns the text with all definitions. `extglob` patterns can only be parsed while `extglob` is
/// on.
pub(super) fn load_text(
    variables: &BTreeMap<String, Option<Variable>>,
    functions: &[Definition],
    exported: &BTreeSet<String>,
    aliases: &[Definition],
) -> Vec<u8> {
    let variables = variables.iter();
    let mut text: Vec<u8> = variables
        .flat_map(|(name, value)| variable(name, value.as_ref()))
        .collect();
    text.extend_from_slice(b"\\builtin shopt -s extglob\n");
    text.extend(functions.iter().flat_map(function));
    text.extend_from_slice(b"\\builtin shopt -u extglob\n");
    let exported = functions
        .iter()
        .filter(|function| exported.contains(&function.name));
    text.extend(exported.flat_map(|function| export(&function.name)));
    text.extend(aliases.iter().flat_map(alias));
    text
}

/// Returns the command that exports a function.
fn export(name: &str) -> Vec<u8> {
    let name = quoted(OsStr::new(name));
    [b"\\builtin export -f -- ", &*name, b"\n"].concat()
}

/// Returns the commands that set the options changed by the configuration, each followed by `; `.
/// Also returns whether commands may follow the script ([`PRINTING_OPTIONS`]).
pub(super) fn option_commands(before: &ShellOptions, after: &ShellOptions) -> (Vec<u8>, bool) {
    let changed = |before: &BTreeSet<String>, after: &BTreeSet<String>, skipped: &[&str]| {
        let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| -> Vec<String> {
            let names = a.difference(b);
            names
                .filter(|name| !skipped.contains(&name.as_str()))
                .cloned()
                .collect()
        };
        (only(after, before), only(before, after))
    };
    let (mut on, off) = changed(&before.shopt, &after.shopt, SKIPPED_SHOPT_OPTIONS);
    // `expand_aliases` is on by default in interactive shells, so the comparison finds no change.
    // In shells that run a script, the option is off.
    if after.shopt.contains("expand_aliases") {
        on.push("expand_aliases".to_owned());
    }
    let mut commands = Vec::new();
    for (option, names) in [("-s", on), ("-u", off)] {
        if !names.is_empty() {
            commands.push(format!("\\builtin shopt {option} {}; ", names.join(" ")));
        }
    }
    let (on, off) = changed(&before.set, &after.set, SKIPPED_SET_OPTIONS);
    for (option, names) in [("+o", off), ("-o", on)] {
        let set = |name: &String| format!("\\builtin set {option} {name}; ");
        commands.extend(names.iter().map(set));
    }
    let allows_tail = !PRINTING_OPTIONS
        .iter()
        .any(|name| after.set.contains(*name));
    (commands.concat().into_bytes(), allows_tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(set: &[&str], shopt: &[&str]) -> ShellOptions {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ShellOptions {
            set: own(set),
            shopt: own(shopt),
            path: "/bin".into(),
        }
    }

    fn options(before: &ShellOptions, after: &ShellOptions) -> (String, bool) {
        let (text, tail) = option_commands(before, after);
        (String::from_utf8(text).unwrap(), tail)
    }

    #[test]
    fn option_commands_contain_only_changes() {
        let before = state(&["braceexpand", "emacs", "histexpand"], &["cmdhist"]);
        assert_eq!(options(&before, &before), (String::new(), true));
        let after = state(
            &["vi", "errexit", "noexec", "monitor"],
            &["extglob", "globstar"],
        );
        assert_eq!(
            options(&before, &after).0,
            "\\builtin shopt -s extglob globstar; \\builtin shopt -u cmdhist; \
             \\builtin set +o braceexpand; \\builtin set -o errexit; "
        );
    }

    #[test]
    fn expand_aliases_is_set_if_it_was_on() {
        let on = state(&[], &["expand_aliases"]);
        let off = state(&[], &[]);
        assert_eq!(options(&on, &on).0, "\\builtin shopt -s expand_aliases; ");
        assert_eq!(options(&on, &off).0, "");
    }

    #[test]
    fn printing_options_forbid_a_tail() {
        let plain = state(&[], &[]);
        assert!(!options(&plain, &state(&["xtrace"], &[])).1);
        assert!(options(&plain, &state(&["errexit"], &[])).1);
    }

    #[test]
    fn alias_value_is_quoted() {
        let definition = Definition {
            name: "-".into(),
            text: b"echo it's\nhere".to_vec(),
        };
        assert_eq!(
            alias(&definition),
            b"\\builtin alias -- '-=echo it'\\''s\nhere'\n"
        );
    }
}
