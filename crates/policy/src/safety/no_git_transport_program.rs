//! `no_git_transport_program`: programs that git runs for a transport.

use super::rule::{RuleFinding, RuleInput, is_git};
use crate::syntax::git::GitCommandLine;
use crate::syntax::run::ResolvedCommand;
use crate::syntax::value::Value;

/// Subcommands that communicate with another repository.
const SUBCOMMANDS: [&str; 10] = [
    "push", "fetch", "pull", "clone", "ls-remote", "archive", "send-pack", "fetch-pack", "remote",
    "submodule",
];

/// The options that name a program. An abbreviation of one of them counts as the option.
const PROGRAM_OPTIONS: [&str; 3] = ["receive-pack", "upload-pack", "exec"];

pub(super) fn check(command: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    is_git(command)?;
    let git = GitCommandLine::read(&command.words);
    let configured = git.config.iter().cloned().chain(git.configures());
    if configured.into_iter().any(|setting| sets_program(&setting)) {
        return Some(RuleFinding::on(command, command.arguments()));
    }
    let subcommand = git.subcommand()?;
    if !SUBCOMMANDS.contains(&subcommand) {
        return None;
    }
    let found = git.arguments.iter().find(|field| {
        let text = field.value.prefix();
        if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            return name.len() > 3
                && PROGRAM_OPTIONS
                    .iter()
                    .any(|program| program.starts_with(name));
        }
        (subcommand == "clone" && text.starts_with("-u")) || text.starts_with("ext::")
    })?;
    Some(RuleFinding::on(command, [found]))
}

/// True if a setting of git names a program for a transport.
fn sets_program((name, value): &(String, Value)) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(last, "uploadpack" | "receivepack") && name.starts_with("remote.")
        || value.prefix().starts_with("ext::")
}
