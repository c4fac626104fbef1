//! Finds the links (OSC 8) of a drawn frame: artifacts, and positions such as `src/main.rs:12`. A
//! terminal without links shows the same text.

use ratatui::buffer::{Buffer, Cell};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr as _;

/// A link, and the cells that it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScreenLink {
    pub(crate) uri: String,
    pub(crate) cells: Vec<(u16, u16, Cell)>,
}

#[derive(Debug, Default)]
pub(crate) struct LinkDestinations {
    /// Files of full outputs, by URI.
    pub(crate) outputs: HashMap<String, PathBuf>,
    /// The directory that relative paths start from.
    pub(crate) directory: PathBuf,
}

/// The links of a finished frame.
pub(crate) fn links(buffer: &Buffer, destinations: &LinkDestinations) -> Vec<ScreenLink> {
    let area = buffer.area;
    let mut links = Vec::new();
    for y in area.top()..area.bottom() {
        let mut word = Vec::new();
        let mut x = area.left();
        while x < area.right() {
            let Some(cell) = buffer.cell((x, y)) else {
                break;
            };
            if is_separator(cell.symbol()) {
                links.extend(link(std::mem::take(&mut word), destinations));
            } else {
                word.push((x, y, cell.clone()));
            }
            x += cell.symbol().width().max(1) as u16;
        }
        links.extend(link(word, destinations));
    }
    links
}

/// True if a cell ends a word that may be a link.
fn is_separator(symbol: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;=│╭╮╰╯─".contains(c);
    symbol.is_empty() || symbol.chars().any(ends)
}

fn link(mut cells: Vec<(u16, u16, Cell)>, destinations: &LinkDestinations) -> Option<ScreenLink> {
    // The punctuation at the end of a sentence is not part of the path.
    while cells
        .last()
        .is_some_and(|cell| matches!(cell.2.symbol(), "." | ":"))
    {
        cells.pop();
    }
    let text: String = cells.iter().map(|cell| cell.2.symbol()).collect();
    let uri = if let Some(path) = destinations.outputs.get(&text) {
        uri(path)
    } else {
        let (path, line) = file_and_line(&text)?;
        // kitty and VS Code read a numeric fragment as a line; other programs ignore it.
        format!("{}#{line}", uri(&destinations.directory.join(path)))
    };
    Some(ScreenLink { uri, cells })
}

/// The file and the line of `src/main.rs:12` and `src/main.rs:12:5`.
fn file_and_line(text: &str) -> Option<(&str, &str)> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (path, position) = text.split_once(':')?;
    let line = position.split(':').next()?;
    let is_position =
        position.split(':').take(2).all(is_number) && position.split(':').count() <= 2;
    let is_path = path.contains(['/', '.']) && path.contains(|c: char| c.is_alphabetic());
    (is_position && is_path).then_some((path, line))
}

fn uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in AsRef::<OsStr>::as_ref(path).as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn only_outputs_and_positions_in_files_are_linked() {
        let mut destinations = LinkDestinations {
            directory: "/p".into(),
            ..LinkDestinations::default()
        };
        let output = ("artifact://3".to_owned(), PathBuf::from("/state/a b/3"));
        destinations.outputs.extend([output]);
        for (row, wanted) in [
            (
                "│  --> src/main.rs:2:27",
                &[("src/main.rs:2:27", "file:///p/src/main.rs#2")][..],
            ),
            ("a.c:7: error", &[("a.c:7", "file:///p/a.c#7")]),
            ("(see /etc/a%b:1)", &[("/etc/a%b:1", "file:///etc/a%25b#1")]),
            (
                "漢 a/é:1, b/c:2",
                &[
                    ("a/é:1", "file:///p/a/%C3%A9#1"),
                    ("b/c:2", "file:///p/b/c#2"),
                ],
            ),
            (
                "[Full output: artifact://3. Truncated]",
                &[("artifact://3", "file:///state/a%20b/3")],
            ),
            (
                "artifact://4 12:30 http://h/x:80 127.0.0.1:80 a:b main.rs x.rs:",
                &[],
            ),
        ] {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 2));
            buffer.set_string(1, 1, row, Style::new());
            let found = links(&buffer, &destinations);
            let found: Vec<(String, &str)> = found
                .iter()
                .map(|link| {
                    let text = link.cells.iter().map(|cell| cell.2.symbol()).collect();
                    (text, link.uri.as_str())
                })
                .collect();
            let found: Vec<(&str, &str)> = found.iter().map(|link| (&*link.0, link.1)).collect();
            assert_eq!(found, wanted, "{row}");
        }
    }
}
