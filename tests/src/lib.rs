//! Code shared by the end-to-end tests of agent-bash. Not published, and not part of the product.
//!
//! - [`world`]: an isolated home, state directory and environment;
//! - [`census`]: finding the leftovers of a test: processes, files, descriptors;
//! - [`poll`]: waiting with a deadline;
//! - [`product`]: finding and running the binary under test;
//! - [`packages`]: programs from package registries, installed once;
//! - [`prompt_page`]: the page on which the user answers a password prompt;
//! - [`targets`]: real engines behind `--on`;
//! - [`tmux`]: a simulated user at a terminal;
//! - [`server_client`]: exchanging JSON lines with a program;
//! - [`unread`]: a server whose client never reads;
//! - [`conformance`]: cases as data, run through every interface of the product.
//!
//! The program `misbehave` (`src/bin/misbehave`) misbehaves on demand. Tests of a single crate are
//! in that crate; `docs/testing.md` has the overview.

pub mod census;
pub mod conformance;
pub mod packages;
pub mod poll;
pub mod procfs;
pub mod product;
pub mod prompt_page;
pub mod refusals;
pub mod server_client;
pub mod targets;
pub mod tmux;
pub mod unread;
pub mod world;
