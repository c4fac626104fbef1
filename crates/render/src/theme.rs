//! Styles by meaning. All styles of this crate come from this module, so that a host without
//! colours, or with a light background, only replaces the theme.

use ratatui::style::{Color, Modifier, Style};

/// The styles. Plain data: a host may change any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Ordinary text of the interface.
    pub text: Style,
    /// Secondary text: footers, hints.
    pub dim: Style,
    /// Lines and borders.
    pub rail: Style,
    /// A command, a title.
    pub title: Style,
    /// The focus: prompt, selection, keys.
    pub accent: Style,
    /// Running commands.
    pub running: Style,
    /// Success.
    pub ok: Style,
    /// Facts that need attention.
    pub warning: Style,
    /// Failure.
    pub error: Style,
    /// In a script: `if`, `done`.
    pub keyword: Style,
    /// In a script: a command that does not exist.
    pub unknown: Style,
    /// In a script: quoted text.
    pub string: Style,
    /// In a script: variables and expansions.
    pub variable: Style,
    /// In a script: a comment.
    pub comment: Style,
    /// In a script: `|`, `>`, `$(`.
    pub operator: Style,
    /// In a script: a syntax error, applied on top of its own style.
    pub wrong: Style,
    /// A selected row, applied on top of its own style.
    pub selected: Style,
    /// A search match, applied on top of its own style.
    pub found: Style,
    /// True if the colours of command output are shown. Bold and other attributes are always shown.
    pub output_colors: bool,
}

impl Theme {
    /// Returns the theme for light text on a dark background.
    pub fn dark() -> Self {
        Self::of(&[252, 245, 239, 255, 80, 111, 114, 221, 203], 236)
    }

    /// Returns the theme for dark text on a light background.
    pub fn light() -> Self {
        Self::of(&[236, 242, 250, 232, 30, 26, 28, 130, 160], 254)
    }

    /// Returns the theme without colours (`NO_COLOR`), which only uses attributes.
    pub fn plain() -> Self {
        let none = Style::new();
        Self {
            text: none,
            dim: none.add_modifier(Modifier::DIM),
            rail: none.add_modifier(Modifier::DIM),
            title: none.add_modifier(Modifier::BOLD),
            accent: none.add_modifier(Modifier::BOLD),
            running: none,
            ok: none,
            warning: none,
            error: none.add_modifier(Modifier::BOLD),
            keyword: none.add_modifier(Modifier::BOLD),
            unknown: none,
            string: none,
            variable: none,
            comment: none.add_modifier(Modifier::DIM),
            operator: none,
            wrong: none.add_modifier(Modifier::UNDERLINED),
            selected: none.add_modifier(Modifier::REVERSED),
            found: none.add_modifier(Modifier::REVERSED),
            output_colors: false,
        }
    }

    /// Returns a theme of the 256-colour palette. `colors` are text, dim, rail, title, accent,
    /// running, ok, warning and error; `selection` is the background of a selected row.
    fn of(colors: &[u8; 9], selection: u8) -> Self {
        let [text, dim, rail, title, accent, running, ok, warning, error] =
            colors.map(|index| Style::new().fg(Color::Indexed(index)));
        Self {
            text,
            dim,
            rail,
            title: title.add_modifier(Modifier::BOLD),
            accent,
            running,
            ok,
            warning,
            error,
            // These are colours of the terminal's own palette, which the user has chosen as
            // readable.
            keyword: Style::new().fg(Color::Magenta),
            unknown: Style::new().fg(Color::Red),
            string: Style::new().fg(Color::Green),
            variable: Style::new().fg(Color::Cyan),
            comment: dim,
            operator: accent,
            wrong: Style::new()
                .fg(Color::Red)
                .add_modifier(Modifier::UNDERLINED),
            selected: Style::new().bg(Color::Indexed(selection)),
            found: Style::new().add_modifier(Modifier::REVERSED),
            output_colors: true,
        }
    }

    /// Adapts a style of command output to this theme.
    pub fn of_output(&self, style: Style) -> Style {
        if self.output_colors {
            return style;
        }
        Style {
            fg: None,
            bg: None,
            ..style
        }
    }
}

impl Default for Theme {
    fn default() -> Self {
        Self::dark()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_theme_has_no_colours() {
        let theme = Theme::plain();
        for style in [
            theme.text,
            theme.dim,
            theme.rail,
            theme.title,
            theme.accent,
            theme.running,
            theme.ok,
            theme.warning,
            theme.error,
            theme.keyword,
            theme.unknown,
            theme.string,
            theme.variable,
            theme.comment,
            theme.operator,
            theme.wrong,
            theme.selected,
            theme.found,
            theme.of_output(Style::new().fg(Color::Red).bg(Color::Blue)),
        ] {
            assert_eq!((style.fg, style.bg), (None, None));
        }
        let bold = Style::new().add_modifier(Modifier::BOLD);
        assert_eq!(theme.of_output(bold.fg(Color::Red)), bold);
    }
}
