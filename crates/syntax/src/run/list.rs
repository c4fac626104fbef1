//! And-or lists and pipelines: their order, and the output that one stage passes to the next.

use std::rc::Rc;

use super::super::ast::{Command, Link, List, ListEntry, WordPart};
use super::super::state::ShellState;
use super::super::value::{UnknownCause, Value};
use super::{Walker, directory};

impl Walker<'_> {
    /// Walks a list; returns its output.
    pub(super) fn list(&mut self, list: &List, shell: &mut ShellState) -> Value {
        let mut out = Value::default();
        // Within an and-or list, `shell` is the state if the last command succeeded, and `failed`
        // is the state if it failed.
        let mut failed: Option<ShellState> = None;
        for (index, entry) in list.entries.iter().enumerate() {
            match entry.link {
                Link::Next => {
                    if let Some(failed) = failed.take() {
                        *shell = directory::join_alternatives(shell.clone(), failed);
                    }
                    let is_chained = list
                        .entries
                        .get(index + 1)
                        .is_some_and(|next| next.link != Link::Next);
                    let before_cd =
                        directory::changes_directory(entry, shell).then(|| shell.clone());
                    out.extend(&self.entry(&entry.stages, entry.background, shell));
                    match before_cd {
                        Some(before) if is_chained => failed = Some(before),
                        Some(before) => directory::may_have_failed(&before, shell),
                        None if is_chained => {
                            let mut other = shell.clone();
                            end_impossible_path(entry, shell, &mut other);
                            failed = Some(other);
                        }
                        None => {}
                    }
                }
                Link::And => {
                    let before_cd =
                        directory::changes_directory(entry, shell).then(|| shell.clone());
                    out.extend(&self.entry(&entry.stages, entry.background, shell));
                    let other = before_cd.unwrap_or_else(|| {
                        let mut other = shell.clone();
                        end_impossible_path(entry, shell, &mut other);
                        other
                    });
                    failed = failed
                        .take()
                        .map(|before| directory::join_alternatives(before, other));
                }
                Link::Or => {
                    let mut other = failed.take().unwrap_or_else(|| shell.clone());
                    out.extend(&self.entry(&entry.stages, entry.background, &mut other));
                    let mut succeeded = other.clone();
                    end_impossible_path(entry, &mut succeeded, &mut other);
                    *shell = directory::join_alternatives(shell.clone(), succeeded);
                    failed = Some(other);
                }
            }
        }
        if let Some(failed) = failed {
            *shell = directory::join_alternatives(shell.clone(), failed);
        }
        out
    }

    /// Walks a pipeline; returns its output. A background pipeline runs in a subshell.
    fn entry(&mut self, stages: &[Command], background: bool, shell: &mut ShellState) -> Value {
        let (reads_pipe, output_is_used) = (self.reads_pipe, self.output_is_used);
        let is_background = std::mem::replace(&mut self.is_background, background);
        let out = match stages {
            [single] if background => self.command(single, &mut shell.clone()),
            [single] => self.command(single, shell),
            several => {
                let mut piped_output: Option<Value> = None;
                // The index of the first stage after which all stages only shorten the output.
                let first_cut = several
                    .iter()
                    .rposition(|stage| !only_cuts(stage))
                    .map_or(0, |last| last + 1);
                for (index, stage) in several.iter().enumerate() {
                    let mut inner = shell.clone();
                    self.output_is_used = output_is_used || index + 1 < first_cut;
                    if index > 0 {
                        inner.stdin = piped_output.take().map(Rc::new);
                        self.reads_pipe = true;
                    }
                    piped_output = Some(self.command(stage, &mut inner));
                    // Files that a stage writes exist for all following commands.
                    shell.files = Rc::clone(&inner.files);
                }
                piped_output.unwrap_or_default()
            }
        };
        (self.reads_pipe, self.output_is_used) = (reads_pipe, output_is_used);
        self.is_background = is_background;
        out
    }

    /// Walks a command; returns its output.
    pub(super) fn command(&mut self, command: &Command, shell: &mut ShellState) -> Value {
        self.nested(
            Value::unknown(UnknownCause::Limit),
            |walker| match command {
                Command::Simple(simple) => walker.simple(simple, shell),
                Command::Compound(compound) => walker.compound(compound, shell),
            },
        )
    }
}

/// Ends the failure path after `true` or `:`, and the success path after `false`. Commands of an
/// ended path are still recorded.
fn end_impossible_path(entry: &ListEntry, succeeded: &mut ShellState, failed: &mut ShellState) {
    let [Command::Simple(simple)] = entry.stages.as_slice() else {
        return;
    };
    let [word] = simple.words.as_slice() else {
        return;
    };
    let [WordPart::Bare(name)] = word.parts.as_slice() else {
        return;
    };
    if entry.prefixed
        || entry.background
        || !simple.redirs.is_empty()
        || succeeded.functions.contains_key(name)
    {
        return;
    }
    match name.as_str() {
        "true" | ":" => failed.ended = true,
        "false" => succeeded.ended = true,
        _ => {}
    }
}

/// True for `head`, `tail` and pagers, which only shorten their input.
fn only_cuts(stage: &Command) -> bool {
    let Command::Simple(simple) = stage else {
        return false;
    };
    let name = simple.words.first().map(|word| word.parts.as_slice());
    matches!(name, Some([WordPart::Bare(name)]) if matches!(name.as_str(), "head" | "tail" | "less" | "more"))
}
