//! The possibility that an unchecked `cd` has failed: the script is then still in the previous
//! directory.

use std::ffi::OsStr;
use std::path::Path;
use std::rc::Rc;

use super::super::ast::{Command, ListEntry, WordPart};
use super::super::state::ShellState;
use super::super::value::{UnknownCause, Value, ValuePiece};
use super::path::{UNKNOWN_DIRECTORY, absolute, directory_key, lexical};

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
    if before.cwd.is_none() && target.starts_with(UNKNOWN_DIRECTORY) {
        shell.cwd = None;
    }
}

/// True if the rest of a path after a directory's path is the directory itself or a path below it.
fn is_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// Returns the text of a directory, in which a placeholder stands for an unknown part; `None` if
/// its last name is unknown. `$X/build` and `$X-build` are below an unknown directory.
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
    let is_relative = value.prefix().is_empty() && path.split('/').next()?.chars().count() > 1;
    Some(match value.pieces().first() {
        Some(ValuePiece::Unknown { .. }) if is_relative => format!("{UNKNOWN_DIRECTORY}/{path}"),
        Some(ValuePiece::Unknown { .. }) => format!("/{path}"),
        _ => path,
    })
}

/// Returns the directory to which `cd` changes; `None` if unknown. In an unknown directory, only
/// the directories that the script itself has created are known.
pub(super) fn target_of_cd(value: &Value, shell: &ShellState) -> Option<Rc<str>> {
    let text = directory_text(value)?;
    let path = lexical(&absolute(&text, shell));
    let is_relative = !text.starts_with('/');
    let starts_unknown = shell
        .cwd
        .as_deref()
        .is_none_or(|cwd| cwd.starts_with(UNKNOWN_DIRECTORY));
    let below_unknown = path.strip_prefix(UNKNOWN_DIRECTORY);
    let leaves = is_relative && starts_unknown && below_unknown.is_none_or(str::is_empty);
    let is_known =
        !is_relative || shell.cwd.is_some() || shell.files.contains_key(&directory_key(&path));
    (is_known && !leaves).then(|| Rc::from(path))
}

/// Records that a directory exists from now on.
pub(super) fn mark_created(path: &str, shell: &mut ShellState) {
    let path = directory_key(&lexical(&absolute(path, shell)));
    Rc::make_mut(&mut shell.files).entry(path).or_default();
}

/// Records that a directory and the repository in it exist from now on, also under the text of its
/// variables. The working directory may have existed before.
pub(super) fn mark_repository(directory: &Value, shell: &mut ShellState) {
    let named = is_identified(directory).then(|| directory.to_string());
    for path in directory_text(directory).into_iter().chain(named) {
        if !path.starts_with('-') && !matches!(path.as_str(), "" | "." | "./") {
            mark_created(&path, shell);
            mark_created(&format!("{path}/.git"), shell);
        }
    }
}

/// True if the text of a value tells it from other values: known text and variables by their names.
/// The outputs of two commands have one text, and so have the elements of an array.
pub(super) fn is_identified(value: &Value) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_named = |piece: &ValuePiece| match piece {
        ValuePiece::Text(_) => true,
        ValuePiece::Unknown {
            why: UnknownCause::Variable(name),
            ..
        } => is_name(name) && !name.starts_with(|first: char| first.is_numeric()),
        _ => false,
    };
    !value.may_split() && value.pieces().iter().all(is_named)
}

/// True for the directory of a git repository by its name: `.git`, or `NAME.git`.
fn is_repository(path: &str) -> bool {
    let path = Path::new(path);
    path.file_name() == Some(OsStr::new(".git")) || path.extension() == Some(OsStr::new("git"))
}

/// Records that the directories of `[ -d X ]` exist. A test of a repository does not create it.
pub(super) fn mark_tested(words: &[Value], shell: &mut ShellState) {
    for (index, pair) in words.windows(2).enumerate() {
        let is_negated = index > 0 && words[index - 1].literal() == Some("!");
        let is_test = pair[0].literal() == Some("-d") && !is_negated;
        let path = directory_text(&pair[1]).filter(|path| is_test && !is_repository(path));
        if let Some(path) = path {
            mark_created(&path, shell);
        }
    }
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
