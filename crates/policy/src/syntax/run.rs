//! Walks through a script as bash would and writes down every command it may run.
//!
//! Nothing is executed: branches are all taken, loops are walked once per known value, what a command
//! prints is followed only where it is plain (`echo`, `printf`, `pwd`, …). The result is a list of
//! [`Ran`]: command words resolved, wrappers looked through, nested scripts included.
//!
//! The walk is bounded in steps and in depth. Where a bound is met the list is [`incomplete`]
//! (`Machine::incomplete`) and the callers fall back on a scan of the raw text.

mod builtin;
mod directory;
mod fetch;
mod filtered;
mod launch;
mod memory;
mod output;
mod ran;
mod redirect;
mod simple;
mod wrapper;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::ast::{Arm, Command, Compound, Entry, Kind, Link, List, Word};
use super::reader::{self, MAX_NODES, Origin};
use super::state::{MAX_SLOTS, Slot, State, Var};
use super::value::{Value, Why};
use crate::{Context, Span};

pub(crate) use launch::{Invocation, shell_name};
pub(crate) use ran::{Field, Ran, Redirection};
use redirect::{Input, Redirected};
pub(super) use wrapper::is_assignment;

/// Most commands the walk takes: loops, functions and nested scripts all count.
const MAX_STEPS: u32 = 25_000;

/// Bytes that may be copied or read again for one step.
const BYTES_PER_STEP: usize = 64;

/// Deepest nesting of the walk: substitutions, groups, functions, `eval`. A level costs up to 8 KiB
/// of stack in a build without optimisation.
const MAX_DEPTH: u16 = 80;

/// The walk and what it has found so far.
pub(crate) struct Machine<'c> {
    pub(super) context: &'c Context,
    pub(super) budget: Cell<u32>,
    steps: u32,
    depth: u16,
    /// Which of several possible values is looked at in this round, and how many rounds there are.
    choice: usize,
    rounds: usize,
    /// Functions being walked, so that one that calls itself is not followed for ever.
    calling: Vec<usize>,
    /// How often one was not followed because of that.
    recursions: u32,
    memory: memory::Memory,
    /// Aliases being expanded: bash does not expand one again within itself.
    expanding: Vec<String>,
    called: BTreeSet<String>,
    /// Programs the current command is started through.
    pub(super) through: Vec<String>,
    pub(super) dormant: bool,
    piped: bool,
    feeds: bool,
    next_fd: u32,
    origin: Option<Span>,
    home: Option<Rc<str>>,
    pub(crate) ran: Vec<Ran>,
    pub(crate) incomplete: bool,
    pub(crate) broken_text: bool,
}

impl<'c> Machine<'c> {
    pub(crate) fn new(context: &'c Context) -> Self {
        Machine {
            context,
            budget: Cell::new(MAX_NODES),
            steps: MAX_STEPS,
            depth: 0,
            choice: 0,
            rounds: 1,
            calling: Vec::new(),
            recursions: 0,
            memory: memory::Memory::new(),
            expanding: Vec::new(),
            called: BTreeSet::new(),
            through: Vec::new(),
            dormant: false,
            piped: false,
            feeds: false,
            next_fd: 63,
            origin: None,
            home: None,
            ran: Vec::new(),
            incomplete: false,
            broken_text: false,
        }
    }

    /// A command that stands on its own, with nothing known around it.
    pub(super) fn bare(words: Vec<Field>, st: &State) -> Ran {
        let from = words
            .iter()
            .map(|field| field.span.start)
            .min()
            .unwrap_or_default();
        let to = words
            .iter()
            .map(|field| field.span.end)
            .max()
            .unwrap_or_default();
        Ran {
            words: words.into(),
            env: Vec::new(),
            redirections: Vec::new(),
            stdin: None,
            piped: false,
            feeds: false,
            cwd: st.cwd.clone(),
            otherwise: None,
            home: st.home().map(Rc::from),
            through: Vec::new(),
            span: Span {
                start: from,
                end: to,
            },
            dormant: true,
            is_function: false,
            files: Rc::default(),
        }
    }

    /// Walks a whole script, then the functions in it that nobody called.
    pub(crate) fn walk(&mut self, list: &List) {
        let mut st = State::new(&self.context.cwd, self.context.home.as_deref());
        self.list(list, &mut st);
        self.dormant = true;
        st.positional = None;
        for (name, body) in st.functions.clone().iter() {
            if !self.called.contains(name) {
                self.nested(Value::default(), |machine| {
                    machine.command(body, &mut st.clone())
                });
            }
        }
        self.dormant = false;
    }

    /// Runs `inner` one level deeper, or gives up on it.
    pub(super) fn nested<T>(&mut self, otherwise: T, inner: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH || self.steps == 0 {
            self.incomplete = true;
            return otherwise;
        }
        self.depth += 1;
        self.steps -= 1;
        let out = inner(self);
        self.depth -= 1;
        out
    }

    /// Takes the cost of handling so many bytes from the steps that are left.
    pub(super) fn charge(&mut self, bytes: usize) {
        let steps = u32::try_from(bytes / BYTES_PER_STEP).unwrap_or(u32::MAX);
        self.steps = self.steps.saturating_sub(steps);
    }

    /// The slot of a variable that this round looks at.
    pub(super) fn choose<'v>(&mut self, slots: &'v Var) -> Option<&'v Slot> {
        self.rounds = self.rounds.max(slots.len());
        slots.get(self.choice.min(slots.len().saturating_sub(1)))
    }

    /// The element that this round looks at, where the key does not tell which it is; none if there are too many.
    pub(super) fn choose_element<'v>(&mut self, values: &'v [Value]) -> Option<&'v Value> {
        if values.len() > MAX_SLOTS {
            return None;
        }
        self.rounds = self.rounds.max(values.len());
        values.get(self.choice.min(values.len().saturating_sub(1)))
    }

    /// Walks a list; returns what it prints.
    pub(super) fn list(&mut self, list: &List, st: &mut State) -> Value {
        let mut out = Value::default();
        // Within an and-or list: the state if the last command that ran succeeded, and if it failed.
        let mut failed: Option<State> = None;
        for (index, entry) in list.entries.iter().enumerate() {
            match entry.link {
                Link::Next => {
                    if let Some(failed) = failed.take() {
                        *st = directory::meet(st.clone(), failed);
                    }
                    let chained = list
                        .entries
                        .get(index + 1)
                        .is_some_and(|next| next.link != Link::Next);
                    let moves = directory::changes(entry, st).then(|| st.clone());
                    out.extend(&self.entry(&entry.stages, entry.background, st));
                    match moves {
                        Some(before) if chained => failed = Some(before),
                        Some(before) => directory::may_have_failed(&before, st),
                        None if chained => {
                            let mut other = st.clone();
                            end_the_other(entry, st, &mut other);
                            failed = Some(other);
                        }
                        None => {}
                    }
                }
                Link::And => {
                    let moves = directory::changes(entry, st).then(|| st.clone());
                    out.extend(&self.entry(&entry.stages, entry.background, st));
                    let other = moves.unwrap_or_else(|| {
                        let mut other = st.clone();
                        end_the_other(entry, st, &mut other);
                        other
                    });
                    failed = failed.take().map(|before| directory::meet(before, other));
                }
                Link::Or => {
                    let mut other = failed.take().unwrap_or_else(|| st.clone());
                    out.extend(&self.entry(&entry.stages, entry.background, &mut other));
                    let mut succeeded = other.clone();
                    end_the_other(entry, &mut succeeded, &mut other);
                    *st = directory::meet(st.clone(), succeeded);
                    failed = Some(other);
                }
            }
        }
        if let Some(failed) = failed {
            *st = directory::meet(st.clone(), failed);
        }
        out
    }

    fn entry(&mut self, stages: &[Command], background: bool, st: &mut State) -> Value {
        let (piped, feeds) = (self.piped, self.feeds);
        let out = match stages {
            [single] if background => self.command(single, &mut st.clone()),
            [single] => self.command(single, st),
            several => {
                let mut flowing: Option<Value> = None;
                let cuts_from = several
                    .iter()
                    .rposition(|stage| !only_cuts(stage))
                    .map_or(0, |at| at + 1);
                for (index, stage) in several.iter().enumerate() {
                    let mut inner = st.clone();
                    self.feeds = feeds || index + 1 < cuts_from;
                    if index > 0 {
                        inner.stdin = flowing.take().map(Rc::new);
                        self.piped = true;
                    }
                    flowing = Some(self.command(stage, &mut inner));
                    // Files written in a stage are there for whatever comes later.
                    st.files = inner.files;
                }
                flowing.unwrap_or_default()
            }
        };
        (self.piped, self.feeds) = (piped, feeds);
        out
    }

    /// Walks one command; returns what it prints.
    pub(super) fn command(&mut self, command: &Command, st: &mut State) -> Value {
        self.nested(Value::unknown(Why::Limit), |machine| match command {
            Command::Simple(simple) => machine.simple(simple, st),
            Command::Compound(compound) => machine.compound(compound, st),
        })
    }

    fn compound(&mut self, compound: &Compound, st: &mut State) -> Value {
        let redirected = self.redirections(&compound.redirs, st);
        self.note_redirections(&redirected, st);
        let outer = (st.stdin.clone(), self.piped);
        if let Some(Input(stdin)) = &redirected.stdin {
            st.stdin = stdin.clone().map(Rc::new);
            self.piped = false;
        }
        let out = self.kind(&compound.kind, st);
        // Without a redirection of its own, an `exec < file` in it holds for what follows.
        if redirected.stdin.is_some() {
            (st.stdin, self.piped) = outer;
        }
        Self::deliver(out, &redirected, st)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of command")]
    fn kind(&mut self, kind: &Kind, st: &mut State) -> Value {
        match kind {
            Kind::Group(list) => self.list(list, st),
            Kind::Subshell(list) => {
                let mut inner = st.clone();
                let out = self.list(list, &mut inner);
                st.files = inner.files;
                out
            }
            Kind::If {
                branches,
                otherwise,
            } => {
                let mut out = Value::default();
                let mut met: Option<State> = None;
                for (condition, body) in branches {
                    // Whether a `cd` has failed is asked here.
                    let otherwise = st.otherwise.clone();
                    out.extend(&self.list(condition, st));
                    let mut inner = st.clone();
                    if asks(condition, false) {
                        inner.otherwise.clone_from(&otherwise);
                    }
                    out.extend(&self.list(body, &mut inner));
                    if inner.ended && asks(condition, true) {
                        st.otherwise = otherwise;
                    }
                    met = Some(join(met, inner));
                }
                if let Some(otherwise) = otherwise {
                    out.extend(&self.list(otherwise, st));
                }
                *st = join(met, st.clone());
                uncertain(out)
            }
            Kind::While { condition, body } => {
                let mut out = Value::default();
                // The second round sees what the first has assigned.
                for _ in 0..2 {
                    let before = st.clone();
                    out.extend(&self.list(condition, st));
                    out.extend(&self.list(body, st));
                    st.ended = false;
                    let changed = !Rc::ptr_eq(&before.vars, &st.vars) || before.cwd != st.cwd;
                    if !changed {
                        break;
                    }
                    *st = before.join(st.clone());
                }
                uncertain(out)
            }
            Kind::For { name, words, body } => {
                let values = match words {
                    Some(words) => self.every_choice(words, st),
                    None => match &st.positional {
                        Some(values) => values.to_vec(),
                        None => vec![Value::unknown(Why::Variable("@".to_owned()))],
                    },
                };
                let mut out = Value::default();
                for value in values {
                    if self.steps == 0 {
                        self.incomplete = true;
                        break;
                    }
                    st.set(name, Slot::Scalar(value));
                    out.extend(&self.list(body, st));
                    st.ended = false;
                }
                out
            }
            Kind::CountedFor { header, body } => {
                self.arithmetic(header, st);
                let out = self.list(body, st);
                st.ended = false;
                uncertain(out)
            }
            Kind::Case { subject, arms } => {
                self.single(&subject.parts, st);
                let mut out = Value::default();
                let mut met: Option<State> = None;
                // Where an arm above goes on.
                let mut above: Option<State> = None;
                for arm in arms {
                    for pattern in &arm.patterns {
                        self.single(&pattern.parts, st);
                    }
                    let mut inner = join(above.clone(), st.clone());
                    out.extend(&self.list(&arm.body, &mut inner));
                    if arm.goes_on {
                        above = Some(join(above, inner.clone()));
                    }
                    met = Some(join(met, inner));
                }
                *st = match met {
                    Some(met) if arms.iter().any(takes_all) => met,
                    met => join(met, st.clone()),
                };
                uncertain(out)
            }
            Kind::Function { name, body } => {
                Rc::make_mut(&mut st.functions).insert(name.clone(), body.clone());
                Value::default()
            }
            Kind::Condition(words) => {
                let values: Vec<Value> = words
                    .iter()
                    .map(|word| self.single(&word.parts, st))
                    .collect();
                self.subscripts(&values, st);
                Value::default()
            }
            Kind::Arithmetic(parts) => {
                self.arithmetic(parts, st);
                Value::default()
            }
            Kind::Coprocess(command) => {
                self.command(command, &mut st.clone());
                Value::default()
            }
        }
    }

    /// The fields of words, for each value that the variables in them may have.
    fn every_choice(&mut self, words: &[Word], st: &mut State) -> Vec<Value> {
        let outer = (self.choice, self.rounds);
        (self.choice, self.rounds) = (0, 1);
        let mut out: Vec<Value> = Vec::new();
        while self.choice < self.rounds {
            for word in words {
                for value in self.fields(word, st) {
                    // Twice does no harm; it is only to keep a short list short.
                    if self.choice == 0
                        || out.len() > MAX_SLOTS * MAX_SLOTS
                        || !out.contains(&value)
                    {
                        out.push(value);
                    }
                }
            }
            self.choice += 1;
        }
        (self.choice, self.rounds) = outer;
        out
    }

    /// What a command substitution prints, final newlines off.
    pub(super) fn capture(&mut self, list: &List, st: &mut State) -> Value {
        // `$(< file)`
        if let [entry] = list.entries.as_slice()
            && let [Command::Simple(simple)] = entry.stages.as_slice()
            && simple.words.is_empty()
            && simple.assigns.is_empty()
        {
            let redirected = self.redirections(&simple.redirs, st);
            let text = redirected.stdin.and_then(|Input(text)| text);
            return text
                .unwrap_or_else(|| Value::unknown(Why::Input))
                .without_final_newlines();
        }
        let feeds = std::mem::replace(&mut self.feeds, true);
        let out = self.nested(Value::unknown(Why::Limit), |machine| {
            let mut inner = st.clone();
            let out = machine.list(list, &mut inner);
            // What it writes into files stays.
            st.files = inner.files;
            out
        });
        self.feeds = feeds;
        out.without_final_newlines()
    }

    /// `<( … )`: a file whose content is what the list prints. `>( … )` reads what is written into it.
    pub(super) fn process_substitution(
        &mut self,
        list: &List,
        reads: bool,
        st: &mut State,
    ) -> Value {
        let mut inner = st.clone();
        if !reads {
            inner.stdin = None;
        }
        let feeds = std::mem::replace(&mut self.feeds, true);
        let out = self.nested(Value::unknown(Why::Limit), |machine| {
            machine.list(list, &mut inner)
        });
        self.feeds = feeds;
        let path = format!("/dev/fd/{}", self.next_fd);
        self.next_fd = self.next_fd.saturating_sub(1).max(10);
        if reads {
            Rc::make_mut(&mut st.files).insert(path.clone(), out);
        }
        Value::text(path)
    }

    /// Walks a text as a script in the present shell (`eval`, `trap`, `source`).
    pub(super) fn script(&mut self, text: &Value, st: &mut State) -> Value {
        if text.is_empty() {
            return Value::default();
        }
        self.nested(Value::unknown(Why::Limit), |machine| {
            let span = machine.origin.unwrap_or_default();
            let source = text.script();
            machine.charge(source.len());
            let reading = reader::read(&source, Origin::Made(span), &machine.budget, 0);
            match reading.problem {
                Some((reader::Problem::Limit, _)) => machine.incomplete = true,
                Some((reader::Problem::Syntax, _)) => machine.broken_text = true,
                None => {}
            }
            machine.list(&reading.list, st)
        })
    }

    /// Runs the substitutions in a text that bash expands a second time (`${x@P}`, `let`, `test -v`).
    pub(super) fn evaluate_text(&mut self, text: &Value, st: &mut State) -> Value {
        let source = text.script();
        if !source.contains(['$', '`']) {
            return text.clone();
        }
        self.nested(Value::unknown(Why::Limit), |machine| {
            let span = machine.origin.unwrap_or_default();
            let parts = reader::read_text(&source, Origin::Made(span), &machine.budget);
            machine.single(&parts, st)
        })
    }
}

/// The path from the working directory, tidied of `./`.
pub(super) fn absolute(name: &str, st: &State) -> String {
    if name.starts_with('/') {
        return name.to_owned();
    }
    let name = name.strip_prefix("./").unwrap_or(name);
    format!("{}/{name}", st.cwd.as_deref().unwrap_or("?"))
}

/// Behind `true` and `:` nothing goes on as if they had failed, behind `false` nothing as if it had succeeded. What stands
/// there is looked at all the same.
fn end_the_other(entry: &Entry, succeeded: &mut State, failed: &mut State) {
    let [Command::Simple(simple)] = entry.stages.as_slice() else {
        return;
    };
    let [word] = simple.words.as_slice() else {
        return;
    };
    let [super::ast::Part::Bare(name)] = word.parts.as_slice() else {
        return;
    };
    if entry.prefixed
        || entry.background
        || !simple.redirs.is_empty()
        || succeeded.functions.contains_key(name)
        || succeeded.aliases.contains_key(name)
    {
        return;
    }
    match name.as_str() {
        "true" | ":" => failed.ended = true,
        "false" => succeeded.ended = true,
        _ => {}
    }
}

/// Whether a condition ends with one command that must have succeeded for what follows, or, with `!`, failed.
fn asks(condition: &List, negated: bool) -> bool {
    condition
        .entries
        .last()
        .is_some_and(|entry| entry.link == Link::Next && entry.prefixed == negated)
}

/// `*)`: one of the arms up to it runs.
fn takes_all(arm: &Arm) -> bool {
    let star = |word: &Word| matches!(word.parts.as_slice(), [super::ast::Part::Bare(text)] if text == "*");
    arm.patterns.iter().any(star)
}

/// `head`, `tail` and pagers: what they are fed is only cut.
fn only_cuts(stage: &Command) -> bool {
    let Command::Simple(simple) = stage else {
        return false;
    };
    let name = simple.words.first().map(|word| word.parts.as_slice());
    matches!(name, Some([super::ast::Part::Bare(name)]) if matches!(name.as_str(), "head" | "tail" | "less" | "more"))
}

fn join(met: Option<State>, other: State) -> State {
    match met {
        Some(met) => met.join(other),
        None => other,
    }
}

/// Output of which only a part is printed, or more than once.
fn uncertain(out: Value) -> Value {
    if out.is_empty() {
        out
    } else if out.is_fetched() {
        Value::unknown(Why::Fetched)
    } else {
        Value::unknown(Why::Output)
    }
}
