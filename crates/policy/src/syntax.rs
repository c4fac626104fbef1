//! One reading of a script, as bash would take it.
//!
//! Two readers go over the text. Ours (`reader`) follows bash's own tokenizer; from its result the
//! walk in `run` makes the list of commands that may run, with their words resolved. The grammar's
//! (`grammar`, tree-sitter-bash) is independent of it and is compared with it: where the two see
//! different command words, safe mode refuses and the safety checks judge both.
//!
//! Neither is trusted where it gives up: then `flat` cuts the raw text into anything that could be a
//! command. The grammar is asked late, and only by those for whom its answer can count.
//!
//! Nothing here judges; nothing here touches a file, a process, the environment or a clock.

pub(crate) mod ast;
mod escape;
mod expand;
pub(crate) mod find;
mod flat;
pub(crate) mod git;
pub(crate) mod grammar;
mod mend;
pub(crate) mod pattern;
pub(crate) mod reader;
pub(crate) mod run;
mod state;
mod trace;
pub(crate) mod value;
pub(crate) mod written;

use std::cell::{Cell, OnceCell};

use crate::Context;
use grammar::Tree;
use mend::Edit;
use reader::{Origin, Problem};
use run::{Machine, Ran};
use written::Written;

/// What is known about a script after reading it. The second reading is made only when it is asked for: it costs more
/// than all the rest.
#[derive(Debug)]
pub(crate) struct Script<'t> {
    text: &'t str,
    context: &'t Context,
    /// Every command that may run, in the order they were met.
    pub(crate) ran: Vec<Ran>,
    /// Commands that only the raw-text scan sees; unknown words decide nothing there.
    pub(crate) flat: Vec<Ran>,
    /// Our reader met a syntax error, at this byte.
    pub(crate) syntax_error: Option<usize>,
    /// The script is too long, too deep or of too absurd a shape to be read to its end.
    pub(crate) over_limit: bool,
    /// Our reading, unresolved.
    pub(crate) list: ast::List,
    /// What the grammar must not see as it is written; none where our reader gave up.
    edits: Option<Vec<Edit>>,
    tree: OnceCell<Tree>,
}

/// Reads a script.
pub(crate) fn read<'t>(text: &'t str, context: &'t Context) -> Script<'t> {
    let budget = Cell::new(reader::MAX_NODES);
    let reading = reader::read(text, Origin::At(0), &budget, 0);
    let mut machine = Machine::new(context);
    machine.walk(&reading.list);
    let over_limit = machine.incomplete || matches!(reading.problem, Some((Problem::Limit, _)));
    let syntax_error = match reading.problem {
        Some((Problem::Syntax, at)) => Some(at),
        _ => None,
    };
    let flat = if over_limit || syntax_error.is_some() || machine.broken_text {
        flat::commands(text, context)
    } else {
        Vec::new()
    };
    Script {
        text,
        context,
        ran: machine.ran,
        flat,
        syntax_error,
        over_limit,
        edits: reading.problem.is_none().then_some(reading.edits),
        list: reading.list,
        tree: OnceCell::new(),
    }
}

impl Script<'_> {
    /// What the grammar says.
    pub(crate) fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| match &self.edits {
            Some(edits) => grammar::read(self.text, edits.clone(), &self.list),
            None => Tree::unread(),
        })
    }

    /// Whether the grammar has a word to say.
    pub(crate) fn is_for_grammar(&self) -> bool {
        self.edits.is_some()
    }

    /// Whether the grammar was asked.
    #[cfg(test)]
    pub(crate) fn has_tree(&self) -> bool {
        self.tree.get().is_some()
    }

    /// The words that stand in it.
    pub(crate) fn written(&self) -> Written<'_> {
        Written::of(self.text)
    }

    /// Commands that only the grammar sees, their words as they stand; unknown words decide nothing there.
    pub(crate) fn strangers(&self) -> Vec<Ran> {
        self.tree().strangers(self.text, self.context)
    }
}
