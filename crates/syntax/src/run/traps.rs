//! `trap … EXIT`: commands that run when the shell ends, in the state at that time.
//!
//! Where it is set, the text is walked like a function that is never called: unknown words may be set before it
//! runs. What is still unknown at the end of the script counts.

use std::rc::Rc;

use super::super::state::State;
use super::super::value::Value;
use super::call::Call;
use super::{Machine, Waiting};

/// Limit of traps pending for the end of the script.
const MAX_WAITING: usize = 16;

impl Machine<'_> {
    pub(super) fn trap(&mut self, call: &Call, st: &mut State) {
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
        let number = self.traps.as_ref().map(Vec::len);
        let number = number.filter(|number| at_exit && !self.dormant && *number < MAX_WAITING);
        if let (Some(number), Some(traps)) = (number, &mut self.traps) {
            traps.push(Waiting {
                text: text.clone(),
                before: st.clone(),
                left: None,
                through: self.through.clone(),
                origin: self.origin,
            });
            st.on_exit = Some(number);
        }
        self.dormantly(number.is_some(), text, st);
        self.through.pop();
    }

    /// A path ends here; records what is certainly harmful in this state.
    pub(super) fn leave(&mut self, st: &State) {
        let (Some(traps), Some(number)) = (&mut self.traps, st.on_exit) else {
            return;
        };
        let Some(waiting) = traps.get_mut(number) else {
            return;
        };
        waiting.left = Some(st.clone());
        let text = waiting.text.clone();
        self.through.push("trap".to_owned());
        self.dormantly(true, &text, st);
        self.through.pop();
    }

    fn dormantly(&mut self, dormant: bool, text: &Value, st: &State) {
        let before = self.dormant;
        self.dormant |= dormant;
        self.script(text, &mut st.clone());
        self.dormant = before;
    }

    /// Runs the pending traps: in the script's final state, or, if that does not know the trap (set in a subshell
    /// or a branch, or replaced), in the state of the last `exit`, or in the one in which it was set.
    pub(super) fn run_traps(&mut self, last: &State) {
        for (number, waiting) in self.traps.take().into_iter().flatten().enumerate() {
            let mut st = waiting.before;
            let known = last.on_exit == Some(number);
            if let Some(last) = known.then_some(last).or(waiting.left.as_ref()) {
                // Local variables of a function are unset again, and not taken from the environment.
                let mut vars = (*st.vars).clone();
                let news = last.vars.iter();
                vars.extend(news.map(|(name, slots)| (Rc::clone(name), Rc::clone(slots))));
                st = State {
                    vars: Rc::new(vars),
                    positional: st.positional,
                    ended: false,
                    ..last.clone()
                };
            }
            self.through = waiting.through;
            self.origin = waiting.origin;
            self.script(&waiting.text, &mut st);
        }
        self.through.clear();
        self.origin = None;
    }
}
