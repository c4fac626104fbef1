//! The start-up text of a shell that waits for a script, and the record with which the shell gets
//! the script.
//!
//! A waiting shell is started with [`boot_arguments`] as its `-c` text, and blocks reading its
//! stdin, the control pipe. The inherited script file has the parts of a [`ScriptRecord`] and the
//! script, each terminated by NUL. A NUL on the control pipe commits them; EOF runs nothing, so
//! half a script never runs. The shell then changes to the call's directory, closes the host's
//! descriptors, and stores the script in `BASH_EXECUTION_STRING`, as `bash -c` does. `eval` runs
//! the script, with line 1 as its first.
//!
//! All commands that most calls need are in the start-up text, which bash parses while the shell
//! waits. Only other commands are in the record.
//!
//! If requested, a tail follows the script: commands that report the exit status of each stage of
//! the last pipeline, and the directory.
//!
//! Commands are escaped (`\builtin`) against aliases. `docs/design` describes rejected
//! alternatives.

use crate::exports;
use crate::replace;
use crate::snapshot::Snapshot;
use agent_bash_call::{
    POSIX_READ_SCRIPT, ShellDialect, enter_directory, exec_redirections, if_too_old,
    load_definitions,
};
use agent_bash_core::{Definitions, RunSpec, Shell, Stage, words};
use agent_bash_process::quoted;
use agent_bash_process::supervisor::ShellFds;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The `-c` text of a waiting bash. The supervisor inserts `{script_fd}` and `{report}`, which it
/// opens; [`boot_arguments`] replaces [`ENTER_PLACEHOLDER`]. The parts of the record: 0 directory,
/// 1 variables, 2 redirections, 3 `tail`, or the commands by which the shell becomes the script's
/// program, 4 the script.
///
/// `: bash` sets `$_` as in `bash -c`. The tail is in this text and not in the record, because the
/// script could see a variable of the record.
const BOOT_TEXT: &str = concat!(
    // A bash that is too old reports so after its record.
    if_too_old!(
        r"IFS= \builtin read -r -d '' __ab || \builtin exit 125; ",
        r"while IFS= \builtin read -r -d '' -u {script_fd} __ab; do :; done; ",
        r#"\builtin printf %s "v$BASH_VERSION" >&{script_fd}; \builtin exit 125"#
    ),
    r#"IFS= \builtin read -r -d '' __ab || \builtin exit 125; "#,
    r#"\builtin mapfile -d '' -n 5 -u {script_fd} __ab; "#,
    // Discards messages, which would be part of the call's output.
    r#"{ {enter}; } 2>&- || { \builtin printf d >&{script_fd}; \builtin exit 125; }; "#,
    // Sets `OLDPWD` as a bash started in this directory does: from the environment if its value is
    // a directory, otherwise declared only.
    r#"\builtin unset -v OLDPWD; \builtin export OLDPWD; \builtin eval "${__ab[1]}"; "#,
    // `SECONDS` counts from the call, although the shell was started earlier.
    r#"SECONDS=0; BASH_EXECUTION_STRING=${__ab[4]-}; "#,
    r#"case ${__ab[2]} in "#,
    // In the form of [`exec_redirections`].
    r#"'') case $BASH_VERSION in 4.*|5.0.*) \exec {script_fd}<&- </dev/null ;; "#,
    r#"*) \command exec {script_fd}<&- </dev/null ;; esac ;; "#,
    r#"*) \builtin eval "${__ab[2]}" ;; esac; "#,
    r#"case ${__ab[3]} in "#,
    r#"tail) \builtin unset -v __ab; : bash; \builtin eval -- "$BASH_EXECUTION_STRING"$'\n'"#,
    // The tail, quoted once. The tail must be in the same text as the script, because `eval` resets
    // PIPESTATUS.
    r#""__ab=(\"\$?\" \"\${PIPESTATUS[@]}\"); "#,
    r#"{ { \\builtin printf '%s ' \"\${__ab[@]}\"; \\builtin printf '%s' \"\$PWD\"; } >|{report}; } 2>/dev/null; "#,
    r#"\\builtin exit \"\${__ab[0]}\"" ;; "#,
    r#"*) \builtin eval "${__ab[3]}" || :; \builtin unset -v __ab; : bash; "#,
    r#"\builtin eval -- "$BASH_EXECUTION_STRING" ;; esac"#,
);

/// The placeholder for the commands that enter the record's directory.
const ENTER_PLACEHOLDER: &str = "{enter}";

/// Words by which a script could notice the tail, or prevent it from working. Such a script gets no
/// tail.
const NO_TAIL_WORDS: &[&str] =
    words!["trap builtin ulimit xtrace verbose extdebug restricted BASH_EXECUTION_STRING"];

/// True if the script cannot notice the tail. The search includes `set` with an option that prints
/// commands (x, v) or forbids redirections (r).
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

/// True if bash does not parse a following line as part of the script.
pub(crate) fn ends_by_itself(script: &str) -> bool {
    !script.trim_end().ends_with('\\') && !script.contains("<<")
}

/// Parses the tail's report: the exit status of the shell and of each stage, and the directory.
/// Returns `None` if the report is incomplete or contradicts the observed status.
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

/// The start-up text of a shell that is not bash; [`POSIX_READ_SCRIPT`] follows. Its script file
/// has one text: the record's commands and the script.
const PLAIN_BOOT_TEXT: &str = "read -r __ab || exit 125; ";

/// Returns the arguments of a shell that waits for its script.
pub(crate) fn boot_arguments(shell: &Shell, snapshot: Option<&Snapshot>) -> Vec<OsString> {
    let shell_args = shell.args.iter().map(OsString::from);
    if !shell.is_any_bash() {
        let text = [PLAIN_BOOT_TEXT, POSIX_READ_SCRIPT].concat();
        return shell_args.chain(["-c".into(), text.into()]).collect();
    }
    let mut text = snapshot.map(Snapshot::load_command).unwrap_or_default();
    let (before, after) = BOOT_TEXT
        .split_once(ENTER_PLACEHOLDER)
        .unwrap_or((BOOT_TEXT, ""));
    text.extend_from_slice(before.as_bytes());
    text.extend(enter_directory(br#""${__ab[0]}""#, ShellDialect::Bash));
    text.extend_from_slice(after.as_bytes());
    let options: &[&str] = if shell.is_bash {
        &["--norc", "--noprofile", "-c"]
    } else {
        &["-c"]
    };
    shell_args
        .chain(options.iter().map(OsString::from))
        .chain([OsString::from_vec(text)])
        .collect()
}

/// The bytes on the control pipe that commit a record.
pub(crate) const COMMIT_BYTES: &[u8] = b"\0";

/// The bytes that commit the script file of a shell that is not bash.
pub(crate) const PLAIN_COMMIT_BYTES: &[u8] = b"\n";

/// The numbers of the host's descriptors inside the shell, which the record closes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShellNumbers {
    /// The script file.
    pub(crate) script: i32,
    /// The script's stdin, if the script inherits a stdin.
    pub(crate) stdin: Option<i32>,
}

/// True if the shell reads the script file through the file offset that it shares with this
/// process. The offset then shows whether the shell has read the file.
pub(crate) fn shares_offset(shell: &Shell, script_fd: i32) -> bool {
    shell.is_any_bash() || script_fd < 10
}

/// The contents of a record for bash.
#[derive(Debug, Clone)]
pub(crate) struct ScriptRecord<'a> {
    /// The directory to enter.
    pub(crate) cwd: &'a Path,
    /// Variables to set and unset, which the shell did not have at its start.
    pub(crate) exports: Option<&'a BTreeMap<OsString, Option<OsString>>>,
    /// The value of `OLDPWD` in the environment.
    pub(crate) oldpwd: Option<&'a OsStr>,
    /// True if the tail follows the script.
    pub(crate) has_tail: bool,
    /// The commands by which the shell becomes the program that is the whole script
    /// ([`crate::replace`]).
    pub(crate) exec_commands: Option<String>,
    /// The snapshot that the shell has loaded.
    pub(crate) snapshot: Option<&'a Snapshot>,
    /// The definitions of another shell, which the shell loads.
    pub(crate) definitions: Option<&'a Definitions>,
    /// True if the call sets or unsets `PATH` itself.
    pub(crate) sets_path: bool,
    /// The descriptors to close.
    pub(crate) numbers: ShellNumbers,
}

impl ScriptRecord<'_> {
    /// Returns the contents of the script file: the record's parts and the script.
    pub(crate) fn with_script(&self, script: &str) -> Vec<u8> {
        let mut text = Vec::with_capacity(script.len() + 512);
        text.extend_from_slice(self.cwd.as_os_str().as_bytes());
        text.push(0);
        self.add_settings(&mut text);
        text.push(0);
        self.add_redirections(&mut text);
        text.push(0);
        if let Some(commands) = &self.exec_commands {
            text.extend_from_slice(commands.as_bytes());
        } else if self.has_tail && self.snapshot.is_none_or(Snapshot::allows_tail) {
            text.extend_from_slice(b"tail");
        }
        text.push(0);
        text.extend_from_slice(script.as_bytes());
        text
    }

    fn add_settings(&self, text: &mut Vec<u8>) {
        text.extend(old_directory(self.oldpwd));
        let path = self.snapshot.and_then(Snapshot::path);
        if let Some(path) = path.filter(|_| !self.sets_path) {
            text.extend_from_slice(b"\\builtin export PATH=");
            text.extend_from_slice(&quoted(path));
            text.extend_from_slice(b"; ");
        }
        if let Some(changes) = self.exports {
            text.extend_from_slice(&exports::commands(changes));
        }
        if let Some(definitions) = self.definitions {
            text.extend_from_slice(&load_definitions(definitions));
        }
    }

    /// Adds redirections, or nothing if the start-up text has them. The snapshot's options are set
    /// here, after the redirections, because `set -e` must not be on earlier.
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
        text.extend_from_slice(exec_redirections(&format!("{fd}<&- {stdin}")).as_bytes());
        if !options.is_empty() {
            text.extend_from_slice(b"; { ");
            text.extend_from_slice(options);
            text.extend_from_slice(b"} >/dev/null 2>&1");
        }
    }
}

/// Returns the commands that set `OLDPWD` like a newly started bash: to the environment's value if
/// that is a directory, otherwise declared only. The shell checks this, because the file system may
/// block.
pub(crate) fn old_directory(oldpwd: Option<&OsStr>) -> Vec<u8> {
    let set = |path| {
        let path = quoted(path);
        [b"[[ ! -d ", &*path, b" ]] || OLDPWD=", &*path, b"; "].concat()
    };
    oldpwd.map(set).unwrap_or_default()
}

/// Returns the contents of a waiting shell's script file, and the bytes that commit it.
/// `sets_variables`: the shell was started without the call's variables, so the record sets them.
pub(crate) fn script_file(
    spec: &RunSpec,
    fds: &ShellFds,
    snapshot: Option<&Snapshot>,
    sets_variables: bool,
) -> (Vec<u8>, &'static [u8]) {
    if spec.shell.is_any_bash() {
        // A shell that was started with the call's variables has since loaded the snapshot. The
        // record sets the variables again that the snapshot may have replaced.
        let overwritten = snapshot.filter(|_| !sets_variables).map(|snapshot| {
            let names = snapshot.variables().iter().map(OsStr::new);
            let changes = names.filter_map(|name| spec.env.changes.get_key_value(name));
            changes
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<BTreeMap<_, _>>()
        });
        let record = ScriptRecord {
            cwd: &spec.cwd,
            exports: overwritten
                .as_ref()
                .or_else(|| sets_variables.then_some(&spec.env.changes)),
            oldpwd: spec.env.get("OLDPWD"),
            has_tail: spec.report_stages && may_have_tail(&spec.script),
            exec_commands: spec
                .shell
                .is_bash
                // The definitions may define the program's name.
                .then_some(())
                .filter(|()| spec.definitions.is_none())
                .and_then(|()| replace::exec_commands(&spec.script, &spec.env, snapshot)),
            snapshot,
            definitions: spec.definitions.as_deref().filter(|_| spec.shell.is_bash),
            sets_path: spec.env.changes.contains_key(OsStr::new("PATH")),
            numbers: ShellNumbers {
                script: fds.script_fd,
                stdin: fds.stdin_fd,
            },
        };
        let content = record.with_script(&spec.script);
        (content, COMMIT_BYTES)
    } else {
        (
            plain_script_file(&spec.script, &spec.cwd, fds.script_fd),
            PLAIN_COMMIT_BYTES,
        )
    }
}

/// Returns the contents of the script file for a shell that is not bash: the record's commands and
/// the script, as one text.
fn plain_script_file(script: &str, cwd: &Path, script_fd: i32) -> Vec<u8> {
    let mut text = Vec::with_capacity(script.len() + 256);
    text.extend_from_slice(b"{ ");
    text.extend(enter_directory(
        &quoted(cwd.as_os_str()),
        ShellDialect::Posix,
    ));
    text.extend_from_slice(b"; }");
    // POSIX shells accept only descriptors of one digit.
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
    fn script_file_contains_the_record_and_the_script() {
        let record = ScriptRecord {
            cwd: Path::new("/tmp"),
            exports: None,
            oldpwd: None,
            has_tail: false,
            exec_commands: None,
            snapshot: None,
            definitions: None,
            sets_path: false,
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
            has_tail: true,
            ..record.clone()
        };
        assert_eq!(parts(with_tail), ["/tmp", "", "", "tail", "echo hi\n"]);
        let with_stdin = ScriptRecord {
            oldpwd: Some(OsStr::new("/")),
            numbers: ShellNumbers {
                script: 9,
                stdin: Some(8),
            },
            ..record
        };
        let redirections = exec_redirections("9<&- <&8 8<&-");
        assert_eq!(
            parts(with_stdin),
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
    fn may_have_tail_refuses_scripts_that_could_notice_it() {
        for script in [
            "false | true", "set -o pipefail; a | b", "cd /x && set -eu; a | b",
        ] {
            assert!(may_have_tail(script), "{script}");
        }
        for script in [
            "trap 'echo bye' EXIT; a | b", "set -x; a | b", "set -euxo pipefail; a | b",
            "set -e -v; a | b", "set -o xtrace; a | b", "cat <<E | b\nE", "a | b \\",
            "ulimit -f 0; a | b",
        ] {
            assert!(!may_have_tail(script), "{script}");
        }
    }

    #[test]
    fn read_report_refuses_an_inexact_report() {
        let stages = |codes: &[i32]| codes.iter().map(|code| Stage::from(*code)).collect();
        assert_eq!(
            read_report("0 1 0 /tmp/a b", 0),
            Some((stages(&[1, 0]), "/tmp/a b".into()))
        );
        for report in [
            "", "0", "0 1 0 ", "0 0 /tmp", "1 1 0 /tmp", "0 x 0 /t", "0 256 0 /t", "0 -1 0 /t",
        ] {
            assert_eq!(read_report(report, 0), None, "{report}");
        }
    }
}
