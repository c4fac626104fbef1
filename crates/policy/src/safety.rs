//! The safety checks: a registry of rules, one file each.
//!
//! A rule looks at resolved commands and reports what is wrong with one. A [`RuleSelection`] determines which rules
//! apply; their results are turned into a [`Verdict`] here. `syntax` does the parsing.

mod data_loss;
mod given;
mod inline_code;
mod interpreter;
mod no_blind_git_add;
mod no_dangerous_rm;
mod no_force_push;
mod path;
mod remote_code;
#[cfg(test)]
mod second_reading_tests;
mod selection;
mod services;
mod system;
mod zsh;

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::syntax::written::Written;
use crate::syntax::{self, Script, run::Ran};
use path::Place;

use crate::{Check, Context, Finding, Group, Span, Verdict};

pub use selection::{RuleSelection, UnknownRule};

/// A safety rule: its name, its texts, and example scripts.
#[derive(Debug)]
pub struct Rule {
    /// Its id in settings and verdicts.
    pub id: &'static str,
    /// Its group.
    pub group: Group,
    /// What it refuses, in one sentence for the documentation.
    pub summary: &'static str,
    /// The message when it blocks.
    pub message: &'static str,
    /// What to do instead.
    pub suggestion: &'static str,
    /// Scripts that it must block.
    pub fires: &'static [&'static str],
    /// Similar scripts that it must allow.
    pub spares: &'static [&'static str],
    /// Whether a text contains what this rule needs in order to fire on a command with unresolved words
    /// (`Script::grammar_only_commands`). Over-approximates: false positives allowed, false negatives not. Saves
    /// the second reading.
    needs: fn(&Written<'_>) -> bool,
    check: fn(&Ran, &Scene<'_>) -> Option<Hit>,
}

/// What a rule may look at besides the command.
struct Scene<'s> {
    context: &'s Context,
    /// All commands of the script, for rules in which one command prepares another.
    all: &'s [Ran],
    /// The enabled rules.
    asked: &'s [&'s Rule],
    /// In how many programs of other languages this script is nested.
    depth: u8,
    /// The script's initial directory.
    base: Cow<'s, str>,
    /// Whether a command in the script turns pushes into forced ones; computed once for all commands, of which
    /// there may be thousands.
    forces_pushes: OnceCell<bool>,
    /// Whether an enabled rule is concerned with one of the commands.
    cares: OnceCell<bool>,
}

impl<'s> Scene<'s> {
    fn new(context: &'s Context, all: &'s [Ran], asked: &'s [&'s Rule], depth: u8) -> Self {
        Scene {
            context,
            all,
            asked,
            depth,
            base: context.cwd.to_string_lossy(),
            forces_pushes: OnceCell::new(),
            cares: OnceCell::new(),
        }
    }

    /// Where a command may run: the expected directory, and the one if an earlier `cd` failed unnoticed.
    fn places<'p>(&'p self, ran: &'p Ran) -> impl Iterator<Item = Place<'p>> {
        let otherwise = ran.otherwise.as_deref().map(|cwd| Place {
            cwd: Some(cwd),
            ..self.place(ran)
        });
        std::iter::once(self.place(ran)).chain(otherwise)
    }

    /// Where a command runs.
    fn place<'p>(&'p self, ran: &'p Ran) -> Place<'p> {
        Place {
            cwd: ran.cwd.as_deref(),
            base: &self.base,
            home: ran.home.as_deref(),
        }
    }
}

/// A finding of a rule: the offending words and their place.
struct Hit {
    span: Span,
    words: Vec<String>,
    /// Replaces the rule's message and suggestion where they do not fit the case.
    said: Option<(&'static str, &'static str)>,
}

impl Hit {
    /// A finding about these words of a command.
    fn on<'f>(ran: &Ran, fields: impl IntoIterator<Item = &'f syntax::run::Field>) -> Hit {
        let fields: Vec<_> = fields.into_iter().collect();
        let first = ran.words.first().map(|field| field.value.to_string());
        Hit {
            span: ran.span,
            words: first
                .into_iter()
                .chain(fields.iter().map(|field| field.value.to_string()))
                .collect(),
            said: None,
        }
    }
}

impl Hit {
    /// The same with another message and suggestion.
    fn saying(self, message: &'static str, suggestion: &'static str) -> Hit {
        Hit {
            said: Some((message, suggestion)),
            ..self
        }
    }
}

/// Whether the command is git (true), or an unknown program that could be git (false).
fn is_git(ran: &Ran) -> Option<bool> {
    match ran.name() {
        Some(name) => (matches!(name, "git" | "hub") || name.starts_with("git-")).then_some(true),
        None => ran
            .words
            .first()
            .filter(|field| field.value.has_unknown())
            .map(|_| false),
    }
}

static RULES: [&Rule; 26] = [
    &zsh::RULE,
    &no_blind_git_add::RULE,
    &no_force_push::RULE,
    &no_dangerous_rm::RULE,
    &inline_code::RULE,
    &data_loss::clean::RULE,
    &data_loss::reset::RULE,
    &data_loss::discard::RULE,
    &data_loss::stash::RULE,
    &data_loss::branch::RULE,
    &data_loss::reflog::RULE,
    &data_loss::push_delete::RULE,
    &remote_code::unread_shell::RULE,
    &remote_code::transport::RULE,
    &system::disk::RULE,
    &system::modes::RULE,
    &system::home::RULE,
    &system::processes::RULE,
    &system::power::RULE,
    &system::mirror::RULE,
    &system::crontab::RULE,
    &services::containers::RULE,
    &services::infrastructure::RULE,
    &services::clusters::RULE,
    &services::buckets::RULE,
    &services::databases::RULE,
];

/// All safety rules, in the order in which they are checked.
pub fn rules() -> &'static [&'static Rule] {
    &RULES
}

/// Checks a script against the selected rules.
///
/// Never panics and never fails: a script that cannot be parsed is [`Verdict::Unreadable`].
pub fn check_safety(script: &Script<'_>, selection: &RuleSelection) -> Verdict {
    let asked: Vec<&Rule> = rules()
        .iter()
        .copied()
        .filter(|rule| selection.includes(rule))
        .collect();
    judged(script, &asked, grammar_only_commands)
}

/// The verdict of these rules; `grammar_only_commands` returns the commands found by the grammar only.
fn judged(
    script: &Script<'_>,
    asked: &[&Rule],
    grammar_only_commands: impl Fn(&Script<'_>, &[&Rule]) -> Vec<Ran>,
) -> Verdict {
    let scene = Scene::new(script.context, &script.ran, asked, 0);
    let blocked = |commands: &[Ran]| {
        commands.iter().find_map(|ran| {
            asked
                .iter()
                .find_map(|rule| (rule.check)(ran, &scene).map(|hit| finding(rule, hit)))
        })
    };
    let found = blocked(&script.ran)
        .or_else(|| blocked(&grammar_only_commands(script, asked)))
        .or_else(|| blocked(&script.flat));
    if let Some(finding) = found {
        return Verdict::Block(finding);
    }
    if script.over_limit || script.syntax_error.is_some() {
        let at = script.syntax_error.unwrap_or(0);
        return Verdict::Unreadable(Finding {
            check: Check::Safety,
            rule: "unreadable".to_owned(),
            group: None,
            message: if script.over_limit {
                "the script is too long or too deeply nested to be read".to_owned()
            } else {
                "the script has a syntax error".to_owned()
            },
            suggestion: if script.over_limit {
                "write it in smaller steps".to_owned()
            } else {
                "`bash -n` says what bash expects there".to_owned()
            },
            span: Span { start: at, end: at },
            words: Vec::new(),
            suggested_tool: None,
        });
    }
    Verdict::Allow
}

/// The commands that only the grammar finds, if one of the rules could fire on any.
fn grammar_only_commands(script: &Script<'_>, asked: &[&Rule]) -> Vec<Ran> {
    let written = script.written();
    if script.is_for_grammar() && asked.iter().any(|rule| (rule.needs)(&written)) {
        script.grammar_only_commands()
    } else {
        Vec::new()
    }
}

fn finding(rule: &Rule, hit: Hit) -> Finding {
    let (message, suggestion) = hit.said.unwrap_or((rule.message, rule.suggestion));
    Finding {
        check: Check::Safety,
        rule: rule.id.to_owned(),
        group: Some(rule.group),
        message: message.to_owned(),
        suggestion: suggestion.to_owned(),
        span: hit.span,
        words: hit.words,
        suggested_tool: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_commands_say_together_is_found_out_once() {
        let context = Context::new("/home/u/project");
        for (text, forces) in [
            ("git push; git push", Some(false)),
            ("git config remote.origin.push +main; git push", Some(true)),
            ("git status; ls", None),
        ] {
            let script = Script::read(text, &context);
            let scene = Scene::new(&context, &script.ran, rules(), 0);
            for ran in &script.ran {
                for rule in rules() {
                    (rule.check)(ran, &scene);
                }
            }
            assert_eq!(scene.forces_pushes.get(), forces.as_ref(), "{text}");
        }
    }
}
