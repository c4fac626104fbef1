//! Turns words into fields in bash's order: braces, tilde, parameters and substitutions, splitting,
//! active glob characters.
//!
//! Substitutions are *followed* here: their commands are listed, and their output is used if it is
//! known, as for `$(echo rm)`. The file system is never consulted: a glob remains a glob.

mod brace;
mod parameter;

use crate::ast::{Word, WordPart};
use crate::pattern::push_globbed;
use crate::run::{Walker, is_assignment};
use crate::state::{ShellState, VariableValue};
use crate::value::{UnknownCause, Value, ValuePiece};

/// The result of expanding a parameter.
pub(super) enum Expansion {
    /// One value.
    One(Value),
    /// The elements of `"$@"` or `"${a[@]}"`, which stay separate even in quotes.
    Many(Vec<Value>),
}

/// Collects the fields of one word.
struct Fields<'a> {
    /// The characters of `IFS`.
    separators: &'a str,
    done: Vec<Value>,
    current: Value,
    /// True if the current field is kept even if it is empty, because a part of the field is
    /// quoted.
    keeps_empty: bool,
}

impl Fields<'_> {
    fn end_field(&mut self) {
        if self.keeps_empty || !self.current.is_empty() {
            self.done.push(std::mem::take(&mut self.current));
        }
        self.keeps_empty = false;
    }

    /// Adds the value of an unquoted expansion: split at `IFS` characters, with glob characters
    /// active.
    fn push_splitting(&mut self, value: &Value) {
        for piece in value.pieces() {
            match piece {
                ValuePiece::Text(text) => {
                    for (index, part) in text.split(|c| self.separators.contains(c)).enumerate() {
                        if index > 0 {
                            self.end_field();
                        }
                        push_globbed(&mut self.current, part);
                    }
                }
                ValuePiece::Glob(glob) => self.current.push_glob(glob),
                ValuePiece::Unknown { why, .. } => self.current.push_unknown(why.clone(), true),
            }
        }
    }
}

impl Walker<'_> {
    /// Expands a word into its fields: none, one or many.
    pub(super) fn fields(&mut self, word: &Word, shell: &mut ShellState) -> Vec<Value> {
        if let Some(value) = plain(word) {
            return vec![value];
        }
        let mut out = Vec::new();
        for parts in brace::expand(&word.parts) {
            out.extend(self.split_fields(&parts, shell));
        }
        out
    }

    fn split_fields(&mut self, parts: &[WordPart], shell: &mut ShellState) -> Vec<Value> {
        let separators = Self::separators(shell);
        let mut fields = Fields {
            separators: &separators,
            done: Vec::new(),
            current: Value::default(),
            keeps_empty: false,
        };
        for (index, part) in parts.iter().enumerate() {
            match part {
                WordPart::Bare(text) => {
                    let text = if index == 0 {
                        Self::tilde(text, shell, &mut fields.current)
                    } else {
                        text
                    };
                    push_globbed(&mut fields.current, text);
                }
                WordPart::Quoted(text) => {
                    fields.current.push_text(text);
                    fields.keeps_empty = true;
                }
                WordPart::Param { param, quoted } => {
                    let expansion = self.parameter(param, *quoted, shell);
                    match expansion {
                        Expansion::One(value) if *quoted => {
                            fields.current.extend(&value.quoted());
                            fields.keeps_empty = true;
                        }
                        Expansion::One(value) => fields.push_splitting(&value),
                        // `"$@"` without parameters expands to no word, not to an empty word.
                        Expansion::Many(values)
                            if values.is_empty()
                                && *quoted
                                && matches!(parts, [WordPart::Quoted(text), _] if text.is_empty()) =>
                        {
                            fields.keeps_empty = false;
                        }
                        Expansion::Many(values) => {
                            for (index, value) in values.iter().enumerate() {
                                if index > 0 {
                                    fields.end_field();
                                }
                                if *quoted {
                                    fields.current.extend(&value.quoted());
                                    fields.keeps_empty = true;
                                } else {
                                    fields.push_splitting(value);
                                }
                            }
                        }
                    }
                }
                WordPart::Command { list, quoted, form } => {
                    let value = self.substituted(list, *form, shell);
                    if *quoted {
                        fields.current.extend(&value.quoted());
                        fields.keeps_empty = true;
                    } else {
                        fields.push_splitting(&value);
                    }
                }
                other => {
                    let value = self.expand_unsplit_part(other, shell);
                    fields.current.extend(&value);
                    fields.keeps_empty = true;
                }
            }
        }
        fields.end_field();
        fields.done
    }

    /// Returns the characters of `IFS`, or bash's default if `IFS` is unknown.
    pub(super) fn separators(shell: &ShellState) -> String {
        match shell.var("IFS").and_then(|possible| possible.last()) {
            Some(VariableValue::Scalar(value)) => value.literal().unwrap_or(" \t\n").to_owned(),
            _ => " \t\n".to_owned(),
        }
    }

    /// Adds the expansion of a tilde at the beginning of `text` to `value`; returns the rest of the
    /// text.
    fn tilde<'t>(text: &'t str, shell: &ShellState, value: &mut Value) -> &'t str {
        // `of=~/file`: a word that looks like an assignment is treated as an assignment.
        if let Some(equals) = text.find("=~")
            && is_assignment(text)
            && !text[..equals].contains('=')
        {
            value.push_text(&text[..=equals]);
            return Self::tilde(&text[equals + 1..], shell, value);
        }
        let Some(rest) = text.strip_prefix('~') else {
            return text;
        };
        let len = rest.find(['/', ':']).unwrap_or(rest.len());
        let (user, rest) = rest.split_at(len);
        let directory = match user {
            "" => shell.home(),
            "+" => shell.cwd.as_deref(),
            "-" => shell.previous.as_deref(),
            "root" => Some("/root"),
            _ if user
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b)) =>
            {
                value.push_text("/home/");
                Some(user)
            }
            _ => return text,
        };
        match directory {
            Some(directory) => value.push_text(directory),
            None => value.push_unknown(UnknownCause::Variable("HOME".to_owned()), false),
        }
        rest
    }

    /// Expands a word in a context where bash neither splits nor globs: assignments, redirection
    /// targets, `case`.
    pub(super) fn expand_unsplit(&mut self, parts: &[WordPart], shell: &mut ShellState) -> Value {
        let mut value = Value::default();
        for (index, part) in parts.iter().enumerate() {
            if let (0, WordPart::Bare(text)) = (index, part) {
                let rest = Self::tilde(text, shell, &mut value);
                value.push_text(rest);
            } else {
                let next = self.expand_unsplit_part(part, shell);
                value.extend(&next);
            }
        }
        value
    }

    /// Expands one part of a word without splitting and globbing.
    pub(super) fn expand_unsplit_part(&mut self, part: &WordPart, shell: &mut ShellState) -> Value {
        match part {
            WordPart::Bare(text) | WordPart::Quoted(text) => Value::text(text.clone()),
            WordPart::Param { param, quoted } => match self.parameter(param, *quoted, shell) {
                Expansion::One(value) => value.quoted(),
                Expansion::Many(values) => join(&values, " "),
            },
            WordPart::Command { list, form, .. } => self.substituted(list, *form, shell).quoted(),
            WordPart::Process { list, reads } => self.process_substitution(list, *reads, shell),
            WordPart::Arithmetic(parts) => self.arithmetic(parts, shell),
            WordPart::Array(words) => {
                let values: Vec<Value> = words
                    .iter()
                    .flat_map(|word| self.fields(word, shell))
                    .collect();
                join(&values, " ")
            }
        }
    }

    /// Follows the commands in an arithmetic expression: its substitutions, and the substitutions
    /// in the values of its variables, because bash evaluates these values recursively.
    pub(super) fn arithmetic(&mut self, parts: &[WordPart], shell: &mut ShellState) -> Value {
        let text = self.expand_unsplit(parts, shell);
        if let Some(number) = text.literal() {
            if number.trim().bytes().all(|b| b.is_ascii_digit()) {
                return Value::text(number.trim());
            }
            for name in number.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                if let Some(VariableValue::Scalar(value)) =
                    shell.var(name).and_then(|possible| possible.last())
                {
                    self.evaluate_text(&value.clone(), shell);
                }
            }
        }
        Value::unknown(UnknownCause::Number)
    }
}

/// Returns the value of a word without expansions, the most common kind of word; `None` for other
/// words.
pub(super) fn plain(word: &Word) -> Option<Value> {
    match word.parts.as_slice() {
        [WordPart::Quoted(text)] => Some(Value::text(text.as_str())),
        [WordPart::Bare(text)] if !text.contains(['{', '~', '*', '?', '[', '!']) => {
            Some(Value::text(text.as_str()))
        }
        _ => None,
    }
}

/// Joins the values with `separator`.
pub(super) fn join(values: &[Value], separator: &str) -> Value {
    let mut out = Value::default();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push_text(separator);
        }
        out.extend(value);
    }
    out
}
