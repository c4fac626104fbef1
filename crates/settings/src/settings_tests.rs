//! The layers, with files in a temporary directory.

use super::*;
use agent_bash_core::sandbox::{Network, SandboxLevel, TmpDirectory};
use std::ffi::OsString;
use std::sync::Arc;

struct Layers<'a> {
    user: &'a str,
    project: &'a str,
    env: &'a [(&'a str, &'a str)],
}

const NONE: Layers<'_> = Layers {
    user: "",
    project: "",
    env: &[],
};

fn load_layers(layers: &Layers<'_>) -> Result<LoadedSettings, SettingsError> {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config/agent-bash");
    let deep = dir.path().join("project/src/deep");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::create_dir_all(&deep).unwrap();
    if !layers.user.is_empty() {
        std::fs::write(config.join("config.toml"), layers.user).unwrap();
    }
    if !layers.project.is_empty() {
        let path = dir.path().join("project/.agent-bash.toml");
        std::fs::write(path, layers.project).unwrap();
    }
    let mut env: BTreeMap<_, _> = layers
        .env
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect();
    env.insert("XDG_CONFIG_HOME".into(), dir.path().join("config").into());
    load(&HostContext {
        env: Arc::new(env),
        ..HostContext::bare(deep)
    })
}

fn settings(layers: &Layers<'_>) -> Settings {
    load_layers(layers).unwrap().settings
}

#[test]
fn load_returns_the_defaults_without_layers() {
    let loaded = load_layers(&NONE).unwrap();
    assert_eq!(loaded.settings, Settings::default());
    assert!(
        loaded
            .provenance()
            .all(|(_, _, origin)| *origin == Origin::Default)
    );
    assert_eq!(loaded.settings.rules().unwrap(), RuleSelection::default());
    assert_eq!(loaded.settings.profile(), profiles::STANDARD);
}

#[test]
fn later_layers_take_precedence_and_origins_are_recorded() {
    let mut loaded = load_layers(&Layers {
        user: "profile = \"modes\"\nsurvivors = \"kill\"\n[limits]\ncpu_s = 10",
        project: "[limits]\ncpu_s = 5",
        env: &[
            ("AGENT_BASH_SURVIVORS", "wait"),
            ("AGENT_BASH_SHELL_PREFIX", "nice"),
        ],
    })
    .unwrap();
    loaded.set("profile", "paged", "--profile").unwrap();
    assert_eq!(loaded.settings.profile, ProfileName::Paged);
    assert_eq!(loaded.settings.survivors, SurvivorPolicy::Wait);
    assert_eq!(loaded.settings.limits.cpu_s, Some(5));
    assert_eq!(loaded.settings.prefix.as_deref(), Some("nice"));
    let origin = |wanted: &str| {
        let mut all = loaded.provenance();
        all.find(|(name, _, _)| *name == wanted)
            .map(|(_, _, origin)| origin.clone())
            .unwrap()
    };
    assert_eq!(origin("profile"), Origin::CommandLine("--profile".into()));
    assert_eq!(
        origin("survivors"),
        Origin::Environment("AGENT_BASH_SURVIVORS".into())
    );
    assert!(matches!(origin("limits.cpu_s"), Origin::Project(_)));
    assert_eq!(origin("limits.memory_mb"), Origin::Default);
}

#[test]
fn project_file_may_tighten() {
    let user = "[interceptor]\ntools = [\"read\"]\n[safety]\noff = [\"no_force_push\"]\n[limits]\nfile_mb = 10\n[timeout]\nmax = \"10m\"";
    for project in [
        "[safety]\ngroups = [\"core\", \"inline_code\", \"system\", \"data_loss\"]",
        "[safety]\noff = []",
        "[safe_mode]\nlevel = \"read_only\"",
        "[safe_mode]\nallowed = [\"git\", \"ls\"]",
        "[interceptor]\nmode = \"block\"",
        "[interceptor]\ntools = [\"grep\", \"read\"]",
        "[limits]\nfile_mb = 10\nmemory_mb = 100",
        "[timeout]\nmax = \"5m\"",
        "[sandbox]\nlevel = \"read_only\"\nnetwork = \"off\"\nlacking = \"refuse\"\nescalation = \"never\"\ntmp = \"own\"",
        "[sandbox]\nhidden = [\"/srv/keys\"]\nprotected = [\"~/a\"]",
    ] {
        let got = load_layers(&Layers {
            user,
            project,
            ..NONE
        });
        assert!(got.is_ok(), "{project}: {got:?}");
    }
}

#[test]
fn project_file_may_not_loosen_or_set_shell_or_environment() {
    let user = "[safe_mode]\nlevel = \"listed\"\n[interceptor]\nmode = \"advise\"\ntools = [\"read\"]\n[limits]\nfile_mb = 10\n[timeout]\nmax = \"10m\"\n[sandbox]\nlevel = \"workspace_write\"\nlacking = \"refuse\"";
    for project in [
        "profile = \"workspace\"",
        "survivors = \"adopt\"",
        "[shell]\npath = \"/tmp/sh\"",
        "[shell]\nprefix = \"evil;\"",
        "[environment]\nset = { LD_PRELOAD = \"x\" }",
        "[environment]\nkeep = [\"*\"]",
        "[environment]\ninherit = \"core\"",
        "[safety]\noff = [\"no_force_push\"]",
        "[safe_mode]\nlevel = \"off\"",
        "[safe_mode]\nallowed = [\"git\", \"make\"]",
        "[interceptor]\nmode = \"off\"",
        "[interceptor]\nrules = []",
        "[limits]\nfile_mb = 11",
        "[timeout]\nmax = \"11m\"",
        "[sandbox]\nlevel = \"off\"",
        "[sandbox]\nnetwork = \"loopback\"",
        "[sandbox]\nlacking = \"accept\"",
        "[sandbox]\ntmp = \"shared\"",
        "[sandbox]\nescalation = \"ask\"",
        "[sandbox]\nwritable = []",
        "[sandbox]\nreadable = [\"~/.ssh\"]",
        "[sandbox]\ndevices = [\"/dev/kvm\"]",
        "[sandbox]\nsecrets = {}",
    ] {
        let error = load_layers(&Layers {
            user,
            project,
            ..NONE
        })
        .unwrap_err();
        assert!(
            matches!(error, SettingsError::NotForProjects { .. }),
            "{project}: {error}"
        );
        // Control: the user may set the same.
        let allowed = load_layers(&Layers {
            user: project,
            ..NONE
        });
        assert!(allowed.is_ok(), "{project}: {allowed:?}");
    }
}

#[test]
fn lists_of_a_project_file_only_add_entries() {
    let user = "[interceptor]\ntools = [\"read\"]\n[safety]\non = [\"no_container_data_removal\"]";
    // Written when there were only two groups.
    let project = "[interceptor]\ntools = [\"grep\", \"read\"]\n[safety]\ngroups = [\"core\", \"data_loss\"]\non = []";
    let with = |user, project| {
        load_layers(&Layers {
            user,
            project,
            ..NONE
        })
        .unwrap()
    };
    let loaded = with(user, project);
    let shown = |key: &str| {
        let mut all = loaded.provenance();
        let (_, value, origin) = all.find(|(name, ..)| *name == key).unwrap();
        (value.unwrap(), matches!(origin, Origin::Project(_)))
    };
    let groups = r#"["core", "inline_code", "data_loss", "system"]"#;
    assert_eq!(sorted(&shown("safety.groups").0), sorted(groups));
    assert!(shown("safety.groups").1);
    assert_eq!(sorted(&shown("interceptor.tools").0), ["grep", "read"]);
    assert_eq!(
        shown("safety.on"),
        ("[\"no_container_data_removal\"]".to_owned(), false)
    );
    // Control: the user's own list applies unchanged.
    let own = with(project, "").settings.safety_groups;
    assert_eq!(own.len(), 2, "{own:?}");
}

#[test]
fn safe_mode_level_accepts_the_spelling_of_the_command_line() {
    for (user, want) in [
        (
            "[safe_mode]\nlevel = \"read-only\"",
            Some(SafeLevel::ReadOnly),
        ),
        (
            "[safe_mode]\nlevel = \"read_only\"",
            Some(SafeLevel::ReadOnly),
        ),
        ("[safe_mode]\nlevel = \"listed\"", Some(SafeLevel::Listed)),
        ("[safe_mode]\nlevel = \"off\"", None),
    ] {
        let loaded = load_layers(&Layers { user, ..NONE });
        assert_eq!(loaded.unwrap().settings.safe_mode, want, "{user}");
    }
}

fn sorted(list: &str) -> Vec<String> {
    let words = list.trim_matches(['[', ']']).split(", ");
    let mut words: Vec<String> = words.map(|word| word.replace('"', "")).collect();
    words.sort();
    words
}

#[test]
fn errors_name_the_origin_the_key_and_the_value() {
    let in_user = |user| {
        load_layers(&Layers { user, ..NONE })
            .unwrap_err()
            .to_string()
    };
    for (user, want) in [
        (
            "profle = \"modes\"",
            "unknown setting `profle`; the nearest is `profile`",
        ),
        (
            "[limits]\nmemory = 1",
            "unknown setting `limits.memory`; the nearest is `limits.memory_mb`",
        ),
        (
            "histroy = \"off\"",
            "unknown setting `histroy`; the nearest is `tui.history`",
        ),
        // No word that is nothing like it.
        (
            "[bogus]\nx = 1",
            "unknown setting `bogus`; `agent-bash settings --default` lists all settings",
        ),
        (
            "profile = \"other\"",
            "`profile` = \"other\": unknown variant `other`",
        ),
        (
            "profile = 5",
            "`profile` = 5: unknown variant `5`, expected one of `standard`",
        ),
        (
            "profile = [\"a\"]",
            "unknown variant `[\"a\"]`, expected one of `standard`",
        ),
        // The control: a type without words.
        ("targets = 5", "`targets` = 5: invalid type: integer `5`"),
        (
            "[safety]\nrules = [{ match = { program = \"terraform|git push\" }, say = \"x\" }]",
            "`terraform|git push` is not the name of a program: leave out its directory",
        ),
        (
            "[limits]\ncpu_s = 0",
            "`limits.cpu_s` = 0: a whole number, 1 or more",
        ),
        (
            "[timeout]\ndefault = \"soon\"",
            "`timeout.default` = \"soon\": `soon` is not a duration",
        ),
        (
            "[journal]\nkeep = \"7\"",
            "`journal.keep` = \"7\": a number with a unit, such as",
        ),
        (
            "[changes]\nkeep = 24",
            "`changes.keep` = 24: a number with a unit, such as",
        ),
        (
            "[journal]\nkeep = \"xd\"",
            "`xd` is not a duration; write a number with a unit: `90s`, `2m`, `1h`, `7d`",
        ),
        (
            "[shell]\npath = \"bash\"",
            "`shell.path` = \"bash\": an absolute path",
        ),
        (
            "[safety]\non = [\"no_such\"]",
            "no safety rule or group is called `no_such`",
        ),
        ("profile = ", "config.toml: TOML parse error at line 1"),
    ] {
        let error = in_user(user);
        assert!(error.contains(want), "{user}: {error}");
        assert!(error.contains("config.toml"), "{user}: {error}");
    }
    let env = Layers {
        env: &[("AGENT_BASH_LIMITS_CPU_S", "x")],
        ..NONE
    };
    assert_eq!(
        load_layers(&env).unwrap_err().to_string(),
        "$AGENT_BASH_LIMITS_CPU_S: `limits.cpu_s` = \"x\": a whole number, 1 or more"
    );
}

#[test]
fn configure_passes_the_settings_to_the_tool() {
    let changed = settings(&Layers {
        user: "[timeout]\ndefault = \"10s\"\nmax = \"20s\"\n[output]\nmax_line_chars = 4000\n[environment]\nkeep = [\"MY_TOKEN\"]\nset = { A = \"1\" }\n[safety]\non = [\"data_loss\"]\noff = [\"no_force_push\"]",
        ..NONE
    });
    let profile = changed.profile();
    assert_eq!(profile.timeouts.default, Duration::from_secs(10));
    assert_eq!(profile.timeouts.max, Duration::from_secs(20));
    assert_eq!(profile.timeouts.slow, Duration::from_secs(20));
    assert_eq!(profile.output.max_line_chars, Some(4000));
    let environment = changed.environment();
    assert_eq!(environment.session.len(), 1);
    let secrets = environment.secrets.unwrap();
    assert!(!secrets.is_secret("MY_TOKEN".as_ref(), "x".as_ref()));
    assert!(secrets.is_secret("OTHER_TOKEN".as_ref(), "x".as_ref()));
    let rules = changed.rules().unwrap();
    let includes = |id: &str| {
        let mut all = agent_bash_policy::rules().iter();
        rules.includes(all.find(|rule| rule.id == id).unwrap())
    };
    assert!(!includes("no_force_push") && includes("no_blind_git_add"));
}

#[test]
fn rules_of_a_project_are_added_to_those_of_the_user() {
    let loaded = settings(&Layers {
        user: "[safety]\nrules = [{ match = { program = \"terraform\", arguments = [\"apply\"] }, say = \"plan first\", instead = \"terraform plan\" }]",
        project: "[safety]\nrules = [{ match = { program = \"make\", arguments = [\"deploy\"] }, say = \"CI deploys\" }]",
        ..NONE
    });
    let policy = loaded.policy().unwrap();
    let context = Context::new("/w");
    for (script, says) in [
        ("sudo terraform apply", Some("plan first")),
        ("make -j2 deploy", Some("CI deploys")),
        ("terraform plan; make", None),
    ] {
        let read = agent_bash_policy::Script::read(script, &context);
        let verdict = policy.decide(&read);
        let finding = verdict.finding().map(|finding| finding.message.as_str());
        assert_eq!(finding, says, "{script}");
    }
    let unknown = load_layers(&Layers {
        user: "[safety]\nrules = [{ match = { programm = \"x\" }, say = \"y\" }]",
        ..NONE
    });
    assert!(unknown.is_err());
}

#[test]
fn retention_of_whole_days_is_written_in_days() {
    const HOUR_SECS: u64 = 60 * 60;
    for (user, hours, shown) in [
        ("[journal]\nkeep = \"7d\"", 7 * 24, "\"7d\""),
        ("[journal]\nkeep = \"1.5 d\"", 36, "\"36h\""),
        ("[journal]\nkeep = \"24h\"", 24, "\"1d\""),
        ("[journal]\nkeep = \"720m\"", 12, "\"12h\""),
    ] {
        let loaded = load_layers(&Layers { user, ..NONE }).unwrap();
        let keep = loaded.settings.journal.keep;
        assert_eq!(keep, Duration::from_secs(hours * HOUR_SECS), "{user}");
        let mut all = loaded.provenance();
        let (_, value, _) = all.find(|(name, ..)| *name == "journal.keep").unwrap();
        assert_eq!(value.as_deref(), Some(shown), "{user}");
    }
}

#[test]
fn default_file_parses_as_the_defaults_with_and_without_comments() {
    let text = default_file();
    let table: toml::Table = text.parse().unwrap();
    assert!(
        table
            .values()
            .all(|section| section.as_table().is_some_and(toml::Table::is_empty))
    );
    // With the comment marks removed from each line that sets something.
    let active: String = text
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(set) if !set.starts_with(' ') && !set.ends_with('…') => format!("{set}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let layers = Layers {
        user: active.leak(),
        ..NONE
    };
    assert_eq!(settings(&layers), Settings::default());
}

#[test]
fn misspelt_variables_finds_the_nearest_setting() {
    let env = [
        "AGENT_BASH_PROFLE", "AGENT_BASH_PROFILE", "AGENT_BASH_LOG", "AGENT_BASH_SOMETHING_ELSE",
        "PROFILE",
    ];
    let host = HostContext {
        env: Arc::new(env.iter().map(|name| (name.into(), "x".into())).collect()),
        ..HostContext::bare("/")
    };
    assert_eq!(
        misspelt_variables(&host),
        [(
            "AGENT_BASH_PROFLE".to_owned(),
            "AGENT_BASH_PROFILE".to_owned()
        )]
    );
}

#[test]
fn sandbox_section_accepts_only_absolute_and_home_paths() {
    let project = "[sandbox]\nlevel = \"read_only\"\nhidden = [\"/b\"]";
    let got = settings(&Layers {
        user: "[sandbox]\nlevel = \"workspace_write\"\nnetwork = \"loopback\"\nwritable = [\"~/.cache\"]\nhidden = [\"/a\"]\ntmp = \"shared\"",
        project,
        env: &[("AGENT_BASH_SANDBOX_DEVICES", "/dev/kvm, /dev/fuse")],
    });
    let want = SandboxSettings {
        level: SandboxLevel::ReadOnly,
        network: Network::Loopback,
        writable: vec!["~/.cache".into()],
        hidden: vec!["/b".into(), "/a".into()],
        devices: vec!["/dev/kvm".into(), "/dev/fuse".into()],
        tmp: TmpDirectory::Shared,
        ..SandboxSettings::default()
    };
    assert_eq!(got.sandbox, want);
    for (user, wanted) in [
        (
            "[sandbox]\nwritable = [\"build\"]",
            "absolute or begin with `~/`",
        ),
        ("[sandbox]\nlevel = \"full\"", "`workspace_write`"),
        ("[sandbox]\nnetwork = false", "sandbox.network"),
    ] {
        let error = load_layers(&Layers { user, ..NONE })
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "{user}: {error}");
    }
}

#[test]
fn network_is_a_word_or_a_list_of_hosts() {
    for (user, variable, network, hosts) in [
        ("'on'", None, Network::On, vec![]),
        (
            "['npm', '*.a.example:8443']",
            None,
            Network::Hosts,
            vec!["npm", "*.a.example:8443"],
        ),
        ("'npm'", None, Network::Hosts, vec!["npm"]),
        ("['npm']", Some("off"), Network::Off, vec![]),
        (
            "'off'",
            Some("npm, a.example"),
            Network::Hosts,
            vec!["npm", "a.example"],
        ),
    ] {
        let variable = variable.map(|value| ("AGENT_BASH_SANDBOX_NETWORK", value));
        let (user, env) = (
            format!("[sandbox]\nnetwork = {user}"),
            variable.into_iter().collect::<Vec<_>>(),
        );
        let got = settings(&Layers {
            user: &user,
            env: &env,
            ..NONE
        });
        assert_eq!(
            (got.sandbox.network, got.sandbox.hosts.clone()),
            (network, hosts.iter().map(|&host| host.to_owned()).collect())
        );
        assert_eq!(Settings::from_remote(&got.to_remote()).unwrap(), got);
    }
    for (value, reason) in [
        ("'hosts'", "`hosts` is no host"),
        (
            "'ofline'",
            "or a list of hosts (`name`, `*.name`, an address, each with an optional `:port`) and presets (npm, pypi, crates, github, debian)",
        ),
        (
            "['a.example', 'https://b.example']",
            "`https://b.example` is no host",
        ),
        ("[]", "the list is empty"),
    ] {
        let user = &format!("[sandbox]\nnetwork = {value}");
        let error = load_layers(&Layers { user, ..NONE })
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn secrets_are_dropped_from_the_environment_and_have_placeholders() {
    let user = "[environment]\nkeep = ['PLAIN_*', 'A_TOKEN']\n[sandbox.secrets]\n\
                A_TOKEN = { hosts = ['api.example.com', 'http://10.0.0.1:8080'] }\n\
                PLAIN_NAME = { hosts = [] }\nMISSING = { hosts = [] }";
    let got = settings(&Layers { user, ..NONE });
    assert_eq!(Settings::from_remote(&got.to_remote()).unwrap(), got);
    let env = [
        ("A_TOKEN", "ghp_0123456789abcdefghij"),
        ("PLAIN_NAME", "short"),
    ];
    let env: BTreeMap<OsString, OsString> =
        env.map(|(name, value)| (name.into(), value.into())).into();
    let filter = got.environment().secrets.unwrap();
    assert!(
        env.iter()
            .all(|(name, value)| filter.is_secret(name, value))
    );
    assert!(!filter.is_secret("PLAIN_OTHER".as_ref(), "x".as_ref()));
    let secrets = got.sandbox.host_secrets(&env, &Placeholders::default());
    assert_eq!(secrets.len(), 1);
    assert_eq!(secrets[0].variable, "A_TOKEN");
    assert_eq!(secrets[0].value(), "ghp_0123456789abcdefghij");
    assert!(secrets[0].placeholder.starts_with("ghp_"));
    for (value, reason) in [
        ("{ A = { hosts = ['https://a.com'] } }", "is no host"),
        (
            "{ 'A B' = { hosts = [] } }",
            "`A B` is no name of a variable",
        ),
        ("{ A = { host = [] } }", "unknown field `host`"),
        ("{ A = 'a.com' }", "sandbox.secrets"),
    ] {
        let user = &format!("[sandbox]\nsecrets = {value}");
        let error = load_layers(&Layers { user, ..NONE })
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn list_of_hosts_of_a_project_may_only_be_narrower() {
    for (user, project, is_accepted) in [
        (
            "['npm', '*.a.example']",
            "['registry.npmjs.org', 'b.a.example']",
            true,
        ),
        ("['npm', '*.a.example']", "'loopback'", true),
        ("'on'", "['npm']", true),
        ("['npm']", "['npm', 'a.example']", false),
        ("['npm']", "['registry.npmjs.org:8443']", false),
        ("['npm']", "'on'", false),
        ("'loopback'", "['npm']", false),
        ("'off'", "['npm']", false),
    ] {
        let section = |network: &str| format!("[sandbox]\nnetwork = {network}");
        let loaded = load_layers(&Layers {
            user: &section(user),
            project: &section(project),
            ..NONE
        });
        assert_eq!(loaded.is_ok(), is_accepted, "{user} {project}");
    }
}

#[test]
fn target_in_the_settings_takes_precedence() {
    let mut settings = Settings::default();
    assert!(settings.target("box").is_err());
    assert_eq!(settings.target("docker:box").unwrap().name, "docker:box");
    let target = toml::from_str("transport = 'podman'\nto = 'c'").unwrap();
    settings.targets.insert("box".to_owned(), target);
    let way = agent_bash_remote::TargetTransport::Podman {
        container: "c".to_owned(),
    };
    assert_eq!(settings.target("box").unwrap().transport, way);
}
