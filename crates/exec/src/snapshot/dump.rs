//! How a shell reports its state: the text that makes it report, and parsing the report.
//!
//! The text runs in a shell that has just read an arbitrary configuration, so nothing can be relied
//! on: functions may be called `builtin` and `printf`, words may be aliases, `set -u` may be in
//! force, a DEBUG trap may print. Therefore it is a single line, parsed before the configuration is
//! read, so that no alias applies to it. It enters POSIX mode, where special builtins take
//! precedence over functions, to remove functions that are in the way. And it receives values as
//! arguments. The report goes to the script file: not to stdout, where anything may print, and not
//! to disk, where nothing unfiltered belongs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Prefix of all our names in a shell.
pub(super) const OWN_PREFIX: &str = "__ab";

/// The descriptor number of the script file while foreign code runs: unlikely to be used by
/// scripts, and below every descriptor limit.
macro_rules! out {
    () => {
        "43"
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
            r"\builtin printf '%s\0' ",
            state!(),
            " >&",
            out!(),
            "; "
        )
    };
}

/// Reads the configuration (its quoted path follows), then reports. If the configuration exits, or
/// fails so that bash gives up, the trap reports. `. … ||` keeps `set -e` from ending it at the
/// first failing command, which would not work with `\builtin .`.
pub(super) const READ_RC: &str = concat!(
    define_dump!(),
    begin!(),
    r"\builtin trap '\__ab_dump ",
    state!(),
    r"' EXIT; \. "
);

/// The text after the path.
pub(super) const AFTER_RC: &str = concat!(
    r" || \builtin :; \__ab_dump ",
    state!(),
    r"; \builtin exit 0"
);

/// Reads parts, each terminated by NUL, evaluates them in order, and reports the result. The parts
/// are in the script file once the control pipe says so.
pub(super) const READ_PARTS: &str = concat!(
    define_dump!(),
    r"IFS= \builtin read -r -d '' __ab || \builtin exit 125; ",
    r"\builtin mapfile -d '' __ab <&{script_fd}; ",
    begin!(),
    r"\builtin shopt -s extglob; ",
    r#"for __ab_name in "${__ab[@]}"; do \builtin eval "$__ab_name"; done; "#,
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
    r#""%s\0" "$SHELLOPTS" "$BASHOPTS" "${PATH-}"'; "#,
    define_dump!(),
    r"\__ab_dump ",
    state!(),
    "; } ",
    out!(),
    r">&1 2>/dev/null ) && \builtin :"
);

/// Options and search path of a shell at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The complete report of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dump {
    pub(super) before: ShellOptions,
    pub(super) after: ShellOptions,
    pub(super) functions: Vec<Definition>,
    pub(super) aliases: Vec<Definition>,
}

impl Dump {
    /// `None` if the report is incomplete.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.split(|byte| *byte == 0);
        let mut dump = Self {
            before: ShellOptions::parse(&mut fields)?,
            after: ShellOptions::parse(&mut fields)?,
            functions: Vec::new(),
            aliases: Vec::new(),
        };
        loop {
            let head = fields.next()?;
            if head == b"end" {
                return Some(dump);
            }
            let (kind, name) = head.split_first()?;
            let text = fields.next()?.to_vec();
            let list = match kind {
                b'f' => &mut dump.functions,
                b'a' => &mut dump.aliases,
                _ => return None,
            };
            // A name that is not UTF-8 could not be loaded reliably.
            if let Ok(name) = String::from_utf8(name.to_vec()) {
                list.push(Definition { name, text });
            }
        }
    }
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

    const DUMP_BYTES: &[u8] =
        b"braceexpand:hashall\0cmdhist\0/bin\0errexit\0extglob:cmdhist\0/a\n:/bin\0\
        ff\0f () \n{ \n    :\n}\n\0a-\0cd -\0end\0garbage";

    #[test]
    fn what_was_told_is_read() {
        let dump = Dump::parse(DUMP_BYTES).unwrap();
        assert_eq!(dump.before.path, "/bin");
        assert_eq!(dump.after.path, "/a\n:/bin");
        assert!(dump.after.shopt.contains("extglob") && !dump.before.shopt.contains("extglob"));
        assert_eq!(dump.functions[0].name, "f");
        assert_eq!(dump.functions[0].text, b"f () \n{ \n    :\n}\n");
        assert_eq!(
            dump.aliases,
            [Definition {
                name: "-".into(),
                text: b"cd -".to_vec()
            }]
        );
    }

    #[test]
    fn what_was_not_told_to_its_end_is_nothing() {
        let end = DUMP_BYTES
            .windows(4)
            .position(|four| four == b"end\0")
            .unwrap();
        for length in 0..end + 3 {
            assert_eq!(Dump::parse(&DUMP_BYTES[..length]), None, "{length}");
        }
        assert_eq!(Dump::parse(b"\0\0\0\0\0\0x\0y\0end\0"), None);
        assert!(Dump::parse(b"a\0b\0\0a\0b\0\0end\0").is_some());
        assert_eq!(Dump::parse(b"a\0b\0\0\na\0b\0\0end\0"), None);
        assert_eq!(Dump::parse(b"a\0b\0\0a;b\0b\0\0end\0"), None);
    }

    #[test]
    fn the_texts_are_one_line() {
        for text in [READ_RC, AFTER_RC, READ_PARTS, ASK_BEFORE, ASK_NEW] {
            assert!(!text.contains('\n'), "{text}");
        }
    }
}
