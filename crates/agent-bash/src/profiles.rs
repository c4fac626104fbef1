//! The four profiles as values. A stage reads the fields of the profile in force, and never checks
//! the profile's name, so a host can copy a profile and change fields.
//!
//! [`crate::layout`] writes the text of results, [`crate::schema`] the tool definition.

mod modes;
mod paged;
mod standard;
mod workspace;

pub use modes::MODES;
pub use paged::PAGED;
pub use standard::STANDARD;
pub use workspace::WORKSPACE;

use agent_bash_core::{Profile, ProfileName};

/// All profiles; the default profile is the first.
pub const ALL: [&Profile; 4] = [&STANDARD, &MODES, &PAGED, &WORKSPACE];

/// Returns the profile with this name.
pub fn by_name(name: ProfileName) -> &'static Profile {
    match name {
        ProfileName::Standard => &STANDARD,
        ProfileName::Modes => &MODES,
        ProfileName::Paged => &PAGED,
        ProfileName::Workspace => &WORKSPACE,
    }
}

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
