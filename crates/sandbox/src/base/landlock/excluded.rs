//! Paths that no rule may reach, as the names that lead to them: each directory on the way is walked once, and each name
//! in it compared with the few that stand there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

/// What is excluded below a directory.
#[derive(Debug, Default)]
pub(super) struct Excluded {
    below: BTreeMap<OsString, Self>,
    /// The directory itself, with everything in it.
    itself: bool,
}

/// What a name in a directory is.
#[derive(Debug)]
pub(super) enum ExcludedName<'a> {
    /// Something in it is excluded.
    OnTheWay(&'a Excluded),
    /// It is excluded.
    Excluded,
    /// Nothing is.
    Sibling,
}

impl Excluded {
    /// Those at these absolute paths.
    pub(super) fn at<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let mut root = Self::default();
        for path in paths {
            let names = path.as_ref().components().filter_map(|part| match part {
                Component::Normal(name) => Some(name),
                _ => None,
            });
            let last = names.fold(&mut root, |directory, name| {
                directory.below.entry(name.to_owned()).or_default()
            });
            last.itself = true;
        }
        root
    }

    pub(super) fn find(&self, name: &OsStr) -> ExcludedName<'_> {
        match self.below.get(name) {
            Some(inner) if inner.itself => ExcludedName::Excluded,
            Some(inner) => ExcludedName::OnTheWay(inner),
            None => ExcludedName::Sibling,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_what_is_excluded_whatever_comes_first() {
        for paths in [["/a/b", "/a/b/c", "/d"], ["/d", "/a/b/c", "/a/b"]] {
            let root = Excluded::at(paths);
            let ExcludedName::OnTheWay(a) = root.find("a".as_ref()) else {
                panic!("{root:?}");
            };
            assert!(matches!(a.find("b".as_ref()), ExcludedName::Excluded));
            assert!(matches!(a.find("bc".as_ref()), ExcludedName::Sibling));
            assert!(matches!(root.find("d".as_ref()), ExcludedName::Excluded));
            assert!(matches!(root.find("b".as_ref()), ExcludedName::Sibling));
        }
    }
}
