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

pub(super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    let known = is_git(ran)?;
    let git = GitCommandLine::read(&ran.words);
    let base = scene.context.cwd.to_string_lossy();
    match git.subcommand()? {
        "add" | "stage" => {
            let fields = blind(git.arguments, ran, &base, known)?;
            let computed = fields.iter().any(|field| field.value.has_unknown());
            let hit = RuleFinding::on(ran, fields);
            Some(if computed {
                hit.saying(COMPUTED_MESSAGE.0, COMPUTED_MESSAGE.1)
            } else {
                hit
            })
        }
        "update-index" => {
            let has = |name: &str| {
                git.arguments
                    .iter()
                    .any(|field| field.value.literal() == Some(name))
            };
            (has("--stdin") || has("-z") && has("--index-info"))
                .then(|| RuleFinding::on(ran, git.arguments))
        }
        _ => None,
    }
}

/// Returns the words that make an `add` blind, if any.
fn blind<'f>(
    arguments: &'f [Field],
    ran: &ResolvedCommand,
    base: &str,
    known: bool,
) -> Option<Vec<&'f Field>> {
    let mut all: Option<&Field> = None;
    let mut from_file: Option<&Field> = None;
    let mut harmless = false;
    let mut operands = Vec::new();
    for given in ADD_OPTIONS.read(arguments) {
        match given {
            GitArgument::Short('n' | 'p' | 'i' | 'e' | 'u', _) => harmless = true,
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
                    harmless = !negated;
                }
                ("all", false) | ("ignore-removal", true) => all = Some(field),
                ("all", true) | ("ignore-removal", false) => all = None,
                ("pathspec-from-file", false) => from_file = Some(field),
                _ => {}
            },
            GitArgument::Operand(field) => operands.push(field),
        }
    }
    if harmless {
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
            everything(
                &field.value,
                base,
                ran.cwd.as_deref(),
                known && !ran.dormant,
            )
        })
        .map(|field| vec![field])
}

/// `:!x`, `:^x`, `:(exclude)x`: alone they mean everything else.
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

/// True if a pathspec covers the whole tree, or is unknown.
pub(super) fn everything(spec: &Value, base: &str, cwd: Option<&str>, judge_unknown: bool) -> bool {
    if excludes(spec) {
        return false;
    }
    // Pathspec magic: `:/`, `:(top)`, `:(glob)`.
    let text = spec.prefix();
    let (magic, from) = match text.strip_prefix(':') {
        Some(rest) if rest.starts_with('(') => match text.find(')') {
            Some(at) => (true, at + 1),
            None => (false, 0),
        },
        Some(rest) => (
            true,
            1 + rest.len() - rest.trim_start_matches(['/', ':']).len(),
        ),
        None => (false, 0),
    };
    let mut unknown = false;
    let mut letters = String::new();
    for (index, piece) in spec.pieces().iter().enumerate() {
        match piece {
            ValuePiece::Text(text) if index == 0 => letters.push_str(&text[from.min(text.len())..]),
            ValuePiece::Text(text) => letters.push_str(text),
            ValuePiece::Glob(_) => {}
            ValuePiece::Unknown { .. } => unknown = true,
        }
    }
    if unknown {
        return judge_unknown && letters.chars().all(|c| matches!(c, '.' | '/' | '*'));
    }
    if !magic && letters.starts_with('/') {
        return covers(&letters, base);
    }
    // `cd .. && git add project`
    if !magic
        && let Some(cwd) = cwd
        && (letters.contains("..") || cwd != base)
        && covers(&format!("{cwd}/{letters}"), base)
    {
        return true;
    }
    lexical(&wildless(&letters)) == "/"
}

/// True if the unknown part is a single value (a variable, or a line that was read), or only names
/// tracked files (`git add -u` stages as much).
fn is_named(spec: &Value) -> bool {
    match spec.pieces() {
        [
            ValuePiece::Unknown {
                why: UnknownCause::Tracked,
                ..
            },
        ] => true,
        [ValuePiece::Unknown { why, splits: false }] => match why {
            UnknownCause::Variable(name) | UnknownCause::Required(name) => {
                !matches!(name.as_str(), "@" | "*")
            }
            why => *why == UnknownCause::Input,
        },
        _ => false,
    }
}

/// Returns the pattern without its wildcards: its literal characters.
fn wildless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '[']) {
        out.push_str(&rest[..at]);
        rest = match (rest[at..].starts_with('['), rest[at..].find(']')) {
            (true, Some(close)) => &rest[at + close + 1..],
            _ => &rest[at + 1..],
        };
    }
    out.push_str(rest);
    out
}

/// True if the directory is `base` or contains it.
fn covers(directory: &str, base: &str) -> bool {
    let (directory, base) = (lexical(&wildless(directory)), lexical(base));
    Path::new(&base).starts_with(directory)
}
