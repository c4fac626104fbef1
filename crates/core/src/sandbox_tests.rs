use super::*;

#[test]
fn word_equals_the_serde_name() {
    let levels = [
        SandboxLevel::ReadOnly,
        SandboxLevel::WorkspaceWrite,
        SandboxLevel::Off,
    ];
    for level in levels {
        assert_eq!(serde_json::to_value(level).unwrap(), level.word());
    }
    for network in [Network::Off, Network::Loopback, Network::Hosts, Network::On] {
        assert_eq!(serde_json::to_value(network).unwrap(), network.word());
    }
    for lack in [
        MissingPromise::Protected,
        MissingPromise::Metadata,
        MissingPromise::Stat,
        MissingPromise::Ipc,
        MissingPromise::Terminals,
        MissingPromise::Signals,
        MissingPromise::Truncate,
        MissingPromise::Moves,
    ] {
        assert_eq!(serde_json::to_value(lack).unwrap(), lack.word());
    }
    for access in [Access::Read, Access::Write] {
        assert_eq!(serde_json::to_value(access).unwrap(), access.word());
    }
}

#[test]
fn enforced_follows_from_the_missing_promises() {
    let with = |missing: &[MissingPromise]| {
        let report = Report {
            tier: Tier::Full,
            missing: missing.to_vec(),
        };
        let confined = ObservedSandbox::new(report);
        Sandboxed::new(SandboxLevel::ReadOnly, Network::Off, Some(&confined)).enforced
    };
    assert_eq!(with(&[]), Enforced::Full);
    assert_eq!(with(&[MissingPromise::Stat]), Enforced::Partial);
    let out = Sandboxed::new(SandboxLevel::Off, Network::On, None);
    assert_eq!(out.enforced, Enforced::Nothing);
}

#[test]
fn levels_that_allow_more_are_greater() {
    assert!(SandboxLevel::ReadOnly < SandboxLevel::WorkspaceWrite);
    assert!(SandboxLevel::WorkspaceWrite < SandboxLevel::Off);
    assert!(Network::Off < Network::Loopback && Network::Loopback < Network::Hosts);
    assert!(Network::Hosts < Network::On);
}
