//! A tree of excluded paths: each ancestor directory is listed once, and each of its names is
//! compared with the few excluded ones.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

/// The excluded paths below a directory.
#[derive(Debug, Default)]
pub(super) struct ExcludedPaths {
    children: BTreeMap<OsString, Self>,
    /// True if the directory itself is excluded, with all entries.
    is_excluded: bool,
}

/// The relation of a name in a directory to the excluded paths.
#[derive(Debug)]
pub(super) enum ExcludedName<'a> {
    /// A path below the name is excluded.
    ContainsExcluded(&'a ExcludedPaths),
    /// The name is excluded.
    Excluded,
    /// Neither the name nor a path below it is excluded.
    Sibling,
}

impl ExcludedPaths {
    /// Returns the tree of these absolute paths.
    pub(super) fn of<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let mut root = Self::default();
        for path in paths {
            let names = path.as_ref().components().filter_map(|part| match part {
                Component::Normal(name) => Some(name),
                _ => None,
            });
            let last = names.fold(&mut root, |directory, name| {
                directory.children.entry(name.to_owned()).or_default()
            });
            last.is_excluded = true;
        }
        root
    }

    pub(super) fn find(&self, name: &OsStr) -> ExcludedName<'_> {
        match self.children.get(name) {
            Some(inner) if inner.is_excluded => ExcludedName::Excluded,
            Some(inner) => ExcludedName::ContainsExcluded(inner),
            None => ExcludedName::Sibling,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_returns_excluded_paths_in_any_order() {
        for paths in [["/a/b", "/a/b/c", "/d"], ["/d", "/a/b/c", "/a/b"]] {
            let root = ExcludedPaths::of(paths);
            let ExcludedName::ContainsExcluded(a) = root.find("a".as_ref()) else {
                panic!("{root:?}");
            };
            assert!(matches!(a.find("b".as_ref()), ExcludedName::Excluded));
            assert!(matches!(a.find("bc".as_ref()), ExcludedName::Sibling));
            assert!(matches!(root.find("d".as_ref()), ExcludedName::Excluded));
            assert!(matches!(root.find("b".as_ref()), ExcludedName::Sibling));
        }
    }
}
