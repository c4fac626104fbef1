//! What a stretch of the walk has looked at and changed, so that its result can be used again where nothing of
//! that is different.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::differences::differences;
use super::state::{State, Var, Vars};

/// Variables and what they were; `None` where there was none.
pub(super) type Known = BTreeMap<Rc<str>, Option<Rc<Var>>>;

/// Which variables a stretch looks at before it sets them itself.
#[derive(Debug)]
pub(crate) struct Trace {
    before: Vars,
    looked_at: RefCell<Known>,
    /// Whether it looks at the positional parameters.
    arguments: Cell<bool>,
}

impl Trace {
    /// A trace that begins here.
    pub(super) fn new(st: &State) -> Self {
        Trace {
            before: Rc::clone(&st.vars),
            looked_at: RefCell::default(),
            arguments: Cell::default(),
        }
    }

    /// Somebody looks at a variable, and finds this.
    pub(super) fn look(&self, name: &str, found: Option<&Rc<Var>>) {
        if self.looked_at.borrow().contains_key(name) {
            return;
        }
        match (self.before.get_key_value(name), found) {
            (Some((name, before)), Some(found)) if Rc::ptr_eq(before, found) => {
                self.note(name, Some(before));
            }
            (None, None) => self.note(&Rc::from(name), None),
            // It was set or unset in this stretch.
            _ => {}
        }
    }

    /// Somebody looks at the positional parameters.
    pub(super) fn look_at_arguments(&self) {
        self.arguments.set(true);
    }

    /// Whether anybody has.
    pub(super) fn has_looked_at_arguments(&self) -> bool {
        self.arguments.get()
    }

    fn note(&self, name: &Rc<str>, value: Option<&Rc<Var>>) {
        let mut looked_at = self.looked_at.borrow_mut();
        looked_at.insert(Rc::clone(name), value.cloned());
    }

    /// Ends the stretch: what it depends on, and what it has set. What was there before a variable that it has
    /// set counts as looked at, because both may have been put together where paths meet.
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

/// Whether all of it is still so. Looks at the variables in question, for whoever traces `st`.
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
