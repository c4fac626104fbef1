//! `no_home_overwrite`: moving, emptying or overwriting a home, shell start-up files, or keys.

use super::super::command_line::{has_any, has_option};
use super::super::path::{Location, PathBase};
use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::Value;

const REMOVING_PROGRAMS: [&str; 17] = [
    "mv", "gmv", "tee", "truncate", "cp", "install", "ln", "dd", "rm", "unlink", "shred", "srm",
    "trash", "rmdir", "find", "rsync", "sponge",
];

/// Files that a shell or git reads at start-up, directly below a home.
const START_UP: [&str; 14] = [
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
    ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".kshrc", ".cshrc", ".tcshrc", ".gitconfig",
];

/// Directories with keys, directly below a home.
const KEY_DIRECTORIES: [&str; 3] = [".ssh", ".gnupg", ".password-store"];

/// Directories below a home with most programs' settings.
const SETTINGS_DIRECTORIES: [&str; 2] = [".config", ".local"];

/// Files with credentials, deeper below a home.
const CREDENTIAL_FILES: [&[&str]; 3] = [
    &[".aws", "credentials"],
    &[".kube", "config"],
    &[".docker", "config.json"],
];

/// System files that identify users and file systems.
const SYSTEM_FILES: [&str; 13] = [
    "passwd", "shadow", "group", "gshadow", "sudoers", "fstab", "crypttab", "ld.so.conf", "hosts",
    "resolv.conf", "nsswitch.conf", "profile", "inittab",
];

/// The value of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PathWorth {
    /// Another dotfile: emptying it is an accident, writing it is not.
    Dotfile,
    /// Directories of settings: must not be moved or removed.
    Settings,
    /// A start-up file, keys, a system file.
    Precious,
    /// The root, a system directory, a home.
    Landmark,
}

fn worth(value: &Value, place: &PathBase<'_>) -> Option<PathWorth> {
    let location = Location::of(value, place)?;
    if location.is_landmark(place.home) {
        return Some(PathWorth::Landmark);
    }
    match location.literal().as_deref() {
        Some(["etc", name]) => return SYSTEM_FILES.contains(name).then_some(PathWorth::Precious),
        Some(
            [.., ".git", "HEAD" | "config" | "index" | "packed-refs"]
            | [.., ".git", "refs", "heads" | "tags", _],
        ) => {
            return Some(PathWorth::Dotfile);
        }
        _ => {}
    }
    match location.below_home(place.home)?.as_slice() {
        [name] if START_UP.contains(name) => Some(PathWorth::Precious),
        [name, below @ ..] if KEY_DIRECTORIES.contains(name) => {
            let spare = below
                .last()
                .is_some_and(|name| name.starts_with("known_hosts") || is_copy(name));
            (!spare).then_some(PathWorth::Precious)
        }
        [name] if SETTINGS_DIRECTORIES.contains(name) => Some(PathWorth::Settings),
        [name] if name.starts_with('.') && !is_copy(name) => Some(PathWorth::Dotfile),
        path if CREDENTIAL_FILES.contains(&path) => Some(PathWorth::Dotfile),
        _ => None,
    }
}

/// Names of copies, logs and similar files.
fn is_copy(name: &str) -> bool {
    let ends = [
        ".bak", ".old", ".orig", ".tmp", ".backup", ".save", ".log", ".swp", ".new", "~", "-errors",
    ];
    ends.iter().any(|end| name.ends_with(end)) || name.contains(".log.") || name.contains(".bak.")
}

pub(in super::super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    let place = scene.path_base(ran);
    let worth = |value: &Value| worth(value, &place);
    let empties = is_nothing(ran);
    let overwritten = ran.redirections.iter().find(|redirection| {
        redirection.truncates()
            && match worth(&redirection.target) {
                Some(PathWorth::Precious) => true,
                Some(PathWorth::Dotfile) => empties,
                _ => false,
            }
    });
    if let Some(redirection) = overwritten {
        let mut hit = RuleFinding::on(ran, []);
        hit.words
            .push(format!("{} {}", redirection.operator, redirection.target));
        return Some(hit);
    }
    let name = ran
        .name()
        .filter(|name| REMOVING_PROGRAMS.contains(name) && !ran.is_function)?;
    let arguments = ran.arguments();
    if has_any(arguments, &["--help", "--version"]) {
        return None;
    }
    let operands = operands(arguments);
    let least = |least: PathWorth| {
        operands
            .iter()
            .copied()
            .find(|field| worth(&field.value) >= Some(least))
    };
    let found = match name {
        "mv" | "gmv" => moved(arguments, &operands, &worth),
        "tee" | "sponge" => {
            least(PathWorth::Precious).filter(|_| !has_any(arguments, &["-a", "--append"]))
        }
        "truncate" => least(PathWorth::Dotfile),
        "cp" | "install" | "ln" => {
            let from_nothing = matches!(
                operands.as_slice(),
                [.., from, _] if matches!(from.value.literal(), Some("/dev/null" | "/dev/zero" | "/dev/urandom" | "/dev/random"))
            );
            operands.last().copied().filter(|field| {
                from_nothing
                    && matches!(
                        worth(&field.value),
                        Some(PathWorth::Dotfile | PathWorth::Precious)
                    )
            })
        }
        "dd" => arguments.iter().find(|field| {
            field.value.prefix().starts_with("of=")
                && worth(&field.value.without_prefix("of=".len())) == Some(PathWorth::Precious)
        }),
        "rm" | "unlink" | "shred" | "srm" | "trash" => operands.iter().copied().find(|field| {
            matches!(
                worth(&field.value),
                Some(PathWorth::Precious | PathWorth::Settings)
            )
        }),
        "find" => has_option(arguments, "-delete")
            .then(|| {
                arguments
                    .iter()
                    .take_while(|field| !field.value.prefix().starts_with('-'))
                    .find(|field| worth(&field.value) == Some(PathWorth::Precious))
            })
            .flatten(),
        _ => None,
    }?;
    Some(RuleFinding::on(ran, [found]))
}

/// Returns the moved path, if it is valuable at its former location.
fn moved<'f>(
    arguments: &[Field],
    operands: &[&'f Field],
    worth: &dyn Fn(&Value) -> Option<PathWorth>,
) -> Option<&'f Field> {
    let into = has_any(arguments, &["-t", "--target-directory"]);
    let (sources, target) = match operands.split_last() {
        Some((target, sources)) if !into => (sources, Some(*target)),
        _ => (operands, None),
    };
    sources.iter().copied().find(|source| {
        let kept = target.is_some_and(|target| {
            target.value.prefix().starts_with(source.value.prefix())
                && target.value.prefix().len() > source.value.prefix().len() + 1
                && !target.value.prefix()[source.value.prefix().len()..].starts_with('/')
        });
        match worth(&source.value) {
            Some(PathWorth::Landmark) => true,
            Some(PathWorth::Precious | PathWorth::Settings) => !kept,
            _ => !kept && matches!(source.value.literal(), Some(".git" | "./.git")),
        }
    })
}

fn operands(arguments: &[Field]) -> Vec<&Field> {
    let mut options = true;
    let mut out = Vec::new();
    for field in arguments {
        let text = field.value.prefix();
        if options && field.value.literal() == Some("--") {
            options = false;
        } else if !(options && text.len() > 1 && text.starts_with('-')) {
            out.push(field);
        }
    }
    out
}

/// Returns true if the command prints nothing, so that a redirection empties its target.
fn is_nothing(ran: &ResolvedCommand) -> bool {
    let Some(name) = ran.name() else {
        return ran.words.is_empty();
    };
    let arguments: Vec<Option<&str>> = ran
        .arguments()
        .iter()
        .map(|field| field.value.literal())
        .collect();
    match (name, arguments.as_slice()) {
        (":" | "true", _)
        | ("echo", [] | [Some("-n")] | [Some("-n"), Some("")])
        | ("printf", [Some("")])
        | ("cat", [Some("/dev/null")]) => true,
        ("cat", []) => ran.stdin.as_deref().is_some_and(Value::is_empty),
        _ => false,
    }
}
