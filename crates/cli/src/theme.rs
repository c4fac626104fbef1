//! Chooses the colours of the interface.

use crate::args::ThemeArg;
use agent_bash::HostContext;
use agent_bash_tui::Theme;
use std::ffi::OsString;
use std::time::Duration;
use terminal_colorsaurus::{QueryOptions, ThemeMode, theme_mode};

/// The light background colours in `COLORFGBG`: white and bright white.
const LIGHT_BACKGROUNDS: [&str; 2] = ["7", "15"];

/// Time limit for a terminal's answer about its background. A second query follows, which every
/// terminal answers at once; only a terminal that answers neither takes this long.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns the requested theme, or else the one that the environment or the terminal suggests.
/// Requires that stdin and stdout are a terminal.
pub(crate) fn theme(requested: ThemeArg, host: &HostContext) -> Theme {
    choose(requested, host, background_is_light)
}

/// Asks the terminal for the colour of its background (OSC 11).
fn background_is_light() -> bool {
    let mut options = QueryOptions::default();
    options.timeout = ANSWER_TIMEOUT;
    matches!(theme_mode(options), Ok(ThemeMode::Light))
}

/// Returns the theme; asks `is_light` only if neither option nor environment decides.
fn choose(requested: ThemeArg, host: &HostContext, is_light: impl FnOnce() -> bool) -> Theme {
    let value = |name: &str| {
        let value = host.env.get(&OsString::from(name));
        value.map(|value| value.to_string_lossy().into_owned())
    };
    match requested {
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
    fn theme_follows_option_then_environment_then_terminal() {
        for (requested, vars, want) in [
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
                processes: Arc::default(),
            };
            assert_eq!(
                choose(requested, &host, || false),
                want,
                "{requested:?} {vars:?}"
            );
            // The terminal is asked only if neither settings nor options name a theme.
            let is_open = requested == ThemeArg::Auto && want == Theme::dark();
            let is_open = is_open && vars.iter().all(|(name, _)| *name != "COLORFGBG");
            let want = if is_open { Theme::light() } else { want };
            assert_eq!(
                choose(requested, &host, || true),
                want,
                "{requested:?} {vars:?}"
            );
        }
    }
}
