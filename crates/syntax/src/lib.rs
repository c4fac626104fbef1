//! Determines which commands a bash script would run, by parsing it as bash would.
//!
//! The parser (`reader`) follows bash's own tokenizer. From the parser's result, the walk in `run`
//! lists the commands that may run, with their words resolved. If the parser fails, `raw_scan`
//! finds all parts of the raw text that could be commands.
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
mod field;
pub mod find;
pub mod git;
mod harmful;
pub mod pattern;
mod predefined;
mod raw_scan;
mod reader;
pub mod run;
mod span;
mod state;
pub mod table;
pub mod tokens;
pub mod value;

pub use command_host::{CommandHost, Mount};
pub use context::{Context, Dialect, ProtectedProcess};
pub use predefined::{DefinitionKind, Predefined};
pub use span::Span;

use reader::{Origin, ReadProblem};
use run::{ResolvedCommand, Walker};
use std::cell::Cell;

/// A parsed script.
#[derive(Debug)]
pub struct Parsed<'t> {
    /// The text of the script.
    pub text: &'t str,
    /// The script's commands, unresolved.
    pub list: ast::List,
    /// Why parsing stopped before the end of the text, and the byte offset.
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
    pub commands: Vec<ResolvedCommand>,
    /// Commands that only a scan of the raw text finds, for a text that cannot be parsed
    /// completely. Rules ignore unknown words in them.
    pub scanned_commands: Vec<ResolvedCommand>,
    /// The predefined definitions that the script uses, in the order found.
    pub used_definitions: Vec<(DefinitionKind, String)>,
    /// The byte offset of the syntax error, if any.
    pub syntax_error: Option<usize>,
    /// True if the script is too long, too deeply nested or otherwise too complex to be analysed
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
    /// True if the script was parsed to its end.
    pub fn is_whole(&self) -> bool {
        self.problem.is_none()
    }

    /// Returns the names of the functions that the script defines at its top level, for later
    /// scripts in the same shell.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let foreground = self.list.entries.iter().filter(|entry| !entry.background);
        foreground.filter_map(|entry| match &entry.stages[..] {
            [ast::Command::Compound(compound)] => match &compound.kind {
                ast::CompoundKind::Function { name, .. } => Some(name.as_str()),
                _ => None,
            },
            _ => None,
        })
    }
}

impl<'t> Script<'t> {
    /// Parses a script and follows its commands. A caller with several questions about a script
    /// calls this function once and reuses the result.
    pub fn read(text: &'t str, context: &'t Context) -> Self {
        Self::follow(Parsed::read(text), context)
    }

    /// Follows the commands of a parsed script.
    pub fn follow(parsed: Parsed<'t>, context: &'t Context) -> Self {
        let mut walker = Walker::new(context);
        walker.walk(&parsed.list);
        let over_limit =
            walker.incomplete || matches!(parsed.problem, Some((ReadProblem::Limit, _)));
        let syntax_error = match parsed.problem {
            Some((ReadProblem::Syntax, offset)) => Some(offset),
            _ => None,
        };
        let scanned_commands = if over_limit || syntax_error.is_some() || walker.broken_text {
            raw_scan::commands(parsed.text, context)
        } else {
            Vec::new()
        };
        Script {
            parsed,
            context,
            commands: walker.commands,
            used_definitions: walker.used_definitions,
            scanned_commands,
            syntax_error,
            over_limit,
        }
    }
}
