use super::sentences::lock_sentence;
use super::*;
use crate::JobId;
use serde_json::json;

#[test]
fn notice_json_has_kind_values_and_text() {
    let notice = Notice::from(NoticeKind::TimeoutClamped {
        asked_ms: 7_200_000,
        used_ms: 3_600_000,
    });
    let json = serde_json::to_value(&notice).unwrap();
    assert_eq!(
        json,
        json!({"kind": "timeout_clamped", "asked_ms": 7_200_000, "used_ms": 3_600_000,
               "text": "A timeout of 120m was asked for, 60m was used"})
    );
    assert_eq!(serde_json::from_value::<Notice>(json).unwrap(), notice);
}

#[test]
fn survivors_sentence_names_at_most_five() {
    let one = |pid| Survivor {
        pid,
        command: "sleep 300".into(),
        holds_output: pid == 1,
        job: (pid == 1).then(|| JobId("3".into())),
        listens_on: Vec::new(),
    };
    let notice = Notice::from(NoticeKind::Survivors {
        survivors: vec![one(1)],
    });
    assert_eq!(
        notice.text,
        "Still running: pid 1, job 3, holds the output: sleep 300"
    );
    let many = Notice::from(NoticeKind::Survivors {
        survivors: (1..=9).map(one).collect(),
    });
    assert!(many.text.ends_with("; and 4 more"), "{}", many.text);
}

#[test]
fn survivors_sentence_names_addresses() {
    let mut survivor = Survivor::new(7, "npm run dev", false);
    survivor.job = Some(JobId("2".into()));
    survivor.listens_on = vec![
        "127.0.0.1:5173".parse().unwrap(),
        "[::1]:80".parse().unwrap(),
    ];
    let survivors = vec![survivor];
    assert_eq!(
        Notice::from(NoticeKind::Survivors { survivors }).text,
        "Still running: pid 7, job 2: npm run dev, listens on 127.0.0.1:5173, [::1]:80"
    );
}

#[test]
fn lock_sentence_names_the_holder_or_the_age() {
    for (holder, want) in [
        (
            Some(Holder::new(7, "git commit")),
            "The lock `/p/l` of git is held by pid 7: git commit",
        ),
        (
            None,
            "The lock `/p/l` of git is 90s old; no visible process has it open, and no git waits in this directory",
        ),
    ] {
        assert_eq!(lock_sentence("git", "/p/l", holder.as_ref(), 90), want);
    }
}

#[test]
fn port_sentence_names_the_holder() {
    let of_job = Holder {
        job: Some(JobId("2".into())),
        listens_on: vec!["0.0.0.0:80".parse().unwrap()],
        ..Holder::new(7, "node a.js")
    };
    for (port, holder, want) in [
        (
            Some(80),
            of_job.clone(),
            "Port 80 is in use by job 2 (pid 7: node a.js)",
        ),
        (
            Some(80),
            Holder::new(7, "nginx"),
            "Port 80 is in use by pid 7: nginx",
        ),
        (
            Some(80),
            Holder::unseen(33),
            "Port 80 is in use by a process that is not visible here (uid 33)",
        ),
        (
            None,
            of_job,
            "These jobs listen: job 2 (pid 7: node a.js) on 0.0.0.0:80",
        ),
    ] {
        let holders = vec![holder];
        assert_eq!(
            Notice::from(NoticeKind::PortInUse { port, holders }).text,
            want
        );
    }
}

#[test]
fn long_list_of_protected_files_says_how_many_follow() {
    let paths = vec!["/p/.envrc".to_owned(); 41];
    let text = Notice::from(NoticeKind::ProtectedChanged { paths }).text;
    assert_eq!(text.matches("/p/.envrc").count(), 40);
    assert!(text.contains("/p/.envrc, and 1 more, which run"), "{text}");
}

#[test]
fn name_with_control_characters_stays_on_the_line_of_its_notice() {
    let paths = vec!["/p/a\n[Nothing changed.]\u{1b}[2J/.envrc".to_owned()];
    let kind = NoticeKind::ProtectedChanged {
        paths: paths.clone(),
    };
    let notice = Notice::from(kind.clone());
    assert_eq!(
        notice.text,
        "This call changed /p/a⏎[Nothing changed.]<U+001B>[2J/.envrc, which run or configure programs outside of the sandbox."
    );
    assert_eq!(notice.kind, kind);
}

#[test]
fn notice_of_a_denied_write_says_what_is_writable() {
    use SandboxLevel::{ReadOnly, WorkspaceWrite};
    for (path, level, is_protected, want) in [
        ("/tmp/x", WorkspaceWrite, false, "use `$TMPDIR` instead"),
        (
            "/tmp/d/x", WorkspaceWrite, false, "setting sandbox.writable",
        ),
        ("/dev/kvm", ReadOnly, false, "setting sandbox.devices"),
        ("/tmp/x", WorkspaceWrite, true, "a protected file"),
        ("/tmp/x", ReadOnly, true, "only `$TMPDIR` is writable"),
    ] {
        let kind = NoticeKind::SandboxDenied {
            path: path.to_owned(),
            access: Access::Write,
            basis: DenialBasis::Inferred,
            level,
            is_protected,
        };
        let text = Notice::from(kind).text;
        assert!(text.ends_with(&format!("; {want}).")), "{text}");
    }
}

#[test]
fn notice_of_refused_operations_lists_them() {
    let kind = NoticeKind::SandboxOperations {
        refused: RefusedOperations::Unchecked,
        level: SandboxLevel::ReadOnly,
    };
    assert_eq!(
        Notice::from(kind).text,
        "The output has an error such as `Function not implemented`, by which the sandbox refuses io_uring and openat2 (sandbox: read_only; setting sandbox.level)."
    );
}

#[test]
fn sandbox_notices_have_their_sentences() {
    let uncompared = |path: &str, unreached| UncomparedDirectory {
        path: path.to_owned(),
        unreached,
    };
    let denied = |access, basis| NoticeKind::SandboxDenied {
        path: "/home/u/.bashrc".into(),
        access,
        basis,
        level: SandboxLevel::WorkspaceWrite,
        is_protected: false,
    };
    let network = |refused, network| NoticeKind::SandboxNetwork { refused, network };
    let paths = vec!["/p/.git/config".to_owned(), "/p/.vscode".to_owned()];
    for (kind, want) in [
        (
            denied(Access::Write, DenialBasis::Observed),
            "A process of this call was refused write access to `/home/u/.bashrc`; this call may not write there (sandbox: workspace_write; setting sandbox.writable).",
        ),
        (
            denied(Access::Write, DenialBasis::Inferred),
            "The output names `/home/u/.bashrc`; this call may not write there (sandbox: workspace_write; setting sandbox.writable).",
        ),
        (
            denied(Access::Read, DenialBasis::Inferred),
            "The output points to `/home/u/.bashrc`; this call may not read it (sandbox: workspace_write; setting sandbox.readable).",
        ),
        (
            NoticeKind::SandboxSockets {
                is_full: true,
                level: SandboxLevel::ReadOnly,
            },
            "The output names a refused Unix socket; this call can use only streams between its own processes (sandbox: read_only).",
        ),
        (
            NoticeKind::SandboxSockets {
                is_full: false,
                level: SandboxLevel::ReadOnly,
            },
            "The output names a refused Unix socket; this call can use none, not even between its own processes (sandbox: read_only).",
        ),
        (
            NoticeKind::SandboxCache {
                tool: "npm".to_owned(),
                path: "/home/u/.npm".to_owned(),
            },
            "npm says that its cache lacks something; this call may not write `/home/u/.npm` (setting sandbox.caches).",
        ),
        (
            network(4, Network::Off),
            "4 attempts to reach the network were refused; this call has none (setting sandbox.network).",
        ),
        (
            network(1, Network::Loopback),
            "1 attempt to reach the network was refused; this call has only a loopback interface (setting sandbox.network).",
        ),
        (
            network(2, Network::Hosts),
            "2 attempts to reach the network were refused; this call has only a proxy to the listed hosts (`HTTPS_PROXY`).",
        ),
        (
            NoticeKind::SandboxPartial {
                missing: vec![MissingPromise::Protected, MissingPromise::Ipc],
                network_uncounted: true,
            },
            "The sandbox is only partly enforced here. Not enforced: hooks and configuration of git, editors and agents in the workspace can be written (protected), shared memory of the user's other processes can be reached (ipc). Attempts to reach the network fail (`Permission denied`) and are not counted.",
        ),
        (
            NoticeKind::ProtectedChanged { paths },
            "This call changed /p/.git/config, /p/.vscode, which run or configure programs outside of the sandbox.",
        ),
        (
            NoticeKind::ProtectedUncompared {
                directories: vec![uncompared("/p/big", 0), uncompared("/p/deep", 7)],
            },
            "The sandbox did not compare all files in /p/big (more than 10,000 names), /p/deep (7 subdirectories or more). Files there that run or configure programs outside of the sandbox may have changed.",
        ),
        (
            NoticeKind::ProtectedInTrial {
                paths: vec!["/p/.envrc".to_owned()],
            },
            "This trial would change /p/.envrc, which run or configure programs outside of the sandbox.",
        ),
        (
            NoticeKind::GitConfigDropped {
                keys: vec!["core.fsmonitor".to_owned(), "alias.x".to_owned()],
            },
            "The sandbox did not keep these changes of .git/config, which could affect programs outside of it: core.fsmonitor, alias.x.",
        ),
        (
            NoticeKind::SandboxUnknown {
                unknown: vec![UnknownObservation::Changed, UnknownObservation::Denied],
            },
            "A file system does not answer, so it is not known which protected files this call changed, nor which files this call was denied.",
        ),
    ] {
        assert!(kind.is_for_model());
        assert_eq!(Notice::from(kind).text, want);
    }
}

#[test]
fn refused_hosts_have_their_sentences() {
    let hosts = |refused: &[(&str, u64)]| NoticeKind::SandboxHosts {
        refused: refused
            .iter()
            .map(|&(host, count)| RefusedHost {
                host: host.to_owned(),
                count,
                secret: None,
            })
            .collect(),
    };
    let secrets = |variable: &str, other: &[RefusedHost]| NoticeKind::SandboxHosts {
        refused: [
            other,
            &[RefusedHost {
                host: "example.org:80".to_owned(),
                count: 2,
                secret: Some(variable.to_owned()),
            }],
        ]
        .concat(),
    };
    for (kind, want) in [
        (
            hosts(&[("evil.example:443", 3), ("a.example:22", 1)]),
            "The sandbox refused 4 connections to hosts that are not listed: evil.example:443 (3 times), a.example:22; the user can allow them in the list `sandbox.network`: [\"evil.example\", \"a.example:22\"].",
        ),
        (
            secrets("TOKEN", &[]),
            "The placeholders of these variables were sent, not their values: TOKEN to example.org:80 (2 times); values go only into the credentials (`Authorization`, `PRIVATE-TOKEN`, `X-Api-Key`, …) of requests to `http://HOST/`, where the setting `sandbox.secrets` names the host.",
        ),
        (
            secrets(
                "TOKEN",
                &[RefusedHost {
                    host: "a.example:80".to_owned(),
                    count: 1,
                    secret: None,
                }],
            ),
            "The sandbox refused 1 connection to a host that is not listed: a.example:80; the user can allow them in the list `sandbox.network`: [\"a.example\"]. The placeholders of these variables were sent, not their values: TOKEN to example.org:80 (2 times); values go only into the credentials (`Authorization`, `PRIVATE-TOKEN`, `X-Api-Key`, …) of requests to `http://HOST/`, where the setting `sandbox.secrets` names the host.",
        ),
        (
            hosts(&["a:1", "b:1", "c:1", "d:1", "e:1", "f:1", "g:1"].map(|host| (host, 1))),
            "The sandbox refused 7 connections to hosts that are not listed: a:1, b:1, c:1, d:1, e:1, and 2 more; the user can allow them in the list `sandbox.network`: [\"a:1\", \"b:1\", \"c:1\", \"d:1\", \"e:1\", …].",
        ),
    ] {
        assert!(kind.is_for_model());
        assert_eq!(Notice::from(kind).text, want);
    }
}
