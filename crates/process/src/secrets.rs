//! Detects variables that hold secrets: by exact name, by the words in a name, by the form of a
//! value. Each kind has a table in `tables`, and a function that applies it.

mod answer_mask;
mod masks;
mod output_mask;
mod tables;
mod token_formats;
mod values;

pub use answer_mask::{AnswerMask, PromptAnswers};
pub use masks::Masks;
pub use output_mask::SecretMask;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use tables::{
    DROP_UNLESS_PATH, HARMLESS_WORDS, KEPT_NAMES, KEY_KINDS, LAST_WORDS, LOCATION_WORDS,
    PROPERTY_WORDS, QUANTITY_WORDS, SECRET_ENDINGS, SECRET_NAMES, SECRET_PAIRS, SECRET_WORDS,
    SOMETIMES_PATH_WORDS, YES_NO_VALUES,
};

/// Decides which variables are hidden from commands. A host can change every part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFilter {
    /// Names that are never removed; a `*` at either end matches anything.
    pub keep: Vec<String>,
    /// Additional names that are removed, in the same format.
    pub drop: Vec<String>,
    /// Names of variables that are hidden whatever `keep` says.
    pub always: Vec<String>,
    /// True to check the words in names.
    pub by_name: bool,
    /// True to check values.
    pub by_value: bool,
}

impl Default for SecretFilter {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            keep: owned(KEPT_NAMES),
            drop: owned(SECRET_NAMES),
            always: Vec::new(),
            by_name: true,
            by_value: true,
        }
    }
}

impl SecretFilter {
    /// True if a variable holds a secret.
    pub fn is_secret(&self, name: &OsStr, value: &OsStr) -> bool {
        let text = name.to_string_lossy();
        if self.always.iter().any(|name| *name == text) {
            return true;
        }
        if self.keep.iter().any(|pattern| matches(pattern, &text)) {
            return false;
        }
        self.drop.iter().any(|pattern| matches(pattern, &text))
            || DROP_UNLESS_PATH.contains(&&*text) && !values::is_path(value.as_bytes())
            || (self.by_name
                && name_is_secret(&text)
                && !value_is_harmless(&text, value.as_bytes()))
            || (self.by_value && values::is_secret(value.as_bytes()))
    }
}

fn name_is_secret(name: &str) -> bool {
    let words = words(name);
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    let ends = |list: &[&str]| words.last().is_some_and(|word| is(word, list));
    if ends(LOCATION_WORDS) || is_entry_key(&words) {
        return false;
    }
    let is_compound = |word: &String| {
        SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending)) && !is(word, HARMLESS_WORDS)
    };
    words
        .iter()
        .any(|word| is(word, SECRET_WORDS) || is_compound(word))
        || ends(LAST_WORDS)
        || words.windows(2).any(|pair| {
            SECRET_PAIRS
                .iter()
                .any(|(a, b)| pair[0] == *a && pair[1] == *b)
        })
}

/// True for a key that is the name of an entry, not a secret: `PUBLIC_KEY`, `SORT_KEY`.
fn is_entry_key(words: &[String]) -> bool {
    match words {
        [before @ .., kind, key] => {
            KEY_KINDS.contains(&kind.as_str())
                && ["key", "keys"].contains(&key.as_str())
                && !before
                    .iter()
                    .any(|word| SECRET_WORDS.contains(&word.as_str()))
        }
        _ => false,
    }
}

/// True if the value is not a secret although the name suggests one: a switch, an amount
/// (`MAX_TOKENS=4096`), a property of a secret (`COOKIE_DOMAIN=example.org`), a path.
fn value_is_harmless(name: &str, value: &[u8]) -> bool {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let ends = |list: &[&str]| {
        words
            .last()
            .is_some_and(|word| list.contains(&word.as_str()))
    };
    let is_digit = value.len() < 2 && value.iter().all(u8::is_ascii_digit);
    let is_switch = YES_NO_VALUES.contains(&value.to_ascii_lowercase().as_slice());
    is_switch
        || has(QUANTITY_WORDS) && values::is_amount(value)
        || ends(&["auth"]) && is_digit && !value.is_empty()
        || ends(PROPERTY_WORDS) && !values::is_random(value)
        || ends(SOMETIMES_PATH_WORDS) && values::is_path(value)
}

/// Returns the words of a name in lower case, split at everything that is not alphanumeric, and
/// where a capital follows a lower-case letter. Trailing digits are not part of a word.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        let mut was_lowercase = false;
        for c in part.chars() {
            if was_lowercase && c.is_uppercase() {
                words.push(std::mem::take(&mut word));
            }
            was_lowercase = c.is_lowercase();
            word.extend(c.to_lowercase());
        }
        words.push(word);
    }
    words
        .into_iter()
        .map(|word| {
            word.trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned()
        })
        .filter(|word| !word.is_empty())
        .collect()
}

/// True if the name matches; `*` at the beginning or end of a pattern matches anything.
fn matches(pattern: &str, name: &str) -> bool {
    if let Some(end) = pattern.strip_prefix('*') {
        return name.ends_with(end);
    }
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
