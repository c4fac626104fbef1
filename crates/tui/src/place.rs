//! Where the prompt's commands run: the directory, and the branch of git, which is read from its files: no process is
//! started for it.

use agent_bash::Session;
use agent_bash::core::visible::one_line;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The most that is read of a file of git.
const MOST: u64 = 4096;

/// Characters of a commit's name, where no branch is checked out.
const SHORT: usize = 7;

/// A directory, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Absolute.
    pub(crate) directory: PathBuf,
    /// As text, and that of the user's own commands if it is another.
    pub(crate) shown: String,
    /// The branch that is checked out there.
    pub(crate) branch: Option<String>,
    /// Where commands start instead, as that directory is gone or closed to us: the nearest one above it that is neither.
    pub(crate) instead: Option<PathBuf>,
}

impl Place {
    #[cfg(test)]
    pub(crate) fn for_tests(shown: &str) -> Self {
        Self {
            directory: "/p".into(),
            shown: shown.to_owned(),
            branch: None,
            instead: None,
        }
    }

    /// Where the prompt's shell stands, if that is known, or stood before. It reads files.
    pub(crate) fn of(session: &Session, stands: Option<PathBuf>, before: &Path) -> Self {
        // A shell can stand in a directory that is gone, but none can start there.
        let starts = stands.is_none() && session.place().is_none();
        let directory = stands.unwrap_or_else(|| before.to_owned());
        let home = session.host().home.as_deref();
        let own = session.user_cwd();
        let mut shown = text(&directory, home);
        // The user's shell starts where the session does, and is of interest only where it went somewhere.
        if own != directory && own != session.cwd() {
            shown = format!("{shown} · ! {}", text(&own, home));
        }
        Self {
            // On a target the directory is one of another machine.
            branch: match session.place() {
                Some(_) => None,
                None => branch(&directory),
            },
            instead: starts.then(|| instead(&directory)).flatten(),
            directory,
            shown,
        }
    }

    /// Where a shell starts.
    pub(crate) fn start(&self) -> &Path {
        self.instead.as_deref().unwrap_or(&self.directory)
    }
}

/// The nearest directory above that can be entered, if this one cannot.
fn instead(directory: &Path) -> Option<PathBuf> {
    let can_enter = |at: &&Path| at.join(".").metadata().is_ok();
    let found = directory.ancestors().find(can_enter)?;
    (found != directory).then(|| found.to_owned())
}

/// `~` for the home directory.
fn text(path: &Path, home: Option<&Path>) -> String {
    let text = match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    };
    one_line(&text).into_owned()
}

/// The branch checked out in the repository around a directory, or the commit.
fn branch(directory: &Path) -> Option<String> {
    let git = directory
        .ancestors()
        .map(|above| above.join(".git"))
        .find(|git| git.symlink_metadata().is_ok())?;
    // Of a linked worktree or a submodule it is a file that says where the directory is.
    let git = match beginning(&git).as_deref().map(str::trim_end) {
        Some(text) => git.parent()?.join(text.strip_prefix("gitdir: ")?),
        None => git,
    };
    let head = beginning(&git.join("HEAD"))?;
    let head = head.trim_end();
    let name = match head.strip_prefix("ref: ") {
        Some(name) => name.strip_prefix("refs/heads/").unwrap_or(name),
        None => head.get(..SHORT)?,
    };
    Some(one_line(name).into_owned())
}

/// The beginning of a file's text; `None` of a directory.
fn beginning(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = File::open(path).ok().filter(|file| {
        let found = file.metadata();
        found.is_ok_and(|found| found.is_file())
    })?;
    file.take(MOST).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn where_a_directory_is_gone_the_nearest_one_above_takes_its_place() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(instead(dir.path()), None);
        let gone = dir.path().join("a/b");
        assert_eq!(instead(&gone).as_deref(), Some(dir.path()));
        fs::write(dir.path().join("a"), "").unwrap();
        assert_eq!(instead(&gone).as_deref(), Some(dir.path()), "a file");
    }

    #[test]
    fn the_branch_is_read_from_the_files_of_git() {
        let dir = tempfile::tempdir().unwrap();
        let (repo, linked) = (dir.path().join("repo"), dir.path().join("linked"));
        let worktree = repo.join(".git/worktrees/linked");
        for directory in [&repo.join("src/deep"), &linked, &worktree] {
            fs::create_dir_all(directory).unwrap();
        }
        assert_eq!(branch(&repo), None, "no HEAD yet");
        for (head, wanted) in [
            ("ref: refs/heads/main\n", Some("main")),
            ("ref: refs/heads/a/b\n", Some("a/b")),
            ("ref: refs/heads/a\x1b[31mb\n", Some("a<U+001B>[31mb")),
            ("0123456789abcdef\n", Some("0123456")),
            ("", None),
        ] {
            fs::write(repo.join(".git/HEAD"), head).unwrap();
            assert_eq!(branch(&repo.join("src/deep")).as_deref(), wanted, "{head}");
        }
        fs::write(worktree.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        fs::write(
            linked.join(".git"),
            format!("gitdir: {}\n", worktree.display()),
        )
        .unwrap();
        assert_eq!(branch(&linked).as_deref(), Some("side"));
    }
}
