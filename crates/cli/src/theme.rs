//! Which colours to use.

use crate::args::ThemeArg;
use agent_bash::HostContext;
use agent_bash_tui::Theme;
use std::ffi::OsString;

/// The light background colours in `COLORFGBG`: white and bright white.
const LIGHT: [&str; 2] = ["7", "15"];

/// The requested theme, or else the one that the environment suggests.
pub(crate) fn theme(asked: ThemeArg, host: &HostContext) -> Theme {
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
            let colors = value("COLORFGBG").unwrap_or_default();
            let background = colors.rsplit(';').next().unwrap_or_default();
            if LIGHT.contains(&background) {
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
            assert_eq!(theme(asked, &host), want, "{asked:?} {vars:?}");
        }
    }
}
