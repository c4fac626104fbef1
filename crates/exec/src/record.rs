//! The text by which a waiting shell takes its script: its start-up text, and the record of a call.
//!
//! The shell is started with [`boot`] as its `-c` text, and blocks reading its stdin, the control
//! pipe. The script file, which it inherited, holds the parts of a [`Record`] and the script, each
//! terminated by NUL. A NUL on the control pipe commits them: EOF never runs half a script. The
//! shell changes to the call's directory, closes all our descriptors and leaves the script in
//! `BASH_EXECUTION_STRING`, as `bash -c` does; `eval` runs it on line 1.
//!
//! All of that is in the boot text, on one line, so that it is parsed while the shell waits; what
//! is parsed during the call is only what most calls do not have.
//!
//! Our words are escaped (`\builtin`) against aliases; `docs/design` describes what was tried and
//! rejected.

use crate::exports;
use crate::snapshot::Snapshot;
use agent_bash_call::{PLAIN_TAKE, Reader, enter, exec, if_too_old, load};
use agent_bash_core::{Definitions, Shell, Stage};
use agent_bash_process::quoted;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Arguments of a warm bash. The supervisor inserts `{script_fd}` and `{report}`, which it opens;
/// [`boot`] inserts [`ENTER_PLACEHOLDER`]. The parts of the record: 0 directory, 1 variables, 2
/// redirections, 3 whether the tail follows, or how the shell becomes the script's program, 4 the
/// script.
///
/// `: bash` leaves `$_` as in `bash -c`. The condition for the tail, and the tail itself, are in
/// this text, because the script could see a variable of the record.
const BOOT_TEXT: &str = concat!(
    // One that is too old says so behind its record, when there is one.
    if_too_old!(
        r"IFS= \builtin read -r -d '' __ab || \builtin exit 125; ",
        r"while IFS= \builtin read -r -d '' -u {script_fd} __ab; do :; done; ",
        r#"\builtin printf %s "v$BASH_VERSION" >&{script_fd}; \builtin exit 125"#
    ),
    r#"IFS= \builtin read -r -d '' __ab || \builtin exit 125; "#,
    r#"\builtin mapfile -d '' -n 5 -u {script_fd} __ab; "#,
    // A message would be the call's output.
    r#"{ {enter}; } 2>&- || { \builtin printf d >&{script_fd}; \builtin exit 125; }; "#,
    // As a bash that was started there has it: from the environment if that names a directory, else
    // declared only.
    r#"\builtin unset -v OLDPWD; \builtin export OLDPWD; \builtin eval "${__ab[1]}"; "#,
    // A shell that waited was started a while ago.
    r#"SECONDS=0; BASH_EXECUTION_STRING=${__ab[4]-}; "#,
    r#"case ${__ab[2]} in "#,
    // As `exec` has it.
    r#"'') case $BASH_VERSION in 4.*|5.0.*) \exec {script_fd}<&- </dev/null ;; "#,
    r#"*) \command exec {script_fd}<&- </dev/null ;; esac ;; "#,
    r#"*) \builtin eval "${__ab[2]}" ;; esac; "#,
    r#"case ${__ab[3]} in "#,
    r#"tail) \builtin unset -v __ab; : bash; \builtin eval -- "$BASH_EXECUTION_STRING"$'\n'"#,
    // The tail, quoted once. It must stand in the same text as the script: `eval` resets
    // PIPESTATUS.
    r#""__ab=(\"\$?\" \"\${PIPESTATUS[@]}\"); "#,
    r#"{ { \\builtin printf '%s ' \"\${__ab[@]}\"; \\builtin printf '%s' \"\$PWD\"; } >|{report}; } 2>/dev/null; "#,
    r#"\\builtin exit \"\${__ab[0]}\"" ;; "#,
    r#"*) \builtin eval "${__ab[3]}" || :; \builtin unset -v __ab; : bash; "#,
    r#"\builtin eval -- "$BASH_EXECUTION_STRING" ;; esac"#,
);

/// The placeholder for the text that enters the record's directory.
const ENTER_PLACEHOLDER: &str = "{enter}";

/// Words in a script that could see the tail, or keep it from working. Such a script gets no tail.
const NO_TAIL_WORDS: &[&str] = &[
    "trap",
    "builtin",
    "ulimit",
    "xtrace",
    "verbose",
    "extdebug",
    "restricted",
    "BASH_EXECUTION_STRING",
];

/// True if the tail may follow: nothing in the script could notice it. `set` with an option that
/// prints commands (x, v) or forbids redirections (r) is searched for as text, too.
pub(crate) fn may_have_tail(script: &str) -> bool {
    let prints = |options: &str| {
        options
            .split_whitespace()
            .take_while(|word| word.starts_with(['-', '+']))
            .any(|word| word.contains(['x', 'v', 'r']))
    };
    !NO_TAIL_WORDS.iter().any(|word| script.contains(word))
        && !script.split("set ").skip(1).any(prints)
        && ends_by_itself(script)
}

/// True if a following line is not parsed as part of the script.
pub(crate) fn ends_by_itself(script: &str) -> bool {
    !script.trim_end().ends_with('\\') && !script.contains("<<")
}

/// Parses what the tail wrote: the shell's status, that of each stage, the directory. `None` unless
/// it is exactly that and agrees with the observed status.
pub(crate) fn read_report(report: &str, observed: i32) -> Option<(Vec<Stage>, PathBuf)> {
    let (numbers, directory) = report.split_once('/')?;
    let mut codes = numbers.split_ascii_whitespace().map(|text| {
        text.parse()
            .ok()
            .filter(|code: &i32| (0..=255).contains(code))
    });
    let status = codes.next()??;
    let stages = codes
        .map(|code| code.map(Stage::from))
        .collect::<Option<Vec<_>>>()?;
    (status == observed && stages.len() >= 2)
        .then(|| (stages, PathBuf::from(format!("/{directory}"))))
}

/// The start-up text of a shell that is not bash; [`PLAIN_TAKE`] follows. The script file holds one
/// text, the record's work and the script.
const PLAIN_BOOT_TEXT: &str = "read -r __ab || exit 125; ";

/// The arguments of a shell that waits for its script.
pub(crate) fn boot(shell: &Shell, snapshot: Option<&Snapshot>) -> Vec<OsString> {
    let own = shell.args.iter().map(OsString::from);
    if !shell.is_any_bash() {
        let text = [PLAIN_BOOT_TEXT, PLAIN_TAKE].concat();
        return own.chain(["-c".into(), text.into()]).collect();
    }
    let mut text = snapshot.map(Snapshot::load_command).unwrap_or_default();
    let (before, after) = BOOT_TEXT
        .split_once(ENTER_PLACEHOLDER)
        .unwrap_or((BOOT_TEXT, ""));
    text.extend_from_slice(before.as_bytes());
    text.extend(enter(br#""${__ab[0]}""#, Reader::Bash));
    text.extend_from_slice(after.as_bytes());
    let bare: &[&str] = if shell.is_bash {
        &["--norc", "--noprofile", "-c"]
    } else {
        &["-c"]
    };
    own.chain(bare.iter().map(OsString::from))
        .chain([OsString::from_vec(text)])
        .collect()
}

/// Commits a record.
pub(crate) const COMMIT_BYTES: &[u8] = b"\0";

/// Commits to a shell that is not bash.
pub(crate) const PLAIN_COMMIT_BYTES: &[u8] = b"\n";

/// Our descriptors inside the shell, which the record closes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShellNumbers {
    /// The script file.
    pub(crate) script: i32,
    /// The script's stdin, if it inherits one.
    pub(crate) stdin: Option<i32>,
}

/// True if the shell reads the script file through the shared file offset, which then tells whether
/// it did.
pub(crate) fn shares_place(shell: &Shell, script_fd: i32) -> bool {
    shell.is_any_bash() || script_fd < 10
}

/// The contents of a record for bash.
#[derive(Debug, Clone)]
pub(crate) struct ScriptRecord<'a> {
    /// Directory to enter.
    pub(crate) cwd: &'a Path,
    /// Variables to set and unset: those that the shell did not have from its start.
    pub(crate) exports: Option<&'a BTreeMap<OsString, Option<OsString>>>,
    /// `OLDPWD` in the environment.
    pub(crate) oldpwd: Option<&'a OsStr>,
    /// True if the tail follows the script.
    pub(crate) tail: bool,
    /// The commands by which the shell becomes the program that the script is.
    pub(crate) replaced: Option<String>,
    /// The snapshot that the shell has loaded.
    pub(crate) snapshot: Option<&'a Snapshot>,
    /// The definitions of another shell.
    pub(crate) definitions: Option<&'a Definitions>,
    /// The call sets or unsets `PATH` itself.
    pub(crate) path_is_the_calls: bool,
    /// Our descriptors, to be closed.
    pub(crate) numbers: ShellNumbers,
}

impl ScriptRecord<'_> {
    /// The contents of the script file: the record's parts and the script.
    pub(crate) fn with_script(&self, script: &str) -> Vec<u8> {
        let mut text = Vec::with_capacity(script.len() + 512);
        text.extend_from_slice(self.cwd.as_os_str().as_bytes());
        text.push(0);
        self.add_settings(&mut text);
        text.push(0);
        self.add_redirections(&mut text);
        text.push(0);
        if let Some(commands) = &self.replaced {
            text.extend_from_slice(commands.as_bytes());
        } else if self.tail && self.snapshot.is_none_or(Snapshot::allows_tail) {
            text.extend_from_slice(b"tail");
        }
        text.push(0);
        text.extend_from_slice(script.as_bytes());
        text
    }

    fn add_settings(&self, text: &mut Vec<u8>) {
        text.extend(old_directory(self.oldpwd));
        let path = self.snapshot.and_then(Snapshot::path);
        if let Some(path) = path.filter(|_| !self.path_is_the_calls) {
            text.extend_from_slice(b"\\builtin export PATH=");
            text.extend_from_slice(&quoted(path));
            text.extend_from_slice(b"; ");
        }
        if let Some(changes) = self.exports {
            text.extend_from_slice(&exports::commands(changes));
        }
        if let Some(definitions) = self.definitions {
            text.extend_from_slice(&load(definitions));
        }
    }

    /// Adds redirections, or nothing if the boot text does them itself. Options are set along with
    /// them and after them: `set -e` must not be on before.
    fn add_redirections(&self, text: &mut Vec<u8>) {
        let ShellNumbers { script: fd, stdin } = self.numbers;
        let options = match self.definitions {
            Some(definitions) => &definitions.options,
            None => self.snapshot.map_or(&[][..], Snapshot::option_commands),
        };
        if stdin.is_none() && options.is_empty() {
            return;
        }
        let stdin = match stdin {
            Some(number) => format!("<&{number} {number}<&-"),
            None => "</dev/null".to_owned(),
        };
        text.extend_from_slice(exec(&format!("{fd}<&- {stdin}")).as_bytes());
        if !options.is_empty() {
            text.extend_from_slice(b"; { ");
            text.extend_from_slice(options);
            text.extend_from_slice(b"} >/dev/null 2>&1");
        }
    }
}

/// The commands that set `OLDPWD` like a newly started bash: to that of the environment if it names
/// a directory, otherwise only declared. The shell checks that, as the file system may block.
pub(crate) fn old_directory(oldpwd: Option<&OsStr>) -> Vec<u8> {
    let set = |path| {
        let path = quoted(path);
        [b"[[ ! -d ", &*path, b" ]] || OLDPWD=", &*path, b"; "].concat()
    };
    oldpwd.map(set).unwrap_or_default()
}

/// The contents of the script file for a shell that is not bash: the record's work, then the
/// script, in one text.
pub(crate) fn plain_script_file(script: &str, cwd: &Path, script_fd: i32) -> Vec<u8> {
    let mut text = Vec::with_capacity(script.len() + 256);
    text.extend_from_slice(b"{ ");
    text.extend(enter(&quoted(cwd.as_os_str()), Reader::Posix));
    text.extend_from_slice(b"; }");
    // If its number is one that such a shell knows.
    let (refuse, close) = if script_fd < 10 {
        let refuse = format!(" 2>/dev/null || {{ printf d >&{script_fd}; exit 125; }}");
        (refuse, format!("{script_fd}<&- "))
    } else {
        (" || exit 125".to_owned(), String::new())
    };
    text.extend_from_slice(refuse.as_bytes());
    text.extend_from_slice(format!("; unset __ab; exec {close}</dev/null; ").as_bytes());
    text.extend_from_slice(script.as_bytes());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_record_and_script() {
        let record = ScriptRecord {
            cwd: Path::new("/tmp"),
            exports: None,
            oldpwd: None,
            tail: false,
            replaced: None,
            snapshot: None,
            definitions: None,
            path_is_the_calls: false,
            numbers: ShellNumbers {
                script: 9,
                stdin: None,
            },
        };
        let parts = |record: ScriptRecord<'_>| {
            let file = String::from_utf8(record.with_script("echo hi\n")).unwrap();
            file.split('\0').map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(parts(record.clone()), ["/tmp", "", "", "", "echo hi\n"]);
        let with_tail = ScriptRecord {
            tail: true,
            ..record.clone()
        };
        assert_eq!(parts(with_tail), ["/tmp", "", "", "tail", "echo hi\n"]);
        let fed = ScriptRecord {
            oldpwd: Some(OsStr::new("/")),
            numbers: ShellNumbers {
                script: 9,
                stdin: Some(8),
            },
            ..record
        };
        let redirections = exec("9<&- <&8 8<&-");
        assert_eq!(
            parts(fed),
            [
                "/tmp",
                "[[ ! -d '/' ]] || OLDPWD='/'; ",
                &*redirections,
                "",
                "echo hi\n"
            ]
        );
    }

    #[test]
    fn scripts_that_could_see_the_tail_have_none() {
        for script in [
            "false | true",
            "set -o pipefail; a | b",
            "cd /x && set -eu; a | b",
        ] {
            assert!(may_have_tail(script), "{script}");
        }
        for script in [
            "trap 'echo bye' EXIT; a | b",
            "set -x; a | b",
            "set -euxo pipefail; a | b",
            "set -e -v; a | b",
            "set -o xtrace; a | b",
            "cat <<E | b\nE",
            "a | b \\",
            "ulimit -f 0; a | b",
        ] {
            assert!(!may_have_tail(script), "{script}");
        }
    }

    #[test]
    fn a_report_is_exact_or_absent() {
        let stages = |codes: &[i32]| codes.iter().map(|code| Stage::from(*code)).collect();
        assert_eq!(
            read_report("0 1 0 /tmp/a b", 0),
            Some((stages(&[1, 0]), "/tmp/a b".into()))
        );
        for report in [
            "",
            "0",
            "0 1 0 ",
            "0 0 /tmp",
            "1 1 0 /tmp",
            "0 x 0 /t",
            "0 256 0 /t",
            "0 -1 0 /t",
        ] {
            assert_eq!(read_report(report, 0), None, "{report}");
        }
    }
}
