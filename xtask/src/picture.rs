//! The picture in the README: `cargo xtask picture` records screens of the interface in a real
//! session, and `cargo xtask docs` draws the screens, once for light and once for dark pages.

mod draw;
mod record;

use crate::generated::Generated;
use crate::{Tree, no_arguments};
use anyhow::{Context, Result};
use std::num::NonZeroU16;
use std::path::Path;

/// Size of the terminal.
const COLUMNS: NonZeroU16 = NonZeroU16::new(96).unwrap();
const ROWS: NonZeroU16 = NonZeroU16::new(30).unwrap();

/// A recorded screen: its text with the SGR sequences that the terminal received.
struct Screen {
    /// Name of its file below `docs/picture`.
    file: &'static str,
    /// A title that describes the screen.
    title: &'static str,
}

const SCREENS: [Screen; 3] = [
    Screen {
        file: "1-calls.screen",
        title: "calls: one that ended, one that was refused, one that left something running",
    },
    Screen {
        file: "2-trial.screen",
        title: "a trial: what it would do to files, before anything is done",
    },
    Screen {
        file: "3-overlay.screen",
        title: "a program that needs a terminal gets one",
    },
];

/// The directory of the pictures; the screens are below it in a directory for each of the
/// [`THEMES`].
const DIRECTORY: &str = "docs/picture";

/// A theme of the interface, and of the page around the picture.
struct Theme {
    /// The value of `--theme`.
    name: &'static str,
    colours: draw::Colours,
    /// The path of the picture.
    picture: &'static str,
}

const THEMES: [Theme; 2] = [
    Theme {
        name: "dark",
        colours: draw::DARK,
        picture: "docs/picture/dark.svg",
    },
    Theme {
        name: "light",
        colours: draw::LIGHT,
        picture: "docs/picture/light.svg",
    },
];

/// `cargo xtask picture`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    no_arguments(arguments)?;
    record::record(tree)?;
    crate::generated::write_files(tree, &files(&tree.root)?)
}

/// The pictures of the screens that were recorded.
pub(crate) fn files(root: &Path) -> Result<Vec<Generated>> {
    let picture = |theme: &Theme| {
        let recorded = SCREENS.iter().map(|screen| {
            let path = root.join(DIRECTORY).join(theme.name).join(screen.file);
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("{}: `cargo xtask picture` records it", path.display()))?;
            Ok((screen.title, text))
        });
        let recorded: Vec<(&str, String)> = recorded.collect::<Result<_>>()?;
        Ok(Generated {
            path: theme.picture,
            text: draw::svg(&recorded, &theme.colours),
        })
    };
    THEMES.iter().map(picture).collect()
}
