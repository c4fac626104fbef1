//! Translates SGR sequences (`ESC [ … m`) into ratatui styles.

use ratatui::style::{Color, Modifier, Style};
use vte::Params;

/// Attributes by the code that sets them.
const SETTING_CODES: [(u16, Modifier); 8] = [
    (1, Modifier::BOLD),
    (2, Modifier::DIM),
    (3, Modifier::ITALIC),
    (4, Modifier::UNDERLINED),
    (5, Modifier::SLOW_BLINK),
    (7, Modifier::REVERSED),
    (8, Modifier::HIDDEN),
    (9, Modifier::CROSSED_OUT),
];

/// Attributes by the code that resets them.
const RESETTING_CODES: [(u16, Modifier); 7] = [
    (22, Modifier::BOLD.union(Modifier::DIM)),
    (23, Modifier::ITALIC),
    (24, Modifier::UNDERLINED),
    (25, Modifier::SLOW_BLINK),
    (27, Modifier::REVERSED),
    (28, Modifier::HIDDEN),
    (29, Modifier::CROSSED_OUT),
];

/// Applies a sequence to a style. Unknown codes are ignored.
pub(crate) fn apply(style: &mut Style, params: &Params) {
    let mut params = params.iter();
    while let Some(param) = params.next() {
        let code = param.first().copied().unwrap_or(0);
        match code {
            0 => *style = Style::new(),
            4 if param.get(1) == Some(&0) => {
                style.add_modifier.remove(Modifier::UNDERLINED);
            }
            30..=37 => style.fg = Some(named(code - 30)),
            90..=97 => style.fg = Some(named(code - 90 + 8)),
            40..=47 => style.bg = Some(named(code - 40)),
            100..=107 => style.bg = Some(named(code - 100 + 8)),
            39 => style.fg = None,
            49 => style.bg = None,
            38 | 48 | 58 => {
                // `38;5;n` and `38;2;r;g;b`, or the same in one parameter with colons (then with a
                // colour space).
                let color = if param.len() > 1 {
                    let rgb_start = if param.len() > 5 { 3 } else { 2 };
                    extended(param[1], &mut param[rgb_start..].iter().copied())
                } else {
                    let mut rest = params
                        .by_ref()
                        .map(|param| param.first().copied().unwrap_or(0));
                    rest.next().and_then(|kind| extended(kind, &mut rest))
                };
                match (code, color) {
                    (38, Some(color)) => style.fg = Some(color),
                    (48, Some(color)) => style.bg = Some(color),
                    _ => {}
                }
            }
            code => {
                if let Some((_, modifier)) = SETTING_CODES.iter().find(|(set, _)| *set == code) {
                    style.add_modifier.insert(*modifier);
                } else if let Some((_, modifier)) =
                    RESETTING_CODES.iter().find(|(reset, _)| *reset == code)
                {
                    style.add_modifier.remove(*modifier);
                }
            }
        }
    }
}

/// One of the 16 basic colours.
fn named(index: u16) -> Color {
    Color::Indexed(u8::try_from(index).unwrap_or_default())
}

fn extended(kind: u16, values: &mut dyn Iterator<Item = u16>) -> Option<Color> {
    let mut byte = || values.next().and_then(|value| u8::try_from(value).ok());
    match kind {
        5 => Some(Color::Indexed(byte()?)),
        2 => Some(Color::Rgb(byte()?, byte()?, byte()?)),
        _ => None,
    }
}
