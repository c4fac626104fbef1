//! `trap … EXIT`: commands that run when the shell ends, in the state at that time.
//!
//! At the `trap` command, its text is walked like a function that is never called, because the
//! script may set unknown variables later. At the end of the script, the text is walked again, and
//! words that are still unknown count.

use std::rc::Rc;

use super::super::state::ShellState;
use super::call::Call;
use super::{PendingTrap, Walker};

/// Maximum number of traps that are walked at the end of the script.
const MAX_PENDING_TRAPS: usize = 16;

impl Walker<'_> {
    pub(super) fn trap(&mut self, call: &Call, shell: &ShellState) {
        let first = 1 + usize::from(call.literal(1) == Some("--"));
        let values = call.values(first);
        let Some((text, signals)) = values.split_first().filter(|(_, rest)| !rest.is_empty())
        else {
            return;
        };
        if text.literal().is_some_and(|text| text.starts_with('-')) {
            return;
        }
        self.started_by.push("trap".to_owned());
        let is_at_exit = signals
            .iter()
            .any(|signal| matches!(signal.literal(), Some("EXIT" | "exit" | "0")));
        let is_pending = is_at_exit && !self.may_never_run && self.traps.len() < MAX_PENDING_TRAPS;
        if is_pending {
            self.traps.push(PendingTrap {
                text: text.clone(),
                before: shell.clone(),
                started_by: self.started_by.clone(),
                origin: self.origin,
            });
        }
        let before = self.may_never_run;
        self.may_never_run |= is_pending;
        self.script(text, &mut shell.clone());
        self.may_never_run = before;
        self.started_by.pop();
    }

    /// Runs the pending traps in the script's final state.
    pub(super) fn run_traps(&mut self, last: &ShellState) {
        for trap in std::mem::take(&mut self.traps) {
            // A variable that is unset at the end, such as a local variable, keeps its value at the
            // `trap`. Without a value, it would count as a variable of the environment.
            let mut vars = (*trap.before.vars).clone();
            let final_values = last.vars.iter();
            vars.extend(
                final_values.map(|(name, possible)| (Rc::clone(name), Rc::clone(possible))),
            );
            let mut shell = ShellState {
                vars: Rc::new(vars),
                positional: trap.before.positional,
                ended: false,
                ..last.clone()
            };
            self.started_by = trap.started_by;
            self.origin = trap.origin;
            self.script(&trap.text, &mut shell);
        }
        self.started_by.clear();
        self.origin = None;
    }
}
