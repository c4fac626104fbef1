//! Determines which commands a bash script would run, by reading it as bash would.
//!
//! The reader (`reader`) follows bash's own tokenizer; from its result, the walk in `run` lists the
//! commands that may run, with their words resolved. If the reader fails, `flat` splits the raw
//! text into everything that could be a command.
//!
//! This crate makes no policy decisions, and does not access files, processes, the environment or a
//! clock.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod ast;
mod command_host;
mod context;
mod escape;
mod expand;
pub mod find;
mod flat;
pub mod git;
mod harmful;
pub mod pattern;
mod predefined;
mod reader;
pub mod run;
mod span;
mod state;
pub mod tokens;
pub mod value;

pub use command_host::{CommandHost, Mount};
pub use context::{Context, Dialect, ProtectedProcess};
pub use predefined::Predefined;
pub use span::Span;

use reader::{Origin, ReadProblem};
use run::{Machine, ResolvedCommand};
use std::cell::Cell;

/// A script as parsed.
#[derive(Debug)]
pub struct Parsed<'t> {
    /// The text as given.
    pub text: &'t str,
    /// The script's commands, unresolved.
    pub list: ast::List,
    problem: Option<(ReadProblem, usize)>,
}

/// The result of walking a script.
#[derive(Debug)]
pub struct Script<'t> {
    /// The script itself.
    pub parsed: Parsed<'t>,
    /// The context in which the script would run.
    pub context: &'t Context,
    /// Every command that may run, in the order found.
    pub ran: Vec<ResolvedCommand>,
    /// Commands found only by scanning the raw text; unknown words are ignored in them.
    pub flat: Vec<ResolvedCommand>,
    /// The byte offset of a syntax error, if there is one.
    pub syntax_error: Option<usize>,
    /// True if the script is too long, too deeply nested or otherwise too complex to be read
    /// completely.
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
        }
    }
}

impl Parsed<'_> {
    /// True if the script was read to its end.
    pub fn is_whole(&self) -> bool {
        self.problem.is_none()
    }

    /// Returns the functions that the script defines for later scripts, without functions that
    /// other commands define.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let alone = self.list.entries.iter().filter(|entry| !entry.background);
        alone.filter_map(|entry| match &entry.stages[..] {
            [ast::Command::Compound(compound)] => match &compound.kind {
                ast::CompoundKind::Function { name, .. } => Some(name.as_str()),
                _ => None,
            },
            _ => None,
        })
    }
}

impl<'t> Script<'t> {
    /// Parses a script and follows it. A caller with several questions about a text parses it once
    /// and reuses the result.
    pub fn read(text: &'t str, context: &'t Context) -> Self {
        Self::follow(Parsed::read(text), context)
    }

    /// Follows a script that was parsed.
    pub fn follow(parsed: Parsed<'t>, context: &'t Context) -> Self {
        let mut machine = Machine::new(context);
        machine.walk(&parsed.list);
        let over_limit =
            machine.incomplete || matches!(parsed.problem, Some((ReadProblem::Limit, _)));
        let syntax_error = match parsed.problem {
            Some((ReadProblem::Syntax, at)) => Some(at),
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
