//! And-or lists and pipelines: their order, and the output that one stage passes to the next.

use std::rc::Rc;

use super::super::ast::{Command, Link, List, ListEntry, WordPart};
use super::super::state::ShellState;
use super::super::value::{UnknownCause, Value};
use super::{Machine, directory};

impl Machine<'_> {
    /// Walks a list; returns its output.
    pub(super) fn list(&mut self, list: &List, st: &mut ShellState) -> Value {
        let mut out = Value::default();
        // Within an and-or list, `st` is the state if the last command succeeded, and `failed` is
        // the state if it failed.
        let mut failed: Option<ShellState> = None;
        for (index, entry) in list.entries.iter().enumerate() {
            match entry.link {
                Link::Next => {
                    if let Some(failed) = failed.take() {
                        *st = directory::join_alternatives(st.clone(), failed);
                    }
                    let is_chained = list
                        .entries
                        .get(index + 1)
                        .is_some_and(|next| next.link != Link::Next);
                    let before_cd = directory::changes_directory(entry, st).then(|| st.clone());
                    out.extend(&self.entry(&entry.stages, entry.background, st));
                    match before_cd {
                        Some(before) if is_chained => failed = Some(before),
                        Some(before) => directory::may_have_failed(&before, st),
                        None if is_chained => {
                            let mut other = st.clone();
                            end_impossible_path(entry, st, &mut other);
                            failed = Some(other);
                        }
                        None => {}
                    }
                }
                Link::And => {
                    let before_cd = directory::changes_directory(entry, st).then(|| st.clone());
                    out.extend(&self.entry(&entry.stages, entry.background, st));
                    let other = before_cd.unwrap_or_else(|| {
                        let mut other = st.clone();
                        end_impossible_path(entry, st, &mut other);
                        other
                    });
                    failed = failed
                        .take()
                        .map(|before| directory::join_alternatives(before, other));
                }
                Link::Or => {
                    let mut other = failed.take().unwrap_or_else(|| st.clone());
                    out.extend(&self.entry(&entry.stages, entry.background, &mut other));
                    let mut succeeded = other.clone();
                    end_impossible_path(entry, &mut succeeded, &mut other);
                    *st = directory::join_alternatives(st.clone(), succeeded);
                    failed = Some(other);
                }
            }
        }
        if let Some(failed) = failed {
            *st = directory::join_alternatives(st.clone(), failed);
        }
        out
    }

    /// Walks a pipeline; returns its output. A background pipeline runs in a subshell.
    fn entry(&mut self, stages: &[Command], background: bool, st: &mut ShellState) -> Value {
        let (piped, feeds) = (self.piped, self.feeds);
        let is_background = std::mem::replace(&mut self.is_background, background);
        let out = match stages {
            [single] if background => self.command(single, &mut st.clone()),
            [single] => self.command(single, st),
            several => {
                let mut piped_output: Option<Value> = None;
                // The index of the first stage after which all stages only shorten the output.
                let first_cut = several
                    .iter()
                    .rposition(|stage| !only_cuts(stage))
                    .map_or(0, |last| last + 1);
                for (index, stage) in several.iter().enumerate() {
                    let mut inner = st.clone();
                    self.feeds = feeds || index + 1 < first_cut;
                    if index > 0 {
                        inner.stdin = piped_output.take().map(Rc::new);
                        self.piped = true;
                    }
                    piped_output = Some(self.command(stage, &mut inner));
                    // Files that a stage writes exist for all following commands.
                    st.files = Rc::clone(&inner.files);
                }
                piped_output.unwrap_or_default()
            }
        };
        (self.piped, self.feeds) = (piped, feeds);
        self.is_background = is_background;
        out
    }

    /// Walks a command; returns its output.
    pub(super) fn command(&mut self, command: &Command, st: &mut ShellState) -> Value {
        self.nested(
            Value::unknown(UnknownCause::Limit),
            |machine| match command {
                Command::Simple(simple) => machine.simple(simple, st),
                Command::Compound(compound) => machine.compound(compound, st),
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
