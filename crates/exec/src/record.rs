//! The text by which a waiting shell takes its script: what it is started with, and the record of a call.
//!
//! The shell is started with [`boot`] as its `-c` text, and blocks reading its stdin, the control pipe. The script
//! file, which it inherited, holds two parts, each ended by a NUL: the record of the call, and the script. One NUL
//! on the control pipe commits them: an end of file never runs half a script. The record changes into the call's
//! directory, closes all that is ours and leaves the script in `BASH_EXECUTION_STRING`, where `bash -c` has it; `eval`
//! runs it on line 1.
//!
//! Words of ours are escaped (`\builtin`) against aliases; see `docs/design` for what was tried and lost.

use crate::exports;
use crate::snapshot::Snapshot;
use agent_bash_core::{Shell, Stage, Streams};
use agent_bash_process::quoted;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Arguments of a waiting bash. `{script_fd}` and `{report}` are put in by the supervisor, who opens them.
///
/// `: bash` leaves `$_` as `bash -c` has it. The record's own status says whether the tail follows the script; the tail
/// stands here and not in the record, since whatever the record left for it (a variable, say) the script could see.
const BOOT: &str = concat!(
    r#"IFS= \builtin read -r -d '' __ab || \builtin exit 125; "#,
    r#"\builtin mapfile -d '' -n 2 -u {script_fd} __ab; "#,
    r#"if \builtin eval "${__ab[0]}"; then : bash; \builtin eval -- "$BASH_EXECUTION_STRING"; "#,
    r#"else : bash; \builtin eval -- "$BASH_EXECUTION_STRING"$'\n'"#,
    // The tail, quoted once. It must stand in the same text as the script: `eval` resets PIPESTATUS.
    r#""__ab=(\"\$?\" \"\${PIPESTATUS[@]}\"); "#,
    r#"{ { \\builtin printf '%s ' \"\${__ab[@]}\"; \\builtin printf '%s' \"\$PWD\"; } >|{report}; } 2>/dev/null; "#,
    r#"\\builtin exit \"\${__ab[0]}\""; fi"#,
);

/// Words in a script that could see the tail, or keep it from working. Such a script is not followed by one.
const NO_TAIL: &[&str] = &[
    "trap",
    "builtin",
    "ulimit",
    "xtrace",
    "verbose",
    "extdebug",
    "restricted",
    "BASH_EXECUTION_STRING",
];

/// Whether the tail may follow: nothing in the script could notice it. `set` with an option that prints commands (x, v)
/// or forbids redirections (r) is looked for as text, too.
pub(crate) fn may_have_tail(script: &str) -> bool {
    let prints = |options: &str| {
        options
            .split_whitespace()
            .take_while(|word| word.starts_with(['-', '+']))
            .any(|word| word.contains(['x', 'v', 'r']))
    };
    !NO_TAIL.iter().any(|word| script.contains(word))
        && !script.split("set ").skip(1).any(prints)
        && !script.trim_end().ends_with('\\')
        && !script.contains("<<")
}

/// Reads what the tail wrote: the shell's status, that of each stage, the directory. `None` unless it is exactly that and
/// agrees with the status that was observed.
pub(crate) fn read_report(report: &str, observed: i32) -> Option<(Vec<Stage>, PathBuf)> {
    let (numbers, directory) = report.split_once('/')?;
    let mut codes = numbers.split_ascii_whitespace().map(|text| {
        text.parse()
            .ok()
            .filter(|code: &i32| (0..=255).contains(code))
    });
    let status = codes.next()??;
    let stages = codes
        .map(|code| code.map(|code| Stage { code }))
        .collect::<Option<Vec<_>>>()?;
    (status == observed && stages.len() >= 2)
        .then(|| (stages, PathBuf::from(format!("/{directory}"))))
}

/// The same for a shell that is not bash: it cannot be relied on to have more than POSIX. The script file holds one
/// part; leading words of the record have no place, so the supervisor's directory is changed by `cd` in the text.
const PLAIN_BOOT: &str = r"read -r __ab || exit 125; . /dev/fd/{script_fd}";

/// Whether a shell takes its script as bash does. One that reads the user's profile at its start is not one that can be
/// started ahead, and is bash all the same.
pub(crate) fn is_bash(shell: &Shell) -> bool {
    shell.is_bash || shell.path.file_name().is_some_and(|name| name == "bash")
}

/// How a shell that waits for its script is started: its arguments.
pub(crate) fn boot(shell: &Shell, snapshot: Option<&Snapshot>) -> Vec<OsString> {
    let own = shell.args.iter().map(OsString::from);
    if !is_bash(shell) {
        return own.chain(["-c", PLAIN_BOOT].map(OsString::from)).collect();
    }
    let mut text = snapshot.map(Snapshot::load_command).unwrap_or_default();
    text.extend_from_slice(BOOT.as_bytes());
    let bare: &[&str] = if shell.is_bash {
        &["--norc", "--noprofile", "-c"]
    } else {
        &["-c"]
    };
    own.chain(bare.iter().map(OsString::from))
        .chain([OsString::from_vec(text)])
        .collect()
}

/// What commits a record.
pub(crate) const COMMIT: &[u8] = b"\0";

/// What commits to a shell that is not bash.
pub(crate) const PLAIN_COMMIT: &[u8] = b"\n";

/// Descriptors of ours inside the shell, which the record closes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShellNumbers {
    /// The script file.
    pub(crate) script: i32,
    /// The script's stdin, where it inherits one.
    pub(crate) stdin: Option<i32>,
}

/// What a record that fails (its directory cannot be entered) adds to the script file: nothing else can write there,
/// since the descriptor is closed before the script runs.
pub(crate) const FAILURE: &str = "d";

/// What a record for bash does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    /// Directory to enter.
    pub(crate) cwd: &'a Path,
    /// Variables to set and unset: those that the shell has not had from its start.
    pub(crate) exports: Option<&'a BTreeMap<OsString, Option<OsString>>>,
    /// `OLDPWD` of the environment.
    pub(crate) oldpwd: Option<&'a OsStr>,
    /// Whether stderr joins stdout.
    pub(crate) streams: Streams,
    /// Whether the tail follows the script.
    pub(crate) tail: bool,
    /// What the shell has loaded.
    pub(crate) snapshot: Option<&'a Snapshot>,
    /// The call has a `PATH` of its own, or wants none.
    pub(crate) path_is_the_calls: bool,
    /// What is ours and gets closed.
    pub(crate) numbers: ShellNumbers,
}

impl Record<'_> {
    /// The script file's content: record, NUL, script.
    pub(crate) fn with_script(self, script: &str) -> Vec<u8> {
        let ShellNumbers { script: fd, stdin } = self.numbers;
        let mut text = Vec::with_capacity(script.len() + 512);
        let mut add = |part: &[u8]| text.extend_from_slice(part);
        add(b"\\builtin cd -- ");
        add(&quoted(self.cwd.as_os_str()));
        add(format!(
            " 2>/dev/null || {{ \\builtin printf {FAILURE} >&{fd}; \\builtin exit 125; }}; "
        )
        .as_bytes());
        // As a bash that was started there has it: from the environment if that names a directory, else declared only.
        add(b"\\builtin unset -v OLDPWD; \\builtin export OLDPWD");
        if let Some(oldpwd) = self.oldpwd.filter(|path| Path::new(path).is_dir()) {
            add(b"=");
            add(&quoted(oldpwd));
        }
        add(b"; ");
        let path = self.snapshot.and_then(Snapshot::path);
        if let Some(path) = path.filter(|_| !self.path_is_the_calls) {
            add(b"\\builtin export PATH=");
            add(&quoted(path));
            add(b"; ");
        }
        if let Some(changes) = self.exports {
            add(&exports::commands(changes));
        }
        // A shell that waited was started a while ago.
        add(b"SECONDS=0; BASH_EXECUTION_STRING=${__ab[1]-}; \\builtin unset -v __ab; ");
        if self.streams == Streams::Merged {
            add(b"\\command exec 2>&1; ");
        }
        let stdin = match stdin {
            Some(number) => format!("<&{number} {number}<&-"),
            None => "</dev/null".to_owned(),
        };
        add(format!("\\command exec {fd}<&- {stdin}").as_bytes());
        let options = self.snapshot.map_or(&[][..], Snapshot::option_commands);
        if !options.is_empty() {
            add(b"; { ");
            add(options);
            add(b"} >/dev/null 2>&1");
        }
        if self.tail && self.snapshot.is_none_or(Snapshot::allows_tail) {
            add(b"; \\builtin false");
        }
        add(b"\0");
        add(script.as_bytes());
        text
    }
}

/// The script file's content for a shell that is not bash: the record's work, then the script, in one text.
pub(crate) fn plain_script_file(script: &str, cwd: &Path, streams: Streams) -> Vec<u8> {
    let mut text = Vec::with_capacity(script.len() + 256);
    text.extend_from_slice(b"cd -- ");
    text.extend_from_slice(&quoted(cwd.as_os_str()));
    text.extend_from_slice(b" || exit 125; unset __ab; exec </dev/null");
    if streams == Streams::Merged {
        text.extend_from_slice(b" 2>&1");
    }
    text.extend_from_slice(b"; ");
    text.extend_from_slice(script.as_bytes());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_record_and_script() {
        let record = Record {
            cwd: Path::new("/tmp"),
            exports: None,
            oldpwd: None,
            streams: Streams::Merged,
            tail: false,
            snapshot: None,
            path_is_the_calls: false,
            numbers: ShellNumbers {
                script: 9,
                stdin: None,
            },
        };
        let file = record.with_script("echo hi\n");
        let parts: Vec<&[u8]> = file.split(|byte| *byte == 0).collect();
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[1], b"echo hi\n");
        let record = String::from_utf8(parts[0].to_vec()).unwrap();
        assert!(record.starts_with("\\builtin cd -- '/tmp'"), "{record}");
        assert!(
            record.ends_with("\\command exec 2>&1; \\command exec 9<&- </dev/null"),
            "{record}"
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
        let stages = |codes: &[i32]| codes.iter().map(|code| Stage { code: *code }).collect();
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
