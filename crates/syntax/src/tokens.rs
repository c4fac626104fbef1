//! A script as tokens, for showing it and for completing it while it is typed. Any text has tokens, finished or not.
//!
//! What a script would run is the reader's business, and where it is wrong: see [`ending`].

mod commands;
mod ending;
mod lexer;
mod word;

pub use ending::{Ending, ending, reads_on};
pub use lexer::{LastWord, Token, TokenKind, Tokens};

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
