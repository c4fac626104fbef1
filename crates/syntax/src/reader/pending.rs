//! A heredoc between its redirection and its body.

use std::cell::OnceCell;
use std::rc::Rc;

use super::super::ast::WordPart;

/// A heredoc whose body was not read yet.
pub(super) struct PendingHeredoc {
    pub(super) delimiter: String,
    /// True if the delimiter is quoted, so that the body is data.
    pub(super) literal: bool,
    /// True for `<<-`: leading tabs are removed from the body.
    pub(super) strip: bool,
    pub(super) body: Rc<OnceCell<Vec<WordPart>>>,
}

impl PendingHeredoc {
    /// Creates a heredoc from the delimiter as written.
    pub(super) fn new(written: &str, strip: bool) -> Self {
        let (delimiter, literal) = dequote(written);
        PendingHeredoc {
            delimiter,
            literal,
            strip,
            body: Rc::new(OnceCell::new()),
        }
    }

    pub(super) fn body(&self) -> Rc<OnceCell<Vec<WordPart>>> {
        Rc::clone(&self.body)
    }

    pub(super) fn is_literal(&self) -> bool {
        self.literal
    }
}

/// Returns the unquoted delimiter, and true if it was quoted.
fn dequote(written: &str) -> (String, bool) {
    let mut out = String::new();
    let mut quoted = false;
    let mut inside = None;
    let mut chars = written.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, inside) {
            ('\\', None) => match chars.next() {
                None | Some('\n') => {}
                Some(next) => {
                    quoted = true;
                    out.push(next);
                }
            },
            ('\\', Some('"')) if matches!(chars.peek(), Some('"' | '\\' | '$' | '`')) => {
                out.extend(chars.next());
            }
            ('\'' | '"', None) => {
                quoted = true;
                inside = Some(c);
            }
            (c, Some(open)) if c == open => inside = None,
            ('$', None) if matches!(chars.peek(), Some('\'' | '"')) => {}
            _ => out.push(c),
        }
    }
    (out, quoted)
}
