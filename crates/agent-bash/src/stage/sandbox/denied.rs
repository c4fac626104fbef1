//! Which files an output says were denied, as far as the box is why: an error message names the file, the box forbids
//! it, and the host itself could do it. Inferred, and marked so: the kernel does not say whom it has refused what.

use agent_bash_core::sandbox::{Access, Basis, DeniedAccess, Plan};
use agent_bash_sink::SinkReport;
use rustix::fs::{Access as Mode, access};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What the C library and common runtimes say for EACCES, EPERM and EROFS.
const PHRASES: [&str; 4] = [
    "ermission denied",
    "peration not permitted",
    "ead-only file system",
    "EACCES",
];

/// How many files are named, and how many messages are looked at.
const NAMED: usize = 20;
const LOOKED_AT: usize = 100;

/// What the error messages in an output may be about, in their order. Looks at no file.
pub(crate) fn messages(printed: &[SinkReport]) -> Vec<Vec<String>> {
    let pieces = printed.iter().flat_map(|printed| printed.shown.pieces());
    let lines = pieces.flat_map(|piece| piece.text.lines());
    let messages = lines.map(in_message).filter(|paths| !paths.is_empty());
    messages.take(LOOKED_AT).collect()
}

/// The files in the order of the messages, at most one of each.
pub(crate) fn named(plan: &Plan, cwd: &Path, messages: &[Vec<String>]) -> Vec<DeniedAccess> {
    let mut seen = BTreeSet::new();
    let denied = messages.iter().filter_map(|paths| {
        let forbidden = |path: &String| {
            let path = whole(&cwd.join(path))?;
            let access = forbidden(plan, &path).filter(|access| host_could(*access, &path))?;
            Some((path, access))
        };
        let (path, access) = paths.iter().find_map(forbidden)?;
        seen.insert(path.clone()).then(|| DeniedAccess {
            path: path.display().to_string(),
            access,
            basis: Basis::Inferred,
        })
    });
    denied.take(NAMED).collect()
}

/// What an error message may be about: what stands in front of the error or behind it, and every absolute path. The last
/// one first: of what is copied or moved, that is where to.
fn in_message(line: &str) -> Vec<String> {
    let Some(at) = PHRASES.iter().filter_map(|phrase| line.find(phrase)).min() else {
        return Vec::new();
    };
    let subject = quoted(&line[at..])
        .or_else(|| behind(&line[at..]))
        .or_else(|| in_front(&line[..at]));
    let mut found: Vec<String> = subject.map(str::to_owned).into_iter().collect();
    let is_edge = |c: char| c.is_whitespace() || "'\"`‘’“”()<>,;=".contains(c);
    let words = line
        .split(is_edge)
        .map(|word| word.trim_end_matches([':', '.']));
    let absolute = words.filter(|word| word.len() > 1 && word.starts_with('/'));
    let absolute: Vec<String> = absolute.map(str::to_owned).collect();
    found.extend(absolute.into_iter().rev());
    found
}

/// What zsh says: `permission denied: a.txt`.
fn behind(text: &str) -> Option<&str> {
    let (_, last) = text.split_once(": ")?;
    Some(last).filter(|last| !last.contains(' '))
}

/// Of `cat: a.txt: P` the file. A single word may also say that this is an error; a sentence without quotes is no file.
fn in_front(text: &str) -> Option<&str> {
    let (before, _) = text.rsplit_once(": ")?;
    let (_, last) = before.rsplit_once(": ").unwrap_or(("", before));
    let is_named = before.len() > last.len() && !last.contains(' ');
    let is_kind = ["error", "fatal", "warning"].contains(&last.to_lowercase().as_str());
    quoted(last).or_else(|| Some(last).filter(|_| is_named && !is_kind))
}

/// What stands in quotes, if anything does; the last of it.
fn quoted(text: &str) -> Option<&str> {
    let (before, _) = text.rsplit_once(['\'', '"', '`', '’', '”'])?;
    let (_, inner) = before.rsplit_once(['\'', '"', '`', '‘', '“'])?;
    Some(inner)
}

/// The path without links, except for its last component, if there is a directory in which it is.
fn whole(path: &Path) -> Option<PathBuf> {
    let directory = fs::canonicalize(path.parent()?).ok()?;
    let path = directory.join(path.file_name()?);
    Some(fs::canonicalize(&path).unwrap_or(path))
}

fn forbidden(plan: &Plan, path: &Path) -> Option<Access> {
    let within = |list: &[PathBuf]| list.iter().any(|one| path.starts_with(one));
    if within(&plan.hidden) {
        return Some(Access::Read);
    }
    let writable = within(&plan.writable) || within(&plan.devices);
    (!writable || within(&plan.protected)).then_some(Access::Write)
}

fn host_could(wanted: Access, path: &Path) -> bool {
    let exists = fs::symlink_metadata(path).is_ok();
    match wanted {
        Access::Read => exists && access(path, Mode::READ_OK).is_ok(),
        Access::Write if exists => access(path, Mode::WRITE_OK).is_ok(),
        Access::Write => path
            .parent()
            .is_some_and(|parent| access(parent, Mode::WRITE_OK).is_ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_about_what_stands_in_front_of_the_error_and_about_paths() {
        for (line, want) in [
            ("bash: line 1: out.txt: Permission denied", vec!["out.txt"]),
            ("touch: cannot touch 'a b': Permission denied", vec!["a b"]),
            (
                "mkdir: cannot create directory ‘x’: Read-only file system",
                vec!["x"],
            ),
            (
                "PermissionError: [Errno 13] Permission denied: '/home/u/x'",
                vec!["/home/u/x", "/home/u/x"],
            ),
            (
                "Error: EACCES: permission denied, open '/etc/x'",
                vec!["/etc/x", "/etc/x"],
            ),
            (
                "cat: /home/u/.ssh: Permission denied",
                vec!["/home/u/.ssh", "/home/u/.ssh"],
            ),
            (
                "Error: could not open x: Permission denied (os error 13)",
                vec![],
            ),
            ("error: Permission denied", vec![]),
            ("(eval):1: read-only file system: f", vec!["f"]),
            (
                "fatal: cannot copy '/usr/a' to '/p/.git/hooks/a': Read-only file system",
                vec!["/p/.git/hooks/a", "/p/.git/hooks/a", "/usr/a"],
            ),
            ("all of /home/u is fine", vec![]),
        ] {
            assert_eq!(in_message(line), want, "{line}");
        }
    }
}
