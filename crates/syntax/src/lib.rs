//! Says what a bash script would run, by reading it as bash would.
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

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod ast;
mod context;
mod differences;
mod escape;
mod expand;
pub mod find;
mod flat;
pub mod git;
#[cfg(feature = "grammar")]
pub mod grammar;
mod harmful;
#[cfg_attr(
    not(any(feature = "grammar", test)),
    expect(dead_code, reason = "only the grammar reads the edited text")
)]
mod mend;
pub mod pattern;
mod reader;
pub mod run;
mod span;
mod state;
mod trace;
pub mod value;
pub mod written;

pub use context::{Context, Dialect};
pub use span::Span;

use std::cell::Cell;
#[cfg(feature = "grammar")]
use std::cell::OnceCell;

#[cfg(feature = "grammar")]
use grammar::Tree;
#[cfg(feature = "grammar")]
use mend::Edit;
use reader::{Origin, Problem};
use run::{Machine, Ran};
#[cfg(feature = "grammar")]
use written::Written;

/// A script as our reader and, if it is asked, the grammar see it. The grammar costs more than all the rest.
#[derive(Debug)]
pub struct Parsed<'t> {
    /// As it was given.
    pub text: &'t str,
    /// Our reading, unresolved.
    pub list: ast::List,
    problem: Option<(Problem, usize)>,
    /// Where the pipeline begins in which the problem is.
    stopped_in: usize,
    #[cfg(feature = "grammar")]
    edits: Vec<Edit>,
    #[cfg(feature = "grammar")]
    tree: OnceCell<Tree>,
}

/// What is known about a script after following it.
#[derive(Debug)]
pub struct Script<'t> {
    /// The script itself.
    pub parsed: Parsed<'t>,
    /// Where it would run.
    pub context: &'t Context,
    /// Every command that may run, in the order they were met.
    pub ran: Vec<Ran>,
    /// Commands that only the raw-text scan sees; unknown words decide nothing there.
    pub flat: Vec<Ran>,
    /// Our reader met a syntax error, at this byte.
    pub syntax_error: Option<usize>,
    /// The script is too long, too deep or of too absurd a shape to be read to its end.
    pub over_limit: bool,
}

impl<'t> Parsed<'t> {
    /// Reads a script, and follows nothing in it.
    pub fn read(text: &'t str, dialect: Dialect) -> Self {
        let budget = Cell::new(reader::MAX_NODES);
        let reading = reader::read(text, Origin::At(0), dialect, &budget, 0);
        Parsed {
            text,
            list: reading.list,
            problem: reading.problem,
            stopped_in: reading.stopped_in,
            #[cfg(feature = "grammar")]
            edits: reading.edits,
            #[cfg(feature = "grammar")]
            tree: OnceCell::new(),
        }
    }
}

impl<'t> Script<'t> {
    /// Reads a script and follows it. Whoever has more than one question about a text reads it once, and asks this.
    pub fn read(text: &'t str, context: &'t Context) -> Self {
        Self::follow(Parsed::read(text, context.dialect), context)
    }

    /// Follows a script that was read in the dialect of `context`.
    pub fn follow(parsed: Parsed<'t>, context: &'t Context) -> Self {
        let mut machine = Machine::new(context);
        machine.walk(&parsed.list);
        let over_limit = machine.incomplete || matches!(parsed.problem, Some((Problem::Limit, _)));
        let syntax_error = match parsed.problem {
            Some((Problem::Syntax, at)) => Some(at),
            _ => None,
        };
        if syntax_error.is_some() && context.dialect == Dialect::Zsh {
            machine.note_unread(parsed.text, parsed.stopped_in);
        }
        let flat = if over_limit || syntax_error.is_some() || machine.broken_text {
            flat::commands(parsed.text, context)
        } else {
            Vec::new()
        };
        Script {
            parsed,
            context,
            ran: machine.ran,
            flat,
            syntax_error,
            over_limit,
        }
    }
}

#[cfg(feature = "grammar")]
impl Parsed<'_> {
    /// What the grammar says.
    pub fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| match self.problem {
            None => grammar::read(self.text, self.edits.clone(), &self.list),
            Some(_) => Tree::unread(),
        })
    }

    /// Whether both readers have read it to its end, without an error, and see the same commands.
    pub fn is_agreed(&self) -> bool {
        self.problem.is_none() && self.tree().agrees() && !self.tree().error
    }
}

#[cfg(feature = "grammar")]
impl Script<'_> {
    /// What the grammar says.
    pub fn tree(&self) -> &Tree {
        self.parsed.tree()
    }

    /// Whether the grammar has a word to say.
    pub fn is_for_grammar(&self) -> bool {
        self.parsed.problem.is_none()
    }

    /// Whether the grammar was asked.
    pub fn has_tree(&self) -> bool {
        self.parsed.tree.get().is_some()
    }

    /// The words that stand in it.
    pub fn written(&self) -> Written<'_> {
        Written::of(self.parsed.text)
    }

    /// Commands that only the grammar sees, their words as they stand; unknown words decide nothing there.
    pub fn grammar_only_commands(&self) -> Vec<Ran> {
        self.tree()
            .grammar_only_commands(self.parsed.text, self.context)
    }
}
