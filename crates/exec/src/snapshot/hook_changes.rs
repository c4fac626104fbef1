//! The changes that the commands of a prompt make for a project. Also, the commands that move a
//! session's shell from one project to another. direnv and mise choose in that shell instead, with
//! their own hooks.

use super::compose;
use super::dump::{ShellDump, Variable};
use super::search_path;
use agent_bash_process::quoted;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The changes that the hooks made after the configuration was read in a project.
#[derive(Debug, Default)]
pub(super) struct HookChanges {
    /// The variables. Each has its value without the hooks and its value with the hooks; `None` is
    /// unset.
    variables: BTreeMap<String, (Option<Variable>, Option<Variable>)>,
    path: PathEdit,
}

/// The entries that are removed from a search path, and the entries that are added at its front.
#[derive(Debug, Default, PartialEq, Eq)]
struct PathEdit {
    removed: Vec<Vec<u8>>,
    added: Vec<Vec<u8>>,
}

impl HookChanges {
    /// Returns the changes that the commands of a prompt have made.
    pub(super) fn new(
        variables: BTreeMap<String, (Option<Variable>, Option<Variable>)>,
        dump: &ShellDump,
    ) -> Self {
        let states = dump.before_prompt.as_ref().zip(dump.at_prompt.as_ref());
        let path = states
            .map(|(before, after)| PathEdit::between(&before.options.path, &after.options.path));
        Self {
            variables,
            path: path.unwrap_or_default(),
        }
    }

    /// Returns the commands, each followed by `; `, that replace the changes `old` of another
    /// project with these changes. Variables that hooks do not set keep the values that the session
    /// has set.
    pub(super) fn replace(&self, old: &Self) -> Vec<u8> {
        let mut text = Vec::new();
        let mut set = |name: &str, variable: Option<&Variable>| {
            let command = compose::variable(name, variable);
            text.extend_from_slice(command.trim_ascii_end());
            text.extend_from_slice(b"; ");
        };
        for (name, (without, with)) in &old.variables {
            if !self.variables.contains_key(name) && without != with {
                set(name, without.as_ref());
            }
        }
        for (name, (_, with)) in &self.variables {
            if old.variables.get(name).map(|(_, with)| with) != Some(with) {
                set(name, with.as_ref());
            }
        }
        text.extend(self.path.after(&old.path).commands());
        text
    }
}

impl PathEdit {
    /// Returns the edit that changes the search path `before` into `after`.
    fn between(before: &OsStr, after: &OsStr) -> Self {
        let [before, after] = [before, after].map(search_path::entries);
        Self {
            removed: without(&before, &after),
            added: without(&after, &before),
        }
    }

    /// Returns the edit that replaces the edit `old` of a search path with this edit.
    fn after(&self, old: &Self) -> Self {
        let mut removed = without(&old.added, &self.added);
        removed.extend(without(&self.removed, &old.removed));
        Self {
            removed,
            added: without(&self.added, &old.added),
        }
    }

    /// Returns the commands that apply the edit to the shell's `PATH`. Each entry gets a colon on
    /// both sides, so that the removal of an entry leaves the colons of its neighbours. An added
    /// entry that a tool has already added in the shell moves to the front.
    fn commands(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let mut moved = self.removed.iter().chain(&self.added).peekable();
        if moved.peek().is_some() {
            text.extend_from_slice(b"__ab=:${PATH-}:; __ab=${__ab//:/::}; ");
            for entry in moved {
                let entry = quoted(OsStr::from_bytes(entry));
                text.extend([b"__ab=${__ab//:", &*entry, b":/}; "].concat());
            }
            text.extend_from_slice(
                b"__ab=${__ab//::/:}; __ab=${__ab#:}; \\builtin export PATH=\"${__ab%:}\"; \
                  \\builtin unset -v __ab; ",
            );
        }
        if !self.added.is_empty() {
            let added = self.added.join(&b':');
            let added = quoted(OsStr::from_bytes(&added));
            text.extend([b"\\builtin export PATH=", &*added, b"\"${PATH:+:$PATH}\"; "].concat());
        }
        text
    }
}

/// Returns the entries of `all` that are not in `known`.
fn without<T: AsRef<[u8]> + PartialEq>(all: &[T], known: &[T]) -> Vec<Vec<u8>> {
    let rest = all.iter().filter(|entry| !known.contains(entry));
    rest.map(|entry| entry.as_ref().to_vec()).collect()
}

/// Returns the commands that change a shell's `PATH` as a configuration has changed `base`.
pub(super) fn add_to_path(base: &OsStr, configured: &OsStr) -> Vec<u8> {
    PathEdit::between(base, configured).commands()
}

/// Returns the commands that put the search path `merged` in the place of `configured`, which a
/// manager restores when a shell leaves its project.
pub(super) fn merge_path(configured: &OsStr, merged: &OsStr) -> Vec<u8> {
    if configured == merged {
        return Vec::new();
    }
    let [old, new] = [configured, merged].map(|path| {
        let entries = [b":", path.as_bytes()].concat();
        quoted(OsStr::from_bytes(&entries))
    });
    let parts: [&[u8]; _] = [
        b"PATH=:${PATH-}; PATH=${PATH/%",
        &old,
        b"/",
        &new,
        b"}; PATH=${PATH#:}; ",
    ];
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn variable(declaration: &str) -> Variable {
        Variable {
            declaration: declaration.as_bytes().to_vec(),
            value: "".into(),
        }
    }

    #[test]
    fn merge_path_replaces_the_end_of_the_search_path() {
        let text = merge_path("/rc:/venv:/a&b".as_ref(), "/venv:/rc:/a&b".as_ref());
        for (before, after) in [
            ("/rc:/venv:/a&b", "/venv:/rc:/a&b"),
            ("/bin:/rc:/venv:/a&b", "/bin:/venv:/rc:/a&b"),
            ("/bin/rc:/venv:/a&b", "/bin/rc:/venv:/a&b"),
            ("/rc:/venv:/a&b:/last", "/rc:/venv:/a&b:/last"),
        ] {
            let before = format!("PATH='{before}'; ");
            let out = run(&text, &before, "builtin echo \"$PATH\"");
            assert_eq!(out, format!("{after}\n"));
        }
        assert!(merge_path("/bin".as_ref(), "/bin".as_ref()).is_empty());
    }

    fn changes(variables: &[(&str, Variable)], path: (&str, &str)) -> HookChanges {
        let variables = variables
            .iter()
            .map(|(name, with)| ((*name).to_owned(), (None, Some(with.clone()))));
        HookChanges {
            variables: variables.collect(),
            path: PathEdit::between(path.0.as_ref(), path.1.as_ref()),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "The test needs the variables of a real bash"
    )]
    fn run(commands: &[u8], before: &str, after: &str) -> String {
        let text = [before.as_bytes(), commands, after.as_bytes()].concat();
        let bash = Command::new("/bin/bash")
            .args([OsStr::new("-c"), OsStr::from_bytes(&text)])
            .output();
        String::from_utf8(bash.unwrap().stdout).unwrap()
    }

    #[test]
    fn replace_undoes_one_project_and_applies_the_other() {
        let one = changes(
            &[
                ("A", variable("declare -x A=\"1\"")),
                ("B", variable("declare -x B=\"1\"")),
            ],
            ("/usr/bin", "/one/b in:/usr/bin"),
        );
        let two = changes(
            &[("A", variable("declare -x A=\"2\""))],
            ("/usr/bin:/x", "/two:/usr/bin"),
        );
        let show = "builtin echo \"$A ${B-unset} $PATH\"";
        let before = "export A=1 B=1 PATH='/mine:/one/b in:/one/b in:/x:/usr/bin'; ";
        assert_eq!(
            run(&two.replace(&one), before, show),
            "2 unset /two:/mine:/usr/bin\n"
        );
        assert!(two.replace(&two).is_empty());
        let before = "export A=1 PATH='/two:/one/b in:/usr/bin'; ";
        assert_eq!(
            run(&two.replace(&one), before, show),
            "2 unset /two:/usr/bin\n"
        );
        let none = HookChanges::default();
        let before = "export A=2 PATH=/two:/mine:/usr/bin; ";
        assert_eq!(
            run(
                &none.replace(&two),
                before,
                "builtin echo \"${A-unset} $PATH\""
            ),
            "unset /mine:/usr/bin\n"
        );
    }
}
