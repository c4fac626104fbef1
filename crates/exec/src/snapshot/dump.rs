//! How a shell reports its state: the commands that print the report, and the parser of the report.
//!
//! The commands run in a shell that has read an arbitrary configuration. Functions may be called
//! `builtin` and `printf`, words may be aliases, `set -u` may be on, a DEBUG trap may print.
//! Therefore the commands are a single line, parsed before the configuration is read, so that no
//! alias applies. The line enters POSIX mode, where special builtins take precedence over
//! functions, and removes functions with the names of builtins. Values are passed as arguments. The
//! report goes to the script file: not to stdout, where the configuration may print, and not to
//! disk, because it may contain secrets.

use agent_bash_core::ShellDefinitions;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

/// Prefix of the names of all functions and variables that these commands define.
pub(super) const OWN_PREFIX: &str = "__ab";

/// The descriptor number of the script file while the configuration runs: unlikely to be used by
/// scripts, and below every descriptor limit.
macro_rules! report_fd {
    () => {
        "43"
    };
}

/// Defines `__ab_more`, which reports the umask, the limits and every variable.
macro_rules! define_more {
    () => {
        concat!(
            r"__ab_more() { ",
            r#"\builtin printf 'u\0%s\0l\0%s\0' "$(\builtin umask)" "$(\builtin ulimit -S -a)"; "#,
            r"\builtin mapfile -t __ab < <(\builtin compgen -A variable); ",
            r#"for __ab_name in "${__ab[@]}"; do case $__ab_name in __ab*) \builtin continue ;; esac; "#,
            r#"\builtin printf 'v%s\0' "$__ab_name"; \builtin declare -p -- "$__ab_name"; "#,
            r#"\builtin printf '\0%s\0' "${!__ab_name}"; done; }; "#
        )
    };
}

/// Defines an `__ab_more` that reports nothing.
macro_rules! define_no_more {
    () => {
        r"__ab_more() { \builtin :; }; "
    };
}

/// Defines `__ab_dump`, which reports everything.
macro_rules! define_dump {
    () => {
        concat!(
            r"__ab_dump() { POSIXLY_CORRECT=1; \trap - EXIT DEBUG ERR RETURN; \set +euvx; ",
            r"\unset -f builtin command compgen declare mapfile printf unset; ",
            // Commands added to the history must not be written to the user's history file.
            r"\unset -v POSIXLY_CORRECT; \builtin unset -v HISTFILE; { ",
            r#"\builtin printf '%s\0' "$@"; "#,
            r"\__ab_more; ",
            r#"\builtin printf 'r\0%s\0x\0' "${__ab_exec-}"; \builtin declare -xF; \builtin printf '\0'; "#,
            r"\builtin mapfile -t __ab < <(\builtin compgen -A function); ",
            r#"for __ab_name in "${__ab[@]}"; do \builtin printf 'f%s\0' "$__ab_name"; "#,
            r#"\builtin declare -f -- "$__ab_name"; \builtin printf '\0'; done; "#,
            // bash makes `BASH_ALIASES` again for each expansion: with a thousand aliases, an
            // expansion for each of them takes a second.
            r#"__ab=("${!BASH_ALIASES[@]}"); __ab_texts=("${BASH_ALIASES[@]}"); "#,
            r#"for __ab_n in "${!__ab[@]}"; do "#,
            r#"\builtin printf 'a%s\0%s\0' "${__ab[__ab_n]}" "${__ab_texts[__ab_n]}"; done; "#,
            r"\builtin printf 'end\0'; } >&",
            report_fd!(),
            "; }; "
        )
    };
}

/// The arguments of `__ab_dump`.
macro_rules! dump_arguments {
    () => {
        r#""$SHELLOPTS" "$BASHOPTS" "${PATH-}""#
    };
}

/// Reports the search path, the options and the variables.
macro_rules! report_variables {
    () => {
        concat!(
            r"{ \builtin printf '%s\0' ",
            dump_arguments!(),
            r"; \__ab_more; \builtin printf 'end\0'; } >&",
            report_fd!(),
            "; "
        )
    };
}

/// Moves the script file to the number `report_fd!`, and reports the state before the configuration
/// is read.
macro_rules! report_before {
    () => {
        concat!(
            r"\command exec ",
            report_fd!(),
            ">&{script_fd} {script_fd}>&- </dev/null >/dev/null 2>&1; ",
            report_variables!()
        )
    };
}

/// Stores the environment, and defines `__ab_restore`, which restores it and the directory. Hooks
/// of the prompt then see the environment of a shell that a tool starts.
macro_rules! define_restore {
    () => {
        concat!(
            r"\builtin mapfile -t __ab_env < <(\builtin compgen -e); __ab_values=(); ",
            r#"for __ab_name in "${__ab_env[@]}"; do __ab_values+=("${!__ab_name-}"); done; "#,
            r#"__ab_restore() { \builtin cd -- "$__ab_directory"; "#,
            r#"for __ab_n in "${!__ab_env[@]}"; do __ab_name=${__ab_env[__ab_n]}; "#,
            r"case $__ab_name in PATH | *PWD | SHLVL | _ | BASH* | SHELLOPTS) \builtin continue ;; esac; ",
            r#"[[ ${!__ab_name-} == "${__ab_values[__ab_n]}" ]] || "#,
            r#"\builtin export "$__ab_name=${__ab_values[__ab_n]}"; done; }; "#
        )
    };
}

/// Defines an `exec` that returns. A configuration that ends in `exec zsh` has defined bash
/// functions before, and the shells within `exec tmux` read the rest of the configuration. An
/// `exec` with redirections but no program also returns. In POSIX mode, no function can have this
/// name.
macro_rules! define_exec {
    () => {
        concat!(
            r#"[[ -o posix ]] || exec() { case $BASH_SUBSHELL in 0) ;; *) \builtin exec "$@" ;; esac; "#,
            r"while \builtin :; do case ${1-} in -a) \builtin shift 2 || \builtin break ;; ",
            r"-?*) \builtin shift ;; *) \builtin break ;; esac; done; ",
            r"case $# in 0) \builtin return 0 ;; esac; ",
            r#"\builtin type -P -- "$1" >/dev/null || \builtin return 127; __ab_exec=${1##*/}; "#,
            // Stops a loop that retries `exec`.
            r"(( ++__ab_execs < 20 )) || { \__ab_dump ",
            dump_arguments!(),
            r"; \builtin exit 0; }; }; "
        )
    };
}

/// Reports and exits before `command exec …` and `builtin exec …`, which no function can replace.
pub(super) const STOP_AT_EXEC: &str = concat!(
    r"__ab_stop() { case $BASH_SUBSHELL:$BASH_COMMAND in ",
    r"0:*command\ exec\ [!0-9\<\>\&]* | 0:*builtin\ exec\ [!0-9\<\>\&]*) ",
    r"\builtin set +T; __ab_exec=${BASH_COMMAND##*exec }; __ab_exec=${__ab_exec%% *}; __ab_exec=${__ab_exec##*/}; ",
    r"\__ab_dump ",
    dump_arguments!(),
    r"; \builtin exit 0 ;; esac; }; ",
    r"\builtin set -T; \builtin trap '\__ab_stop' DEBUG; "
);

/// Sets the directory to read the configuration in; the quoted path follows.
pub(super) const SET_DIRECTORY: &str = r"__ab_directory=";

/// Enters the directory, defines the functions above, and reports the state before the
/// configuration.
pub(super) const BEFORE_RC: &str = concat!(
    r#"; \builtin cd -- "$__ab_directory"; "#,
    define_more!(),
    define_dump!(),
    report_before!(),
    define_restore!(),
    define_exec!(),
);

/// Reads the configuration, whose quoted path follows. The trap reports if the configuration exits,
/// or if bash stops at an error. With `. … ||`, a failing command does not end the shell under `set
/// -e`; `\builtin .` would not allow that.
pub(super) const SOURCE_RC: &str = concat!(
    r"\builtin trap '\__ab_dump ",
    dump_arguments!(),
    r"' EXIT; \. "
);

/// Reports, then runs `PROMPT_COMMAND` and reports the variables. Tools that change the environment
/// per directory do that before a prompt. direnv's hook runs before, with a report of its own,
/// because the shells of sessions call this hook themselves.
pub(super) const AFTER_RC: &str = concat!(
    r" || \builtin :; \__ab_dump ",
    dump_arguments!(),
    r"; \__ab_restore; ",
    r#"case "${PROMPT_COMMAND[*]-}${STARSHIP_PROMPT_COMMAND-}${precmd_functions[*]-}" in "#,
    r"*_direnv_hook*) \_direnv_hook ;; esac; ",
    report_variables!(),
    r#"for __ab_n in "${PROMPT_COMMAND[@]}"; do \builtin eval "$__ab_n"; done; "#,
    r"\trap - EXIT DEBUG ERR RETURN; \set +euvx; ",
    report_variables!(),
    r"\builtin exit 0"
);

/// Reads definitions, each terminated by NUL, evaluates them in order, and reports the result. A
/// NUL byte on the control pipe marks that the script file contains them.
pub(super) const READ_PARTS: &str = concat!(
    define_more!(),
    define_dump!(),
    r"IFS= \builtin read -r -d '' __ab || \builtin exit 125; ",
    r"\builtin mapfile -d '' __ab_parts <&{script_fd}; ",
    report_before!(),
    r"\builtin shopt -s extglob; ",
    r#"for __ab_name in "${__ab_parts[@]}"; do \builtin eval "$__ab_name"; done; "#,
    r"\__ab_dump ",
    dump_arguments!()
);

/// Reports the state of a running shell, from a subshell. The state "before" is the state of a new
/// shell. The quoted path of that shell's program follows, then [`RUNNING_REPORT_END`].
pub(super) const RUNNING_REPORT_BEGIN: &str = concat!(
    r"( { \builtin printf '\0'; ",
    r"\command env -u BASHOPTS -u BASH_ENV -u ENV -u SHELLOPTS "
);

/// The text after the path of [`RUNNING_REPORT_BEGIN`]. The final `&& \builtin :` prevents a
/// failure from ending the shell or running an ERR trap.
pub(super) const RUNNING_REPORT_END: &str = concat!(
    r" --norc --noprofile -c '\builtin printf ",
    r#""%s\0" "$SHELLOPTS" "$BASHOPTS" "${PATH-}" end'; "#,
    define_no_more!(),
    define_dump!(),
    r"\__ab_dump ",
    dump_arguments!(),
    "; } ",
    report_fd!(),
    r">&1 2>/dev/null ) && \builtin :"
);

/// Options and search path of a shell at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ShellOptions {
    /// `set -o`.
    pub(super) set: BTreeSet<String>,
    /// `shopt`.
    pub(super) shopt: BTreeSet<String>,
    /// `PATH`; empty if unset.
    pub(super) path: OsString,
}

/// A function with its definition, or an alias with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

/// A variable: the command that declares it, and its value (for an array, the value of element 0).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) declaration: Vec<u8>,
    pub(super) value: OsString,
}

/// The state of a shell at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ShellState {
    pub(super) options: ShellOptions,
    pub(super) functions: Vec<Definition>,
    pub(super) aliases: Vec<Definition>,
    pub(super) variables: BTreeMap<String, Variable>,
    /// The names of exported functions.
    pub(super) exported: BTreeSet<String>,
    /// The output of `umask`.
    pub(super) umask: String,
    /// Soft limits: the letter of the option, and the value.
    pub(super) limits: BTreeMap<char, String>,
    /// The base name of the program that the configuration runs with `exec`; empty if none.
    pub(super) exec_program: String,
}

/// The report of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellDump {
    pub(super) before: ShellState,
    pub(super) after: ShellState,
    /// The state after direnv's hook, before the other commands of `PROMPT_COMMAND`.
    pub(super) before_prompt: Option<ShellState>,
    /// The state after `PROMPT_COMMAND` has run; `None` with `before_prompt`.
    pub(super) at_prompt: Option<ShellState>,
}

impl ShellDump {
    /// Parses a report; returns `None` if it is incomplete or invalid.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.split(|byte| *byte == 0);
        let before = ShellState::parse(&mut fields)?;
        let after = ShellState::parse(&mut fields)?;
        let mut before_prompt = ShellState::parse(&mut fields);
        let at_prompt = ShellState::parse(&mut fields);
        if at_prompt.is_none() {
            before_prompt = None;
        }
        Some(Self {
            before,
            after,
            before_prompt,
            at_prompt,
        })
    }

    /// Removes the variables with this value.
    pub(super) fn remove_variables(&mut self, value: &OsStr) {
        let states = [&mut self.before, &mut self.after];
        let at_prompt = self.before_prompt.iter_mut().chain(&mut self.at_prompt);
        for state in states.into_iter().chain(at_prompt) {
            state
                .variables
                .retain(|_, variable| variable.value != value);
        }
    }
}

impl ShellState {
    fn parse<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let mut state = Self {
            options: ShellOptions::parse(fields)?,
            ..Self::default()
        };
        loop {
            let head = fields.next()?;
            if head == b"end" {
                return Some(state);
            }
            let (kind, name) = head.split_first()?;
            let text = fields.next()?;
            // A name that is not UTF-8 cannot be loaded reliably.
            let name = std::str::from_utf8(name).ok().map(str::to_owned);
            let lossy = || String::from_utf8_lossy(text).into_owned();
            match (kind, name) {
                (b'f' | b'a', None) => {}
                (b'f', Some(name)) => state.functions.push(Definition {
                    name,
                    text: text.to_vec(),
                }),
                (b'a', Some(name)) => state.aliases.push(Definition {
                    name,
                    text: text.to_vec(),
                }),
                (b'v', Some(name)) => {
                    let variable = Variable {
                        declaration: text.to_vec(),
                        value: OsString::from_vec(fields.next()?.to_vec()),
                    };
                    state.variables.insert(name, variable);
                }
                (b'u', _) => state.umask = lossy(),
                (b'l', _) => state.limits = limits(&lossy()),
                (b'r', _) => state.exec_program = lossy(),
                (b'x', _) => {
                    let lines = lossy();
                    let names = lines.lines().filter_map(|line| line.rsplit(' ').next());
                    state.exported = names.map(str::to_owned).collect();
                }
                _ => return None,
            }
        }
    }

    /// Returns the functions and aliases whose texts are UTF-8.
    pub(super) fn defined(&self) -> ShellDefinitions {
        let texts = |list: &[Definition]| {
            let texts = list.iter().filter_map(|definition| {
                let text = String::from_utf8(definition.text.clone()).ok()?;
                Some((definition.name.clone(), text))
            });
            Arc::new(texts.collect())
        };
        ShellDefinitions {
            functions: texts(&self.functions),
            aliases: texts(&self.aliases),
            expands_aliases: self.options.shopt.contains("expand_aliases"),
        }
    }
}

impl Variable {
    /// Returns the attributes, as letters.
    pub(super) fn attributes(&self) -> &[u8] {
        let mut words = self.declaration.split(|byte| *byte == b' ');
        let attributes = words.nth(1).and_then(|word| word.strip_prefix(b"-"));
        attributes.unwrap_or_default()
    }

    pub(super) fn is_exported(&self) -> bool {
        self.attributes().contains(&b'x')
    }

    /// True if both variables have the same value and attributes, apart from `readonly`. The
    /// elements of an associative array may have another order.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let parts = |variable: &Self| {
            let attributes = variable.attributes().iter().copied();
            let attributes: Vec<u8> = attributes
                .filter(|letter| !b"r-".contains(letter))
                .collect();
            let value = variable.declaration.splitn(3, |byte| *byte == b' ').nth(2);
            let mut value = value.unwrap_or_default().to_vec();
            if attributes.contains(&b'A') {
                value.sort_unstable();
            }
            (attributes, value)
        };
        parts(self) == parts(other)
    }

    pub(super) fn is_array(&self) -> bool {
        self.attributes()
            .iter()
            .any(|letter| b"aA".contains(letter))
    }
}

/// Parses `ulimit -a`: `open files (-n) 1024`, `file size (blocks, -f) unlimited`.
fn limits(text: &str) -> BTreeMap<char, String> {
    let limit = |line: &str| {
        let (description, value) = line.rsplit_once(") ")?;
        let (_, letter) = description.rsplit_once('-')?;
        let value = value.trim();
        let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (letter.len() == 1 && is_plain).then(|| (letter.chars().next(), value.to_owned()))
    };
    let limits = text.lines().filter_map(limit);
    limits
        .filter_map(|(letter, value)| Some((letter?, value)))
        .collect()
}

impl ShellOptions {
    fn parse<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let mut names = || {
            let text = std::str::from_utf8(fields.next()?).ok()?;
            let names = text.split(':').filter(|name| !name.is_empty());
            let names = names.map(|name| is_option(name).then(|| name.to_owned()));
            names.collect::<Option<BTreeSet<String>>>()
        };
        let (set, shopt) = (names()?, names()?);
        let path = OsString::from_vec(fields.next()?.to_vec());
        Some(Self { set, shopt, path })
    }
}

/// True if the name of an option is plain. Option names become words of a command.
fn is_option(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &[u8] =
        b"braceexpand:hashall\0cmdhist\0/bin\0vA\0declare -x A=\"1\"\0\x31\0u\x000022\0l\0\
        open files   (-n) 1024\nfile size   (blocks, -f) unlimited\0end\0\
        errexit\0extglob:cmdhist\0/a\n:/bin\0r\0zsh\0x\0declare -fx f\n\0\
        ff\0f () \n{ \n    :\n}\n\0a-\0cd -\0end\0garbage";

    #[test]
    fn parse_returns_every_field() {
        let dump = ShellDump::parse(REPORT).unwrap();
        let (before, after) = (&dump.before, &dump.after);
        assert_eq!(before.options.path, "/bin");
        assert_eq!(after.options.path, "/a\n:/bin");
        assert!(after.options.shopt.contains("extglob"));
        assert_eq!(after.functions[0].name, "f");
        assert_eq!(after.functions[0].text, b"f () \n{ \n    :\n}\n");
        assert_eq!(after.exported, BTreeSet::from(["f".to_owned()]));
        assert_eq!(after.exec_program, "zsh");
        assert_eq!(
            after.aliases,
            [Definition {
                name: "-".into(),
                text: b"cd -".to_vec()
            }]
        );
        assert_eq!(before.umask, "0022");
        assert_eq!(before.limits[&'n'], "1024");
        assert_eq!(before.limits[&'f'], "unlimited");
        let variable = &before.variables["A"];
        assert!(variable.is_exported() && !variable.is_array());
        assert_eq!(variable.value, "1");
        assert_eq!((dump.before_prompt, dump.at_prompt), (None, None));
    }

    #[test]
    fn parse_refuses_an_incomplete_report() {
        let end = REPORT.len() - b"end\0garbage".len();
        for length in 0..end + 3 {
            assert_eq!(ShellDump::parse(&REPORT[..length]), None, "{length}");
        }
        assert_eq!(ShellDump::parse(b"\0\0\0end\0\0\0\0zx\0y\0end\0"), None);
        assert!(ShellDump::parse(b"a\0b\0\0end\0a\0b\0\0end\0").is_some());
        assert_eq!(ShellDump::parse(b"a\0b\0\0end\0\na\0b\0\0end\0"), None);
        assert_eq!(ShellDump::parse(b"a\0b\0\0end\0a;b\0b\0\0end\0"), None);
    }

    #[test]
    fn shell_texts_are_one_line() {
        for text in [
            STOP_AT_EXEC, BEFORE_RC, SOURCE_RC, AFTER_RC, READ_PARTS, RUNNING_REPORT_BEGIN,
            RUNNING_REPORT_END,
        ] {
            assert!(!text.contains('\n'), "{text}");
        }
    }
}
