//! Follows the symbolic links of a path. A link that a sandboxed call can create would decide where
//! a later call may write.

use super::error::ResolveError;
use super::paths::{canonical, is_too_wide};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The number of links that the kernel follows.
const MAX_LINKS: usize = 40;

/// The target of a path, and the links that lead to the target.
#[derive(Debug)]
pub(super) struct LinkedPath {
    /// The path of each link; only its last name is a link.
    pub(super) links: Vec<PathBuf>,
    /// The directories that `..` leads out of.
    pub(super) directories_left: Vec<PathBuf>,
    /// The path without links.
    pub(super) target: PathBuf,
}

/// Follows a path as the kernel does, as far as it exists. The rest is taken literally.
///
/// # Errors
/// A loop of links, or a directory that cannot be searched.
pub(super) fn follow(path: &Path) -> io::Result<LinkedPath> {
    let (mut links, mut directories_left) = (Vec::new(), Vec::new());
    let mut target = PathBuf::from("/");
    let mut rest: VecDeque<OsString> = names(path).collect();
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            directories_left.push(target.clone());
            target.pop();
            continue;
        }
        let next = target.join(&name);
        let is_link = match fs::symlink_metadata(&next) {
            Ok(found) => found.is_symlink(),
            Err(error) if is_absent(&error) => false,
            Err(error) => return Err(error),
        };
        if !is_link {
            target = next;
            continue;
        }
        if links.len() == MAX_LINKS {
            return Err(rustix::io::Errno::LOOP.into());
        }
        let link_target = fs::read_link(&next)?;
        if link_target.is_absolute() {
            target = PathBuf::from("/");
        }
        for name in names(&link_target).rev() {
            rest.push_front(name);
        }
        links.push(next);
    }
    Ok(LinkedPath {
        links,
        directories_left,
        target,
    })
}

/// Returns the links that lead from the path to its target, and the target. The directory of each
/// is canonical. If the links form a loop, only the path with its directory resolved.
#[must_use]
pub fn links_and_target(path: &Path) -> Vec<PathBuf> {
    match follow(path) {
        Ok(LinkedPath {
            mut links, target, ..
        }) => {
            links.push(target);
            links
        }
        Err(_) => vec![with_resolved_parent(path)],
    }
}

/// Returns the path with its directory resolved, as far as the directory exists. A link as the last
/// name stays a link.
#[must_use]
pub fn with_resolved_parent(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(directory), Some(name)) => {
            let followed = follow(directory).map(|followed| followed.target);
            followed.unwrap_or_else(|_| canonical(directory)).join(name)
        }
        _ => canonical(path),
    }
}

/// True if the path passes through a link in one of these canonical directories, and leads out of
/// that directory.
///
/// # Errors
/// A loop of links, or a directory that cannot be searched.
pub fn leads_out(path: &Path, directories: &[PathBuf]) -> io::Result<bool> {
    let followed = follow(path)?;
    let is_out = |link: &PathBuf| {
        let mut around = directories.iter().filter(|it| link.starts_with(it));
        around.any(|directory| !followed.target.starts_with(directory))
    };
    Ok(followed.links.iter().any(is_out))
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    })
}

/// The directories in which sandboxed calls can create links.
#[derive(Debug)]
pub(super) struct UntrustedDirectories<'a> {
    /// Directories that calls may write or could write earlier; canonical.
    pub(super) directories: Vec<PathBuf>,
    /// The user's home. A repository around it is never a workspace.
    pub(super) home: Option<&'a Path>,
}

/// Refuses a path of the list with this name, if a link of the path is in a directory that calls
/// may write, and the target is outside of that directory.
pub(super) fn check(
    list: &'static str,
    path: &Path,
    followed: &LinkedPath,
    untrusted: &UntrustedDirectories<'_>,
) -> Result<(), ResolveError> {
    let leads_out = |link: &&PathBuf| {
        let listed = untrusted.directories.iter();
        let around = listed.filter(|directory| link.starts_with(directory) && link != directory);
        let repository = repository_around(link, untrusted.home);
        let mut around = around.map(PathBuf::as_path).chain(repository);
        around.any(|directory| !followed.target.starts_with(directory))
    };
    match followed.links.iter().find(leads_out) {
        Some(link) => Err(ResolveError::Link {
            list,
            path: path.to_owned(),
            link: link.clone(),
            target: followed.target.clone(),
        }),
        None => Ok(()),
    }
}

/// Returns the repository around a path. Calls that start below the repository may write it.
fn repository_around<'a>(path: &'a Path, home: Option<&Path>) -> Option<&'a Path> {
    let around = path.ancestors().skip(1);
    around
        .take_while(|directory| !is_too_wide(directory, home))
        .find(|directory| directory.join(".git").symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn follow_finds_links_in_every_component() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        for directory in ["w/a/b", "out/b"] {
            fs::create_dir_all(base.join(directory)).unwrap();
        }
        symlink("../out", base.join("w/relative")).unwrap();
        symlink(base.join("w/relative"), base.join("w/chain")).unwrap();
        symlink("a", base.join("w/inner")).unwrap();
        symlink("loop", base.join("w/loop")).unwrap();
        for (path, target, links) in [
            ("w/a/b", "w/a/b", &[][..]),
            ("w/inner/b", "w/a/b", &["w/inner"]),
            ("w/relative/b", "out/b", &["w/relative"]),
            ("w/chain/b/..", "out", &["w/chain", "w/relative"]),
        ] {
            let followed = follow(&base.join(path)).unwrap();
            assert_eq!(followed.target, base.join(target), "{path}");
            let links: Vec<PathBuf> = links.iter().map(|link| base.join(link)).collect();
            assert_eq!(followed.links, links, "{path}");
            let is_refused = |directories: &[PathBuf]| {
                let untrusted = UntrustedDirectories {
                    directories: directories.to_vec(),
                    home: None,
                };
                check("workspace", Path::new(path), &followed, &untrusted).is_err()
            };
            assert_eq!(
                is_refused(&[base.join("w")]),
                target.starts_with("out"),
                "{path}"
            );
            assert!(!is_refused(&[]), "{path}");
        }
        assert!(follow(&base.join("w/loop")).is_err());
    }

    #[test]
    fn links_and_target_include_missing_targets_and_links_of_directories() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir(base.join("real")).unwrap();
        symlink("real", base.join("first")).unwrap();
        symlink("first/gone", base.join("second")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        for (path, want) in [
            ("real/x", &["real/x"][..]),
            ("second/x", &["second", "first", "real/gone/x"]),
            ("loop", &["loop"]),
        ] {
            let want: Vec<PathBuf> = want.iter().map(|name| base.join(name)).collect();
            assert_eq!(links_and_target(&base.join(path)), want, "{path}");
        }
        let parent = with_resolved_parent(&base.join("second/x"));
        assert_eq!(parent, base.join("real/gone/x"));
    }

    #[test]
    fn check_treats_the_repository_around_a_link_as_writable() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        for directory in ["w/.git", "w/a", "out"] {
            fs::create_dir_all(base.join(directory)).unwrap();
        }
        symlink("../out", base.join("w/link")).unwrap();
        symlink("a", base.join("w/inner")).unwrap();
        let is_refused = |path: &str, home: &str| {
            let followed = follow(&base.join(path)).unwrap();
            let home = base.join(home);
            let untrusted = UntrustedDirectories {
                directories: Vec::new(),
                home: Some(&home),
            };
            check("workspace", Path::new(path), &followed, &untrusted).is_err()
        };
        for (path, refused) in [("w/link", true), ("w/inner", false), ("w/a", false)] {
            assert_eq!(is_refused(path, "out"), refused, "{path}");
        }
        // A home is never a workspace, even if it is a repository.
        assert!(!is_refused("w/link", "w"));
    }
}
