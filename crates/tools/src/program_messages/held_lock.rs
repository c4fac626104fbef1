//! Finds messages about a lock that another process holds, and the file of the lock.

use std::path::{Path, PathBuf};

/// One message of a tool, and how to find the lock's file.
struct LockPattern {
    tool: &'static str,
    /// A line of the message has all these texts, in this order.
    phrases: &'static [&'static str],
    file: LockFile,
}

/// How to find the file of the lock.
enum LockFile {
    /// The message has the path between these texts. If the second text is empty, the path is one
    /// word.
    Between(&'static str, &'static str),
    /// The file has one of these paths, relative to the working directory or one of its parents. A
    /// path after `~/` is relative to the home directory.
    Known(&'static [&'static str]),
}

use LockFile::{Between, Known};

/// The messages of tools about a held lock. Except for git, a process holds a lock by having the
/// file open.
const PATTERNS: &[LockPattern] = &[
    // fatal: Unable to create '/p/.git/index.lock': File exists.
    LockPattern {
        tool: "git",
        phrases: &["Unable to create '", ".lock': File exists"],
        file: Between("Unable to create '", "'"),
    },
    // error: could not lock config file .git/config: File exists
    LockPattern {
        tool: "git",
        phrases: &["could not lock config file ", ": File exists"],
        file: Between("could not lock config file ", ": File exists"),
    },
    // E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 12 (apt-get)
    LockPattern {
        tool: "apt",
        phrases: &["Could not get lock ", "/"],
        file: Between("Could not get lock ", ""),
    },
    LockPattern {
        tool: "apt",
        phrases: &["Unable to lock directory ", "/"],
        file: Between("Unable to lock directory ", ""),
    },
    // dpkg: error: dpkg frontend lock was locked by another process with pid 12
    LockPattern {
        tool: "dpkg",
        phrases: &["dpkg: error: ", "lock", "by another process"],
        file: Known(&["/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock"]),
    },
    // Blocking waiting for file lock on build directory (since 1.91 also: artifact directory)
    LockPattern {
        tool: "cargo",
        phrases: &["Blocking waiting for file lock on ", " directory"],
        file: Known(&["target/debug/.cargo-lock", "target/release/.cargo-lock"]),
    },
    LockPattern {
        tool: "cargo",
        phrases: &["Blocking waiting for file lock on package cache"],
        file: Known(&["~/.cargo/.package-cache"]),
    },
    // Timeout (300s) when waiting for lock on `.venv` at `/tmp/uv-1.lock`, is another uv process …
    LockPattern {
        tool: "uv",
        phrases: &["lock ", "` at `", "`"],
        file: Between("` at `", "`"),
    },
    // Waiting for the other yarn instance to finish (PID 12)
    LockPattern {
        tool: "yarn",
        phrases: &["Waiting for the other yarn instance to finish"],
        file: Known(&[".yarn-single-instance"]),
    },
    // The last line of `Timeout waiting to lock … in use by another Gradle instance.`
    LockPattern {
        tool: "gradle",
        phrases: &["Lock file: /"],
        file: Between("Lock file: ", ""),
    },
];

/// A lock that a message names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockMessage {
    /// The program that takes the lock.
    pub tool: &'static str,
    /// The absolute paths at which the file of the lock may exist.
    pub files: Vec<PathBuf>,
    /// The holder that the message names.
    pub pid: Option<u32>,
}

/// Returns the first message about a held lock in the output of a command in `cwd`.
pub fn held_lock(lines: &[&str], cwd: &Path, home: Option<&Path>) -> Option<LockMessage> {
    lines.iter().find_map(|line| {
        let pattern = PATTERNS
            .iter()
            .find(|pattern| has_all(line, pattern.phrases))?;
        let files = match pattern.file {
            Between(before, after) => vec![cwd.join(path_between(line, before, after)?)],
            Known(names) => candidates(names, cwd, home),
        };
        Some(LockMessage {
            tool: pattern.tool,
            files,
            pid: pid_in(line),
        })
    })
}

/// Returns the number after `process`, `pid` or `PID`.
fn pid_in(line: &str) -> Option<u32> {
    let words = ["process ", "pid ", "PID "].into_iter();
    let mut after = words.filter_map(|word| Some(&line[line.find(word)? + word.len()..]));
    after.find_map(|rest| {
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].parse().ok()
    })
}

/// True if the line has all phrases, in this order.
fn has_all(line: &str, phrases: &[&str]) -> bool {
    let mut rest = line;
    phrases.iter().all(|phrase| match rest.find(phrase) {
        Some(at) => {
            rest = &rest[at + phrase.len()..];
            true
        }
        None => false,
    })
}

/// Returns the path between `before` and `after`. If `after` is empty, returns the word after
/// `before`, without punctuation at its end.
fn path_between<'l>(line: &'l str, before: &str, after: &str) -> Option<&'l str> {
    let rest = &line[line.find(before)? + before.len()..];
    let path = match after {
        "" => rest
            .split_whitespace()
            .next()?
            .trim_end_matches(['.', ',', ':', ';']),
        after => &rest[..rest.find(after)?],
    };
    (!path.is_empty()).then_some(path)
}

/// Returns the absolute paths for the names of a [`LockFile::Known`].
fn candidates(names: &[&str], cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    names
        .iter()
        .flat_map(|name| match name.strip_prefix("~/") {
            Some(name) => home.map(|home| home.join(name)).into_iter().collect(),
            None => cwd
                .ancestors()
                .map(|parent| parent.join(name))
                .collect::<Vec<_>>(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_lock_returns_the_file_of_messages_of_many_tools() {
        // The tool, the file and the message.
        for row in [
            "git /p/.git/index.lock fatal: Unable to create '/p/.git/index.lock': File exists.",
            "git /p/d/.git/config error: could not lock config file .git/config: File exists",
            "apt /var/lib/dpkg/lock-frontend E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 12 (apt-get)",
            "apt /var/lib/apt/lists/lock E: Could not get lock /var/lib/apt/lists/lock - open (11: Resource temporarily unavailable)",
            "dpkg /var/lib/dpkg/lock-frontend dpkg: error: dpkg frontend lock was locked by another process with pid 12",
            "cargo /p/target/debug/.cargo-lock     Blocking waiting for file lock on build directory",
            "cargo /home/u/.cargo/.package-cache     Blocking waiting for file lock on package cache",
            "cargo /p/d/target/debug/.cargo-lock     Blocking waiting for file lock on artifact directory",
            "uv /tmp/uv-1.lock Timeout (300s) when waiting for lock on `.venv` at `/tmp/uv-1.lock`, is another uv process running?",
            "gradle /p/.gradle/8.5/x.lock Lock file: /p/.gradle/8.5/x.lock",
        ] {
            let mut fields = row.splitn(3, ' ');
            let [tool, file, line] = std::array::from_fn(|_| fields.next().unwrap());
            let found = held_lock(
                &["before", line],
                Path::new("/p/d"),
                Some(Path::new("/home/u")),
            );
            let found = found.unwrap_or_else(|| panic!("{line}"));
            assert_eq!(found.tool, tool);
            assert!(
                found.files.contains(&PathBuf::from(file)),
                "{line}: {found:?}"
            );
        }
        for line in [
            "",
            "mkdir: cannot create directory 'x': File exists",
            "Cargo.lock exists",
        ] {
            assert_eq!(held_lock(&[line], Path::new("/p"), None), None, "{line}");
        }
    }
}
