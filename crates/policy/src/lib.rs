//! Parses a bash script as bash would, and checks it before it runs.
//!
//! One parse of the script, a [`Script`], answers three questions. Could the script do unintended
//! harm ([`check_safety`])? Are its commands on the allowlist ([`check_safe_mode`])? Is there a
//! better tool for a command ([`Interceptor`])? [`Policy`] combines these checks, [`explain`]
//! reports the parsed commands and the verdicts. [`lift`] removes trailing `| head` and `| tail`.
//!
//! The crate is pure: text and a [`Context`] in, a [`Verdict`] out. It starts no process, opens no
//! file, reads no environment and no clock.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod agreement;
mod excerpt;
mod expanded;
mod explain;
mod group;
mod interceptor;
mod last_pipeline;
mod normalise;
mod policy;
mod privileges;
mod safe_mode;
mod safety;
mod terminal_need;
mod verdict;

use agent_bash_syntax as syntax;

pub use agent_bash_syntax::{Context, Dialect, Parsed, Predefined, ProtectedProcess, Script, Span};
pub use excerpt::{MarkedLine, marked_lines};
pub use expanded::{ExpandedDefinition, expanded_definitions};
pub use explain::{Explanation, ReadCommand, RuleVerdict, explain};
pub use group::Group;
pub use interceptor::{
    InterceptMode, InterceptRule, Interceptor, InvalidRule, MatchOn, default_rules,
};
pub use last_pipeline::{ends_if_interrupted, exit_1_is_ok, last_pipeline};
pub use normalise::{LiftedScript, lift, trimmed};
pub use policy::Policy;
pub use privileges::takes_privileges;
pub use safe_mode::{INVALID_SYNTAX, NOT_ALLOWED, SafeLevel, SafeMode, check_safe_mode};
pub use safety::{
    CommandPattern, Examples, Rule, RuleSelection, UnknownRule, UserRule, UserRuleVerdict, advice,
    check_safety, rules,
};
pub use terminal_need::{
    TerminalNeed, changes_directory, in_background, needed_terminal, reads_from_top,
};
pub use verdict::{Check, Finding, Verdict};
