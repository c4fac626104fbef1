use super::candidate::MAX_CANDIDATES;
use super::*;
use std::fs;

/// A directory with some files, and a repository.
fn test_directory() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    let at = |path: &str| world.path().join(path);
    for directory in [
        "src/bin", "my files", ".git/refs/heads/fix", ".git/refs/tags", "home/docs", "bin",
    ] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    for file in [
        "src/main.rs", "src/mail.rs", "my files/a'b$", ".hidden", ".git/refs/heads/main",
        ".git/refs/heads/fix/one", ".git/refs/tags/v1", "src/README.md", "home/docs/x",
        "bin/gizmo", "bin/data",
    ] {
        fs::write(at(file), "").unwrap();
    }
    fs::write(
        at(".git/packed-refs"),
        "# pack-refs with: peeled\n00 refs/heads/master\n^00\n00 refs/remotes/origin/far\n00 refs/remotes/origin/HEAD\n",
    )
    .unwrap();
    let config = "[core]\n[remote \"origin\"]\n\turl = x\n  [remote \"fork\"]\n";
    fs::write(at(".git/config"), config).unwrap();
    let makefile = "build-all: x\n\techo\nbuild:\ntest:\n";
    fs::write(at("home/Makefile"), makefile).unwrap();
    let run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(at("bin/gizmo"), run).unwrap();
    world
}

fn found(world: &tempfile::TempDir, before: &str) -> Completion {
    complete(&CompletionInput {
        before: before.to_owned(),
        directory: world.path().to_owned(),
        home: Some(world.path().join("home")),
        path: vec![world.path().join("bin"), world.path().join("missing")],
        defined: vec!["greet".to_owned(), "g".to_owned()],
        variables: ["HOME", "HOSTNAME", "PATH"].map(str::to_owned).to_vec(),
    })
}

#[test]
fn only_candidate_is_inserted_as_bash_reads_it() {
    let world = test_directory();
    for (before, want) in [
        ("cat my", "cat my\\ files/"),
        ("cat my\\ f", "cat my\\ files/"),
        ("cat \"my", "cat \"my files/"),
        ("cat my\\ files/", "cat my\\ files/a\\'b\\$ "),
        ("cat \"my files/", "cat \"my files/a'b\\$\" "),
        ("cat 'my files/", "cat 'my files/a'\\''b$' "),
        ("cat .h", "cat .hidden "),
        ("cat ~/d", "cat ~/docs/"),
        ("cat ~", "cat ~/"),
        ("x --file=src/mai", "x --file=src/mai"),
        ("x --file=src/main", "x --file=src/main.rs "),
        ("cat <src/main", "cat <src/main.rs "),
        ("a; giz", "a; gizmo "),
        ("a; gre", "a; greet "),
        ("bin/", "bin/gizmo "),
        ("!!giz", "!!gizmo "),
        ("echo \"$(giz", "echo \"$(gizmo "),
        ("git checko", "git checkout "),
        ("git switch mai", "git switch main "),
        ("git -C . merge f", "git -C . merge fix/one "),
        ("git merge or", "git merge origin/far "),
        ("git branch -d mas", "git branch -d master "),
        ("git checkout v", "git checkout v1 "),
        ("git add sr", "git add src/"),
        ("git stash po", "git stash pop "),
        ("git stash push sr", "git stash push src/"),
        ("git remote get-url ori", "git remote get-url origin "),
        ("git worktree remove sr", "git worktree remove src/"),
        ("git worktree add sr", "git worktree add src/"),
        ("git worktree add src/x mai", "git worktree add src/x main "),
        ("git bisect good mai", "git bisect good main "),
        ("git tag -d v", "git tag -d v1 "),
        ("git tag new mai", "git tag new main "),
        ("git push o", "git push origin "),
        ("git push -u origin mai", "git push -u origin main "),
        ("git pull origin f", "git pull origin far "),
        ("git fetch ./sr", "git fetch ./src/"),
        ("make sr", "make src/"),
        ("make -C sr", "make -C src/"),
        ("echo $HOS", "echo $HOSTNAME"),
        ("echo \"in ${PA", "echo \"in ${PATH}"),
        ("echo $pat", "echo $PATH"),
        // Without regard to case, if no name matches with case.
        ("cat src/READ", "cat src/README.md "),
        ("cat src/read", "cat src/README.md "),
        ("cat src/MA", "cat src/mai"),
        ("GIZ", "gizmo "),
        ("git SWI", "git switch "),
        ("cd s", "cd src/"),
        // Nothing, or nothing more, fits.
        ("git switch v", "git switch v"),
        ("git stash pop sr", "git stash pop sr"),
        ("git tag v", "git tag v"),
        ("git push sr", "git push sr"),
        ("echo '$HOS", "echo '$HOS"),
        ("cat nothing", "cat nothing"),
        ("cat $x/", "cat $x/"),
        ("echo # sr", "echo # sr"),
        ("dat", "dat"),
    ] {
        let completed = found(&world, before).insertion();
        let completed = completed.map_or_else(
            || before.to_owned(),
            |(start, text)| format!("{}{text}", &before[..start]),
        );
        assert_eq!(completed, want, "{before}");
    }
}

#[test]
fn common_prefix_of_many_candidates_is_inserted_and_all_are_listed() {
    let world = test_directory();
    let completion = found(&world, "cat src/m");
    assert_eq!(completion.insertion(), Some((4, "src/mai".to_owned())));
    let completion = found(&world, "cat src/mai");
    assert_eq!(completion.insertion(), None);
    let labels: Vec<&str> = completion.candidates.iter().map(|it| &*it.label).collect();
    assert_eq!(labels, ["mail.rs", "main.rs"]);
    assert_eq!(
        completion.edit_for(&completion.candidates[1]),
        (4, "src/main.rs ".to_owned())
    );
    // Hidden files only after a dot.
    let names = |before| -> Vec<String> {
        let candidates = found(&world, before).candidates;
        candidates.into_iter().map(|it| it.word).collect()
    };
    assert_eq!(names("cat "), ["bin/", "home/", "my files/", "src/"]);
    assert_eq!(names("cat ."), [".git/", ".hidden"]);
    assert_eq!(names("git switch "), ["fix/one", "main", "master"]);
    assert_eq!(names("git push "), ["fork", "origin"]);
    assert_eq!(names("echo $HO"), ["HOME", "HOSTNAME"]);
    let stash = names("git stash ");
    assert_eq!((&*stash[0], stash.len()), ("apply", 10));
    for nothing in ["git tag ", "git stash pop ", "git remote add "] {
        assert!(names(nothing).is_empty(), "{nothing}");
    }
    assert!(names("").contains(&"gizmo".to_owned()));
}

#[test]
fn make_completes_targets_of_the_makefile() {
    let world = test_directory();
    let directory = world.path().join("home");
    let names = |before: &str| -> Vec<String> {
        let wanted = CompletionInput {
            before: before.to_owned(),
            directory: directory.clone(),
            home: None,
            path: Vec::new(),
            defined: Vec::new(),
            variables: Vec::new(),
        };
        let candidates = complete(&wanted).candidates;
        candidates.into_iter().map(|it| it.word).collect()
    };
    assert_eq!(names("make "), ["build", "build-all", "test"]);
    assert_eq!(names("make test bu"), ["build", "build-all"]);
    // Files are completed, because a pattern rule may make them, and so is the makefile of `-f`.
    assert_eq!(names("make docs/"), ["docs/x"]);
    assert_eq!(names("make -f Make"), ["Makefile"]);
}

#[test]
fn directory_of_very_many_files_is_cut() {
    let world = tempfile::tempdir().unwrap();
    for at in 0..MAX_CANDIDATES + 100 {
        fs::write(world.path().join(format!("file{at}")), "").unwrap();
    }
    let completion = found(&world, "cat f");
    assert!(completion.is_cut);
    assert_eq!(completion.candidates.len(), MAX_CANDIDATES);
}

#[test]
fn commands_are_those_of_bash_and_of_the_path() {
    let world = test_directory();
    let commands = Commands::read(vec![world.path().join("bin")], vec!["greet".to_owned()]);
    for (name, want) in [
        ("gizmo", true),
        ("data", false),
        ("cd", true),
        ("gizm", false),
        ("greet", true),
    ] {
        assert_eq!(commands.contains(name), want, "{name}");
    }
}
