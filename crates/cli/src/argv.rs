//! Preprocesses the command line before clap, and adds advice to clap's errors.

use crate::args::SafeLevelArg;
use clap::ValueEnum;
use clap::error::ErrorKind;
use std::ffi::{OsStr, OsString};

/// The argument that ends the options.
const END_OF_OPTIONS: &str = "--";

/// Joins `--safe-mode` and a following level by `=`. The option's value is optional, so clap
/// accepts a value only after `=`. No real command has the name of a level.
pub(crate) fn join_safe_mode_level(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut are_options = true;
    for word in words {
        are_options &= word != END_OF_OPTIONS;
        let level = word.to_str().filter(|word| is_level(word));
        match (level, joined.last_mut()) {
            (Some(level), Some(last)) if are_options && last == "--safe-mode" => {
                last.push("=");
                last.push(level);
            }
            _ => joined.push(word),
        }
    }
    joined
}

/// True if the word is the name of a level of safe mode.
fn is_level(word: &str) -> bool {
    SafeLevelArg::from_str(word, false).is_ok()
}

/// Returns advice on how to pass a command with options, if clap rejected the command's options:
/// `agent-bash run ls -la`.
pub(crate) fn advice(kind: ErrorKind, words: &[OsString]) -> Option<String> {
    let [_, run, script @ ..] = words else {
        return None;
    };
    let is_command = |first: &OsString| !first.to_string_lossy().starts_with('-');
    if kind != ErrorKind::UnknownArgument
        || run != OsStr::new("run")
        || !script.first().is_some_and(is_command)
    {
        return None;
    }
    let script: Vec<_> = script.iter().map(|word| word.to_string_lossy()).collect();
    let script = shlex::try_join(script.iter().map(AsRef::as_ref)).ok()?;
    Some(format!(
        "To run these words as a command, put `--` before them:\n\n  agent-bash run -- {script}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn safe_mode_level_is_joined_to_its_option() {
        for (given, want) in [
            ("x run --safe-mode listed ls", "x run --safe-mode=listed ls"),
            ("x rpc --safe-mode read-only", "x rpc --safe-mode=read-only"),
            ("x run --safe-mode ls", "x run --safe-mode ls"),
            ("x run -- --safe-mode listed", "x run -- --safe-mode listed"),
            ("x run listed", "x run listed"),
        ] {
            assert_eq!(join_safe_mode_level(words(given)), words(want));
        }
    }

    #[test]
    fn advice_names_the_double_dash_for_options_of_the_command() {
        let unknown = ErrorKind::UnknownArgument;
        let text = advice(unknown, &words("x run ls -la")).unwrap();
        assert!(text.ends_with("agent-bash run -- ls -la"), "{text}");
        for other in ["x run --no-such ls", "x check ls -la", "x"] {
            assert_eq!(advice(unknown, &words(other)), None, "{other}");
        }
    }
}
