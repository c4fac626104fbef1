//! One reading of a script, as bash would take it.
//!
//! Two readers go over the text. Ours (`reader`) follows bash's own tokenizer; from its result the
//! walk in `run` makes the list of commands that may run, with their words resolved. The grammar's
//! (`grammar`, tree-sitter-bash) is independent of it and is compared with it: where the two see
//! different command words, safe mode refuses and the safety checks judge both.
//!
//! Neither is trusted where it gives up: then `flat` cuts the raw text into anything that could be a
//! command. Nothing here judges; nothing here touches a file, a process, the environment or a clock.

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

use std::cell::Cell;

use crate::Context;
use grammar::Tree;
use reader::{Origin, Problem};
use run::{Machine, Ran};

/// What is known about a script after reading it.
#[derive(Debug)]
pub(crate) struct Script {
    /// Every command that may run, in the order they were met.
    pub(crate) ran: Vec<Ran>,
    /// Commands that only the grammar or the raw-text scan sees; unknown words decide nothing there.
    pub(crate) doubtful: Vec<Ran>,
    /// Our reader met a syntax error, at this byte.
    pub(crate) syntax_error: Option<usize>,
    /// The script is too long, too deep or of too absurd a shape to be read to its end.
    pub(crate) over_limit: bool,
    /// What the grammar says.
    pub(crate) tree: Tree,
    /// Our reading, unresolved.
    pub(crate) list: ast::List,
}

/// Reads a script.
pub(crate) fn read(text: &str, context: &Context) -> Script {
    let budget = Cell::new(reader::MAX_NODES);
    let reading = reader::read(text, Origin::At(0), &budget, 0);
    let mut machine = Machine::new(context);
    machine.walk(&reading.list);
    let over_limit = machine.incomplete || matches!(reading.problem, Some((Problem::Limit, _)));
    let syntax_error = match reading.problem {
        Some((Problem::Syntax, at)) => Some(at),
        _ => None,
    };
    let tree = if reading.problem.is_some() {
        Tree::unread()
    } else {
        grammar::read(text, reading.edits, &reading.list)
    };
    let mut doubtful = tree.strangers(text, context);
    if over_limit || syntax_error.is_some() || machine.broken_text {
        doubtful.extend(flat::commands(text, context));
    }
    Script {
        ran: machine.ran,
        doubtful,
        syntax_error,
        over_limit,
        tree,
        list: reading.list,
    }
}
