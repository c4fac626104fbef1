//! Names of keys, as programs and models write them: `Enter`, `C-c`, `M-x`, `S-Tab`, `F1`.

use crate::key::{Key, KeyInput, KeyModifiers};
use crate::words;

/// Keys with a name, in every accepted spelling. Letter case does not matter.
static NAMED_KEYS: &[(Key, &[&str])] = &[
    (Key::Enter, words!["Enter Return"]),
    (Key::Tab, words!["Tab"]),
    (Key::Char(' '), words!["Space"]),
    (Key::Backspace, words!["Backspace BSpace"]),
    (Key::Escape, words!["Escape Esc"]),
    (Key::Up, words!["Up ArrowUp"]),
    (Key::Down, words!["Down ArrowDown"]),
    (Key::Left, words!["Left ArrowLeft"]),
    (Key::Right, words!["Right ArrowRight"]),
    (Key::Home, words!["Home"]),
    (Key::End, words!["End"]),
    (Key::PageUp, words!["PageUp PgUp PPage"]),
    (Key::PageDown, words!["PageDown PgDn NPage"]),
    (Key::Insert, words!["Insert IC"]),
    (Key::Delete, words!["Delete Del DC"]),
];

/// The number of the last function key.
const LAST_FUNCTION_KEY: u8 = 12;

/// A modifier of a key.
#[derive(Debug, Clone, Copy)]
enum Modifier {
    Ctrl,
    Alt,
    Shift,
}

/// Prefixes of a name, and the modifier that each prefix stands for. The letter case of `C-`, `M-`,
/// `A-` and `S-` matters; the case of the long prefixes does not.
const PREFIXES: [(Modifier, &[&str]); 3] = [
    (Modifier::Ctrl, words!["C- ^ ctrl- ctrl+ control- control+"]),
    (Modifier::Alt, words!["M- A- alt- alt+ meta- meta+"]),
    (Modifier::Shift, words!["S- shift- shift+"]),
];

/// A text that names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} names no key: write one character, or Enter, Tab, Space, Backspace, Escape, Up, Down, Left, Right, \
     Home, End, PageUp, PageDown, Insert, Delete, F1 to F12, with C-, M- or S- in front; text goes into `text`"
)]
pub struct UnknownKey {
    /// The text.
    pub name: String,
}

impl KeyInput {
    /// Returns the key with this name, such as `Enter`, `C-c`, `Up`, `F1` or `q`.
    ///
    /// # Errors
    /// [`UnknownKey`].
    pub fn named(name: &str) -> Result<Self, UnknownKey> {
        let mut modifiers = KeyModifiers::default();
        let mut rest = name;
        while let Some((modifier, after)) = split_prefix(rest) {
            match modifier {
                Modifier::Ctrl => modifiers.ctrl = true,
                Modifier::Alt => modifiers.alt = true,
                Modifier::Shift => modifiers.shift = true,
            }
            rest = after;
        }
        let name = name.to_owned();
        let key = key(rest).ok_or(UnknownKey { name })?;
        Ok(Self::Key { key, modifiers })
    }
}

/// Splits off the first modifier of a name. Returns `None` if the name has no modifier, or if no
/// key follows the modifier.
fn split_prefix(name: &str) -> Option<(Modifier, &str)> {
    let after = |prefix: &&str| {
        let (start, rest) = name.split_at_checked(prefix.len())?;
        let is_short = prefix.len() <= 2;
        let matches = start == *prefix || (!is_short && start.eq_ignore_ascii_case(prefix));
        (matches && !rest.is_empty()).then_some(rest)
    };
    let mut all = PREFIXES.into_iter();
    all.find_map(|(modifier, prefixes)| Some((modifier, prefixes.iter().find_map(after)?)))
}

/// Returns the key with this name, without modifiers.
fn key(name: &str) -> Option<Key> {
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        return (!character.is_control()).then_some(Key::Char(character));
    }
    if let Some(number) = name.strip_prefix(['F', 'f'])
        && let Ok(number) = number.parse()
        && (1..=LAST_FUNCTION_KEY).contains(&number)
    {
        return Some(Key::Function(number));
    }
    let is_named = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(name));
    let mut rows = NAMED_KEYS.iter();
    let row = rows.find(|(_, words)| is_named(words));
    row.map(|(key, _)| key.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> (Key, [bool; 3]) {
        match KeyInput::named(name) {
            Ok(KeyInput::Key { key, modifiers }) => {
                let KeyModifiers { ctrl, alt, shift } = modifiers;
                (key, [ctrl, alt, shift])
            }
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn named_reads_keys_and_modifiers() {
        let plain = [false; 3];
        for (name, want) in [
            ("Enter", (Key::Enter, plain)),
            ("return", (Key::Enter, plain)),
            ("q", (Key::Char('q'), plain)),
            ("Q", (Key::Char('Q'), plain)),
            ("-", (Key::Char('-'), plain)),
            ("^", (Key::Char('^'), plain)),
            ("ö", (Key::Char('ö'), plain)),
            ("F12", (Key::Function(12), plain)),
            ("PgDn", (Key::PageDown, plain)),
            ("C-c", (Key::Char('c'), [true, false, false])),
            ("^C", (Key::Char('C'), [true, false, false])),
            ("Ctrl+C", (Key::Char('C'), [true, false, false])),
            ("C--", (Key::Char('-'), [true, false, false])),
            ("M-x", (Key::Char('x'), [false, true, false])),
            ("S-Tab", (Key::Tab, [false, false, true])),
            ("C-M-Left", (Key::Left, [true, true, false])),
            ("ctrl+shift+F5", (Key::Function(5), [true, false, true])),
        ] {
            assert_eq!(named(name), want, "{name}");
        }
    }

    #[test]
    fn named_refuses_other_texts() {
        for name in ["", "Entr", "C-", "F0", "F13", "ls", "\n", "c-c", "Ctrl"] {
            let error = KeyInput::named(name).unwrap_err();
            assert_eq!(error.name, name);
        }
        let error = KeyInput::named("Entr").unwrap_err().to_string();
        assert!(
            error.starts_with("\"Entr\" names no key: write one character, or Enter,"),
            "{error}"
        );
    }

    #[test]
    fn every_name_is_accepted_in_any_case() {
        for (key, names) in NAMED_KEYS {
            for name in *names {
                for name in [(*name).to_owned(), name.to_lowercase(), name.to_uppercase()] {
                    assert_eq!(named(&name).0, *key, "{name}");
                }
            }
        }
    }
}
