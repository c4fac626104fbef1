//! The part of a script that led to a verdict, in a form that is safe for a terminal.
//!
//! A script must not reach the terminal unchanged: control characters move the cursor or set the
//! title, and bidi controls display text in another order than bash reads it.

use unicode_width::UnicodeWidthChar;

use crate::Span;
use agent_bash_core::visible;

/// A line of a script and its underline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedLine {
    /// The line's number, from 1.
    pub number: usize,
    /// The line's text, safe to show: see [`visible`]. A long line is reduced to the surroundings
    /// of the mark.
    pub text: String,
    /// Spaces and `^`, in terminal columns.
    pub mark: String,
}

/// Maximum width of a line. With the line number in front, such a line fits an 80-column terminal;
/// wrapping would displace the mark.
const MAX_COLUMNS: usize = 69;

/// Columns kept before the mark when a line is cut.
const LEAD_COLUMNS: usize = 30;

/// The spaces that replace a tab.
const TAB_SPACES: &str = "    ";

/// Maximum number of lines shown.
const MAX_LINES: usize = 10;

/// Returns the lines that a span touches, at most `MAX_LINES`. The part of the span in each line
/// is underlined. Empty if the span is beyond the end of the script.
pub fn marked_lines(script: &str, span: Span) -> Vec<MarkedLine> {
    let mut out = Vec::new();
    let mut start = 0; // The offset of the line in the script.
    for (index, line) in script.split('\n').enumerate() {
        let end = start + line.len();
        let touches = span.start <= end
            && span.end >= start
            && (span.end > start || span.start == start || span.start == span.end);
        if touches && out.len() < MAX_LINES {
            let from = span.start.clamp(start, end) - start;
            let to = span.end.clamp(start, end) - start;
            let line = line.strip_suffix('\r').unwrap_or(line);
            let (text, mark) = marked(line, from, to);
            out.push(MarkedLine {
                number: index + 1,
                text,
                mark,
            });
        }
        start = end + 1;
    }
    out
}

/// Returns a line's text and the mark below its bytes `from..to`. The mark is at least one column
/// wide.
fn marked(line: &str, from: usize, to: usize) -> (String, String) {
    // Each character as shown, its width in columns, and true if the mark is below it.
    let cells: Vec<(String, usize, bool)> = line
        .char_indices()
        .scan(None, |before, (at, c)| {
            let must_be_marked = visible::must_be_marked(*before, c);
            *before = (!must_be_marked).then_some(c);
            let (text, columns) = match c {
                '\t' => (TAB_SPACES.to_owned(), TAB_SPACES.len()),
                c if must_be_marked => {
                    let mark = visible::mark(c);
                    let columns = mark.len();
                    (mark, columns)
                }
                c => (c.to_string(), c.width().unwrap_or(0)),
            };
            Some((text, columns, from <= at && at < to))
        })
        .collect();
    let columns: usize = cells.iter().map(|(_, columns, _)| columns).sum();
    let cells_and_offsets = cells.iter().zip(line.char_indices());
    let before_mark = cells_and_offsets.take_while(|(_, (at, _))| *at < from);
    let lead: usize = before_mark.map(|((_, columns, _), _)| columns).sum();
    let is_cut = columns > MAX_COLUMNS;
    let skip = usize::from(is_cut) * lead.saturating_sub(LEAD_COLUMNS);
    let (mut text, mut mark) = (String::new(), String::new());
    if skip > 0 {
        text.push('…');
        mark.push(' ');
    }
    let (mut passed_columns, mut shown_columns) = (0, 0);
    for (cell, columns, is_marked) in cells {
        passed_columns += columns;
        if passed_columns <= skip {
            continue;
        }
        if shown_columns + columns > MAX_COLUMNS {
            text.push('…');
            break;
        }
        shown_columns += columns;
        text.push_str(&cell);
        mark.push_str(&if is_marked { "^" } else { " " }.repeat(columns));
    }
    if !mark.contains('^') {
        mark.truncate(
            mark.len()
                .min(lead.saturating_sub(skip) + usize::from(skip > 0)),
        );
        mark.push('^');
    }
    (text, mark.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_is_below_the_marked_words() {
        for (script, part, expect) in [
            ("rm -rf /", "rm -rf /", "rm -rf /\n^^^^^^^^"),
            ("cd a\n\trm x; ls", "rm x", "    rm x; ls\n    ^^^^"),
            ("rm\tx", "rm\tx", "rm    x\n^^^^^^^"),
            ("é && rm x\ny", "rm x", "é && rm x\n     ^^^^"),
            (
                "echo 日本; rm x",
                "rm x",
                "echo 日本; rm x\n           ^^^^",
            ),
            ("日本 x", "日本", "日本 x\n^^^^"),
            ("ls\r\nrm x\r\n", "rm x\r", "rm x\n^^^^"),
            ("rm \\\n  x", "rm \\\n  x", "rm \\\n^^^^\n  x\n^^^"),
            // Shown escaped.
            (
                "\u{1b}[31m; rm x",
                "rm x",
                "<U+001B>[31m; rm x\n              ^^^^",
            ),
            (
                "a\u{202e}b rm x",
                "rm x",
                "a<U+202E>b rm x\n           ^^^^",
            ),
            (
                "ls \u{e0072}\u{e006d}; rm x",
                "rm x",
                "ls <U+E0072><U+E006D>; rm x\n                       ^^^^",
            ),
        ] {
            let start = script.find(part).unwrap();
            let span = Span {
                start,
                end: start + part.len(),
            };
            let lines: Vec<String> = marked_lines(script, span)
                .into_iter()
                .map(|line| format!("{}\n{}", line.text, line.mark))
                .collect();
            assert_eq!(lines.join("\n"), expect, "{script:?}");
        }
    }

    #[test]
    fn empty_span_is_shown_too() {
        let at = |script, start| marked_lines(script, Span { start, end: start });
        assert_eq!(at("foo", 3)[0].mark, "   ^");
        assert_eq!(at("", 0)[0].mark, "^");
        assert_eq!(at("a\nbc", 2)[0].mark, "^");
        assert_eq!(at("foo", 9), []);
    }

    #[test]
    fn long_line_is_cut_around_the_mark() {
        let script = format!("echo {}; rm x; {}", "a".repeat(500), "b".repeat(500));
        let start = script.find("rm x").unwrap();
        let lines = marked_lines(
            &script,
            Span {
                start,
                end: start + 4,
            },
        );
        let [line] = lines.as_slice() else {
            panic!("{lines:?}")
        };
        assert!(line.text.starts_with('…') && line.text.ends_with('…'));
        assert!(line.text.chars().count() <= MAX_COLUMNS + 2);
        let column = line.mark.find('^').unwrap();
        let below: String = line.text.chars().skip(column).take(4).collect();
        assert_eq!(below, "rm x");
        // A mark longer than the line is cut along with it.
        let all = marked_lines(
            &script,
            Span {
                start: 0,
                end: script.len(),
            },
        );
        assert_eq!(all[0].mark.len(), MAX_COLUMNS);
    }
}
