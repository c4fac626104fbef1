//! Where the script is if a `cd` before has failed and nobody asked: still where it was.

use std::rc::Rc;

use super::super::ast::{Command, Entry, Part};
use super::super::state::State;
use super::builtin::lexical;

/// Where directories made for temporary files are, and what is always there.
const ALWAYS: [&str; 3] = ["/", "/tmp", "/var/tmp"];

/// Whether the entry is nothing but a change of directory.
pub(super) fn changes(entry: &Entry, st: &State) -> bool {
    let [Command::Simple(simple)] = entry.stages.as_slice() else {
        return false;
    };
    let name = simple.words.first().map(|word| word.parts.as_slice());
    let Some([Part::Bare(name)]) = name else {
        return false;
    };
    matches!(name.as_str(), "cd" | "chdir" | "pushd")
        && !entry.background
        && !st.functions.contains_key(name)
}

/// Notes that the change to where `st` is now may have failed, so that it would still be where it was before.
pub(super) fn may_have_failed(before: &State, st: &mut State) {
    let there = st.cwd.as_deref().unwrap_or("");
    let up = before
        .cwd
        .as_deref()
        .is_some_and(|from| from == there || from.strip_prefix(there).is_some_and(is_below));
    let is_there = up
        || ALWAYS.contains(&there)
        || there.starts_with(super::output::FRESH)
        || st.home() == Some(there)
        || before.previous.as_deref() == Some(there)
        || st.files.contains_key(&made(there));
    if st.exits_on_error || st.cwd.is_none() || is_there {
        return;
    }
    // The first is the furthest from where the script wants to be.
    if st.otherwise.is_none() {
        st.otherwise.clone_from(&before.cwd);
    }
}

fn is_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// The name by which it is kept among the files that the script has made a directory.
pub(super) fn made(directory: &str) -> String {
    format!("{}/", directory.trim_end_matches('/'))
}

/// Notes that there is a directory from here on.
pub(super) fn make(path: &str, st: &mut State) {
    let path = made(&lexical(&super::absolute(path, st)));
    Rc::make_mut(&mut st.files).entry(path).or_default();
}

/// Where a command that has succeeded and one that has failed go on together: in the one directory or the other.
pub(super) fn meet(succeeded: State, failed: State) -> State {
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
