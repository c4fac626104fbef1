//! Prepares the text for the grammar: edits out what it misreads, and maps positions back.
//!
//! tree-sitter-bash 0.25.1 takes words after a keyword such as `time` for arguments, cannot parse several heredocs
//! on one line, treats bodies of `<<-` heredocs as text, and needs quadratic time and memory for many unfinished
//! heredocs. Our reader knows where these are; here they are blanked out, cut or rewritten before the grammar sees
//! the text.

use crate::Span;

/// An edit: the bytes from `start` to `end` are replaced by `with`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    start: usize,
    end: usize,
    with: &'static str,
    fill: bool,
}

impl Edit {
    /// Removes the bytes.
    pub(crate) fn cut(start: usize, end: usize) -> Self {
        Edit {
            start,
            end,
            with: "",
            fill: false,
        }
    }

    /// Replaces them with blanks.
    pub(crate) fn blank(start: usize, end: usize) -> Self {
        Edit {
            start,
            end,
            with: "",
            fill: true,
        }
    }

    /// Replaces them with `with`.
    pub(crate) fn replace(start: usize, end: usize, with: &'static str) -> Self {
        Edit {
            start,
            end,
            with,
            fill: false,
        }
    }
}

/// An edited text and the mapping to the original.
#[derive(Debug)]
pub(crate) struct Mended {
    /// The text for the grammar.
    pub(crate) text: String,
    /// For each unchanged stretch, where it begins in `text` and in the original.
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

    /// The span in the original for a span of the edited text.
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
