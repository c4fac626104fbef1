//! Caches recent calls of functions, so that a body is walked once in each situation. Otherwise
//! the cost of functions calling functions would grow with the number of paths through them.

use super::super::ast::Command;
use super::super::state::ShellState;
use super::super::value::Value;
use super::Walker;
use super::call_cache::{CachedCall, CallSituation};

/// Maximum number of cached calls per function.
const MAX_SITUATIONS: usize = 16;

impl Walker<'_> {
    /// Returns everything that a call at this point depends on.
    fn situation(&self, shell: &ShellState) -> CallSituation {
        let programs = self.started_by.iter();
        let programs = programs.filter(|name| !shell.functions.contains_key(*name));
        CallSituation {
            shell: shell.clone(),
            started_by: programs.cloned().collect(),
            reads_pipe: self.reads_pipe,
            output_is_used: self.output_is_used,
            may_never_run: self.may_never_run,
        }
    }

    /// Walks a body, or repeats the effects of an earlier call in the same situation; returns its
    /// output.
    pub(super) fn call_with_cache(
        &mut self,
        body: &Command,
        shell: &mut ShellState,
        walk: impl FnOnce(&mut Self, &mut ShellState) -> Value,
    ) -> Value {
        let before = self.situation(shell);
        let calls = self.calls_by_body.entry(body.identity()).or_default();
        if let Some(call) = calls.iter().find(|call| call.before == before) {
            *shell = call.after.clone();
            return call.out.clone();
        }
        let recursions = self.recursions;
        let out = walk(self, shell);
        // A walk that reached a limit may get further in another situation, so it is not
        // remembered.
        if !self.incomplete && self.recursions == recursions {
            let calls = self.calls_by_body.entry(body.identity()).or_default();
            if calls.len() >= MAX_SITUATIONS {
                calls.remove(0);
            }
            calls.push(CachedCall {
                _body: body.clone(),
                before,
                after: shell.clone(),
                out: out.clone(),
            });
        }
        out
    }
}
