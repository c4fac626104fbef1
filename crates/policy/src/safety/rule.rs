//! Safety rules: their definition, their input, and their result.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::command_line::Action;
use super::path::PathBase;
use super::section::Examples;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::table::Table;
use crate::syntax::value::Value;
use crate::{Context, Group, Script, Span};

/// A safety rule: its name, its texts, and example scripts.
#[derive(Debug)]
pub struct Rule {
    /// The rule's id in settings and verdicts.
    pub id: &'static str,
    /// The rule's group.
    pub group: Group,
    /// The refused actions, in one sentence for the documentation.
    pub summary: &'static str,
    /// The message of a refusal.
    pub message: &'static str,
    /// The alternative.
    pub suggestion: &'static str,
    /// Scripts that the rule must block.
    pub blocked_examples: Examples,
    /// Similar scripts that the rule must allow.
    pub allowed_examples: Examples,
    /// The refused actions, by program.
    pub(super) actions: Table<Action>,
    /// The function that finds actions beyond the rows.
    pub(super) code: Option<Check>,
}

/// The function of a rule.
pub(super) type Check = fn(&ResolvedCommand, &RuleInput<'_>) -> Option<RuleFinding>;

impl Rule {
    /// Returns a finding if the rule refuses a command.
    pub(super) fn check(
        &self,
        command: &ResolvedCommand,
        input: &RuleInput<'_>,
    ) -> Option<RuleFinding> {
        self.code.and_then(|code| code(command, input)).or_else(|| {
            let name = program_name(command)?;
            let base = input.path_base(command);
            let is_done = self
                .actions
                .rows_of(name)
                .any(|action| action.is_performed_by(command, &base));
            is_done.then(|| RuleFinding::on(command, command.arguments()))
        })
    }
}

/// The input of a rule, in addition to the command.
pub(super) struct RuleInput<'s> {
    pub(super) context: &'s Context,
    /// The script.
    pub(super) text: &'s str,
    /// True if a part of the script could not be parsed.
    pub(super) is_broken: bool,
    /// All commands of the script, for rules in which one command prepares another.
    pub(super) commands: &'s [ResolvedCommand],
    pub(super) rules: &'s [&'s Rule],
    pub(super) enabled: &'s [&'s Rule],
    /// The number of programs in other languages around this script.
    pub(super) depth: u8,
    /// The script's initial directory.
    pub(super) initial_cwd: Cow<'s, str>,
    /// True if a command of the script sets an option of git that forces pushes. Computed once for
    /// all commands of a script, which can be thousands.
    pub(super) forces_pushes: OnceCell<bool>,
    /// The results of searches that commands of the script receive. Computed once.
    pub(super) search_results: OnceCell<Vec<Value>>,
}

impl<'s> RuleInput<'s> {
    pub(super) fn new(
        script: &'s Script<'_>,
        rules: &'s [&'s Rule],
        enabled: &'s [&'s Rule],
        depth: u8,
    ) -> Self {
        RuleInput {
            context: script.context,
            text: script.parsed.text,
            is_broken: !script.scanned_commands.is_empty(),
            commands: &script.commands,
            rules,
            enabled,
            depth,
            initial_cwd: script.context.cwd.to_string_lossy(),
            forces_pushes: OnceCell::new(),
            search_results: OnceCell::new(),
        }
    }

    /// Returns the directories in which a command may run: the expected directory, and the
    /// directory in which it runs if an earlier `cd` fails unnoticed.
    pub(super) fn path_bases<'p>(
        &'p self,
        command: &'p ResolvedCommand,
    ) -> impl Iterator<Item = PathBase<'p>> {
        let otherwise = command.cwd_if_cd_failed.as_deref().map(|cwd| PathBase {
            cwd: Some(cwd),
            ..self.path_base(command)
        });
        std::iter::once(self.path_base(command)).chain(otherwise)
    }

    /// Returns the directory and the home from which the command's paths start.
    pub(super) fn path_base<'p>(&'p self, command: &'p ResolvedCommand) -> PathBase<'p> {
        PathBase {
            cwd: command.cwd.as_deref(),
            initial_cwd: &self.initial_cwd,
            home: command.home.as_deref(),
            host: &command.host,
        }
    }
}

/// A finding of a rule: the offending words and their position.
pub(super) struct RuleFinding {
    pub(super) span: Span,
    pub(super) words: Vec<String>,
    /// The message and the suggestion, if they differ from those of the rule.
    pub(super) wording: Option<(&'static str, &'static str)>,
}

impl RuleFinding {
    /// Returns a finding about these words of a command.
    pub(super) fn on<'f>(
        command: &ResolvedCommand,
        fields: impl IntoIterator<Item = &'f Field>,
    ) -> RuleFinding {
        let first = command.words.first().map(|field| field.value.to_string());
        let others = fields.into_iter().map(|field| field.value.to_string());
        RuleFinding {
            span: command.span,
            words: first.into_iter().chain(others).collect(),
            wording: None,
        }
    }

    /// Replaces the message and the suggestion by these, if there are any.
    pub(super) fn with_texts(self, wording: Option<(&'static str, &'static str)>) -> RuleFinding {
        RuleFinding { wording, ..self }
    }
}

/// Returns the name by which rows list the command's program; `None` for functions.
pub(super) fn program_name(command: &ResolvedCommand) -> Option<&str> {
    let name = command.name().filter(|_| !command.is_function)?;
    match is_git(command) {
        Some(true) => Some("git"),
        _ => Some(name),
    }
}

/// Returns `Some(true)` if the command is git, `Some(false)` if an unknown program could be git.
pub(super) fn is_git(command: &ResolvedCommand) -> Option<bool> {
    match command.name() {
        Some(name) => (matches!(name, "git" | "hub") || name.starts_with("git-")).then_some(true),
        None => command
            .words
            .first()
            .filter(|field| field.value.has_unknown())
            .map(|_| false),
    }
}
