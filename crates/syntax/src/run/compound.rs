//! Compound commands: every branch is taken, and a loop is walked once per known value.

use std::rc::Rc;

use super::super::ast::{Arm, Compound, CompoundKind, Link, List, Word, WordPart};
use super::super::state::{MAX_POSSIBLE_VALUES, ShellState, VariableValue};
use super::super::value::{UnknownCause, Value};
use super::redirect::RedirectedStdin;
use super::{Walker, directory};

impl Walker<'_> {
    pub(super) fn compound(&mut self, compound: &Compound, shell: &mut ShellState) -> Value {
        let redirected = self.redirections(&compound.redirs, shell);
        let before = (!redirected.list.is_empty()).then(|| shell.clone());
        let outer = (shell.stdin.clone(), self.reads_pipe);
        if let Some(RedirectedStdin(stdin)) = &redirected.stdin {
            shell.stdin = stdin.clone().map(Rc::new);
            self.reads_pipe = false;
        }
        let out = self.compound_kind(&compound.kind, shell);
        // Without a redirection, an `exec < file` in the body applies to the following commands.
        if redirected.stdin.is_some() {
            (shell.stdin, self.reads_pipe) = outer;
        }
        if let Some(before) = before {
            self.record_redirections(
                &redirected,
                out.is_empty() && redirected.stdout.is_some(),
                &before,
            );
        }
        Self::deliver(out, &redirected, shell)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of command")]
    fn compound_kind(&mut self, kind: &CompoundKind, shell: &mut ShellState) -> Value {
        match kind {
            CompoundKind::Group(list) => self.list(list, shell),
            CompoundKind::Subshell(list) => {
                let mut inner = shell.clone();
                let out = self.list(list, &mut inner);
                shell.files = inner.files;
                out
            }
            CompoundKind::If {
                branches,
                otherwise,
            } => {
                let mut out = Value::default();
                let mut joined: Option<ShellState> = None;
                for (condition, body) in branches {
                    // The condition may check whether a `cd` has failed.
                    let otherwise = shell.cwd_if_cd_failed.clone();
                    out.extend(&self.list(condition, shell));
                    let mut inner = shell.clone();
                    if checks_success(condition, false) {
                        inner.cwd_if_cd_failed.clone_from(&otherwise);
                    }
                    out.extend(&self.list(body, &mut inner));
                    if inner.ended && checks_success(condition, true) {
                        shell.cwd_if_cd_failed = otherwise;
                    }
                    joined = Some(join(joined, inner));
                }
                if let Some(otherwise) = otherwise {
                    out.extend(&self.list(otherwise, shell));
                }
                *shell = join(joined, shell.clone());
                uncertain(out)
            }
            CompoundKind::While { condition, body } => {
                let mut out = Value::default();
                // The second round uses the assignments of the first round.
                for _ in 0..2 {
                    let before = shell.clone();
                    out.extend(&self.list(condition, shell));
                    out.extend(&self.list(body, shell));
                    shell.ended = false;
                    let has_changed =
                        !Rc::ptr_eq(&before.vars, &shell.vars) || before.cwd != shell.cwd;
                    if !has_changed {
                        break;
                    }
                    *shell = before.join(shell.clone());
                }
                uncertain(out)
            }
            CompoundKind::For { name, words, body } => {
                let values = match words {
                    Some(words) => self.every_choice(words, shell),
                    None => match shell.positional.as_ref() {
                        Some(values) => values.to_vec(),
                        None => vec![Value::unknown(UnknownCause::Variable("@".to_owned()))],
                    },
                };
                let mut out = Value::default();
                for value in values {
                    if self.steps == 0 {
                        self.incomplete = true;
                        break;
                    }
                    shell.set(name, VariableValue::Scalar(value));
                    out.extend(&self.list(body, shell));
                    shell.ended = false;
                }
                out
            }
            CompoundKind::CountedFor { header, body } => {
                self.arithmetic(header, shell);
                let out = self.list(body, shell);
                shell.ended = false;
                uncertain(out)
            }
            CompoundKind::Case { subject, arms } => {
                self.expand_unsplit(&subject.parts, shell);
                let mut out = Value::default();
                let mut joined: Option<ShellState> = None;
                // The state after an earlier arm that falls through.
                let mut fallthrough: Option<ShellState> = None;
                for arm in arms {
                    for pattern in &arm.patterns {
                        self.expand_unsplit(&pattern.parts, shell);
                    }
                    let mut inner = join(fallthrough.clone(), shell.clone());
                    out.extend(&self.list(&arm.body, &mut inner));
                    if arm.falls_through {
                        fallthrough = Some(join(fallthrough, inner.clone()));
                    }
                    joined = Some(join(joined, inner));
                }
                *shell = match joined {
                    Some(joined) if arms.iter().any(matches_everything) => joined,
                    joined => join(joined, shell.clone()),
                };
                uncertain(out)
            }
            CompoundKind::Function { name, body } => {
                Rc::make_mut(&mut shell.functions).insert(name.clone(), body.clone());
                Value::default()
            }
            CompoundKind::Condition(words) => {
                let values: Vec<Value> = words
                    .iter()
                    .map(|word| self.expand_unsplit(&word.parts, shell))
                    .collect();
                self.subscripts(&values, shell);
                directory::mark_tested(&values, shell);
                Value::default()
            }
            CompoundKind::Arithmetic(parts) => {
                self.arithmetic(parts, shell);
                Value::default()
            }
            CompoundKind::Coprocess(command) => {
                self.command(command, &mut shell.clone());
                Value::default()
            }
        }
    }

    /// Returns the fields of words for each possible value of their variables.
    fn every_choice(&mut self, words: &[Word], shell: &mut ShellState) -> Vec<Value> {
        let outer = (self.choice, self.rounds);
        (self.choice, self.rounds) = (0, 1);
        let mut out: Vec<Value> = Vec::new();
        while self.choice < self.rounds {
            for word in words {
                for value in self.fields(word, shell) {
                    // Equal values are removed only from short lists. Walking a value twice is
                    // harmless.
                    if self.choice == 0
                        || out.len() > MAX_POSSIBLE_VALUES * MAX_POSSIBLE_VALUES
                        || !out.contains(&value)
                    {
                        out.push(value);
                    }
                }
            }
            self.choice += 1;
        }
        (self.choice, self.rounds) = outer;
        out
    }
}

/// True if the body runs only after the last command of the condition succeeded (if `negated`,
/// failed).
fn checks_success(condition: &List, negated: bool) -> bool {
    condition
        .entries
        .last()
        .is_some_and(|entry| entry.link == Link::Next && entry.prefixed == negated)
}

/// True for `*)`: this arm or an earlier arm always runs.
fn matches_everything(arm: &Arm) -> bool {
    let star = |word: &Word| matches!(word.parts.as_slice(), [WordPart::Bare(text)] if text == "*");
    arm.patterns.iter().any(star)
}

fn join(joined: Option<ShellState>, other: ShellState) -> ShellState {
    match joined {
        Some(joined) => joined.join(other),
        None => other,
    }
}

/// Returns an unknown value in place of output that may be printed partially or repeatedly.
fn uncertain(out: Value) -> Value {
    if out.is_empty() {
        out
    } else if out.is_fetched() {
        Value::unknown(UnknownCause::Fetched)
    } else {
        Value::unknown(UnknownCause::Output)
    }
}
