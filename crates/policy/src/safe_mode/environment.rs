//! The environment for a script in safe mode: nothing in it may cause a listed program to run another one.

/// Directories in which programs are looked up in safe mode, in this order. A program of the same name in the
/// workspace or elsewhere on `PATH` is not the one that was allowed.
pub const SYSTEM_DIRECTORIES: [&str; 6] = [
    "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/opt/homebrew/bin",
];

/// How to change the environment before starting the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HardenedEnvironment {
    /// Variables to set.
    pub set: Vec<(String, String)>,
    /// Variables to remove, by exact name.
    pub remove: &'static [&'static str],
    /// Variables to remove, by prefix.
    pub remove_prefixes: &'static [&'static str],
    /// Variables to remove, by suffix.
    pub remove_suffixes: &'static [&'static str],
}

/// Settings that disable everything a repository's own configuration could run (git-config(1)).
const GIT: [(&str, &str); 20] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.askPass", "true"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.alternateRefsCommand", ""),
    ("credential.helper", ""),
    ("diff.ignoreSubmodules", "all"),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    ("protocol.ext.allow", "never"),
    ("uploadpack.packObjectsHook", ""),
    ("maintenance.auto", "false"),
];

/// The empty tree: attributes are read from it instead of `.gitattributes`, so that no file in the tree can name a
/// filter.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

impl HardenedEnvironment {
    /// The environment for safe mode. `attributes`: whether to read git attributes from the empty tree.
    pub(super) fn new(attributes: bool) -> Self {
        let mut set: Vec<(String, String)> = vec![
            ("GIT_CONFIG_COUNT".to_owned(), GIT.len().to_string()),
            ("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned()),
            ("GIT_NO_LAZY_FETCH".to_owned(), "1".to_owned()),
            ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
            ("GIT_PAGER".to_owned(), "cat".to_owned()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
            ("GIT_ATTR_NOSYSTEM".to_owned(), "1".to_owned()),
            ("PATH".to_owned(), SYSTEM_DIRECTORIES.join(":")),
        ];
        for (index, (key, value)) in GIT.iter().enumerate() {
            set.push((format!("GIT_CONFIG_KEY_{index}"), (*key).to_owned()));
            set.push((format!("GIT_CONFIG_VALUE_{index}"), (*value).to_owned()));
        }
        if attributes {
            set.push(("GIT_ATTR_SOURCE".to_owned(), EMPTY_TREE.to_owned()));
        }
        HardenedEnvironment {
            set,
            remove: &[
                "BASH_ENV", "ENV", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "LESSOPEN",
                "LESSCLOSE", "LESS", "RIPGREP_CONFIG_PATH", "SSH_AUTH_SOCK", "SSH_ASKPASS",
                "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH", "PYTHONSTARTUP",
                "PYTHONPATH", "PYTHONHOME", "NODE_PATH", "PERL5LIB", "PERL5OPT", "RUBYOPT",
                "RUBYLIB", "GREP_OPTIONS", "POSIXLY_CORRECT",
            ],
            remove_prefixes: &[
                "GIT_", "LD_", "DYLD_", "npm_config_", "NPM_CONFIG_", "BASH_FUNC_",
            ],
            remove_suffixes: &["_OPTIONS"],
        }
    }

    /// Applies the changes: first removals, then settings.
    pub fn apply(
        &self,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Vec<(String, String)> {
        let dropped = |name: &str| {
            self.remove.contains(&name)
                || self
                    .remove_prefixes
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
                || self
                    .remove_suffixes
                    .iter()
                    .any(|suffix| name.ends_with(suffix))
                || self.set.iter().any(|(set, _)| set == name)
        };
        let kept = environment.into_iter().filter(|(name, _)| !dropped(name));
        kept.chain(self.set.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_survives_that_runs_programs() {
        let pair = |name: &str| (name.to_owned(), "x".to_owned());
        let names = [
            "HOME", "LD_PRELOAD", "GIT_SSH_COMMAND", "BASH_ENV", "PYTEST_ADDOPTS_OPTIONS",
            "NODE_OPTIONS", "PAGER", "BASH_FUNC_ls%%", "npm_config_script_shell",
        ];
        let kept = HardenedEnvironment::new(true).apply(names.map(pair));
        let untouched: Vec<&str> = kept
            .iter()
            .filter(|(_, value)| value == "x")
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(untouched, ["HOME"]);
        let count = kept
            .iter()
            .find(|(name, _)| name == "GIT_CONFIG_COUNT")
            .unwrap();
        assert_eq!(count.1, GIT.len().to_string());
        assert!(
            kept.iter()
                .any(|(name, _)| *name == format!("GIT_CONFIG_VALUE_{}", GIT.len() - 1))
        );
    }
}
