//! Parameter expansion: `$x`, `${x:-word}`, `${x%pattern}`, `${a[@]}`, `${x@P}` and the rest.

use super::super::ast::{Param, Part};
use super::super::escape::escapes;
use super::super::pattern;
use super::super::run::Machine;
use super::super::state::{Slot, State};
use super::super::value::{Value, Why};
use super::Expansion;
use crate::Dialect;

impl Machine<'_> {
    /// Expands a parameter.
    pub(in super::super) fn parameter(
        &mut self,
        param: &Param,
        quoted: bool,
        st: &mut State,
    ) -> Expansion {
        let whole = matches!(param.name.as_str(), "@" | "*")
            || param.index.as_ref().is_some_and(|index| {
                matches!(index.as_slice(), [Part::Bare(text) | Part::Quoted(text)] if text == "@" || text == "*")
            });
        let whole = whole || is_list_in_zsh(param, st);
        let index = match &param.index {
            Some(parts) if !whole => Some(self.single(parts, st)),
            _ => None,
        };
        let name = if param.indirect {
            self.indirect(&param.name, st)
        } else {
            Some(param.name.clone())
        };
        let Some(name) = name else {
            return Expansion::One(Value::unknown(Why::Expansion));
        };
        if whole {
            let Some(values) = self.elements(&name, st) else {
                let mut value = Value::default();
                value.push_unknown(Why::Variable(name), true);
                return Expansion::Many(vec![value]);
            };
            if param.length {
                return Expansion::One(Value::text(values.len().to_string()));
            }
            let starred = param.name == "*" || !is_at(param);
            let changed: Vec<Value> = if param.operator == ":" {
                self.slice(&values, &param.operand, st)
            } else {
                let operand = self.operand(param, st);
                values
                    .iter()
                    .map(|value| transform(value, &param.operator, &operand))
                    .collect()
            };
            if starred && quoted {
                return Expansion::One(super::join(&changed, " "));
            }
            return Expansion::Many(changed);
        }
        let value = self.variable(&name, index.as_ref(), st);
        if param.length {
            return Expansion::One(match value.as_ref().and_then(Value::literal) {
                Some(text) => Value::text(text.chars().count().to_string()),
                None => Value::unknown(Why::Number),
            });
        }
        Expansion::One(self.operate(param, &name, value, st))
    }

    /// The name that `${!name}` refers to.
    fn indirect(&mut self, name: &str, st: &mut State) -> Option<String> {
        self.variable(name, None, st)?
            .literal()
            .map(ToOwned::to_owned)
    }

    /// The elements of an array or the positional parameters.
    fn elements(&mut self, name: &str, st: &State) -> Option<Vec<Value>> {
        if matches!(name, "@" | "*") {
            return st.positional.as_ref().map(|values| values.to_vec());
        }
        match self.choose(st.var(name)?)? {
            Slot::Array(values) => Some(values.clone()),
            Slot::Scalar(value) => Some(vec![value.clone()]),
        }
    }

    /// The value of a known parameter; `None` if this script never set it.
    fn variable(&mut self, name: &str, index: Option<&Value>, st: &State) -> Option<Value> {
        if let Ok(number) = name.parse::<usize>() {
            let values = st.positional.as_ref()?;
            return match number {
                0 => None,
                _ => Some(values.get(number - 1).cloned().unwrap_or_default()),
            };
        }
        match name {
            "PWD" if st.var("PWD").is_none() => return st.cwd.as_deref().map(Value::text),
            "OLDPWD" if st.var("OLDPWD").is_none() => {
                return st.previous.as_deref().map(Value::text);
            }
            "#" => {
                return st
                    .positional
                    .as_ref()
                    .map(|values| Value::text(values.len().to_string()));
            }
            "?" | "$" | "!" | "RANDOM" | "SECONDS" | "UID" | "EUID" | "PPID" | "BASHPID"
            | "LINENO" => {
                return Some(Value::unknown(Why::Number));
            }
            _ => {}
        }
        let slots = st.var(name)?;
        let several = slots.len() > 1;
        match self.choose(slots)? {
            Slot::Scalar(value) => match index {
                None => Some(value.clone()),
                Some(index) if index.literal() == Some("0") => Some(value.clone()),
                Some(_) => None,
            },
            Slot::Array(values) => match index {
                None => Some(values.first().cloned().unwrap_or_default()),
                Some(index) => match index.literal().and_then(|text| text.parse::<i64>().ok()) {
                    // zsh counts from 1 by default.
                    Some(_) if st.dialect == Dialect::Zsh => self.choose_element(values).cloned(),
                    Some(at) if at >= 0 => {
                        Some(values.get(at as usize).cloned().unwrap_or_default())
                    }
                    Some(at) => values
                        .len()
                        .checked_sub(at.unsigned_abs() as usize)
                        .map(|at| values[at].clone()),
                    // An unknown key: each of the elements in turn.
                    None if several => None,
                    None => self.choose_element(values).cloned(),
                },
            },
        }
    }

    fn operand(&mut self, param: &Param, st: &mut State) -> Value {
        if param.operator == ":" || param.operator == "@" {
            return Value::default();
        }
        let mut value = Value::default();
        for part in &param.operand {
            match part {
                // Glob characters are active in the operand of a pattern operator.
                Part::Bare(text) => pattern::push_globbed(&mut value, text),
                other => {
                    let next = self.single_part(other, st);
                    value.extend(&next);
                }
            }
        }
        value
    }

    /// Applies the operator of a single parameter.
    fn operate(
        &mut self,
        param: &Param,
        name: &str,
        value: Option<Value>,
        st: &mut State,
    ) -> Value {
        let unknown = || {
            let mut value = Value::default();
            value.push_unknown(Why::Variable(name.to_owned()), false);
            value
        };
        match param.operator.as_str() {
            "" => value.unwrap_or_else(unknown),
            ":-" | "-" | ":=" | "=" | ":?" | "?" | ":+" | "+" => {
                let word = self.single(&param.operand, st);
                let empty =
                    value.as_ref().is_some_and(Value::is_empty) && param.operator.starts_with(':');
                match (param.operator.trim_start_matches(':'), value) {
                    ("+", Some(_)) if empty => Value::default(),
                    ("+", _) => word,
                    ("?", value) => value.unwrap_or_else(unknown),
                    (_, Some(value)) if !empty => value,
                    ("=", _) => {
                        st.set(name, Slot::Scalar(word.clone()));
                        word
                    }
                    _ => word,
                }
            }
            "@" => {
                let value = value.unwrap_or_else(unknown);
                match param.operand.as_slice() {
                    [Part::Bare(how)] if how == "P" => self.evaluate_text(&value, st),
                    [Part::Bare(how)] if how == "E" => match value.literal() {
                        Some(text) => Value::text(escapes(text)),
                        None => value,
                    },
                    _ => transform(&value, "", &Value::default()),
                }
            }
            ":" => {
                let bounds = self.single(&param.operand, st);
                let value = value.unwrap_or_else(unknown);
                match (value.literal(), bounds.literal()) {
                    (Some(text), Some(bounds)) => substring(text, bounds),
                    _ => Value::unknown(Why::Expansion),
                }
            }
            operator => {
                let operand = self.operand(param, st);
                transform(&value.unwrap_or_else(unknown), operator, &operand)
            }
        }
    }

    /// `${@:2}` and `${a[@]:1:3}`.
    fn slice(&mut self, values: &[Value], bounds: &[Part], st: &mut State) -> Vec<Value> {
        let bounds = self.single(bounds, st);
        let Some((from, len)) = bounds.literal().and_then(read_bounds) else {
            return values.to_vec();
        };
        // Positional parameters count from 1 here; including one more on the left is on the safe side.
        let from = usize::try_from(from)
            .unwrap_or(0)
            .saturating_sub(1)
            .min(values.len());
        let to = len
            .and_then(|len| usize::try_from(len).ok())
            .map_or(values.len(), |len| from + len + 1);
        values[from..to.min(values.len())].to_vec()
    }
}

/// Whether the bare name means all elements of an array.
fn is_list_in_zsh(param: &Param, st: &State) -> bool {
    st.dialect == Dialect::Zsh
        && param.index.is_none()
        && !param.indirect
        && st
            .var(&param.name)
            .is_some_and(|slots| slots.iter().any(|slot| matches!(slot, Slot::Array(_))))
}

fn is_at(param: &Param) -> bool {
    param.name == "@"
        || matches!(param.index.as_deref(), Some([Part::Bare(text) | Part::Quoted(text)]) if text == "@")
}

/// `offset[:length]` with plain numbers.
fn read_bounds(text: &str) -> Option<(i64, Option<i64>)> {
    let mut numbers = text
        .split(':')
        .map(|number| number.trim().parse::<i64>().ok());
    let from = numbers.next()??;
    match numbers.next() {
        None => Some((from, None)),
        Some(len) => Some((from, Some(len?))),
    }
}

fn substring(text: &str, bounds: &str) -> Value {
    let Some((from, len)) = read_bounds(bounds) else {
        return Value::unknown(Why::Expansion);
    };
    let chars: Vec<char> = text.chars().collect();
    let total = chars.len().cast_signed() as i64;
    let from = if from < 0 {
        (total + from).max(0)
    } else {
        from.min(total)
    };
    let to = match len {
        None => total,
        Some(len) if len < 0 => (total + len).max(from),
        Some(len) => from.saturating_add(len).min(total),
    };
    Value::text(chars[from as usize..to as usize].iter().collect::<String>())
}

/// Removal, replacement and case operators on known text.
fn transform(value: &Value, operator: &str, operand: &Value) -> Value {
    let Some(text) = value.literal() else {
        // Trimming an unknown text leaves an unknown text.
        return if operator.is_empty() || value.zsh_only().is_some() {
            value.clone()
        } else {
            Value::unknown(Why::Expansion)
        };
    };
    match operator {
        "#" | "##" | "%" | "%%" => {
            let pattern = pattern::of_value(operand);
            trimmed(text, &pattern, operator)
        }
        "^^" => Value::text(text.to_uppercase()),
        ",," => Value::text(text.to_lowercase()),
        "^" | "," => {
            let mut chars = text.chars();
            match chars.next() {
                None => Value::default(),
                Some(first) => {
                    let first = if operator == "^" {
                        first.to_uppercase().to_string()
                    } else {
                        first.to_lowercase().to_string()
                    };
                    Value::text(first + chars.as_str())
                }
            }
        }
        "/" | "//" | "/#" | "/%" => {
            let written = operand.script();
            let (from, to) = written.split_once('/').unwrap_or((&written, ""));
            if from.is_empty() || from.contains(['*', '?', '[']) || operand.has_unknown() {
                return Value::unknown(Why::Expansion);
            }
            Value::text(match operator {
                "//" => text.replace(from, to),
                "/#" => text
                    .strip_prefix(from)
                    .map_or(text.to_owned(), |rest| format!("{to}{rest}")),
                "/%" => text
                    .strip_suffix(from)
                    .map_or(text.to_owned(), |rest| format!("{rest}{to}")),
                _ => text.replacen(from, to, 1),
            })
        }
        "" => value.clone(),
        _ => Value::unknown(Why::Expansion),
    }
}

/// The text without the shortest or longest matching prefix or suffix.
fn trimmed(text: &str, pattern: &str, operator: &str) -> Value {
    // Trying every position of a long text would be quadratic.
    if text.len() > 4096 {
        return Value::unknown(Why::Limit);
    }
    let mut cuts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    if matches!(operator, "##" | "%") {
        cuts.reverse();
    }
    for at in cuts {
        let (head, tail) = text.split_at(at);
        let (tried, kept) = if operator.starts_with('#') {
            (head, tail)
        } else {
            (tail, head)
        };
        if pattern::matches(pattern, tried) {
            // `${HOME%/*}`: for `/root` this leaves what is before the slash, which is empty.
            let root = kept.is_empty() && text.starts_with('/') && operator.starts_with('%');
            return Value::text(if root { "/" } else { kept });
        }
    }
    Value::text(text)
}
