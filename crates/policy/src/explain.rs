//! Explains a script as text and as data: its parsed commands, the verdict of each rule, and the
//! reason.
//!
//! [`Policy`] makes all decisions.

use std::fmt;

use agent_bash_core::visible::{one_line, shown};
use serde::Serialize;

use crate::agreement::{Agreement, agreement};
use crate::excerpt::marked_lines;
use crate::expanded::{ExpandedDefinition, expanded_definitions};
use crate::policy::{Policy, decided};
use crate::safety::{RuleSelection, check_safety, rules};
use crate::syntax::run::ResolvedCommand;
use crate::syntax::value::{Value, ValuePiece};
use crate::{Check, Script, Span, Verdict};

/// A command as it was parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadCommand {
    /// The command's resolved words on one line. For a command without words, its redirections.
    pub text: String,
    /// The command's position in the script.
    pub span: Span,
    /// The command's working directory, if it differs from the script's.
    pub cwd: Option<String>,
    /// The programs that start the command (such as `sudo`), outermost first.
    pub through: Vec<String>,
    /// The command's parts that are unknown until it runs.
    pub unknown: Vec<String>,
}

/// A safety rule's verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleVerdict {
    /// The rule.
    pub rule: &'static str,
    /// True if the settings enable the rule.
    pub is_enabled: bool,
    /// The part of the script that the rule blocks; `None` if the rule allows the script.
    pub blocks: Option<Span>,
}

/// The verdicts on a script and the facts that led to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The script.
    pub script: String,
    /// The overall verdict.
    pub verdict: Verdict,
    /// The verdict of each check.
    pub answers: Vec<(Check, Verdict)>,
    /// The verdict of each safety rule, enabled or not.
    pub rules: Vec<RuleVerdict>,
    /// The definitions that the shell has before the script, and that the script uses.
    pub definitions: Vec<ExpandedDefinition>,
    /// The parsed commands.
    pub commands: Vec<ReadCommand>,
    /// True if both parsers found the same commands.
    pub readers_agree: bool,
    /// Remarks on effects and parts of the script that the verdict does not cover.
    pub remarks: Vec<String>,
}

/// The largest number of commands that are listed: a loop can produce thousands.
const MAX_COMMANDS: usize = 100;

/// Explains a script.
pub fn explain(read: &Script<'_>, policy: &Policy) -> Explanation {
    let answers = policy.verdicts(read);
    let rules = rules()
        .iter()
        .map(|rule| {
            let mut only_this_rule = RuleSelection::none();
            // Cannot fail: the id comes from the rules.
            let is_known = only_this_rule.switch(rule.id, true).is_ok();
            let blocks = match check_safety(read, &only_this_rule) {
                Verdict::Block(finding) if is_known => Some(finding.span),
                _ => None,
            };
            let selection = policy.safety.as_ref();
            RuleVerdict {
                rule: rule.id,
                is_enabled: selection.is_some_and(|selection| selection.includes(rule)),
                blocks,
            }
        })
        .collect();
    let mut remarks = Vec::new();
    let mut names = read.commands.iter().filter_map(ResolvedCommand::name);
    if policy.safe_mode.is_some() && names.any(runs_project_code) {
        remarks.push("a test runner runs the project's own code, whatever that does".to_owned());
    }
    if read.over_limit {
        remarks
            .push("the script is too long or too deeply nested to be read to its end".to_owned());
    }
    if read.commands.len() > MAX_COMMANDS {
        remarks.push(format!(
            "{} more commands are not listed",
            read.commands.len() - MAX_COMMANDS
        ));
    }
    let base = read.context.cwd.to_string_lossy();
    Explanation {
        script: read.parsed.text.to_owned(),
        verdict: decided(answers.clone()),
        answers,
        rules,
        definitions: expanded_definitions(read),
        commands: read
            .commands
            .iter()
            .take(MAX_COMMANDS)
            .map(|command| read_command(command, &base))
            .collect(),
        readers_agree: agreement(&read.parsed) == Agreement::Same,
        remarks,
    }
}

fn runs_project_code(name: &str) -> bool {
    matches!(name, "npm" | "pytest" | "swift" | "xcodebuild")
}

fn read_command(command: &ResolvedCommand, base: &str) -> ReadCommand {
    let words = command.words.iter().map(|field| ("", &field.value));
    let redirections = command.redirections.iter();
    let redirections = redirections
        .filter(|_| command.words.is_empty())
        .map(|redirection| (redirection.operator, &redirection.target));
    let parts: Vec<(&str, &Value)> = words.chain(redirections).collect();
    let texts = parts.iter().map(|(operator, value)| {
        let text = format!("{operator} {}", quoted(&value.to_string()));
        text.trim_start().to_owned()
    });
    let pieces = parts.iter().flat_map(|(_, value)| value.pieces());
    let unknown = pieces.filter_map(|piece| match piece {
        ValuePiece::Unknown { why, .. } => Some(why.to_string()),
        _ => None,
    });
    ReadCommand {
        text: texts.collect::<Vec<_>>().join(" "),
        span: command.span,
        cwd: match &command.cwd {
            Some(cwd) if **cwd == *base => None,
            Some(cwd) if !Value::text(&**cwd).has_unknown() => Some(cwd.to_string()),
            _ => Some("a directory that is not known".to_owned()),
        },
        through: command.started_by.clone(),
        unknown: unknown.collect(),
    }
}

/// Returns a word in a form that fits on one line.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty()
        && !word.contains(|c: char| c.is_whitespace() || "'\"\\;&|<>()".contains(c));
    if plain {
        one_line(word).into_owned()
    } else {
        one_line(&format!("{word:?}")).into_owned()
    }
}

impl Explanation {
    /// Returns the exit code of `agent-bash check`: 0 allowed, 1 refused, 2 unreadable.
    pub fn exit_code(&self) -> u8 {
        match self.verdict {
            Verdict::Allow => 0,
            Verdict::Block(_) => 1,
            Verdict::Unreadable(_) => 2,
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict.finding() {
            None => writeln!(out, "allowed")?,
            Some(finding) => {
                let verb = match self.verdict {
                    Verdict::Block(_) => "blocked",
                    _ => "not readable",
                };
                let group = finding.group.map(|group| format!(", {group}"));
                let (check, group) = (check_name(finding.check), group.unwrap_or_default());
                writeln!(out, "{verb}: {} ({check}{group})\n", finding.rule)?;
                for line in marked_lines(&self.script, finding.span) {
                    writeln!(out, "  {:>4} | {}", line.number, line.text)?;
                    writeln!(out, "       | {}", line.mark)?;
                }
                writeln!(out, "\n  {}", shown(&finding.message))?;
                if !finding.words.is_empty() {
                    writeln!(out, "  decided by: {}", one_line(&finding.words.join(" ")))?;
                }
                if !finding.suggestion.is_empty() {
                    writeln!(out, "  instead: {}", shown(&finding.suggestion))?;
                }
            }
        }
        if !self.definitions.is_empty() {
            writeln!(out, "\ndefined before the script")?;
        }
        for definition in &self.definitions {
            let ExpandedDefinition { kind, name, text } = definition;
            writeln!(out, "  {kind} {}: {}", one_line(name), one_line(text))?;
        }
        writeln!(out, "\nread")?;
        for command in &self.commands {
            write!(out, "  {}", command.text)?;
            let cwd = command.cwd.iter();
            let mut notes: Vec<String> = cwd.map(|cwd| format!("in {}", one_line(cwd))).collect();
            if !command.through.is_empty() {
                notes.push(format!("through {}", one_line(&command.through.join(", "))));
            }
            let unknown = command.unknown.iter();
            notes.extend(unknown.map(|unknown| format!("not known: {unknown}")));
            if !notes.is_empty() {
                write!(out, "    ({})", notes.join("; "))?;
            }
            writeln!(out)?;
        }
        if self.commands.is_empty() {
            writeln!(out, "  no command")?;
        }
        if !self.readers_agree {
            writeln!(
                out,
                "  the two readers do not agree on this script; safe mode refuses it"
            )?;
        }
        writeln!(out, "\nchecks")?;
        for (check, verdict) in &self.answers {
            let name = check_name(*check);
            let rule = verdict
                .finding()
                .map_or("", |finding| finding.rule.as_str());
            let result = format!("{} {rule}", verdict.name());
            writeln!(out, "  {name:<12} {}", result.trim_end())?;
            if *check == Check::Safety {
                for answer in &self.rules {
                    let effect = match (answer.is_enabled, answer.blocks.is_some()) {
                        (true, true) => "blocks",
                        (false, true) => "would block, but is off",
                        (_, false) => continue,
                    };
                    writeln!(out, "    {:<28} {effect}", answer.rule)?;
                }
            }
        }
        for remark in &self.remarks {
            writeln!(out, "\nnote: {remark}")?;
        }
        Ok(())
    }
}

/// Returns the name of a check for people.
fn check_name(check: Check) -> &'static str {
    match check {
        Check::Safety => "safety",
        Check::SafeMode => "safe mode",
        Check::Interceptor => "interceptor",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    #[test]
    fn explanation_names_rule_words_and_alternative() {
        let context = Context::new("/home/u/project").with_home("/home/u");
        let explanation = explain(
            &Script::read("cd src && sudo rm -rf \"$X\"", &context),
            &Policy::standard(),
        );
        let text = explanation.to_string();
        for part in [
            "blocked: no_dangerous_rm (safety, core)",
            "^^^",
            "decided by: rm $X",
            "instead: ",
            "through sudo",
            "not known: the value of $X",
            "in /home/u/project/src",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert_eq!(explanation.exit_code(), 1);
        assert_eq!(
            explain(&Script::read("ls", &context), &Policy::standard()).exit_code(),
            0
        );
        assert_eq!(
            explain(&Script::read("echo 'a", &context), &Policy::standard()).exit_code(),
            2
        );
    }

    #[test]
    fn disabled_rule_is_mentioned() {
        let context = Context::new("/home/u/project");
        let explanation = explain(
            &Script::read("git reset --hard", &context),
            &Policy::standard(),
        );
        assert_eq!(explanation.verdict, Verdict::Allow);
        assert!(
            explanation.to_string().contains("no_hard_reset"),
            "{explanation}"
        );
    }
}
