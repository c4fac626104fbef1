//! Scripts within the script: command and process substitutions, and texts that bash executes.

use std::rc::Rc;

use super::super::ast::{Command, List, Substitution};
use super::super::reader::{self, Origin};
use super::super::state::{ShellState, Slot};
use super::super::value::{UnknownCause, Value};
use super::Machine;
use super::redirect::Input;

impl Machine<'_> {
    /// Returns the output of a command substitution, without trailing newlines.
    pub(in super::super) fn capture(&mut self, list: &List, st: &mut ShellState) -> Value {
        // `$(< file)`
        if let [entry] = list.entries.as_slice()
            && let [Command::Simple(simple)] = entry.stages.as_slice()
            && simple.words.is_empty()
            && simple.assigns.is_empty()
        {
            let redirected = self.redirections(&simple.redirs, st);
            let text = redirected.stdin.and_then(|Input(text)| text);
            return text
                .unwrap_or_else(|| Value::unknown(UnknownCause::Input))
                .without_final_newlines();
        }
        let feeds = std::mem::replace(&mut self.feeds, true);
        let out = self.nested(Value::unknown(UnknownCause::Limit), |machine| {
            let mut inner = st.clone();
            let out = machine.list(list, &mut inner);
            // Files that the substitution writes persist.
            st.files = inner.files;
            out
        });
        self.feeds = feeds;
        out.without_final_newlines()
    }

    /// Returns the value of a command substitution.
    pub(in super::super) fn substituted(
        &mut self,
        list: &List,
        form: Substitution,
        st: &mut ShellState,
    ) -> Value {
        if form == Substitution::Subshell {
            return self.capture(list, st);
        }
        let reply = st.var("REPLY").cloned();
        let feeds = std::mem::replace(&mut self.feeds, true);
        let out = self.nested(Value::unknown(UnknownCause::Limit), |machine| {
            machine.list(list, st)
        });
        self.feeds = feeds;
        // `return` only ends the substitution. After an `exit`, the rest of the script never runs;
        // walking it is harmless.
        st.ended = false;
        if form == Substitution::Shell {
            return out.without_final_newlines();
        }
        let value = match st.var("REPLY").cloned() {
            Some(slots) => match self.choose(&slots) {
                Some(Slot::Scalar(value)) => value.clone(),
                Some(Slot::Array(values)) => values.first().cloned().unwrap_or_default(),
                None => Value::default(),
            },
            None => Value::default(),
        };
        let vars = Rc::make_mut(&mut st.vars);
        match reply {
            Some(slots) => vars.insert(Rc::from("REPLY"), slots),
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
        st: &mut ShellState,
    ) -> Value {
        let mut inner = st.clone();
        if !reads {
            inner.stdin = None;
        }
        let feeds = std::mem::replace(&mut self.feeds, true);
        let out = self.nested(Value::unknown(UnknownCause::Limit), |machine| {
            machine.list(list, &mut inner)
        });
        self.feeds = feeds;
        let path = format!("/dev/fd/{}", self.next_fd);
        self.next_fd = self.next_fd.saturating_sub(1).max(10);
        if reads {
            Rc::make_mut(&mut st.files).insert(path.clone(), out);
        }
        Value::text(path)
    }

    /// Walks a text as a script in the current shell (`eval`, `trap`, `source`).
    pub(in super::super) fn script(&mut self, text: &Value, st: &mut ShellState) -> Value {
        if text.is_empty() {
            return Value::default();
        }
        self.nested(Value::unknown(UnknownCause::Limit), |machine| {
            let span = machine.origin.unwrap_or_default();
            let source = text.script();
            machine.charge(source.len());
            let origin = Origin::Generated(span);
            let reading = reader::read(&source, origin, &machine.budget, 0);
            match reading.problem {
                Some((reader::ReadProblem::Limit, _)) => machine.incomplete = true,
                Some((reader::ReadProblem::Syntax, _)) => machine.broken_text = true,
                None => {}
            }
            machine.list(&reading.list, st)
        })
    }

    /// Follows the substitutions in a text that bash expands a second time (`${x@P}`, `let`, `test
    /// -v`).
    pub(in super::super) fn evaluate_text(&mut self, text: &Value, st: &mut ShellState) -> Value {
        let source = text.script();
        if !source.contains(['$', '`']) {
            return text.clone();
        }
        self.nested(Value::unknown(UnknownCause::Limit), |machine| {
            let span = machine.origin.unwrap_or_default();
            let parts = reader::read_text(&source, Origin::Generated(span), &machine.budget);
            machine.expand_unsplit(&parts, st)
        })
    }
}
