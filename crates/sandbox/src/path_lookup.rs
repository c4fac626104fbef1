//! Looks up many paths, most of them missing. Each directory is listed once, instead of a
//! system call for each path in it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Maximum number of names in a directory that is listed.
const MAX_NAMES: usize = 4096;

/// A cache of directory listings, for a short time during which changes of the directories are
/// ignored.
#[derive(Debug, Default)]
pub(crate) struct PathLookup {
    // The keys are strings, because hashing a path splits it into components.
    listings: RefCell<HashMap<OsString, Rc<Listing>>>,
    canonical: RefCell<HashMap<OsString, PathBuf>>,
}

/// The names in a directory.
#[derive(Debug)]
enum Listing {
    /// There is no such directory.
    Missing,
    /// All names, in lower case: the file system may ignore the case.
    Names(HashSet<Vec<u8>>),
    /// The directory is too large, or may not be listed.
    Unknown,
}

impl PathLookup {
    /// False if the path certainly does not exist.
    pub(crate) fn may_exist(&self, path: &Path) -> bool {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return true;
        };
        match &*self.listing(parent) {
            Listing::Missing => false,
            // File systems compare names that are not ASCII by their own rules.
            Listing::Names(names) => !name.is_ascii() || names.contains(&in_lower_case(name)),
            Listing::Unknown => true,
        }
    }

    /// Returns the canonical form of the existing paths.
    pub(crate) fn existing(&self, paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
        paths
            .iter()
            .filter_map(|path| self.canonical_if_existing(path))
    }

    /// Returns the canonical form of a path that exists.
    pub(crate) fn canonical_if_existing(&self, path: &Path) -> Option<PathBuf> {
        self.exists(path)
            .then(|| fs::canonicalize(path).ok())
            .flatten()
    }

    /// True if the path exists; false for a link to a missing file.
    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.may_exist(path) && path.exists()
    }

    /// Resolves links in the existing part of a path.
    pub(crate) fn canonical(&self, path: &Path) -> PathBuf {
        if self.may_exist(path)
            && let Ok(real) = fs::canonicalize(path)
        {
            return real;
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return path.to_owned();
        };
        let known = self.canonical.borrow().get(parent.as_os_str()).cloned();
        let parent = known.unwrap_or_else(|| {
            let real = self.canonical(parent);
            let mut known = self.canonical.borrow_mut();
            known.insert(parent.as_os_str().to_owned(), real.clone());
            real
        });
        parent.join(name)
    }

    fn listing(&self, directory: &Path) -> Rc<Listing> {
        if let Some(known) = self.listings.borrow().get(directory.as_os_str()) {
            return Rc::clone(known);
        }
        let listing = if self.may_exist(directory) {
            list(directory)
        } else {
            Listing::Missing
        };
        let listing = Rc::new(listing);
        let mut known = self.listings.borrow_mut();
        known.insert(directory.as_os_str().to_owned(), Rc::clone(&listing));
        listing
    }
}

fn list(directory: &Path) -> Listing {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Listing::Missing;
        }
        Err(_) => return Listing::Unknown,
    };
    let mut names = HashSet::new();
    for entry in entries {
        match entry {
            Ok(entry) if names.len() < MAX_NAMES => {
                names.insert(in_lower_case(&entry.file_name()));
            }
            _ => return Listing::Unknown,
        }
    }
    Listing::Names(names)
}

fn in_lower_case(name: &OsStr) -> Vec<u8> {
    name.as_encoded_bytes().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn may_exist_is_false_only_for_missing_paths() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir_all(base.join("a/b")).unwrap();
        fs::write(base.join("a/file"), "").unwrap();
        symlink("a", base.join("link")).unwrap();
        symlink("gone", base.join("dangling")).unwrap();
        fs::create_dir(base.join("locked")).unwrap();
        fs::write(base.join("locked/secret"), "").unwrap();
        fs::set_permissions(base.join("locked"), fs::Permissions::from_mode(0o300)).unwrap();
        let lookup = PathLookup::default();
        for (path, may_exist) in [
            ("a", true),
            ("a/b", true),
            ("A", true),
            ("link/b", true),
            ("dangling", true),
            ("locked/secret", true),
            ("a/c", false),
            ("a/file/x", false),
            ("link/c/d", false),
            ("gone/deeper/path", false),
            ("dangling/x", false),
        ] {
            assert_eq!(lookup.may_exist(&base.join(path)), may_exist, "{path}");
        }
        assert!(lookup.may_exist(Path::new("/")));
        let paths = ["a/b", "link/b", "a/c", "dangling"].map(|path| base.join(path));
        let existing: Vec<PathBuf> = lookup.existing(&paths).collect();
        assert_eq!(existing, [base.join("a/b"), base.join("a/b")]);
    }

    #[test]
    fn canonical_resolves_the_existing_part() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir_all(base.join("a/b")).unwrap();
        symlink("a", base.join("link")).unwrap();
        let lookup = PathLookup::default();
        for (path, real) in [
            ("link", "a"),
            ("link/b", "a/b"),
            ("link/b/c/d", "a/b/c/d"),
            ("link/x/y", "a/x/y"),
            ("gone/x", "gone/x"),
        ] {
            let path = base.join(path);
            assert_eq!(lookup.canonical(&path), base.join(real));
        }
    }
}
