//! How a shell reports its state: the text that makes it report, and parsing the report.
//!
//! The text runs in a shell that has just read an arbitrary configuration, so nothing can be relied
//! on: functions may be called `builtin` and `printf`, words may be aliases, `set -u` may be in
//! force, a DEBUG trap may print. Therefore it is a single line, parsed before the configuration is
//! read, so that no alias applies to it. It enters POSIX mode, where special builtins take
//! precedence over functions, to remove functions that are in the way. And it receives values as
//! arguments. The report goes to the script file: not to stdout, where anything may print, and not
//! to disk, where nothing unfiltered belongs.

use agent_bash_core::ShellDefinitions;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

/// Prefix of all our names in a shell.
pub(super) const OWN_PREFIX: &str = "__ab";

/// The descriptor number of the script file while foreign code runs: unlikely to be used by
/// scripts, and below every descriptor limit.
macro_rules! out {
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
            r#"for __ab_name in "${!BASH_ALIASES[@]}"; do "#,
            r#"\builtin printf 'a%s\0%s\0' "$__ab_name" "${BASH_ALIASES[$__ab_name]}"; done; "#,
            r"\builtin printf 'end\0'; } >&",
            out!(),
            "; }; "
        )
    };
}

/// The arguments of `__ab_dump`.
macro_rules! state {
    () => {
        r#""$SHELLOPTS" "$BASHOPTS" "${PATH-}""#
    };
}

/// Moves the script file to its number and reports the state before the user's configuration is
/// read.
macro_rules! begin {
    () => {
        concat!(
            r"\command exec ",
            out!(),
            ">&{script_fd} {script_fd}>&- </dev/null >/dev/null 2>&1; ",
            r"{ \builtin printf '%s\0' ",
            state!(),
            r"; \__ab_more; \builtin printf 'end\0'; } >&",
            out!(),
            "; "
        )
    };
}

/// Remembers the environment, and defines `__ab_restore`: the directory and the environment are
/// again those that the shell was started with, so that a prompt's hook sees what it would see in
/// a shell that a tool starts.
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

/// Defines an `exec` that goes on: a configuration that ends in `exec zsh` has defined before what
/// its user has in bash, and what follows `exec tmux` is read by the shells within. Redirections
/// alone are no reason to stop either. In POSIX mode no function can have the name.
macro_rules! define_exec {
    () => {
        concat!(
            r#"[[ -o posix ]] || exec() { case $BASH_SUBSHELL in 0) ;; *) \builtin exec "$@" ;; esac; "#,
            r"while \builtin :; do case ${1-} in -a) \builtin shift 2 || \builtin break ;; ",
            r"-?*) \builtin shift ;; *) \builtin break ;; esac; done; ",
            r"case $# in 0) \builtin return 0 ;; esac; ",
            r#"\builtin type -P -- "$1" >/dev/null || \builtin return 127; __ab_exec=${1##*/}; "#,
            // A loop around it ends all the same.
            r"(( ++__ab_execs < 20 )) || { \__ab_dump ",
            state!(),
            r"; \builtin exit 0; }; }; "
        )
    };
}

/// Stops before `command exec …` and `builtin exec …`, which no function replaces.
pub(super) const STOP_AT_EXEC: &str = concat!(
    r"__ab_stop() { case $BASH_SUBSHELL:$BASH_COMMAND in ",
    r"0:*command\ exec\ [!0-9\<\>\&]* | 0:*builtin\ exec\ [!0-9\<\>\&]*) ",
    r"\builtin set +T; __ab_exec=${BASH_COMMAND##*exec }; __ab_exec=${__ab_exec%% *}; __ab_exec=${__ab_exec##*/}; ",
    r"\__ab_dump ",
    state!(),
    r"; \builtin exit 0 ;; esac; }; ",
    r"\builtin set -T; \builtin trap '\__ab_stop' DEBUG; "
);

/// Enters the directory, whose quoted path follows.
pub(super) const ENTER: &str = r"__ab_directory=";

/// Prepares the reading.
pub(super) const READ_RC: &str = concat!(
    r#"; \builtin cd -- "$__ab_directory"; "#,
    define_more!(),
    define_dump!(),
    begin!(),
    define_restore!(),
    define_exec!(),
);

/// Reads the configuration (its quoted path follows), then reports. If the configuration exits, or
/// fails so that bash gives up, the trap reports. `. … ||` keeps `set -e` from ending it at the
/// first failing command, which would not work with `\builtin .`.
pub(super) const SOURCE: &str = concat!(r"\builtin trap '\__ab_dump ", state!(), r"' EXIT; \. ");

/// The text after the path: reports, then runs what the configuration runs before each prompt, as
/// tools that serve directories do it then, and reports the variables.
pub(super) const AFTER_RC: &str = concat!(
    r" || \builtin :; \__ab_dump ",
    state!(),
    r#"; \__ab_restore; for __ab_n in "${PROMPT_COMMAND[@]}"; do \builtin eval "$__ab_n"; done; "#,
    r"\trap - EXIT DEBUG ERR RETURN; \set +euvx; { \builtin printf '%s\0' ",
    state!(),
    r"; \__ab_more; \builtin printf 'end\0'; } >&",
    out!(),
    r"; \builtin exit 0"
);

/// Reads parts, each terminated by NUL, evaluates them in order, and reports the result. The parts
/// are in the script file once the control pipe says so.
pub(super) const READ_PARTS: &str = concat!(
    define_more!(),
    define_dump!(),
    r"IFS= \builtin read -r -d '' __ab || \builtin exit 125; ",
    r"\builtin mapfile -d '' __ab_parts <&{script_fd}; ",
    begin!(),
    r"\builtin shopt -s extglob; ",
    r#"for __ab_name in "${__ab_parts[@]}"; do \builtin eval "$__ab_name"; done; "#,
    r"\__ab_dump ",
    state!()
);

/// Makes a shell report that is in the middle of its work, in a subshell. The state before is that
/// of a new one; the path of its program, quoted, follows.
pub(super) const ASK_BEFORE: &str = concat!(
    r"( { \builtin printf '\0'; ",
    r"\command env -u BASHOPTS -u BASH_ENV -u ENV -u SHELLOPTS "
);

/// The text after the path. In a list that continues, a failure neither ends the shell nor runs a
/// trap.
pub(super) const ASK_NEW: &str = concat!(
    r" --norc --noprofile -c '\builtin printf ",
    r#""%s\0" "$SHELLOPTS" "$BASHOPTS" "${PATH-}" end'; "#,
    define_no_more!(),
    define_dump!(),
    r"\__ab_dump ",
    state!(),
    "; } ",
    out!(),
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

/// A variable: the command that declares it, and its value if it is no array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) declaration: Vec<u8>,
    pub(super) value: OsString,
}

/// The report of a shell about one moment.
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
    /// The program that the configuration would have become.
    pub(super) becomes: String,
}

/// The complete report of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellDump {
    pub(super) before: ShellState,
    pub(super) after: ShellState,
    /// After what runs before a prompt.
    pub(super) at_prompt: Option<ShellState>,
}

impl ShellDump {
    /// `None` if the report is incomplete.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.split(|byte| *byte == 0);
        Some(Self {
            before: ShellState::parse(&mut fields)?,
            after: ShellState::parse(&mut fields)?,
            at_prompt: ShellState::parse(&mut fields),
        })
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
            // A name that is not UTF-8 could not be loaded reliably.
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
                (b'r', _) => state.becomes = lossy(),
                (b'x', _) => {
                    let lines = lossy();
                    let names = lines.lines().filter_map(|line| line.rsplit(' ').next());
                    state.exported = names.map(str::to_owned).collect();
                }
                _ => return None,
            }
        }
    }
}

impl ShellState {
    /// The functions and aliases, as far as they are text.
    pub(super) fn defined(&self) -> ShellDefinitions {
        let texts = |list: &[Definition]| {
            let texts = list.iter().filter_map(|it| {
                let text = String::from_utf8(it.text.clone()).ok()?;
                Some((it.name.clone(), text))
            });
            Arc::new(texts.collect())
        };
        ShellDefinitions {
            functions: texts(&self.functions),
            aliases: if self.options.shopt.contains("expand_aliases") {
                texts(&self.aliases)
            } else {
                Arc::default()
            },
        }
    }
}

impl Variable {
    /// The attributes, as letters.
    pub(super) fn attributes(&self) -> &[u8] {
        let mut words = self.declaration.split(|byte| *byte == b' ');
        let attributes = words.nth(1).and_then(|word| word.strip_prefix(b"-"));
        attributes.unwrap_or_default()
    }

    pub(super) fn is_exported(&self) -> bool {
        self.attributes().contains(&b'x')
    }

    /// True if both have the same value and attributes, but for being read-only. The order of an
    /// associative array's elements differs.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let parts = |it: &Self| {
            let attributes = it.attributes().iter().copied();
            let attributes: Vec<u8> = attributes.filter(|it| !b"r-".contains(it)).collect();
            let value = it.declaration.splitn(3, |byte| *byte == b' ').nth(2);
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
        let (what, value) = line.rsplit_once(") ")?;
        let (_, letter) = what.rsplit_once('-')?;
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

/// Option names become words of a command, so they must be plain.
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
    fn report_is_parsed() {
        let dump = ShellDump::parse(REPORT).unwrap();
        let (before, after) = (&dump.before, &dump.after);
        assert_eq!(before.options.path, "/bin");
        assert_eq!(after.options.path, "/a\n:/bin");
        assert!(after.options.shopt.contains("extglob"));
        assert_eq!(after.functions[0].name, "f");
        assert_eq!(after.functions[0].text, b"f () \n{ \n    :\n}\n");
        assert_eq!(after.exported, BTreeSet::from(["f".to_owned()]));
        assert_eq!(after.becomes, "zsh");
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
        assert_eq!(dump.at_prompt, None);
    }

    #[test]
    fn incomplete_reports_are_refused() {
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
    fn the_texts_are_one_line() {
        for text in [
            STOP_AT_EXEC,
            READ_RC,
            SOURCE,
            AFTER_RC,
            READ_PARTS,
            ASK_BEFORE,
            ASK_NEW,
        ] {
            assert!(!text.contains('\n'), "{text}");
        }
    }
}
