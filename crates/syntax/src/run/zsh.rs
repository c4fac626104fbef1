//! How text that only zsh can read is recorded, for the rule that refuses it.

use super::super::state::State;
use super::super::value::{Value, Why};
use super::call::Call;
use super::{Field, Machine};
use crate::{Context, Span};

/// Letters on zsh's command line that do not affect parsing.
const HARMLESS: &str = "cdefilmnpstuvx";

impl Machine<'_> {
    /// Records that a text was only read up to `from`, while zsh may read all of it: as a command of zsh.
    pub(in super::super) fn note_unread(&mut self, text: &str, from: usize) {
        let unread = text.get(from..).unwrap_or(text).trim_end();
        let span = self.origin.unwrap_or(Span {
            start: from,
            end: from + unread.len(),
        });
        self.note_zsh("zsh", [Value::unknown(Why::Zsh(unread.to_owned()))], span);
    }

    /// Records the options on zsh's command line as the builtin that sets them.
    pub(super) fn note_options(&mut self, call: &Call, operands: usize) {
        let mut options = Vec::new();
        let mut words = call.words.iter().take(operands).skip(1);
        while let Some(field) = words.next() {
            let text = field.value.prefix();
            let letters = text.trim_start_matches(['-', '+']);
            if text.starts_with("--") {
                options.push(Value::text(letters));
            } else if text.ends_with('o') {
                options.extend(words.next().map(|field| field.value.clone()));
            } else if !letters.chars().all(|letter| HARMLESS.contains(letter)) {
                options.push(Value::text(letters));
            }
        }
        let span = call.words.first().map(|field| field.span);
        if !options.is_empty() {
            self.note_zsh("setopt", options, span.unwrap_or_default());
        }
    }

    fn note_zsh(&mut self, name: &str, values: impl IntoIterator<Item = Value>, span: Span) {
        let words = std::iter::once(Value::text(name)).chain(values);
        let words = words.map(|value| Field { value, span }).collect();
        let Context {
            cwd, home, dialect, ..
        } = self.context;
        let st = State::new(cwd, home.as_deref(), *dialect);
        self.ran.push(Self::bare(words, &st));
    }
}
