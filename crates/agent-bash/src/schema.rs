//! The tool definition for a model: name, description, and schema of the fields.
//!
//! `agent_bash_core::parse_request` accepts more fields than a schema shows.

mod fields;
mod modes;
mod paged;
mod sandbox;
mod standard;
mod words;
mod workspace;

use crate::SandboxSettings;
use agent_bash_core::sandbox::Report;
use agent_bash_core::{Profile, TextLayout};
use agent_bash_policy::SafeMode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The tool definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSchema {
    /// Always `bash`.
    pub name: String,
    /// The description for the model; names the working directory.
    pub description: String,
    /// JSON Schema of the call's fields.
    pub input_schema: Value,
}

impl ToolSchema {
    /// Adds the allowed commands of safe mode to the tool's description. Returns the schema
    /// unchanged if safe mode is off.
    #[must_use]
    pub fn with_safe_mode(mut self, mode: Option<&SafeMode>) -> Self {
        let Some(mode) = mode else { return self };
        let safe = format!(
            "Safe mode is on: only commands that begin with one of these may run, alone or in pipelines, without \
             variables, substitutions or files written: {}. All else is refused.",
            mode.allowed.join(", ")
        );
        self.description = format!("{}\n\n{safe}", self.description);
        self
    }

    /// Adds the field `trial`.
    #[must_use]
    pub fn with_trials(mut self) -> Self {
        if let Some(properties) = self.input_schema["properties"].as_object_mut() {
            properties.insert("trial".to_owned(), fields::trial());
        }
        self
    }

    /// Describes the field `pty`, if the schema has the field, for a server that offers its model
    /// terminals.
    #[must_use]
    pub fn with_terminals(mut self) -> Self {
        if let Some(pty) = self.input_schema["properties"].get_mut("pty") {
            *pty = fields::driven_terminal();
            let [never, without_pty] = [
                "There is no terminal,",
                "Without `pty` there is no terminal,",
            ];
            self.description = self.description.replacen(never, without_pty, 1);
        }
        self
    }

    /// Adds the field `sandbox`, and describes the access that calls have. With a `report`, the
    /// description also names the promises that this system cannot enforce. Returns the schema
    /// unchanged without a sandbox.
    #[must_use]
    pub fn with_sandbox(mut self, settings: &SandboxSettings, report: Option<&Report>) -> Self {
        let missing = report.map(|report| &report.missing[..]);
        let Some(text) = sandbox::description(settings, missing) else {
            return self;
        };
        self.description = format!("{}\n\n{text}", self.description);
        if let Some(properties) = self.input_schema["properties"].as_object_mut() {
            properties.insert("sandbox".to_owned(), sandbox::field(settings));
        }
        self
    }
}

/// Returns the definition of the tool for `profile`, with the working directory `cwd`.
pub fn tool(profile: &Profile, cwd: &Path) -> ToolSchema {
    let cwd = cwd.display().to_string();
    let (description, field): (String, fn(&Profile, &str) -> Value) = match profile.layout {
        TextLayout::Standard => (standard::description(profile, &cwd), fields::field),
        TextLayout::Modes => (modes::description(&cwd), modes::field),
        TextLayout::Paged => (paged::description(profile, &cwd), fields::field),
        TextLayout::Workspace => (workspace::description(profile, &cwd), fields::field),
    };
    let properties: Map<String, Value> = profile
        .schema_fields
        .iter()
        .map(|name| ((*name).to_owned(), field(profile, name)))
        .collect();
    ToolSchema {
        name: "bash".to_owned(),
        description,
        input_schema: json!({ "type": "object", "required": ["command"], "properties": properties }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Escalation, LackingPolicy, profiles};
    use agent_bash_core::sandbox::{Lack, Network, SandboxLevel, Tier};

    fn bash(profile: &Profile) -> ToolSchema {
        tool(profile, Path::new("/src/project"))
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
        let mut own = SandboxSettings::default();
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
            let boxed = plain.clone().with_sandbox(&own, None);
            assert!(boxed.description.contains(wanted), "{}", boxed.description);
            let field = &boxed.input_schema["properties"]["sandbox"];
            assert_eq!(field["required"], json!(["reason"]));
            let asks = boxed.description.contains("asks for it");
            assert_eq!(asks, escalation == Escalation::Ask);
        }
    }

    #[test]
    fn description_names_missing_promises_and_does_not_promise_them() {
        let plain = bash(profiles::ALL[0]);
        let mut own = SandboxSettings {
            level: SandboxLevel::WorkspaceWrite,
            ..SandboxSettings::default()
        };
        let mut report = Report {
            tier: Tier::Base,
            missing: vec![Lack::Protected, Lack::Signals],
        };
        let described = |own: &SandboxSettings, report: &Report| {
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
        own.lacking = LackingPolicy::Refuse;
        assert!(described(&own, &report).contains("every call is refused"));
        own.level = SandboxLevel::ReadOnly;
        report.missing = vec![Lack::Protected];
        assert!(!described(&own, &report).contains("partly"));
        own.level = SandboxLevel::WorkspaceWrite;
        report.missing.clear();
        let full = described(&own, &report);
        assert!(full.contains(promised) && full.contains(signalled) && !full.contains("partly"));
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
                "/src/project",
                "do not persist between calls",
                "seconds",
                "kept",
                "`head` or `tail`",
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
                let is_fixed = profile.layout == TextLayout::Modes && fewer.len() < fields.len();
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
}
