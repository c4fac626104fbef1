//! Scripts within the script: command and process substitutions, and texts that bash executes.

use std::rc::Rc;

use super::super::ast::{Command, List, Substitution};
use super::super::reader::{self, Origin};
use super::super::state::{ShellState, VariableValue};
use super::super::value::{UnknownCause, Value};
use super::Walker;
use super::redirect::RedirectedStdin;

impl Walker<'_> {
    /// Returns the output of a command substitution, without trailing newlines.
    pub(in super::super) fn capture(&mut self, list: &List, shell: &mut ShellState) -> Value {
        // `$(< file)`
        if let [entry] = list.entries.as_slice()
            && let [Command::Simple(simple)] = entry.stages.as_slice()
            && simple.words.is_empty()
            && simple.assigns.is_empty()
        {
            let redirected = self.redirections(&simple.redirs, shell);
            let text = redirected.stdin.and_then(|RedirectedStdin(text)| text);
            return text
                .unwrap_or_else(|| Value::unknown(UnknownCause::Input))
                .without_final_newlines();
        }
        let output_is_used = std::mem::replace(&mut self.output_is_used, true);
        let out = self.nested(Value::unknown(UnknownCause::Limit), |walker| {
            let mut inner = shell.clone();
            let out = walker.list(list, &mut inner);
            // Files that the substitution writes persist.
            shell.files = inner.files;
            out
        });
        self.output_is_used = output_is_used;
        out.without_final_newlines()
    }

    /// Returns the value of a command substitution.
    pub(in super::super) fn substituted(
        &mut self,
        list: &List,
        form: Substitution,
        shell: &mut ShellState,
    ) -> Value {
        if form == Substitution::Subshell {
            return self.capture(list, shell);
        }
        let reply = shell.var("REPLY").cloned();
        let output_is_used = std::mem::replace(&mut self.output_is_used, true);
        let out = self.nested(Value::unknown(UnknownCause::Limit), |walker| {
            walker.list(list, shell)
        });
        self.output_is_used = output_is_used;
        // `return` only ends the substitution. After an `exit`, the rest of the script never runs;
        // walking it is harmless.
        shell.ended = false;
        if form == Substitution::Shell {
            return out.without_final_newlines();
        }
        let value = match shell.var("REPLY").cloned() {
            Some(possible) => match self.choose(&possible) {
                Some(VariableValue::Scalar(value)) => value.clone(),
                Some(VariableValue::Array(values)) => values.first().cloned().unwrap_or_default(),
                None => Value::default(),
            },
            None => Value::default(),
        };
        let vars = Rc::make_mut(&mut shell.vars);
        match reply {
            Some(possible) => vars.insert(Rc::from("REPLY"), possible),
            None => vars.remove("REPLY"),
        };
        value
    }

    /// Returns the path of `<( … )`, a file with the output of `list`, or of `>( … )`, a file that
    /// `list` reads.
    pub(in super::super) fn process_substitution(
        &mut self,
        list: &List,
        reads: bool,
        shell: &mut ShellState,
    ) -> Value {
        let mut inner = shell.clone();
        if !reads {
            inner.stdin = None;
        }
        let output_is_used = std::mem::replace(&mut self.output_is_used, true);
        let out = self.nested(Value::unknown(UnknownCause::Limit), |walker| {
            walker.list(list, &mut inner)
        });
        self.output_is_used = output_is_used;
        let path = format!("/dev/fd/{}", self.next_fd);
        self.next_fd = self.next_fd.saturating_sub(1).max(10);
        if reads {
            Rc::make_mut(&mut shell.files).insert(path.clone(), out);
        }
        Value::text(path)
    }

    /// Walks a text as a script in the current shell (`eval`, `trap`, `source`).
    pub(in super::super) fn script(&mut self, text: &Value, shell: &mut ShellState) -> Value {
        if text.is_empty() {
            return Value::default();
        }
        self.nested(Value::unknown(UnknownCause::Limit), |walker| {
            let span = walker.origin.unwrap_or_default();
            let source = text.script();
            walker.charge(source.len());
            let origin = Origin::Generated(span);
            let reading = reader::read(&source, origin, &walker.budget, 0);
            match reading.problem {
                Some((reader::ReadProblem::Limit, _)) => walker.incomplete = true,
                Some((reader::ReadProblem::Syntax, _)) => walker.broken_text = true,
                None => {}
            }
            walker.list(&reading.list, shell)
        })
    }

    /// Follows the substitutions in a text that bash expands a second time (`${x@P}`, `let`, `test
    /// -v`).
    pub(in super::super) fn evaluate_text(
        &mut self,
        text: &Value,
        shell: &mut ShellState,
    ) -> Value {
        let source = text.script();
        if !source.contains(['$', '`']) {
            return text.clone();
        }
        self.nested(Value::unknown(UnknownCause::Limit), |walker| {
            let span = walker.origin.unwrap_or_default();
            let parts = reader::read_text(&source, Origin::Generated(span), &walker.budget);
            walker.expand_unsplit(&parts, shell)
        })
    }
}
