//! The definitions of the profiles' tools.

use crate::profiles;
use crate::schema::fields;
use crate::{SandboxTerms, ToolSchema};
use agent_bash_core::sandbox::{
    Escalation, LackingPolicy, MissingPromise, Network, Report, SandboxLevel, Tier, TmpDirectory,
};
use agent_bash_core::{Profile, ProfileName};
use agent_bash_policy::SafeMode;
use serde_json::json;
use std::path::Path;

/// The default settings.
const UNRESTRICTED: SandboxTerms<'_> = SandboxTerms {
    level: SandboxLevel::Off,
    network: Network::Off,
    hosts: &[],
    has_placeholders: false,
    lacking: LackingPolicy::Accept,
    tmp: TmpDirectory::Private,
    escalation: Escalation::Never,
};

fn bash(profile: &Profile) -> ToolSchema {
    profiles::schema(profile, Path::new("/src/project"))
}

#[test]
fn description_names_the_commands_of_safe_mode() {
    let plain = bash(profiles::ALL[0]);
    assert_eq!(plain.clone().with_safe_mode(None), plain);
    let safe = plain
        .clone()
        .with_safe_mode(Some(&SafeMode::default()))
        .description;
    for part in ["Safe mode is on", "git, grep, rg"] {
        assert!(safe.contains(part), "{part}: {safe}");
    }
}

#[test]
fn with_sandbox_describes_the_sandbox_if_there_is_one() {
    let plain = bash(profiles::ALL[0]);
    let mut own = UNRESTRICTED;
    assert_eq!(plain.clone().with_sandbox(&own, None), plain);
    for (level, network, escalation, wanted) in [
        (
            SandboxLevel::ReadOnly,
            Network::Off,
            Escalation::Never,
            "they may write in $TMPDIR only and have no network",
        ),
        (
            SandboxLevel::WorkspaceWrite,
            Network::On,
            Escalation::Never,
            "they may write in the workspace and $TMPDIR only and have the network",
        ),
        (
            SandboxLevel::WorkspaceWrite,
            Network::Loopback,
            Escalation::Ask,
            "A call that needs more access asks for it with `sandbox` and the reason",
        ),
    ] {
        (own.level, own.network, own.escalation) = (level, network, escalation);
        let sandboxed = plain.clone().with_sandbox(&own, None);
        assert!(
            sandboxed.description.contains(wanted),
            "{}",
            sandboxed.description
        );
        let field = &sandboxed.input_schema["properties"]["sandbox"];
        assert_eq!(field["required"], json!(["reason"]));
        let asks = sandboxed.description.contains("asks for it");
        assert_eq!(asks, escalation == Escalation::Ask);
    }
}

#[test]
fn description_names_missing_promises_and_does_not_promise_them() {
    let plain = bash(profiles::ALL[0]);
    let mut own = SandboxTerms {
        level: SandboxLevel::WorkspaceWrite,
        ..UNRESTRICTED
    };
    let mut report = Report {
        tier: Tier::Base,
        missing: vec![MissingPromise::Protected, MissingPromise::Signals],
    };
    let described = |own: &SandboxTerms<'_>, report: &Report| {
        plain.clone().with_sandbox(own, Some(report)).description
    };
    let partial = described(&own, &report);
    let (promised, signalled) = (
        "in the workspace cannot be changed",
        "processes of other calls cannot be signalled",
    );
    assert!(
        !partial.contains(promised) && !partial.contains(signalled),
        "{partial}"
    );
    for lack in &report.missing {
        assert!(partial.contains(lack.consequence()), "{lack}: {partial}");
    }
    let loopback = "no network but each call's own loopback";
    assert!(partial.contains(loopback));
    report.missing.push(MissingPromise::Ipc);
    assert!(!described(&own, &report).contains(loopback));
    own.lacking = LackingPolicy::Refuse;
    assert!(described(&own, &report).contains("every call is refused"));
    own.level = SandboxLevel::ReadOnly;
    report.missing = vec![MissingPromise::Protected];
    assert!(!described(&own, &report).contains("partly"));
    own.level = SandboxLevel::WorkspaceWrite;
    report.missing.clear();
    let full = described(&own, &report);
    assert!(full.contains(promised) && full.contains(signalled) && !full.contains("partly"));
    own.network = Network::Hosts;
    assert!(!described(&own, &report).contains("have placeholders"));
    own.has_placeholders = true;
    assert!(described(&own, &report).contains("have placeholders"));
}

#[test]
fn each_profile_shows_its_fields_and_requires_the_command() {
    for profile in profiles::ALL {
        let schema = bash(profile).input_schema;
        let shown: Vec<&str> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let mut want = profile.schema_fields.to_vec();
        want.sort_unstable();
        assert_eq!(shown, want, "{:?}", profile.name);
        assert_eq!(schema["required"], serde_json::json!(["command"]));
    }
}

#[test]
fn terminals_are_described_where_the_field_is_shown() {
    let tool = bash(&profiles::STANDARD).with_terminals();
    assert!(
        tool.description
            .contains("\nWithout `pty` there is no terminal, and")
    );
    assert!(tool.input_schema["properties"]["pty"] == fields::driven_terminal());
    let tool = bash(&profiles::PAGED);
    assert_eq!(tool.clone().with_terminals(), tool);
}

#[test]
fn each_description_has_the_facts_that_the_contract_requires() {
    for profile in [&profiles::STANDARD, &profiles::PAGED, &profiles::WORKSPACE] {
        let text = bash(profile).description;
        for needed in [
            "/src/project", "do not persist between calls", "seconds", "kept", "`head` or `tail`",
        ] {
            assert!(text.contains(needed), "{:?}: {needed}", profile.name);
        }
    }
}

/// True if a description mentions a field: `field`, or field=.
fn mentions(description: &str, field: &str) -> bool {
    // Commands with these names are mentioned, too.
    let text = description.replace("pipe into `head` or `tail`", "");
    text.contains(&format!("`{field}`")) || text.contains(&format!("{field}="))
}

#[test]
fn descriptions_mention_only_fields_of_their_schema() {
    let all = profiles::STANDARD.schema_fields;
    for profile in profiles::ALL {
        for missing in all {
            // The profile's own fields, and each subset that a host may choose by leaving one
            // out.
            let fields: Vec<&'static str> = profile.schema_fields.to_vec();
            let fewer: Vec<&'static str> = fields
                .iter()
                .copied()
                .filter(|field| field != missing)
                .collect();
            let fewer: &'static [&'static str] = fewer.leak();
            // The texts of `modes` are fixed, and so are its fields.
            let is_fixed = profile.name == ProfileName::Modes && fewer.len() < fields.len();
            if is_fixed || *missing == "command" {
                continue;
            }
            let narrowed = Profile {
                schema_fields: fewer,
                ..profile.clone()
            };
            let tool = bash(&narrowed);
            for field in all.iter().filter(|field| !fewer.contains(field)) {
                assert!(
                    !mentions(&tool.description, field),
                    "{:?} without `{missing}` speaks of `{field}`: {}",
                    profile.name,
                    tool.description
                );
            }
        }
    }
    // Control: fields that are shown are mentioned.
    let text = bash(&profiles::STANDARD).description;
    assert!(
        ["mode", "timeout", "cwd", "session", "head"]
            .iter()
            .all(|field| mentions(&text, field))
    );
}

#[test]
fn tool_definition_of_each_profile() {
    for profile in profiles::ALL {
        let tool = bash(profile);
        let schema = serde_json::to_string_pretty(&tool.input_schema).unwrap();
        let whole = format!("{}\n\n{}\n\n{schema}", tool.name, tool.description);
        insta::assert_snapshot!(format!("tool_{}", profile.name.as_str()), whole);
    }
}
