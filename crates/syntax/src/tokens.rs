//! A script as tokens, for showing it and for completing it while it is typed. Any text has tokens,
//! finished or not.
//!
//! The reader finds the commands that a script runs; [`ending`] finds its errors.

mod commands;
mod ending;
mod lexer;
mod word;

pub use ending::{TextEnding, ending, reads_on};
pub use lexer::{LastWord, Token, TokenKind, Tokens};

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
