//! The possibility that an unchecked `cd` has failed: the script is then still in the previous
//! directory.

use std::rc::Rc;

use super::super::ast::{Command, ListEntry, WordPart};
use super::super::state::ShellState;
use super::super::value::{Value, ValuePiece};
use super::path::{absolute, directory_key, lexical};

/// Directories that always exist.
const EXISTING_DIRECTORIES: [&str; 3] = ["/", "/tmp", "/var/tmp"];

/// True if the entry only changes the directory.
pub(super) fn changes_directory(entry: &ListEntry, shell: &ShellState) -> bool {
    let [Command::Simple(simple)] = entry.stages.as_slice() else {
        return false;
    };
    let name = simple.words.first().map(|word| word.parts.as_slice());
    let Some([WordPart::Bare(name)]) = name else {
        return false;
    };
    matches!(name.as_str(), "cd" | "chdir" | "pushd")
        && !entry.background
        && !shell.functions.contains_key(name)
}

/// Records that the change to the directory of `shell` may have failed, so that the script would
/// still be in the directory of `before`.
pub(super) fn may_have_failed(before: &ShellState, shell: &mut ShellState) {
    let target = shell.cwd.as_deref().unwrap_or("");
    let is_parent = before
        .cwd
        .as_deref()
        .is_some_and(|cwd| cwd == target || cwd.strip_prefix(target).is_some_and(is_below));
    let exists = is_parent
        || EXISTING_DIRECTORIES.contains(&target)
        || shell.home() == Some(target)
        || before.previous.as_deref() == Some(target)
        || shell.files.contains_key(&directory_key(target));
    if shell.exits_on_error || shell.cwd.is_none() || exists {
        return;
    }
    // Keep the directory before the first `cd` that may have failed.
    if shell.cwd_if_cd_failed.is_none() {
        shell.cwd_if_cd_failed.clone_from(&before.cwd);
    }
}

/// True if the rest of a path after a directory's path is the directory itself or a path below it.
fn is_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// Returns the text of a directory, in which a placeholder stands for an unknown part; `None` if its
/// last name is unknown. `$X/build` begins in an unknown directory.
pub(super) fn directory_text(value: &Value) -> Option<String> {
    if let Some(path) = value.literal() {
        return Some(path.to_owned());
    }
    let is_glob = |piece: &ValuePiece| matches!(piece, ValuePiece::Glob(_));
    let path = value.script();
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    if !name.contains(char::is_alphanumeric) || value.pieces().iter().any(is_glob) {
        return None;
    }
    let begins_unknown = matches!(value.pieces().first(), Some(ValuePiece::Unknown { .. }));
    Some(format!("{}{path}", if begins_unknown { "/" } else { "" }))
}

/// Records that a directory exists from now on.
pub(super) fn mark_created(path: &str, shell: &mut ShellState) {
    let path = directory_key(&lexical(&absolute(path, shell)));
    Rc::make_mut(&mut shell.files).entry(path).or_default();
}

/// Joins the states after success and failure of a command. If their directories differ, the
/// directory after a failure becomes [`ShellState::cwd_if_cd_failed`].
pub(super) fn join_alternatives(succeeded: ShellState, failed: ShellState) -> ShellState {
    let directories = match (&succeeded.cwd, &failed.cwd) {
        (Some(cwd), Some(failed_cwd)) if cwd != failed_cwd && !succeeded.ended && !failed.ended => {
            Some((Rc::clone(cwd), Rc::clone(failed_cwd)))
        }
        _ => None,
    };
    let mut joined = succeeded.join(failed);
    if let Some((cwd, failed_cwd)) = directories
        && joined
            .cwd_if_cd_failed
            .as_ref()
            .is_none_or(|other| *other == failed_cwd)
    {
        joined.cwd = Some(cwd);
        joined.cwd_if_cd_failed = Some(failed_cwd);
    }
    joined
}
