use super::*;
use std::fs;

/// A home with a repository in which `main/.git/hooks` exists.
struct Home {
    _temp: tempfile::TempDir,
    path: PathBuf,
}

impl Home {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = canonical(temp.path());
        let home = Self { _temp: temp, path };
        for directory in ["main/.git/hooks", "main/src", "plain", ".ssh"] {
            home.make(directory);
        }
        home
    }

    fn make(&self, directory: &str) {
        fs::create_dir_all(self.path.join(directory)).unwrap();
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.path.join(file), text).unwrap();
    }

    fn plan(&self, wanted: &WantedSandbox, directory: &str) -> Result<Plan, ResolveError> {
        let directory = self.path.join(directory);
        let facts = HostFacts::new(Some(self.path.clone()), directory, Tier::Base);
        resolve(wanted, &facts).map(|resolved| resolved.plan)
    }

    /// Returns relative paths.
    fn writable(&self, wanted: &WantedSandbox, directory: &str) -> Vec<String> {
        let plan = self.plan(wanted, directory).unwrap();
        let relative =
            |path: &PathBuf| path.strip_prefix(&self.path).unwrap().display().to_string();
        plan.writable.iter().map(relative).collect()
    }
}

fn write() -> WantedSandbox {
    WantedSandbox::new(WriteLevel::WorkspaceWrite)
}

#[test]
fn workspace_is_the_repository_or_the_directory() {
    let home = Home::new();
    assert_eq!(home.writable(&write(), "main/src"), ["main"]);
    assert_eq!(home.writable(&write(), "plain"), ["plain"]);
    let nothing = home.writable(&WantedSandbox::new(WriteLevel::ReadOnly), "main");
    assert!(nothing.is_empty(), "{nothing:?}");
}

/// A call can leave such files in its repository. The plan of the next call reads them.
#[test]
fn plan_reads_no_fifo_of_the_repository() {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let home = Home::new();
        let git = ["main/.git", "main/.git/modules/a", "main/.git/worktrees/b"];
        for directory in git {
            home.make(directory);
            for name in ["commondir", "gitdir"] {
                let path = home.path.join(directory).join(name);
                let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
                rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
            }
            home.write(&format!("{directory}/HEAD"), "");
        }
        drop(sender.send(home.writable(&write(), "main")));
    });
    let found = receiver.recv_timeout(std::time::Duration::from_secs(30));
    assert_eq!(found.unwrap(), ["main"]);
}

#[test]
fn workspace_never_contains_the_home() {
    let home = Home::new();
    for directory in ["", "..", "../.."] {
        let refused = home.plan(&write(), directory);
        assert!(
            matches!(refused, Err(ResolveError::TooWide(_))),
            "{directory}"
        );
    }
    // A repository at the home does not make the home a workspace.
    home.make(".git");
    assert_eq!(home.writable(&write(), "plain"), ["plain"]);
}

#[test]
fn worktree_may_write_its_repository_only_if_that_refers_back() {
    let home = Home::new();
    let own = "main/.git/worktrees/side";
    home.make(own);
    home.make("side");
    let at = |path: &str| home.path.join(path).display().to_string();
    home.write("side/.git", &format!("gitdir: {}\n", at(own)));
    home.write(&format!("{own}/commondir"), "../..\n");
    home.write(
        &format!("{own}/gitdir"),
        &format!("{}\n", at("elsewhere/.git")),
    );
    assert_eq!(home.writable(&write(), "side"), ["side"]);
    home.write(&format!("{own}/gitdir"), &format!("{}\n", at("side/.git")));
    let module = format!("{own}/modules/lib");
    home.make(&module);
    home.write(&format!("{module}/HEAD"), "");
    // The directory around `worktrees` must be a repository: a call could have chosen it.
    assert_eq!(home.writable(&write(), "side"), ["side"]);
    home.make("main/.git/objects");
    home.make("main/.git/refs");
    home.write("main/.git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(home.writable(&write(), "side"), ["main/.git", own, "side"]);
    let plan = home.plan(&write(), "side").unwrap();
    let module_hooks = format!("{module}/hooks");
    for path in [
        "side/.git", "main/.git/hooks", "main/.git/config", &module_hooks,
    ] {
        assert!(plan.protected.contains(&home.path.join(path)), "{path}");
    }
    // The file can name any directory, even a secret one.
    home.write("side/.git", &format!("gitdir: {}\n", at(".ssh")));
    assert_eq!(home.writable(&write(), "side"), ["side"]);
}

#[test]
fn worktree_in_a_writable_directory_can_be_removed() {
    let home = Home::new();
    for (name, tree) in [("in", "main/in"), ("out", "out")] {
        let own = format!("main/.git/worktrees/{name}");
        home.make(&own);
        home.make(tree);
        let tree = home.path.join(tree).join(".git");
        home.write(&format!("{own}/gitdir"), &format!("{}\n", tree.display()));
    }
    let is_protected = |wanted: &WantedSandbox, name: &str| {
        let path = format!("main/.git/worktrees/{name}/commondir");
        let plan = home.plan(wanted, "main").unwrap();
        plan.protected.contains(&home.path.join(path))
    };
    assert!(!is_protected(&write(), "in") && is_protected(&write(), "out"));
    let mut wanted = write();
    wanted.writable.push(home.path.join("out"));
    assert!(!is_protected(&wanted, "out"));
}

#[test]
fn cache_that_a_call_may_have_chosen_or_that_holds_a_secret_is_left_out() {
    let home = Home::new();
    for directory in ["cache", "keys", "main/cache"] {
        home.make(directory);
    }
    let at = |name: &str| home.path.join(name);
    std::os::unix::fs::symlink(at("keys"), at("main/link")).unwrap();
    std::os::unix::fs::symlink(at("cache"), at("own_link")).unwrap();
    let mut wanted = write();
    let names = [
        "cache", "own_link", "main/cache", "main/link", "main/link/x", ".ssh", "", "gone",
    ];
    wanted.caches = names.map(at).to_vec();
    let plan = home.plan(&wanted, "main").unwrap();
    assert_eq!(plan.caches.writable, [at("cache"), at("main/cache")]);
    wanted.level = WriteLevel::ReadOnly;
    assert!(
        home.plan(&wanted, "main")
            .unwrap()
            .caches
            .writable
            .is_empty()
    );
}

#[test]
fn secrets_of_the_system_are_hidden_from_a_host_that_can_read_them() {
    let hidden = Home::new().plan(&write(), "main").unwrap().hidden;
    let shadow = Path::new("/etc/shadow");
    let can_read = fs::File::open(shadow).is_ok();
    assert_eq!(hidden.hiding(shadow).is_some(), can_read);
}

#[test]
fn secrets_are_hidden_unless_named_as_readable() {
    let home = Home::new();
    let ssh = home.path.join(".ssh");
    let hides = |wanted: &_| {
        home.plan(wanted, "main")
            .unwrap()
            .hidden
            .hiding(&ssh)
            .is_some()
    };
    assert!(hides(&write()));
    let mut wanted = write();
    wanted.readable.push("~/.ssh".into());
    assert!(!hides(&wanted));
    let mut wanted = write();
    wanted.writable.push("~/.ssh".into());
    let refused = home.plan(&wanted, "main");
    assert!(
        matches!(refused, Err(ResolveError::Hidden { .. })),
        "{refused:?}"
    );
}

#[test]
fn resolve_refuses_impossible_settings_by_name() {
    let home = Home::new();
    let mut wanted = write();
    wanted.writable.push("relative".into());
    let text = home.plan(&wanted, "main").unwrap_err().to_string();
    assert!(
        text.contains("relative") && text.contains("writable"),
        "{text}"
    );
    let mut wanted = write();
    wanted.network = Network::Loopback;
    assert!(matches!(
        home.plan(&wanted, "main"),
        Err(ResolveError::NoLoopback)
    ));
}

#[test]
fn state_directory_in_a_writable_directory_is_protected_or_refused() {
    let home = Home::new();
    home.make("main/state");
    std::os::unix::fs::symlink(&home.path, home.path.join("main/link")).unwrap();
    let write = WriteLevel::WorkspaceWrite;
    for (state, level, tier, is_refused) in [
        ("main/state", write, Tier::Base, true),
        ("main/state", write, Tier::Full, false),
        // No mount can protect a missing directory.
        ("main/.state", write, Tier::Full, true),
        // A call could lead these paths elsewhere.
        ("main/link/state", write, Tier::Full, true),
        ("main/src/../../state", write, Tier::Full, true),
        ("main/../state", write, Tier::Base, false),
        ("plain", write, Tier::Base, true),
        ("state", write, Tier::Base, false),
        ("main/state", WriteLevel::ReadOnly, Tier::Base, false),
    ] {
        let mut wanted = WantedSandbox::new(level);
        wanted.writable = vec![home.path.join("plain")];
        let directory = home.path.join("main");
        let facts = HostFacts {
            state: Some(home.path.join(state)),
            ..HostFacts::new(Some(home.path.clone()), directory, tier)
        };
        let resolved = resolve(&wanted, &facts);
        let refused = matches!(resolved, Err(ResolveError::WritableState { .. }));
        assert_eq!(refused, is_refused, "{state} {level:?}: {resolved:?}");
        for name in [
            "changes/cli", "history.jsonl", "journal/cli", "targets/secret",
        ] {
            let path = canonical(&home.path.join(state)).join(name);
            let is_hidden = |it: &ResolvedSandbox| it.plan.hidden.hiding(&path).is_some();
            assert!(resolved.iter().all(is_hidden), "{state} {name}");
        }
        let is_protected =
            resolved.is_ok_and(|it| it.plan.protected.contains(&home.path.join(state)));
        assert_eq!(is_protected, tier == Tier::Full && !is_refused, "{state}");
    }
    let mut wanted = WantedSandbox::new(write);
    wanted.caches = vec![home.path.join("plain")];
    let mut facts = HostFacts::new(None, home.path.join("main"), Tier::Full);
    let caches = |facts: &HostFacts| resolve(&wanted, facts).unwrap().plan.caches.writable;
    assert_eq!(caches(&facts), wanted.caches);
    facts.state = Some(home.path.join("plain/state"));
    assert!(caches(&facts).is_empty());
}

/// A call can create such a directory. The plan is sent as text.
#[test]
fn plan_is_sent_with_protected_paths_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let name = std::ffi::OsStr::from_bytes(b"a\xff");
    let modules = home.path.join("main/.git/modules");
    fs::create_dir_all(modules.join(name)).unwrap();
    fs::write(modules.join(name).join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let plan = home.plan(&write(), "main").unwrap();
    assert!(plan.protected.contains(&modules.join(name).join("hooks")));
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    // A workspace of such a name is refused with a reason.
    let workspace = home.path.join("plain").join(name);
    fs::create_dir(&workspace).unwrap();
    let facts = HostFacts::new(Some(home.path.clone()), workspace, Tier::Base);
    let error = resolve(&write(), &facts).unwrap_err().to_string();
    assert!(error.contains("not UTF-8"), "{error}");
}

/// The host creates this directory during calls, so it is not compared.
#[test]
fn stored_files_of_a_tree_are_protected_by_mounts_only() {
    let home = Home::new();
    let stored = ["main/.git/.agent-bash-changes", "main/.agent-bash-changes"];
    let is_protected = |tier| {
        let facts = HostFacts::new(Some(home.path.clone()), home.path.join("main"), tier);
        let plan = resolve(&write(), &facts).unwrap().plan;
        stored.map(|path| plan.protected.contains(&home.path.join(path)))
    };
    assert_eq!(is_protected(Tier::Full), [false; 2]);
    for directory in stored {
        home.make(directory);
    }
    assert_eq!(is_protected(Tier::Full), [true; 2]);
    assert_eq!(is_protected(Tier::Base), [false; 2]);
}
