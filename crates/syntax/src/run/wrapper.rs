//! Programs that run their arguments, as data: which options take a value, how many operands
//! precede the command, which options hold a script.

mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::resolved_command::Field;
use table::WRAPPERS;
pub(super) use table::{Rest, Wrapper};

/// The wrappers by name.
static BY_NAME: LazyLock<HashMap<&'static str, &'static Wrapper>> = LazyLock::new(|| {
    WRAPPERS
        .iter()
        .flat_map(|wrapper| wrapper.names.iter().map(move |name| (*name, wrapper)))
        .collect()
});

/// The entry for a program.
pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    BY_NAME.get(name).copied()
}

/// A parsed wrapper command line.
#[derive(Debug, Default)]
pub(super) struct ParsedWrapper {
    /// Index of the command's first word, if there is one.
    pub(super) command: Option<usize>,
    /// Words that hold scripts, and the length of the option prefix in each.
    pub(super) scripts: Vec<(usize, usize)>,
    /// The word that names a directory to change to, and the length of the option prefix in it.
    pub(super) directory: Option<(usize, usize)>,
}

impl Wrapper {
    /// Parses a command line.
    pub(super) fn take(&self, words: &[Field]) -> ParsedWrapper {
        let mut taken = ParsedWrapper::default();
        let mut operands = self.operands;
        let mut at = 1;
        let mut options = true;
        while let Some(field) = words.get(at) {
            let text = field.value.prefix();
            if options && text == "--" {
                options = false;
            } else if options && text.starts_with("--") {
                let (name, value) = match text[2..].split_once('=') {
                    Some((name, _)) => (name, Some(name.len() + 3)),
                    None => (&text[2..], None),
                };
                if abbreviates(name, self.long_text) {
                    if let Some(skip) = value {
                        taken.scripts.push((at, skip));
                    } else {
                        at += 1;
                        taken.scripts.push((at, 0));
                    }
                } else if abbreviates(name, self.long) {
                    at += usize::from(value.is_none());
                    if name.len() > 1 && self.chdir.1.starts_with(name) {
                        taken.directory = Some((at, value.unwrap_or(0)));
                    }
                }
            } else if options && text.len() > 1 && text.starts_with('-') {
                for (index, letter) in text.char_indices().skip(1) {
                    let last =
                        index + letter.len_utf8() == text.len() && field.value.literal().is_some();
                    if self.quits.contains(letter) {
                        return taken;
                    }
                    if self.text.contains(letter) {
                        if last {
                            at += 1;
                            taken.scripts.push((at, 0));
                        } else {
                            taken.scripts.push((at, index + letter.len_utf8()));
                        }
                        break;
                    }
                    if self.short.contains(letter) {
                        at += usize::from(last);
                        if self.chdir.0.contains(letter) {
                            let skip = if last { 0 } else { index + letter.len_utf8() };
                            taken.directory = Some((at, skip));
                        }
                        break;
                    }
                }
            } else if options && text.is_empty() && field.value.may_split() {
                // `$OPTIONS`: whatever it expands to, the command comes later.
            } else if self.assigns && is_assignment(text) {
                options = false;
            } else if operands > 0 {
                operands -= 1;
            } else if self.rest == Rest::Nothing {
                // Options may follow: `script file -c command`.
            } else {
                taken.command = Some(at);
                return taken;
            }
            at += 1;
        }
        taken
    }
}

/// True if `name` is one of the options or an abbreviation (GNU accepts unambiguous prefixes).
fn abbreviates(name: &str, options: &[&str]) -> bool {
    options.contains(&name)
        || (name.len() > 1 && options.iter().any(|option| option.starts_with(name)))
}

/// `NAME=…`
pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}
