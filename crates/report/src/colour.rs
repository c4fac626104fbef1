//! Readable colours. The colour of text is changed until it has enough contrast to its background,
//! in the light and in the dark scheme. Text printed in the colour of its background becomes
//! visible.

/// Red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// A colour as it was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ink {
    /// The default colour of text.
    Text,
    /// The default colour of the background.
    Page,
    /// A colour of the palette of 256.
    Index(u8),
}

/// The contrast of readable text: WCAG 2, level AA.
const MIN_CONTRAST: f64 = 4.5;

/// Text and background of outputs, as `--text` and `--well` in the page's style: light scheme, dark
/// scheme.
const TEXT_COLOURS: [Rgb; 2] = [[0x1f, 0x23, 0x28], [0xe6, 0xed, 0xf3]];
const PAGE_COLOURS: [Rgb; 2] = [[0xf6, 0xf8, 0xfa], [0x15, 0x1b, 0x23]];

/// The first 16 palette colours as text: light scheme, dark scheme.
#[rustfmt::skip]
#[expect(clippy::unreadable_literal, reason = "colours are written as in CSS")]
const FOREGROUNDS: [[u32; 2]; 16] = [
    [0x24292f, 0x6e7681], [0xcf222e, 0xff7b72], [0x116329, 0x3fb950], [0x7d4e00, 0xd29922],
    [0x0550ae, 0x58a6ff], [0x8250df, 0xbc8cff], [0x1b7c83, 0x39c5cf], [0x57606a, 0xc9d1d9],
    [0x57606a, 0x8b949e], [0xa40e26, 0xffa198], [0x1a7f37, 0x56d364], [0x633c01, 0xe3b341],
    [0x0969da, 0x79c0ff], [0x6639ba, 0xd2a8ff], [0x3192aa, 0x56d4dd], [0x24292f, 0xffffff],
];

/// The first 16 palette colours as background: light scheme, dark scheme.
#[rustfmt::skip]
#[expect(clippy::unreadable_literal, reason = "colours are written as in CSS")]
const BACKGROUNDS: [[u32; 2]; 16] = [
    [0xd0d7de, 0x30363d], [0xffcecb, 0x67060c], [0xaceebb, 0x033a16], [0xfae17d, 0x4b2900],
    [0xb6e3ff, 0x0c2d6b], [0xecd8ff, 0x3c1e70], [0xb3f0ff, 0x0b3c42], [0xeaeef2, 0x6e7681],
    [0xd0d7de, 0x484f58], [0xffaba8, 0x8e1519], [0x6fdd8b, 0x0f5323], [0xeac54f, 0x693e00],
    [0x80ccff, 0x0d419d], [0xd8b9ff, 0x553098], [0x7bd3ea, 0x12606b], [0xffffff, 0xb1bac4],
];

/// Returns readable colours of text and background in a scheme: 0 is light, 1 is dark.
pub(crate) fn readable(foreground: Ink, background: Ink, scheme: usize) -> (Rgb, Rgb) {
    let background = match background {
        Ink::Text => TEXT_COLOURS[scheme],
        Ink::Page => PAGE_COLOURS[scheme],
        Ink::Index(index) => palette_colour(&BACKGROUNDS, index, scheme),
    };
    let wanted = match foreground {
        Ink::Text => TEXT_COLOURS[scheme],
        Ink::Page => PAGE_COLOURS[scheme],
        Ink::Index(index) => palette_colour(&FOREGROUNDS, index, scheme),
    };
    // Black or white always has enough contrast: the contrasts of a colour with black and with
    // white multiply to 21.
    let target = if contrast([0; 3], background) > contrast([255; 3], background) {
        [0; 3]
    } else {
        [255; 3]
    };
    let foreground = (0..=20)
        .map(|step| mix(wanted, target, step))
        .find(|foreground| contrast(*foreground, background) >= MIN_CONTRAST);
    (foreground.unwrap_or(target), background)
}

/// Returns the colour of this index: from `first` for the first 16, else from the xterm palette.
fn palette_colour(first: &[[u32; 2]; 16], index: u8, scheme: usize) -> Rgb {
    match first.get(usize::from(index)) {
        Some(colours) => {
            let [_, r, g, b] = colours[scheme].to_be_bytes();
            [r, g, b]
        }
        None => xterm(index),
    }
}

/// Returns the colour that is `step` twentieths of the way from `from` to `to`.
fn mix(from: Rgb, to: Rgb, step: u16) -> Rgb {
    std::array::from_fn(|channel| {
        let sum = u16::from(from[channel]) * (20 - step) + u16::from(to[channel]) * step;
        u8::try_from(sum / 20).unwrap_or(u8::MAX)
    })
}

/// Returns the contrast of two colours as WCAG 2 defines it: 1 to 21.
pub(crate) fn contrast(left: Rgb, right: Rgb) -> f64 {
    let (left, right) = (luminance(left), luminance(right));
    (left.max(right) + 0.05) / (left.min(right) + 0.05)
}

/// Returns the relative luminance, with the constants of WCAG 2.
fn luminance(colour: Rgb) -> f64 {
    let [r, g, b] = colour.map(|value| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// The levels of the palette's 6 × 6 × 6 colour cube.
const CUBE_LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns the colour 16 to 255 of the xterm palette.
fn xterm(index: u8) -> Rgb {
    match index.saturating_sub(16) {
        cube @ 0..216 => {
            let level = |digit: u8| CUBE_LEVELS[usize::from(digit % 6)];
            [level(cube / 36), level(cube / 6), level(cube)]
        }
        grey => [8 + (grey - 216) * 10; 3],
    }
}

/// Returns the index of the nearest colour among the cube and the greys of the xterm palette.
pub(crate) fn nearest(wanted: Rgb) -> u8 {
    let [r, g, b] = wanted.map(|value| {
        let distance = |level: &u8| CUBE_LEVELS[usize::from(*level)].abs_diff(value);
        (0..6).min_by_key(distance).unwrap_or_default()
    });
    let cube = 16 + 36 * r + 6 * g + b;
    let distance = |index: &u8| -> u32 {
        let channels = xterm(*index).into_iter().zip(wanted);
        channels
            .map(|(left, right)| u32::from(left.abs_diff(right)).pow(2))
            .sum()
    };
    (232..=255)
        .chain([cube])
        .min_by_key(distance)
        .unwrap_or(cube)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        // A grey with a published value: #767676 on white.
        assert!((contrast([0x76; 3], [255; 3]) - 4.54).abs() < 0.01);
    }

    #[test]
    fn readable_colour_is_unchanged() {
        let red = readable(Ink::Index(1), Ink::Page, 0).0;
        assert_eq!(red, [0xcf, 0x22, 0x2e]);
    }

    #[test]
    fn true_colour_becomes_the_nearest_of_the_palette() {
        assert_eq!(nearest([255, 135, 0]), 208);
        assert_eq!(nearest([1, 2, 3]), 16);
        assert_eq!(xterm(255), [238; 3]);
        assert_eq!(xterm(232), [8; 3]);
        for (grey, index) in [(8, 232), (48, 236), (118, 243), (255, 231)] {
            assert_eq!(nearest([grey; 3]), index);
        }
    }

    #[test]
    fn text_and_page_are_those_of_the_style() {
        let style = include_str!("page.css");
        for (name, colours) in [("text", TEXT_COLOURS), ("well", PAGE_COLOURS)] {
            let [light, dark] = colours.map(|[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}"));
            let rule = format!("--{name}:light-dark({light},{dark})");
            assert!(style.contains(&rule), "{rule}");
        }
    }
}
