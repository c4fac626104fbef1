//! Which files a command touches, as far as its text says: what is refused of it can be tried where those are held back.

use super::path::{Place, touched};
use super::rule::{Scene, is_git};
use crate::syntax::git::Git;
use crate::syntax::run::{Field, Ran};
use crate::syntax::value::Value;
use std::path::PathBuf;

/// Programs that start others as they are: here, and as the same user.
const PLAIN: [&str; 10] = [
    "bash", "sh", "command", "builtin", "env", "eval", "nice", "time", "timeout", "exec",
];

/// What git does to the repository that it runs in, and to nothing else. Not `add`: what is staged is meant for others.
const OF_REPOSITORY: [&str; 10] = [
    "branch", "checkout", "clean", "gc", "prune", "reflog", "reset", "restore", "stash", "switch",
];

/// The paths that a command touches: absolute, not normalised, of a pattern its directory. `None` if they are not known,
/// or if it touches anything but files.
pub(super) fn of(ran: &Ran, scene: &Scene<'_>) -> Option<Vec<PathBuf>> {
    let is_plain = |name: &String| PLAIN.contains(&name.as_str());
    let is_elsewhere = ran.is_function || !ran.through.iter().all(is_plain);
    if is_elsewhere || ran.redirections.iter().any(writes_a_file) {
        return None;
    }
    let mut paths = Vec::new();
    for place in scene.places(ran) {
        if is_git(ran).is_some() {
            paths.push(of_git(ran, scene, &place)?);
            continue;
        }
        for operand in operands(ran)? {
            paths.push(touched(operand, &place)?.into());
        }
    }
    Some(paths)
}

/// Whether a command sends commits elsewhere, or could.
pub(super) fn pushes(ran: &Ran) -> bool {
    is_git(ran).is_some()
        && Git::read(&ran.words)
            .subcommand()
            .is_none_or(|it| it == "push")
}

fn writes_a_file(redirection: &crate::syntax::run::Redirection) -> bool {
    redirection.writes() && redirection.target.literal() != Some("/dev/null")
}

/// What a command that removes files is given.
fn operands(ran: &Ran) -> Option<Vec<&Value>> {
    let (options, operands): (Vec<&Field>, Vec<&Field>) = match ran.name()? {
        "rm" => {
            let is_option = |field: &&Field| field.value.prefix().starts_with('-');
            // Behind `--` there may be names that look like options.
            let ends_options = |field: &Field| field.value.literal() == Some("--");
            if ran.arguments().iter().any(ends_options) {
                return None;
            }
            ran.arguments().iter().partition(is_option)
        }
        // Not with `-L` and the like, which leave the directory by links; nor with anything that it starts or writes.
        "find" => {
            let is_tested = |field: &&Field| field.value.prefix().starts_with(['-', '(', '!']);
            let at = ran.arguments().iter().position(|field| is_tested(&field));
            let (starts, tests) = ran
                .arguments()
                .split_at(at.unwrap_or(ran.arguments().len()));
            let is_alone = |field: &Field| {
                let word = field.value.literal();
                word.is_some_and(|word| {
                    ["-delete", "-type", "f", "d", "l", "-depth"].contains(&word)
                })
            };
            if starts.is_empty() || !tests.iter().all(is_alone) {
                return None;
            }
            (tests.iter().collect(), starts.iter().collect())
        }
        _ => return None,
    };
    let are_known = options
        .iter()
        .all(|option| option.value.literal().is_some());
    are_known.then(|| operands.into_iter().map(|field| &field.value).collect())
}

/// The directory that git runs in. `None` if it may be told of another repository, or to start something.
fn of_git(ran: &Ran, scene: &Scene<'_>, place: &Place<'_>) -> Option<PathBuf> {
    let git = Git::read(&ran.words);
    let is_own = git.globals.is_empty() && git.config.is_empty() && !scene.text.contains("GIT_");
    let is_known = OF_REPOSITORY.contains(&git.subcommand()?);
    let are_known = git
        .arguments
        .iter()
        .all(|field| field.value.literal().is_some());
    (is_own && is_known && are_known).then(|| place.cwd.map(PathBuf::from))?
}
