//! `no_dangerous_rm`: recursive removal of the root, system directories, homes, the working
//! directory and repositories.

use super::path::{Location, PathBase, PathDanger, danger};
use super::rule::{RuleFinding, RuleInput};
use crate::syntax::find::Search;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::{UnknownCause, Value, ValuePiece};

/// The message for a computed list.
const COMPUTED_MESSAGE: (&str, &str) = (
    "permission denied: what this rm command deletes is computed while it runs, and could be critical data (.git, home directory, or root). Specify the full path explicitly",
    "print the list first, then name what is to be removed, for example `rm -rf ./build`",
);

/// The message for a guarded variable with a dangerous value.
const GUARD_MESSAGE: (&str, &str) = (
    "permission denied: ${NAME:?} stops only at an empty value, and this variable can be the root, a home, the working directory or a repository here",
    "name the directory to remove, for example `rm -rf ./build`",
);

/// True if an operand is wholly unknown, and is not a variable: for example a command's output.
fn is_computed(operand: &Value) -> bool {
    matches!(
        operand.pieces(),
        [ValuePiece::Unknown { why, .. }] if !matches!(why, UnknownCause::Variable(_) | UnknownCause::Required(_))
    )
}

/// GNU rm's long options. Every unambiguous abbreviation of `--recursive` is accepted.
const LONG_OPTIONS: [&str; 8] = [
    "force", "interactive", "one-file-system", "no-preserve-root", "preserve-root", "recursive",
    "dir", "verbose",
];

/// Returns the results of the script's searches (`find`, `fd`, `grep -l`) that other commands
/// receive by an option, a pipe or a substitution. As with `find -delete`, a starting point stands
/// for each file below it. Results of a narrowed search below the working directory are excluded:
/// their removal is allowed.
fn search_results<'s>(input: &'s RuleInput<'_>) -> &'s [Value] {
    input.search_results.get_or_init(|| {
        let searches = input.commands.iter().filter_map(|command| {
            let search = Search::of_command(command.name()?, &command.words)?;
            (command.output_is_used || !search.commands.is_empty()).then_some(search)
        });
        let is_elsewhere = |value: &Value| value.has_unknown() || value.prefix().starts_with('/');
        let found = searches.flat_map(|mut search| {
            let is_narrowed = search.is_narrowed;
            search
                .found
                .retain(|value| !is_narrowed || is_elsewhere(value));
            search.found
        });
        found.collect()
    })
}

/// True if the operand is the result of a search. An operand with an unknown part counts as a
/// result only if the search itself or `xargs` starts the command.
fn is_search_result(operand: &Value, command: &ResolvedCommand, input: &RuleInput<'_>) -> bool {
    let is_started_for_results = || {
        let mut started_by = command.started_by.iter();
        started_by.any(|program| program == "xargs" || Search::of_command(program, &[]).is_some())
    };
    (!operand.has_unknown() || is_started_for_results()) && search_results(input).contains(operand)
}

/// An `rm` command line.
struct Removal<'r> {
    /// True if the command removes directories.
    recursive: bool,
    /// True if an unquoted unknown word may expand to options.
    maybe_recursive: bool,
    /// True if the program asks the user about each file.
    asks: bool,
    operands: Vec<&'r Field>,
}

/// Endings of the names of variables with options.
const OPTION_VARIABLES: [&str; 4] = ["opts", "options", "flags", "verbose"];

/// True for `$RM_OPTS` and `$v`: an unquoted variable for options.
fn holds_options(value: &Value) -> bool {
    let name = value.to_string().to_ascii_lowercase();
    let last_word = name.rsplit(['$', '_']).next().unwrap_or_default();
    let is_usual = name == "$v" || OPTION_VARIABLES.contains(&last_word);
    is_usual && matches!(value.pieces(), [ValuePiece::Unknown { splits: true, .. }])
}

/// Parses the arguments of `rm`; `None` if it only prints its help or version.
fn read_removal(arguments: &[Field]) -> Option<Removal<'_>> {
    let mut out = Removal {
        recursive: false,
        maybe_recursive: false,
        asks: false,
        operands: Vec::new(),
    };
    let mut before_dashes = true;
    for (index, field) in arguments.iter().enumerate() {
        let text = field.value.prefix();
        match field.value.literal() {
            Some("--") if before_dashes => {
                before_dashes = false;
                continue;
            }
            Some("--help" | "--version") if before_dashes => return None,
            _ => {}
        }
        if before_dashes && let Some(long) = text.strip_prefix("--") {
            let mut matching = LONG_OPTIONS.iter().filter(|name| name.starts_with(long));
            out.recursive |= matching.next() == Some(&"recursive") && matching.next().is_none();
        } else if before_dashes && text.len() > 1 && text.starts_with('-') {
            out.recursive |= text.contains(['r', 'R']);
            out.asks |= text.contains(['i', 'I']);
            out.maybe_recursive |= field.value.has_unknown();
        } else if before_dashes && index + 1 < arguments.len() && holds_options(&field.value) {
            out.maybe_recursive = true;
        } else {
            out.maybe_recursive |= before_dashes && text.is_empty() && field.value.may_split();
            out.operands.push(field);
        }
    }
    Some(out)
}

/// True if an operand is the root, a home, a directory of the system or of a service, or all files
/// in such a directory.
fn is_important(value: &Value, command: &ResolvedCommand, input: &RuleInput<'_>) -> bool {
    input.path_bases(command).any(|base| {
        Location::of(value, &base)
            .is_some_and(|location| location.is_landmark(base.home) || location.is_system())
    })
}

/// Files of a `.git` without which a repository is worthless.
const REPOSITORY_FILES: [&str; 6] = [
    "HEAD", "config", "packed-refs", "refs/heads/main", "refs/heads/master", "refs/heads/trunk",
];

/// True if a repository is worthless without this file.
fn is_repository_file(value: &Value) -> bool {
    let path = value.literal().unwrap_or("");
    let file = path
        .strip_prefix(".git/")
        .or(path.split_once("/.git/").map(|(_, file)| file));
    file.is_some_and(|file| REPOSITORY_FILES.contains(&file))
}

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    // A clone that the script itself created contains no work of the user.
    let is_created_by_script = |value: &Value, path_base: &PathBase<'_>| {
        let is_in_cwd = path_base.cwd == command.cwd.as_deref();
        (is_in_cwd || value.prefix().starts_with('/')) && command.is_in_created_repository(value)
    };
    let dangerous = |value: &Value| {
        input
            .path_bases(command)
            .any(|path_base| match danger(value, &path_base) {
                Some(PathDanger::Git) => !is_created_by_script(value, &path_base),
                found => found.is_some(),
            })
    };
    // Operands that are unknown, or relative to an unknown directory, are ignored in functions that
    // are never called, and in commands that only the search of the unparsed text finds.
    let is_known = |value: &Value| {
        !value.has_unknown() && (command.cwd.is_some() || value.prefix().starts_with('/'))
    };
    let may_harm = |value: &Value| !command.may_never_run || is_known(value);
    let counts = |field: &&&Field| may_harm(&field.value);
    // All files directly in such a directory.
    let empties_important = |field: &Field| {
        matches!(field.value.pieces().last(), Some(ValuePiece::Glob(_)))
            && is_important(&field.value, command, input)
    };
    match command.name() {
        Some(
            "rm" | "grm" | "srm" | "rimraf" | "del-cli" | "Remove-Item" | "remove-item" | "ri",
        ) => {
            let removal = read_removal(command.arguments())?;
            let is_recursive =
                removal.recursive || matches!(command.name(), Some("rimraf" | "del-cli"));
            let deletes_trees = |field: &&&Field| {
                is_recursive
                    || !field.value.has_unknown() && removal.maybe_recursive
                    || is_search_result(&field.value, command, input)
                    || !removal.asks && empties_important(field)
                    || is_repository_file(&field.value)
            };
            let found = removal
                .operands
                .iter()
                .filter(counts)
                .filter(deletes_trees)
                .find(|field| dangerous(&field.value))?;
            let source = input.text.get(found.span.start..found.span.end);
            let is_guarded = source.is_some_and(|text| text.contains(":?"));
            let texts = is_computed(&found.value).then_some(COMPUTED_MESSAGE);
            let texts = texts.or(is_guarded.then_some(GUARD_MESSAGE));
            Some(RuleFinding::on(command, [*found]).with_texts(texts))
        }
        Some("unlink" | "shred") => {
            let is_checked = |field: &&Field| {
                is_search_result(&field.value, command, input)
                    || is_repository_file(&field.value)
                    || empties_important(field)
            };
            let mut operands = command.arguments().iter().filter(is_checked);
            let found = operands.find(|field| dangerous(&field.value))?;
            Some(RuleFinding::on(command, [found]))
        }
        Some("find" | "gfind" | "bfs") => {
            let search = Search::read(&command.words);
            let mut found = search.found.iter();
            let is_harmful = |value: &Value| may_harm(value) && dangerous(value);
            (search.deletes && found.any(is_harmful))
                .then(|| RuleFinding::on(command, command.arguments()))
        }
        // An unknown program is taken for `rm` only with options such as `-rf`.
        None if command.words.first()?.value.has_unknown() && !command.may_never_run => {
            let is_forced = command.arguments().iter().any(|field| {
                let text = field.value.prefix();
                let is_cluster = text.starts_with('-') && !text.starts_with("--");
                let is_of_rm = text.chars().all(|c| "-fiIrRdv".contains(c));
                is_cluster && is_of_rm && text.contains('f') && text.contains(['r', 'R'])
            });
            let removal = read_removal(command.arguments())?;
            let is_found = |field: &&&Field| !field.value.has_unknown() && dangerous(&field.value);
            let found = removal.operands.iter().find(is_found);
            let found = found.filter(|_| is_forced && removal.recursive)?;
            Some(RuleFinding::on(command, [*found]))
        }
        _ => None,
    }
}
