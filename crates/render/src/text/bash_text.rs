//! A script in colours: the styles of its parts, and its rows.

use crate::Theme;
use crate::text::row_breaks::break_rows;
use crate::text::styled_line::StyledLine;
use crate::text::visible_text;
use crate::text::visible_text::shortened;
use agent_bash_core::visible;
use agent_bash_syntax::tokens::{TextEnding, TokenKind, Tokens, ending};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Maximum length in bytes of a script that gets colours.
const MAX_COLOURED_BYTES: usize = 16 << 10;

/// The parts of a script with their styles, in order. Text between them has no style of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BashStyles {
    parts: Vec<(Range<usize>, Style)>,
}

impl BashStyles {
    /// The styles of a complete script.
    pub fn of(text: &str, theme: &Theme) -> Self {
        if text.len() > MAX_COLOURED_BYTES {
            return Self::default();
        }
        Self::of_tokens(text, &Tokens::of(text), theme, |_| true)
    }

    /// The styles of a script that is being typed. Marks commands for which `is_known` returns
    /// false, and errors that no continuation can repair.
    pub fn typed(text: &str, theme: &Theme, is_known: impl Fn(&str) -> bool) -> Self {
        if text.len() > MAX_COLOURED_BYTES {
            return Self::default();
        }
        let tokens = Tokens::of(text);
        let defined = functions(text, &tokens);
        let is_known = |name: &str| defined.contains(&name) || is_known(name);
        let mut styles = Self::of_tokens(text, &tokens, theme, is_known);
        if let TextEnding::Wrong(span) = ending(text, &tokens) {
            styles.mark(span.start..span.end, theme.wrong);
        }
        styles
    }

    fn of_tokens(
        text: &str,
        tokens: &Tokens,
        theme: &Theme,
        is_known: impl Fn(&str) -> bool,
    ) -> Self {
        let parts = tokens.tokens.iter().map(|token| {
            let range = token.span.start..token.span.end;
            let style = match token.kind {
                TokenKind::Keyword => theme.keyword,
                TokenKind::Command if is_known(&text[range.clone()]) => theme.title,
                TokenKind::Command => theme.unknown,
                TokenKind::Text => theme.text,
                TokenKind::String => theme.string,
                TokenKind::Variable => theme.variable,
                TokenKind::Comment => theme.comment,
                TokenKind::Operator => theme.operator,
            };
            (range, style)
        });
        Self {
            parts: parts.collect(),
        }
    }

    /// Adds a style on top of the styles of a range.
    fn mark(&mut self, range: Range<usize>, style: Style) {
        let mut parts = Vec::with_capacity(self.parts.len() + 2);
        for (part, part_style) in self.parts.drain(..) {
            let within = part.start.max(range.start)..part.end.min(range.end);
            if within.is_empty() {
                parts.push((part, part_style));
                continue;
            }
            parts.push((part.start..within.start, part_style));
            parts.push((within.clone(), part_style.patch(style)));
            parts.push((within.end..part.end, part_style));
        }
        parts.retain(|(part, _)| !part.is_empty());
        self.parts = parts;
    }

    /// The style of the byte at `at`.
    pub fn at(&self, at: usize) -> Style {
        let found = self.parts.partition_point(|(part, _)| part.end <= at);
        match self.parts.get(found) {
            Some((part, style)) if part.contains(&at) => *style,
            _ => Style::new(),
        }
    }
}

/// The names of the functions that a script defines, at any depth.
fn functions<'t>(text: &'t str, tokens: &Tokens) -> Vec<&'t str> {
    let tokens = tokens.tokens.iter();
    let tokens = tokens.map(|token| (token.kind, &text[token.span.start..token.span.end]));
    let tokens: Vec<(TokenKind, &str)> = tokens.collect();
    let is = |at: Option<usize>, kind, text| {
        let token = at.and_then(|at| tokens.get(at));
        token == Some(&(kind, text))
    };
    let names = tokens.iter().enumerate().filter(|(at, (kind, _))| {
        let after_keyword = is(at.checked_sub(1), TokenKind::Keyword, "function");
        let before_body = is(Some(at + 1), TokenKind::Operator, "(")
            && is(Some(at + 2), TokenKind::Operator, ")");
        *kind == TokenKind::Command && (after_keyword || before_body)
    });
    names.map(|(_, (_, name))| *name).collect()
}

/// Returns the rows of a script. `base` is the style to which the script's colours are added.
/// Control sequences have no effect.
pub(crate) fn script_rows(
    text: &str,
    width: usize,
    base: Style,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let styles = BashStyles::of(text, theme);
    let (mut rows, mut from) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let mut row = StyledLine::default();
        let content = line.trim_end_matches('\n');
        let shown = visible::shown(content);
        for (at, c) in byte_offsets(content).into_iter().zip(shown.chars()) {
            let style = base.patch(styles.at(from + at));
            match c {
                '\t' => row.push_tab(style, usize::MAX),
                c => row.push(c, style, usize::MAX),
            }
        }
        // The styles come from the caller's theme, which may have no colours.
        row.draw_rows(width, 0, &Theme::dark(), &mut rows);
        from += line.len();
    }
    rows
}

/// Returns the first lines of a script, each on one row. If there are fewer lines than `rows`, long
/// lines get the remaining rows.
pub(crate) fn script_lines(
    text: &str,
    [lines, rows]: [usize; 2],
    columns: usize,
    base: Style,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let styles = BashStyles::of(text, theme);
    let (mut out, mut from) = (Vec::new(), 0);
    let mut extra_rows = rows.saturating_sub(text.lines().count());
    for line in text.split_inclusive('\n').take(lines) {
        let content = line.trim_end_matches(['\n', '\r']);
        let byte_offsets = byte_offsets(content);
        let mut at = 0;
        let parts = first_rows(content, 1 + extra_rows, columns);
        extra_rows -= parts.len() - 1;
        for (skipped, part) in parts {
            at += skipped;
            let style_at = |index: usize| {
                let offset = byte_offsets.get(at + index).copied();
                base.patch(styles.at(from + offset.unwrap_or(content.len())))
            };
            out.push(styled_line(&part, style_at));
            at += part.chars().count();
        }
        from += line.len();
    }
    out
}

/// A line whose characters have the styles that `style_at` returns for their indexes.
fn styled_line(text: &str, style_at: impl Fn(usize) -> Style) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    for (index, c) in text.chars().enumerate() {
        let style = style_at(index);
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push(c),
            _ => spans.push(Span::styled(c.to_string(), style)),
        }
    }
    Line::from(spans)
}

/// Breaks a line into at most `most` rows, and shortens the last row if the line is longer. Each
/// row comes with the number of spaces skipped before it.
fn first_rows(line: &str, most: usize, columns: usize) -> Vec<(usize, String)> {
    // Only the beginning of a line of megabytes is processed.
    let max_chars = columns.saturating_mul(8 * most).saturating_add(64);
    let cut = line.char_indices().nth(max_chars);
    let cut = cut.map_or(line.len(), |(at, _)| at);
    let shown = visible::one_line(&line[..cut]);
    let parts = shown.grapheme_indices(true);
    let parts = parts.map(|(at, part)| (at, visible_text::width(part), part == " "));
    let all = break_rows(parts, shown.len(), columns);
    let is_all = cut == line.len() && all.len() <= most;
    let (mut rows, mut previous_end) = (Vec::new(), 0);
    for row in all.into_iter().take(most) {
        let skipped = shown[previous_end..row.start].chars().count();
        previous_end = row.end;
        let text = if is_all || rows.len() + 1 < most {
            shown[row].to_owned()
        } else {
            shortened(&format!("{}…", &shown[row.start..]), columns)
        };
        rows.push((skipped, text));
    }
    rows
}

/// Maps each shown character to its byte in the line. An invisible character is shown as a mark of
/// several characters.
fn byte_offsets(line: &str) -> Vec<usize> {
    let mut byte_offsets = Vec::with_capacity(line.len());
    let mut before = None;
    for (at, c) in line.char_indices() {
        let is_marked = c != '\t' && visible::must_be_marked(before, c);
        let shown = if is_marked { visible::mark(c).len() } else { 1 };
        byte_offsets.extend(std::iter::repeat_n(at, shown));
        // As in the code that inserts the marks, a tab is not a preceding character: it is drawn as
        // a space.
        before = (!is_marked && c != '\t').then_some(c);
    }
    byte_offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Modifier};

    #[test]
    fn errors_are_marked_and_unfinished_scripts_are_not() {
        let theme = Theme::dark();
        let is_marked = |text: &str, at| {
            let styles = BashStyles::typed(text, &theme, |_| true);
            styles.at(at).add_modifier.contains(Modifier::UNDERLINED)
        };
        assert!(is_marked("echo )", 5));
        assert!(!is_marked("echo )", 0));
        assert!(!is_marked("echo (", 5));
        assert!(!is_marked("if true; then", 0));
    }

    #[test]
    fn unknown_commands_differ() {
        let theme = Theme::dark();
        let styles = BashStyles::typed("gti status", &theme, |name| name == "git");
        assert_eq!(styles.at(0), theme.unknown);
        let styles = BashStyles::typed("git status", &theme, |name| name == "git");
        assert_eq!((styles.at(0), styles.at(4)), (theme.title, theme.text));
        // Functions of the same script are known, at their definition and their use.
        for text in ["mod () { :; }; mod", "function mod { :; }\nmod"] {
            let styles = BashStyles::typed(text, &theme, |_| false);
            for (at, _) in text.match_indices("mod") {
                assert_eq!(styles.at(at), theme.title, "{text} at {at}");
            }
        }
        let styles = BashStyles::typed("(mod) ; mod", &theme, |_| false);
        assert_eq!(styles.at(1), theme.unknown);
    }

    #[test]
    fn rows_show_the_script_and_control_characters_have_no_effect() {
        let theme = Theme::dark();
        let text =
            |rows: &[Line<'_>]| -> Vec<String> { rows.iter().map(ToString::to_string).collect() };
        let rows = script_rows("echo '\u{1b}[31mx'", 80, theme.text, &theme);
        assert_eq!(text(&rows), ["echo '<U+001B>[31mx'"]);
        // A mark keeps the colours around it.
        let marked = "\techo 1\u{fe0f} 'a\u{200b}' 👨\u{200d}👩 $b";
        let all = script_rows(marked, 80, theme.text, &theme);
        let first = script_lines(marked, [1; 2], 80, theme.text, &theme);
        for (rows, tab) in [(all, "        "), (first, " ")] {
            let shown = format!("{tab}echo 1<U+FE0F> 'a<U+200B>' 👨\u{200d}👩 $b");
            assert_eq!(text(&rows), [shown]);
            let style_of = |part: &str| {
                let has = |span: &&Span<'_>| span.content.contains(part);
                rows[0].spans.iter().find(has).unwrap().style
            };
            assert_eq!(style_of("echo"), theme.text.patch(theme.title));
            assert_eq!(style_of("'a<U+200B>'"), theme.text.patch(theme.string));
            assert_eq!(style_of("$b"), theme.text.patch(theme.variable));
        }
        let script = "if a; then\n\techo x $b\nfi";
        let rows = script_rows(script, 80, theme.text, &theme);
        assert_eq!(text(&rows), ["if a; then", "        echo x $b", "fi"]);
        assert_eq!(rows[0].spans[0].style, theme.text.patch(theme.keyword));
        let rows = script_lines(
            "echo one\necho \u{7}two\nmore",
            [2; 2],
            6,
            theme.text,
            &theme,
        );
        assert_eq!(text(&rows), ["echo …", "echo …"]);
        // Without colours, there are none.
        let plain = Theme::plain();
        let rows = script_rows(script, 80, plain.text, &plain);
        let has_colour = |span: &Span<'_>| span.style.fg.is_some_and(|color| color != Color::Reset);
        assert!(!rows.iter().flat_map(|row| &row.spans).any(has_colour));
    }

    #[test]
    fn long_lines_get_the_remaining_rows() {
        let theme = Theme::dark();
        let rows = |script: &str, columns| -> Vec<String> {
            let rows = script_lines(script, [9, 3], columns, theme.text, &theme);
            rows.iter().map(ToString::to_string).collect()
        };
        assert_eq!(rows("echo one two", 12), ["echo one two"]);
        assert_eq!(rows("echo one two", 8), ["echo one", "two"]);
        let long = "echo one two three four five";
        assert_eq!(rows(long, 10), ["echo one", "two three", "four five"]);
        assert_eq!(rows(long, 9), ["echo one", "two three", "four five"]);
        assert_eq!(rows(long, 8), ["echo one", "two", "three f…"]);
        assert_eq!(rows("abcdefghijk", 4), ["abcd", "efgh", "ijk"]);
        assert_eq!(rows("abcdefghijklm", 4), ["abcd", "efgh", "ijk…"]);
        assert_eq!(rows("你好你好你好你", 4), ["你好", "你好", "你…"]);
        // The first line gets the rows that the second leaves; of three lines none gets more.
        assert_eq!(rows("echo one two\nls", 8), ["echo one", "two", "ls"]);
        assert_eq!(
            rows(&format!("{long}\nls"), 8),
            ["echo one", "two thr…", "ls"]
        );
        assert_eq!(rows(&format!("{long}\na\nb"), 8), ["echo on…", "a", "b"]);
        assert_eq!(rows("\nls", 8), ["", "ls"]);
        let huge = format!("a{}", "\u{301}".repeat(1 << 20));
        assert_eq!(rows(&huge, 4).len(), 1);
        // The colours of all rows are those of the script.
        let lines = script_lines("echo one  'two' $b", [9, 3], 10, theme.text, &theme);
        let styles = |text: &str| {
            let spans = lines.iter().flat_map(|line| &line.spans);
            let mut found = spans.filter(|span| span.content == text);
            found.next().map(|span| span.style)
        };
        assert_eq!(styles("'two'"), Some(theme.text.patch(theme.string)));
        assert_eq!(styles("$b"), Some(theme.text.patch(theme.variable)));
    }
}
