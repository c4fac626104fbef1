//! Draws commands and their output: the vocabulary.
//!
//! Here so far: what a card says about how a call stands ([`CardState`]), as words and not by colour alone. Nothing is
//! drawn yet; README.md says what will be. This crate never sees a process, a file or a terminal of a command: it is
//! given plain values.

mod card_state;

pub use card_state::CardState;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
