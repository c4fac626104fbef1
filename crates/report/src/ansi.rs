//! Converts an output with its colours to markup. Colours and attributes of escape sequences become
//! classes of the page's style; other sequences are removed. The text is the same as in the model's
//! text and on a card: output must not hide more from a reviewer than from the model.

use crate::colour::{Ink, Rgb, nearest, readable};
use agent_bash_journal::PrintedOutput;
use agent_bash_render::{OutputLimits, OutputText, Theme};
use agent_bash_sink::TerminalText;
use maud::{Markup, html};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A width that no line reaches, because the browser wraps lines.
const UNWRAPPED_COLUMNS: usize = 1 << 20;

/// The limits of an output: a line is limited as on a card. The recorded output is already limited,
/// so it is shown completely.
const OUTPUT_LIMITS: OutputLimits = OutputLimits {
    bytes: usize::MAX,
    ..OutputLimits::CARD
};

/// Attributes and their classes. Blinking is ignored. Hidden text is shown, because a reviewer must
/// see it.
const ATTRIBUTES: [(Modifier, &str); 6] = [
    (Modifier::BOLD, "B"),
    (Modifier::DIM, "D"),
    (Modifier::ITALIC, "I"),
    (Modifier::UNDERLINED, "U"),
    (Modifier::CROSSED_OUT, "X"),
    (Modifier::HIDDEN, "H"),
];

/// The numbers of first and of last lines of a long text that are printed on paper.
const PAPER_LINES: [usize; 2] = [30, 20];

/// The used pairs of text and background colours. Their CSS rules are written once, at the end of
/// the page's style.
#[derive(Debug, Default)]
pub(crate) struct Palette(BTreeSet<(Ink, Ink)>);

impl Palette {
    /// Returns the CSS rule of each pair, for the light and the dark scheme.
    pub(crate) fn rules(&self) -> String {
        let mut rules = String::new();
        for &(foreground, background) in &self.0 {
            let [light, dark] = [0, 1].map(|scheme| readable(foreground, background, scheme));
            let css_colour = |[r, g, b]: Rgb, [x, y, z]: Rgb| {
                format!("light-dark(#{r:02x}{g:02x}{b:02x},#{x:02x}{y:02x}{z:02x})")
            };
            // Writing to a String cannot fail.
            let _ = write!(
                rules,
                ".{}{{color:{}",
                class(foreground, background),
                css_colour(light.0, dark.0)
            );
            if background != Ink::Page {
                let _ = write!(rules, ";background:{}", css_colour(light.1, dark.1));
            }
            rules.push('}');
        }
        rules
    }

    /// Returns the markup of the whole stored output.
    pub(crate) fn output_markup(&mut self, printed: &PrintedOutput) -> Markup {
        html! {
            (self.text(&printed.head))
            @if printed.omitted_bytes > 0 {
                span.cut { "… " (printed.omitted_bytes) " bytes are not in this report …\n" }
                (self.text(&printed.tail))
            }
        }
    }

    fn text(&mut self, text: &str) -> Markup {
        let mut output = OutputText::new(OUTPUT_LIMITS);
        // As on a card, `TerminalText` ends an unterminated sequence. `OutputText` alone would
        // treat all further text as part of the sequence.
        let mut clean = TerminalText::coloured();
        output.push(&clean.push(text.as_bytes()));
        output.push(&clean.finish());
        let all = output.tail(UNWRAPPED_COLUMNS, usize::MAX, usize::MAX, &Theme::dark());
        shortened_on_paper(&all.rows, |line| self.line(line))
    }

    fn line(&mut self, line: &Line<'_>) -> Markup {
        html! {
            @for span in &line.spans {
                @let classes = self.classes(span.style);
                @if span.style.add_modifier.contains(Modifier::HIDDEN) { span class=(classes) title="printed as hidden" { (span.content) } }
                @else if classes.is_empty() { (span.content) }
                @else { span class=(classes) { (span.content) } }
            }
            "\n"
        }
    }

    /// Returns the classes of a style, and adds its pair of colours to the palette.
    fn classes(&mut self, style: Style) -> String {
        let mut classes: Vec<String> = Vec::new();
        let mut foreground = ink(style.fg).unwrap_or(Ink::Text);
        let mut background = ink(style.bg).unwrap_or(Ink::Page);
        if style.add_modifier.contains(Modifier::REVERSED) {
            (foreground, background) = (background, foreground);
        }
        if (foreground, background) != (Ink::Text, Ink::Page) {
            self.0.insert((foreground, background));
            classes.push(class(foreground, background));
        }
        let active = ATTRIBUTES
            .iter()
            .filter(|(modifier, _)| style.add_modifier.contains(*modifier));
        classes.extend(active.map(|(_, class)| (*class).to_owned()));
        classes.join(" ")
    }
}

/// Returns the markup of lines. The screen shows all lines. On paper, the middle of a long text is
/// replaced by a line with the number of omitted lines.
pub(crate) fn shortened_on_paper<L>(lines: &[L], mut show: impl FnMut(&L) -> Markup) -> Markup {
    let [first, last] = PAPER_LINES;
    // Up to 10 lines are not omitted, because the line about the omission takes space as well.
    let omitted = if lines.len() > first + last + 10 {
        first..lines.len() - last
    } else {
        0..0
    };
    html! {
        @for line in &lines[..omitted.start] { (show(line)) }
        @if !omitted.is_empty() {
            span.screen { @for line in &lines[omitted.clone()] { (show(line)) } }
            span.paper { "… " (omitted.len()) " lines …\n" }
        }
        @for line in &lines[omitted.end..] { (show(line)) }
    }
}

/// Returns the class of a pair: `f1` is red text, `b4` text on blue, `f1b4` red on blue. `p` is the
/// colour of the page, `t` the colour of text.
fn class(foreground: Ink, background: Ink) -> String {
    let foreground = match foreground {
        Ink::Text => String::new(),
        Ink::Page => "fp".to_owned(),
        Ink::Index(index) => format!("f{index}"),
    };
    match background {
        Ink::Page => foreground,
        Ink::Text => format!("{foreground}bt"),
        Ink::Index(index) => format!("{foreground}b{index}"),
    }
}

/// Returns the colour in the palette; `None` for a default colour.
fn ink(color: Option<Color>) -> Option<Ink> {
    match color? {
        Color::Indexed(index) => Some(Ink::Index(index)),
        Color::Rgb(r, g, b) => Some(Ink::Index(nearest([r, g, b]))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> (String, String) {
        let mut palette = Palette::default();
        let printed = PrintedOutput {
            head: text.to_owned(),
            ..PrintedOutput::default()
        };
        (
            palette.output_markup(&printed).into_string(),
            palette.rules(),
        )
    }

    #[test]
    fn colours_become_classes_and_no_markup_gets_through() {
        let (html, rules) =
            shown("\x1b[1;31merror\x1b[0m: <b>&\x1b]0;title\x07\x1b[2J\x1b[38;5;208mx\x1b[m\n");
        assert_eq!(
            html,
            "<span class=\"f1 B\">error</span>: &lt;b&gt;&amp;<span class=\"f208\">x</span>\n"
        );
        assert_eq!(
            rules,
            ".f1{color:light-dark(#cf222e,#ff7b72)}.f208{color:light-dark(#a55700,#ff8700)}"
        );
    }

    #[test]
    fn unterminated_string_hides_only_its_own_line() {
        for begin in ["\x1b]0;", "\x1bP", "\x1b_", "\x1b^", "\x1bX"] {
            let text = format!("before\n{begin}never ended\nnot \x1b[31mhidden\nlast\n");
            let wanted =
                "before\n\nnot <span class=\"f1\">hidden</span>\n<span class=\"f1\">last</span>\n";
            assert_eq!(shown(&text).0, wanted, "{begin:?}");
            // A string longer than any program sends does not either.
            let long = format!("a{begin}{}b\n", "x".repeat((1 << 20) + 1));
            let html = shown(&long).0;
            assert!(html.ends_with("xb\n") && html.len() < 8, "{begin:?}");
        }
    }

    #[test]
    fn all_recorded_lines_are_shown() {
        let mut text = String::new();
        for line in 0..30_000 {
            writeln!(text, "line {line} with some words to make it longer").unwrap();
        }
        let (html, _) = shown(&text);
        let (before, after) = html
            .replace("<span class=\"screen\">", "")
            .split_once("</span><span class=\"paper\">… 29950 lines …\n</span>")
            .map(|(before, after)| (before.to_owned(), after.to_owned()))
            .unwrap();
        assert_eq!(before + &after, text);
    }

    #[test]
    fn short_text_is_complete_on_paper() {
        let text = "line\n".repeat(60);
        assert_eq!(shown(&text).0, text);
    }

    #[test]
    fn hidden_text_is_shown_and_marked() {
        let (html, _) = shown("\x1b[8mrm -rf\x1b[0m\n");
        assert_eq!(
            html,
            "<span class=\"H\" title=\"printed as hidden\">rm -rf</span>\n"
        );
    }

    /// Returns the contrast of each rule, in both schemes, as a browser would compute it from the
    /// page's style.
    fn contrasts(text: &str) -> Vec<(String, f64)> {
        let colours = |declaration: &str| -> [Rgb; 2] {
            let inner = declaration.split(['(', ')']).nth(1).unwrap();
            let css_colour: Vec<Rgb> = inner
                .split(',')
                .map(|hex| {
                    let number = u32::from_str_radix(hex.trim_start_matches('#'), 16).unwrap();
                    let [_, r, g, b] = number.to_be_bytes();
                    [r, g, b]
                })
                .collect();
            [css_colour[0], css_colour[1]]
        };
        let mut found = Vec::new();
        for rule in shown(text).1.split_terminator('}') {
            let mut parts = rule.split(';');
            let foreground = colours(parts.next().unwrap());
            let background = parts
                .next()
                .map_or([[0xf6, 0xf8, 0xfa], [0x15, 0x1b, 0x23]], colours);
            for scheme in 0..2 {
                found.push((
                    rule.to_owned(),
                    crate::colour::contrast(foreground[scheme], background[scheme]),
                ));
            }
        }
        found
    }

    #[test]
    fn every_pair_of_colours_is_readable_in_both_schemes() {
        let codes = |base: [u8; 2]| {
            (0..8)
                .map(move |n| base[0] + n)
                .chain((0..8).map(move |n| base[1] + n))
        };
        let mut text = String::new();
        for inverse in ["", "7;"] {
            for foreground in codes([30, 90]).chain([39]) {
                for background in codes([40, 100]).chain([49]) {
                    write!(text, "\x1b[0;{inverse}{foreground};{background}mx").unwrap();
                }
            }
        }
        let found = contrasts(&text);
        // 17 × 17 pairs, and the inverse pairs that differ: those with the text's or the page's own
        // colour. One of them is no colour at all.
        assert_eq!(found.len(), 2 * (17 * 17 - 1 + 16 + 16 + 1));
        for (rule, contrast) in found {
            assert!(contrast >= 4.5, "{contrast:.2}: {rule}");
        }
    }

    #[test]
    fn all_256_colours_are_readable_on_the_page_and_behind_text() {
        let mut text = String::new();
        for index in 0..=255 {
            write!(text, "\x1b[0;38;5;{index}mx\x1b[0;48;5;{index}mx\x1b[7mx").unwrap();
        }
        let found = contrasts(&text);
        assert_eq!(found.len(), 2 * 3 * 256);
        for (rule, contrast) in found {
            assert!(contrast >= 4.5, "{contrast:.2}: {rule}");
        }
    }

    #[test]
    fn omitted_bytes_are_counted() {
        let mut palette = Palette::default();
        let printed = PrintedOutput {
            head: "a\n".to_owned(),
            omitted_bytes: 7,
            tail: "z\n".to_owned(),
        };
        assert_eq!(
            palette.output_markup(&printed).into_string(),
            "a\n<span class=\"cut\">… 7 bytes are not in this report …\n</span>z\n"
        );
    }
}
