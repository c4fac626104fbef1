//! The four profiles as values, without code of their own: every stage reads the field it needs,
//! and none asks which profile is in force.
//!
//! A host that wants something in between copies one and changes fields. The text of results is
//! written by [`crate::layout`], the tool definition by [`crate::schema`].

mod modes;
mod paged;
mod standard;
mod workspace;

pub use modes::MODES;
pub use paged::PAGED;
pub use standard::STANDARD;
pub use workspace::WORKSPACE;

use agent_bash_core::{Profile, ProfileName};

/// All profiles, the default one first.
pub const ALL: [&Profile; 4] = [&STANDARD, &MODES, &PAGED, &WORKSPACE];

/// The profile of that name.
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
    fn each_name_finds_its_own_value() {
        for profile in ALL {
            assert_eq!(by_name(profile.name), profile);
        }
    }

    #[test]
    fn each_profile_is_consistent_in_itself() {
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
    fn each_field_that_is_shown_is_a_field_of_a_request() {
        for field in ALL.iter().flat_map(|profile| profile.schema_fields) {
            // `null` counts as absent, so only an unknown name is refused.
            let request = serde_json::json!({ "command": "true", *field: null });
            let known = parse_request(&request).is_ok() || *field == "command";
            assert!(known, "{field}");
        }
    }
}
