//! Determines which commands a bash script would run, by reading it as bash would.
//!
//! Two independent readers parse the text. Ours (`reader`) follows bash's own tokenizer; from its result, the walk
//! in `run` lists the commands that may run, with their words resolved. The other is a grammar (`grammar`,
//! tree-sitter-bash). Their results are compared: where they find different command words, safe mode refuses the
//! script, and the safety checks judge both readings.
//!
//! Neither is trusted where it gives up: then `flat` splits the raw text into anything that could be a command. The
//! grammar is consulted late, and only where its answer can matter.
//!
//! Nothing here passes judgement, and nothing accesses files, processes, the environment or a clock.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod ast;
mod context;
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

/// A script as parsed by our reader and, if it is consulted, by the grammar, which costs more than everything else
/// together.
#[derive(Debug)]
pub struct Parsed<'t> {
    /// The text as given.
    pub text: &'t str,
    /// Our reader's result, unresolved.
    pub list: ast::List,
    problem: Option<(Problem, usize)>,
    #[cfg(feature = "grammar")]
    edits: Vec<Edit>,
    #[cfg(feature = "grammar")]
    tree: OnceCell<Tree>,
}

/// Everything known about a script after walking it.
#[derive(Debug)]
pub struct Script<'t> {
    /// The script itself.
    pub parsed: Parsed<'t>,
    /// Where it would run.
    pub context: &'t Context,
    /// Every command that may run, in the order found.
    pub ran: Vec<Ran>,
    /// Commands found only by scanning the raw text; unknown words are ignored in them.
    pub flat: Vec<Ran>,
    /// The byte at which our reader found a syntax error.
    pub syntax_error: Option<usize>,
    /// The script is too long, too deeply nested or otherwise too complex to be read completely.
    pub over_limit: bool,
}

impl<'t> Parsed<'t> {
    /// Parses a script without following it.
    pub fn read(text: &'t str) -> Self {
        let budget = Cell::new(reader::MAX_NODES);
        let reading = reader::read(text, Origin::At(0), &budget, 0);
        Parsed {
            text,
            list: reading.list,
            problem: reading.problem,
            #[cfg(feature = "grammar")]
            edits: reading.edits,
            #[cfg(feature = "grammar")]
            tree: OnceCell::new(),
        }
    }
}

impl<'t> Script<'t> {
    /// Parses a script and follows it. A caller with several questions about a text parses it once and reuses the
    /// result.
    pub fn read(text: &'t str, context: &'t Context) -> Self {
        Self::follow(Parsed::read(text), context)
    }

    /// Follows a script that was parsed.
    pub fn follow(parsed: Parsed<'t>, context: &'t Context) -> Self {
        let mut machine = Machine::new(context);
        machine.walk(&parsed.list);
        let over_limit = machine.incomplete || matches!(parsed.problem, Some((Problem::Limit, _)));
        let syntax_error = match parsed.problem {
            Some((Problem::Syntax, at)) => Some(at),
            _ => None,
        };
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
    /// The grammar's result.
    pub fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| match self.problem {
            None => grammar::read(self.text, self.edits.clone(), &self.list),
            Some(_) => Tree::unread(),
        })
    }

    /// Whether both readers have read all of it without errors and found the same commands.
    pub fn is_agreed(&self) -> bool {
        self.problem.is_none() && self.tree().agrees() && !self.tree().error
    }
}

#[cfg(feature = "grammar")]
impl Script<'_> {
    /// The grammar's result.
    pub fn tree(&self) -> &Tree {
        self.parsed.tree()
    }

    /// Whether the script is within the grammar's limits.
    pub fn is_for_grammar(&self) -> bool {
        self.parsed.problem.is_none()
    }

    /// Whether the grammar was consulted.
    pub fn has_tree(&self) -> bool {
        self.parsed.tree.get().is_some()
    }

    /// The words that occur in the text.
    pub fn written(&self) -> Written<'_> {
        Written::of(self.parsed.text)
    }

    /// Commands that only the grammar finds, unresolved; unknown words are ignored in them.
    pub fn grammar_only_commands(&self) -> Vec<Ran> {
        self.tree()
            .grammar_only_commands(self.parsed.text, self.context)
    }
}
