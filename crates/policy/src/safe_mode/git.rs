//! Options by which a git command runs another program, or writes a file of the caller's choice.

use crate::syntax::git::GitCommandLine;
use crate::syntax::run::{Field, ResolvedCommand};

/// Global options that only affect display, and global options that select the repository. The path
/// is the next word, or is attached to the option.
const GLOBAL_OPTIONS: &str = "\
    --no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs \
    --icase-pathspecs --no-replace-objects --no-lazy-fetch -C --git-dir --work-tree --namespace --bare";

/// Subcommands that run a program chosen by the caller.
const RUNNING_SUBCOMMANDS: &str = "\
    difftool mergetool filter-branch credential credential-cache credential-store daemon \
    instaweb hook shell send-email imap-send web--browse gui citool remote-ext \
    remote-fd";

/// Prefixes of options that run a program or write a file in some subcommand; git accepts every
/// unambiguous abbreviation.
const REFUSED_OPTION_PREFIXES: &str = "\
    --upload-pack --receive-pack --exec --output --output-directory --open-files-in-pager \
    --ext-diff --textconv --show-signature --tool --extcmd --config --index-output \
    --object-dir --export-marks --web --info";

/// Returns the first word by which the command runs another program or writes a file of the
/// caller's choice.
pub(super) fn refused(command: &ResolvedCommand) -> Option<String> {
    if command.words.len() == 2
        && matches!(command.words[1].value.literal(), Some("--version" | "-v"))
    {
        return None;
    }
    let git = GitCommandLine::read(&command.words);
    if let Some(word) = refused_global(&git) {
        return Some(word);
    }
    let Some(name) = git.subcommand() else {
        return Some("git".to_owned());
    };
    // An unknown subcommand is an alias, which may run anything.
    if listed_in(RUNNING_SUBCOMMANDS, name) || !listed_in(KNOWN_SUBCOMMANDS, name) {
        return Some(name.to_owned());
    }
    // `git submodule --quiet foreach`
    let mut literals = git
        .arguments
        .iter()
        .filter_map(|field| field.value.literal());
    let first = literals.find(|text| !text.starts_with('-'));
    let runs = match name {
        "bisect" => first == Some("run"),
        "submodule" => first == Some("foreach"),
        "bundle" => first == Some("create"),
        "pack-objects" => true,
        "config" => !reads_config(git.arguments),
        _ => false,
    };
    if runs {
        return Some(format!("{name} {}", first.unwrap_or("")));
    }
    let options = git.arguments.iter();
    options
        .take_while(|field| field.value.literal() != Some("--"))
        .find(|field| is_refused(name, field.value.prefix()))
        .map(|field| field.value.to_string())
}

/// Returns the first refused option before the subcommand.
fn refused_global(git: &GitCommandLine<'_>) -> Option<String> {
    if let Some((name, _)) = git.config.first() {
        return Some(format!("-c {name}"));
    }
    let is_harmless = |field: &&Field| {
        field.value.literal().is_some_and(|text| {
            let name = text.split('=').next().unwrap_or(text);
            !text.starts_with('-') || listed_in(GLOBAL_OPTIONS, name)
        })
    };
    let refused = git.globals.iter().find(|field| !is_harmless(field))?;
    Some(refused.value.to_string())
}

/// Options with which `git config` only reads.
const CONFIG_READS: &str =
    "--list -l --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool";
/// Further options that are allowed if `git config` only reads.
const CONFIG_SHOWS: &str = "\
    --global --system --local --worktree --file -f --blob --show-origin --show-scope --name-only --null -z \
    --type --bool --int --path --includes --no-includes --default --all --regexp --value";

/// True if `git config` with these arguments only reads: a single name, `get`, `list`, or an option
/// of [`CONFIG_READS`].
fn reads_config(arguments: &[Field]) -> bool {
    let words = arguments.iter().map(|field| field.value.prefix());
    let (options, operands): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
    let names = options
        .iter()
        .map(|option| option.split('=').next().unwrap_or(option));
    let mut is_reading = matches!(operands[..], ["get" | "list", ..])
        || matches!(operands[..], [name] if name.contains('.'));
    for name in names {
        if listed_in(CONFIG_READS, name) {
            is_reading = true;
        } else if !listed_in(CONFIG_SHOWS, name) {
            return false;
        }
    }
    is_reading
}

/// True if an option or argument of a subcommand runs a program or writes a file.
fn is_refused(subcommand: &str, text: &str) -> bool {
    let long = text.split('=').next().unwrap_or(text);
    let is_shortened = long.len() > 3
        && long.starts_with("--")
        // `--text` of diff and grep is a different option, not an abbreviation of `--textconv`.
        && long != "--text"
        && REFUSED_OPTION_PREFIXES.split_whitespace().any(|option| option.starts_with(long));
    let is_short = text.starts_with('-')
        && !text.starts_with("--")
        && match subcommand {
            "grep" => text.contains('O'),
            "archive" | "format-patch" | "index-pack" => text.starts_with("-o"),
            // `-w` starts a browser, `-i` an info viewer.
            "help" => text.contains(['w', 'i']),
            "rebase" | "difftool" => text.starts_with("-x"),
            "clone" => text.starts_with("-u") || text.starts_with("-c"),
            _ => false,
        };
    // Templates may contain hooks.
    let is_template = matches!(subcommand, "clone" | "init") && long.starts_with("--te");
    is_shortened || is_short || is_template || text.starts_with("ext::")
}

/// True if a space-separated list contains a word.
fn listed_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Git's own subcommands.
const KNOWN_SUBCOMMANDS: &str = "\
    add am annotate apply archive bisect blame branch bundle cat-file check-attr \
    check-ignore check-mailmap check-ref-format checkout cherry cherry-pick clean clone \
    commit commit-graph commit-tree config count-objects describe diff diff-files diff-index \
    diff-tree fetch for-each-ref format-patch fsck gc grep hash-object help index-pack init log \
    ls-files ls-remote ls-tree maintenance merge merge-base merge-file merge-tree mv \
    name-rev notes pack-objects pack-refs patch-id prune pull push range-diff read-tree \
    rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm \
    shortlog show show-branch show-ref sparse-checkout stage stash status submodule switch \
    symbolic-ref tag update-index update-ref var verify-commit version whatchanged worktree";
