//! What the end-to-end tests of agent-bash share. Not published, and no part of the product.
//!
//! - [`world`]: a home, a state directory and an environment of a test's own;
//! - [`census`]: what a test left behind: processes, files, descriptors;
//! - [`poll`]: waiting with a deadline;
//! - [`product`]: where the binary under test is, and one run of it;
//! - [`packages`]: programs from package registries, made once;
//! - [`tmux`]: a person at a terminal;
//! - [`conversation`]: talking to a program in lines of JSON;
//! - [`unread`]: a server whose client never reads;
//! - [`conformance`]: cases as data, run through every surface of the product.
//!
//! The program `misbehave` (`src/bin/misbehave`) does on demand what commands should not do. Tests of a single crate
//! are in that crate; how it all fits together is in `docs/testing.md`.

pub mod census;
pub mod conformance;
pub mod conversation;
pub mod packages;
pub mod poll;
pub mod procfs;
pub mod product;
pub mod tmux;
pub mod unread;
pub mod world;
