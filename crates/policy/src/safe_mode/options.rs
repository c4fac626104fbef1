//! Allow-lists of options, and checking a command line against one.
//!
//! An option that is not in the list is refused. So are abbreviated options, so that we need not know how git or
//! GNU programs would resolve them.

use crate::syntax::run::Field;
use crate::syntax::value::Piece;

/// The allowed options of a command.
#[derive(Debug)]
pub(super) struct Allowed<'a> {
    /// Short options without a value; digits stand for options like `-5`.
    pub(super) flags: &'a str,
    /// Short options with an optional attached value, which never take the next word.
    pub(super) optional: &'a str,
    /// Short options with a value, attached or as the next word.
    pub(super) valued: &'a str,
    /// Long options without dashes, in space-separated lists. A trailing `=` means a required value (attached or as
    /// the next word), a trailing `?` an optional attached one.
    pub(super) long: &'a [&'a str],
    /// Whether an unquoted word may begin with `*`, which could expand to an option; set where that is harmless.
    pub(super) globs: bool,
}

/// A command line without its options.
#[derive(Debug, Default)]
pub(super) struct Operands<'w> {
    /// Operands before `--` and after it.
    pub(super) all: Vec<&'w Field>,
    /// The options given, as `--name` and `-x`.
    pub(super) given: Vec<String>,
}

impl Operands<'_> {
    pub(super) fn has(&self, options: &[&str]) -> bool {
        self.given
            .iter()
            .any(|given| options.contains(&given.as_str()))
    }
}

impl Allowed<'_> {
    /// Parses arguments; the error is the first word that is not allowed.
    pub(super) fn read<'w>(&self, arguments: &'w [Field]) -> Result<Operands<'w>, String> {
        let mut out = Operands::default();
        let mut words = arguments.iter();
        while let Some(field) = words.next() {
            let refuse = || Err(field.value.to_string());
            if field.value.has_unknown() {
                return refuse();
            }
            if !self.globs && matches!(field.value.pieces().first(), Some(Piece::Glob(_))) {
                return refuse();
            }
            let text = field.value.prefix();
            if text == "--" && field.value.literal().is_some() {
                out.all.extend(words);
                return Ok(out);
            }
            if let Some(long) = text.strip_prefix("--") {
                let (name, attached) = match long.split_once('=') {
                    Some((name, _)) => (name, true),
                    None => (long, false),
                };
                let entry = self
                    .long
                    .iter()
                    .flat_map(|names| names.split_whitespace())
                    .find(|entry| entry.trim_end_matches(['=', '?']) == name);
                let Some(entry) = entry else { return refuse() };
                if attached && !entry.ends_with(['=', '?']) {
                    return refuse();
                }
                if entry.ends_with('=') && !attached {
                    words.next();
                }
                out.given.push(format!("--{name}"));
            } else if text.len() > 1 && text.starts_with('-') {
                for (index, letter) in text.char_indices().skip(1) {
                    out.given.push(format!("-{letter}"));
                    if self.valued.contains(letter) {
                        let whole = field.value.literal().is_some();
                        if whole && index + letter.len_utf8() == text.len() {
                            words.next();
                        }
                        break;
                    }
                    if self.optional.contains(letter) {
                        break;
                    }
                    if !self.flags.contains(letter) {
                        return refuse();
                    }
                }
            } else {
                out.all.push(field);
            }
        }
        Ok(out)
    }
}

/// Whether a space-separated list contains a word.
pub(super) fn listed_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}
