//! Reads a script from the command line or stdin.

use crate::usage::UsageError;
use agent_bash::core::MAX_COMMAND_BYTES;
use anyhow::Context;
use std::io::{self, Read};

/// The argument that means "read the script from stdin".
const STDIN_ARGUMENT: &str = "-";

/// Returns the script. A single word is the script itself; `-` reads it from stdin; several words
/// are quoted and joined, so that the command receives them unchanged.
///
/// # Errors
/// Stdin cannot be read, or is not UTF-8.
pub(crate) fn script(words: &[String]) -> anyhow::Result<String> {
    match words {
        [one] if one == STDIN_ARGUMENT => stdin_text("the script"),
        [one] => Ok(one.clone()),
        several => shlex::try_join(several.iter().map(String::as_str))
            .map_err(|error| UsageError(format!("these words make no command: {error}")).into()),
    }
}

/// Reads all of stdin, up to one byte more than a script may have; the pipeline then refuses it.
///
/// # Errors
/// Stdin cannot be read, or is not UTF-8.
pub(crate) fn stdin_text(what: &str) -> anyhow::Result<String> {
    String::from_utf8(stdin_bytes(what)?).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        UsageError(format!("{what} on stdin is not UTF-8 at byte {offset}")).into()
    })
}

/// Reads stdin without decoding, with the limit of [`stdin_text`].
///
/// # Errors
/// Stdin cannot be read.
pub(crate) fn stdin_bytes(what: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_COMMAND_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {what} from stdin"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_the_script_and_several_are_quoted() {
        for (words, want) in [
            (&["ls | wc -l"][..], "ls | wc -l"),
            (&["ls", "-la"], "ls -la"),
            (
                &["grep", "two words", "it's.txt"],
                "grep 'two words' \"it's.txt\"",
            ),
            (&["echo", "$HOME", ""], "echo '$HOME' ''"),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(script(&words).unwrap(), want);
        }
    }
}
