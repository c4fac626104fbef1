//! Remembers recent calls of functions, so that a body is walked once in each situation. Otherwise
//! the cost of functions calling functions would grow with the number of paths through them.

use super::super::ast::Command;
use super::super::state::ShellState;
use super::super::value::Value;
use super::Machine;
use super::remembered::{CallSituation, RememberedCall};

/// Maximum number of remembered calls per function.
const MAX_SITUATIONS: usize = 16;

impl Machine<'_> {
    /// Returns everything that a call at this point depends on.
    fn situation(&self, st: &ShellState) -> CallSituation {
        let programs = self.through.iter();
        let programs = programs.filter(|name| !st.functions.contains_key(*name));
        CallSituation {
            st: st.clone(),
            through: programs.cloned().collect(),
            piped: self.piped,
            feeds: self.feeds,
            dormant: self.dormant,
        }
    }

    /// Walks a body, or repeats the effects of an earlier call in the same situation; returns its
    /// output.
    pub(super) fn remembered(
        &mut self,
        body: &Command,
        st: &mut ShellState,
        walk: impl FnOnce(&mut Self, &mut ShellState) -> Value,
    ) -> Value {
        let before = self.situation(st);
        let calls = self.memory.entry(body.identity()).or_default();
        if let Some(call) = calls.iter().find(|call| call.before == before) {
            *st = call.after.clone();
            return call.out.clone();
        }
        let recursions = self.recursions;
        let out = walk(self, st);
        // A walk that reached a limit may get further in another situation, so it is not
        // remembered.
        if !self.incomplete && self.recursions == recursions {
            let calls = self.memory.entry(body.identity()).or_default();
            if calls.len() >= MAX_SITUATIONS {
                calls.remove(0);
            }
            calls.push(RememberedCall {
                _body: body.clone(),
                before,
                after: st.clone(),
                out: out.clone(),
            });
        }
        out
    }
}
