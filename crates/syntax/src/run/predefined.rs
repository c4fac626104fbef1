//! Functions and aliases that the shell has before its script, and aliases of the script.

use std::rc::Rc;

use super::super::reader::{self, Origin};
use super::super::state::ShellState;
use super::super::value::Value;
use super::Machine;
use super::call::{Call, quote};
use super::redirect::ResolvedRedirections;

/// Maximum number of commands walked in one call of a function that the script does not define.
/// Functions of version managers have thousands of commands; commands beyond the limit are not
/// followed.
const MAX_STEPS: u32 = 4_000;

impl Machine<'_> {
    /// Adds the aliases that exist before the script to the state of the shell.
    pub(super) fn predefine_aliases(&self, st: &mut ShellState) {
        let predefined = &self.context.predefined;
        st.expands_aliases = !predefined.aliases.is_empty();
        let git = predefined.git_aliases.iter();
        let git = git.map(|(name, text)| (format!("git {name}"), text.clone()));
        if !predefined.git_aliases.is_empty() {
            Rc::make_mut(&mut st.hashed).extend(git);
        }
    }

    /// Defines the function that the call names, if the shell has this function before the script.
    pub(super) fn predefine_function(&mut self, call: &Call, st: &mut ShellState) {
        let Some(name) = call
            .literal(0)
            .filter(|name| !st.functions.contains_key(*name))
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
            self.list(&reading.list, st);
        }
    }

    /// Runs `inner`, which walks the body of the function `name`. If the function exists before the
    /// script, it is walked up to a limit, and unknown words in it are ignored.
    pub(super) fn within_function<T>(
        &mut self,
        name: &str,
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.dormant || !self.predefined.contains(name) {
            return inner(self);
        }
        let rest = self.steps.saturating_sub(MAX_STEPS);
        let (incomplete, broken_text) = (self.incomplete, self.broken_text);
        self.steps -= rest;
        self.dormant = true;
        let out = inner(self);
        self.dormant = false;
        self.steps += rest;
        (self.incomplete, self.broken_text) = (incomplete, broken_text);
        out
    }

    /// Follows the call of an alias; `None` if the first word is not an alias.
    pub(super) fn alias(
        &mut self,
        call: &Call,
        redirected: &ResolvedRedirections,
        st: &mut ShellState,
    ) -> Option<Value> {
        let name = call.literal(0)?;
        let value = self.alias_value(name, st)?;
        let mut text = Value::text(value.clone());
        let mut expands_next = value.ends_with([' ', '\t']);
        for word in call.values(1) {
            text.push_text(" ");
            let next = word.literal().filter(|_| expands_next);
            let next = next.and_then(|next| self.alias_value(next, st));
            expands_next = next
                .as_ref()
                .is_some_and(|next| next.ends_with([' ', '\t']));
            match next {
                Some(next) => text.push_text(&next),
                None => text.extend(&quote(&word)),
            }
        }
        self.record_alias(call, redirected, st);
        self.expanding.push(name.to_owned());
        self.through.push(name.to_owned());
        let out = self.script(&text, st);
        self.through.pop();
        self.expanding.pop();
        Some(out)
    }

    /// Returns the value of an alias that the shell expands. An alias is not expanded within
    /// itself.
    fn alias_value(&self, name: &str, st: &ShellState) -> Option<String> {
        if !st.expands_aliases || self.expanding.iter().any(|other| other == name) {
            return None;
        }
        match st.aliases.get(name) {
            Some(set_by_script) => set_by_script.clone(),
            None => self.context.predefined.aliases.get(name).cloned(),
        }
    }
}

/// Performs `alias NAME=VALUE…`.
pub(super) fn define_aliases(call: &Call, st: &mut ShellState) {
    for value in call.values(1) {
        if let Some((name, text)) = value.literal().and_then(|text| text.split_once('=')) {
            let text = Some(text.to_owned());
            Rc::make_mut(&mut st.aliases).insert(name.to_owned(), text);
        }
    }
}

/// Performs `unalias NAME…` and `unalias -a`.
pub(super) fn remove_aliases(call: &Call, st: &mut ShellState) {
    for value in call.values(1) {
        match value.literal() {
            Some("-a") => st.expands_aliases = false,
            Some(name) => drop(Rc::make_mut(&mut st.aliases).insert(name.to_owned(), None)),
            None => {}
        }
    }
}

/// Performs `shopt -s expand_aliases` and `shopt -u expand_aliases`.
pub(super) fn switch_aliases(call: &Call, st: &mut ShellState) {
    let values = call.values(1);
    let has = |word: &str| values.iter().any(|value| value.literal() == Some(word));
    if has("expand_aliases") {
        st.expands_aliases = has("-s") || st.expands_aliases && !has("-u");
    }
}
