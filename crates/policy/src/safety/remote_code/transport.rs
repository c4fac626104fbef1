//! `no_git_transport_program`: programs that git runs for a transport.

use super::super::rule::{Hit, Rule, Scene, is_git};
use crate::Group;
use crate::syntax::git::Git;
use crate::syntax::run::ResolvedCommand;
use crate::syntax::value::Value;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_git_transport_program",
    group: Group::RemoteCode,
    summary: "Options by which git runs a program of the caller's choosing at the other end: `--receive-pack`, `--upload-pack`, `--exec`, `ext::` addresses; the same in settings.",
    message: "permission denied: this makes git run another program for the transport. Push or fetch without it",
    suggestion: "`git push` or `git fetch`, without that option",
    fires: &[
        "git push --receive-pack=\"touch pwned; git-receive-pack\" origin main",
        "git push --exec=x origin",
        "git fetch --upload-pack=x origin",
        "git clone -u x y",
        "git clone \"ext::sh -c x\" y",
        "git ls-remote --upload-pa=x origin",
        "git -c remote.origin.uploadpack=x fetch origin",
    ],
    spares: &[
        "git push origin main",
        "git fetch origin",
        "git clone https://x.example/y",
    ],
    check,
};

/// Subcommands that communicate with another repository.
const SUBCOMMANDS: [&str; 10] = [
    "push", "fetch", "pull", "clone", "ls-remote", "archive", "send-pack", "fetch-pack", "remote",
    "submodule",
];

/// The relevant options; abbreviations are looked up among these only.
const PROGRAM_OPTIONS: [&str; 3] = ["receive-pack", "upload-pack", "exec"];

fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
    is_git(ran)?;
    let git = Git::read(&ran.words);
    let configured = git.config.iter().cloned().chain(git.configures());
    if configured.into_iter().any(|setting| transports(&setting)) {
        return Some(Hit::on(ran, ran.arguments()));
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
    Some(Hit::on(ran, [found]))
}

/// Settings with the same effect.
fn transports((name, value): &(String, Value)) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(last, "uploadpack" | "receivepack") && name.starts_with("remote.")
        || value.prefix().starts_with("ext::")
}
