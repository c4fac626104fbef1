//! `GIT_CONFIG_COUNT`, `GIT_CONFIG_KEY_n`, `GIT_CONFIG_VALUE_n`: git settings in the environment.
//!
//! Git fails if one of these variables is missing. So if a value is removed as a secret, the whole
//! setting is removed and the others are renumbered.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Removes incomplete settings and renumbers the rest.
pub(crate) fn remove_incomplete(variables: &mut BTreeMap<OsString, OsString>) {
    let count = variables
        .get(OsStr::new("GIT_CONFIG_COUNT"))
        .and_then(|count| count.to_str()?.parse::<usize>().ok());
    // A larger count is not a real configuration; the limit bounds the work.
    let Some(count) = count.filter(|count| *count <= 1000) else {
        return;
    };
    let mut complete = 0;
    for number in 0..count {
        let key = variables.remove(OsStr::new(&format!("GIT_CONFIG_KEY_{number}")));
        let value = variables.remove(OsStr::new(&format!("GIT_CONFIG_VALUE_{number}")));
        if let (Some(key), Some(value)) = (key, value) {
            variables.insert(format!("GIT_CONFIG_KEY_{complete}").into(), key);
            variables.insert(format!("GIT_CONFIG_VALUE_{complete}").into(), value);
            complete += 1;
        }
    }
    variables.insert("GIT_CONFIG_COUNT".into(), complete.to_string().into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_settings_are_removed_and_others_renumbered() {
        let pairs = |pairs: &[(&str, &str)]| -> BTreeMap<OsString, OsString> {
            pairs
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect()
        };
        let mut variables = pairs(&[
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_0", "http.extraheader"),
            ("GIT_CONFIG_KEY_1", "safe.directory"),
            ("GIT_CONFIG_VALUE_1", "*"),
            ("GIT_CONFIG_KEY_2", "a.b"),
            ("GIT_CONFIG_VALUE_2", "c"),
            ("HOME", "/x"),
        ]);
        remove_incomplete(&mut variables);
        let expect = pairs(&[
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", "safe.directory"),
            ("GIT_CONFIG_VALUE_0", "*"),
            ("GIT_CONFIG_KEY_1", "a.b"),
            ("GIT_CONFIG_VALUE_1", "c"),
            ("HOME", "/x"),
        ]);
        assert_eq!(variables, expect);
        let mut none = pairs(&[("GIT_CONFIG_COUNT", "many")]);
        remove_incomplete(&mut none);
        assert_eq!(none, pairs(&[("GIT_CONFIG_COUNT", "many")]));
    }
}
