//! Which git commands are allowed: read-only subcommands and their options.

mod reading;

use super::options::{Allowed, Operands, listed_in};
use crate::syntax::git::Git;
use crate::syntax::run::{Field, Ran};
use reading::{Expect, READING, Reading};

/// Global options that only affect display.
const GLOBALS: &str = "\
    --no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs \
    --noglob-pathspecs --icase-pathspecs --no-replace-objects --no-lazy-fetch";

/// Global options that select the repository; a path follows or is attached.
const PLACES: &str = "-C --git-dir --work-tree --namespace --bare";

/// Checks a git command at level `read_only`.
pub(super) fn read_only(ran: &Ran) -> Result<(), String> {
    let git = Git::read(&ran.words);
    if ran.words.len() == 2 && matches!(ran.words[1].value.literal(), Some("--version" | "-v")) {
        return Ok(());
    }
    globals(&git, "")?;
    let name = git.subcommand().ok_or_else(|| "git".to_owned())?;
    let reading = READING
        .iter()
        .find(|reading| reading.names.contains(&name))
        .ok_or_else(|| name.to_owned())?;
    let long: Vec<&str> = [reading.long]
        .into_iter()
        .chain(reading.shared.iter().copied())
        .collect();
    let operands = read(reading, &long, git.arguments)?;
    signatures(git.arguments)?;
    if name == "config" {
        return config(&operands);
    }
    expected(reading.operands, &operands).map_err(|()| name.to_owned())
}

fn read<'w>(
    reading: &Reading,
    long: &[&str],
    arguments: &'w [Field],
) -> Result<Operands<'w>, String> {
    Allowed {
        flags: reading.flags,
        optional: reading.optional,
        valued: reading.valued,
        long,
        globs: false,
    }
    .read(arguments)
}

fn expected(expect: Expect, operands: &Operands<'_>) -> Result<(), ()> {
    let first = operands
        .all
        .first()
        .map(|field| field.value.literal().unwrap_or("\0"));
    let fine = match expect {
        Expect::Any => true,
        Expect::NoneUnless(options) => first.is_none() || operands.has(options),
        Expect::FirstOf(names, none) => first.map_or(none, |first| names.contains(&first)),
        Expect::FirstOfOrRef(names) => first.is_none_or(|first| {
            let reference =
                first.starts_with("HEAD") || first.starts_with("refs/") || first.contains("@{");
            names.contains(&first) || reference
        }),
        Expect::One => operands.all.len() == 1,
        Expect::With(option) => operands.has(&[option]),
    };
    if fine { Ok(()) } else { Err(()) }
}

/// Formats and sort keys that make gpg verify signatures: `%G?` (`%+G?`, `%-G?`, `% G?`), `%(signature)`,
/// `--sort=signature`.
fn signatures(arguments: &[Field]) -> Result<(), String> {
    let checks = |field: &&Field| {
        let text = field.value.script();
        let sorted = text.strip_prefix("--sort=").unwrap_or(&text);
        let placeholder = |part: &str| part.trim_start_matches(['+', '-', ' ']).starts_with('G');
        text.split('%').skip(1).any(placeholder)
            || text.contains("(signature")
            || text.contains("(*signature")
            || sorted
                .trim_start_matches(['-', '*'])
                .starts_with("signature")
    };
    match arguments.iter().find(checks) {
        Some(field) => Err(field.value.to_string()),
        None => Ok(()),
    }
}

/// `git config` is read-only with `--get` and similar options, with `get` and `list`, and with a single name.
fn config(operands: &Operands<'_>) -> Result<(), String> {
    let reads = operands.has(&[
        "--list", "-l", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color",
    ]);
    let first = operands
        .all
        .first()
        .map(|field| field.value.literal().unwrap_or("\0"));
    let fine = reads
        || matches!(first, Some("get" | "list"))
        || (operands.all.len() == 1 && first.is_some_and(|name| name.contains('.')));
    if fine {
        Ok(())
    } else {
        Err("config".to_owned())
    }
}

fn globals(git: &Git<'_>, places: &str) -> Result<(), String> {
    if let Some((name, _)) = git.config.first() {
        return Err(format!("-c {name}"));
    }
    let refused = git.globals.iter().find(|field| {
        !field.value.literal().is_some_and(|text| {
            let name = text.split('=').next().unwrap_or(text);
            let names_place =
                !places.is_empty() && (listed_in(places, name) || !text.starts_with('-'));
            listed_in(GLOBALS, text) || names_place
        })
    });
    match refused {
        Some(field) => Err(field.value.to_string()),
        None => Ok(()),
    }
}

/// Subcommands that run a program chosen by the caller.
const RUNNERS: &str = "\
    difftool mergetool filter-branch credential credential-cache credential-store daemon \
    instaweb hook shell send-email imap-send web--browse gui citool remote-ext \
    remote-fd";

/// Prefixes of options that run a program or write a file in some subcommand; git accepts every unambiguous
/// abbreviation.
const REFUSED: &str = "\
    --upload-pack --receive-pack --exec --output --output-directory --open-files-in-pager \
    --ext-diff --textconv --show-signature --tool --extcmd --config --index-output \
    --object-dir --export-marks --web --info";

/// Checks a git command at level `listed`: allows any that does not run another program or write a file chosen by
/// the caller.
pub(super) fn listed(ran: &Ran) -> Result<(), String> {
    let git = Git::read(&ran.words);
    if ran.words.len() == 2 && matches!(ran.words[1].value.literal(), Some("--version" | "-v")) {
        return Ok(());
    }
    globals(&git, PLACES)?;
    let name = git.subcommand().ok_or_else(|| "git".to_owned())?;
    // An unknown subcommand is an alias, which may run anything.
    if listed_in(RUNNERS, name) || !listed_in(KNOWN, name) {
        return Err(name.to_owned());
    }
    // `git submodule --quiet foreach`
    let first = git
        .arguments
        .iter()
        .filter_map(|field| field.value.literal())
        .find(|text| !text.starts_with('-'));
    let runs = matches!(
        (name, first),
        ("bisect", Some("run")) | ("submodule", Some("foreach")) | ("bundle", Some("create"))
    ) || name == "pack-objects";
    if runs || (name == "config" && read_only(ran).is_err()) {
        return Err(format!("{name} {}", first.unwrap_or("")));
    }
    // A commit message may contain `50% G…`; formats are only arguments of read-only commands.
    if READING.iter().any(|reading| reading.names.contains(&name)) {
        signatures(git.arguments)?;
    }
    for field in git.arguments {
        let text = field.value.prefix();
        if field.value.has_unknown() {
            return Err(field.value.to_string());
        }
        if text == "--" {
            break;
        }
        let long = text.split('=').next().unwrap_or(text);
        let shortened = long.len() > 3
            && long.starts_with("--")
            // A different option, of diff and grep.
            && long != "--text"
            && REFUSED
                .split_whitespace()
                .any(|option| option.starts_with(long));
        let short = text.starts_with('-')
            && !text.starts_with("--")
            && match name {
                "grep" => text.contains('O'),
                "archive" | "format-patch" | "index-pack" => text.starts_with("-o"),
                // A browser, or another viewer.
                "help" => text.contains(['w', 'i']),
                "rebase" | "difftool" => text.starts_with("-x"),
                "clone" => text.starts_with("-u") || text.starts_with("-c"),
                _ => false,
            };
        // Templates may contain hooks.
        let template = matches!(name, "clone" | "init") && long.starts_with("--te");
        if shortened || short || template || text.starts_with("ext::") {
            return Err(field.value.to_string());
        }
    }
    Ok(())
}

/// Git's own subcommands.
const KNOWN: &str = "\
    add am annotate apply archive bisect blame branch bundle cat-file check-attr \
    check-ignore check-mailmap check-ref-format checkout cherry cherry-pick clean clone \
    commit commit-graph commit-tree config count-objects describe diff diff-files diff-index \
    diff-tree fetch for-each-ref format-patch fsck gc grep hash-object help index-pack init log \
    ls-files ls-remote ls-tree maintenance merge merge-base merge-file merge-tree mv \
    name-rev notes pack-objects pack-refs patch-id prune pull push range-diff read-tree \
    rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm \
    shortlog show show-branch show-ref sparse-checkout stage stash status submodule switch \
    symbolic-ref tag update-index update-ref var verify-commit version worktree";
