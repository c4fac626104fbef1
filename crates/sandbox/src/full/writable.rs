//! What may be written, as mounts of its own, and what in it stays as it is.

use super::mounts::read_only;
use crate::error::SandboxError;
use rustix::mount::{MountFlags, mount_bind_recursive};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Those that are not within another one.
pub(super) fn outermost<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<&'a Path> {
    // A directory comes before what is within it.
    let sorted: BTreeSet<&Path> = paths.map(PathBuf::as_path).collect();
    let mut roots: Vec<&Path> = Vec::new();
    for path in sorted {
        if !roots.iter().any(|root| path.starts_with(root)) {
            roots.push(path);
        }
    }
    roots
}

/// Gives each a mount of its own, which can stay writable.
pub(super) fn separate(roots: &[&Path]) -> Result<(), SandboxError> {
    roots.iter().try_for_each(|root| onto_itself(root))
}

/// Makes these read-only, as far as they exist, and keeps them where they are.
pub(super) fn protect(roots: &[&Path], protected: &[PathBuf]) -> Result<(), SandboxError> {
    for (path, is_protected) in mounted_over(roots, protected, is_there) {
        onto_itself(path)?;
        if is_protected {
            read_only(path, MountFlags::empty()).map_err(step(path))?;
        }
    }
    Ok(())
}

/// A link cannot have something mounted over it, only what it leads to.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| !meta.is_symlink())
}

/// Which paths become mounts, outer ones first, and which of them are read-only. The directories on the way are
/// mounts too: otherwise one could be moved away, and a copy put in its place.
fn mounted_over<'a>(
    roots: &[&Path],
    protected: &'a [PathBuf],
    is_there: impl Fn(&Path) -> bool,
) -> BTreeMap<&'a Path, bool> {
    let mut mounted = BTreeMap::new();
    for path in protected.iter().filter(|path| is_there(path)) {
        for root in roots.iter().filter(|root| path.starts_with(root)) {
            for ancestor in path.ancestors().skip(1).take_while(|a| a != root) {
                mounted.entry(ancestor).or_insert(false);
            }
            mounted.insert(path, true);
        }
    }
    mounted
}

fn onto_itself(path: &Path) -> Result<(), SandboxError> {
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
    fn directories_on_the_way_to_a_protected_path_are_mounts() {
        let protected = ["/w/.git/hooks", "/w/.git/config", "/w/gone", "/x/y"].map(PathBuf::from);
        let there = |path: &Path| path != Path::new("/w/gone");
        let mounted = mounted_over(&[Path::new("/w")], &protected, there);
        let expected = [
            ("/w/.git", false),
            ("/w/.git/config", true),
            ("/w/.git/hooks", true),
        ];
        assert!(
            mounted
                .into_iter()
                .eq(expected.map(|(path, is)| (Path::new(path), is)))
        );
    }
}
