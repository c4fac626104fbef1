//! Parameter expansion: `$x`, `${x:-word}`, `${x%pattern}`, `${a[@]}`, `${x@P}` and other forms.

use super::Expansion;
use crate::ast::{Param, WordPart};
use crate::pattern;
use crate::run::Walker;
use crate::state::{ShellState, VariableValue};
use crate::value::{UnknownCause, Value};

impl Walker<'_> {
    /// Expands a parameter.
    pub(in super::super) fn parameter(
        &mut self,
        param: &Param,
        quoted: bool,
        shell: &mut ShellState,
    ) -> Expansion {
        let all_elements = matches!(param.name.as_str(), "@" | "*")
            || param.index.as_ref().is_some_and(|index| {
                matches!(index.as_slice(), [WordPart::Bare(text) | WordPart::Quoted(text)] if text == "@" || text == "*")
            });
        let index = match &param.index {
            Some(parts) if !all_elements => Some(self.expand_unsplit(parts, shell)),
            _ => None,
        };
        let mut name = param.name.clone();
        if param.indirect {
            let referent = self.variable(&name, None, shell);
            match referent.as_ref().and_then(Value::literal) {
                Some(referent) if !all_elements => referent.clone_into(&mut name),
                _ => return Expansion::One(Value::unknown(UnknownCause::Expansion)),
            }
        }
        if all_elements {
            let Some(values) = self.elements(&name, shell) else {
                let mut value = Value::default();
                value.push_unknown(UnknownCause::Variable(name), true);
                return Expansion::Many(vec![value]);
            };
            if param.length {
                return Expansion::One(Value::text(values.len().to_string()));
            }
            let is_star = param.name == "*" || !is_at(param);
            let operand = self.operand(&param.operand, shell);
            let changed: Vec<Value> = values
                .iter()
                .map(|value| transform(value, &param.operator, &operand))
                .collect();
            if is_star && quoted {
                return Expansion::One(super::join(&changed, " "));
            }
            return Expansion::Many(changed);
        }
        let value = self.variable(&name, index.as_ref(), shell);
        if param.length {
            return Expansion::One(match value.as_ref().and_then(Value::literal) {
                Some(text) => Value::text(text.chars().count().to_string()),
                None => Value::unknown(UnknownCause::Number),
            });
        }
        Expansion::One(self.apply_operator(param, &name, value, shell))
    }

    /// Returns the elements of an array, or the positional parameters.
    fn elements(&mut self, name: &str, shell: &ShellState) -> Option<Vec<Value>> {
        if matches!(name, "@" | "*") {
            return shell.positional.as_ref().map(|values| values.to_vec());
        }
        match self.choose(shell.var(name)?)? {
            VariableValue::Array(values) => Some(values.clone()),
            VariableValue::Scalar(value) => Some(vec![value.clone()]),
        }
    }

    /// Returns the value of a known parameter; `None` if this script never sets it.
    fn variable(&mut self, name: &str, index: Option<&Value>, shell: &ShellState) -> Option<Value> {
        if let Ok(number) = name.parse::<usize>() {
            let Some(index) = number.checked_sub(1) else {
                return shell.zeroth.clone();
            };
            let values = shell.positional.as_ref()?;
            return Some(values.get(index).cloned().unwrap_or_default());
        }
        match name {
            "PWD" if shell.var("PWD").is_none() => return shell.cwd.as_deref().map(Value::text),
            "OLDPWD" if shell.var("OLDPWD").is_none() => {
                return shell.previous.as_deref().map(Value::text);
            }
            "#" => {
                return shell
                    .positional
                    .as_ref()
                    .map(|values| Value::text(values.len().to_string()));
            }
            "?" | "$" | "!" | "RANDOM" | "SECONDS" | "UID" | "EUID" | "PPID" | "BASHPID"
            | "LINENO" => {
                return Some(Value::unknown(UnknownCause::Number));
            }
            _ => {}
        }
        let possible = shell.var(name)?;
        let has_several_values = possible.len() > 1;
        match self.choose(possible)? {
            VariableValue::Scalar(value) => match index {
                None => Some(value.clone()),
                Some(index) if index.literal() == Some("0") => Some(value.clone()),
                Some(_) => None,
            },
            VariableValue::Array(values) => match index {
                None => Some(values.first().cloned().unwrap_or_default()),
                Some(index) => match index.literal().and_then(|text| text.parse::<i64>().ok()) {
                    Some(index) if index >= 0 => {
                        Some(values.get(index as usize).cloned().unwrap_or_default())
                    }
                    Some(index) => values
                        .len()
                        .checked_sub(index.unsigned_abs() as usize)
                        .map(|index| values[index].clone()),
                    // With an unknown key, each element is followed in turn.
                    None if has_several_values => None,
                    None => self.choose_element(values).cloned(),
                },
            },
        }
    }

    /// Expands the operand of a parameter's operator.
    fn operand(&mut self, operand: &[WordPart], shell: &mut ShellState) -> Value {
        let mut value = Value::default();
        for part in operand {
            match part {
                // Glob characters are active in the operand of a pattern operator.
                WordPart::Bare(text) => pattern::push_globbed(&mut value, text),
                other => {
                    let next = self.expand_unsplit_part(other, shell);
                    value.extend(&next);
                }
            }
        }
        value
    }

    /// Expands the pattern and the replacement of `${name/pattern/replacement}`.
    fn pattern_and_replacement(
        &mut self,
        operand: &[WordPart],
        shell: &mut ShellState,
    ) -> (Value, Value) {
        let has_slash =
            |part: &WordPart| matches!(part, WordPart::Bare(text) if text.contains('/'));
        let separator = operand.iter().position(has_slash);
        let (pattern, replacement) = operand.split_at(separator.unwrap_or(operand.len()));
        let (mut pattern, mut replacement) = (pattern.to_vec(), replacement.to_vec());
        if let Some(WordPart::Bare(text)) = replacement.first_mut()
            && let Some((before, after)) = text.split_once('/')
        {
            let after = after.to_owned();
            pattern.push(WordPart::Bare(before.to_owned()));
            *text = after;
        }
        let pattern = self.operand(&pattern, shell);
        (pattern, self.expand_unsplit(&replacement, shell))
    }

    /// Applies the operator of a single parameter.
    fn apply_operator(
        &mut self,
        param: &Param,
        name: &str,
        value: Option<Value>,
        shell: &mut ShellState,
    ) -> Value {
        let unknown = || {
            let mut value = Value::default();
            // The elements of an array are different values.
            let index = param.index.as_ref().map_or("", |_| "[]");
            value.push_unknown(UnknownCause::Variable(format!("{name}{index}")), false);
            value
        };
        match param.operator.as_str() {
            "" => value.unwrap_or_else(unknown),
            ":-" | "-" | ":=" | "=" | ":?" | "?" | ":+" | "+" => {
                let word = self.expand_unsplit(&param.operand, shell);
                let is_empty =
                    value.as_ref().is_some_and(Value::is_empty) && param.operator.starts_with(':');
                match (param.operator.trim_start_matches(':'), value) {
                    ("+", Some(_)) if is_empty => Value::default(),
                    ("+", _) => word,
                    ("?", None) if param.operator.starts_with(':') => {
                        Value::unknown(UnknownCause::Required(name.to_owned()))
                    }
                    ("?", value) => value.unwrap_or_else(unknown),
                    (_, Some(value)) if !is_empty => value,
                    ("=", _) => {
                        shell.set(name, VariableValue::Scalar(word.clone()));
                        word
                    }
                    _ => word,
                }
            }
            // `@P` expands the value a second time.
            "@" if matches!(param.operand.as_slice(), [WordPart::Bare(how)] if how == "P") => {
                self.evaluate_text(&value.unwrap_or_else(unknown), shell)
            }
            operator @ ("/" | "//" | "/#" | "/%") => {
                let (pattern, replacement) = self.pattern_and_replacement(&param.operand, shell);
                let has_letters = pattern.prefix().contains(char::is_alphabetic);
                let found = value.as_ref().and_then(Value::literal);
                found
                    .filter(|_| !(shell.ignores_case && has_letters))
                    .and_then(|text| replaced(text, operator, &pattern, &replacement))
                    .map_or(Value::unknown(UnknownCause::Expansion), Value::text)
            }
            ":" => {
                let operand = self.operand(&param.operand, shell);
                let found = value.as_ref().and_then(Value::literal);
                found
                    .and_then(|text| substring(text, operand.literal()?))
                    .map_or(Value::unknown(UnknownCause::Expansion), Value::text)
            }
            operator => {
                let operand = self.operand(&param.operand, shell);
                transform(&value.unwrap_or_else(unknown), operator, &operand)
            }
        }
    }
}

/// True for `$@` and `${a[@]}`: their elements stay separate in quotes, unlike the elements of
/// `$*`.
fn is_at(param: &Param) -> bool {
    param.name == "@"
        || matches!(param.index.as_deref(), Some([WordPart::Bare(text) | WordPart::Quoted(text)]) if text == "@")
}

/// Applies an operator to a known text. Removals of prefixes and suffixes and changes of case are
/// computed; other results are unknown.
fn transform(value: &Value, operator: &str, operand: &Value) -> Value {
    match (operator, value.literal()) {
        ("", _) => value.clone(),
        ("#" | "##" | "%" | "%%", Some(text)) => {
            trim_match(text, &pattern::of_value(operand), operator)
        }
        ("^" | "^^" | "," | ",,", Some(text)) if operand.is_empty() => {
            Value::text(changed_case(text, operator))
        }
        _ => Value::unknown(UnknownCause::Expansion),
    }
}

/// Maximum length in bytes of a text in which matches are replaced, and of the replacement.
const MAX_REPLACED_BYTES: usize = 256;

/// Replaces matches of a pattern in a text. `None` if the pattern has glob characters or begins
/// with `~`, or if it or the replacement is unknown.
fn replaced(text: &str, operator: &str, pattern: &Value, replacement: &Value) -> Option<String> {
    let has_extglob = |text: &str| ["@(", "+(", "!("].iter().any(|begin| text.contains(begin));
    let is_plain = |text: &&str| !text.starts_with('~') && !has_extglob(text);
    let pattern = pattern.literal().filter(is_plain)?;
    // bash 5.2 replaces `&` by the match.
    let replacement = replacement.literal().filter(|text| !text.contains('&'))?;
    if text.len().max(replacement.len()) > MAX_REPLACED_BYTES {
        return None;
    }
    let changed = match operator {
        "/#" => text
            .strip_prefix(pattern)
            .map(|rest| format!("{replacement}{rest}")),
        "/%" => text
            .strip_suffix(pattern)
            .map(|rest| format!("{rest}{replacement}")),
        _ if pattern.is_empty() => None,
        "//" => Some(text.replace(pattern, replacement)),
        _ => Some(text.replacen(pattern, replacement, 1)),
    };
    Some(changed.unwrap_or_else(|| text.to_owned()))
}

/// Returns the part of a text that `${name:start:length}` names. `None` for a negative, octal or
/// computed number.
fn substring(text: &str, range: &str) -> Option<String> {
    let number = |text: &str| -> Option<usize> {
        let digits = text.trim();
        let is_decimal = digits == "0" || !digits.starts_with(['0', '+']);
        digits.parse().ok().filter(|_| is_decimal)
    };
    let (start, length) = match range.split_once(':') {
        Some((start, length)) => (start, number(length)?),
        None => (range, usize::MAX),
    };
    Some(text.chars().skip(number(start)?).take(length).collect())
}

/// Changes the case of the first letter, or of all letters if the operator is doubled.
fn changed_case(text: &str, operator: &str) -> String {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let changed = if operator.len() > 1 {
        text.len()
    } else {
        first
    };
    let (head, tail) = text.split_at(changed);
    let head = if operator.starts_with('^') {
        head.to_uppercase()
    } else {
        head.to_lowercase()
    };
    format!("{head}{tail}")
}

/// Maximum length in bytes of a text from which a prefix or suffix is removed.
const MAX_TRIMMED_BYTES: usize = 4096;

/// Removes the shortest or longest matching prefix or suffix.
fn trim_match(text: &str, pattern: &str, operator: &str) -> Value {
    // Trying every position of a long text would be quadratic.
    if text.len() > MAX_TRIMMED_BYTES {
        return Value::unknown(UnknownCause::Limit);
    }
    let mut cuts: Vec<usize> = text
        .char_indices()
        .map(|(offset, _)| offset)
        .chain([text.len()])
        .collect();
    if matches!(operator, "##" | "%") {
        cuts.reverse();
    }
    for cut in cuts {
        let (head, tail) = text.split_at(cut);
        let (tested, remainder) = if operator.starts_with('#') {
            (head, tail)
        } else {
            (tail, head)
        };
        if pattern::matches(pattern, tested) {
            // `${HOME%/*}` is empty if `HOME` is `/root`; the script means the root directory.
            let is_root =
                remainder.is_empty() && text.starts_with('/') && operator.starts_with('%');
            return Value::text(if is_root { "/" } else { remainder });
        }
    }
    Value::text(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_and_substrings_are_those_of_bash() {
        for (text, operator, pattern, replacement, expected) in [
            ("a-b-c", "/", "-", "_", Some("a_b-c")),
            ("a-b-c", "//", "-", "", Some("abc")),
            ("a-b", "/#", "", "x/", Some("x/a-b")),
            ("a-b", "/#", "b", "x", Some("a-b")),
            ("a-b", "/%", "b", "x", Some("a-x")),
            ("a-b", "/", "", "x", Some("a-b")),
            ("a-b", "/", "-", "&&", None),
            ("/home/u/b", "/", "~", "", None),
            ("a-b", "/", "@(-b)", "", None),
            ("a-b", "/", "+(-)", "", None),
            ("a-b", "/", "!(a)", "", None),
        ] {
            let (from, to) = (Value::text(pattern), Value::text(replacement));
            let found = replaced(text, operator, &from, &to);
            assert_eq!(found.as_deref(), expected, "{text}{operator}{pattern}");
        }
        for (text, range, expected) in [
            ("abcdef", "2", Some("cdef")),
            ("abcdef", "1:2", Some("bc")),
            ("äbc", "1:1", Some("b")),
            ("abc", "9", Some("")),
            ("abc", " -1", None),
            ("abc", "i", None),
            ("abc", "0:010", None),
            ("abc", "0:1", Some("a")),
        ] {
            assert_eq!(
                substring(text, range).as_deref(),
                expected,
                "{text}:{range}"
            );
        }
    }
}
