//! Names of variables after a `$`.

use agent_bash_render::syntax::tokens::Tokens;

/// A variable whose name is being typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypedVariable {
    /// The byte offset of the name.
    pub(crate) start: usize,
    /// The text to add after the name: `}`, or nothing.
    pub(super) suffix: &'static str,
}

/// The variable at the end of a text, if bash would expand it.
pub(crate) fn typed_variable(before: &str) -> Option<TypedVariable> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = before.trim_end_matches(is_of_name).len();
    let (head, suffix) = match before[..start].strip_suffix('{') {
        Some(head) => (head, "}"),
        None => (&before[..start], ""),
    };
    let head = head.strip_suffix('$')?;
    let escapes = head.len() - head.trim_end_matches('\\').len();
    let is_number = before[start..].starts_with(|c: char| c.is_ascii_digit());
    // `$$name` is the process id followed by text.
    if escapes % 2 == 1 || head.ends_with('$') || is_number {
        return None;
    }
    // Bash expands nothing in single quotes, comments and quoted heredocs.
    let word = Tokens::of(head).last_word?;
    (word.quote != Some('\'')).then_some(TypedVariable { start, suffix })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_is_completed_only_where_bash_expands_it() {
        for (before, start, suffix) in [
            ("echo $HO", 6, ""),
            ("$", 1, ""),
            ("echo \"a $HO", 9, ""),
            ("cd a/${HO", 7, "}"),
            ("!echo $(cat $x", 13, ""),
            ("echo \\\\$H", 8, ""),
        ] {
            assert_eq!(
                typed_variable(before),
                Some(TypedVariable { start, suffix }),
                "{before}"
            );
        }
        for before in [
            "echo '$HO", "echo \\$HO", "echo $$HO", "echo $1", "# $HO", "echo HO", "echo ${#HO", "",
        ] {
            assert_eq!(typed_variable(before), None, "{before}");
        }
    }
}
