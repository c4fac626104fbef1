//! Makes writable directories separate mounts, and protects paths in them.

use super::mounts::make_one_read_only;
use crate::error::SandboxError;
use crate::path_lookup::PathLookup;
use agent_bash_core::sandbox::{Plan, RedirectedFile};
use rustix::fs::CWD;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, mount_bind_recursive, move_mount, open_tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Returns the paths that are not inside another of these paths.
pub(super) fn outermost<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<&'a Path> {
    // A directory sorts before its entries.
    let sorted: BTreeSet<&Path> = paths.map(PathBuf::as_path).collect();
    let mut roots: Vec<&Path> = Vec::new();
    for path in sorted {
        if !roots.iter().any(|root| path.starts_with(root)) {
            roots.push(path);
        }
    }
    roots
}

/// Makes each path a separate mount, which can stay writable.
pub(super) fn separate(roots: &[&Path]) -> Result<(), SandboxError> {
    roots.iter().try_for_each(|root| bind_to_itself(root))
}

/// Mounts private directories over others.
pub(super) fn cover(mounts: &[(PathBuf, PathBuf)]) -> Result<(), SandboxError> {
    let mut mounts = mounts.iter();
    mounts.try_for_each(|(private, covered)| {
        mount_bind_recursive(private, covered).map_err(step(covered))
    })
}

/// Makes the existing protected paths read-only. Protected paths, writable paths within them, and
/// the directories of the paths that will be `covered`, cannot be moved.
pub(super) fn protect(
    roots: &[&Path],
    plan: &Plan,
    covered: &BTreeSet<PathBuf>,
    lookup: &PathLookup,
) -> Result<(), SandboxError> {
    let is_mountable = |path: &Path| lookup.may_exist(path) && is_mountable(path);
    let mut mounted = mount_points(roots, &plan.writable, &plan.protected, is_mountable);
    for path in covered {
        for root in roots {
            add_directories(&mut mounted, path, root);
        }
    }
    for (path, is_protected) in mounted {
        bind_to_itself(path)?;
        if is_protected {
            make_one_read_only(path).map_err(step(path))?;
        }
    }
    Ok(())
}

/// Mounts the symbolic link over its protected file. Unlike a file that is mounted there, the copy
/// to which the link leads can be replaced by a rename.
pub(super) fn redirect(redirected: &RedirectedFile) -> rustix::io::Result<()> {
    // A missing copy would look like a missing file.
    rustix::fs::stat(&redirected.link)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let link = open_tree(CWD, &redirected.link, flags)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(&link, "", CWD, &redirected.file, flags)
}

/// True if the path exists and is not a link. A mount over a link would cover the link's target
/// instead.
fn is_mountable(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| !meta.is_symlink())
}

/// Returns the paths that become mounts, outer ones first, with true for read-only ones. The
/// directories between them are mounts as well: otherwise such a directory could be moved away and
/// replaced by a copy.
fn mount_points<'a>(
    roots: &[&Path],
    writable: &'a [PathBuf],
    protected: &'a [PathBuf],
    is_mountable: impl Fn(&Path) -> bool,
) -> BTreeMap<&'a Path, bool> {
    let mut mounted = BTreeMap::new();
    let inner = writable
        .iter()
        .filter(|path| !roots.contains(&path.as_path()))
        .map(|path| (path, false));
    let protected = protected.iter().map(|path| (path, true));
    for (path, is_protected) in inner
        .chain(protected)
        .filter(|(path, _)| is_mountable(path))
    {
        for root in roots.iter().filter(|root| path.starts_with(root)) {
            add_directories(&mut mounted, path, root);
            *mounted.entry(path.as_path()).or_insert(false) |= is_protected;
        }
    }
    mounted
}

/// Adds the directories between a root and a path in it: otherwise such a directory could be moved
/// away, and a later call would see what the mount covers. Adds none for other paths.
fn add_directories<'a>(mounted: &mut BTreeMap<&'a Path, bool>, path: &'a Path, root: &Path) {
    let directories = path.ancestors().skip(1);
    for directory in directories.take_while(|it| *it != root && it.starts_with(root)) {
        mounted.entry(directory).or_insert(false);
    }
}

fn bind_to_itself(path: &Path) -> Result<(), SandboxError> {
    mount_bind_recursive(path, path).map_err(step(path))
}

fn step(path: &Path) -> impl FnOnce(rustix::io::Errno) -> SandboxError {
    SandboxError::step(format!("mounting {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_outermost_directories_get_a_mount() {
        let paths = ["/w/sub", "/w", "/ww", "/w"].map(PathBuf::from);
        let roots = outermost(paths.iter());
        assert_eq!(roots, [Path::new("/w"), Path::new("/ww")]);
    }

    #[test]
    fn directories_on_the_way_to_covered_paths_are_mounts() {
        let covered = ["/w", "/w/a/b/secret", "/w/top", "/x/secret"];
        let mut mounted = BTreeMap::new();
        for path in covered.map(Path::new) {
            add_directories(&mut mounted, path, Path::new("/w"));
        }
        let expected = ["/w/a", "/w/a/b"].map(|path| (Path::new(path), false));
        assert_eq!(mounted, BTreeMap::from(expected));
    }

    #[test]
    fn directories_on_the_way_to_protected_and_inner_writable_paths_are_mounts() {
        let protected = ["/w/.git/hooks", "/w/.git/config", "/w/gone", "/x/y"].map(PathBuf::from);
        let writable = ["/w", "/w/a/inner", "/w/.git/config"].map(PathBuf::from);
        let there = |path: &Path| path != Path::new("/w/gone");
        let mounted = mount_points(&[Path::new("/w")], &writable, &protected, there);
        let expected = [
            ("/w/.git", false),
            ("/w/.git/config", true),
            ("/w/.git/hooks", true),
            ("/w/a", false),
            ("/w/a/inner", false),
        ];
        assert!(
            mounted
                .into_iter()
                .eq(expected.map(|(path, is)| (Path::new(path), is)))
        );
    }
}
