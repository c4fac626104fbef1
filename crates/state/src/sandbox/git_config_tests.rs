#![cfg(target_os = "linux")]

use super::*;
use agent_bash_core::sandbox::{Network, WriteLevel};
use agent_bash_sandbox::PathIdentity;
use tempfile::TempDir;

/// The configuration before each test.
const BEFORE: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/a\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"] # a remark\n\tremote = origin\n\tmerge = refs/heads/main\n";

/// A repository, and the copy of its configuration.
pub(super) struct Repository {
    directory: TempDir,
    pub(super) redirected: RedirectedFile,
}

impl Repository {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let workspace = root.join("w");
        fs::create_dir_all(workspace.join(".git")).unwrap();
        fs::write(workspace.join(".git/config"), BEFORE).unwrap();
        let plan = Plan {
            writable: vec![workspace.clone()],
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        };
        let redirected = redirected(&plan, &workspace, &[], &root.join("state")).unwrap();
        let repository = Self {
            directory,
            redirected,
        };
        assert_eq!(repository.merged(), [""; 0]);
        repository
    }

    fn copy(&self) -> PathBuf {
        self.redirected.directory.join(COPY_FILE)
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.redirected.file).unwrap()
    }

    /// Merges, and returns the dropped keys.
    pub(super) fn merged(&self) -> Vec<String> {
        let outcome = merge(&self.redirected, MAX_GIT_RUNS);
        assert_eq!(
            fs::read_to_string(self.copy()).unwrap(),
            self.text(),
            "the copy is made equal again"
        );
        outcome.dropped
    }

    /// Appends to the copy, merges, and returns the dropped keys.
    pub(super) fn appended(&self, text: &str) -> Vec<String> {
        let copy = fs::read_to_string(self.copy()).unwrap();
        fs::write(self.copy(), copy + text).unwrap();
        self.merged()
    }

    /// Returns the values of the repository's file, as `key=value`.
    fn values(&self) -> Vec<String> {
        let values = GitConfigProgram::find()
            .unwrap()
            .list(&self.redirected.file);
        let text = |(key, values): (Vec<u8>, Vec<Option<Vec<u8>>>)| {
            let values = values.into_iter().map(Option::unwrap_or_default);
            let values = values.map(|value| String::from_utf8(value).unwrap());
            let values: Vec<String> = values.collect();
            format!("{}={}", String::from_utf8(key).unwrap(), values.join(","))
        };
        values.unwrap().into_iter().map(text).collect()
    }
}

#[test]
fn harmless_keys_are_written_in_place_and_others_are_named() {
    let repository = Repository::new();
    let before = PathIdentity::of(&repository.redirected.file);
    let dropped = repository.appended(
        "[user]\n\tname = A \\\nB\n[core]\n\tfsmonitor = x\n[CORE]\nhooksPath=y\n[alias]\n\ts = !z\n\
         [branch \"side\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[include]\n\tpath = ../x\n\
         [remote \"fork\"]\n\turl = git@example.org:b\n\tfetch = +refs/heads/*:refs/remotes/fork/*\n\
         [submodule \"s\"]\n\tactive = true\n\turl = https://example.org/s\n\tupdate = !z\n",
    );
    assert_eq!(
        dropped,
        [
            "alias.s", "core.fsmonitor", "core.hookspath", "include.path", "submodule.s.update"
        ]
    );
    assert_eq!(
        repository.values(),
        [
            "branch.main.merge=refs/heads/main",
            "branch.main.remote=origin",
            "branch.side.merge=refs/heads/main",
            "branch.side.remote=origin",
            "core.bare=false",
            "remote.fork.addedinsandbox=true",
            "remote.fork.fetch=+refs/heads/*:refs/remotes/fork/*",
            "remote.fork.url=git@example.org:b",
            "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*",
            "remote.origin.url=https://example.org/a",
            "submodule.s.active=true",
            "submodule.s.url=https://example.org/s",
            "user.name=A B",
        ]
    );
    // Another file would lose the mounts of running sandboxes.
    assert_eq!(PathIdentity::of(&repository.redirected.file), before);
    assert!(repository.text().starts_with("[core]\n\tbare = false\n"));
    assert!(repository.text().contains("# a remark"));
    assert_eq!(repository.merged(), [""; 0]);
    let is_current = |outcome: MergeOutcome| {
        let merged = outcome.merged.expect("nothing is left to merge");
        merged.is_current(&repository.redirected)
    };
    assert!(is_current(merge(&repository.redirected, MAX_GIT_RUNS)));
    let merged = merge(&repository.redirected, MAX_GIT_RUNS).merged.unwrap();
    repository.appended("[user]\n\temail = a@b\n");
    assert!(!merged.is_current(&repository.redirected));
}

#[test]
fn values_that_lead_elsewhere_are_dropped() {
    for text in [
        "[remote \"origin\"]\n\turl = https://evil.example\n",
        "[remote \"origin\"]\n\tpushurl = https://evil.example\n",
        "[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/heads/*\n",
        "[remote \"n\"]\n\turl = ext::sh -c x\n",
        "[remote \"n\"]\n\turl = ../hooks-inside\n",
        "[remote \"n\"]\n\turl = /hooks-inside\n",
        "[remote \"n\"]\n\turl = file:///hooks-inside\n",
        "[remote \"n\"]\n\turl = ssh://-oProxyCommand=x/a\n",
        "[remote \"n\"]\n\turl = ssh://a@-oProxyCommand=x/a\n",
        "[remote \"n\"]\n\turl = -oProxyCommand=x:a\n",
        "[remote \"n\"]\n\turl = a:-x\n",
        "[remote \"n\"]\n\turl = \"https://a/\\nb\"\n",
        "[remote \"n\"]\n\tfetch = +refs/heads/*:refs/remotes/n/*\n",
        "[remote \"n\"]\n\tprune = true\n",
        "[remote \"n\"]\n\tvcs = x\n",
        "[remote \"n\"]\n\tuploadpack = x\n",
        "[remote \"https://example.org/a\"]\n\turl = https://evil.example\n",
        "[remote \"../dir\"]\n\turl = https://evil.example\n",
        "[url \"https://evil.example/\"]\n\tinsteadOf = https://example.org/\n",
        "[branch \"main\"]\n\tremote = https://evil.example\n",
        "[branch \"new\"]\n\tremote = unknown\n",
        "[branch \"new\"]\n\tpushRemote = origin\n",
        "[branch \"new\"]\n\tmergeOptions = -s x\n",
        "[branch \"new\"]\n\tdescription = \"a\\nb\"\n",
        "[branch \"new\"]\n\tdescription = --x\n",
        "[branch \"new\"]\n\tmerge\n",
        "[submodule \"s\"]\n\turl = ../s\n",
        "[submodule \"s\"]\n\tactive = x\n",
        "[submodule \"s\"]\n\tupdate = x\n",
        "[core]\n\tautocrlf = x\n",
        "[core]\n\tfileMode = input\n",
        "[pull]\n\tff = x\n",
        "[branch \"main\"]\n\trebase = x\n",
        "[filter \"x\"]\n\tsmudge = x\n",
        "[extensions]\n\tworktreeConfig = true\n",
        "[diff \"x\"]\n\tcommand = x\n",
        "[credential]\n\thelper = !x\n",
        "[core]\r\n\tfsmonitor = x\r\n",
        "[core]\n\tfsmoni\\\ntor = x\n",
        "[user]\n\tname = \"\u{1}x\"\n",
        "[user]\n\tname = a::b\n",
        "\u{0}[core]\n\tfsmonitor = x\n",
        "[broken\n",
    ] {
        let repository = Repository::new();
        let dropped = repository.appended(text);
        assert_eq!(dropped.len(), 1, "{text}: {dropped:?}");
        assert_eq!(repository.text(), BEFORE, "{text}");
    }
}

#[test]
fn invalid_values_of_a_new_remote_are_dropped() {
    for value in [
        "fetch = +refs/heads/*:refs/heads/*",
        "fetch = +refs/heads/*:refs/remotes/origin/*",
        "fetch = +refs/heads/*:refs/remotes/n/../../heads/*",
        "fetch = +refs/heads/a:refs/remotes/n/*",
        "fetch = +refs/heads/a:refs/remotes/n/a.lock",
        "fetch = a:b:c",
        "prune = x",
    ] {
        let repository = Repository::new();
        let url = "url = https://example.org/n";
        let dropped = repository.appended(&format!("[remote \"n\"]\n\t{url}\n\t{value}\n"));
        let key = format!("remote.n.{}", value.split(' ').next().unwrap());
        assert_eq!(dropped, [&*key], "{value}");
        let values = repository.values();
        assert!(!values.iter().any(|it| it.starts_with(&key)), "{value}");
    }
}

/// Git would fetch from the directory with the remote's name.
#[test]
fn remote_of_a_call_stays_with_its_address() {
    let repository = Repository::new();
    let own = "\tfetch = +refs/heads/*:refs/remotes/n/*\n";
    let address = "\turl = https://example.org/n\n";
    let unusable = repository.appended(&format!("[remote \"n\"]\n\turl = ../n\n{own}"));
    assert_eq!(unusable, ["remote.n.fetch", "remote.n.url"]);
    let added = repository.appended(&format!("[remote \"n\"]\n{address}{own}"));
    assert_eq!(added, [""; 0]);
    let text = repository.text();
    let without_address = text
        .replace(address, "")
        .replace("\taddedinsandbox = true\n", "");
    fs::write(repository.copy(), without_address).unwrap();
    assert!(repository.merged().contains(&"remote.n.url".to_owned()));
    assert_eq!(repository.text(), text);
    fs::write(repository.copy(), BEFORE).unwrap();
    assert_eq!(repository.merged(), [""; 0]);
    assert!(!repository.text().contains("example.org/n"));
}

#[test]
fn values_that_git_accepts_are_written() {
    let repository = Repository::new();
    let dropped = repository.appended(
        "[core]\n\tautocrlf = input\n\tquotePath = No\n\tfileMode = 0\n\
         [pull]\n\tff = only\n\trebase = merges\n[branch \"main\"]\n\trebase = true\n\
         [lfs]\n\trepositoryFormatVersion = 0\n[rerere]\n\tenabled = on\n\
         [submodule \"s\"]\n\tupdate = none\n\tactive = yes\n\
         [remote \"n\"]\n\turl = https://example.org/n\n\tprune = true\n\
         \tfetch = +refs/heads/user@a.b/c:refs/remotes/n/user@a.b/c\n\
         \tfetch = +refs/pull/*/head:refs/remotes/n/pull/*\n\tfetch = refs/tags/v1.0\n",
    );
    assert_eq!(dropped, [""; 0]);
    assert!(repository.text().contains("autocrlf = input"));
}

#[test]
fn no_branch_gets_a_remote_that_calls_have_added() {
    let repository = Repository::new();
    let nothing = [""; 0];
    let remote = "[remote \"n\"]\n\turl = https://evil.example\n";
    assert_eq!(repository.appended(remote), nothing);
    let branch = "[branch \"main\"]\n\tremote = n\n";
    assert_eq!(repository.appended(branch), ["branch.main.remote"]);
    let mark = "remote.n.addedinsandbox";
    let copy = repository.copy();
    let set = |key: &str, values: &[String]| {
        GitConfigProgram::find()
            .unwrap()
            .set(&copy, key, values)
            .unwrap();
        repository.merged()
    };
    assert_eq!(set(mark, &[]), [mark]);
    assert_eq!(set(mark, &["false".to_owned()]), [mark]);
    assert_eq!(set("remote.origin.url", &[]), ["remote.origin.url"]);
    // Calls can change and remove their own remotes.
    assert_eq!(
        set("remote.n.url", &["https://b.example".to_owned()]),
        nothing
    );
    assert!(repository.text().contains("https://b.example"));
    let without = fs::read_to_string(&copy).unwrap();
    let without = without.split("[remote \"n\"]").next().unwrap().to_owned();
    fs::write(&copy, without).unwrap();
    assert_eq!(repository.merged(), nothing);
    assert_eq!(repository.text(), BEFORE);
}

#[test]
fn address_of_a_call_does_not_stay_without_its_mark() {
    let repository = Repository::new();
    let remote = "[remote \"n\"]\n\turl = https://evil.example\n";
    assert_eq!(repository.appended(remote), [""; 0]);
    let copy = fs::read_to_string(repository.copy()).unwrap();
    let without = copy.split("[remote \"n\"]").next().unwrap();
    fs::write(repository.copy(), without).unwrap();
    // One run of git is not enough for the address and its mark.
    let outcome = merge(&repository.redirected, 1);
    assert_eq!(outcome.dropped, ["remote.n.url"]);
    assert!(repository.text().contains("evil.example"));
    assert!(repository.text().contains("addedinsandbox = true"));
    fs::write(repository.copy(), without).unwrap();
    assert_eq!(repository.merged(), [""; 0]);
    assert_eq!(repository.text(), BEFORE);
}

#[test]
fn branch_does_not_fall_back_to_an_origin_that_calls_have_added() {
    let repository = Repository::new();
    let users = BEFORE.replace("origin", "mine");
    fs::write(&repository.redirected.file, &users).unwrap();
    assert_eq!(repository.merged(), [""; 0]);
    let origin = "[remote \"origin\"]\n\turl = https://evil.example\n";
    assert_eq!(repository.appended(origin), ["remote.origin.url"]);
    let without_remote = users.replace("\tremote = mine\n", "");
    fs::write(repository.copy(), without_remote.clone() + origin).unwrap();
    let both = ["branch.main.remote", "remote.origin.url"];
    assert_eq!(repository.merged(), both);
    assert_eq!(repository.text(), users);
    fs::write(repository.copy(), &without_remote).unwrap();
    assert_eq!(repository.merged(), [""; 0]);
    assert_eq!(repository.text(), without_remote);
    // The first remote may have this name.
    fs::write(&repository.redirected.file, "[core]\n\tbare = false\n").unwrap();
    assert_eq!(repository.merged(), [""; 0]);
    assert_eq!(repository.appended(origin), [""; 0]);
    assert!(repository.text().contains("evil.example"));
}

#[test]
fn number_of_values_and_length_of_named_keys_are_limited() {
    let repository = Repository::new();
    let values = "\tdescription = A\n".repeat(MAX_GIT_RUNS + 1);
    let new_values = "\tname = A\n".repeat(MAX_NEW_VALUES + 1);
    let long = "x".repeat(10 * MAX_NAMED_LETTERS);
    let dropped = repository.appended(&format!(
        "[a \"{long}\"]\n\tb = c\n[branch \"main\"]\n{values}[user]\n{new_values}"
    ));
    assert_eq!(dropped[0].len(), MAX_NAMED_LETTERS);
    assert_eq!(dropped[1..], ["branch.main.description", "user.name"]);
    assert_eq!(repository.text(), BEFORE);
}

#[test]
fn new_sections_keep_names_and_values_with_special_letters() {
    let repository = Repository::new();
    let text = "[branch \"a\\\"b\\\\;#] c\"]\n\tdescription = \" a;b \\\"c\\\" \\\\ # \"\n";
    assert_eq!(repository.appended(text), [""; 0]);
    assert_eq!(repository.text(), BEFORE.to_owned() + text);
    let value = "branch.a\"b\\;#] c.description= a;b \"c\" \\ # ".to_owned();
    assert!(repository.values().contains(&value));
    // The section exists now, so git writes the key.
    let changed = text.replace("a;b", "changed");
    fs::write(repository.copy(), BEFORE.to_owned() + &changed).unwrap();
    assert_eq!(repository.merged(), [""; 0]);
    assert!(repository.text().contains("changed"));
}

#[test]
fn address_that_a_name_has_or_gets_is_not_chosen_later() {
    let repository = Repository::new();
    let gone = "[branch \"b\"]\n\tremote = gone\n[submodule \"s\"]\n\turl = https://a.example\n";
    fs::write(&repository.redirected.file, BEFORE.to_owned() + gone).unwrap();
    assert_eq!(repository.merged(), [""; 0]);
    let remote = "[remote \"gone\"]\n\turl = https://evil.example\n";
    assert_eq!(repository.appended(remote), ["remote.gone.url"]);
    let submodule = "[submodule \"s\"]\n\turl = https://evil.example\n";
    assert_eq!(repository.appended(submodule), ["submodule.s.url"]);
    assert_eq!(repository.text(), BEFORE.to_owned() + gone);
}

#[test]
fn remote_that_other_files_may_have_is_not_chosen() {
    let remote = "[remote \"backup\"]\n\turl = https://evil.example\n";
    for (more, is_kept) in [
        ("[include]\n\tpath = ../more\n", false),
        ("[extensions]\n\tworktreeConfig = true\n", false),
        ("[pull]\n\tff = only\n", true),
    ] {
        let repository = Repository::new();
        fs::write(&repository.redirected.file, BEFORE.to_owned() + more).unwrap();
        assert_eq!(repository.merged(), [""; 0]);
        assert_eq!(repository.appended(remote).is_empty(), is_kept, "{more}");
    }
}

#[test]
fn name_with_a_command_of_a_shell_is_dropped() {
    let repository = Repository::new();
    let name = repository.appended("[user]\n\tname = \"A; id; echo\"\n\temail = o'b@c.example\n");
    assert_eq!(name, ["user.name"]);
    assert!(repository.text().contains("o'b@c.example"));
}

#[test]
fn change_of_a_key_that_the_user_changed_meanwhile_is_dropped() {
    let repository = Repository::new();
    let users = BEFORE.replace("refs/heads/main", "refs/heads/theirs");
    fs::write(&repository.redirected.file, &users).unwrap();
    let calls = BEFORE.replace("refs/heads/main", "refs/heads/mine") + "[user]\n\tname = A\n";
    fs::write(repository.copy(), calls).unwrap();
    assert_eq!(repository.merged(), ["branch.main.merge"]);
    assert_eq!(repository.text(), users + "[user]\n\tname = A\n");
}

#[test]
fn whatever_replaces_the_copy_is_neither_followed_nor_kept() {
    type Change<'a> = &'a dyn Fn(&Path, &Path);
    let changes: [Change<'_>; 8] = [
        &|copy, secret| symlink(secret, copy).unwrap(),
        &|copy, _| symlink("/dev/zero", copy).unwrap(),
        &|copy, _| agent_bash_process::make_fifo(copy).unwrap(),
        &|copy, _| fs::create_dir_all(copy.join("full/of/entries")).unwrap(),
        &|copy, _| File::create(copy).unwrap().set_len(1 << 40).unwrap(),
        &|copy, _| fs::write(copy, "[a]\nb = c\n".repeat(100_000)).unwrap(),
        // The listing of this file repeats the long name.
        &|copy, _| {
            let section = format!("[a \"{}\"]\n", "b".repeat(100_000));
            fs::write(copy, section + &"c\n".repeat(50_000)).unwrap();
        },
        &|_, _| {},
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let repository = Repository::new();
        let secret = repository.directory.path().join("secret");
        fs::write(&secret, "[user]\n\tname = secret\n").unwrap();
        fs::remove_file(repository.copy()).unwrap();
        change(&repository.copy(), &secret);
        let dropped = repository.merged();
        assert!(
            dropped[0].starts_with("all changes of /") && dropped[0].contains(".git/config ("),
            "{index}: {dropped:?}"
        );
        assert_eq!(repository.text(), BEFORE, "{index}");
        assert_eq!(
            fs::read_to_string(&secret).unwrap(),
            "[user]\n\tname = secret\n"
        );
    }
}

#[test]
fn changes_are_named_while_a_call_holds_the_lock_of_the_merge() {
    let repository = Repository::new();
    let lock = File::open(root(&repository.redirected).join(LOCK_FILE)).unwrap();
    lock.lock().unwrap();
    // Without changes, there is nothing to name.
    assert_eq!(repository.merged(), [""; 0]);
    fs::write(repository.copy(), BEFORE.to_owned() + "[alias]\n\ta = b\n").unwrap();
    let dropped = merge(&repository.redirected, MAX_GIT_RUNS).dropped;
    assert!(
        dropped[0].contains("another process holds the lock"),
        "{dropped:?}"
    );
    lock.unlock().unwrap();
    assert_eq!(repository.merged(), ["alias.a"]);
}

#[test]
fn directory_that_a_call_has_closed_is_opened_again() {
    let repository = Repository::new();
    let directory = &repository.redirected.directory;
    // Root ignores permissions, so this tests a user only.
    fs::write(
        repository.copy(),
        BEFORE.to_owned() + "[user]\n\tname = A\n",
    )
    .unwrap();
    fs::set_permissions(directory, Permissions::from_mode(0o0)).unwrap();
    assert_eq!(repository.merged(), [""; 0]);
    assert!(repository.text().contains("name = A"));
}

#[test]
fn repository_file_is_written_only_at_its_own_path() {
    type Change<'a> = &'a dyn Fn(&Path);
    let changes: [Change<'_>; 4] = [
        // Another file by a link of the directory, or of the file.
        &|git| {
            fs::rename(git, git.with_file_name("other")).unwrap();
            symlink("other", git).unwrap();
        },
        &|git| {
            fs::rename(git.join("config"), git.join("other")).unwrap();
            symlink("other", git.join("config")).unwrap();
        },
        &|git| fs::hard_link(git.join("config"), git.join("other")).unwrap(),
        // A git that runs, or a link that would be followed by a lock.
        &|git| symlink("../made", git.join("config.lock")).unwrap(),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let repository = Repository::new();
        let copy = BEFORE.to_owned() + "[user]\n\tname = A\n";
        fs::write(repository.copy(), copy).unwrap();
        let git = repository.redirected.file.parent().unwrap();
        change(git);
        let dropped = merge(&repository.redirected, MAX_GIT_RUNS).dropped;
        assert!(
            dropped[0].starts_with("all changes of /"),
            "{index}: {dropped:?}"
        );
        assert_eq!(repository.text(), BEFORE, "{index}");
        assert!(!git.with_file_name("made").exists());
    }
}

#[test]
fn calls_with_other_access_have_another_copy() {
    let repository = Repository::new();
    let root = repository.directory.path().canonicalize().unwrap();
    let workspace = root.join("w");
    let of_plan = |plan: Plan| redirected(&plan, &workspace, &[], &root.join("state")).unwrap();
    let plan = || Plan {
        writable: vec![workspace.clone()],
        ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
    };
    assert_eq!(of_plan(plan()), repository.redirected);
    let hiding = Plan {
        hidden: vec![root.join("secret")].into(),
        ..plan()
    };
    let with_device = Plan {
        devices: vec![root.join("device")],
        ..plan()
    };
    let with_network = Plan {
        network: Network::On,
        ..plan()
    };
    for other in [hiding, with_device, with_network] {
        assert_ne!(of_plan(other), repository.redirected);
    }
}

#[test]
fn unused_copy_is_removed_when_another_one_is_created() {
    let repository = Repository::new();
    let root = repository.directory.path().canonicalize().unwrap();
    let created = |name: &str| {
        let workspace = root.join(name);
        fs::create_dir_all(workspace.join(".git")).unwrap();
        fs::write(workspace.join(".git/config"), BEFORE).unwrap();
        let plan = Plan {
            writable: vec![workspace.clone()],
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        };
        redirected(&plan, &workspace, &[], &root.join("state")).unwrap()
    };
    let lock = repository.redirected.directory.with_file_name(LOCK_FILE);
    let aged = || {
        let lock = File::options().write(true).open(&lock).unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH;
        lock.set_modified(old).unwrap();
        lock
    };
    aged();
    // A merge is a use.
    assert_eq!(repository.merged(), [""; 0]);
    let other = created("other");
    assert!(repository.copy().exists());
    aged();
    assert_eq!(created("other"), other);
    assert!(repository.copy().exists(), "no copy was created");
    let merging = aged();
    merging.lock().unwrap();
    created("third");
    assert!(repository.copy().exists(), "another host merges");
    drop(merging);
    created("fourth");
    assert!(!repository.copy().exists());
    assert!(other.directory.exists());
}

#[test]
fn file_stays_protected_without_a_copy_where_a_copy_is_not_possible() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("w/.git")).unwrap();
    let workspace = root.join("w");
    let config = workspace.join(".git/config");
    let plan = |tier| Plan {
        writable: vec![workspace.clone()],
        ..Plan::new(WriteLevel::WorkspaceWrite, tier)
    };
    let has_copy = |tier, protected: &[PathBuf], state: &str| {
        redirected(&plan(tier), &workspace, protected, &root.join(state)).is_some()
    };
    assert!(!has_copy(Tier::Full, &[], "state"), "the file is missing");
    fs::write(&config, BEFORE).unwrap();
    assert!(has_copy(Tier::Full, &[], "state"));
    assert!(!has_copy(Tier::Base, &[], "state"));
    assert!(!has_copy(Tier::Full, &[workspace.join(".git")], "state"));
    let hiding = Plan {
        hidden: vec![config.clone()].into(),
        ..plan(Tier::Full)
    };
    let state = root.join("state");
    assert!(redirected(&hiding, &workspace, &[], &state).is_none());
    symlink(workspace.join(".git"), root.join("link")).unwrap();
    assert!(!has_copy(Tier::Full, &[root.join("link")], "state"));
    assert!(!has_copy(Tier::Full, &[], "w/state"));
    fs::rename(&config, root.join("config")).unwrap();
    symlink(root.join("config"), &config).unwrap();
    assert!(!has_copy(Tier::Full, &[], "state"), "the file is a link");
}
