//! The values of a program's variables: `c = "…"`, `for c in […]`, `my $c = …`.

use std::cell::Cell;
use std::collections::HashMap;

use super::tokens::{Token, statement};

/// Maximum total size in bytes of the values that are substituted for names in one program.
const MAX_FILLED_BYTES: usize = 256 * 1024;

/// Maximum nesting of names within values.
const MAX_STEPS: usize = 2;

/// The names of a program, each with its last assignment.
pub(super) struct Bindings<'p> {
    values: HashMap<&'p str, &'p [Token]>,
    /// Bytes that may still be substituted; at 0, names are left unchanged.
    budget: Cell<usize>,
}

impl<'p> Bindings<'p> {
    /// Collects the assignments of a program.
    pub(super) fn of(program: &'p [Token]) -> Bindings<'p> {
        let mut values = HashMap::new();
        for (index, token) in program.iter().enumerate() {
            let Token::Name(name) = token else { continue };
            let value_index = match (program.get(index + 1), program.get(index + 2)) {
                (Some(Token::Mark(':')), Some(Token::Mark('='))) => index + 3,
                (Some(Token::Mark('=')), Some(Token::Mark('=' | '~' | '>'))) => continue,
                (Some(Token::Mark('=')), _) => index + 2,
                (Some(Token::Name(keyword)), _) if keyword == "in" || keyword == "of" => index + 2,
                _ => continue,
            };
            let value = statement(&program[value_index.min(program.len())..]);
            if !value.is_empty() {
                values.insert(name.as_str(), value);
            }
        }
        Bindings {
            values,
            budget: Cell::new(MAX_FILLED_BYTES),
        }
    }

    /// Returns the value of a name, and takes its size from the budget. `None` if the name is
    /// unknown or the budget is too small.
    fn spend(&self, name: &str) -> Option<&'p [Token]> {
        let value = *self.values.get(name)?;
        let cost = value.iter().map(|token| match token {
            Token::Text(text) | Token::Interpolated(text) | Token::Name(text) => text.len() + 1,
            Token::Mark(_) => 1,
        });
        self.budget.set(self.budget.get().checked_sub(cost.sum())?);
        Some(value)
    }

    /// Replaces the names in a string (`{x}`, `${x}`, `#{x}`, `$x`) by their values. `None` if the
    /// string contains no name with a known value.
    fn interpolated(&self, text: &str) -> Option<String> {
        let (mut out, mut rest, mut is_changed) = (String::new(), text, false);
        while let Some(mark) = rest.find(['$', '{', '#']) {
            let (before, tail) = rest.split_at(mark);
            out.push_str(before);
            let inner = tail.trim_start_matches(['$', '#']);
            let inner = inner.strip_prefix('{').unwrap_or(inner);
            let is_name_char = |c: char| c.is_alphanumeric() || c == '_';
            let end = inner.find(|c| !is_name_char(c)).unwrap_or(inner.len());
            if let Some([Token::Text(value)]) = self.spend(&inner[..end]) {
                is_changed = true;
                out.push_str(value);
                rest = inner[end..].strip_prefix('}').unwrap_or(&inner[end..]);
            } else {
                out.push_str(&tail[..1]);
                rest = &tail[1..];
            }
        }
        out.push_str(rest);
        is_changed.then_some(out)
    }

    /// Returns the tokens with names replaced by their values.
    pub(super) fn fill(&self, tokens: &[Token]) -> Vec<Token> {
        let mut out = tokens.to_vec();
        for _ in 0..MAX_STEPS {
            let mut next = Vec::with_capacity(out.len());
            for (index, token) in out.iter().enumerate() {
                match token {
                    // `x.name` and `name(` are not the variable `name`.
                    Token::Name(name)
                        if out.get(index + 1) != Some(&Token::Mark('('))
                            && (index == 0 || out[index - 1] != Token::Mark('.')) =>
                    {
                        let value = self.spend(name);
                        next.extend_from_slice(value.unwrap_or(std::slice::from_ref(token)));
                    }
                    Token::Text(text) | Token::Interpolated(text) if text.contains(['$', '{']) => {
                        let filled = self.interpolated(text);
                        next.push(filled.map_or_else(|| token.clone(), Token::Text));
                    }
                    other => next.push(other.clone()),
                }
            }
            out = next;
        }
        out
    }
}
