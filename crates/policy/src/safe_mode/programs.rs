//! Which arguments are allowed for listed programs other than git.

use std::path::Path;

use super::options::{Allowed, listed_in};
use crate::Context;
use crate::syntax::run::{Field, Ran, lexical};

/// A program and its options.
struct Program {
    /// The entry in the list.
    entry: &'static [&'static str],
    options: Allowed<'static>,
}

static PROGRAMS: [Program; 10] = [
    Program {
        entry: &["grep"],
        options: Allowed {
            flags: "EFGPivwxcLlqsobHhnTZzaIrRUyV0123456789",
            optional: "",
            valued: "efABCmdD",
            long: &["\
                extended-regexp fixed-strings basic-regexp perl-regexp regexp= file= ignore-case \
                no-ignore-case word-regexp line-regexp null-data no-messages invert-match version help \
                max-count= byte-offset line-number line-buffered with-filename no-filename label= \
                only-matching quiet silent binary-files= text directories= devices= recursive \
                dereference-recursive include= exclude= exclude-from= exclude-dir= files-without-match \
                files-with-matches count initial-tab null before-context= after-context= context= \
                group-separator= no-group-separator color? colour? binary"],
            globs: true,
        },
    },
    Program {
        entry: &["rg"],
        options: Allowed {
            flags: "abchilLnNopqsuUvwxFHPSIV0.",
            optional: "",
            valued: "ABCEefgjmMrtTd",
            long: &["\
                after-context= before-context= context= context-separator= color= colors= column \
                no-column count count-matches crlf debug trace encoding= engine= regexp= file= files \
                files-with-matches files-without-match fixed-strings follow no-follow glob= iglob= \
                glob-case-insensitive heading no-heading help hidden no-hidden ignore-case ignore-file= \
                include-zero invert-match json line-buffered line-number no-line-number line-regexp \
                max-columns= max-columns-preview max-count= max-depth= maxdepth= max-filesize= mmap \
                no-mmap multiline multiline-dotall no-config no-filename with-filename no-ignore \
                no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-parent \
                no-ignore-vcs no-messages no-require-git null null-data one-file-system only-matching \
                passthru path-separator= pcre2 pcre2-version pretty quiet replace= smart-case \
                case-sensitive sort= sortr= stats text threads= trim type= type-not= type-add= \
                type-clear= type-list unrestricted version vimgrep word-regexp binary auto-hybrid-regex \
                dfa-size-limit= regex-size-limit= field-context-separator= field-match-separator= \
                no-unicode stop-on-nonmatch"],
            globs: false,
        },
    },
    Program {
        entry: &["ls"],
        options: Allowed {
            flags: "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1@eOWT",
            optional: "",
            valued: "Iw",
            long: &["\
                all almost-all author escape block-size= ignore-backups color? directory dired classify? \
                file-type format= full-time group-directories-first no-group human-readable si \
                dereference-command-line dereference-command-line-symlink-to-dir hide= hyperlink? \
                indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal \
                hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size \
                sort= time= time-style= tabsize= width= context zero help version"],
            globs: true,
        },
    },
    Program {
        entry: &["cat"],
        options: Allowed {
            flags: "AbeEnstTuv",
            optional: "",
            valued: "",
            long: &["\
                show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting help \
                version"],
            globs: true,
        },
    },
    Program {
        entry: &["head"],
        options: Allowed {
            flags: "qvz0123456789",
            optional: "",
            valued: "cn",
            long: &["bytes= lines= quiet silent verbose zero-terminated help version"],
            globs: true,
        },
    },
    // Without -f, -F, --follow and --retry, which would never end.
    Program {
        entry: &["tail"],
        options: Allowed {
            flags: "qvz0123456789",
            optional: "",
            valued: "cn",
            long: &["bytes= lines= quiet silent verbose zero-terminated help version"],
            globs: false,
        },
    },
    Program {
        entry: &["wc"],
        options: Allowed {
            flags: "cmlLw",
            optional: "",
            valued: "",
            long: &["bytes chars lines words max-line-length total= help version"],
            globs: true,
        },
    },
    Program {
        entry: &["npm", "test"],
        options: Allowed {
            flags: "s",
            optional: "",
            valued: "",
            long: &["silent if-present ignore-scripts no-color workspaces include-workspace-root"],
            globs: false,
        },
    },
    Program {
        entry: &["pytest"],
        options: Allowed {
            flags: "qvxslhV0123456789",
            optional: "",
            valued: "kmnrW",
            long: &["\
                quiet verbose exitfirst maxfail= last-failed lf failed-first ff new-first nf stepwise sw \
                tb= showlocals no-header no-summary color= durations= durations-min= collect-only co \
                disable-warnings disable-pytest-warnings capture= strict-markers strict-config strict \
                runxfail deselect= markers fixtures version help show-capture= full-trace \
                doctest-modules numprocesses= cov? cov-report= ignore= ignore-glob= dist="],
            globs: false,
        },
    },
    Program {
        entry: &["swift", "test"],
        options: Allowed {
            flags: "qv",
            optional: "",
            valued: "c",
            long: &["\
                filter= skip= parallel no-parallel list-tests verbose quiet configuration= \
                enable-code-coverage num-workers= skip-build very-verbose"],
            globs: false,
        },
    },
];

/// Options of `xcodebuild test`, which have a single dash and take the next word as value.
const XCODE_VALUED: &str = "\
    -scheme -project -workspace -destination -configuration -sdk -testPlan -arch \
    -parallel-testing-enabled -parallel-testing-worker-count";

/// Tests and actions of `find` without an argument.
const FIND_FLAGS: &str = "\
    -H -L -P ( ) ! -not -a -and -o -or , -print -print0 -ls -prune -quit -depth -d -mount \
    -xdev -follow -empty -readable -writable -executable -daystart -noleaf \
    -ignore_readdir_race -noignore_readdir_race -warn -nowarn -nouser -nogroup -true -false";

/// Tests and actions of `find` with one argument.
const FIND_VALUED: &str = "\
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype \
    -maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -size \
    -perm -user -group -uid -gid -links -inum -samefile -fstype -lname -ilname -used -printf \
    -context -newermt -newerat -newerct";

/// Checks a command at level `read_only`: every option must be known.
pub(super) fn read_only(ran: &Ran, entry: &[&str], context: &Context) -> Result<(), String> {
    let arguments = ran.words.get(entry.len()..).unwrap_or(&[]);
    match entry {
        ["find"] => return find(arguments),
        ["xcodebuild", "test"] => return xcodebuild(arguments, context),
        _ => {}
    }
    let Some(program) = PROGRAMS.iter().find(|program| program.entry == entry) else {
        // An entry added by the user, who is then responsible for its options.
        return Ok(());
    };
    let operands = program.options.read(arguments)?;
    // `--cov-report html:/somewhere`
    let report = |field: &&Field| {
        let text = field.value.prefix();
        let value = text.strip_prefix("--cov-report=").unwrap_or(text);
        entry == ["pytest"]
            && COV_REPORTS.iter().any(|kind| {
                value
                    .strip_prefix(kind)
                    .is_some_and(|rest| rest.starts_with(':'))
            })
    };
    if let Some(field) = arguments.iter().find(report) {
        return Err(field.value.to_string());
    }
    let recursive = match entry {
        ["grep"] => operands.has(&["-r", "-R", "--recursive", "--dereference-recursive"]),
        ["rg"] => operands.has(&["-u", "-.", "--hidden", "--unrestricted"]),
        _ => false,
    };
    let refused = operands.all.iter().find(|field| match entry {
        // Reading a whole home would include its credentials.
        ["grep" | "rg"] => recursive && holds_a_home(field, context),
        // Code from elsewhere.
        ["pytest"] => leaves(field, context) || field.value.prefix().starts_with('@'),
        _ => false,
    });
    match refused {
        Some(field) => Err(field.value.to_string()),
        None => Ok(()),
    }
}

/// Checks a command at level `listed`: only refuses what makes the program run another one or write a file.
pub(super) fn listed(ran: &Ran, entry: &[&str]) -> Result<(), String> {
    let arguments = ran.words.get(entry.len()..).unwrap_or(&[]);
    let refused = arguments.iter().find(|field| {
        let text = field.value.prefix();
        field.value.has_unknown()
            || match entry {
                ["find"] => {
                    ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls"].contains(&text)
                        || text.starts_with("-fprint")
                }
                ["rg"] => {
                    text.starts_with("--pre") && text != "--pretty"
                        || text.starts_with("--hostname-bin")
                        // Programs for decompression.
                        || text == "--search-zip"
                        || (text.starts_with('-') && !text.starts_with("--") && text.contains('z'))
                }
                ["npm", ..] => NPM_ELSEWHERE.iter().any(|option| text.starts_with(option)),
                ["pytest"] => {
                    ["-p", "-c", "-o", "--pdb"]
                        .iter()
                        .any(|option| text.starts_with(option))
                        || PYTEST_WRITES.iter().any(|option| text.starts_with(option))
                }
                ["swift", "test"] => [
                    "--package-path", "--scratch-path", "--build-path", "--toolchain", "-X",
                ]
                .iter()
                .any(|option| text.starts_with(option)),
                ["xcodebuild", "test"] => {
                    matches!(text, "-derivedDataPath" | "-resultBundlePath")
                }
                _ => false,
            }
    });
    // The argument of a test such as -name is not an action, whatever its text.
    match refused {
        Some(_) if entry == ["find"] => find_actions(arguments),
        Some(field) => Err(field.value.to_string()),
        None => Ok(()),
    }
}

/// Reports of pytest-cov that are written to the path after a `:`.
const COV_REPORTS: [&str; 5] = ["html", "xml", "json", "lcov", "annotate"];

/// Options of npm that select another project, settings or shell.
const NPM_ELSEWHERE: [&str; 6] = [
    "--script", "--prefix", "-C", "--userconfig", "--globalconfig", "--node-options",
];

/// Options of pytest that write files anywhere, or read settings from elsewhere.
const PYTEST_WRITES: [&str; 9] = [
    "--basetemp", "--rootdir", "--confcutdir", "--config-file", "--override-ini", "--junit",
    "--log-file", "--pastebin", "--cache-dir",
];

fn find_actions(arguments: &[Field]) -> Result<(), String> {
    let mut words = arguments.iter();
    while let Some(field) = words.next() {
        let text = field.value.prefix();
        if listed_in(FIND_VALUED, text) {
            words.next();
        } else if field.value.has_unknown()
            || ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls"].contains(&text)
            || text.starts_with("-fprint")
        {
            return Err(field.value.to_string());
        }
    }
    Ok(())
}

fn find(arguments: &[Field]) -> Result<(), String> {
    let mut words = arguments.iter();
    while let Some(field) = words.next() {
        let text = field.value.prefix();
        let whole = field.value.literal().is_some();
        if !field.value.has_unknown() && whole && listed_in(FIND_VALUED, text) {
            words.next();
        } else if whole && listed_in(FIND_FLAGS, text) {
        } else if field.value.has_unknown() || text.starts_with('-') || (text.is_empty() && !whole)
        {
            return Err(field.value.to_string());
        }
    }
    Ok(())
}

fn xcodebuild(arguments: &[Field], context: &Context) -> Result<(), String> {
    let mut words = arguments.iter();
    while let Some(field) = words.next() {
        let text = field.value.literal().unwrap_or("");
        if listed_in(XCODE_VALUED, text) {
            // Another project means other code.
            let outside = matches!(text, "-project" | "-workspace");
            match words.next() {
                Some(value) if outside && leaves(value, context) => {
                    return Err(value.value.to_string());
                }
                _ => {}
            }
        } else if text != "-quiet"
            && !text.starts_with("-only-testing:")
            && !text.starts_with("-skip-testing:")
        {
            return Err(field.value.to_string());
        }
    }
    Ok(())
}

/// Whether a path is, or contains, a home directory.
fn holds_a_home(field: &Field, context: &Context) -> bool {
    let Some(home) = &context.home else {
        return false;
    };
    let path = resolved(field.value.prefix(), context);
    // The working directory itself is always fine.
    if Path::new(&path) == context.cwd {
        return false;
    }
    home.starts_with(&path) || matches!(path.as_str(), "/" | "/home" | "/root" | "/Users")
}

/// Whether a path is outside the working directory.
fn leaves(field: &Field, context: &Context) -> bool {
    !Path::new(&resolved(field.value.prefix(), context)).starts_with(&context.cwd)
}

/// The absolute path, without `.` and `..`.
fn resolved(path: &str, context: &Context) -> String {
    lexical(&context.cwd.join(path).to_string_lossy())
}
