//! `no_dangerous_rm`: recursive removal of things that are rarely meant to be removed.

use super::path::{Danger, PathBase, danger};
use super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::find::Search;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::{Piece, Value, Why};

pub(super) static RULE: Rule = Rule {
    id: "no_dangerous_rm",
    group: Group::Core,
    summary: "Recursive removal of the root, a top-level directory, a home, the working directory or one around it, a `.git`, a glob directly under one of these, or an operand that cannot be known and could be one; by `rm -r`, `find -delete`, `find -exec rm` and `find | xargs rm`.",
    message: "permission denied: this rm command could delete critical data (.git, home directory, or root). Specify the full path explicitly (no wildcards, ~, or $HOME)",
    suggestion: "name the directory to remove, for example `rm -rf ./build`",
    fires: &[
        "rm -rf /",
        "rm -rf ~",
        "rm -r -f \"$HOME\"",
        "rm --recursive .git",
        "rm -rf *",
        "rm -rf \"$UNKNOWN\"",
        "rm -rf \"$UNKNOWN\"/*",
        "cd / && rm -rf *",
        "cd build; rm -rf *",
        "cd build || true; rm -rf *",
        "cd build && make; rm -rf *",
        "rm -rf .git/objects",
        "find . -delete",
        "find ~ -type f -delete",
        "find ~ -type f -exec rm {} +",
        "find ~ -type f -print0 | xargs -0 rm -f",
        "find . -mtime +7 -delete",
        "find /tmp -type f -delete",
        "sudo rm -rf /usr/..",
        "trap 'rm -rf \"$d\"' EXIT; cd src",
        "trap 'rm -rf \"$d\"' EXIT; d=/",
        "trap 'rm -rf \"$d\"' ERR; a; d=x",
        "rm -rf .??*",
        "cd build && rm -rf ./* .gi?",
        "find . -type l -delete",
        "find . -size +0 -delete",
        "grep -rl x . | xargs rm -rf",
    ],
    spares: &[
        "rm -rf node_modules",
        "rm -rf ./build/*",
        "rm -rf \"$UNKNOWN/build\"",
        "rm file",
        "cd build && rm -rf *",
        "cd build || exit 1; rm -rf *",
        "set -e; cd build; rm -rf *",
        "mkdir -p build; cd build; rm -rf *",
        "if cd build; then rm -rf *; fi",
        "cd build; rm -rf out",
        "git clone https://x.example/y /tmp/t && cd /tmp/t && rm -rf .git",
        "git clone --depth 1 https://x.example/y.git && rm -rf y/.git",
        "find . | grep -E '(__pycache__|\\.pyc$)' | xargs rm -rf",
        "find . -name '*.pyc' -delete",
        "find build -delete",
        "find . -name '*.pyc' -exec rm {} +",
        "find . -name '*.pyc' | xargs rm -f",
        "find ~ -size 0 -exec rm {} +",
        "find . -xtype l -delete",
        "find -L . -type l -delete",
        "find . -size 0 -delete",
        "rm -rf build/* build/.??*",
        "cd /tmp/x && rm -rf ./* .[!.]*",
        "grep -lr temp out/ | xargs rm -rf",
        "find /tmp -mtime +7 -delete",
        "trap 'rm -rf \"$d\"' EXIT; d=$(mktemp -d); make",
        "end() { [ -n \"$d\" ] && rm -rf \"$d\"; }; trap end EXIT INT; d=$(mktemp -d); exit 0",
        "f() { local d; d=$(mktemp -d); trap 'rm -rf \"$d\"' EXIT; }; f",
        "echo 'rm -rf /'",
        "git rm -r --cached .",
    ],
    check,
};

/// The message for a computed list.
const COMPUTED_MESSAGE: (&str, &str) = (
    "permission denied: what this rm command deletes is computed while it runs, and could be critical data (.git, home directory, or root). Specify the full path explicitly",
    "print the list first, then name what is to be removed, for example `rm -rf ./build`",
);

/// True if an operand is known only to be a command's output, or a line that was read.
fn is_computed(operand: &Value) -> bool {
    matches!(
        operand.pieces(),
        [Piece::Unknown { why, .. }] if !matches!(why, Why::Variable(_))
    )
}

/// GNU rm's long options: `--recursive` may be abbreviated as far as it remains unambiguous.
const LONG_OPTIONS: [&str; 8] = [
    "force", "interactive", "one-file-system", "no-preserve-root", "preserve-root", "recursive",
    "dir", "verbose",
];

/// Returns the starting points of unrestricted searches whose results reach the command by a pipe
/// or a substitution. A starting point stands for each file below it.
fn whole_trees<'s>(scene: &'s Scene<'_>) -> &'s [Value] {
    scene.whole_trees.get_or_init(|| {
        let searches = scene
            .all
            .iter()
            .filter(|ran| ran.feeds && matches!(ran.name(), Some("find" | "gfind" | "bfs")));
        searches
            .map(|ran| Search::read(&ran.words))
            .filter(|search| !search.is_narrowed)
            .flat_map(|search| search.found)
            .collect()
    })
}

/// An `rm` command line.
struct Removal<'r> {
    recursive: bool,
    /// An unquoted unknown word may expand to options.
    maybe_recursive: bool,
    operands: Vec<&'r Field>,
}

fn read(arguments: &[Field]) -> Option<Removal<'_>> {
    let mut out = Removal {
        recursive: false,
        maybe_recursive: false,
        operands: Vec::new(),
    };
    let mut options = true;
    for field in arguments {
        let text = field.value.prefix();
        match field.value.literal() {
            Some("--") if options => {
                options = false;
                continue;
            }
            Some("--help" | "--version") if options => return None,
            _ => {}
        }
        if options && let Some(long) = text.strip_prefix("--") {
            let mut matching = LONG_OPTIONS.iter().filter(|name| name.starts_with(long));
            out.recursive |= matching.next() == Some(&"recursive") && matching.next().is_none();
        } else if options && text.len() > 1 && text.starts_with('-') {
            out.recursive |= text.contains(['r', 'R']);
            out.maybe_recursive |= field.value.has_unknown();
        } else {
            out.maybe_recursive |= options && text.is_empty() && field.value.may_split();
            out.operands.push(field);
        }
    }
    Some(out)
}

fn check(ran: &ResolvedCommand, scene: &Scene<'_>) -> Option<Hit> {
    // A clone that the script itself created contains no work of the user.
    let own = |value: &Value, place: &PathBase<'_>| {
        place.cwd == ran.cwd.as_deref() && ran.has_made(value)
    };
    let dangerous = |value: &Value| {
        scene.places(ran).any(|place| match danger(value, &place) {
            Some(Danger::Git) => !own(value, &place),
            found => found.is_some(),
        })
    };
    // In functions that are never called, and in commands that only one reader finds, unknown
    // operands are ignored.
    let counts = |field: &&&Field| !(ran.dormant && field.value.has_unknown());
    match ran.name() {
        Some("rm" | "grm" | "srm" | "rimraf") => {
            let removal = read(ran.arguments())?;
            let recursive = removal.recursive || ran.name() == Some("rimraf");
            let deletes_trees = |field: &&&Field| {
                recursive
                    || !field.value.has_unknown()
                        && (removal.maybe_recursive || whole_trees(scene).contains(&field.value))
            };
            let found = removal
                .operands
                .iter()
                .filter(counts)
                .filter(deletes_trees)
                .find(|field| dangerous(&field.value))?;
            let hit = Hit::on(ran, [*found]);
            Some(if is_computed(&found.value) {
                hit.saying(COMPUTED_MESSAGE.0, COMPUTED_MESSAGE.1)
            } else {
                hit
            })
        }
        Some("unlink" | "shred") => {
            let handed_over = |field: &&Field| whole_trees(scene).contains(&field.value);
            let mut operands = ran.arguments().iter().filter(handed_over);
            let found = operands.find(|field| dangerous(&field.value))?;
            Some(Hit::on(ran, [found]))
        }
        Some("find" | "gfind" | "bfs") => {
            let search = Search::read(&ran.words);
            let counts = |value: &&Value| !(ran.dormant && value.has_unknown());
            // `-exec rm {}` runs per file, so it deletes everything even without `-r`.
            let by_rm = search.commands.iter().any(|words| {
                let program = words.first().and_then(|field| field.value.literal());
                let takes_it = words
                    .iter()
                    .any(|field| field.value.literal() == Some("{}"));
                takes_it && matches!(program, Some("rm" | "unlink" | "shred" | "/bin/rm"))
            });
            let by_rm = by_rm && !search.is_narrowed;
            let counts = |value: &&Value| counts(value) && (search.deletes || !value.has_unknown());
            ((search.deletes || by_rm) && search.found.iter().filter(counts).any(dangerous))
                .then(|| Hit::on(ran, ran.arguments()))
        }
        // For an unknown program: only operands that are specific to rm.
        None if ran
            .words
            .first()
            .is_some_and(|field| field.value.has_unknown())
            && !ran.dormant =>
        {
            let forced = ran.arguments().iter().any(|field| {
                let text = field.value.prefix();
                text.starts_with('-')
                    && !text.starts_with("--")
                    && text.contains('f')
                    && text.contains(['r', 'R'])
            });
            let removal = read(ran.arguments())?;
            (forced && removal.recursive)
                .then(|| {
                    removal
                        .operands
                        .iter()
                        .find(|field| !field.value.has_unknown() && dangerous(&field.value))
                })
                .flatten()
                .map(|field| Hit::on(ran, [*field]))
        }
        _ => None,
    }
}
