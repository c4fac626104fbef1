//! Names of variables behind a `$`.

use agent_bash_render::syntax::tokens::Tokens;

/// A variable whose name is being written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// The byte that the name begins at.
    pub(crate) start: usize,
    /// What ends it.
    pub(super) closer: &'static str,
}

/// The variable at the end of this text, if bash would take it for one.
pub(crate) fn written(before: &str) -> Option<Written> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = before.trim_end_matches(is_of_name).len();
    let (head, closer) = match before[..start].strip_suffix('{') {
        Some(head) => (head, "}"),
        None => (&before[..start], ""),
    };
    let head = head.strip_suffix('$')?;
    let escapes = head.len() - head.trim_end_matches('\\').len();
    let is_number = before[start..].starts_with(|c: char| c.is_ascii_digit());
    // `$$name` is a number and a text.
    if escapes % 2 == 1 || head.ends_with('$') || is_number {
        return None;
    }
    // In single quotes, comments and quoted heredocs it is a text.
    let word = Tokens::of(head).last_word?;
    (word.quote != Some('\'')).then_some(Written { start, closer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_one_where_bash_takes_it_for_one() {
        for (before, start, closer) in [
            ("echo $HO", 6, ""),
            ("$", 1, ""),
            ("echo \"a $HO", 9, ""),
            ("cd a/${HO", 7, "}"),
            ("!echo $(cat $x", 13, ""),
            ("echo \\\\$H", 8, ""),
        ] {
            assert_eq!(written(before), Some(Written { start, closer }), "{before}");
        }
        for before in [
            "echo '$HO",
            "echo \\$HO",
            "echo $$HO",
            "echo $1",
            "# $HO",
            "echo HO",
            "echo ${#HO",
            "",
        ] {
            assert_eq!(written(before), None, "{before}");
        }
    }
}
