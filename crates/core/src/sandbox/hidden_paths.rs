//! The hidden paths of a plan, existing or not. Most are the same names in several homes, so a
//! plan has these names once.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Files and directories that cannot be read because they hold secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HiddenPaths {
    /// Absolute paths, sorted by their bytes.
    #[serde(with = "crate::os_text::paths")]
    paths: Vec<PathBuf>,
    /// Directories in which all of `names` are hidden; absolute, sorted by their bytes.
    #[serde(with = "crate::os_text::paths")]
    homes: Vec<PathBuf>,
    /// Paths relative to a home, sorted by their bytes.
    #[serde(with = "crate::os_text::paths")]
    names: Vec<PathBuf>,
}

/// The relation of a name in a directory to the hidden paths.
#[derive(Debug)]
pub enum HiddenName<'a> {
    /// A path below the name is hidden.
    ContainsHidden(HiddenBelow<'a>),
    /// The name is hidden.
    Hidden,
    /// Neither the name nor a path below it is hidden.
    Visible,
}

/// The hidden paths below a directory.
#[derive(Debug, Clone)]
pub struct HiddenBelow<'a> {
    names: &'a [PathBuf],
    lists: Vec<PathList<'a>>,
}

/// Sorted paths that begin with the same bytes.
#[derive(Debug, Clone, Copy)]
struct PathList<'a> {
    paths: &'a [PathBuf],
    /// The number of the common bytes.
    skipped: usize,
    /// True if the paths are homes.
    is_of_homes: bool,
}

impl PathList<'_> {
    fn rest<'p>(&self, path: &'p Path) -> &'p [u8] {
        &path.as_os_str().as_bytes()[self.skipped..]
    }

    /// Returns true if the directory has this entry, and the paths below the entry.
    fn enter(&self, name: &OsStr) -> (bool, Self) {
        let name = name.as_bytes();
        let start = self.paths.partition_point(|path| self.rest(path) < name);
        let from = &self.paths[start..];
        let is_listed = from.first().is_some_and(|path| self.rest(path) == name);
        let order = |path: &Path| {
            let rest = self.rest(path);
            let (head, tail) = rest.split_at(name.len().min(rest.len()));
            head.cmp(name)
                .then_with(|| tail.first().copied().unwrap_or(0).cmp(&b'/'))
        };
        let start = from.partition_point(|path| order(path).is_lt());
        let end = from.partition_point(|path| order(path).is_le());
        let below = Self {
            paths: &from[start..end],
            skipped: self.skipped + name.len() + 1,
            ..*self
        };
        (is_listed, below)
    }
}

impl<'a> HiddenBelow<'a> {
    /// Adds these absolute paths, which are sorted by their bytes.
    #[must_use]
    pub fn with(mut self, paths: &'a [PathBuf]) -> Self {
        self.lists.push(PathList {
            paths,
            skipped: 1,
            is_of_homes: false,
        });
        self
    }

    /// Returns the relation of this name in the directory to the hidden paths.
    pub fn find(&self, name: &OsStr) -> HiddenName<'a> {
        let mut lists = Vec::new();
        for list in &self.lists {
            let (is_listed, below) = list.enter(name);
            if is_listed && !list.is_of_homes {
                return HiddenName::Hidden;
            }
            if is_listed {
                lists.push(name_list(self.names));
            }
            lists.push(below);
        }
        lists.retain(|list| !list.paths.is_empty());
        if lists.is_empty() {
            return HiddenName::Visible;
        }
        HiddenName::ContainsHidden(HiddenBelow {
            names: self.names,
            lists,
        })
    }

    /// Returns the names in the directory that are hidden or contain hidden paths, some of them
    /// several times.
    pub fn names(&self) -> impl Iterator<Item = &'a OsStr> {
        self.lists.iter().flat_map(|list| {
            let (list, mut previous) = (*list, None);
            list.paths.iter().filter_map(move |path| {
                let name = list.rest(path).split(|byte| *byte == b'/').next()?;
                (previous.replace(name) != Some(name)).then_some(OsStr::from_bytes(name))
            })
        })
    }

    /// Returns the hidden paths below the directory, relative to the directory, except those of
    /// homes in the directory.
    pub fn relative_paths(&self) -> impl Iterator<Item = &'a Path> {
        let lists = self.lists.iter().filter(|list| !list.is_of_homes);
        lists.flat_map(|list| {
            let list = *list;
            let rest = move |path: &'a PathBuf| Path::new(OsStr::from_bytes(list.rest(path)));
            list.paths.iter().map(rest)
        })
    }
}

fn name_list(names: &[PathBuf]) -> PathList<'_> {
    PathList {
        paths: names,
        skipped: 0,
        is_of_homes: false,
    }
}

impl HiddenPaths {
    /// Hides the absolute `paths`, and the relative `names` in each of the `homes`.
    pub fn new(paths: Vec<PathBuf>, homes: Vec<PathBuf>, names: Vec<PathBuf>) -> Self {
        let mut hidden = Self {
            paths,
            homes,
            names,
        };
        hidden.sort();
        hidden
    }

    fn sort(&mut self) {
        for list in [&mut self.paths, &mut self.homes, &mut self.names] {
            list.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
            list.dedup();
        }
    }

    /// Hides further absolute paths.
    pub fn extend(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let former_count = self.paths.len();
        self.paths.extend(paths);
        if self.paths.len() > former_count {
            self.sort();
        }
    }

    /// Returns the hidden paths below `/`.
    pub fn below_root(&self) -> HiddenBelow<'_> {
        let list = |paths, is_of_homes| PathList {
            paths,
            skipped: 1,
            is_of_homes,
        };
        let mut lists = vec![list(&self.paths, false)];
        match self.homes.split_first() {
            // Sorts first. The root has no name, so the list of homes does not have it.
            Some((root, homes)) if root == Path::new("/") => {
                lists.extend([name_list(&self.names), list(homes, true)]);
            }
            _ => lists.push(list(&self.homes, true)),
        }
        HiddenBelow {
            names: &self.names,
            lists,
        }
    }

    /// Returns the hidden path that is this absolute path or a directory above it; the outermost
    /// of several.
    pub fn hiding(&self, path: &Path) -> Option<PathBuf> {
        self.walk(path).err()
    }

    /// True if this absolute path, a directory above it or a path below it is hidden.
    pub fn overlap(&self, path: &Path) -> bool {
        self.walk(path).map_or(true, |below| below.is_some())
    }

    /// Returns the hidden paths below a path, or as an error the entry that hides the path.
    fn walk(&self, path: &Path) -> Result<Option<HiddenBelow<'_>>, PathBuf> {
        let mut below = self.below_root();
        let mut walked = PathBuf::from("/");
        for part in path.components() {
            let Component::Normal(name) = part else {
                continue;
            };
            walked.push(name);
            match below.find(name) {
                HiddenName::Hidden => return Err(walked),
                HiddenName::Visible => return Ok(None),
                HiddenName::ContainsHidden(inner) => below = inner,
            }
        }
        Ok(Some(below))
    }

    /// Removes the entries that are this directory, or are below it.
    pub fn show_below(&mut self, directory: &Path) {
        self.homes.retain(|home| !home.starts_with(directory));
        self.list_names_of(|home, names| {
            let shown = directory.strip_prefix(home);
            shown.is_ok_and(|shown| names.iter().any(|name| name.starts_with(shown)))
        });
        self.paths.retain(|path| !path.starts_with(directory));
    }

    /// Removes the entries that hide this path.
    pub fn show(&mut self, path: &Path) {
        self.list_names_of(|home, names| {
            let shown = path.strip_prefix(home);
            shown.is_ok_and(|shown| names.iter().any(|name| shown.starts_with(name)))
        });
        self.paths.retain(|hidden| !path.starts_with(hidden));
    }

    /// Replaces each home for which `is_affected` by its hidden paths.
    fn list_names_of(&mut self, is_affected: impl Fn(&Path, &[PathBuf]) -> bool) {
        let (affected, homes): (Vec<_>, _) = std::mem::take(&mut self.homes)
            .into_iter()
            .partition(|home| is_affected(home, &self.names));
        self.homes = homes;
        for home in &affected {
            self.paths
                .extend(self.names.iter().map(|name| home.join(name)));
        }
        if !affected.is_empty() {
            self.sort();
        }
    }
}

impl FromIterator<PathBuf> for HiddenPaths {
    fn from_iter<I: IntoIterator<Item = PathBuf>>(paths: I) -> Self {
        Self::new(paths.into_iter().collect(), Vec::new(), Vec::new())
    }
}

impl From<Vec<PathBuf>> for HiddenPaths {
    fn from(paths: Vec<PathBuf>) -> Self {
        paths.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden() -> HiddenPaths {
        let list = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        HiddenPaths::new(
            list(&[
                "/etc/shadow", "/etc/shadow-", "/srv/a/b", "/srv/a-b", "/srv/a/c",
            ]),
            list(&["/home/u", "/home/u/inner"]),
            list(&[
                ".ssh", ".ssh/keys", ".config/gh", ".config-x", ".config/a/b",
            ]),
        )
    }

    #[test]
    fn hiding_returns_the_outermost_entry() {
        let hidden = hidden();
        for (path, entry) in [
            ("/etc/shadow", Some("/etc/shadow")),
            ("/etc/shadow/x", Some("/etc/shadow")),
            ("/etc/shadow-x", None),
            ("/srv/a", None),
            ("/srv/a/c/d", Some("/srv/a/c")),
            ("/srv/a-b/", Some("/srv/a-b")),
            ("/home/u/.ssh/keys/x", Some("/home/u/.ssh")),
            ("/home/u/.config/gh/x", Some("/home/u/.config/gh")),
            ("/home/u/.config/x", None),
            ("/home/u/.config-x", Some("/home/u/.config-x")),
            (
                "/home/u/inner/.config/a/b",
                Some("/home/u/inner/.config/a/b"),
            ),
            ("/home/v/.ssh", None),
            ("/", None),
        ] {
            let found = hidden.hiding(Path::new(path));
            assert_eq!(found.as_deref(), entry.map(Path::new), "{path}");
        }
    }

    #[test]
    fn overlap_includes_directories_of_hidden_paths() {
        let hidden = hidden();
        for (path, overlaps) in [
            ("/", true),
            ("/srv/a", true),
            ("/srv/a/b/c", true),
            ("/srv/b", false),
            ("/home", true),
            ("/home/u", true),
            ("/home/u/.config", true),
            ("/home/u/.config/a", true),
            ("/home/u/.cache", false),
        ] {
            assert_eq!(hidden.overlap(Path::new(path)), overlaps, "{path}");
        }
        assert!(!HiddenPaths::default().overlap(Path::new("/srv")));
    }

    #[test]
    fn names_and_relative_paths_are_those_below_the_directory() {
        let hidden = hidden();
        let names = |below: &HiddenBelow<'_>| -> Vec<String> {
            let names = below.names().map(|name| name.display().to_string());
            let names: std::collections::BTreeSet<String> = names.collect();
            names.into_iter().collect()
        };
        let root = hidden.below_root();
        assert_eq!(names(&root), ["etc", "home", "srv"]);
        let found = root.find(OsStr::new("home"));
        assert!(matches!(found, HiddenName::ContainsHidden(_)));
        let Ok(Some(home)) = hidden.walk(Path::new("/home/u")) else {
            panic!("the home is not hidden");
        };
        assert_eq!(names(&home), [".config", ".config-x", ".ssh", "inner"]);
        let Ok(Some(config)) = hidden.walk(Path::new("/home/u/.config")) else {
            panic!("the directory is not hidden");
        };
        assert_eq!(names(&config), ["a", "gh"]);
        let relative: Vec<&Path> = config.relative_paths().collect();
        assert_eq!(relative, [Path::new("a/b"), Path::new("gh")]);
    }

    #[test]
    fn shown_paths_leave_the_other_names_hidden() {
        let mut shown = hidden();
        shown.show_below(Path::new("/home/u/.config"));
        shown.show(Path::new("/home/u/inner/.ssh/x"));
        for (path, is_hidden) in [
            ("/home/u/.config/gh", false),
            ("/home/u/.ssh", true),
            ("/home/u/inner/.ssh", false),
            ("/home/u/inner/.config/gh", true),
        ] {
            assert_eq!(shown.hiding(Path::new(path)).is_some(), is_hidden, "{path}");
        }
        shown.show_below(Path::new("/home"));
        assert!(!shown.overlap(Path::new("/home")) && shown.overlap(Path::new("/etc")));
    }

    #[test]
    fn root_as_home_hides_names_below_it() {
        let hidden = HiddenPaths::new(Vec::new(), vec!["/".into()], vec![".ssh".into()]);
        let entry = hidden.hiding(Path::new("/.ssh/x"));
        assert_eq!(entry.as_deref(), Some(Path::new("/.ssh")));
        assert!(!hidden.overlap(Path::new("/srv")));
    }
}
