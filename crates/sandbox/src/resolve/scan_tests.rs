use super::version::Time;
use super::*;
use crate::resolve::git_index::tests::{index, with_submodule};
use agent_bash_core::sandbox::WriteLevel;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::Duration;

fn plan(root: &Path) -> Plan {
    Plan {
        writable: vec![root.to_owned()],
        ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
    }
}

/// A call's change of a workspace.
type Change<'a> = &'a dyn Fn(&Path);

/// Returns the paths, relative to the workspace, that are reported after these changes of the user
/// and of a call.
fn reported(user: Change<'_>, call: Change<'_>) -> Vec<String> {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    for directory in [
        ".git/objects/ab", ".git/refs/heads", ".git/logs/refs", "src",
    ] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    user(&root);
    let plan = plan(&root);
    let before = NameScan::of(&plan, &NameScan::default(), &|| false);
    call(&root);
    let now = before.again(&plan, &|| false);
    let changed = before.changed(&now, &plan, (0, 0), false);
    let below = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
    changed.iter().map(below).collect()
}

/// Writes a file, and creates its directory.
fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn names_that_are_not_utf_8_are_reported_and_protected() {
    let name = OsStr::from_bytes(b"caf\xe9.code-workspace");
    let found = reported(&|_| {}, &|root| write(&root.join(name), "x"));
    assert_eq!(found, ["caf\u{fffd}.code-workspace"]);
    let temp = tempfile::tempdir().unwrap();
    write(&temp.path().join(name), "x");
    let directories = BTreeSet::from([temp.path().to_owned()]);
    let protected = protected_at(&directories, Tier::Full);
    assert_eq!(protected, [temp.path().join(name)]);
}

/// The scan skips the directories of git's objects, but a `.git` file can name one of them.
#[test]
fn new_link_in_a_repository_among_objects_is_reported() {
    let link = ".git/objects/ab/ORIG_HEAD";
    let plant = |root: &Path| symlink("/outside/.bashrc", root.join(link)).unwrap();
    let users = |root: &Path| {
        repository(&root.join(".git/objects/ab"));
        write(&root.join("lib/.git"), "gitdir: ../.git/objects/ab\n");
    };
    assert_eq!(reported(&users, &plant), [link]);
    assert_eq!(reported(&|_| {}, &plant), [""; 0]);
}

/// Root can list every directory, so the test adds the entry of such a directory itself.
#[test]
fn directory_that_could_not_be_listed_is_reported_before_and_afterwards() {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    let closed = root.join("closed");
    fs::create_dir(&closed).unwrap();
    let plan = plan(&root);
    let listed = NameScan::of(&plan, &NameScan::default(), &|| false);
    let mut unlisted = NameScan::of(&plan, &NameScan::default(), &|| false);
    unlisted.directories.remove(&closed);
    let version = FileVersion::at(&closed).unwrap().without_time();
    unlisted.files.insert(closed.clone(), version);
    let changed = |before: &NameScan, now| before.changed(now, &plan, (0, 0), false);
    assert_eq!(changed(&listed, &unlisted), std::slice::from_ref(&closed));
    assert_eq!(changed(&unlisted, &listed), [closed]);
    assert!(changed(&unlisted, &unlisted).is_empty());
}

#[test]
fn new_links_in_a_repository_are_reported() {
    let link = |root: &Path, name: &str| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink("/outside/.bashrc", path).unwrap();
    };
    let bare = |root: &Path| {
        for name in ["store/objects/ab", "store/refs/heads"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("store/HEAD"), "ref: refs/heads/main\n").unwrap();
    };
    for (name, is_reported) in [
        (".git/COMMIT_EDITMSG", true),
        (".git/logs/HEAD", true),
        (".git/logs/refs/heads/a/b", true),
        (".git/logs/refs/heads/objects/ab/c", true),
        (".git/logs/AGENTS.md", true),
        (".git/objects/info/commit-graph", true),
        (".git/objects/cd", true),
        (".git/worktrees/side/ORIG_HEAD", true),
        (".git/modules/lib/FETCH_HEAD", true),
        ("store/packed-refs", true),
        ("store/refs/heads/main", true),
        // Links that git does not write through.
        (".git/objects/ab/cdef", false),
        ("src/link", false),
    ] {
        let want = if is_reported { vec![name] } else { Vec::new() };
        assert_eq!(reported(&bare, &|root| link(root, name)), want, "{name}");
        // A file is not reported, and neither is the user's link.
        let file = reported(&bare, &|root| write(&root.join(name), "x"));
        assert_eq!(file, [""; 0], "{name}");
        let users = |root: &Path| {
            bare(root);
            link(root, name);
        };
        let other = reported(&users, &|root| write(&root.join(".git/other"), "x"));
        assert_eq!(other, [""; 0], "{name}");
    }
}

#[test]
fn hooks_of_a_submodule_in_a_linked_worktree_are_reported() {
    let module = ".git/worktrees/side/modules/lib";
    let user = |root: &Path| {
        for name in ["objects", "refs"] {
            fs::create_dir_all(root.join(module).join(name)).unwrap();
        }
        write(&root.join(module).join("HEAD"), "ref: refs/heads/main\n");
    };
    for (name, is_reported) in [("hooks/post-checkout", true), ("ORIG_HEAD", false)] {
        let path = format!("{module}/{name}");
        let want = if is_reported {
            vec![path.as_str()]
        } else {
            Vec::new()
        };
        let found = reported(&user, &|root| write(&root.join(&path), "x"));
        assert_eq!(found, want, "{name}");
    }
}

#[test]
fn names_are_scanned_before_the_directories_of_a_repository() {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    for name in [".git/a/AGENTS.md", "pkg/AGENTS.md"] {
        write(&root.join(name), "x");
    }
    let visits = std::cell::Cell::new(0);
    let is_over = || visits.replace(visits.get() + 1) == 2;
    let scan = NameScan::of(&plan(&root), &NameScan::default(), &is_over);
    let directories: Vec<&PathBuf> = scan.directories.keys().collect();
    assert_eq!(directories, [&root, &root.join("pkg")]);
}

#[test]
fn link_among_very_many_files_of_a_repository_is_reported() {
    let many = |root: &Path| {
        for number in 0..MAX_ENTRIES {
            fs::File::create(root.join(format!(".git/{number}"))).unwrap();
        }
    };
    let name = ".git/COMMIT_EDITMSG";
    let found = reported(&many, &|root| symlink("/outside", root.join(name)).unwrap());
    assert_eq!(found, [name]);
}

/// Returns the start of a call in the file system's time, later than all earlier changes.
#[expect(
    clippy::disallowed_methods,
    reason = "the file system's time has to pass"
)]
fn start_of_call(root: &Path) -> Time {
    std::thread::sleep(Duration::from_millis(50));
    fs::write(root.join("start"), "").unwrap();
    FileVersion::at(&root.join("start")).unwrap().changed
}

#[test]
fn links_in_a_new_repository_are_reported_only_if_they_are_new() {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    fs::create_dir(root.join("src")).unwrap();
    symlink("/outside", root.join("src/users")).unwrap();
    let plan = plan(&root);
    let before = NameScan::of(&plan, &NameScan::default(), &|| false);
    let since = start_of_call(&root);
    for name in ["objects", "refs"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    fs::write(root.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    symlink("/outside", root.join("src/new")).unwrap();
    let now = before.again(&plan, &|| false);
    let changed = before.changed(&now, &plan, since, false);
    assert_eq!(changed, ["HEAD", "src/new"].map(|name| root.join(name)));
}

/// The host reuses the scan after an earlier call, so that only changes since the call's start
/// count.
#[test]
fn link_that_is_moved_into_a_repository_with_its_directory_is_reported() {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    for directory in [".git/logs", "x/refs/heads", "y/refs/heads"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for name in ["x/refs/heads/main", "y/refs/heads/main"] {
        symlink("/outside", root.join(name)).unwrap();
    }
    let plan = plan(&root);
    let before = NameScan::of(&plan, &NameScan::default(), &|| false);
    let since = start_of_call(&root);
    fs::rename(root.join("x"), root.join(".git/new")).unwrap();
    fs::remove_dir(root.join(".git/logs")).unwrap();
    fs::rename(root.join("y"), root.join(".git/logs")).unwrap();
    let now = before.again(&plan, &|| false);
    let want = [".git/logs/refs/heads/main", ".git/new/refs/heads/main"];
    let changed = before.changed(&now, &plan, since, true);
    assert_eq!(changed, want.map(|name| root.join(name)));
    assert!(now.changed(&now, &plan, since, true).is_empty());
}

/// Names in a directory of dependencies do not count, and a move changes no file in the directory.
#[test]
fn names_that_are_moved_with_a_directory_of_dependencies_are_reported() {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    let names = ["pkg/sub/.envrc", "pkg/sub/.vscode/tasks.json"];
    for name in names {
        write(&root.join("node_modules").join(name), "x");
    }
    repository(&root.join("node_modules/pkg/lib/.git"));
    let plan = plan(&root);
    let before = NameScan::of(&plan, &NameScan::default(), &|| false);
    let since = start_of_call(&root);
    fs::rename(root.join("node_modules/pkg"), root.join("pkg")).unwrap();
    let now = before.again(&plan, &|| false);
    let changed = before.changed(&now, &plan, since, true);
    for name in names.into_iter().chain(["pkg/lib/.git"]) {
        assert!(changed.contains(&root.join(name)), "{name}: {changed:?}");
    }
    assert!(now.changed(&now, &plan, since, true).is_empty());
}

#[test]
fn names_below_a_top_that_looks_like_a_repository_are_reported() {
    let bare = |root: &Path| {
        fs::create_dir_all(root.join("objects/ab")).unwrap();
        fs::create_dir_all(root.join("refs")).unwrap();
        fs::write(root.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    };
    let names = [
        "hooks/.vscode", "objects/ab/.envrc", "pkg/.vscode", "pkg/AGENTS.md",
    ];
    let wrote = |root: &Path| {
        for name in names {
            write(&root.join(name), "x");
        }
        write(&root.join("pkg/main.rs"), "x");
    };
    let nothing: Change<'_> = &|_| {};
    for user in [nothing, &bare] {
        let both = |root: &Path| {
            bare(root);
            wrote(root);
        };
        let mut found = reported(user, &both);
        found.retain(|name| name != "HEAD");
        found.sort();
        // The file in `hooks` is also a hook of the repository.
        assert_eq!(found, names);
    }
}

#[test]
fn steps_that_run_programs_are_reported_and_so_are_those_that_cannot_be_read() {
    let steps = "rebase-merge/git-rebase-todo";
    let strategy = "rebase-merge/strategy";
    let options = "sequencer/opts";
    let patches = "rebase-apply/apply-opt";
    let long = "# x\n".repeat(300_000);
    for (name, text, is_reported) in [
        (steps, "pick abc exec\n", false),
        (steps, "break\nexec id\n", true),
        (steps, "x\tid\n", true),
        (steps, &*long, true),
        (strategy, "ort\n", false),
        (strategy, "resolve", false),
        (strategy, "x/y\n", true),
        (strategy, " ort\n", true),
        ("rebase-merge/strategy_opts", "\"patience\"\n", false),
        (
            options,
            "[options]\n\tsignoff = true\n\tstrategy-option = patience\n",
            false,
        ),
        (
            options,
            "[options]\n\tstrategy-option = a\n\tStrategy = x/y\n",
            true,
        ),
        (options, "[options]strategy=x/y", true),
        (patches, " '-p1' '--directory=build'\n", false),
        (patches, " '--build-fake-ancestor=/x'\n", true),
        (patches, " '-p1' '--build' '/x'\n", true),
    ] {
        for git in [".git", ".git/worktrees/side"] {
            let path = format!("{git}/{name}");
            let want = if is_reported {
                vec![path.as_str()]
            } else {
                Vec::new()
            };
            let found = reported(&|_| {}, &|root| write(&root.join(&path), text));
            assert_eq!(found, want, "{path}: {}", &text[..text.len().min(40)]);
        }
    }
    // A longer file that stays is not reported.
    let todo = format!(".git/{steps}");
    let users = |root: &Path| write(&root.join(&todo), &long);
    let other = reported(&users, &|root| write(&root.join("src/main.rs"), "x"));
    assert_eq!(other, [""; 0]);
    let appended = |root: &Path| write(&root.join(&todo), format!("{long}exec id\n"));
    assert_eq!(reported(&users, &appended), std::slice::from_ref(&todo));
}

#[test]
fn index_with_a_path_in_a_repository_is_reported() {
    let repositories = |root: &Path| {
        for git in [".git/modules/lib", "nested/.git", "store"] {
            for directory in ["objects", "refs"] {
                fs::create_dir_all(root.join(git).join(directory)).unwrap();
            }
            fs::write(root.join(git).join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
    };
    let planted = index(2, 20, &[".git/x", "a"]);
    let ordinary = index(2, 20, &["a", "b.git/HEAD"]);
    for name in [
        ".git/index", ".git/sharedindex.ab", ".git/worktrees/side/index", ".git/modules/lib/index",
        "nested/.git/index", "store/index",
    ] {
        let found = reported(&repositories, &|root| write(&root.join(name), &planted));
        assert_eq!(found, [name]);
        let found = reported(&repositories, &|root| write(&root.join(name), &ordinary));
        assert_eq!(found, [""; 0], "{name}");
        let users = |root: &Path| {
            repositories(root);
            write(&root.join(name), &planted);
        };
        let found = reported(&users, &|root| write(&root.join("src/main.rs"), "x"));
        assert_eq!(found, [""; 0], "{name}");
        let removed = reported(&users, &|root| fs::remove_file(root.join(name)).unwrap());
        assert_eq!(removed, [""; 0], "{name}");
    }
}

#[test]
fn worktree_of_a_directory_that_is_no_repository_is_reported() {
    let worktree = |root: &Path, common: &str| {
        write(
            &root.join(format!("{common}/worktrees/n/commondir")),
            "../..\n",
        );
        let text = format!("gitdir: ../{common}/worktrees/n\n");
        write(&root.join("sub/.git"), text);
    };
    let planted = reported(&|_| {}, &|root| worktree(root, "other"));
    assert_eq!(planted, ["sub/.git", "other/worktrees/n/commondir"]);
    let gits = reported(&|_| {}, &|root| worktree(root, ".git"));
    assert_eq!(gits, [""; 0]);
}

/// Creates a repository without a configuration.
fn repository(git_dir: &Path) {
    for name in ["objects", "refs"] {
        fs::create_dir_all(git_dir.join(name)).unwrap();
    }
    write(&git_dir.join("HEAD"), "ref: refs/heads/main\n");
}

/// A git at the top enters the submodules of its index. So it runs what their configuration names.
#[test]
fn submodules_that_the_scan_does_not_reach_are_compared() {
    let many = |root: &Path| {
        for number in 0..=MAX_DIRECTORIES {
            fs::create_dir(root.join(format!("many{number}"))).unwrap();
        }
    };
    let nested = |root: &Path| repository(&root.join("far/a/b/.git"));
    let change = |root: &Path| write(&root.join("far/a/b/.git/config"), "[core]\n");
    let list = |root: &Path, path: &str| {
        let index = with_submodule(index(2, 20, &[path]));
        write(&root.join(".git/index"), index);
    };
    for (path, want) in [
        ("far/a/b", &["far/a/b/.git/config"][..]),
        ("far/other", &[]),
    ] {
        let users = |root: &Path| {
            many(root);
            nested(root);
            list(root, path);
        };
        assert_eq!(reported(&users, &change), want, "{path}");
    }
    let all = |root: &Path| {
        many(root);
        nested(root);
        list(root, "far/a/b");
    };
    assert_eq!(reported(&|_| {}, &all), ["far/a/b/.git"]);
}

/// The git directory of a submodule is found in `modules`, and by the submodule's tree.
#[test]
fn index_of_a_submodule_is_read_once() {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    for (git_dir, path) in [(".git", "sub"), (".git/modules/sub", "in")] {
        repository(&root.join(git_dir));
        let index = with_submodule(index(2, 20, &[path]));
        write(&root.join(git_dir).join("index"), index);
    }
    repository(&root.join("sub/in/.git"));
    let config = "[core]\n\tworktree = ../../../sub\n";
    write(&root.join(".git/modules/sub/config"), config);
    write(&root.join("sub/.git"), "gitdir: ../.git/modules/sub\n");
    let mut repositories = Repositories::of(&plan(&root));
    repositories.add(&root.join(".git"));
    let listed = std::cell::RefCell::new(Vec::new());
    let is_scanned = |tree: &Path| {
        listed.borrow_mut().push(tree.to_owned());
        false
    };
    repositories.add_submodules(&ListedSubmodules::new(), is_scanned);
    assert_eq!(*listed.borrow(), ["sub", "sub/in"].map(|it| root.join(it)));
}

/// Returns the directories, relative to the workspace, that are named as not compared after these
/// changes of the user and of a call.
fn uncompared(user: Change<'_>, call: Change<'_>) -> Vec<(String, u64)> {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    user(&root);
    let plan = plan(&root);
    let before = NameScan::of(&plan, &NameScan::default(), &|| false);
    call(&root);
    let now = before.again(&plan, &|| false);
    let below = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
    let found = before.uncompared(&now);
    // The host uses the scan after a call again, and names a directory once.
    assert!(now.uncompared(&now.again(&plan, &|| false)).is_empty());
    found
        .iter()
        .map(|(path, count)| (below(path), *count))
        .collect()
}

#[test]
fn directories_that_a_call_fills_beyond_the_limits_are_named() {
    let nothing: Change<'_> = &|_| {};
    let names = |count: usize| {
        move |root: &Path| {
            fs::create_dir_all(root.join("big")).unwrap();
            for number in 0..count {
                fs::File::create(root.join(format!("big/{number}"))).unwrap();
            }
        }
    };
    let directories = |count: usize| {
        move |root: &Path| {
            for number in 0..count {
                fs::create_dir_all(root.join(format!("many/{number}/in"))).unwrap();
            }
        }
    };
    let few = directories(MAX_DIRECTORIES / 2 - 1);
    let many = directories(MAX_DIRECTORIES / 2 + 5);
    let too_many = names(MAX_ENTRIES + 1);
    assert_eq!(uncompared(nothing, &names(MAX_ENTRIES)), []);
    assert_eq!(uncompared(nothing, &too_many), [("big".to_owned(), 0)]);
    assert_eq!(uncompared(nothing, &few), []);
    assert_eq!(uncompared(nothing, &many), [("many".to_owned(), 12)]);
    assert_eq!(uncompared(&few, &many), [("many".to_owned(), 12)]);
    // Directories that were too full before the call are not named.
    assert_eq!(
        uncompared(&many, &|root| write(&root.join("many/new"), "")),
        []
    );
}

#[test]
fn directories_are_named_once_although_each_scan_before_a_call_is_cut_short() {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    for number in 0..MAX_DIRECTORIES {
        fs::create_dir_all(root.join(format!("many/{number}"))).unwrap();
    }
    let plan = plan(&root);
    let before = |earlier: &NameScan| NameScan::of(&plan, earlier, &|| true);
    let first = before(&NameScan::default());
    let after = first.again(&plan, &|| false);
    assert_eq!(first.uncompared(&after), [(root.join("many"), 2)]);
    let second = before(&after);
    assert_eq!(second.uncompared(&second.again(&plan, &|| false)), []);
}

#[test]
fn very_many_modules_hide_no_other_repository() {
    let modules = |root: &Path| {
        for number in 0..250 {
            write(&root.join(format!(".git/modules/{number}/HEAD")), "");
        }
    };
    let change = |root: &Path| write(&root.join("lib/.git/hooks/post-checkout"), "");
    let lib = |root: &Path| repository(&root.join("lib/.git"));
    let both = |root: &Path| {
        modules(root);
        change(root);
    };
    let hook = "lib/.git/hooks/post-checkout";
    assert_eq!(reported(&lib, &both), [".git/modules", hook]);
    let users = |root: &Path| {
        lib(root);
        modules(root);
    };
    assert_eq!(reported(&users, &change), [hook]);
}
