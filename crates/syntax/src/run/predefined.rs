//! Functions and aliases that the shell has before its script, and aliases of the script.

use std::rc::Rc;

use super::super::predefined::DefinitionKind;
use super::super::reader::{self, Origin};
use super::super::state::ShellState;
use super::super::value::Value;
use super::Walker;
use super::call::{Call, quote};
use super::redirect::ResolvedRedirections;

/// Maximum number of commands walked in one call of a function that the script does not define.
/// Functions of version managers have thousands of commands; commands beyond the limit are not
/// followed.
const MAX_STEPS: u32 = 4_000;

/// Variables that bash sets itself, whatever its environment contains.
const SET_BY_SHELL: [&str; 6] = ["IFS", "BASH", "DIRSTACK", "PWD", "OLDPWD", "_"];

impl Walker<'_> {
    /// Adds the aliases and variables that exist before the script to the state of the shell.
    /// Follows the commands in variables such as `GIT_PAGER`.
    pub(super) fn predefine(&mut self, shell: &mut ShellState) {
        let context = self.context;
        let predefined = &context.predefined;
        let variables = predefined.variables.iter();
        for (name, value) in variables.filter(|(name, _)| !SET_BY_SHELL.contains(&name.as_str())) {
            self.set_variable(name, Value::text(value), false, false, shell);
            Rc::make_mut(&mut shell.exported).insert(name.clone());
        }
        shell.expands_aliases = predefined.expands_aliases;
        let git = predefined.git_aliases.iter();
        let git = git.map(|(name, text)| (format!("git {name}"), text.clone()));
        if !predefined.git_aliases.is_empty() {
            Rc::make_mut(&mut shell.hashed).extend(git);
        }
    }

    /// Defines the function that the call names, if the shell has this function before the script.
    pub(super) fn predefine_function(&mut self, call: &Call, shell: &mut ShellState) {
        let Some(name) = call
            .literal(0)
            .filter(|name| !shell.functions.contains_key(*name))
        else {
            return;
        };
        let Some(text) = self.context.predefined.functions.get(name) else {
            return;
        };
        let origin = Origin::Generated(self.origin.unwrap_or_default());
        let reading = reader::read(text, origin, &self.budget, 0);
        if reading.problem.is_none() {
            self.predefined.insert(name.to_owned());
            self.note_used(DefinitionKind::Function, name);
            self.list(&reading.list, shell);
        }
    }

    /// Runs `inner`, which walks the body of the function `name`. If the function exists before the
    /// script, it is walked up to a limit, and unknown words in it are ignored.
    pub(super) fn within_function<T>(
        &mut self,
        name: &str,
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.may_never_run || !self.predefined.contains(name) {
            return inner(self);
        }
        let rest = self.steps.saturating_sub(MAX_STEPS);
        let (incomplete, broken_text) = (self.incomplete, self.broken_text);
        self.steps -= rest;
        self.may_never_run = true;
        let out = inner(self);
        self.may_never_run = false;
        self.steps += rest;
        (self.incomplete, self.broken_text) = (incomplete, broken_text);
        out
    }

    /// Follows the call of an alias; `None` if the first word is not an alias.
    pub(super) fn alias(
        &mut self,
        call: &Call,
        redirected: &ResolvedRedirections,
        shell: &mut ShellState,
    ) -> Option<Value> {
        let name = call.literal(0)?;
        let value = self.alias_value(name, shell)?;
        let mut text = Value::text(value.clone());
        let mut expands_next = value.ends_with([' ', '\t']);
        for word in call.values(1) {
            text.push_text(" ");
            let next = word.literal().filter(|_| expands_next);
            let next = next.and_then(|next| self.alias_value(next, shell));
            expands_next = next
                .as_ref()
                .is_some_and(|next| next.ends_with([' ', '\t']));
            match next {
                Some(next) => text.push_text(&next),
                None => text.extend(&quote(&word)),
            }
        }
        self.record_alias(call, redirected, shell);
        self.active_aliases.push(name.to_owned());
        self.started_by.push(name.to_owned());
        let out = self.script(&text, shell);
        self.started_by.pop();
        self.active_aliases.pop();
        Some(out)
    }

    /// Notes that the script uses a predefined definition.
    pub(super) fn note_used(&mut self, kind: DefinitionKind, name: &str) {
        let is_noted = |(other, used): &(_, String)| *other == kind && used == name;
        if !self.used_definitions.iter().any(is_noted) {
            self.used_definitions.push((kind, name.to_owned()));
        }
    }

    /// Returns the value of an alias that the shell expands. An alias is not expanded within
    /// itself.
    fn alias_value(&mut self, name: &str, shell: &ShellState) -> Option<String> {
        if !shell.expands_aliases || self.active_aliases.iter().any(|other| other == name) {
            return None;
        }
        if let Some(set_by_script) = shell.aliases.get(name) {
            return set_by_script.clone();
        }
        let value = self.context.predefined.aliases.get(name)?.clone();
        self.note_used(DefinitionKind::Alias, name);
        Some(value)
    }
}

/// Performs `alias NAME=VALUE…`.
pub(super) fn define_aliases(call: &Call, shell: &mut ShellState) {
    for value in call.values(1) {
        if let Some((name, text)) = value.literal().and_then(|text| text.split_once('=')) {
            let text = Some(text.to_owned());
            Rc::make_mut(&mut shell.aliases).insert(name.to_owned(), text);
        }
    }
}

/// Performs `unalias NAME…` and `unalias -a`.
pub(super) fn remove_aliases(call: &Call, shell: &mut ShellState) {
    for value in call.values(1) {
        match value.literal() {
            Some("-a") => shell.expands_aliases = false,
            Some(name) => drop(Rc::make_mut(&mut shell.aliases).insert(name.to_owned(), None)),
            None => {}
        }
    }
}

/// Performs `shopt -s` and `shopt -u` for the options that affect the walk.
pub(super) fn switch_options(call: &Call, shell: &mut ShellState) {
    let values = call.values(1);
    let has = |word: &str| values.iter().any(|value| value.literal() == Some(word));
    if has("expand_aliases") {
        shell.expands_aliases = has("-s") || shell.expands_aliases && !has("-u");
    }
    if has("nocasematch") {
        shell.ignores_case = has("-s") || shell.ignores_case && !has("-u");
    }
}
