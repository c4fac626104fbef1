//! `no_blind_git_add`: staging files that were not named.

use std::path::Path;

use super::rule::{RuleFinding, RuleInput, is_git};
use crate::syntax::git::{GitArgument, GitCommandLine, GitOptionTable};
use crate::syntax::run::{Field, ResolvedCommand, lexical};
use crate::syntax::value::{UnknownCause, Value, ValuePiece};

/// The message for a computed list.
const COMPUTED_MESSAGE: (&str, &str) = (
    "permission denied: the files to add are computed while this runs (by a command, an unquoted variable, or xargs), so they are unknown in advance. Specify the files explicitly",
    "print the list first, then write the names out: `git add src/lib.rs`; `git add -u` stages what is tracked, `git add \"$FILE\"` one file",
);

/// `git add`'s options (git 2.47, `builtin/add.c`).
const ADD_OPTIONS: GitOptionTable = GitOptionTable {
    valued: "",
    long: &[
        "dry-run", "verbose", "interactive", "patch", "edit", "force", "update", "renormalize",
        "intent-to-add", "all", "ignore-removal", "refresh", "ignore-errors", "ignore-missing",
        "sparse", "chmod=", "pathspec-from-file=", "pathspec-file-nul", "inter-hunk-context=",
        "unified=",
    ],
};

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    let is_known_git = is_git(command)?;
    let git = GitCommandLine::read(&command.words);
    let base = input.context.cwd.to_string_lossy();
    let stages = matches!(git.subcommand()?, "add" | "stage");
    if !stages || is_in_created_repository(&git, command) {
        return None;
    }
    let fields = blind_words(git.arguments, command, &base, is_known_git)?;
    let is_computed = fields.iter().any(|field| field.value.has_unknown());
    let texts = is_computed.then_some(COMPUTED_MESSAGE);
    Some(RuleFinding::on(command, fields).with_texts(texts))
}

/// True if git works in a repository that the script itself has created, which contains no files of
/// the user.
fn is_in_created_repository(git: &GitCommandLine<'_>, command: &ResolvedCommand) -> bool {
    let mut globals = git.globals.windows(2);
    let pair = globals.find(|pair| pair[1].value.literal() == Some("-C"));
    let directory = pair.map_or(Value::text("."), |pair| pair[0].value.clone());
    let is_known = command.cwd_if_cd_failed.is_none() || directory.prefix().starts_with('/');
    is_known && command.is_in_created_repository(&directory)
}

/// Returns the words that make an `add` blind, if any.
fn blind_words<'f>(
    arguments: &'f [Field],
    command: &ResolvedCommand,
    base: &str,
    is_known_git: bool,
) -> Option<Vec<&'f Field>> {
    let mut all: Option<&Field> = None;
    let mut from_file: Option<&Field> = None;
    let mut is_harmless = false;
    let mut operands = Vec::new();
    for argument in ADD_OPTIONS.read(arguments) {
        match argument {
            GitArgument::Short('n' | 'p' | 'i' | 'e' | 'u', _) => is_harmless = true,
            GitArgument::Short('A', field) => all = Some(field),
            GitArgument::Short(..) => {}
            GitArgument::Long {
                name,
                negated,
                field,
                ..
            } => match (name.as_str(), negated) {
                (
                    "dry-run" | "patch" | "interactive" | "edit" | "update" | "refresh"
                    | "renormalize",
                    _,
                ) => {
                    is_harmless = !negated;
                }
                ("all", false) | ("ignore-removal", true) => all = Some(field),
                ("all", true) | ("ignore-removal", false) => all = None,
                ("pathspec-from-file", false) => from_file = Some(field),
                _ => {}
            },
            GitArgument::Operand(field) => operands.push(field),
        }
    }
    if is_harmless {
        return None;
    }
    if let Some(field) = from_file {
        return Some(vec![field]);
    }
    if operands.is_empty() {
        return all.map(|field| vec![field]);
    }
    let specs: Vec<&Value> = operands.iter().map(|field| &field.value).collect();
    if specs.iter().all(|spec| excludes(spec)) {
        return Some(operands);
    }
    operands
        .into_iter()
        .filter(|field| !is_named(&field.value))
        .find(|field| {
            is_whole_tree(
                &field.value,
                base,
                command.cwd.as_deref(),
                is_known_git && !command.may_never_run,
            )
        })
        .map(|field| vec![field])
}

/// True for a pathspec that excludes files: `:!x`, `:^x`, `:(exclude)x`. If all pathspecs exclude
/// files, git takes all other files.
pub(super) fn excludes(spec: &Value) -> bool {
    let text = spec.prefix();
    text.starts_with(":!")
        || text.starts_with(":^")
        || text.strip_prefix(":(").is_some_and(|rest| {
            rest.split(')')
                .next()
                .is_some_and(|magic| magic.split(',').any(|word| word == "exclude"))
        })
}

/// True if a pathspec covers the whole tree; with `or_unknown`, also if an unknown pathspec may
/// cover the whole tree.
pub(super) fn is_whole_tree(spec: &Value, base: &str, cwd: Option<&str>, or_unknown: bool) -> bool {
    // git refuses an empty pathspec.
    if excludes(spec) || spec.is_empty() {
        return false;
    }
    // Pathspec magic: `:/`, `:(top)`, `:(glob)`.
    let text = spec.prefix();
    let (has_magic, pattern_start) = match text.strip_prefix(':') {
        Some(rest) if rest.starts_with('(') => {
            let end = text.find(')');
            end.map_or((false, 0), |end| (true, end + 1))
        }
        Some(rest) => {
            let pattern = rest.trim_start_matches(['/', ':']);
            (true, text.len() - pattern.len())
        }
        None => (false, 0),
    };
    let mut has_unknown = false;
    let mut letters = String::new();
    for (index, piece) in spec.pieces().iter().enumerate() {
        match piece {
            ValuePiece::Text(text) if index == 0 => {
                letters.push_str(&text[pattern_start.min(text.len())..]);
            }
            ValuePiece::Text(text) => letters.push_str(text),
            ValuePiece::Glob(_) => {}
            ValuePiece::Unknown { .. } => has_unknown = true,
        }
    }
    if has_unknown {
        return or_unknown && letters.chars().all(|c| matches!(c, '.' | '/' | '*'));
    }
    if !has_magic && letters.starts_with('/') {
        return covers(&letters, base);
    }
    // `cd .. && git add project`
    if !has_magic
        && let Some(cwd) = cwd
        && (letters.contains("..") || cwd != base)
        && covers(&format!("{cwd}/{letters}"), base)
    {
        return true;
    }
    lexical(&without_wildcards(&letters)) == "/"
}

/// True if a pathspec is a single unknown value (a variable, or a line that was read), or names
/// only tracked files, which `git add -u` stages, too.
fn is_named(spec: &Value) -> bool {
    let [ValuePiece::Unknown { why, splits }] = spec.pieces() else {
        return false;
    };
    match why {
        UnknownCause::Tracked => true,
        _ if *splits => false,
        UnknownCause::Variable(name) | UnknownCause::Required(name) => {
            !matches!(name.as_str(), "@" | "*")
        }
        why => *why == UnknownCause::Input,
    }
}

/// Returns the literal characters of a pattern.
fn without_wildcards(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(wildcard) = rest.find(['*', '?', '[']) {
        out.push_str(&rest[..wildcard]);
        let tail = &rest[wildcard..];
        rest = match (tail.starts_with('['), tail.find(']')) {
            (true, Some(close)) => &tail[close + 1..],
            _ => &tail[1..],
        };
    }
    out.push_str(rest);
    out
}

/// True if the directory is `base` or contains `base`.
fn covers(directory: &str, base: &str) -> bool {
    let (directory, base) = (lexical(&without_wildcards(directory)), lexical(base));
    Path::new(&base).starts_with(directory)
}
