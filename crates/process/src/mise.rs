//! Detects mise. If `CI` is set, mise treats the configuration of every project as trusted, so the
//! host does not set `CI` where mise is set up.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The name of the program.
const PROGRAM: &str = "mise";

/// Prefix of the variables that configure mise.
const VARIABLE_PREFIX: &str = "MISE_";

/// The directories of mise's data, below the home directory or below the directory in a variable.
const DIRECTORIES: &[(&str, &str)] = &[
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// The directory below the home directory in which mise's installer places the program.
const INSTALLER_DIRECTORY: &str = ".local/bin";

/// True if the user of this environment has mise: the program is on the search path or in the
/// directory of its installer, it has stored data, or a variable configures it.
pub fn is_mise_set_up(environment: &BTreeMap<OsString, OsString>) -> bool {
    let get = |name: &str| {
        let value = environment.get(OsStr::new(name))?;
        (!value.is_empty()).then_some(value)
    };
    let is_configured = environment
        .keys()
        .any(|name| name.to_string_lossy().starts_with(VARIABLE_PREFIX));
    let home = get("HOME").map(Path::new);
    let data = DIRECTORIES.iter().filter_map(|(variable, below_home)| {
        let directory = get(variable).map(PathBuf::from);
        directory.or_else(|| Some(home?.join(below_home)))
    });
    let installed = home.map(|home| home.join(INSTALLER_DIRECTORY));
    is_configured
        || get("PATH").is_some_and(|path| finds_mise(path))
        || data
            .chain(installed)
            .any(|directory| directory.join(PROGRAM).exists())
}

/// True if this search path leads to mise.
pub fn finds_mise(path: &OsStr) -> bool {
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .any(|directory| directory.join(PROGRAM).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_mise_set_up_finds_program_data_and_variables() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for directory in ["bin", "empty", "data/mise", "a/.local/share/mise", "b"] {
            std::fs::create_dir_all(path(directory)).unwrap();
        }
        std::fs::write(path("bin/mise"), "").unwrap();
        let is_found = |variables: &[(&str, &str)]| {
            let environment = variables.iter().map(|(name, value)| {
                let value = value.replace('@', root.path().to_str().unwrap());
                (OsString::from(name), OsString::from(value))
            });
            is_mise_set_up(&environment.collect())
        };
        for (variables, want) in [
            (&[("PATH", "@/empty:@/bin"), ("HOME", "@/b")][..], true),
            (&[("PATH", "@/empty"), ("HOME", "@/a")], true),
            (&[("HOME", "@/b"), ("XDG_DATA_HOME", "@/data")], true),
            (&[("MISE_DATA_DIR", "@/elsewhere")], true),
            (&[("PATH", "@/empty:@/data"), ("HOME", "@/b")], false),
            (&[], false),
        ] {
            assert_eq!(is_found(variables), want, "{variables:?}");
        }
    }
}
