//! Rules from settings: a program, its arguments, and the texts of a refusal.

use serde::{Deserialize, Serialize};

use super::command_line::{Action, has_option, is_one_of};
use super::rule::{RuleFinding, RuleInput, program_name};
use crate::Finding;
use crate::syntax::run::ResolvedCommand;

/// A rule from the settings of the user or of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// The commands that the rule applies to.
    #[serde(rename = "match")]
    pub pattern: CommandPattern,
    /// The reason, for the model.
    pub say: String,
    /// The alternative; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instead: String,
    /// The effect of the rule: whether the command runs.
    #[serde(default)]
    pub verdict: UserRuleVerdict,
}

/// The effect of a rule from the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserRuleVerdict {
    /// The command does not run.
    #[default]
    Refuse,
    /// The command runs, and the model reads the reason.
    Advise,
}

/// A pattern for resolved commands: launchers, aliases and quotes make no difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandPattern {
    /// The program's name: `a|b` matches `a` and `b`, `*` matches any text.
    pub program: String,
    /// The arguments that must all be present. The first word is the subcommand; the others are
    /// options in any spelling, or words. `a|b` matches `a` and `b`, `*` matches any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The arguments with which the rule does not apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

/// The name of all rules from settings in verdicts.
const USER_RULE: &str = "user_rule";

impl UserRule {
    /// Returns a finding if a command matches the rule's pattern.
    pub(super) fn check(
        &self,
        command: &ResolvedCommand,
        input: &RuleInput<'_>,
    ) -> Option<Finding> {
        let name = program_name(command)?;
        let pattern = &self.pattern;
        if !is_one_of(name, &pattern.program) {
            return None;
        }
        let is_word = |argument: &&String| !argument.starts_with('-');
        let subcommand = pattern.arguments.iter().find(is_word);
        let action = Action {
            programs: vec![name.to_owned()],
            words: subcommand.cloned().into_iter().collect(),
            ..Action::default()
        };
        let is_present = |argument: &str| {
            let mut alternatives = argument.split('|');
            alternatives.any(|option| has_option(command.arguments(), option))
        };
        let mut others = pattern.arguments.iter();
        let holds = others.all(|argument| Some(argument) == subcommand || is_present(argument))
            && !pattern.without.iter().any(|argument| is_present(argument))
            && (subcommand.is_none() || action.is_performed_by(command, &input.path_base(command)));
        let hit = holds.then(|| RuleFinding::on(command, command.arguments()))?;
        Some(Finding {
            rule: USER_RULE.to_owned(),
            message: self.say.clone(),
            suggestion: self.instead.clone(),
            span: hit.span,
            words: hit.words,
            ..Finding::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, RuleSelection, Script, advice, check_safety};

    #[test]
    fn user_rule_refuses_resolved_commands() {
        // A program, its arguments, and after `!` the arguments without which the rule applies.
        let pattern = |text: &str| {
            let mut words = text.split(' ');
            let program = words.next().unwrap().to_owned();
            let (without, arguments) = words.partition::<Vec<_>, _>(|word| word.starts_with('!'));
            CommandPattern {
                program,
                arguments: arguments.into_iter().map(str::to_owned).collect(),
                without: without
                    .into_iter()
                    .map(|word| word[1..].to_owned())
                    .collect(),
            }
        };
        let apply = "terraform|tofu apply !-target";
        let push = "git push origin main|master";
        for (text, script, is_refused) in [
            (apply, "terraform apply", true),
            (apply, "terraform -chdir=x apply -auto-approve", true),
            (apply, "sudo env A=b tofu apply", true),
            (apply, "x=terraform; $x 'apply'", true),
            (apply, "ssh host 'cd x && terraform apply'", true),
            (apply, "docker exec c terraform apply", true),
            (apply, "terraform apply -target=x", false),
            (apply, "terraform plan", false),
            (apply, "echo terraform apply", false),
            ("npm publish !--dry-run", "npm publish", true),
            ("npm publish !--dry-run", "npm publish --dry-run", false),
            (push, "git -C x push origin main", true),
            (push, "git push origin dev", false),
            ("curl -k|--insecure", "curl -sk https://x", true),
            ("curl -k|--insecure", "curl https://x", false),
            (
                "kubectl --context*prod*",
                "kubectl --context=prod-1 get pods",
                true,
            ),
            ("make", "make -j4 all", true),
        ] {
            let mut rules = RuleSelection::none();
            rules.add_user_rules([UserRule {
                pattern: pattern(text),
                say: "no".to_owned(),
                instead: String::new(),
                verdict: UserRuleVerdict::Refuse,
            }]);
            let context = Context::new("/w");
            let verdict = check_safety(&Script::read(script, &context), &rules);
            assert_eq!(verdict.refuses(), is_refused, "{text} {script}");
        }
    }

    #[test]
    fn advising_rule_refuses_nothing_and_is_shown_once() {
        let mut rules = RuleSelection::none();
        rules.add_user_rules([UserRule {
            pattern: CommandPattern {
                program: "pip|pip3".to_owned(),
                arguments: vec!["install".to_owned()],
                without: Vec::new(),
            },
            say: "this project uses uv".to_owned(),
            instead: "uv add".to_owned(),
            verdict: UserRuleVerdict::Advise,
        }]);
        let context = Context::new("/w");
        for (script, count) in [("pip install x; sudo pip3 install y", 1), ("pip list", 0)] {
            let script = Script::read(script, &context);
            assert_eq!(check_safety(&script, &rules), crate::Verdict::Allow);
            let advice = advice(&script, &rules);
            assert_eq!(advice.len(), count);
            assert!(
                advice
                    .iter()
                    .all(|one| one.message == "this project uses uv")
            );
        }
    }
}
