//! The text by which a waiting shell takes its script: what it is started with, and the record of a call.
//!
//! The shell is started with [`boot`] as its `-c` text, and blocks reading its stdin, the control pipe. The script
//! file, which it inherited, holds two parts, each ended by a NUL: the record of the call, and the script. One NUL
//! on the control pipe commits them: an end of file never runs half a script. The record changes into the call's
//! directory, closes all that is ours and leaves the script in `BASH_EXECUTION_STRING`, where `bash -c` has it; `eval`
//! runs it on line 1.
//!
//! Words of ours are escaped (`\builtin`) against aliases; see `docs/design` for what was tried and lost.

use agent_bash_core::Streams;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Arguments of a waiting bash. `{script_fd}` is put in by the supervisor, who opens that file.
///
/// `: bash` leaves `$_` as `bash -c` has it.
const BOOT: &str = r#"IFS= \builtin read -r -d '' __ab || \builtin exit 125; \builtin mapfile -d '' -n 2 -u {script_fd} __ab; \builtin eval "${__ab[0]}"; : bash; \builtin eval "$BASH_EXECUTION_STRING""#;

/// The same for a shell that is not bash: it cannot be relied on to have more than POSIX. The script file holds one
/// part; leading words of the record have no place, so the supervisor's directory is changed by `cd` in the text.
const PLAIN_BOOT: &str = r"read -r __ab || exit 125; . /dev/fd/{script_fd}";

/// How a shell that waits for its script is started.
pub(crate) fn boot(is_bash: bool) -> Vec<OsString> {
    let words: &[&str] = if is_bash {
        &["--norc", "--noprofile", "-c", BOOT]
    } else {
        &["-c", PLAIN_BOOT]
    };
    words.iter().map(OsString::from).collect()
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

/// The script file's content for bash: record, NUL, script.
pub(crate) fn script_file(
    script: &str,
    cwd: &Path,
    oldpwd: Option<&OsStr>,
    streams: Streams,
    numbers: ShellNumbers,
) -> Vec<u8> {
    let ShellNumbers { script: fd, stdin } = numbers;
    let mut record = Vec::with_capacity(script.len() + 256);
    let mut add = |part: &[u8]| record.extend_from_slice(part);
    add(b"\\builtin cd -- ");
    add(&quoted(cwd.as_os_str()));
    add(
        format!(" 2>/dev/null || {{ \\builtin printf {FAILURE} >&{fd}; \\builtin exit 125; }}; ")
            .as_bytes(),
    );
    // As a bash that was started there has it: from the environment if that names a directory, else declared and unset.
    add(b"\\builtin unset -v OLDPWD; \\builtin export OLDPWD");
    if let Some(oldpwd) = oldpwd.filter(|path| Path::new(path).is_dir()) {
        add(b"=");
        add(&quoted(oldpwd));
    }
    add(b"; BASH_EXECUTION_STRING=${__ab[1]-}; \\builtin unset -v __ab; ");
    if streams == Streams::Merged {
        add(b"\\command exec 2>&1; ");
    }
    let stdin = match stdin {
        Some(number) => format!("<&{number} {number}<&-"),
        None => "</dev/null".to_owned(),
    };
    add(format!("\\command exec {fd}<&- {stdin}").as_bytes());
    add(b"\0");
    add(script.as_bytes());
    record
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

/// In single quotes, as every shell reads them.
fn quoted(text: &OsStr) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'\'');
    for byte in text.as_bytes() {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            other => out.push(*other),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_cannot_leave_its_quotes() {
        assert_eq!(quoted(OsStr::new("/a b/it's$(x)")), b"'/a b/it'\\''s$(x)'");
    }

    #[test]
    fn the_file_is_record_and_script() {
        let numbers = ShellNumbers {
            script: 9,
            stdin: None,
        };
        let file = script_file(
            "echo hi\n",
            Path::new("/tmp"),
            None,
            Streams::Merged,
            numbers,
        );
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
}
