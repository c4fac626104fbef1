//! Read-only git commands as data: for each its harmless options (git 2.47).

/// A read-only subcommand.
pub(super) struct Reading {
    pub(super) names: &'static [&'static str],
    pub(super) flags: &'static str,
    /// Short options with an optional attached value.
    pub(super) optional: &'static str,
    pub(super) valued: &'static str,
    /// Its own long options, in addition to the shared lists.
    pub(super) long: &'static str,
    /// The lists of long options that it shares with others.
    pub(super) shared: &'static [&'static str],
    /// The condition on its operands.
    pub(super) operands: Expect,
}

/// The condition on operands under which a subcommand is read-only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// Any: revisions and paths.
    Any,
    /// None, unless one of these options is given.
    NoneUnless(&'static [&'static str]),
    /// The first operand is one of these; the flag says whether it may be missing.
    FirstOf(&'static [&'static str], bool),
    /// The first operand is one of these, or has the form of a revision: `HEAD…`, `…@{…}`, `refs/…`.
    FirstOfOrRef(&'static [&'static str]),
    /// At most one.
    One,
    /// Any, but this option is required.
    With(&'static str),
}

const DIFF: &str = "\
    patch no-patch unified= raw patch-with-raw indent-heuristic no-indent-heuristic minimal \
    patience histogram anchored= diff-algorithm= stat? compact-summary numstat shortstat \
    dirstat? cumulative summary patch-with-stat name-only name-status submodule? color? \
    no-color color-moved? no-color-moved color-moved-ws= word-diff? word-diff-regex= \
    color-words? no-renames rename-empty no-rename-empty check ws-error-highlight= \
    full-index binary abbrev? break-rewrites? find-renames? find-copies? find-copies-harder \
    irreversible-delete diff-filter= pickaxe-all pickaxe-regex relative? no-relative text \
    ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-all-space \
    ignore-blank-lines ignore-matching-lines= inter-hunk-context= function-context exit-code \
    quiet no-ext-diff no-textconv ignore-submodules? src-prefix= dst-prefix= no-prefix \
    default-prefix line-prefix= ita-invisible-in-index cached staged merge-base no-index \
    stat-width= stat-name-width= stat-count= stat-graph-width= cc combined-all-paths \
    diff-merges= no-diff-merges remerge-diff dd rotate-to= skip-to=";

const LOG: &str = "\
    follow no-decorate decorate? decorate-refs= decorate-refs-exclude= source log-size \
    oneline pretty? format= abbrev-commit no-abbrev-commit graph no-graph all branches? \
    tags? remotes? glob= exclude= exclude-hidden= max-count= skip= since= after= until= \
    before= author= committer= grep= grep-reflog= all-match invert-grep regexp-ignore-case \
    basic-regexp extended-regexp fixed-strings perl-regexp remove-empty merges no-merges \
    min-parents= max-parents= first-parent not reflog walk-reflogs merge boundary \
    use-bitmap-index simplify-by-decoration simplify-merges full-history dense sparse \
    ancestry-path? date-order author-date-order topo-order reverse no-walk? do-walk date= \
    relative-date parents children left-right left-only right-only cherry cherry-mark \
    cherry-pick count no-notes notes? show-notes? encoding= expand-tabs? no-expand-tabs \
    no-mailmap mailmap use-mailmap clear-decorations stdin objects timestamp header \
    show-linear-break? full-diff mailmap-file= end-of-options disk-usage? ignore-missing \
    since-as-filter=";

const REFS: &str = "\
    list contains= no-contains= merged? no-merged? points-at= sort= format= column? \
    no-column color? no-color ignore-case omit-empty";

const FLAGS_LOG: &str = "pusabcgimqrtvwzDEFRW0123456789";

const VALUED_LOG: &str = "nULSGO";

/// Options of diff: `-M50%`, `-C`, `-B20/60`, `-X5`, `-l100`.
const OPTIONAL_DIFF: &str = "MCBXl";

/// No options, any operands.
const NOTHING: Reading = Reading {
    names: &[],
    flags: "",
    optional: "",
    valued: "",
    long: "",
    shared: &[],
    operands: Expect::Any,
};

pub(super) static READING: [Reading; 37] = [
    Reading {
        names: &["status"],
        flags: "sbvz",
        optional: "uM",
        long: "\
                short branch show-stash porcelain? long verbose untracked-files? ignored? null column? \
                no-column ahead-behind no-ahead-behind renames no-renames find-renames? \
                ignore-submodules?",
        ..NOTHING
    },
    Reading {
        names: &["log", "whatchanged", "show", "rev-list"],
        flags: FLAGS_LOG,
        optional: OPTIONAL_DIFF,
        valued: VALUED_LOG,
        shared: &[DIFF, LOG],
        ..NOTHING
    },
    Reading {
        names: &["diff", "diff-tree", "diff-index", "diff-files"],
        flags: "pusabcmqrtvwzDRWN0123456789",
        optional: OPTIONAL_DIFF,
        valued: "ULSGOI",
        long: "root no-commit-id pretty? oneline always stdin ours theirs base",
        shared: &[DIFF],
        ..NOTHING
    },
    Reading {
        names: &["range-diff"],
        flags: "ps",
        valued: "U",
        long: "creation-factor= no-dual-color left-only right-only no-notes",
        shared: &[DIFF],
        ..NOTHING
    },
    Reading {
        names: &["blame", "annotate"],
        flags: "bcefhklnpstw0123456789",
        optional: "MC",
        valued: "LS",
        long: "\
                root show-stats porcelain line-porcelain incremental encoding= date= progress \
                no-progress score-debug show-name show-number show-email abbrev= minimal ignore-rev= \
                color-lines color-by-age reverse first-parent no-textconv since=",
        ..NOTHING
    },
    Reading {
        names: &["branch"],
        flags: "arvli0",
        long: "all remotes verbose show-current abbrev= no-abbrev",
        shared: &[REFS],
        operands: Expect::NoneUnless(&["--list", "-l", "--merged", "--no-merged"]),
        ..NOTHING
    },
    Reading {
        names: &["tag"],
        flags: "li0123456789n",
        shared: &[REFS],
        operands: Expect::NoneUnless(&["--list", "-l", "-n", "--merged", "--no-merged"]),
        ..NOTHING
    },
    Reading {
        names: &["for-each-ref", "show-ref"],
        flags: "dhqs",
        long: "\
                count= head heads branches tags dereference hash? verify abbrev? quiet exists exclude= \
                include-root-refs",
        shared: &[REFS],
        ..NOTHING
    },
    Reading {
        names: &["remote"],
        flags: "vn",
        long: "verbose all push",
        operands: Expect::FirstOf(&["get-url"], true),
        ..NOTHING
    },
    Reading {
        names: &["stash"],
        flags: FLAGS_LOG,
        optional: OPTIONAL_DIFF,
        valued: VALUED_LOG,
        long: "include-untracked only-untracked",
        shared: &[DIFF, LOG],
        operands: Expect::FirstOf(&["list", "show"], false),
    },
    Reading {
        names: &["worktree"],
        flags: "vz",
        long: "porcelain verbose",
        operands: Expect::FirstOf(&["list"], false),
        ..NOTHING
    },
    Reading {
        names: &["reflog"],
        flags: FLAGS_LOG,
        optional: OPTIONAL_DIFF,
        valued: VALUED_LOG,
        shared: &[DIFF, LOG],
        operands: Expect::FirstOfOrRef(&["show", "exists", "list"]),
        ..NOTHING
    },
    Reading {
        names: &["notes"],
        long: "ref=",
        operands: Expect::FirstOf(&["list", "show"], true),
        ..NOTHING
    },
    Reading {
        names: &["bisect"],
        operands: Expect::FirstOf(&["log"], false),
        ..NOTHING
    },
    Reading {
        names: &["sparse-checkout"],
        operands: Expect::FirstOf(&["list"], false),
        ..NOTHING
    },
    Reading {
        names: &["symbolic-ref"],
        flags: "q",
        long: "quiet short recurse no-recurse",
        operands: Expect::One,
        ..NOTHING
    },
    Reading {
        names: &["rev-parse"],
        flags: "q",
        long: "\
                abbrev-ref? short? verify quiet symbolic symbolic-full-name all branches? tags? remotes? \
                glob= exclude= show-toplevel show-prefix show-cdup git-dir git-common-dir \
                absolute-git-dir is-inside-git-dir is-inside-work-tree is-bare-repository \
                is-shallow-repository git-path= show-superproject-working-tree show-object-format? \
                show-ref-format path-format= not default= sq revs-only no-revs flags no-flags since= \
                until= after= before= end-of-options local-env-vars shared-index-path disambiguate=",
        ..NOTHING
    },
    Reading {
        names: &["describe"],
        long: "\
                all tags contains abbrev= candidates= exact-match debug long match= exclude= always \
                first-parent dirty? broken?",
        ..NOTHING
    },
    Reading {
        names: &["shortlog"],
        flags: "nsecw",
        long: "numbered summary email committer group=",
        shared: &[LOG],
        ..NOTHING
    },
    Reading {
        names: &["ls-files"],
        flags: "cdmosiukztvfx",
        valued: "xX",
        long: "\
                cached deleted modified others ignored stage unmerged killed directory \
                no-empty-directory empty-directory eol deduplicate exclude= exclude-from= \
                exclude-per-directory= exclude-standard error-unmatch with-tree= full-name \
                recurse-submodules abbrev? debug sparse format= resolve-undo",
        ..NOTHING
    },
    Reading {
        names: &["ls-tree"],
        flags: "drtlz",
        long: "long name-only name-status object-only abbrev? full-name full-tree format=",
        ..NOTHING
    },
    Reading {
        names: &["cat-file"],
        flags: "tsep",
        long: "\
                batch? batch-check? batch-all-objects buffer unordered allow-unknown-type mailmap \
                use-mailmap no-mailmap",
        ..NOTHING
    },
    Reading {
        names: &["grep"],
        flags: "aIrivwEPGFnlLzochWpq0123456789H",
        valued: "efmABC",
        long: "\
                cached untracked no-index exclude-standard no-exclude-standard recurse-submodules text \
                ignore-case max-depth= recursive no-recursive word-regexp invert-match full-name \
                extended-regexp basic-regexp perl-regexp fixed-strings line-number column \
                files-with-matches name-only files-without-match null only-matching count color? \
                no-color break heading show-function context= after-context= before-context= \
                function-context max-count= threads= and or not all-match quiet no-textconv",
        ..NOTHING
    },
    Reading {
        names: &["config"],
        flags: "lz",
        long: "\
                list get get-all get-regexp get-urlmatch get-color global system local worktree type= \
                bool int bool-or-int path expiry-date null name-only show-origin show-scope includes \
                no-includes default= all regexp value= fixed-value url=",
        ..NOTHING
    },
    Reading {
        names: &["merge-base"],
        flags: "a",
        long: "all octopus independent is-ancestor fork-point",
        ..NOTHING
    },
    Reading {
        names: &["fsck"],
        flags: "v",
        long: "\
                full no-full strict connectivity-only root tags cache no-reflogs verbose progress \
                no-progress unreachable dangling no-dangling name-objects",
        ..NOTHING
    },
    Reading {
        names: &["name-rev"],
        long: "tags refs= exclude= all name-only no-undefined always annotate-stdin",
        ..NOTHING
    },
    Reading {
        names: &["cherry"],
        flags: "v",
        long: "abbrev?",
        ..NOTHING
    },
    Reading {
        names: &["count-objects"],
        flags: "vH",
        long: "verbose human-readable",
        ..NOTHING
    },
    Reading {
        names: &["check-ignore"],
        flags: "qvnz",
        long: "quiet verbose stdin non-matching no-index",
        ..NOTHING
    },
    Reading {
        names: &["check-attr"],
        flags: "az",
        long: "all cached stdin",
        ..NOTHING
    },
    Reading {
        names: &[
            "check-ref-format", "merge-tree", "patch-id", "get-tar-commit-id", "stripspace",
        ],
        flags: "z",
        long: "branch name-only messages no-messages stable unstable verbatim",
        ..NOTHING
    },
    Reading {
        names: &["var"],
        flags: "l",
        ..NOTHING
    },
    Reading {
        names: &["version"],
        long: "build-options",
        ..NOTHING
    },
    Reading {
        names: &["format-patch"],
        flags: "pnNks0123456789",
        valued: "U",
        long: "\
                stdout numbered no-numbered keep-subject cover-letter signoff no-signature zero-commit \
                root subject-prefix=",
        shared: &[DIFF],
        operands: Expect::With("--stdout"),
        ..NOTHING
    },
    Reading {
        names: &["show-branch"],
        flags: "ra",
        long: "\
                all remotes current topo-order date-order sparse more= list merge-base independent \
                sha1-name no-name topics color? no-color",
        ..NOTHING
    },
    Reading {
        names: &["submodule"],
        flags: "q",
        long: "quiet cached",
        operands: Expect::FirstOf(&[], false),
        ..NOTHING
    },
];
