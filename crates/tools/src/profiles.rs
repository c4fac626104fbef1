//! The four profiles as values. A stage reads the fields of the profile in force, and never checks
//! the profile's name, so a host can copy a profile and change fields.

mod modes;
mod paged;
pub(crate) mod standard;
mod workspace;

pub use modes::MODES;
pub use paged::PAGED;
pub use standard::STANDARD;
pub use workspace::WORKSPACE;

use crate::facts::CallFacts;
use crate::profile_tool::ProfileTool;
use crate::schema::ToolSchema;
use agent_bash_core::{Profile, ProfileName};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The tools of all profiles; the default profile is the first.
pub const TOOLS: [ProfileTool; 4] = [standard::TOOL, modes::TOOL, paged::TOOL, workspace::TOOL];

/// All profiles; the default profile is the first.
pub const ALL: [&Profile; 4] = [&STANDARD, &MODES, &PAGED, &WORKSPACE];

/// Returns the profile with this name.
pub fn by_name(name: ProfileName) -> &'static Profile {
    &tool(name).profile
}

/// Returns the tool of the profile with this name.
pub fn tool(name: ProfileName) -> &'static ProfileTool {
    const { &TOOLS }
        .iter()
        .find(|tool| tool.profile.name == name)
        .unwrap_or(const { &standard::TOOL })
}

/// Writes the text of a result under the profile with this name.
pub fn text(profile: ProfileName, facts: &CallFacts<'_>) -> String {
    (tool(profile).write)(facts)
}

/// Returns the definition of the tool for `profile`, with the working directory `cwd`.
pub fn schema(profile: &Profile, cwd: &Path) -> ToolSchema {
    let tool = tool(profile.name);
    let properties: Map<String, Value> = profile
        .schema_fields
        .iter()
        .map(|name| ((*name).to_owned(), (tool.field)(profile, name)))
        .collect();
    ToolSchema {
        name: "bash".to_owned(),
        description: (tool.description)(profile, &cwd.display().to_string()),
        input_schema: json!({ "type": "object", "required": ["command"], "properties": properties }),
    }
}

#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod text_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::parse_request;

    #[test]
    fn by_name_finds_each_profile() {
        for profile in ALL {
            assert_eq!(by_name(profile.name), profile);
        }
    }

    #[test]
    fn timeouts_of_each_profile_are_consistent() {
        for profile in ALL {
            let times = &profile.timeouts;
            for (what, value) in [("default", times.default), ("slow", times.slow)] {
                assert!(
                    times.min <= value && value <= times.max,
                    "{:?}: {what} is outside what a call may ask for",
                    profile.name
                );
            }
            assert!(times.background >= times.max, "{:?}", profile.name);
            assert!(!profile.grace.is_zero(), "{:?}", profile.name);
        }
    }

    #[test]
    fn schema_fields_are_fields_of_a_request() {
        for field in ALL.iter().flat_map(|profile| profile.schema_fields) {
            // `null` counts as absent, so only an unknown name is refused.
            let request = serde_json::json!({ "command": "true", *field: null });
            let known = parse_request(&request).is_ok() || *field == "command";
            assert!(known, "{field}");
        }
    }
}
