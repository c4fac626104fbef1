//! The functions of an environment that bash would define.

use agent_bash_process::environment::exported_function;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Returns the functions that bash reads from its environment, by name.
pub fn exported_functions(variables: &BTreeMap<OsString, OsString>) -> BTreeMap<String, String> {
    let variables = variables.iter();
    variables
        .filter_map(|(name, value)| exported_function(name, value))
        .collect()
}
