//! Checks scripts against the selected rules: turns their findings into a [`Verdict`].

use super::rule::{Rule, RuleFinding, RuleInput};
use super::selection::RuleSelection;
use super::user_rules::{UserRule, UserRuleVerdict};
use super::{rules, touched_paths};
use crate::syntax::run::ResolvedCommand;
use crate::{Finding, Script, Span, Verdict};
use std::path::PathBuf;

/// Checks a script against the selected rules.
///
/// Never panics and never fails: a script that cannot be parsed is [`Verdict::Unreadable`].
pub fn check_safety(script: &Script<'_>, selection: &RuleSelection) -> Verdict {
    let enabled: Vec<&Rule> = rules()
        .iter()
        .copied()
        .filter(|rule| selection.includes(rule))
        .collect();
    let enabled = &enabled;
    let input = RuleInput::new(script, rules(), enabled, 0);
    let blocked = |commands: &[ResolvedCommand]| {
        commands.iter().find_map(|command| {
            let found = |rule: &&Rule| rule.check(command, &input).map(|hit| finding(rule, hit));
            let mut user_rules = selection.with_verdict(UserRuleVerdict::Refuse);
            let found = enabled.iter().find_map(found);
            found.or_else(|| user_rules.find_map(|rule| rule.check(command, &input)))
        })
    };
    if let Some(mut finding) =
        blocked(&script.commands).or_else(|| blocked(&script.scanned_commands))
    {
        // Only built-in rules have a group. A rule of the user may concern more than files.
        if finding.group.is_some() {
            finding.paths = refused_paths(script, &input).unwrap_or_default();
        }
        return Verdict::Block(finding);
    }
    if script.over_limit || script.syntax_error.is_some() {
        let start = script.syntax_error.unwrap_or(0);
        let (message, suggestion) = if script.over_limit {
            (
                "the script is too long or too deeply nested to be read",
                "write it in smaller steps",
            )
        } else {
            (
                "the script has a syntax error",
                "`bash -n` says what bash expects there",
            )
        };
        return Verdict::Unreadable(Finding {
            rule: "unreadable".to_owned(),
            message: message.to_owned(),
            suggestion: suggestion.to_owned(),
            span: Span { start, end: start },
            ..Finding::default()
        });
    }
    Verdict::Allow
}

/// Returns the advice of the user's rules on a script that may run, at most once for each rule.
pub fn advice(script: &Script<'_>, selection: &RuleSelection) -> Vec<Finding> {
    let input = RuleInput::new(script, rules(), &[], 0);
    let rules = selection.with_verdict(UserRuleVerdict::Advise);
    let first = |rule: &UserRule| {
        let mut commands = script.commands.iter();
        commands.find_map(|command| rule.check(command, &input))
    };
    rules.filter_map(first).collect()
}

/// Returns a rule's finding with the texts of the rule.
fn finding(rule: &Rule, hit: RuleFinding) -> Finding {
    let (message, suggestion) = hit.wording.unwrap_or((rule.message, rule.suggestion));
    Finding {
        rule: rule.id.to_owned(),
        group: Some(rule.group),
        message: message.to_owned(),
        suggestion: suggestion.to_owned(),
        span: hit.span,
        words: hit.words,
        ..Finding::default()
    }
}

/// Returns the paths that all commands of a refused script touch, because all would run in the same
/// trial. `None` if the paths of a command are unknown, or if a command affects more than files.
fn refused_paths(script: &Script<'_>, input: &RuleInput<'_>) -> Option<Vec<PathBuf>> {
    if input.is_broken || script.over_limit || script.syntax_error.is_some() {
        return None;
    }
    let mut paths = Vec::new();
    for command in &script.commands {
        let is_refused = |rule: &&Rule| rule.check(command, input).is_some();
        paths.extend(if input.enabled.iter().any(is_refused) {
            touched_paths::of_refused(command, input)?
        } else {
            touched_paths::of_allowed(command, input)?
        });
    }
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    #[test]
    fn facts_about_all_commands_are_computed_once() {
        let context = Context::new("/home/u/project");
        for (text, forces) in [
            ("git push; git push", Some(false)),
            ("git config remote.origin.push +main; git push", Some(true)),
            ("git status; ls", None),
        ] {
            let script = Script::read(text, &context);
            let input = RuleInput::new(&script, rules(), rules(), 0);
            for command in &script.commands {
                for rule in rules() {
                    rule.check(command, &input);
                }
            }
            assert_eq!(input.forces_pushes.get(), forces.as_ref(), "{text}");
        }
    }
}
