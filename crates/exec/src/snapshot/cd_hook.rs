//! The `cd` of a configuration. Version managers (mise, fnm) replace `cd`, `pushd` and `popd`, and
//! choose the versions of the new directory in them.
//!
//! Scripts rely on the meaning of `cd`. So shells get functions that call the builtin, and then the
//! configuration's command of that name with the directory `.`, without input and output. Also
//! lists the functions by which managers (direnv, mise) choose versions before a prompt.

use super::dump::{Definition, ShellState, Variable};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// The names of the commands that change the directory.
const COMMANDS: [&str; 3] = ["cd", "pushd", "popd"];

/// The beginning of the names under which shells have the configuration's commands.
const PREFIX: &str = "__ab_";

/// A function by which a manager chooses the versions before a prompt. The shell of a session calls
/// this function after a change of the project: the manager knows the values that it has replaced.
#[derive(Debug)]
pub(super) struct PromptHook {
    /// The function or program of the manager.
    pub(super) manager: &'static str,
    pub(super) function: &'static str,
}

const PROMPT_HOOKS: &[PromptHook] = &[
    PromptHook {
        manager: "direnv",
        function: "_direnv_hook",
    },
    PromptHook {
        manager: "mise",
        function: "_mise_hook",
    },
];

/// The beginning of the function that calls the configuration's command whose name is its argument.
/// The options, separators and `OLDPWD` of the script neither affect that command, nor does it
/// change them. A `cd` that calls itself enters no directory again.
const BEGIN: &str = r#"__ab_entered() {
[[ ${__ab_entering-} ]] && \builtin return
\builtin local - IFS=$' \t\n' OLDPWD="${OLDPWD-}" __ab_entering=1 __ab_link __ab_depth
\builtin set +efux +o pipefail
"#;

/// The end of that function. The stack of directories, which the builtin has changed before, stays
/// the same: `popd` gets an entry to remove, and what the command adds is removed.
const END: &str = r#"__ab_depth=${#DIRSTACK[@]}
case $1 in
popd) \builtin pushd -n .; \__ab_popd ;;
*) "__ab_$1" . ;;
esac
while (( ${#DIRSTACK[@]} > __ab_depth )) && \builtin popd -n; do \builtin :; done
\builtin return 0
}
"#;

/// Returns the hooks that the configuration's prompt calls. Frameworks for prompts store the
/// commands of `PROMPT_COMMAND` in variables of their own.
pub(super) fn prompt_hooks(state: &ShellState) -> Vec<&'static PromptHook> {
    let variables = state.variables.iter().filter(|(name, _)| {
        let name = name.to_ascii_lowercase();
        name.contains("prompt_command") || name.contains("precmd")
    });
    let texts: Vec<_> = variables
        .map(|(_, variable)| String::from_utf8_lossy(&variable.declaration))
        .collect();
    let is_called = |hook: &&PromptHook| texts.iter().any(|text| text.contains(hook.function));
    PROMPT_HOOKS.iter().filter(is_called).collect()
}

/// Returns the configuration's functions and aliases that replace [`COMMANDS`], formatted as by
/// `declare -f`, with [`PREFIX`] before their names; none if the configuration does not replace
/// `cd`, because then no manager chooses versions there.
pub(super) fn replaced_commands(state: &ShellState) -> Vec<Definition> {
    let find = |list: &[Definition], command: &str| {
        let found = list.iter().find(|definition| definition.name == command);
        found.map(|definition| definition.text.clone())
    };
    let replaced = |command: &str| {
        let alias = find(&state.aliases, command);
        let body = match (alias, find(&state.functions, command)) {
            (Some(words), _) => [b" () \n{ \n    ", &*words, b" \"$@\"\n}\n"].concat(),
            (None, Some(text)) => text.strip_prefix(command.as_bytes())?.to_vec(),
            (None, None) => return None,
        };
        let name = format!("{PREFIX}{command}");
        let text = [name.as_bytes(), &*body].concat();
        Some(Definition { name, text })
    };
    let [cd, pushd, popd] = COMMANDS.map(replaced);
    let Some(cd) = cd else {
        return Vec::new();
    };
    [Some(cd), pushd, popd].into_iter().flatten().collect()
}

/// Removes from `functions` those that [`replaced_commands`] has made, and returns them; none if
/// that of `cd` was excluded.
pub(super) fn take_replaced(functions: &mut Vec<Definition>) -> Vec<Definition> {
    let is_replaced = |function: &mut Definition| function.name.starts_with(PREFIX);
    let replaced: Vec<_> = functions.extract_if(.., is_replaced).collect();
    match replaced.first() {
        Some(first) if command_of(first) == COMMANDS[0] => replaced,
        _ => Vec::new(),
    }
}

/// Returns the name of the command that this definition, made by [`replaced_commands`], replaces.
fn command_of(replaced: &Definition) -> &str {
    replaced.name.trim_start_matches(PREFIX)
}

/// Returns the text that defines the functions for the new directory. `replaced` are the functions
/// that [`take_replaced`] returns, `links` the names that [`shell_links`] returns.
pub(super) fn load_text(replaced: &[Definition], links: &[&str]) -> Vec<u8> {
    let texts = replaced.iter().map(|function| &*function.text);
    let mut text = texts.collect::<Vec<_>>().concat();
    text.extend_from_slice(BEGIN.as_bytes());
    for name in links {
        // Another shell has the same link: this shell gets one of its own, behind which the
        // manager's `cd` puts the version.
        let command = format!(
            r#"__ab_link=${{{name}-}}
case $__ab_link in '' | *.$$) ;; *)
\command ln -sfn -- "$(\command readlink -- "$__ab_link")" "$__ab_link.$$" || \builtin return 0
PATH=${{PATH//"$__ab_link"/"$__ab_link.$$"}}
\builtin export {name}="$__ab_link.$$" ;;
esac
"#
        );
        text.extend_from_slice(command.as_bytes());
    }
    text.extend_from_slice(END.as_bytes());
    text
}

/// Returns the text, followed by `; `, that calls the configuration's command of this name after a
/// change of the directory.
fn call(command: &str) -> String {
    format!(r"\__ab_entered {command} </dev/null >/dev/null 2>&1 || \builtin :; ")
}

/// Returns the text, followed by `; `, that calls the configuration's `cd` after a change of the
/// directory.
pub(super) fn call_cd() -> Vec<u8> {
    call(COMMANDS[0]).into_bytes()
}

/// Returns the definitions of these commands, each followed by `; `. They are part of a shell's own
/// text, because bash names the file of a function in its errors.
pub(super) fn define(replaced: &[Definition]) -> Vec<u8> {
    let function = |definition: &Definition| {
        let command = command_of(definition);
        let enter = call(command);
        format!(r#"{command}() {{ \builtin {command} "$@" || \builtin return; {enter}}}; "#)
    };
    let functions: String = replaced.iter().map(function).collect();
    functions.into_bytes()
}

/// Returns the exported variables with the path of a symbolic link that the configuration has made
/// for its shell, and that is in the search path: fnm changes versions by changing such a link.
/// `begin` is the time since the epoch at which the configuration was read.
pub(super) fn shell_links<'v>(
    variables: &'v BTreeMap<String, Option<Variable>>,
    search_path: &OsStr,
    begin: Duration,
) -> Vec<&'v str> {
    let entries: Vec<&[u8]> = search_path.as_bytes().split(|byte| *byte == b':').collect();
    let is_link = |value: &OsStr| {
        let path = Path::new(value);
        let metadata = path.symlink_metadata().ok();
        let is_new = metadata.is_some_and(|metadata| {
            let changed = Duration::from_secs(metadata.mtime().try_into().unwrap_or_default());
            metadata.is_symlink() && changed.as_secs() >= begin.as_secs()
        });
        is_new
            && entries
                .iter()
                .any(|entry| entry.starts_with(value.as_bytes()))
    };
    let exported = variables.iter().filter_map(|(name, variable)| {
        let variable = variable
            .as_ref()
            .filter(|variable| variable.is_exported())?;
        let is_absolute = variable.value.as_bytes().starts_with(b"/");
        (is_absolute && is_link(&variable.value)).then_some(name.as_str())
    });
    exported.collect()
}

/// Returns the commands, each followed by `; `, that put the shell's own links into a search path
/// that a manager has restored, in the place of those from which they were made. `links` are the
/// names that [`shell_links`] returns.
pub(super) fn restore_links(links: &[&str]) -> Vec<u8> {
    let command = |name: &&str| {
        format!(
            "__ab=${{{name}-}}; while [[ $__ab == /*.+([0-9]) ]]; do __ab=${{__ab%.*}}; \
             PATH=${{PATH//\"$__ab/\"/\"${name}/\"}}; done; \\builtin unset -v __ab; "
        )
    };
    links.iter().map(command).collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_links_are_new_links_in_the_search_path() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name).into_os_string();
        for name in ["link", "elsewhere"] {
            std::os::unix::fs::symlink("/usr", path(name)).unwrap();
        }
        std::fs::create_dir(path("directory")).unwrap();
        let variable = |attributes: &str, name: &str| {
            Some(Variable {
                declaration: format!("declare {attributes} {name}=").into_bytes(),
                value: path(name),
            })
        };
        let variables = BTreeMap::from([
            ("LINK".to_owned(), variable("-x", "link")),
            ("private".to_owned(), variable("--", "link")),
            ("ELSEWHERE".to_owned(), variable("-x", "elsewhere")),
            ("DIRECTORY".to_owned(), variable("-x", "directory")),
            ("UNSET".to_owned(), None),
        ]);
        let search_path = [path("link/bin"), path("directory/bin")].join(OsStr::new(":"));
        let links = |begin| shell_links(&variables, &search_path, begin);
        assert_eq!(links(Duration::ZERO), ["LINK"]);
        assert!(links(Duration::MAX).is_empty(), "an older link");
    }
}
