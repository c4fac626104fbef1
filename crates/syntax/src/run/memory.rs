//! Remembers recent calls of functions, so that a body is walked once per situation that makes a difference to it.
//! Otherwise the cost of functions calling functions would grow with the number of paths through them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::ast::Command;
use super::super::state::State;
use super::super::trace::{Trace, holds, repeat};
use super::super::value::Value;
use super::Machine;
use super::remembered::{Remembered, Surroundings};

/// Limit of remembered situations per function.
const MAX_SITUATIONS: usize = 16;

/// A walk in progress that may be remembered.
pub(super) struct Walk {
    before: State,
    surroundings: Surroundings,
    trace: Rc<Trace>,
    /// The trace of the enclosing walk.
    outer: Option<Rc<Trace>>,
    outer_entered: BTreeSet<usize>,
    recursions: u32,
}

impl Machine<'_> {
    fn surroundings(&self, st: &State) -> Surroundings {
        Surroundings {
            through: self
                .through
                .iter()
                .filter(|name| !st.functions.contains_key(*name))
                .cloned()
                .collect(),
            expanding: self.expanding.clone(),
            piped: self.piped,
            feeds: self.feeds,
            dormant: self.dormant,
        }
    }

    /// Repeats the effects of an earlier call in the same situation; returns its output.
    pub(super) fn recall(&mut self, body: &Command, st: &mut State) -> Option<Value> {
        let calls = self.memory.get(&body.identity())?;
        let surroundings = self.surroundings(st);
        let call = calls.iter().find(|call| {
            call.surroundings == surroundings
                && (!call.is_of_arguments || call.before.positional == st.positional)
                && call
                    .within
                    .as_ref()
                    .is_none_or(|bodies| *bodies == self.within(&call.entered))
                && same_but_for_variables(&call.before, st)
                && holds(&call.looked_at, st)
        })?;
        let (trace, vars) = (st.trace.take(), Rc::clone(&st.vars));
        *st = State {
            vars,
            trace,
            ..call.after.clone()
        };
        repeat(&call.set, st);
        self.entered.extend(&call.entered);
        self.recursions += u32::from(call.within.is_some());
        Some(call.out.clone())
    }

    /// Which of these bodies are being walked, with multiplicity.
    fn within(&self, entered: &BTreeSet<usize>) -> Vec<usize> {
        let all = self.calling.iter().copied();
        let mut bodies: Vec<usize> = all.filter(|body| entered.contains(body)).collect();
        bodies.sort_unstable();
        bodies
    }

    /// Begins the walk of a body.
    pub(super) fn set_out(&mut self, st: &mut State) -> Walk {
        let trace = Rc::new(Trace::new(st));
        let outer = st.trace.replace(Rc::clone(&trace));
        Walk {
            before: without_variables(st),
            surroundings: self.surroundings(st),
            trace,
            outer,
            outer_entered: std::mem::take(&mut self.entered),
            recursions: self.recursions,
        }
    }

    /// Ends the walk, and remembers it if its result depends on nothing else.
    pub(super) fn remember(&mut self, body: &Command, walk: Walk, out: &Value, st: &mut State) {
        let is_of_arguments = walk.trace.has_looked_at_arguments();
        let (looked_at, set) = walk.trace.end(st);
        let entered = std::mem::replace(&mut self.entered, walk.outer_entered);
        self.entered.extend(&entered);
        if let Some(outer) = &walk.outer {
            for (name, value) in &looked_at {
                outer.look(name, value.as_ref());
            }
        }
        st.trace = walk.outer;
        // A walk that was cut short may get further in another context.
        if self.incomplete {
            return;
        }
        let within = (self.recursions != walk.recursions).then(|| self.within(&entered));
        let calls = self.memory.entry(body.identity()).or_default();
        if calls.len() >= MAX_SITUATIONS {
            calls.remove(0);
        }
        calls.push(Remembered {
            _body: body.clone(),
            before: walk.before,
            surroundings: walk.surroundings,
            entered,
            within,
            is_of_arguments,
            looked_at,
            set,
            after: without_variables(st),
            out: out.clone(),
        });
    }
}

fn without_variables(st: &State) -> State {
    State {
        vars: Rc::default(),
        trace: None,
        ..st.clone()
    }
}

/// Whether two states are equal except for variables and arguments.
fn same_but_for_variables(one: &State, other: &State) -> bool {
    fn same<T: PartialEq>(one: &Rc<T>, other: &Rc<T>) -> bool {
        Rc::ptr_eq(one, other) || one == other
    }
    fn bodies(functions: &BTreeMap<String, Command>) -> impl Iterator<Item = (&String, usize)> {
        functions.iter().map(|(name, body)| (name, body.identity()))
    }
    // Destructured completely: a new field counts as a difference until stated otherwise.
    let State {
        dialect,
        vars: _,
        trace: _,
        exported,
        cwd,
        otherwise,
        exits_on_error,
        previous,
        pushed,
        functions,
        aliases,
        hashed,
        // Compared separately before.
        positional: _,
        stdin,
        files,
        on_exit,
        ended,
    } = one;
    *dialect == other.dialect
        && *ended == other.ended
        && *on_exit == other.on_exit
        && *cwd == other.cwd
        && *otherwise == other.otherwise
        && *exits_on_error == other.exits_on_error
        && *previous == other.previous
        && *stdin == other.stdin
        && same(exported, &other.exported)
        && same(pushed, &other.pushed)
        && same(aliases, &other.aliases)
        && same(hashed, &other.hashed)
        && same(files, &other.files)
        && (Rc::ptr_eq(functions, &other.functions)
            || bodies(functions).eq(bodies(&other.functions)))
}
