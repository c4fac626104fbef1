//! Compares the exported variables of a persistent shell with the environment of new shells.

use agent_bash_core::words;
use agent_bash_policy::{Context, Parsed, Script};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables that are not compared, because each shell or its sandbox sets them.
const SHELL_VARIABLES: &[&str] =
    words!["BASHOPTS CHROME_CONFIG_HOME OLDPWD PWD SCREENDIR SHELLOPTS SHLVL TMPDIR TMUX_TMPDIR _"];

/// Returns the variables that differ between a shell and the environment `base`, without functions.
/// `exports` is the shell's output of `export -p`. The value `None` means that the shell does not
/// export the variable. If the output is not UTF-8, the result is empty.
pub(super) fn differences(
    exports: &[u8],
    base: &BTreeMap<OsString, OsString>,
) -> BTreeMap<String, Option<String>> {
    let Ok(text) = std::str::from_utf8(exports) else {
        return BTreeMap::new();
    };
    let context = Context::new("/");
    let script = Script::follow(Parsed::read(text), &context);
    let declared = script
        .commands
        .iter()
        .filter(|ran| ran.name() == Some("declare"));
    let exports: BTreeMap<&str, &str> = declared
        .filter_map(|ran| ran.arguments().last()?.value.literal()?.split_once('='))
        .collect();
    if exports.is_empty() {
        return BTreeMap::new();
    }
    let is_compared = |name: &str| !SHELL_VARIABLES.contains(&name);
    let set = exports.iter().filter(|(name, value)| {
        let base_value = base.get(OsStr::new(name));
        is_compared(name) && base_value.is_none_or(|base| base != OsStr::new(value))
    });
    let unset = base.keys().filter_map(|name| name.to_str());
    let unset = unset.filter(|name| is_compared(name) && !exports.contains_key(name));
    set.map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned())))
        .chain(unset.map(|name| (name.to_owned(), None)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The values in this test are quoted as bash quotes them.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "bash is the oracle")]
    fn differences_reads_the_output_of_bash() {
        let values = [
            "plain", "", "two words", "a\"b$c`d\\e", "line\none", "tab\there", "ü=é", "'q'",
        ];
        let mut command = Command::new("bash");
        command
            .env_clear()
            .args(["-c", "unset GONE; PATH=/new:$PATH; export -p"]);
        for (number, value) in values.iter().enumerate() {
            command.env(format!("V{number}"), value);
        }
        command
            .env("PATH", "/bin")
            .env("GONE", "x")
            .env("SAME", "s");
        let printed = command.output().unwrap().stdout;
        let base = [("PATH", "/bin"), ("GONE", "x"), ("SAME", "s")];
        let base = base.map(|(name, value)| (name.into(), value.into())).into();
        let mut want: BTreeMap<String, Option<String>> = values
            .iter()
            .enumerate()
            .map(|(number, value)| (format!("V{number}"), Some((*value).to_owned())))
            .collect();
        want.insert("PATH".into(), Some("/new:/bin".into()));
        want.insert("GONE".into(), None);
        assert_eq!(differences(&printed, &base), want);
        assert!(differences(b"", &base).is_empty(), "bash printed nothing");
    }
}
