//! The registry of safety rules, one file each.

use super::rule::Rule;
use super::{
    data_loss, inline_code, no_blind_git_add, no_dangerous_rm, no_force_push, remote_code,
    services, system, zsh,
};

static RULES: [&Rule; 26] = [
    &zsh::RULE,
    &no_blind_git_add::RULE,
    &no_force_push::RULE,
    &no_dangerous_rm::RULE,
    &inline_code::RULE,
    &data_loss::clean::RULE,
    &data_loss::reset::RULE,
    &data_loss::discard::RULE,
    &data_loss::stash::RULE,
    &data_loss::branch::RULE,
    &data_loss::reflog::RULE,
    &data_loss::push_delete::RULE,
    &remote_code::unread_shell::RULE,
    &remote_code::transport::RULE,
    &system::disk::RULE,
    &system::modes::RULE,
    &system::home::RULE,
    &system::processes::RULE,
    &system::power::RULE,
    &system::mirror::RULE,
    &system::crontab::RULE,
    &services::containers::RULE,
    &services::infrastructure::RULE,
    &services::clusters::RULE,
    &services::buckets::RULE,
    &services::databases::RULE,
];

/// All safety rules, in the order in which they are checked.
pub fn rules() -> &'static [&'static Rule] {
    &RULES
}
