//! The working directory of the prompt's commands, and the branch of git, read from its files
//! without starting a process.

use agent_bash::Conversation;
use agent_bash::core::visible::one_line;
use agent_bash_os::read_regular_text;
use std::path::{Path, PathBuf};

/// Limit of bytes read of a file of git.
const MAX_FILE_BYTES: u64 = 4096;

/// Characters of a commit's name if no branch is checked out.
const SHORT_HASH_CHARS: usize = 7;

/// The working directory, and its text in the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PromptDirectory {
    /// Absolute.
    pub(crate) directory: PathBuf,
    /// The directory of the next bang command.
    pub(crate) bang_directory: PathBuf,
    /// The text for the status line, with the directory of bang commands if it differs.
    pub(crate) text: String,
    /// The branch that is checked out in the directory, and an unfinished operation of git.
    pub(crate) branch: Option<String>,
    /// The directory in which commands start if `directory` cannot be entered: its nearest parent
    /// that can be entered.
    pub(crate) fallback: Option<PathBuf>,
}

impl PromptDirectory {
    #[cfg(test)]
    pub(crate) fn for_tests(shown: &str) -> Self {
        Self {
            directory: "/p".into(),
            bang_directory: "/p".into(),
            text: shown.to_owned(),
            branch: None,
            fallback: None,
        }
    }

    /// The directory at the start of the interface.
    pub(crate) fn initial(session: &Conversation) -> Self {
        Self::at(session, None, session.cwd(), session.user_cwd())
    }

    /// Returns the working directory of the prompt's shell: `shell_cwd`, or else the last known
    /// one. Reads files. `bang_is_running`: a bang command is running, so the directory of the next
    /// one is unknown.
    pub(crate) fn current(
        session: &Conversation,
        shell_cwd: Option<PathBuf>,
        before: &Self,
        bang_is_running: bool,
    ) -> Self {
        let bang_directory = if bang_is_running {
            before.bang_directory.clone()
        } else {
            session.user_cwd()
        };
        Self::at(session, shell_cwd, &before.directory, bang_directory)
    }

    fn at(
        session: &Conversation,
        shell_cwd: Option<PathBuf>,
        before: &Path,
        bang_directory: PathBuf,
    ) -> Self {
        // A shell can stay in a deleted directory, but no shell can start there.
        let may_need_fallback = shell_cwd.is_none() && session.remote_host().is_none();
        let directory = shell_cwd.unwrap_or_else(|| before.to_owned());
        let home = session.host().home.as_deref();
        let mut shown = display_path(&directory, home);
        // The shell of bang commands starts in the conversation's directory. Its directory is shown
        // only if the shell has left that one.
        if bang_directory != directory && bang_directory != session.cwd() {
            shown = format!("{shown} · ! {}", display_path(&bang_directory, home));
        }
        Self {
            // On a remote host the directory is not local.
            branch: match session.remote_host() {
                Some(_) => None,
                None => branch(&directory),
            },
            fallback: may_need_fallback
                .then(|| fallback_directory(&directory))
                .flatten(),
            directory,
            bang_directory,
            text: shown,
        }
    }

    /// The directory in which a shell starts.
    pub(crate) fn start(&self) -> &Path {
        self.fallback.as_deref().unwrap_or(&self.directory)
    }
}

/// Returns the nearest parent that can be entered, if `directory` cannot be entered.
fn fallback_directory(directory: &Path) -> Option<PathBuf> {
    let can_enter = |at: &&Path| at.join(".").metadata().is_ok();
    let found = directory.ancestors().find(can_enter)?;
    (found != directory).then(|| found.to_owned())
}

/// The path with `~` for the home directory.
fn display_path(path: &Path, home: Option<&Path>) -> String {
    let text = match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    };
    one_line(&text).into_owned()
}

/// The branch that `HEAD` names in each repository with the reference format `reftable`. Only git
/// reads the branches of such a repository.
const REFTABLE_HEAD: &str = "refs/heads/.invalid";

/// The branch checked out in the repository around a directory, or the commit.
fn branch(directory: &Path) -> Option<String> {
    let git = git_directory(directory)?;
    let head = read_start(&git.join("HEAD"))?;
    let operation = git_operation(&git);
    // During a rebase, HEAD is a commit.
    let rebased =
        ["rebase-merge", "rebase-apply"].map(|directory| git.join(directory).join("head-name"));
    let rebased = rebased.iter().find_map(|name| read_start(name));
    let head = rebased.as_deref().unwrap_or(&head).trim_end();
    let head = head.strip_prefix("ref: ").unwrap_or(head);
    if head == REFTABLE_HEAD {
        return None;
    }
    let name = match head.strip_prefix("refs/") {
        Some(name) => name.strip_prefix("heads/").unwrap_or(head),
        None => head.get(..SHORT_HASH_CHARS)?,
    };
    let operation = operation.map(|what| format!(" {what}")).unwrap_or_default();
    Some(one_line(&format!("{name}{operation}")).into_owned())
}

/// Returns git's directory for the work tree that contains `directory`.
pub(crate) fn git_directory(directory: &Path) -> Option<PathBuf> {
    let git = directory
        .ancestors()
        .map(|above| above.join(".git"))
        .find(|git| git.symlink_metadata().is_ok())?;
    // In a linked worktree or a submodule, `.git` is a file that names the directory.
    match read_start(&git) {
        Some(text) => Some(git.parent()?.join(text.strip_prefix("gitdir:")?.trim())),
        None => Some(git),
    }
}

/// An unfinished operation, as git's own prompt shows it: `REBASE 1/2`.
fn git_operation(git: &Path) -> Option<String> {
    const REBASE_FILES: [(&str, &str, &str); 2] = [
        ("rebase-merge", "msgnum", "end"),
        ("rebase-apply", "next", "last"),
    ];
    const OTHER_OPERATIONS: [(&str, &str); 4] = [
        ("MERGE_HEAD", "MERGING"),
        ("CHERRY_PICK_HEAD", "CHERRY-PICKING"),
        ("REVERT_HEAD", "REVERTING"),
        ("BISECT_LOG", "BISECTING"),
    ];
    for (directory, step, last) in REBASE_FILES {
        let directory = git.join(directory);
        let number =
            |name| read_start(&directory.join(name)).map(|text| text.trim_end().to_owned());
        if let (Some(step), Some(last)) = (number(step), number(last)) {
            let what = if directory.join("applying").exists() {
                "AM"
            } else {
                "REBASE"
            };
            return Some(format!("{what} {step}/{last}"));
        }
    }
    let mut others = OTHER_OPERATIONS.into_iter();
    let found = others.find(|(name, _)| git.join(name).exists());
    found.map(|(_, what)| what.to_owned())
}

/// Reads the beginning of a file's text; `None` for a directory. Opening a FIFO, which a command
/// may have created, must not block the interface.
fn read_start(path: &Path) -> Option<String> {
    read_regular_text(path, MAX_FILE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn nearest_parent_replaces_a_missing_directory() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(fallback_directory(dir.path()), None);
        let missing = dir.path().join("a/b");
        assert_eq!(fallback_directory(&missing).as_deref(), Some(dir.path()));
        fs::write(dir.path().join("a"), "").unwrap();
        assert_eq!(
            fallback_directory(&missing).as_deref(),
            Some(dir.path()),
            "a file"
        );
    }

    #[test]
    fn fifos_in_place_of_the_files_of_git_do_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        fs::create_dir_all(git.join("rebase-merge")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(branch(dir.path()).as_deref(), Some("main"));
        for (name, wanted) in [("rebase-merge/msgnum", Some("main")), ("HEAD", None)] {
            let path = git.join(name);
            drop(fs::remove_file(&path));
            agent_bash::process::make_fifo(&path).unwrap();
            assert_eq!(branch(dir.path()).as_deref(), wanted, "{name}");
        }
    }

    #[test]
    fn branch_is_read_from_the_files_of_git() {
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
            ("ref: refs/heads/.invalid\n", None),
            ("", None),
        ] {
            fs::write(repo.join(".git/HEAD"), head).unwrap();
            assert_eq!(branch(&repo.join("src/deep")).as_deref(), wanted, "{head}");
        }
        // During an operation.
        let git = repo.join(".git");
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        for (name, wanted) in [
            ("MERGE_HEAD", "main MERGING"),
            ("CHERRY_PICK_HEAD", "main CHERRY-PICKING"),
            ("BISECT_LOG", "main BISECTING"),
        ] {
            fs::write(git.join(name), "").unwrap();
            assert_eq!(branch(&repo).as_deref(), Some(wanted));
            fs::remove_file(git.join(name)).unwrap();
        }
        fs::create_dir(git.join("rebase-merge")).unwrap();
        fs::write(git.join("HEAD"), "0123456789abcdef\n").unwrap();
        for (name, text) in [
            ("head-name", "refs/heads/topic\n"),
            ("msgnum", "1\n"),
            ("end", "2\n"),
        ] {
            fs::write(git.join("rebase-merge").join(name), text).unwrap();
        }
        assert_eq!(branch(&repo).as_deref(), Some("topic REBASE 1/2"));
        fs::write(worktree.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        fs::write(
            linked.join(".git"),
            format!("gitdir: {}\n", worktree.display()),
        )
        .unwrap();
        assert_eq!(branch(&linked).as_deref(), Some("side"));
    }
}
