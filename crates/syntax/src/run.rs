//! Walks through a script like bash, and records every command that the script may run.
//!
//! The walk executes no command: all branches are taken, loops are walked once per known value, and
//! output is only known for simple commands (`echo`, `printf`, `pwd`, …). The result is a list of
//! [`ResolvedCommand`] with resolved words. It includes the commands that launchers start and the
//! commands of nested scripts.
//!
//! The walk is bounded in steps and depth. If a bound is reached, the list is `incomplete`
//! (`Walker::incomplete`), and callers fall back to scanning the raw text.

mod assign;
mod builtin;
mod cached_calls;
mod call;
mod call_cache;
mod compound;
mod directory;
mod expand;
mod fetch;
mod grep_output;
mod launch;
mod launcher;
mod list;
mod option_commands;
mod output;
mod path;
mod predefined;
mod redirect;
mod resolved_command;
mod simple;
mod sourced;
mod template_output;
mod text;
mod traps;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::ast::List;
use super::reader::MAX_NODES;
use super::state::{MAX_POSSIBLE_VALUES, PossibleValues, ShellState, VariableValue};
use super::value::Value;
use crate::{Context, DefinitionKind, Span};

pub use crate::field::Field;
use call_cache::CallCache;
pub use launch::{ShellInvocation, is_shell};
pub(super) use launcher::is_assignment;
pub use path::lexical;
pub use resolved_command::{Redirection, ResolvedCommand};
pub use sourced::sourced_files;

/// Maximum number of walked commands, including commands in loops, functions and nested scripts.
const MAX_STEPS: u32 = 25_000;

/// The number of copied or parsed bytes that cost as much as one step.
const BYTES_PER_STEP: usize = 64;

/// Maximum depth of the walk: substitutions, groups, functions, `eval`. A level costs up to 8 KiB
/// of stack in an unoptimised build.
const MAX_DEPTH: u16 = 80;

/// A command that runs at the end of the script (`trap … EXIT`).
pub(super) struct PendingTrap {
    text: Value,
    /// The state in which the trap was set.
    before: ShellState,
    started_by: Vec<String>,
    origin: Option<Span>,
}

/// Follows the commands of a script: the state of the walk, and its results so far.
pub(crate) struct Walker<'c> {
    pub(super) context: &'c Context,
    /// The number of words and commands that may still be parsed.
    pub(super) budget: Cell<u32>,
    /// The number of steps that remain.
    steps: u32,
    depth: u16,
    /// The index of the possible value that is used in this round. A command is walked once for
    /// each possible value.
    choice: usize,
    /// Number of rounds for the current command.
    rounds: usize,
    /// The identities of the functions whose bodies the walk is in, to limit recursion.
    active_functions: Vec<usize>,
    /// The number of calls that were skipped because of the limit on recursion.
    recursions: u32,
    calls_by_body: CallCache,
    /// Predefined functions that the script calls.
    predefined: BTreeSet<String>,
    /// The predefined definitions that the script uses, in the order found.
    pub(crate) used_definitions: Vec<(DefinitionKind, String)>,
    /// The names of the aliases whose values the walk is in.
    active_aliases: Vec<String>,
    /// Functions of the script that some command calls.
    called: BTreeSet<String>,
    /// Traps that run at the end of the script.
    traps: Vec<PendingTrap>,
    /// The programs that start the current command, outermost first.
    pub(super) started_by: Vec<String>,
    /// The value of [`ResolvedCommand::may_never_run`] at this point of the walk.
    pub(super) may_never_run: bool,
    /// The value of [`ResolvedCommand::reads_pipe`] at this point of the walk.
    reads_pipe: bool,
    /// The value of [`ResolvedCommand::output_is_used`] at this point of the walk.
    output_is_used: bool,
    /// The value of [`ResolvedCommand::is_background`] at this point of the walk.
    is_background: bool,
    /// The descriptor of the next `<( … )`. As in bash, the numbers begin at 63 and decrease.
    next_fd: u32,
    /// The span of the script's command that the walk is in; commands of nested texts have this
    /// span, too.
    origin: Option<Span>,
    home: Option<Rc<str>>,
    /// The recorded commands.
    pub(crate) commands: Vec<ResolvedCommand>,
    /// Indices of the recorded commands by their position in the script.
    recorded: HashMap<Span, Vec<usize>>,
    /// True if a bound of the walk was reached.
    pub(crate) incomplete: bool,
    /// True if a text that the script executes (`eval`, `trap`) has a syntax error.
    pub(crate) broken_text: bool,
}

impl<'c> Walker<'c> {
    pub(crate) fn new(context: &'c Context) -> Self {
        Walker {
            context,
            budget: Cell::new(MAX_NODES),
            steps: MAX_STEPS,
            depth: 0,
            choice: 0,
            rounds: 1,
            active_functions: Vec::new(),
            recursions: 0,
            calls_by_body: CallCache::new(),
            predefined: BTreeSet::new(),
            used_definitions: Vec::new(),
            active_aliases: Vec::new(),
            called: BTreeSet::new(),
            traps: Vec::new(),
            started_by: Vec::new(),
            may_never_run: false,
            reads_pipe: false,
            output_is_used: false,
            is_background: false,
            next_fd: 63,
            origin: None,
            home: None,
            commands: Vec::new(),
            recorded: HashMap::new(),
            incomplete: false,
            broken_text: false,
        }
    }

    /// Returns a command without the context of a walk.
    pub(super) fn without_context(words: Vec<Field>, shell: &ShellState) -> ResolvedCommand {
        let start = words
            .iter()
            .map(|field| field.span.start)
            .min()
            .unwrap_or_default();
        let end = words
            .iter()
            .map(|field| field.span.end)
            .max()
            .unwrap_or_default();
        ResolvedCommand {
            words: words.into(),
            cwd: shell.cwd.clone(),
            home: shell.home().map(Rc::from),
            span: Span { start, end },
            may_never_run: true,
            ..ResolvedCommand::default()
        }
    }

    /// Walks a whole script, then its functions that are never called.
    pub(crate) fn walk(&mut self, list: &List) {
        let mut shell = ShellState::new(&self.context.cwd, self.context.home.as_deref());
        self.predefine(&mut shell);
        self.list(list, &mut shell);
        self.run_traps(&shell);
        self.may_never_run = true;
        shell.positional = None;
        for (name, body) in shell.functions.clone().iter() {
            if !self.called.contains(name) {
                self.nested(Value::default(), |walker| {
                    walker.command(body, &mut shell.clone())
                });
            }
        }
        self.may_never_run = false;
    }

    /// Runs `inner` one level deeper; returns `otherwise` if a bound of the walk is reached.
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

    /// Subtracts the cost of processing this many bytes from the remaining steps.
    pub(super) fn charge(&mut self, bytes: usize) {
        let steps = u32::try_from(bytes / BYTES_PER_STEP).unwrap_or(u32::MAX);
        self.steps = self.steps.saturating_sub(steps);
    }

    /// Returns the possible value of a variable that is used in this round.
    pub(super) fn choose<'v>(&mut self, possible: &'v PossibleValues) -> Option<&'v VariableValue> {
        self.rounds = self.rounds.max(possible.len());
        possible.get(self.choice.min(possible.len().saturating_sub(1)))
    }

    /// Returns the array element that is used in this round for an unknown key; `None` if there are
    /// too many elements.
    pub(super) fn choose_element<'v>(&mut self, values: &'v [Value]) -> Option<&'v Value> {
        if values.len() > MAX_POSSIBLE_VALUES {
            return None;
        }
        self.rounds = self.rounds.max(values.len());
        values.get(self.choice.min(values.len().saturating_sub(1)))
    }
}
