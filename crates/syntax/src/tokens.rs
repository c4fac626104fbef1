//! The tokens of a script, for highlighting and completing the script while the user types. Every
//! text has tokens, even an unfinished text.
//!
//! Tokens do not show errors: [`ending`] finds them with the parser.

mod commands;
mod ending;
mod lexer;
mod word;

pub use ending::{TextEnding, ending, needs_more_lines};
pub use lexer::{LastWord, Token, TokenKind, Tokens};

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
