//! The possibility that an unchecked `cd` has failed: the script is then still in the previous
//! directory.

use std::rc::Rc;

use super::super::ast::{Command, ListEntry, WordPart};
use super::super::state::ShellState;
use super::path::{absolute, lexical, made};

/// The usual places for temporary directories, which always exist.
const TEMPORARY_DIRECTORIES: [&str; 3] = ["/", "/tmp", "/var/tmp"];

/// Whether the entry only changes the directory.
pub(super) fn changes(entry: &ListEntry, st: &ShellState) -> bool {
    let [Command::Simple(simple)] = entry.stages.as_slice() else {
        return false;
    };
    let name = simple.words.first().map(|word| word.parts.as_slice());
    let Some([WordPart::Bare(name)]) = name else {
        return false;
    };
    matches!(name.as_str(), "cd" | "chdir" | "pushd")
        && !entry.background
        && !st.functions.contains_key(name)
}

/// Records that the change to the directory of `st` may have failed, which would leave the script
/// where it was before.
pub(super) fn may_have_failed(before: &ShellState, st: &mut ShellState) {
    let there = st.cwd.as_deref().unwrap_or("");
    let up = before
        .cwd
        .as_deref()
        .is_some_and(|from| from == there || from.strip_prefix(there).is_some_and(is_below));
    let is_there = up
        || TEMPORARY_DIRECTORIES.contains(&there)
        || st.home() == Some(there)
        || before.previous.as_deref() == Some(there)
        || st.files.contains_key(&made(there));
    if st.exits_on_error || st.cwd.is_none() || is_there {
        return;
    }
    // The first one is furthest from where the script wants to be.
    if st.otherwise.is_none() {
        st.otherwise.clone_from(&before.cwd);
    }
}

fn is_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// Records that a directory exists from here on.
pub(super) fn make(path: &str, st: &mut ShellState) {
    let path = made(&lexical(&absolute(path, st)));
    Rc::make_mut(&mut st.files).entry(path).or_default();
}

/// Joins the states after success and failure of a command: one directory or the other.
pub(super) fn meet(succeeded: ShellState, failed: ShellState) -> ShellState {
    let places = match (&succeeded.cwd, &failed.cwd) {
        (Some(here), Some(there)) if here != there && !succeeded.ended && !failed.ended => {
            Some((Rc::clone(here), Rc::clone(there)))
        }
        _ => None,
    };
    let mut met = succeeded.join(failed);
    if let Some((here, there)) = places
        && met.otherwise.as_ref().is_none_or(|other| *other == there)
    {
        met.cwd = Some(here);
        met.otherwise = Some(there);
    }
    met
}
