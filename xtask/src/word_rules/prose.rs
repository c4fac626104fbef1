//! Collects the sentences of a file: paragraphs of comments, string literals, paragraphs of pages.
//!
//! Code is taken out: code spans, fenced blocks, scripts. Each piece knows the lines that it was
//! joined from, so that words on two lines are found and reported by line.

use crate::rust_tokens::{self, TokenKind};
use std::ops::Range;

/// A text without line breaks.
pub(crate) struct Piece {
    /// The text as written.
    text: String,
    /// The text with `.` for each character of its code spans; as long as the text.
    pub(crate) words: String,
    /// True for comments of Rust.
    pub(crate) is_comment: bool,
    /// True for the first paragraph of a doc comment.
    pub(crate) is_doc_start: bool,
    /// The offset at which each line starts in the text, with the line's number.
    starts: Vec<(usize, usize)>,
}

impl Piece {
    fn new(is_comment: bool) -> Self {
        Self {
            text: String::new(),
            words: String::new(),
            is_comment,
            is_doc_start: false,
            starts: Vec::new(),
        }
    }

    fn push(&mut self, line: usize, text: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.starts.push((self.text.len(), line));
        self.text.push_str(text);
    }

    /// Returns the number of the line that has the byte at `offset`.
    pub(crate) fn line_at(&self, offset: usize) -> usize {
        let before = self.starts.iter().rev();
        before
            .skip_while(|(start, _)| *start > offset)
            .map(|(_, line)| *line)
            .next()
            .unwrap_or(1)
    }

    /// Returns the text at `range`, with some whole words around it.
    pub(crate) fn excerpt(&self, range: Range<usize>) -> String {
        const CONTEXT_WORDS: usize = 4;
        let blanks =
            |text: &str| -> Vec<usize> { text.match_indices(' ').map(|(at, _)| at).collect() };
        let before = blanks(&self.text[..range.start]);
        let from = before
            .iter()
            .rev()
            .nth(CONTEXT_WORDS)
            .map_or(0, |at| at + 1);
        let after = blanks(&self.text[range.end..]);
        let to = after
            .get(CONTEXT_WORDS)
            .map_or(self.text.len(), |at| range.end + at);
        format!("\"{}\"", &self.text[from..to])
    }
}

/// Returns the sentences of a file. Empty for kinds of files that this module does not know.
pub(crate) fn pieces(path: &str, text: &str) -> Vec<Piece> {
    let ending = path.rsplit('.').next().unwrap_or_default();
    let mut pieces = match ending {
        "rs" => rust_pieces(text),
        "md" => paragraphs(text, |_| true),
        "py" | "ts" | "js" | "mjs" | "toml" => paragraphs(text, |_| true),
        "sh" | "bash" | "bashrc" | "c" => {
            paragraphs(text, |line| line.starts_with(['#', '/', '*']))
        }
        _ => Vec::new(),
    };
    for piece in &mut pieces {
        piece.words = without_code_spans(&piece.text);
    }
    pieces
}

/// Returns the comments of Rust, with adjacent ones joined, and the string literals with a blank in
/// them, except in word lists.
fn rust_pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut last: Option<(&str, usize)> = None;
    let mut in_fence = false;
    for token in rust_tokens::without_word_lists(&rust_tokens::tokens(text)) {
        match token.kind {
            TokenKind::Comment => {
                let marker = marker_of(token.text);
                let continues =
                    last.is_some_and(|(before, line)| before == marker && line + 1 == token.line);
                in_fence &= continues;
                last = Some((marker, token.line));
                for (index, line) in token.text.lines().enumerate() {
                    let body = line.trim().trim_start_matches(['/', '!', '*']).trim();
                    let opens_block = body.starts_with("```");
                    let is_new = !continues && index == 0;
                    if is_new || body.is_empty() || opens_block || body.starts_with("- ") {
                        let mut piece = Piece::new(true);
                        piece.is_doc_start = is_new && matches!(marker, "//!" | "///");
                        pieces.push(piece);
                    }
                    if opens_block {
                        in_fence = !in_fence;
                    } else if !in_fence && let Some(piece) = pieces.last_mut() {
                        piece.push(token.line + index, body.trim_start_matches("- "));
                    }
                }
            }
            TokenKind::Str if token.text.contains(' ') => {
                last = None;
                let mut piece = Piece::new(false);
                for (index, line) in token.text.lines().enumerate() {
                    piece.push(
                        token.line + index,
                        line.trim().trim_end_matches('\\').trim_end(),
                    );
                }
                pieces.push(piece);
            }
            _ => last = None,
        }
    }
    pieces
}

/// `//!`, `///`, `//` or `/*`.
fn marker_of(comment: &str) -> &str {
    let markers = ["//!", "///", "//", "/*"];
    markers
        .into_iter()
        .find(|marker| comment.starts_with(marker))
        .unwrap_or("//")
}

/// Joins lines up to blank lines, list items and table rows. Skips fenced blocks.
fn paragraphs(text: &str, is_read: fn(&str) -> bool) -> Vec<Piece> {
    let mut pieces = vec![Piece::new(false)];
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence && !line.is_empty() && is_read(line) {
            if line.starts_with(['|', '-', '#', '*']) {
                pieces.push(Piece::new(false));
            }
            if let Some(piece) = pieces.last_mut() {
                piece.push(index + 1, line);
            }
            continue;
        }
        pieces.push(Piece::new(false));
    }
    pieces
}

/// Overwrites the text between backticks: names of code and of programs such as `who` are not
/// words.
fn without_code_spans(text: &str) -> String {
    let mut is_code = false;
    let masked = |c: char| {
        is_code ^= c == '`';
        if is_code && c != '`' && c.is_ascii() {
            '.'
        } else {
            c
        }
    };
    text.chars().map(masked).collect()
}

/// Returns the lines of comments, each with its number and with the code before the comment.
pub(crate) fn comment_lines(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for token in rust_tokens::without_word_lists(&rust_tokens::tokens(text)) {
        if token.kind == TokenKind::Comment {
            let count = token.text.lines().count();
            let numbers = token.line..token.line + count;
            found.extend(numbers.filter_map(|number| Some((number, *lines.get(number - 1)?))));
        }
    }
    found
}
