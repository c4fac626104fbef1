//! Redirections: descriptor, operator, and the word or heredoc after it.

use super::super::ast::{Redir, RedirOp};
use super::pending::PendingHeredoc;
use super::{ReadProblem, Reader};

impl Reader<'_> {
    /// Parses a redirection, if one begins here.
    pub(super) fn redirection(&mut self) -> Option<Redir> {
        let start = self.pos;
        let fd = self.redirection_fd();
        let Some((op, len, strip)) = self.redirection_operator() else {
            self.pos = start;
            return None;
        };
        self.pos += len;
        self.skip_blanks();
        let word_start = self.pos;
        let Some(target) = self.word() else {
            self.fail(ReadProblem::Syntax);
            return None;
        };
        if op != RedirOp::Heredoc {
            return Some(Redir {
                fd,
                op,
                target,
                body: None,
                literal_body: false,
            });
        }
        let written = self.text.get(word_start..self.pos).unwrap_or("");
        let pending = PendingHeredoc::new(written, strip);
        let redir = Redir {
            fd,
            op,
            target,
            body: Some(pending.body()),
            literal_body: pending.is_literal(),
        };
        self.pending.push(pending);
        Some(redir)
    }

    /// Parses digits or `{name}` directly before a redirection operator.
    fn redirection_fd(&mut self) -> Option<u32> {
        let rest = self.rest();
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let len = if digits > 0 {
            digits
        } else if rest.first() == Some(&b'{') {
            let name = rest[1..]
                .iter()
                .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_');
            let len = name.count() + 2;
            if rest.get(len - 1) != Some(&b'}') {
                return None;
            }
            len
        } else {
            return None;
        };
        if !matches!(rest.get(len), Some(b'<' | b'>')) {
            return None;
        }
        let written = self.text.get(self.pos..self.pos + digits).unwrap_or("");
        self.pos += len;
        // bash gives a descriptor in a variable (`{fd}>`) the number 10 or more.
        Some(written.parse().unwrap_or(10))
    }

    /// Returns the operator at this position, its length, and true if it removes leading tabs from
    /// a heredoc.
    fn redirection_operator(&self) -> Option<(RedirOp, usize, bool)> {
        // Longest first; true if leading tabs are removed from a heredoc's body.
        const OPERATORS: [(&str, RedirOp, bool); 13] = [
            ("<<<", RedirOp::HereString, false),
            ("<<-", RedirOp::Heredoc, true),
            ("<<", RedirOp::Heredoc, false),
            ("<>", RedirOp::ReadWrite, false),
            ("<&", RedirOp::DupRead, false),
            ("&>>", RedirOp::AppendBoth, false),
            ("&>", RedirOp::WriteBoth, false),
            (">>", RedirOp::Append, false),
            (">|", RedirOp::Write, false),
            (">&", RedirOp::DupWrite, false),
            ("<(", RedirOp::Read, false),
            ("<", RedirOp::Read, false),
            (">", RedirOp::Write, false),
        ];
        let (text, op, strip) = OPERATORS.iter().find(|(text, ..)| self.starts_with(text))?;
        let is_substitution = *text == "<(" || (*text == ">" && self.byte(1) == Some(b'('));
        (!is_substitution).then_some((*op, text.len(), *strip))
    }
}
