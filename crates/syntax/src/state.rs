//! The state of the shell between commands: variables, directories, functions, files.
//!
//! A variable may have several possible values after paths through the script join.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use super::ast::Command;
use super::command_host::CommandHost;
use super::value::{UnknownCause, Value};

/// The value of a variable on one path through the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VariableValue {
    /// A plain variable.
    Scalar(Value),
    /// An array, indexed or associative, with its values in order.
    Array(Vec<Value>),
}

pub(crate) type PossibleValues = Vec<VariableValue>;

/// The variables of a shell.
pub(super) type Vars = Rc<BTreeMap<Rc<str>, Rc<PossibleValues>>>;

/// Maximum number of possible values that are tracked per variable.
pub(super) const MAX_POSSIBLE_VALUES: usize = 8;

/// Variables that every environment contains, so that a new value is exported, too. `IFS` and
/// `BASH` are not exported, but every new shell sets them.
const ENVIRONMENT_VARIABLES: [&str; 9] = [
    "HOME", "TMPDIR", "PATH", "PWD", "OLDPWD", "USER", "SHELL", "IFS", "BASH",
];

/// The state of the shell at one point in the script.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ShellState {
    /// Shared structurally: a state is copied often and changed rarely.
    pub(super) vars: Vars,
    /// The names of exported variables. If the set contains `*`, all variables are exported.
    pub(crate) exported: Rc<BTreeSet<String>>,
    /// The working directory, absolute; `None` if unknown.
    pub(crate) cwd: Option<Rc<str>>,
    /// The working directory if an unchecked `cd` has failed.
    pub(crate) cwd_if_cd_failed: Option<Rc<str>>,
    /// The machine or container that commands run in.
    pub(crate) host: CommandHost,
    /// True after `set -e`: no command runs after a failed `cd`.
    pub(crate) exits_on_error: bool,
    /// The working directory before the last change (`~-`), if known.
    pub(crate) previous: Option<Rc<str>>,
    /// The directories of `pushd`, the last one at the end; `None` if unknown.
    pub(crate) pushed: Rc<Vec<Option<Rc<str>>>>,
    pub(crate) functions: Rc<BTreeMap<String, Command>>,
    /// The paths of commands that `hash -p` sets. Keys that begin with `git ` hold the texts of
    /// git's aliases.
    pub(crate) hashed: Rc<BTreeMap<String, String>>,
    /// Aliases that the script has set, or removed (`None`).
    pub(crate) aliases: Rc<BTreeMap<String, Option<String>>>,
    /// True if aliases are expanded.
    pub(crate) expands_aliases: bool,
    /// True after `shopt -s nocasematch`: replacements of patterns ignore case.
    pub(crate) ignores_case: bool,
    /// Names that refer to another variable (`declare -n`).
    pub(crate) namerefs: Rc<BTreeMap<String, String>>,
    /// `$0`; `None` if unknown.
    pub(crate) zeroth: Option<Value>,
    /// `$1`, `$2`, …; `None` if unknown.
    pub(crate) positional: Option<Rc<Vec<Value>>>,
    /// Stdin, if the script itself provides it.
    pub(crate) stdin: Option<Rc<Value>>,
    /// Contents of files written by the script, and of `<( … )`.
    pub(crate) files: Rc<BTreeMap<String, Value>>,
    /// True after `exit`, `return`, `break`: this path ends.
    pub(crate) ended: bool,
}

impl ShellState {
    /// Returns the state of a new shell in `cwd`.
    pub(crate) fn new(cwd: &Path, home: Option<&Path>) -> Self {
        let mut vars = BTreeMap::new();
        let mut known = |name: &str, text: &str| {
            vars.insert(
                Rc::from(name),
                Rc::new(vec![VariableValue::Scalar(Value::text(text))]),
            );
        };
        known("IFS", " \t\n");
        // If `TMPDIR` is set, it names a directory for temporary files such as `/tmp`.
        known("TMPDIR", "/tmp");
        // Only the name `bash` counts: the variable names a shell.
        known("SHELL", "/bin/bash");
        known("BASH", "/bin/bash");
        if let Some(home) = home {
            known("HOME", &home.to_string_lossy());
        }
        ShellState {
            vars: Rc::new(vars),
            exported: Rc::new(ENVIRONMENT_VARIABLES.map(ToOwned::to_owned).into()),
            cwd: Some(Rc::from(cwd.to_string_lossy())),
            ..ShellState::default()
        }
    }

    /// Returns the possible values of a variable; `None` if its value is unknown.
    pub(crate) fn var(&self, name: &str) -> Option<&Rc<PossibleValues>> {
        self.vars.get(self.referent(name))
    }

    /// Returns the variable to which a name refers.
    fn referent<'n>(&'n self, name: &'n str) -> &'n str {
        self.namerefs.get(name).map_or(name, String::as_str)
    }

    /// Returns the initial state of a shell that this shell starts, with only the exported
    /// variables.
    pub(crate) fn for_child_shell(&self) -> Self {
        let mut child = self.clone();
        child.expands_aliases = false;
        child.ignores_case = false;
        child.zeroth = None;
        if !self.exported.contains("*") {
            let entry = |name: &String| self.vars.get_key_value(name.as_str());
            let exported = self.exported.iter().filter_map(entry);
            child.vars = Rc::new(
                exported
                    .map(|(name, possible)| (Rc::clone(name), Rc::clone(possible)))
                    .collect(),
            );
        }
        child
    }

    pub(crate) fn export(&mut self, name: &str) {
        if !self.exported.contains(name) {
            Rc::make_mut(&mut self.exported).insert(name.to_owned());
        }
    }

    pub(crate) fn set(&mut self, name: &str, variable_value: VariableValue) {
        self.put(name, vec![variable_value]);
    }

    /// Sets the possible values of a variable.
    pub(crate) fn set_any(&mut self, name: &str, values: impl IntoIterator<Item = Value>) {
        let mut possible: PossibleValues = Vec::new();
        for value in values {
            let variable_value = VariableValue::Scalar(value);
            if !possible.contains(&variable_value) {
                possible.push(variable_value);
            }
        }
        if possible.is_empty() {
            possible.push(VariableValue::Scalar(Value::unknown(UnknownCause::Input)));
        }
        self.put(name, possible);
    }

    fn put(&mut self, name: &str, possible: PossibleValues) {
        let referent = self.namerefs.get(name).cloned();
        let name = referent.as_deref().unwrap_or(name);
        let vars = Rc::make_mut(&mut self.vars);
        match vars.get_mut(name) {
            Some(variable_value) => *variable_value = Rc::new(possible),
            None => {
                vars.insert(Rc::from(name), Rc::new(possible));
            }
        }
    }

    /// Changes the working directory; the old directory becomes `~-`.
    pub(crate) fn change_directory(&mut self, cwd: Option<Rc<str>>) {
        self.previous = std::mem::replace(&mut self.cwd, cwd);
    }

    /// Returns the home directory, if it is known.
    pub(crate) fn home(&self) -> Option<&str> {
        self.literal("HOME")
    }

    /// Returns the text of a variable, if the text is known.
    pub(crate) fn literal(&self, name: &str) -> Option<&str> {
        match self.var(name)?.first()? {
            VariableValue::Scalar(value) => value.literal(),
            VariableValue::Array(_) => None,
        }
    }

    /// Joins two paths through the script. A path that has ended does not contribute.
    pub(crate) fn join(self, other: ShellState) -> ShellState {
        if self.ended {
            return other;
        }
        if other.ended {
            return self;
        }
        let mut joined = self;
        if !Rc::ptr_eq(&joined.vars, &other.vars) {
            let new_entries = variables_of_both(&joined.vars, &other.vars);
            if !new_entries.is_empty() {
                Rc::make_mut(&mut joined.vars).extend(new_entries);
            }
        }
        if joined.cwd != other.cwd {
            joined.cwd = None;
        }
        joined.cwd_if_cd_failed = joined.cwd_if_cd_failed.or(other.cwd_if_cd_failed);
        joined.exits_on_error &= other.exits_on_error;
        // `exec < file` on one of the paths: a command may read the input of either path.
        joined.stdin = match (joined.stdin, other.stdin) {
            (Some(mine), Some(others)) if !Rc::ptr_eq(&mine, &others) && mine != others => {
                let mut both = (*mine).clone();
                both.push_text("\n");
                both.extend(&others);
                Some(Rc::new(both))
            }
            (mine, others) => mine.or(others),
        };
        if !Rc::ptr_eq(&joined.exported, &other.exported) {
            Rc::make_mut(&mut joined.exported).extend(other.exported.iter().cloned());
        }
        merge(&mut joined.functions, &other.functions);
        merge(&mut joined.hashed, &other.hashed);
        merge(&mut joined.aliases, &other.aliases);
        joined.expands_aliases |= other.expands_aliases;
        joined.ignores_case |= other.ignores_case;
        merge(&mut joined.namerefs, &other.namerefs);
        merge(&mut joined.files, &other.files);
        if joined.positional != other.positional {
            joined.positional = None;
        }
        if joined.zeroth != other.zeroth {
            joined.zeroth = None;
        }
        joined
    }
}

/// Returns the variables that differ between two joining paths, with the values of both paths. A
/// variable with more than [`MAX_POSSIBLE_VALUES`] values is unknown.
fn variables_of_both(vars: &Vars, other: &Vars) -> Vec<(Rc<str>, Rc<PossibleValues>)> {
    let mut out = Vec::new();
    for (name, others) in other.iter() {
        // If only one path sets the variable, a value from the environment is ignored.
        let Some(mine) = vars.get(name) else {
            out.push((Rc::clone(name), Rc::clone(others)));
            continue;
        };
        if Rc::ptr_eq(mine, others) {
            continue;
        }
        let mut both: Option<PossibleValues> = None;
        for variable_value in others.iter() {
            if !both.as_ref().unwrap_or(mine).contains(variable_value) {
                both.get_or_insert_with(|| (**mine).clone())
                    .push(variable_value.clone());
            }
        }
        let Some(mut both) = both else { continue };
        if both.len() > MAX_POSSIBLE_VALUES {
            both = vec![VariableValue::Scalar(Value::unknown(UnknownCause::Limit))];
        }
        out.push((Rc::clone(name), Rc::new(both)));
    }
    out
}

/// Adds the entries of `other` to `mine`.
fn merge<T: Clone + PartialEq>(
    mine: &mut Rc<BTreeMap<String, T>>,
    other: &Rc<BTreeMap<String, T>>,
) {
    if Rc::ptr_eq(mine, other) {
        return;
    }
    let is_new = |(name, value): &(&String, &T)| mine.get(*name) != Some(*value);
    let new_entries: Vec<(String, T)> = other
        .iter()
        .filter(is_new)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !new_entries.is_empty() {
        Rc::make_mut(mine).extend(new_entries);
    }
}
