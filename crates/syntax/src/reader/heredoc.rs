//! Heredoc bodies: their beginning, their end, and the expansions in them.
//!
//! The redirection itself is parsed like other redirections; the body starts after the next
//! newline.

use super::super::ast::WordPart;
use super::pending::PendingHeredoc;
use super::{Origin, Reader};

/// A heredoc body as written.
struct HeredocBody {
    text: String,
    /// True if the body equals the script byte for byte: no tabs or continuations were removed.
    is_verbatim: bool,
    end: usize,
}

impl Reader<'_> {
    /// Reads the bodies of all pending heredocs, from the current position.
    pub(super) fn read_heredoc_bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.pos;
            let body = self.heredoc_body(&pending);
            let parts = if pending.literal {
                vec![WordPart::Quoted(body.text)]
            } else {
                let origin = match self.origin {
                    Origin::At(base) if body.is_verbatim => Origin::At(base + start),
                    _ => Origin::Generated(self.span(start, body.end)),
                };
                let mut reader = Reader::new(&body.text, origin, self.budget, self.depth);
                let parts = reader.deeper(Reader::heredoc_parts);
                if let Some((problem, _)) = reader.problem {
                    self.fail(problem);
                }
                parts
            };
            // Cannot fail: each body belongs to one redirection and is set once.
            let _ = pending.body.set(parts);
        }
    }

    fn heredoc_body(&mut self, pending: &PendingHeredoc) -> HeredocBody {
        let mut body = HeredocBody {
            text: String::new(),
            is_verbatim: true,
            end: self.pos,
        };
        // True if the previous line ended in a backslash-newline.
        let mut is_continuation = false;
        loop {
            let rest = self.text.get(self.pos..).unwrap_or("");
            if rest.is_empty() {
                body.end = self.pos;
                return body;
            }
            let line = &rest[..rest.find('\n').map_or(rest.len(), |newline| newline + 1)];
            let stripped = if pending.strip && !is_continuation {
                line.trim_start_matches('\t')
            } else {
                line
            };
            body.end = self.pos;
            if !is_continuation
                && let Some(unread) = self.delimiter_line(stripped, &pending.delimiter)
            {
                self.pos += line.len() - unread;
                return body;
            }
            self.pos += line.len();
            body.is_verbatim &= stripped.len() == line.len();
            is_continuation = !pending.literal && continues(stripped);
            if is_continuation {
                body.is_verbatim = false;
                body.text.push_str(&stripped[..stripped.len() - 2]);
            } else {
                body.text.push_str(stripped);
            }
        }
    }

    /// If the line ends the heredoc, returns the number of bytes after the delimiter that are not
    /// consumed. In a command substitution, bash allows the closing parenthesis on the same line.
    fn delimiter_line(&self, line: &str, delimiter: &str) -> Option<usize> {
        let rest = line.strip_prefix(delimiter)?;
        match rest {
            "" | "\n" => Some(0),
            _ if self.substitutions > 0 && rest.starts_with(')') => Some(rest.len()),
            _ => None,
        }
    }
}

/// True if a line ends in an unescaped backslash-newline.
fn continues(line: &str) -> bool {
    line.strip_suffix('\n').is_some_and(|line| {
        let slashes = line.len() - line.trim_end_matches('\\').len();
        slashes % 2 == 1
    })
}
