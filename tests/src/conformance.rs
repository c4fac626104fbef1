//! The conformance kit: test cases as data, run through every interface, which must all give the
//! same results.
//!
//! A case is a TOML table in `tests/conformance/*.toml`: setup, calls, and expectations ([`Case`]
//! has the format). A [`Surface`] is one way to call the product, `check` compares, [`play`] runs a
//! case. [`table()`] generates the table of requirements and their cases,
//! `docs/generated/conformance.md`.
//!
//! Cases that data cannot express (signals during a call, readers that disappear) are in
//! `tests/tests/it/faults.rs`.

mod action;
mod adapter;
mod case;
mod check;
mod client_packages;
mod run;
mod servers;
mod surface;
mod table;
mod text;

pub use action::{
    Action, ChangesChoice, JobName, JobPort, JobWait, SCREEN_SECONDS, TerminalInput, TerminalUse,
};
pub use adapter::{Adapter, Source};
pub use case::{Case, Cases, Expect, Requirement, Setup, Step, load};
pub use client_packages::ClientPackage;
pub use run::play;
pub use servers::{Mcp, Rpc, RpcOn, TargetSetup, shake_hands, shake_hands_as};
pub use surface::{Call, CliJson, CliText, InEngine, Reply, Surface};
pub use table::table;
