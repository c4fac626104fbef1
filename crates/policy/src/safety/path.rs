//! Decides whether recursively removing a path would remove something important; `location`
//! determines where a path leads, `system_directories` lists the important directories.
//!
//! Purely lexical: `.` and `..` are resolved, symbolic links are not (the file system is never
//! consulted).

mod location;
mod part;
mod system_directories;
mod worth;

use crate::syntax::value::{UnknownCause, Value, ValuePiece};
use crate::syntax::{CommandHost, Mount};
use part::{PathPart, are_names, below, components, names, resolve, split_open_end, split_value};
use system_directories::{SYSTEM_DIRECTORIES, is_system_directory, is_usual_pattern};

pub(super) use location::Location;
pub(super) use worth::{PathWorth, WORTHS, worth};

/// Directories of a home that hold a user's work.
const PERSONAL_DIRECTORIES: [&str; 7] = [
    "Documents", "Desktop", "Pictures", "Music", "Videos", "Movies", "Library",
];

/// Directories whose children are homes.
const HOME_PARENTS: [&str; 2] = ["home", "Users"];

/// Why a path is dangerous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathDanger {
    /// The root directory.
    Root,
    /// A directory directly below the root.
    TopLevel,
    /// A home directory.
    Home,
    /// A `.git` directory.
    Git,
    /// The working directory or one of its parents.
    WorkingDirectory,
    /// An unknown path that may be a dangerous one.
    Unknown,
}

/// The directory and the home from which a command's paths start.
pub(super) struct PathBase<'p> {
    /// The working directory at this point of the script, if known.
    pub(super) cwd: Option<&'p str>,
    /// The script's initial working directory.
    pub(super) initial_cwd: &'p str,
    /// The home directory, if known.
    pub(super) home: Option<&'p str>,
    /// The machine or container.
    pub(super) host: &'p CommandHost,
}

/// Returns the danger of recursively removing `operand`, if any.
pub(super) fn danger(operand: &Value, path_base: &PathBase<'_>) -> Option<PathDanger> {
    let mut parts = split_value(operand);
    if operand.is_empty() {
        return None;
    }
    let is_absolute = operand.prefix().starts_with('/');
    let mounts = match path_base.host {
        CommandHost::Disposable(mounts) => Some(&mounts[..]),
        _ => None,
    };
    let unless_mounted = |found: Option<PathDanger>| found.filter(|_| mounts.is_none());
    // `$DIR`, `$DIR/…`
    if matches!(operand.pieces().first(), Some(ValuePiece::Unknown { .. })) {
        return unless_mounted(danger_of_unknown_beginning(&parts));
    }
    let mut base = components(path_base.initial_cwd);
    if !is_absolute && base.is_empty() && path_base.cwd == Some(path_base.initial_cwd) {
        // The script starts in the root directory. Relative paths are below the working directory
        // as in any other directory, except for names of system directories.
        if matches!(&parts[..], [part] if part.is_one_of(&SYSTEM_DIRECTORIES)) {
            return Some(PathDanger::TopLevel);
        }
        base = vec!["\0"];
        parts.insert(0, PathPart::text("\0"));
    } else if !is_absolute {
        let Some(cwd) = path_base.cwd else {
            return unless_mounted(danger_in_unknown_cwd(&parts));
        };
        parts = below(cwd, parts);
        // `cd "$X/build"`
        if parts.first().is_some_and(PathPart::is_unknown) {
            return unless_mounted(danger_of_unknown_beginning(&parts));
        }
    }
    let resolved = resolve(&parts);
    let is_explicit = is_absolute || path_base.cwd != Some(path_base.initial_cwd);
    let Some(mounts) = mounts else {
        let found = danger_of_absolute(&resolved, &base, path_base.home, is_explicit);
        let is_of_container = *path_base.host == CommandHost::Container
            && found == Some(PathDanger::TopLevel)
            && !is_system_directory(&resolved);
        return found.filter(|_| !is_of_container);
    };
    let sources = on_this_machine(&resolved, mounts);
    sources
        .iter()
        .find_map(|parts| danger_of_absolute(parts, &base, path_base.home, true))
}

/// Maps a path in a new container to paths on this machine: the path below its mount, or the
/// sources of all mounts below the path.
fn on_this_machine(parts: &[PathPart], mounts: &[Mount]) -> Vec<Vec<PathPart>> {
    let (stem, _) = split_open_end(parts);
    let mapped = |mount: &Mount| {
        let target = components(&mount.target);
        let source = components(&mount.source).into_iter().map(PathPart::text);
        if parts.len() >= target.len() && are_names(&parts[..target.len()], &target) {
            return Some(
                source
                    .chain(parts[target.len()..].iter().cloned())
                    .collect(),
            );
        }
        let contains_mount = target.len() > stem.len() && are_names(stem, &target[..stem.len()]);
        contains_mount.then(|| source.collect())
    };
    mounts.iter().filter_map(mapped).collect()
}

/// Returns the danger of a path with an unknown beginning: it is dangerous unless its end is known.
fn danger_of_unknown_beginning(parts: &[PathPart]) -> Option<PathDanger> {
    let parts = resolve(parts);
    if ends_in_git(&parts) {
        return Some(PathDanger::Git);
    }
    let known: Vec<&PathPart> = parts
        .iter()
        .filter(|part| !part.may_be_any_name())
        .collect();
    let beginning = match parts.first().map(|part| &part.pieces[..]) {
        Some([ValuePiece::Unknown { why, .. }]) => Some(why),
        _ => None,
    };
    // `${DIR:?}`, and `${DIR:?}/*`, which linters advise instead of `$DIR/*`.
    let is_required = matches!(beginning, Some(UnknownCause::Required(_)));
    let is_never_empty = is_required || beginning == Some(&UnknownCause::WorkingDirectory);
    match known.as_slice() {
        // A file name is assumed to be harmless, as in `./$NAME`.
        [] if parts.len() == 1 && beginning == Some(&UnknownCause::FileName) => None,
        [] => (!is_required).then_some(PathDanger::Unknown),
        // `$PREFIX/usr`: with an empty prefix, the path is the system's directory.
        [part] => {
            (part.is_one_of(&SYSTEM_DIRECTORIES) && !is_never_empty).then_some(PathDanger::Unknown)
        }
        _ => None,
    }
}

/// Returns the danger of a relative path in an unknown working directory.
fn danger_in_unknown_cwd(parts: &[PathPart]) -> Option<PathDanger> {
    let leaves_cwd = parts.first().and_then(PathPart::literal) == Some("..");
    let parts = resolve(parts);
    if ends_in_git(&parts) {
        return Some(PathDanger::Git);
    }
    (leaves_cwd || parts.iter().all(PathPart::may_be_any_name)).then_some(PathDanger::Unknown)
}

/// The directories and files without which a repository is worthless.
const REPOSITORY_DIRECTORIES: [&str; 5] = ["objects", "refs", "HEAD", "config", "packed-refs"];

/// True for files that git leaves behind if it is ended, and for marks: `tmp_pack_*`, `*.keep`.
fn is_left_by_git(name: &PathPart) -> bool {
    name.has_text("tmp_") || name.has_text(".keep")
}

/// True for `.git`, for a glob or an unknown name directly in `.git`, and for its essential
/// directories and files.
fn ends_in_git(parts: &[PathPart]) -> bool {
    let names = names(parts, "");
    if let Some(git) = names.iter().position(|name| *name == ".git") {
        match names[git + 1..] {
            // git computes these files anew.
            ["objects", "info", ..] => return false,
            ["objects", "pack", _] if parts.last().is_some_and(is_left_by_git) => return false,
            [name, ..] if REPOSITORY_DIRECTORIES.contains(&name) => return true,
            _ => {}
        }
    }
    // `build/.??*` is not more dangerous than `build`, so an open last part does not count here.
    let (stem, _) = split_open_end(parts);
    stem.last().is_some_and(|part| part.could_be(".git"))
}

/// Directories of temporary files.
const TEMPORARY_DIRECTORIES: [&[&str]; 2] = [&["tmp"], &["var", "tmp"]];

/// True for a path below a directory of temporary files that does not contain the script's initial
/// directory.
fn is_temporary(parts: &[PathPart], base: &[&str]) -> bool {
    TEMPORARY_DIRECTORIES.iter().any(|names| {
        let above = parts.get(..names.len());
        above.is_some_and(|above| are_names(above, names)) && !base.starts_with(names)
    })
}

/// Returns the danger of an absolute path. `is_explicit` is false if the script wrote a path
/// relative to its initial directory.
fn danger_of_absolute(
    parts: &[PathPart],
    base: &[&str],
    home: Option<&str>,
    is_explicit: bool,
) -> Option<PathDanger> {
    if ends_in_git(parts) && !is_temporary(parts, base) {
        return Some(PathDanger::Git);
    }
    // A glob or an unknown name at the end may match every file of the directory `stem`.
    let (stem, tail) = split_open_end(parts);
    if let Some(danger) = danger_of_directory(stem, base, home, is_explicit || !tail.is_empty()) {
        // `./$NAME` is assumed to be harmless, `./*` is not.
        let has_unknown_tail = !tail.is_empty() && tail.iter().all(PathPart::has_unknown);
        if !(danger == PathDanger::WorkingDirectory && has_unknown_tail && are_names(stem, base)) {
            return Some(danger);
        }
    }
    // A pattern with letters directly below a dangerous directory: `/u*r`, `~/x*`.
    let last = parts.last()?;
    if last.literal().is_none() && !last.has_unknown() {
        let parent = &parts[..parts.len() - 1];
        let parent_danger = danger_of_directory(parent, base, home, true);
        // `/app/*.log`
        let is_other = |name: &str| {
            name.contains(char::is_alphanumeric) && !SYSTEM_DIRECTORIES.contains(&name)
        };
        let is_important = match parent_danger {
            Some(PathDanger::Home) => true,
            // `/clang-*.tgz`
            Some(PathDanger::Root) => {
                let begins_known = matches!(last.pieces.first(), Some(ValuePiece::Text(_)));
                let is_file = begins_known && last.has_ending();
                !is_file || SYSTEM_DIRECTORIES.iter().any(|name| last.could_be(name))
            }
            Some(PathDanger::TopLevel) => {
                !matches!(parent, [part] if part.literal().is_some_and(is_other))
            }
            _ => false,
        };
        if is_important && !is_usual_pattern(parent, last) {
            return parent_danger;
        }
        // `../pro*` may match the current directory.
        if parts.len() <= base.len()
            && parts
                .iter()
                .zip(base)
                .all(|(part, name)| part.could_be(name))
        {
            return Some(PathDanger::WorkingDirectory);
        }
    }
    None
}

/// Returns the absolute path that removing `operand` affects. Links and `..` are not resolved; for
/// a pattern at the end, the path of its directory. `None` if the path depends on more than the
/// text.
pub(super) fn touched(operand: &Value, path_base: &PathBase<'_>) -> Option<String> {
    if operand.is_empty() {
        return None;
    }
    let mut parts = split_value(operand);
    let is_pattern = |part: &PathPart| {
        // `.*` also matches `..`.
        let is_hidden =
            matches!(part.pieces.first(), Some(ValuePiece::Text(text)) if text.starts_with('.'));
        part.literal().is_none() && !part.has_unknown() && !is_hidden
    };
    if parts.last().is_some_and(is_pattern) {
        parts.pop();
    }
    if !operand.prefix().starts_with('/') {
        parts = below(path_base.cwd?, parts);
    }
    let names: Option<Vec<&str>> = parts.iter().map(PathPart::literal).collect();
    let mut names = names?;
    names.retain(|name| !name.is_empty());
    Some(format!("/{}", names.join("/")))
}

/// Returns the danger of removing a directory itself; the parameters are those of
/// [`danger_of_absolute`].
fn danger_of_directory(
    parts: &[PathPart],
    base: &[&str],
    home: Option<&str>,
    is_explicit: bool,
) -> Option<PathDanger> {
    let Some((name, above)) = parts.split_last() else {
        return Some(PathDanger::Root);
    };
    // The script's initial directory, even below a home or a system directory.
    if are_names(parts, base) {
        return Some(PathDanger::WorkingDirectory);
    }
    if let Some(home) = home.map(components) {
        let is_personal = name.is_one_of(&PERSONAL_DIRECTORIES) && are_names(above, &home);
        if are_names(parts, &home) || is_personal {
            return Some(PathDanger::Home);
        }
    }
    if parts.len() <= base.len() && are_names(parts, &base[..parts.len()]) {
        return Some(if parts.len() == 1 {
            PathDanger::TopLevel
        } else {
            PathDanger::WorkingDirectory
        });
    }
    match parts {
        [part] => {
            let is_system = part.is_one_of(&SYSTEM_DIRECTORIES);
            // If the working directory is the root, a relative name is below the working directory.
            (is_explicit && !part.has_ending() || is_system).then_some(PathDanger::TopLevel)
        }
        _ if is_system_directory(parts) => Some(PathDanger::TopLevel),
        [parent, user] if parent.is_one_of(&HOME_PARENTS) => {
            user.is_user().then_some(PathDanger::Home)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::pattern::push_globbed;
    use agent_bash_core::words;

    /// In a test path, `$` stands for an unknown part.
    fn check(path: &str, cwd: Option<&str>) -> Option<PathDanger> {
        let mut value = Value::default();
        for (index, text) in path.split('$').enumerate() {
            if index > 0 {
                value.push_unknown(UnknownCause::Output, false);
            }
            push_globbed(&mut value, text);
        }
        danger(
            &value,
            &PathBase {
                cwd,
                initial_cwd: "/home/u/project",
                home: Some("/home/u"),
                host: &CommandHost::Local,
            },
        )
    }

    #[test]
    fn paths_are_classified() {
        for (expect, paths) in [
            (
                true,
                words![
                    "/ // /. /usr/.. /* /usr /usr/ /u*r /usr/* /usr/$ /home/u /home/other",
                    "/home/u/* /home/u/.* /home/u/$ . ./ .. ../project ../pro* * .* .git sub/.git",
                    ".git/* .git/objects .git/objects/* .git/refs/heads .gi? */* $ $/* $/usr",
                    "$/.git",
                ],
            ),
            (
                false,
                words![
                    ".git/rebase-merge build ./build ./$ build/* build/$ *.o **/node_modules",
                    "$/build /tmp/x /tmp/x* /home/u/project/target /home/u/x /home/.cache .github",
                    ".git/hooks/pre-commit /var/log/x",
                ],
            ),
        ] {
            for &path in paths {
                assert_eq!(
                    check(path, Some("/home/u/project")).is_some(),
                    expect,
                    "{path}"
                );
            }
        }
        assert_eq!(check("*", None), Some(PathDanger::Unknown));
        assert_eq!(check("build", None), None);
        assert_eq!(check("*", Some("/home/u/project/build")), None);
        assert_eq!(
            check("..", Some("/home/u/project/build")),
            Some(PathDanger::WorkingDirectory)
        );
    }
}
