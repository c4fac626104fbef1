//! Which files an output says were denied, as far as the box is why: an error message names the file, the box forbids
//! it, and the host itself could do it. Inferred, and marked so: the kernel does not say whom it has refused what.

use agent_bash_core::sandbox::{Access, Basis, DeniedAccess, Plan};
use agent_bash_process::{is_automounter, known_link, known_path};
use agent_bash_sink::SinkReport;
use rustix::fs::{Access as Mode, access};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the C library and common runtimes say for EACCES, EPERM, EROFS, and EBUSY: that is what replacing a file is that
/// something is mounted over.
const PHRASES: [&str; 5] = [
    "ermission denied",
    "peration not permitted",
    "ead-only file system",
    "EACCES",
    "evice or resource busy",
];

/// What is said of a file in a directory with an empty one over it: to root, such a secret is not there.
const ABSENT: &str = "o such file or directory";

/// How many names of a path and of the links on it are followed.
const STEPS: usize = 500;

/// How many files are named, and how many messages are looked at.
const NAMED: usize = 20;
const LOOKED_AT: usize = 100;

/// An error message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// What it may be about.
    paths: Vec<String>,
    /// It says that nothing is there.
    is_absent: bool,
}

/// The error messages in an output. Looks at no file.
pub(crate) fn messages(printed: &[SinkReport]) -> Vec<Message> {
    let pieces = printed.iter().flat_map(|printed| printed.shown.pieces());
    let lines = pieces.flat_map(|piece| piece.text.lines());
    lines.filter_map(in_message).take(LOOKED_AT).collect()
}

/// The files in the order of the messages, at most one of each.
pub(crate) fn named(plan: &Plan, cwd: &Path, messages: &[Message]) -> Vec<DeniedAccess> {
    let mut seen = BTreeSet::new();
    let denied = messages.iter().filter_map(|message| {
        let forbidden = |path: &String| {
            let (path, access) = forbidden(plan, &cwd.join(path))?;
            let is_meant = !message.is_absent || access == Access::Read;
            (is_meant && host_could(access, &path)).then_some((path, access))
        };
        let (path, access) = message.paths.iter().find_map(forbidden)?;
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
fn in_message(line: &str) -> Option<Message> {
    let denied = PHRASES.iter().filter_map(|phrase| line.find(phrase)).min();
    let at = denied.or_else(|| line.find(ABSENT))?;
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
    (!found.is_empty()).then_some(Message {
        paths: found,
        is_absent: denied.is_none(),
    })
}

/// What zsh says: `permission denied: a.txt`.
fn behind(text: &str) -> Option<&str> {
    let (_, last) = text.split_once(": ")?;
    Some(last).filter(|last| !last.contains(' '))
}

/// Of `cat: a.txt: P` the file. A single word may also say that this is an error; of a sentence without quotes a last word
/// with a slash is taken for a file.
fn in_front(text: &str) -> Option<&str> {
    let (before, _) = text.rsplit_once(": ")?;
    let (_, last) = before.rsplit_once(": ").unwrap_or(("", before));
    let is_named = before.len() > last.len() && !last.contains(' ');
    let is_kind = ["error", "fatal", "warning"].contains(&last.to_lowercase().as_str());
    let at_the_end = || last.rsplit(' ').next().filter(|word| word.contains('/'));
    quoted(last)
        .or_else(|| Some(last).filter(|_| is_named && !is_kind))
        .or_else(at_the_end)
}

/// What stands in quotes, if anything does; the last of it.
fn quoted(text: &str) -> Option<&str> {
    let (before, _) = text.rsplit_once(['\'', '"', '`', '’', '”'])?;
    let (_, inner) = before.rsplit_once(['\'', '"', '`', '‘', '“'])?;
    Some(inner)
}

/// The path without links, as far as the kernel knows it: it has just been asked for it. An output must not make this
/// process look anything up, by an automounter for example, which reaches the network that the call has not.
fn whole(path: &Path) -> Option<PathBuf> {
    let directory = known_path(path.parent()?).ok()?;
    let within = directory.join(path.file_name()?);
    match known_path(path) {
        Ok(path) => Some(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(within),
        // Some file systems do not remember what is not there.
        Err(_) => (!is_automounter(&directory) && !within.is_symlink()).then_some(within),
    }
}

fn is_within(list: &[PathBuf], path: &Path) -> bool {
    list.iter().any(|one| path.starts_with(one))
}

/// What of this path the sandbox forbids, and which access to it.
fn forbidden(plan: &Plan, path: &Path) -> Option<(PathBuf, Access)> {
    // Whether there is anything below a hidden directory is not for the call to know.
    let hidden = |entry: &Path| Some((entry.to_owned(), Access::Read));
    if let Some(entry) = hidden_entry(plan, path) {
        return hidden(entry);
    }
    let path = whole(path)?;
    if let Some(entry) = plan.hidden_by(&path) {
        return hidden(entry);
    }
    if plan.covers(&path) {
        return None;
    }
    let writable = is_within(&plan.writable, &path) || is_within(&plan.devices, &path);
    let is_kept = !writable || is_within(&plan.protected, &path);
    is_kept.then_some((path, Access::Write))
}

/// The hidden path that this one is or leads through. Nothing below a hidden path is looked at.
fn hidden_entry<'a>(plan: &'a Plan, path: &Path) -> Option<&'a Path> {
    let names = |path: &Path| -> Vec<OsString> {
        let names = path.components().rev();
        names.map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut at = PathBuf::new();
    let mut rest = names(path);
    for _ in 0..STEPS {
        let name = rest.pop()?;
        if name == ".." {
            at.pop();
            continue;
        }
        // An absolute target of a link begins at the root again.
        at.push(&name);
        if let Some(entry) = plan.hidden_by(&at) {
            return Some(entry);
        }
        if let Ok(target) = known_link(&at) {
            at.pop();
            rest.extend(names(&target));
        }
    }
    None
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
    use agent_bash_core::sandbox::{Level, Network, Tier};

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
            (
                "error: could not write config file .git/config: Device or resource busy",
                vec![".git/config"],
            ),
            (
                "cat: /home/u/.ssh/id: No such file or directory",
                vec!["/home/u/.ssh/id", "/home/u/.ssh/id"],
            ),
            ("all of /home/u is fine", vec![]),
        ] {
            let found = in_message(line).map(|message| message.paths);
            assert_eq!(found.unwrap_or_default(), want, "{line}");
        }
    }

    #[test]
    fn names_below_a_hidden_directory_are_reported_alike_whether_they_exist_or_not() {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir_all(root.join("home/.ssh/keys")).unwrap();
        fs::create_dir(root.join("workspace")).unwrap();
        for (link, target) in [
            ("home/.ssh/outwards", "../../elsewhere"),
            ("workspace/to_existing", "../home/.ssh/keys"),
            ("workspace/to_absent", "../home/.ssh/nothing"),
            ("workspace/to_directory", "../home/.ssh"),
        ] {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        let hidden = root.join("home/.ssh");
        let plan = Plan {
            level: Level::WorkspaceWrite,
            network: Network::Off,
            tier: Tier::Full,
            writable: vec![root.join("workspace")],
            hidden: vec![hidden.clone(), root.join("home/.netrc")],
            protected: Vec::new(),
            devices: Vec::new(),
        };
        let named = |path: &str| {
            let message = in_message(&format!("cat: {path}: Permission denied"));
            let messages: Vec<Message> = message.into_iter().collect();
            let denied = named(&plan, &root.join("workspace"), &messages);
            denied.into_iter().map(|it| it.path).collect::<Vec<_>>()
        };
        let entry = hidden.display().to_string();
        for path in [
            "../home/.ssh",
            "../home/.ssh/keys",
            "../home/.ssh/nothing",
            "../home/.ssh/outwards",
            "../home/.ssh/keys/../../x",
            "to_existing",
            "to_absent",
            "to_directory/keys",
            "to_directory/nothing",
        ] {
            assert_eq!(named(path), [entry.clone()], "{path}");
        }
        for path in ["../home/.netrc", "/dev/shm/x", "/dev/shm", "here"] {
            assert!(named(path).is_empty(), "{path}");
        }
    }
}
