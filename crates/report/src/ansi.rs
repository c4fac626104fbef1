//! An output with its colours, as markup: of escape sequences only colours and attributes are left, each as a class of the
//! page's style.

use agent_bash_journal::Printed;
use agent_bash_render::{OutputLimits, OutputText, Theme};
use maud::{Markup, html};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Nothing is wrapped here: the browser does that.
const UNWRAPPED: usize = 1 << 20;

/// All of what was recorded, which is bounded already; a line as on a card.
const LIMITS: OutputLimits = OutputLimits {
    bytes: usize::MAX,
    ..OutputLimits::CARD
};

/// Attributes, and the class for each. Blinking text does not blink.
const ATTRIBUTES: [(Modifier, &str); 6] = [
    (Modifier::BOLD, "B"),
    (Modifier::DIM, "D"),
    (Modifier::ITALIC, "I"),
    (Modifier::UNDERLINED, "U"),
    (Modifier::CROSSED_OUT, "X"),
    (Modifier::HIDDEN, "H"),
];

/// The colours that were used beyond the 16 that the style has: their rules are written once, at the end.
#[derive(Debug, Default)]
pub(crate) struct Palette(BTreeSet<u8>);

impl Palette {
    /// Rules for the colours beyond the first 16: the xterm palette.
    pub(crate) fn rules(&self) -> String {
        let mut rules = String::new();
        for index in &self.0 {
            let (r, g, b) = xterm(*index);
            // Writing to a String cannot fail.
            let _ = write!(
                rules,
                ".f{index}{{color:#{r:02x}{g:02x}{b:02x}}}.b{index}{{background:#{r:02x}{g:02x}{b:02x}}}"
            );
        }
        rules
    }

    /// The whole of what was kept of an output.
    pub(crate) fn printed(&mut self, printed: &Printed) -> Markup {
        html! {
            (self.text(&printed.head))
            @if printed.left_out > 0 {
                span.cut { "… " (printed.left_out) " bytes are not in this report …\n" }
                (self.text(&printed.tail))
            }
        }
    }

    fn text(&mut self, text: &str) -> Markup {
        let output = OutputText::of(LIMITS, text);
        let all = output.tail(UNWRAPPED, usize::MAX, usize::MAX, &Theme::dark());
        html! {
            @for line in &all.rows { (self.line(line)) "\n" }
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Markup {
        html! {
            @for span in &line.spans {
                @let classes = self.classes(span.style);
                @if classes.is_empty() { (span.content) } @else { span class=(classes) { (span.content) } }
            }
        }
    }

    fn classes(&mut self, style: Style) -> String {
        let mut classes: Vec<String> = Vec::new();
        let (mut front, mut back) = (self.index(style.fg), self.index(style.bg));
        if style.add_modifier.contains(Modifier::REVERSED) {
            (front, back) = (back, front);
            classes.push("R".to_owned());
        }
        classes.extend(front.map(|index| format!("f{index}")));
        classes.extend(back.map(|index| format!("b{index}")));
        let set = ATTRIBUTES
            .iter()
            .filter(|(one, _)| style.add_modifier.contains(*one));
        classes.extend(set.map(|(_, class)| (*class).to_owned()));
        classes.join(" ")
    }

    fn index(&mut self, color: Option<Color>) -> Option<u8> {
        let index = match color? {
            Color::Indexed(index) => index,
            Color::Rgb(r, g, b) => nearest(r, g, b),
            _ => return None,
        };
        if index >= 16 {
            self.0.insert(index);
        }
        Some(index)
    }
}

/// The levels of the 6 × 6 × 6 cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Colour 16 to 255 of the xterm palette.
fn xterm(index: u8) -> (u8, u8, u8) {
    match index.saturating_sub(16) {
        cube @ 0..216 => {
            let level = |digit: u8| LEVELS[usize::from(digit % 6)];
            (level(cube / 36), level(cube / 6), level(cube))
        }
        grey => {
            let level = 8 + (grey - 216) * 10;
            (level, level, level)
        }
    }
}

/// The colour of the cube that is nearest.
fn nearest(r: u8, g: u8, b: u8) -> u8 {
    let digit = |value: u8| {
        let distance = |at: &u8| LEVELS[usize::from(*at)].abs_diff(value);
        (0..6).min_by_key(distance).unwrap_or_default()
    };
    16 + 36 * digit(r) + 6 * digit(g) + digit(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> (String, String) {
        let mut palette = Palette::default();
        let printed = Printed {
            head: text.to_owned(),
            ..Printed::default()
        };
        (palette.printed(&printed).into_string(), palette.rules())
    }

    #[test]
    fn colours_become_classes_and_nothing_else_gets_through() {
        let (html, rules) =
            shown("\x1b[1;31merror\x1b[0m: <b>&\x1b]0;title\x07\x1b[2J\x1b[38;5;208mx\x1b[m\n");
        assert_eq!(
            html,
            "<span class=\"f1 B\">error</span>: &lt;b&gt;&amp;<span class=\"f208\">x</span>\n"
        );
        assert_eq!(rules, ".f208{color:#ff8700}.b208{background:#ff8700}");
    }

    #[test]
    fn a_true_colour_is_the_nearest_of_the_palette() {
        assert_eq!(nearest(255, 135, 0), 208);
        assert_eq!(nearest(1, 2, 3), 16);
        assert_eq!(xterm(255), (238, 238, 238));
        assert_eq!(xterm(232), (8, 8, 8));
    }

    #[test]
    fn no_line_of_what_was_recorded_is_lost() {
        use std::fmt::Write as _;
        let mut text = String::new();
        for line in 0..30_000 {
            writeln!(text, "line {line} with some words to make it longer").unwrap();
        }
        assert_eq!(shown(&text).0, text);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let mut palette = Palette::default();
        let printed = Printed {
            head: "a\n".to_owned(),
            left_out: 7,
            tail: "z\n".to_owned(),
        };
        assert_eq!(
            palette.printed(&printed).into_string(),
            "a\n<span class=\"cut\">… 7 bytes are not in this report …\n</span>z\n"
        );
    }
}
