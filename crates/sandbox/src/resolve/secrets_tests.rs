use super::*;
use std::os::unix::fs::symlink;

/// A temporary directory with a home, a workspace and a directory `moved`.
struct SecretFiles {
    _temp: tempfile::TempDir,
    root: PathBuf,
}

impl SecretFiles {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = canonical(temp.path());
        let files = Self { _temp: temp, root };
        for directory in ["home", "workspace", "moved"] {
            fs::create_dir(files.at(directory)).unwrap();
        }
        files
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn write(&self, path: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "secret").unwrap();
    }

    /// Returns the hidden paths. `ROOT` in a value stands for the temporary directory.
    fn hidden(&self, variables: &[(&str, &str)], others: &[(&str, bool)]) -> HiddenPaths {
        let root = self.root.to_str().unwrap();
        let variables = variables
            .iter()
            .map(|(name, value)| (name.into(), value.replace("ROOT", root).into()))
            .collect();
        let others = others.iter().map(|(path, is_of_service)| OtherHome {
            path: self.at(path),
            is_of_service: *is_of_service,
        });
        let secrets = SecretSearch {
            home: Some(&self.at("home")),
            directory: &self.at("workspace"),
            variables: &variables,
            lookup: PathLookup::default(),
        };
        secrets.with_other_homes(others.collect())
    }

    fn hides(&self, hidden: &HiddenPaths, path: &str) -> bool {
        hidden.hiding(&self.at(path)).is_some()
    }
}

#[test]
fn secrets_of_the_home_are_hidden_whether_they_exist_or_not() {
    let files = SecretFiles::new();
    files.write("home/.config/gh/hosts.yml");
    let hidden = files.hidden(&[], &[]);
    for path in [
        ".ssh/id_ed25519",
        ".config/gh/hosts.yml",
        ".local/share/uv/credentials/credentials.toml",
        ".config/Code/User/globalStorage/state.vscdb",
        ".codex/history.jsonl",
        ".cargo/credentials.toml",
        ".gnupg/private-keys-v1.d/x.key",
    ] {
        assert!(files.hides(&hidden, &format!("home/{path}")), "{path}");
    }
    for path in [
        ".cargo/config.toml", ".config/git/config", ".bashrc", ".cache/pip/x",
    ] {
        assert!(!files.hides(&hidden, &format!("home/{path}")), "{path}");
    }
}

#[test]
fn secrets_moved_by_variables_are_hidden_at_both_places() {
    let files = SecretFiles::new();
    for (variable, value, secret, usual) in [
        (
            "XDG_CONFIG_HOME", "ROOT/moved", "moved/gh/hosts.yml", ".config/gh/hosts.yml",
        ),
        (
            "XDG_DATA_HOME", "ROOT/moved", "moved/keyrings/x", ".local/share/keyrings/x",
        ),
        (
            "XDG_STATE_HOME", "ROOT/moved", "moved/bash/history", ".local/state/bash/history",
        ),
        (
            "KUBECONFIG", "ROOT/moved/a:ROOT/moved/b", "moved/b", ".kube/config",
        ),
        (
            "KUBECONFIG", "ROOT/moved/a:ROOT/moved/b", "moved/a", ".kube/config",
        ),
        (
            "HISTFILE", "ROOT/moved/typed", "moved/typed", ".bash_history",
        ),
        ("HISTFILE", "~/typed", "home/typed", ".bash_history"),
        ("GNUPGHOME", "ROOT/moved", "moved/pubring.kbx", ".gnupg/x"),
        (
            "AWS_SHARED_CREDENTIALS_FILE", "ROOT/moved/aws", "moved/aws", ".aws/credentials",
        ),
        (
            "CARGO_HOME", "ROOT/moved", "moved/credentials.toml", ".cargo/credentials.toml",
        ),
        (
            "NPM_CONFIG_USERCONFIG", "ROOT/moved/rc", "moved/rc", ".npmrc",
        ),
        (
            "DOCKER_CONFIG", "ROOT/moved", "moved/config.json", ".docker/config.json",
        ),
        (
            "CODEX_HOME", "ROOT/moved", "moved/auth.json", ".codex/auth.json",
        ),
        (
            "KRB5CCNAME", "FILE:ROOT/moved/ticket", "moved/ticket", ".netrc",
        ),
        (
            "MY_SERVICE_TOKEN_FILE", "ROOT/moved/token", "moved/token", ".netrc",
        ),
        (
            "GOOGLE_APPLICATION_CREDENTIALS",
            "ROOT/moved/key.json",
            "moved/key.json",
            ".netrc",
        ),
    ] {
        let hidden = files.hidden(&[(variable, value)], &[]);
        assert!(files.hides(&hidden, secret), "{variable}={value}");
        assert!(files.hides(&hidden, &format!("home/{usual}")), "{variable}");
        let without = files.hidden(&[], &[]);
        assert!(!files.hides(&without, secret), "{variable}: the control");
    }
}

#[test]
fn tokens_of_servers_and_files_of_keys_are_hidden() {
    let files = SecretFiles::new();
    for (variable, value, secret) in [
        ("JUPYTER_RUNTIME_DIR", "ROOT/moved", "moved/jpserver-1.json"),
        ("OPENAI_API_KEY_FILE", "ROOT/moved/key", "moved/key"),
    ] {
        let hidden = files.hidden(&[(variable, value)], &[]);
        assert!(files.hides(&hidden, secret), "{variable}");
        let without = files.hidden(&[], &[]);
        assert!(!files.hides(&without, secret), "{variable}: the control");
    }
}

#[test]
fn variables_do_not_hide_the_home_the_workspace_or_devices() {
    let files = SecretFiles::new();
    files.write("workspace/test/token");
    for (variable, value, visible) in [
        ("GNUPGHOME", "ROOT/workspace", "workspace/src/main.rs"),
        ("GNUPGHOME", "ROOT/home", "home/notes"),
        ("GNUPGHOME", "ROOT", "moved/x"),
        ("GNUPGHOME", "/", "moved/x"),
        ("PASSWORD_STORE_DIR", "", "workspace/x"),
        ("KUBECONFIG", "", "workspace/x"),
        ("HISTFILE", "ROOT/workspace", "workspace/x"),
        ("LESSHISTFILE", "-", "workspace/-"),
        (
            "MY_TOKEN_FILE", "ROOT/workspace/test/token", "workspace/test/token",
        ),
        ("CARGO_HOME", "ROOT/moved", "moved/bin/cargo"),
    ] {
        let hidden = files.hidden(&[(variable, value)], &[]);
        assert!(!files.hides(&hidden, visible), "{variable}={value}");
    }
    let hidden = files.hidden(
        &[("HISTFILE", "/dev/null"), ("PIP_CONFIG_FILE", "/dev/null")],
        &[],
    );
    assert!(!hidden.overlap(Path::new("/dev/null")));
}

#[test]
fn secrets_of_other_homes_are_hidden() {
    let files = SecretFiles::new();
    files.write("service/.pgpass");
    fs::create_dir_all(files.at("ann")).unwrap();
    let hidden = files.hidden(&[], &[("ann", false), ("service", true)]);
    assert!(files.hides(&hidden, "ann/.ssh/id_rsa"));
    assert!(files.hides(&hidden, "service/.pgpass"));
    assert!(!files.hides(&hidden, "service/.ssh"), "it does not exist");
    assert!(!files.hides(&hidden, "ann/notes"));
}

#[test]
fn of_many_homes_all_except_those_in_use_are_hidden_as_a_whole() {
    let files = SecretFiles::new();
    let names: Vec<String> = (0..MAX_SEARCHED_HOMES + 2)
        .map(|n| format!("u{n:03}"))
        .collect();
    for name in &names {
        fs::create_dir(files.at(name)).unwrap();
    }
    let others: Vec<(&str, bool)> = names.iter().map(|name| (name.as_str(), false)).collect();
    let hidden = files.hidden(&[], &others);
    assert!(!files.hides(&hidden, "u000/notes") && files.hides(&hidden, "u000/.ssh"));
    assert!(files.hides(&hidden, &format!("u{:03}/notes", MAX_SEARCHED_HOMES + 1)));
}

#[test]
fn targets_of_links_in_hidden_directories_are_hidden() {
    let files = SecretFiles::new();
    for file in [
        "dotfiles/netrc", "dotfiles/aws", "home/vault/key", "home/other/key", "workspace/config",
    ] {
        files.write(file);
    }
    fs::create_dir_all(files.at("home/.aws")).unwrap();
    fs::create_dir_all(files.at("home/.ssh/work")).unwrap();
    for (target, link) in [
        ("home/other", "home/.ssh/work/keys"),
        ("dotfiles/netrc", "home/.netrc"),
        ("dotfiles/aws", "home/.aws/credentials"),
        ("home/vault", "home/.ssh/keys"),
        ("workspace", "home/.ssh/workspace"),
        ("workspace/config", "home/.ssh/config"),
    ] {
        symlink(files.at(target), files.at(link)).unwrap();
    }
    let hidden = files.hidden(&[], &[]);
    for path in [
        "dotfiles/netrc", "dotfiles/aws", "home/vault/key", "home/other/key",
    ] {
        assert!(files.hides(&hidden, path), "{path}");
    }
    for path in ["workspace/x", "workspace/config"] {
        assert!(!files.hides(&hidden, path), "{path}");
    }
    // A link is not listed itself: if its target is readable, a mount must not follow the link.
    assert!(!files.hides(&hidden, "home/.netrc"));
    assert!(
        files.hides(&hidden, "home/.kube/config"),
        "it does not exist"
    );
}

#[test]
fn variables_match_in_any_case_and_may_name_directories() {
    let files = SecretFiles::new();
    for (variable, value, secret, is_hidden) in [
        ("npm_config_UserConfig", "ROOT/moved/rc", "moved/rc", true),
        ("my_token_file", "ROOT/moved/a", "moved/a", true),
        ("KRB5CCNAME", "DIR:ROOT/moved", "moved/tkt", true),
        ("KRB5CCNAME", "ROOT/moved", "moved/tkt", false),
    ] {
        let hidden = files.hidden(&[(variable, value)], &[]);
        assert_eq!(files.hides(&hidden, secret), is_hidden, "{variable}");
    }
}

#[test]
fn paths_outside_of_homes_have_the_number_of_the_user() {
    let paths = paths_of_user(7);
    assert!(paths.iter().any(|path| path == "/tmp/krb5cc_7"));
    assert!(paths.iter().all(|path| !path.contains("UID")));
}

#[test]
fn link_in_place_of_a_secret_outside_of_homes_hides_nothing() {
    let files = SecretFiles::new();
    files.write("moved/ticket");
    symlink(files.at("workspace"), files.at("moved/link")).unwrap();
    let paths = ["moved/ticket", "moved/link", "moved/missing"];
    let paths = paths.map(|path| files.at(path).to_str().unwrap().to_owned());
    let hidden = readable_without_links(paths.to_vec());
    assert_eq!(hidden, [files.at("moved/ticket")]);
}
