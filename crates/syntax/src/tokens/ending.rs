//! Determines whether a text that the user types is whole, unfinished or wrong.

use super::lexer::Tokens;
use crate::reader::ReadProblem;
use crate::{Parsed, Span};

/// How a text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEnding {
    /// The text can be run, as far as is known.
    Whole,
    /// The text needs a continuation: a quote is open, or a `fi` is missing.
    Unfinished,
    /// bash reports a syntax error in this part of the text, whatever the user adds.
    Wrong(Span),
}

/// Returns the ending of `text`. A last word that the user may still continue is not wrong.
pub fn ending(text: &str, tokens: &Tokens) -> TextEnding {
    let parsed = Parsed::read(text);
    let error_start = match parsed.problem {
        Some((ReadProblem::Syntax, offset)) => offset,
        _ if tokens.open_at.is_some() => return TextEnding::Unfinished,
        _ => return TextEnding::Whole,
    };
    if tokens.open_at.is_some_and(|open| open <= error_start) {
        return TextEnding::Unfinished;
    }
    let rest = text.get(error_start..).unwrap_or("");
    // Before the error, the parser has skipped all newlines that bash accepts. A newline in the
    // rest is therefore an error.
    let is_line_end = rest.contains('\n');
    let blank = rest.len() - rest.trim_start().len();
    let rest = rest.trim_start();
    let is_word = rest.starts_with(|c: char| c.is_alphanumeric() || "_{}!".contains(c));
    let end = if is_word {
        rest.find(|c: char| c.is_whitespace() || ";|&()<>".contains(c))
    } else {
        rest.find(|c: char| !";|&()<>".contains(c)).map(|end| {
            // A character that is neither part of a word nor of an operator.
            if end == 0 {
                rest.chars().next().map_or(0, char::len_utf8)
            } else {
                end
            }
        })
    };
    match end {
        _ if rest.is_empty() && !is_line_end => TextEnding::Unfinished,
        // `do` may become `docker`.
        None if is_word => TextEnding::Unfinished,
        end => TextEnding::Wrong(Span {
            start: error_start + blank,
            end: error_start + blank + end.unwrap_or(rest.len()),
        }),
    }
}

/// True if bash would read more lines after `text` and a newline: a quote is open, or a `fi` is
/// missing. False for a text that bash refuses.
pub fn needs_more_lines(text: &str) -> bool {
    let line = format!("{text}\n");
    ending(&line, &Tokens::of(&line)) == TextEnding::Unfinished
}
