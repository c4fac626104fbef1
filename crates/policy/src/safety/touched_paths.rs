//! The files that a command touches, as far as its text shows. A refused command can run in a trial
//! that holds back changes of these files.

use super::path::{PathBase, touched};
use super::rule::{RuleInput, is_git};
use crate::syntax::CommandHost;
use crate::syntax::git::GitCommandLine;
use crate::syntax::run::{Field, Redirection, ResolvedCommand};
use crate::syntax::value::Value;
use std::path::PathBuf;

/// Programs that start another command unchanged: on this machine and as the same user.
const PLAIN_RUNNERS: [&str; 10] = [
    "bash", "sh", "command", "builtin", "env", "eval", "nice", "time", "timeout", "exec",
];

/// Subcommands of git that affect or show only the current repository. `add` is excluded, because
/// the user commits and publishes staged files later.
const REPOSITORY_SUBCOMMANDS: [&str; 16] = [
    "blame", "branch", "checkout", "clean", "diff", "gc", "log", "ls-files", "prune", "reflog",
    "reset", "restore", "show", "stash", "status", "switch",
];

/// Programs that only handle the files in their arguments, or the files of the directory, with any
/// option. Programs that can start other programs (`sed`, `awk`, `sort`) are excluded.
const FILE_PROGRAMS: [&str; 38] = [
    ":", "[", "basename", "cat", "cd", "chmod", "cmp", "comm", "cp", "cut", "diff", "dirname",
    "du", "egrep", "exit", "false", "fgrep", "grep", "head", "ln", "ls", "md5sum", "mkdir", "mv",
    "pwd", "readlink", "realpath", "rm", "rmdir", "sha256sum", "stat", "tac", "tail", "test",
    "touch", "true", "uniq", "wc",
];

/// Programs that print their arguments.
const PRINTING_PROGRAMS: [&str; 2] = ["echo", "printf"];

/// Returns the paths that a command touches: absolute, not normalised, for a pattern its directory.
/// `None` if they are unknown, or if the command affects more than files.
pub(super) fn of_refused(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<Vec<PathBuf>> {
    if is_elsewhere(command) || command.redirections.iter().any(writes_a_file) {
        return None;
    }
    let mut paths = Vec::new();
    for path_base in input.path_bases(command) {
        if is_git(command).is_some() {
            paths.push(of_git(command, input, &path_base)?);
            continue;
        }
        for operand in operands(command)? {
            paths.push(touched(operand, &path_base)?.into());
        }
    }
    Some(paths)
}

/// Returns the paths of a command that is not refused, but would run in the same trial. `None` if
/// the command may affect more than files, such as other machines or processes.
pub(super) fn of_allowed(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<Vec<PathBuf>> {
    if is_elsewhere(command) || !command.env.is_empty() {
        return None;
    }
    let mut paths = Vec::new();
    for path_base in input.path_bases(command) {
        let redirections = command.redirections.iter();
        for redirection in redirections.filter(|redirection| opens_a_file(redirection)) {
            paths.push(touched(&redirection.target, &path_base)?.into());
        }
        let Some(program) = command.words.first() else {
            continue;
        };
        match program.value.literal()? {
            "git" => paths.push(of_git(command, input, &path_base)?),
            "find" => {
                for operand in operands(command)? {
                    paths.push(touched(operand, &path_base)?.into());
                }
            }
            name if PRINTING_PROGRAMS.contains(&name) || is_followed(command, name, input) => {}
            name if FILE_PROGRAMS.contains(&name) => {
                for word in command.arguments() {
                    if !is_option(word)? {
                        paths.push(touched(&word.value, &path_base)?.into());
                    }
                }
            }
            _ => return None,
        }
    }
    Some(paths)
}

/// True for a function, and for a command that runs on another host or as another user.
fn is_elsewhere(command: &ResolvedCommand) -> bool {
    let is_plain = |name: &String| PLAIN_RUNNERS.contains(&name.as_str());
    command.is_function
        || command.host != CommandHost::Local
        || !command.started_by.iter().all(is_plain)
}

/// True if a command starts another command unchanged, and the other command was resolved, too: the
/// other command is checked separately.
fn is_followed(command: &ResolvedCommand, name: &str, input: &RuleInput<'_>) -> bool {
    let is_within_span = |inner: &ResolvedCommand| {
        command.span.start <= inner.span.start && inner.span.end <= command.span.end
    };
    let is_started_by_it = |inner: &ResolvedCommand| {
        let launchers = inner.started_by.strip_prefix(&command.started_by[..]);
        launchers.is_some_and(|rest| rest.first().is_some_and(|launcher| launcher == name))
    };
    let mut all = input.commands.iter();
    PLAIN_RUNNERS.contains(&name)
        && all.any(|inner| is_started_by_it(inner) && is_within_span(inner))
}

/// Returns true if a word is an option without a file name, false if it is not an option, and
/// `None` if it is an option that may contain a file name.
fn is_option(word: &Field) -> Option<bool> {
    if !word.value.prefix().starts_with('-') {
        return Some(false);
    }
    let option = word.value.literal()?;
    (!option.contains('/')).then_some(true)
}

fn opens_a_file(redirection: &Redirection) -> bool {
    let is_read = matches!(redirection.operator, "<" | "<>");
    (is_read && redirection.target.literal() != Some("/dev/null")) || writes_a_file(redirection)
}

fn writes_a_file(redirection: &Redirection) -> bool {
    redirection.writes() && redirection.target.literal() != Some("/dev/null")
}

/// Returns the operands of `rm` or the starting points of `find`. `None` for other programs, and if
/// an option is unknown or lets the program affect further files.
fn operands(command: &ResolvedCommand) -> Option<Vec<&Value>> {
    let (options, operands): (Vec<&Field>, Vec<&Field>) = match command.name()? {
        "rm" => {
            let is_option = |field: &&Field| field.value.prefix().starts_with('-');
            // After `--`, names may look like options.
            let ends_options = |field: &Field| field.value.literal() == Some("--");
            if command.arguments().iter().any(ends_options) {
                return None;
            }
            command.arguments().iter().partition(is_option)
        }
        // Excludes `-L` and similar options, which leave the directory through links, and all
        // actions that start a program or write.
        "find" => {
            let begins_expression =
                |field: &Field| field.value.prefix().starts_with(['-', '(', '!']);
            let expression = command.arguments().iter().position(begins_expression);
            let (starts, tests) = command
                .arguments()
                .split_at(expression.unwrap_or(command.arguments().len()));
            let is_harmless_test = |field: &Field| {
                let word = field.value.literal();
                word.is_some_and(|word| {
                    ["-delete", "-type", "f", "d", "l", "-depth"].contains(&word)
                })
            };
            if starts.is_empty() || !tests.iter().all(is_harmless_test) {
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

/// Returns the directory in which git runs. `None` if an option may select another repository or
/// start a program.
fn of_git(
    command: &ResolvedCommand,
    input: &RuleInput<'_>,
    path_base: &PathBase<'_>,
) -> Option<PathBuf> {
    let git = GitCommandLine::read(&command.words);
    let is_in_cwd = git.globals.is_empty() && git.config.is_empty() && !input.text.contains("GIT_");
    let is_known = REPOSITORY_SUBCOMMANDS.contains(&git.subcommand()?);
    let are_known = git
        .arguments
        .iter()
        .all(|field| field.value.literal().is_some() && is_option(field).is_some());
    (is_in_cwd && is_known && are_known).then(|| path_base.cwd.map(PathBuf::from))?
}
