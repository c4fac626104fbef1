//! The text as the grammar can read it: what it misreads is edited out, and positions are mapped back.
//!
//! tree-sitter-bash 0.25.1 takes words behind a keyword such as `time` for arguments, cannot follow
//! several heredocs on a line, reads heredoc bodies of the `<<-` kind as text, and needs quadratic time
//! and memory for many unfinished heredocs. Our reader knows where these stand; here they are blanked,
//! cut or spelled differently before the grammar sees the text.

use crate::Span;

/// A change to the text: the bytes from `start` to `end` become `with`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    start: usize,
    end: usize,
    with: &'static str,
    fill: bool,
}

impl Edit {
    /// Leaves the bytes out.
    pub(crate) fn cut(start: usize, end: usize) -> Self {
        Edit {
            start,
            end,
            with: "",
            fill: false,
        }
    }

    /// Puts blanks in their place.
    pub(crate) fn blank(start: usize, end: usize) -> Self {
        Edit {
            start,
            end,
            with: "",
            fill: true,
        }
    }

    /// Puts `with` in their place.
    pub(crate) fn replace(start: usize, end: usize, with: &'static str) -> Self {
        Edit {
            start,
            end,
            with,
            fill: false,
        }
    }
}

/// An edited text and the way back to the original.
#[derive(Debug)]
pub(crate) struct Mended {
    /// What the grammar reads.
    pub(crate) text: String,
    /// Where in `text` each unchanged stretch begins, and where it stood.
    stretches: Vec<(usize, usize)>,
}

impl Mended {
    /// Applies the edits; those that overlap an earlier one are dropped.
    pub(crate) fn new(text: &str, mut edits: Vec<Edit>) -> Self {
        edits.sort_by_key(|edit| edit.start);
        let mut out = String::with_capacity(text.len());
        let mut stretches = vec![(0, 0)];
        let mut at = 0;
        for edit in edits {
            let Some(kept) = text.get(at..edit.start) else {
                continue;
            };
            out.push_str(kept);
            if edit.fill {
                out.extend(std::iter::repeat_n(' ', edit.end - edit.start));
            }
            out.push_str(edit.with);
            at = edit.end;
            stretches.push((out.len(), at));
        }
        out.push_str(text.get(at..).unwrap_or(""));
        Mended {
            text: out,
            stretches,
        }
    }

    /// Where a span of the edited text stood in the original.
    pub(crate) fn original(&self, start: usize, end: usize) -> Span {
        Span {
            start: self.map(start),
            end: self.map_end(end),
        }
    }

    fn map(&self, at: usize) -> usize {
        let index = self.stretches.partition_point(|(begin, _)| *begin <= at);
        self.stretches[..index]
            .last()
            .map_or(at, |(begin, stood)| stood + (at - begin))
    }

    /// An end belongs to the stretch in front of it.
    fn map_end(&self, at: usize) -> usize {
        let index = self.stretches.partition_point(|(begin, _)| *begin < at);
        self.stretches[..index]
            .last()
            .map_or(at, |(begin, stood)| stood + (at - begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_lead_back() {
        let text = "cat <<E\nbody\nE\nls x";
        let mended = Mended::new(text, vec![Edit::cut(8, 15), Edit::replace(4, 6, " <")]);
        assert_eq!(mended.text, "cat  <E\nls x");
        let at = mended.text.find("ls").unwrap();
        let span = mended.original(at, at + 2);
        assert_eq!(&text[span.start..span.end], "ls");
    }
}
