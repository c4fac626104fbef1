//! The rules that also apply, whether or not they are enabled, to what is hidden in other
//! languages.

use super::rule::Rule;
use super::{no_blind_git_add, no_dangerous_rm, no_force_push};

pub(super) static CORE_RULES: [&Rule; 3] = [
    &no_blind_git_add::RULE,
    &no_force_push::RULE,
    &no_dangerous_rm::RULE,
];
