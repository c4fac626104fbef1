//! Parses a command line of bash, to find the commands that it runs.
//!
//! This module neither checks the commands nor starts the shell.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The source of the commands of a bash that is started with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commands {
    /// The text after `-c`, and the words after it: `$0` and the positional parameters.
    Text(OsString, Vec<OsString>),
    /// A script file, and its arguments.
    File(Vec<OsString>),
    /// Commands from stdin, and the positional parameters.
    Stdin(Vec<OsString>),
    /// A command line that agents do not use for commands: an interactive shell, `--version`,
    /// `--rcfile`, or an error that bash reports.
    Other,
}

/// The long options that take no value and with which bash still runs commands. bash also accepts
/// them with one dash.
const LONG_OPTIONS: [&str; 8] = [
    "login", "noediting", "noprofile", "norc", "posix", "protected", "restricted", "verbose",
];

/// Letters of the short options of bash and of `set`.
const OPTION_LETTERS: &[u8] = b"abefhiklmnprstuvxBCEHPTlc";

impl Commands {
    /// Returns the source of the commands for these arguments (without `argv[0]`), parsed as bash
    /// 5.2 does.
    pub fn of(arguments: &[OsString]) -> Self {
        let mut words = arguments.iter();
        let mut is_command = false;
        let mut is_stdin = false;
        let mut is_interactive = false;
        let mut first_operand = None;
        while let Some(word) = words.next() {
            let bytes = word.as_bytes();
            let long = bytes.strip_prefix(b"--").or(bytes.strip_prefix(b"-"));
            let is_long_option =
                |name: &[u8]| LONG_OPTIONS.iter().any(|option| option.as_bytes() == name);
            if long.is_some_and(is_long_option) {
                continue;
            }
            match bytes {
                b"--" | b"-" => {
                    first_operand = words.next();
                    break;
                }
                [b'-', b'-', ..] => return Self::Other,
                [sign @ (b'-' | b'+'), letters @ ..] if !letters.is_empty() => {
                    for letter in letters {
                        match letter {
                            // The next word is the value of this option.
                            b'o' | b'O' if words.next().is_none() => return Self::Other,
                            b'o' | b'O' => {}
                            b'c' if *sign == b'-' => is_command = true,
                            b's' if *sign == b'-' => is_stdin = true,
                            b'i' if *sign == b'-' => is_interactive = true,
                            other if OPTION_LETTERS.contains(other) => {}
                            _ => return Self::Other,
                        }
                    }
                }
                _ => {
                    first_operand = Some(word);
                    break;
                }
            }
        }
        if is_command {
            return first_operand.map_or(Self::Other, |text| {
                Self::Text(text.clone(), words.cloned().collect())
            });
        }
        let operands = || first_operand.into_iter().chain(words).cloned().collect();
        if is_interactive {
            return Self::Other;
        }
        if is_stdin || first_operand.is_none() {
            return Self::Stdin(operands());
        }
        Self::File(operands())
    }
}

/// Returns the words quoted for a shell and joined by spaces. Empty if a word contains a NUL byte.
pub fn quoted(words: &[OsString]) -> String {
    let words = words.iter().map(|word| OsStr::to_string_lossy(word));
    let words: Vec<_> = words.collect();
    let words = words.iter().map(AsRef::as_ref);
    shlex::try_join(words).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn commands_of_parses_options_like_bash() {
        let text = |text: &str| Commands::Text(text.into(), Vec::new());
        for (line, want) in [
            ("-c ls", text("ls")),
            ("-lc ls", text("ls")),
            ("-c -l ls", text("ls")),
            (
                "--login -i -c ls name a",
                Commands::Text("ls".into(), words("name a")),
            ),
            ("-login -c ls", text("ls")),
            ("--norc --noprofile -ec ls", text("ls")),
            ("-o pipefail -c ls", text("ls")),
            ("-euo pipefail -c ls", text("ls")),
            ("-co pipefail ls", text("ls")),
            ("+O extglob -c ls", text("ls")),
            ("+x -c ls", text("ls")),
            ("-c -- ls", text("ls")),
            ("-c - ls", text("ls")),
            ("-c", Commands::Other),
            ("-c -o pipefail", Commands::Other),
            ("--version", Commands::Other),
            ("--rcfile x -c ls", Commands::Other),
            ("-i", Commands::Other),
            ("-Z", Commands::Other),
            ("--dump-strings x", Commands::Other),
            ("x.sh a b", Commands::File(words("x.sh a b"))),
            ("-x x.sh -c", Commands::File(words("x.sh -c"))),
            ("-- -x", Commands::File(words("-x"))),
            ("", Commands::Stdin(Vec::new())),
            ("-s a b", Commands::Stdin(words("a b"))),
            ("-s -- a", Commands::Stdin(words("a"))),
            ("-e", Commands::Stdin(Vec::new())),
        ] {
            assert_eq!(Commands::of(&words(line)), want, "{line}");
        }
    }
}
