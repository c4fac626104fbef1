//! Looks up many paths, most of them missing. Each directory is listed once, instead of a
//! system call for each path in it.

use agent_bash_core::sandbox::{HiddenName, HiddenPaths};
use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Maximum number of names in a directory that is listed.
const MAX_NAMES: usize = 1024;

/// A cache of directory listings, for a short time during which changes of the directories are
/// ignored.
#[derive(Debug, Default)]
pub(crate) struct PathLookup {
    // The keys are strings, because hashing a path splits it into components.
    listings: RefCell<HashMap<OsString, Rc<Listing>>>,
    canonical: RefCell<HashMap<OsString, PathBuf>>,
}

/// The entries of a directory.
#[derive(Debug)]
pub(crate) enum Listing {
    /// There is no such directory.
    Missing,
    /// All entries, sorted by [`order`].
    Entries(Vec<DirectoryEntry>),
    /// The directory is too large, or may not be listed.
    Unknown,
}

/// A name in a directory.
#[derive(Debug)]
pub(crate) struct DirectoryEntry {
    pub(crate) name: OsString,
    /// The type of the file, or `Unknown`.
    pub(crate) kind: FileType,
}

/// The hidden paths that exist at least in part.
#[derive(Debug, Default)]
pub(crate) struct FoundHidden {
    /// The paths that exist, some of them twice, not canonical.
    pub(crate) existing: Vec<PathBuf>,
    /// The paths, existing or not, below a link in a directory of hidden paths.
    pub(crate) behind_links: Vec<PathBuf>,
}

impl Listing {
    /// False if the directory certainly has no such name.
    fn may_have(&self, name: &OsStr) -> bool {
        match self {
            Self::Missing => false,
            Self::Entries(entries) => {
                let has_name = |entry: &DirectoryEntry| order(&entry.name, name);
                // File systems compare names that are not ASCII by their own rules.
                !name.is_ascii() || entries.binary_search_by(has_name).is_ok()
            }
            Self::Unknown => true,
        }
    }

    /// Returns all entries; `None` if they are unknown.
    pub(crate) fn entries(&self) -> Option<&[DirectoryEntry]> {
        match self {
            Self::Missing => Some(&[]),
            Self::Entries(entries) => Some(entries),
            Self::Unknown => None,
        }
    }
}

impl PathLookup {
    /// False if the path certainly does not exist.
    pub(crate) fn may_exist(&self, path: &Path) -> bool {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return true;
        };
        self.listing(parent).may_have(name)
    }

    /// Returns the canonical form of the hidden paths that exist.
    pub(crate) fn existing(&self, hidden: &HiddenPaths) -> BTreeSet<PathBuf> {
        let existing = self.hidden(hidden).existing.into_iter();
        existing
            .filter_map(|path| fs::canonicalize(path).ok())
            .collect()
    }

    /// Looks up the hidden paths.
    pub(crate) fn hidden(&self, hidden: &HiddenPaths) -> FoundHidden {
        let mut found = FoundHidden::default();
        let mut pending = vec![(PathBuf::from("/"), hidden.below_root())];
        while let Some((directory, below)) = pending.pop() {
            let listing = self.listing(&directory);
            for name in below.names() {
                if !listing.may_have(name) {
                    continue;
                }
                let path = directory.join(name);
                match below.find(name) {
                    HiddenName::Hidden if path.exists() => found.existing.push(path),
                    HiddenName::Hidden | HiddenName::Visible => {}
                    HiddenName::ContainsHidden(inner) => {
                        if path.is_symlink() {
                            let names = inner.relative_paths();
                            found.behind_links.extend(names.map(|name| path.join(name)));
                        }
                        pending.push((path, inner));
                    }
                }
            }
        }
        found
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

    /// Returns the listing of a directory.
    pub(crate) fn listing(&self, directory: &Path) -> Rc<Listing> {
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
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty()).and_then(Dir::new);
    let entries = match opened {
        Ok(opened) => read_entries(opened, MAX_NAMES),
        Err(Errno::NOENT | Errno::NOTDIR) => return Listing::Missing,
        Err(_) => None,
    };
    let Some(mut entries) = entries else {
        return Listing::Unknown;
    };
    entries.sort_unstable_by(|one, other| order(&one.name, &other.name));
    Listing::Entries(entries)
}

/// Reads the entries of a directory; `None` if they are more than `max`, or cannot be read.
pub(crate) fn read_entries(directory: Dir, max: usize) -> Option<Vec<DirectoryEntry>> {
    let mut entries = Vec::new();
    for entry in directory {
        let entry = entry.ok()?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if entries.len() == max {
            return None;
        }
        entries.push(DirectoryEntry {
            name: name.to_owned(),
            kind: entry.file_type(),
        });
    }
    Some(entries)
}

/// Compares names without regard to case, which the file system may ignore. Most names differ in
/// their length, which is compared first.
fn order(one: &OsStr, other: &OsStr) -> Ordering {
    let by_length = one.len().cmp(&other.len());
    by_length.then_with(|| in_lower_case(one).cmp(in_lower_case(other)))
}

fn in_lower_case(name: &OsStr) -> impl Iterator<Item = u8> {
    name.as_bytes().iter().map(u8::to_ascii_lowercase)
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
        let listing = lookup.listing(&base);
        let entries = listing.entries().unwrap().iter();
        let listed: Vec<(&str, FileType)> = entries
            .map(|entry| (entry.name.to_str().unwrap(), entry.kind))
            .collect();
        let expected = [
            ("a", FileType::Directory),
            ("link", FileType::Symlink),
            ("locked", FileType::Directory),
            ("dangling", FileType::Symlink),
        ];
        assert_eq!(listed, expected);
        let paths = ["a/b", "link/b", "a/c", "dangling"].map(|path| base.join(path));
        let hidden = HiddenPaths::from_iter(paths);
        let existing: Vec<PathBuf> = lookup.existing(&hidden).into_iter().collect();
        assert_eq!(existing, [base.join("a/b")]);
        let found = lookup.hidden(&hidden);
        assert_eq!(found.existing.len(), 2);
        assert_eq!(found.behind_links, [base.join("link/b")]);
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
