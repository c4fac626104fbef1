#![cfg(target_os = "linux")]

use super::super::tests::Repository;
use super::super::{COPY_FILE, MAX_GIT_RUNS, merge};
use super::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Replaces the copy by a directory with entries.
fn fill(repository: &Repository) {
    let copy = repository.redirected.directory.join(COPY_FILE);
    fs::remove_file(&copy).unwrap();
    fs::create_dir_all(copy.join("full/of/entries")).unwrap();
    fs::set_permissions(&copy, Permissions::from_mode(0o0)).unwrap();
}

/// Returns the parent of the directories of the copies.
fn all(repository: &Repository) -> PathBuf {
    let directory = &repository.redirected.directory;
    directory.ancestors().nth(2).unwrap().to_owned()
}

#[test]
fn directory_at_the_path_of_a_copy_is_moved_and_removed_later() {
    let repository = Repository::new();
    let all = all(&repository);
    assert!(!has_entries(&all));
    for _ in 0..3 {
        fill(&repository);
        let dropped = repository.merged();
        assert!(dropped[0].contains("the copy is not a file"), "{dropped:?}");
    }
    assert!(has_entries(&all));
    let moved = fs::read_dir(all.join(DIRECTORY)).unwrap();
    let entries = moved.map(|entry| entry.unwrap().path().join("full/of/entries"));
    // A user needs another mode to see the entries.
    let entries: Vec<PathBuf> = entries
        .inspect(|path| {
            let top = path.ancestors().nth(3).unwrap();
            fs::set_permissions(top, Permissions::from_mode(0o700)).unwrap();
        })
        .collect();
    assert_eq!(entries.len(), 3);
    assert!(entries.iter().all(|path| path.is_dir()), "{entries:?}");
    let removal = Removal::default();
    removal.start(&repository.redirected);
    while removal.is_running.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    assert!(!has_entries(&all));
    assert_eq!(fs::read_dir(all.join(DIRECTORY)).unwrap().count(), 0);
}

#[test]
fn entry_other_than_a_directory_is_removed_at_once() {
    let repository = Repository::new();
    let all = all(&repository);
    let from = PrivateDir::open(&repository.redirected.directory, &[]).unwrap();
    set_aside(&all, "owner", (&from, COPY_FILE)).unwrap();
    assert!(!from.has(COPY_FILE));
    assert_eq!(fs::read_dir(all.join(DIRECTORY)).unwrap().count(), 0);
}

#[test]
fn error_names_the_path_of_a_copy_that_cannot_be_moved() {
    let repository = Repository::new();
    fs::write(all(&repository).join(DIRECTORY), "").unwrap();
    fill(&repository);
    let dropped = merge(&repository.redirected, MAX_GIT_RUNS).dropped;
    let copy = repository.redirected.directory.join(COPY_FILE);
    let copy = copy.display();
    assert!(
        dropped[0].contains(&format!("(cannot replace {copy}: ")) && dropped[0].contains("fuser"),
        "{dropped:?}"
    );
}

/// A call may leave a directory at the path of any draft in its directory.
#[test]
fn copy_is_replaced_whatever_else_its_directory_has() {
    let repository = Repository::new();
    let directory = &repository.redirected.directory;
    fs::create_dir_all(directory.join(format!(".{COPY_FILE}.new/entry"))).unwrap();
    assert_eq!(repository.appended("[alias]\n\ta = b\n"), ["alias.a"]);
}
