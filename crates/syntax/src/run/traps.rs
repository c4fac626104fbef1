//! `trap … EXIT`: commands that run when the shell ends, in the state at that time.
//!
//! Where it is set, the text is walked like a function that is never called: unknown words may be
//! set before it runs. What is still unknown at the end of the script counts.

use std::rc::Rc;

use super::super::state::ShellState;
use super::call::Call;
use super::{Machine, PendingTrap};

/// Limit of traps pending for the end of the script.
const MAX_WAITING: usize = 16;

impl Machine<'_> {
    pub(super) fn trap(&mut self, call: &Call, st: &ShellState) {
        let from = 1 + usize::from(call.literal(1) == Some("--"));
        let values = call.values(from);
        let Some((text, signals)) = values.split_first().filter(|(_, rest)| !rest.is_empty())
        else {
            return;
        };
        if text.literal().is_some_and(|text| text.starts_with('-')) {
            return;
        }
        self.through.push("trap".to_owned());
        let at_exit = signals
            .iter()
            .any(|signal| matches!(signal.literal(), Some("EXIT" | "exit" | "0")));
        let waits = at_exit && !self.dormant && self.traps.len() < MAX_WAITING;
        if waits {
            self.traps.push(PendingTrap {
                text: text.clone(),
                before: st.clone(),
                through: self.through.clone(),
                origin: self.origin,
            });
        }
        let before = self.dormant;
        self.dormant |= waits;
        self.script(text, &mut st.clone());
        self.dormant = before;
        self.through.pop();
    }

    /// Runs the pending traps in the script's final state.
    pub(super) fn run_traps(&mut self, last: &ShellState) {
        for waiting in std::mem::take(&mut self.traps) {
            // Local variables of a function are unset again, and not taken from the environment.
            let mut vars = (*waiting.before.vars).clone();
            let news = last.vars.iter();
            vars.extend(news.map(|(name, slots)| (Rc::clone(name), Rc::clone(slots))));
            let mut st = ShellState {
                vars: Rc::new(vars),
                positional: waiting.before.positional,
                ended: false,
                ..last.clone()
            };
            self.through = waiting.through;
            self.origin = waiting.origin;
            self.script(&waiting.text, &mut st);
        }
        self.through.clear();
        self.origin = None;
    }
}
