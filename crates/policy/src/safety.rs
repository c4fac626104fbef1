//! The safety checks: a registry of rules, each in a file of its own.
//!
//! A rule looks at resolved commands and says what is wrong with one. Which rules are asked is a
//! [`RuleSelection`]; what they say becomes a [`Verdict`] here. Reading the script is `syntax`'s work.

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

/// A safety rule: what it is called, what it says, and scripts that show what it means.
#[derive(Debug)]
pub struct Rule {
    /// Its id, as settings and verdicts name it.
    pub id: &'static str,
    /// Its group.
    pub group: Group,
    /// What is refused, in one sentence for the documentation.
    pub summary: &'static str,
    /// The sentence shown when it blocks.
    pub message: &'static str,
    /// How to say it so that it passes.
    pub suggestion: &'static str,
    /// Scripts it must block.
    pub fires: &'static [&'static str],
    /// Scripts that look alike and that it must allow.
    pub spares: &'static [&'static str],
    /// Whether a text has in it what this rule needs to fire on a command whose words are taken as they stand
    /// (`Script::grammar_only_commands`). May say yes too often and never no too often: it saves the second reading.
    needs: fn(&Written<'_>) -> bool,
    check: fn(&Ran, &Scene<'_>) -> Option<Hit>,
}

/// What a rule may look at besides the command.
struct Scene<'s> {
    context: &'s Context,
    /// All commands of the script, for rules in which one prepares another.
    all: &'s [Ran],
    /// The rules that are switched on.
    asked: &'s [&'s Rule],
    /// How many programs of other languages stand around this script.
    depth: u8,
    /// The directory the script begins in.
    base: Cow<'s, str>,
    /// Whether one of the commands makes pushes forced: found out once for all that ask, who may be thousands.
    forces_pushes: OnceCell<bool>,
    /// Whether a rule that is asked cares for one of the commands.
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

    /// Where a command may run: where it should, and where it does if a `cd` has failed unseen.
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

/// What a rule has found: the words that decide, and where they stand.
struct Hit {
    span: Span,
    words: Vec<String>,
    /// What to say instead of the rule's message and suggestion, where they do not fit this case.
    said: Option<(&'static str, &'static str)>,
}

impl Hit {
    /// A hit on these words of a command.
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
    /// The same, said in other words than the rule's.
    fn saying(self, message: &'static str, suggestion: &'static str) -> Hit {
        Hit {
            said: Some((message, suggestion)),
            ..self
        }
    }
}

/// Whether the command is git, or an unknown program that could be; the answer says which.
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

/// All safety rules, in the order in which they are asked.
pub fn rules() -> &'static [&'static Rule] {
    &RULES
}

/// Whether the script would do harm nobody meant, by the selected rules.
///
/// Never panics and never fails: what cannot be read is [`Verdict::Unreadable`].
pub fn check_safety(script: &Script<'_>, selection: &RuleSelection) -> Verdict {
    let asked: Vec<&Rule> = rules()
        .iter()
        .copied()
        .filter(|rule| selection.includes(rule))
        .collect();
    judged(script, &asked, grammar_only_commands)
}

/// The verdict of these rules, where `grammar_only_commands` says what only the grammar sees.
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

/// The commands that only the grammar sees, if one of the rules could fire on any.
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
