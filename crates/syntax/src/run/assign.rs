//! Assignments: computes the value of a variable or an array.

use super::super::ast::{Assign, Word, WordPart};
use super::super::state::{ShellState, VariableValue};
use super::super::value::Value;
use super::Walker;
use super::option_commands::is_command_variable;

/// The cost, in bytes, of copying an array element.
const ELEMENT_BYTES: usize = 16;

/// Maximum number of equal elements at the end of an array. Bounds an array that grows in a loop.
const MAX_REPEATED: usize = 4;

/// Adds an element, unless the last [`MAX_REPEATED`] elements equal it.
fn push_element(values: &mut Vec<Value>, value: Value) {
    let end = values.len().saturating_sub(MAX_REPEATED);
    if values.len() < MAX_REPEATED || values[end..].iter().any(|other| *other != value) {
        values.push(value);
    }
}

impl Walker<'_> {
    /// Performs `NAME=value`.
    pub(super) fn assign(&mut self, assign: &Assign, shell: &mut ShellState) {
        if let Some(index) = &assign.index {
            self.arithmetic(index, shell);
        }
        if let [WordPart::Array(words)] = assign.value.parts.as_slice() {
            let mut values: Vec<Value> = words
                .iter()
                .flat_map(|word| self.element_values(word, shell))
                .collect();
            if assign.append
                && let Some(VariableValue::Array(before)) =
                    shell.var(&assign.name).and_then(|possible| possible.last())
            {
                self.charge(ELEMENT_BYTES * before.len());
                let mut all = before.clone();
                for value in values {
                    push_element(&mut all, value);
                }
                values = all;
            }
            return shell.set(&assign.name, VariableValue::Array(values));
        }
        let value = self.expand_unsplit(&assign.value.parts, shell);
        self.charge(value.cost());
        self.set_variable(
            &assign.name,
            value,
            assign.append,
            assign.index.is_some(),
            shell,
        );
    }

    /// Returns the values that a word in `( … )` adds to an array. For `[key]=value`, this is only
    /// the value.
    fn element_values(&mut self, word: &Word, shell: &mut ShellState) -> Vec<Value> {
        let is_keyed =
            matches!(word.parts.first(), Some(WordPart::Bare(text)) if text.starts_with('['));
        let end = word
            .parts
            .iter()
            .enumerate()
            .find_map(|(index, part)| match part {
                WordPart::Bare(text) => {
                    let end = text.find("]=");
                    end.map(|end| (index, text[end + 2..].to_owned()))
                }
                _ => None,
            });
        let (true, Some((index, rest))) = (is_keyed, end) else {
            return self.fields(word, shell);
        };
        // The key may contain commands, which are followed.
        self.expand_unsplit(&word.parts[..index], shell);
        let mut parts = vec![WordPart::Bare(rest)];
        parts.extend_from_slice(&word.parts[index + 1..]);
        vec![self.expand_unsplit(&parts, shell)]
    }

    /// Sets a variable, appends to it, or adds an element to an array.
    pub(super) fn set_variable(
        &mut self,
        name: &str,
        value: Value,
        append: bool,
        is_element: bool,
        shell: &mut ShellState,
    ) {
        if is_command_variable(name) && !append {
            self.hidden_command(&value.script(), name, shell);
        }
        let before = shell
            .var(name)
            .and_then(|possible| self.choose(possible))
            .cloned();
        let variable_value = match (before, append, is_element) {
            (Some(VariableValue::Array(mut values)), _, true) => {
                self.charge(ELEMENT_BYTES * values.len());
                push_element(&mut values, value);
                VariableValue::Array(values)
            }
            (_, _, true) => VariableValue::Array(vec![value]),
            (Some(VariableValue::Scalar(mut text)), true, _) => {
                text.extend(&value);
                VariableValue::Scalar(text)
            }
            _ => VariableValue::Scalar(value),
        };
        shell.set(name, variable_value);
    }

    /// Performs `declare a=(…)`.
    pub(super) fn declare_array(&mut self, word: &Word, shell: &mut ShellState) {
        if let [WordPart::Bare(name), WordPart::Array(words)] = word.parts.as_slice() {
            let values = words
                .iter()
                .flat_map(|word| self.element_values(word, shell))
                .collect();
            let name = name.trim_end_matches('=').trim_end_matches('+');
            shell.set(name, VariableValue::Array(values));
        }
    }
}
