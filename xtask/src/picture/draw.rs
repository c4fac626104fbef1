//! Draws screens of a terminal as one SVG, which shows them one after another. The SVG loads no
//! other file and contains no script.

use super::{COLUMNS, ROWS};
use std::fmt::Write as _;

/// Width and height of a cell, in the SVG's units.
const CELL: (f32, f32) = (8.0, 17.0);

/// The margin around the screen; the title is above the screen.
const MARGIN: f32 = 14.0;
const TITLE: f32 = 30.0;

/// The seconds that each screen is shown.
const SECONDS_PER_SCREEN: usize = 6;

/// Colours of a page: the background, the text, the title, and the sixteen colours of a terminal.
pub(super) struct Colours {
    background: &'static str,
    text: &'static str,
    title: &'static str,
    sixteen: [&'static str; 16],
}

pub(super) const LIGHT: Colours = Colours {
    background: "#fafafa",
    text: "#24292f",
    title: "#6e7781",
    sixteen: [
        "#24292f", "#b3261e", "#1a7f37", "#7d5700", "#0550ae", "#8250df", "#0b6a75", "#57606a",
        "#6e7781", "#cf222e", "#116329", "#633c01", "#0969da", "#6639ba", "#1b7c83", "#8c959f",
    ],
};

pub(super) const DARK: Colours = Colours {
    background: "#0d1117",
    text: "#e6edf3",
    title: "#8b949e",
    sixteen: [
        "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
        "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
    ],
};

/// Draws screens, each with its title.
pub(super) fn svg(screens: &[(&str, String)], colours: &Colours) -> String {
    let width = f32::from(COLUMNS.get()) * CELL.0 + 2.0 * MARGIN;
    let height = f32::from(ROWS.get()) * CELL.1 + MARGIN + TITLE;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"a session in the terminal\">\n<style>\n\
         text {{ font: 13.3px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre; fill: {} }}\n\
         .t {{ fill: {}; font-family: system-ui, sans-serif }}\n.b {{ font-weight: 600 }} .i {{ font-style: italic }} \
         .d {{ opacity: .62 }} .u {{ text-decoration: underline }}\n",
        colours.text, colours.title,
    );
    for (at, colour) in colours.sixteen.iter().enumerate() {
        put(&mut out, format_args!(".c{at} {{ fill: {colour} }}\n"));
    }
    out.push_str(&animation(screens.len()));
    put(
        &mut out,
        format_args!(
            "</style>\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{}\"/>\n",
            colours.background
        ),
    );
    for (at, (title, screen)) in screens.iter().enumerate() {
        put(&mut out, format_args!("<g class=\"s s{at}\">\n"));
        put(
            &mut out,
            format_args!(
                "<text class=\"t\" x=\"{MARGIN}\" y=\"20\">{}</text>\n",
                escaped(title)
            ),
        );
        draw(&mut out, screen, colours);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// Shows one screen after another; only the first for a reader who prefers reduced motion.
fn animation(screens: usize) -> String {
    let cycle_seconds = screens * SECONDS_PER_SCREEN;
    let share = 100 / screens;
    let mut css = format!(
        ".s {{ opacity: 0; animation: s {cycle_seconds}s step-end infinite }}\n\
         @keyframes s {{ 0% {{ opacity: 1 }} {share}% {{ opacity: 0 }} }}\n"
    );
    for at in 0..screens {
        let _ = writeln!(
            css,
            ".s{at} {{ animation-delay: {}s }}",
            at * SECONDS_PER_SCREEN
        );
    }
    css.push_str(
        "@media (prefers-reduced-motion: reduce) { .s { animation: none } .s0 { opacity: 1 } }\n",
    );
    css
}

/// The appearance of a cell.
#[derive(Clone, PartialEq, Eq)]
struct CellStyle {
    classes: String,
    fill: Option<String>,
    background: Option<String>,
}

fn draw(out: &mut String, screen: &str, colours: &Colours) {
    let mut parser = vt100::Parser::new(ROWS, COLUMNS, 0);
    parser.process(
        screen
            .trim_end_matches('\n')
            .replace('\n', "\r\n")
            .as_bytes(),
    );
    let screen = parser.screen();
    for row in 0..ROWS.get() {
        let mut column = 0;
        while column < COLUMNS.get() {
            let first = column;
            let mut text = String::new();
            let Some(style) = screen
                .cell(row, column)
                .map(|cell| cell_style(cell, colours))
            else {
                break;
            };
            while let Some(cell) = screen.cell(row, column) {
                if !cell.is_wide_continuation() {
                    if cell_style(cell, colours) != style {
                        break;
                    }
                    text.push_str(if cell.has_contents() {
                        cell.contents()
                    } else {
                        " "
                    });
                }
                column += 1;
            }
            draw_run(out, (row, first), column - first, &text, &style);
        }
    }
}

/// Draws adjacent cells with the same style.
fn draw_run(
    out: &mut String,
    (row, column): (u16, u16),
    cells: u16,
    text: &str,
    cell_style: &CellStyle,
) {
    let x = MARGIN + f32::from(column) * CELL.0;
    let y = TITLE + f32::from(row) * CELL.1;
    let width = f32::from(cells) * CELL.0;
    if let Some(background) = &cell_style.background {
        put(
            out,
            format_args!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" {background}/>\n",
                CELL.1
            ),
        );
    }
    let start = text.len() - text.trim_start_matches(' ').len();
    let text = text.trim_end_matches(' ');
    if text.len() <= start {
        return;
    }
    // Leading blanks would be stretched with the text.
    let blanks = u16::try_from(start).unwrap_or(0);
    let shown = u16::try_from(text[start..].chars().map(width_of).sum::<usize>()).unwrap_or(cells);
    put(
        out,
        format_args!(
            "<text x=\"{}\" y=\"{}\" textLength=\"{}\"{}{}>{}</text>\n",
            x + f32::from(blanks) * CELL.0,
            y + 13.0,
            f32::from(shown) * CELL.0,
            if cell_style.classes.is_empty() {
                String::new()
            } else {
                format!(" class=\"{}\"", cell_style.classes)
            },
            cell_style
                .fill
                .as_ref()
                .map_or_else(String::new, |fill| format!(" {fill}")),
            escaped(&text[start..]),
        ),
    );
}

/// The width of a character in columns. Covers only the wide characters that the recorded screens
/// have.
fn width_of(char: char) -> usize {
    unicode_width::UnicodeWidthChar::width(char).unwrap_or(0)
}

fn cell_style(cell: &vt100::Cell, colours: &Colours) -> CellStyle {
    let (mut text, mut background) = (cell.fgcolor(), cell.bgcolor());
    if cell.inverse() {
        std::mem::swap(&mut text, &mut background);
    }
    let mut classes = Vec::new();
    let flags = [
        (cell.bold(), "b"),
        (cell.dim(), "d"),
        (cell.italic(), "i"),
        (cell.underline(), "u"),
    ];
    classes.extend(
        flags
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, class)| class.to_owned()),
    );
    let fill = match text {
        vt100::Color::Default if cell.inverse() => {
            Some(format!("style=\"fill:{}\"", colours.background))
        }
        vt100::Color::Default => None,
        vt100::Color::Idx(at @ 0..16) => {
            classes.push(format!("c{at}"));
            None
        }
        other => Some(format!("style=\"fill:{}\"", fixed_colour(other))),
    };
    let background = match background {
        vt100::Color::Default if cell.inverse() => Some(format!("fill=\"{}\"", colours.text)),
        vt100::Color::Default => None,
        vt100::Color::Idx(at @ 0..16) => Some(format!("class=\"c{at}\"")),
        other => Some(format!("fill=\"{}\"", fixed_colour(other))),
    };
    CellStyle {
        classes: classes.join(" "),
        fill,
        background,
    }
}

/// Returns a colour that is not one of the sixteen, so that no theme changes it. The cube and the
/// greys are those of xterm.
fn fixed_colour(colour: vt100::Color) -> String {
    let (red, green, blue) = match colour {
        vt100::Color::Rgb(red, green, blue) => (red, green, blue),
        vt100::Color::Idx(at @ 232..) => {
            let grey = 8 + (at - 232) * 10;
            (grey, grey, grey)
        }
        vt100::Color::Idx(at) => {
            let level = |part: u8| if part == 0 { 0 } else { 55 + part * 40 };
            let at = at.saturating_sub(16);
            (level(at / 36), level(at / 6 % 6), level(at % 6))
        }
        vt100::Color::Default => (0, 0, 0),
    };
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn svg_draws_each_run_of_equal_cells() {
        let screen = "a <b>&\n\x1b[1;31m漢  \x1b[0;7mx\x1b[0m  \x1b[38;5;196my\n".to_owned();
        let drawn = svg(&[("t < u", screen)], &DARK);
        for part in [
            "<text x=\"14\" y=\"43\" textLength=\"48\">a &lt;b&gt;&amp;</text>",
            "<text x=\"14\" y=\"60\" textLength=\"16\" class=\"b c1\">漢</text>",
            "<rect x=\"46\" y=\"47\" width=\"8\" height=\"17\" fill=\"#e6edf3\"/>",
            "style=\"fill:#0d1117\">x</text>",
            "style=\"fill:#ff0000\">y</text>",
            ">t &lt; u</text>",
        ] {
            assert!(drawn.contains(part), "{part}\n{drawn}");
        }
    }
}
