//! Chooses the colours.

use crate::args::ThemeArg;
use agent_bash::HostContext;
use agent_bash_tui::Theme;
use std::ffi::OsString;
use std::time::Duration;
use terminal_colorsaurus::{QueryOptions, ThemeMode, theme_mode};

/// The light background colours in `COLORFGBG`: white and bright white.
const LIGHT_BACKGROUNDS: [&str; 2] = ["7", "15"];

/// Time limit for a terminal's answer about its background. A terminal that does not know the
/// question answers the next one at once.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// The requested theme, or else the one that the environment suggests, or the terminal itself. Our
/// terminal has to be one.
pub(crate) fn theme(asked: ThemeArg, host: &HostContext) -> Theme {
    chosen(asked, host, background_is_light)
}

/// Asks the terminal for the colour of its background (OSC 11).
fn background_is_light() -> bool {
    let mut options = QueryOptions::default();
    options.timeout = ANSWER_TIMEOUT;
    matches!(theme_mode(options), Ok(ThemeMode::Light))
}

fn chosen(asked: ThemeArg, host: &HostContext, is_light: impl FnOnce() -> bool) -> Theme {
    let value = |name: &str| {
        let value = host.env.get(&OsString::from(name));
        value.map(|value| value.to_string_lossy().into_owned())
    };
    match asked {
        ThemeArg::Dark => Theme::dark(),
        ThemeArg::Light => Theme::light(),
        ThemeArg::Plain => Theme::plain(),
        // https://no-color.org: if set and not empty.
        ThemeArg::Auto if value("NO_COLOR").is_some_and(|value| !value.is_empty()) => {
            Theme::plain()
        }
        ThemeArg::Auto => {
            // `foreground;background`, as set by rxvt and others.
            let colors = value("COLORFGBG");
            let background = colors
                .as_deref()
                .and_then(|colors| colors.rsplit(';').next());
            if background.map_or_else(is_light, |background| {
                LIGHT_BACKGROUNDS.contains(&background)
            }) {
                Theme::light()
            } else {
                Theme::dark()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::sync::Arc;

    #[test]
    fn the_environment_says_which() {
        for (asked, vars, want) in [
            (ThemeArg::Auto, &[][..], Theme::dark()),
            (ThemeArg::Auto, &[("NO_COLOR", "1")], Theme::plain()),
            (ThemeArg::Auto, &[("NO_COLOR", "")], Theme::dark()),
            (ThemeArg::Auto, &[("COLORFGBG", "0;15")], Theme::light()),
            (
                ThemeArg::Auto,
                &[("COLORFGBG", "15;default;0")],
                Theme::dark(),
            ),
            (ThemeArg::Light, &[("NO_COLOR", "1")], Theme::light()),
            (ThemeArg::Plain, &[], Theme::plain()),
        ] {
            let env = vars.iter().map(|(name, value)| (name.into(), value.into()));
            let host = HostContext {
                cwd: PathBuf::from("/"),
                home: None,
                env: Arc::new(env.collect()),
                tools: None,
            };
            assert_eq!(chosen(asked, &host, || false), want, "{asked:?} {vars:?}");
            // The terminal is asked only if neither settings nor options name a theme.
            let is_open = asked == ThemeArg::Auto && want == Theme::dark();
            let is_open = is_open && vars.iter().all(|(name, _)| *name != "COLORFGBG");
            let want = if is_open { Theme::light() } else { want };
            assert_eq!(chosen(asked, &host, || true), want, "{asked:?} {vars:?}");
        }
    }
}
