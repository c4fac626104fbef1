//! Records what a part of the walk has read and changed, so that its result can be reused if nothing relevant
//! differs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::differences::differences;
use super::state::{State, Var, Vars};

/// Variables and their values; `None` if unset.
pub(super) type Known = BTreeMap<Rc<str>, Option<Rc<Var>>>;

/// The variables that a part of the walk reads before setting them itself.
#[derive(Debug)]
pub(crate) struct Trace {
    before: Vars,
    looked_at: RefCell<Known>,
    /// Whether it reads the positional parameters.
    arguments: Cell<bool>,
}

impl Trace {
    /// Starts a trace.
    pub(super) fn new(st: &State) -> Self {
        Trace {
            before: Rc::clone(&st.vars),
            looked_at: RefCell::default(),
            arguments: Cell::default(),
        }
    }

    /// A variable was read, with this result.
    pub(super) fn look(&self, name: &str, found: Option<&Rc<Var>>) {
        if self.looked_at.borrow().contains_key(name) {
            return;
        }
        match (self.before.get_key_value(name), found) {
            (Some((name, before)), Some(found)) if Rc::ptr_eq(before, found) => {
                self.note(name, Some(before));
            }
            (None, None) => self.note(&Rc::from(name), None),
            // It was set or unset within this part.
            _ => {}
        }
    }

    /// The positional parameters were read.
    pub(super) fn look_at_arguments(&self) {
        self.arguments.set(true);
    }

    /// Whether they were.
    pub(super) fn has_looked_at_arguments(&self) -> bool {
        self.arguments.get()
    }

    fn note(&self, name: &Rc<str>, value: Option<&Rc<Var>>) {
        let mut looked_at = self.looked_at.borrow_mut();
        looked_at.insert(Rc::clone(name), value.cloned());
    }

    /// Ends the trace: returns what it depends on, and what it has set. The previous value of a variable that it
    /// has set counts as read, because both may have been combined where paths join.
    pub(super) fn end(self: Rc<Self>, st: &State) -> (Known, Known) {
        let mut set = Known::new();
        if !Rc::ptr_eq(&self.before, &st.vars) {
            for (name, before, after) in differences(&self.before, &st.vars, Rc::ptr_eq) {
                set.insert(Rc::clone(name), after.cloned());
                self.note(name, before);
            }
        }
        (self.looked_at.take(), set)
    }
}

/// Whether all of these still hold. Counts as reading the variables for the trace of `st`.
pub(super) fn holds(known: &Known, st: &State) -> bool {
    known
        .iter()
        .all(|(name, value)| match (st.var(name), value) {
            (Some(now), Some(then)) => Rc::ptr_eq(now, then) || now == then,
            (None, None) => true,
            _ => false,
        })
}

/// Sets the variables again.
pub(super) fn repeat(set: &Known, st: &mut State) {
    for (name, value) in set {
        if st.vars.get(name) == value.as_ref() {
            continue;
        }
        let vars = Rc::make_mut(&mut st.vars);
        match value {
            Some(value) => vars.insert(Rc::clone(name), Rc::clone(value)),
            None => vars.remove(name),
        };
    }
}
