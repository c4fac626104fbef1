//! The text by which a shell on a terminal takes its script: what it is started with, and the file it reads.
//!
//! As without a terminal the script travels by descriptor, byte for byte: no argument holds it, so neither `ps` nor a limit
//! on arguments meets it. The file holds a record and the script, each ended by a NUL. The record changes into the
//! call's directory, closes all that is ours and leaves the script in `BASH_EXECUTION_STRING`, where `bash -c` has it.
//! Words of ours are escaped (`\builtin`) against functions that the environment may bring.

use agent_bash_call::{Reader, enter, exec, if_too_old};
use agent_bash_core::{NotStarted, RunSpec};
use agent_bash_process::{quoted, unnamed_file};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

/// What bash is started with. It waits until it is in the terminal's foreground; an end of file runs nothing.
const BOOT: &str = concat!(
    // One that is too old says so behind its record.
    if_too_old!(
        r"IFS= \builtin read -r -d '' -u {control_fd} __ab || \builtin exit 125; ",
        r"while IFS= \builtin read -r -d '' -u {script_fd} __ab; do :; done; ",
        r#"\builtin printf %s "v$BASH_VERSION" >&{script_fd}; \builtin exit 125"#
    ),
    r"IFS= \builtin read -r -d '' -u {control_fd} __ab || \builtin exit 125; ",
    r"\builtin mapfile -d '' -n 2 -u {script_fd} __ab; __ab_fd={script_fd}; ",
    r#"\builtin eval "${__ab[0]}"; "#,
);

/// What follows when it is rid of all that is ours.
const RUN: &str =
    r#"; \builtin unset -v __ab __ab_fd; : bash; \builtin eval -- "$BASH_EXECUTION_STRING""#;

/// What commits to bash.
const COMMIT: &str = "\0";

/// The same for a shell that cannot be relied on to have more than POSIX, nor to know descriptors beyond 9.
const PLAIN_BOOT: &str = "read -r __ab </dev/fd/{control_fd} || exit 125; . /dev/fd/{script_fd}";

/// What commits to such a shell.
const PLAIN_COMMIT: &str = "\n";

/// Arguments of the shell, and what commits its script.
pub(crate) fn boot(spec: &RunSpec) -> (Vec<OsString>, &'static str) {
    let mut args: Vec<OsString> = spec.shell.args.iter().map(OsString::from).collect();
    if spec.shell.is_bash {
        let text = [BOOT, &exec("{control_fd}<&- {script_fd}<&-"), RUN].concat();
        args.extend(["--norc", "--noprofile", "-c", &text].map(OsString::from));
        return (args, COMMIT);
    }
    args.extend(["-c", PLAIN_BOOT].map(OsString::from));
    (args, PLAIN_COMMIT)
}

/// The file that a shell reads its script from, and into which a record that fails writes.
#[derive(Debug)]
pub(crate) struct ScriptFile {
    file: File,
    length: u64,
}

impl ScriptFile {
    /// Writes the script of a call. The file has no name.
    pub(crate) fn new(spec: &RunSpec) -> io::Result<Self> {
        let content = if spec.shell.is_bash {
            content(spec)
        } else {
            plain_content(spec)
        };
        let mut file = File::from(unnamed_file("agent-bash-script")?);
        file.write_all(&content)?;
        file.rewind()?;
        Ok(Self {
            file,
            length: content.len() as u64,
        })
    }

    /// For the supervisor, which hands it on.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Why the shell has not run its script, if it has said so. For when it has ended.
    pub(crate) fn refusal(&self, spec: &RunSpec) -> Option<NotStarted> {
        agent_bash_call::refusal(&self.file, self.length, spec)
    }
}

fn content(spec: &RunSpec) -> Vec<u8> {
    let mut text = Vec::with_capacity(spec.script.len() + 512);
    let mut add = |part: &[u8]| text.extend_from_slice(part);
    // `{script_fd}` is filled in where the shell's arguments are, not here: the record finds the number there.
    add(b"{ ");
    add(&enter(&quoted(spec.cwd.as_os_str()), Reader::Bash));
    add(b"; } 2>/dev/null || { \\builtin printf d >&$__ab_fd; \\builtin exit 125; }; ");
    add(b"\\builtin unset -v OLDPWD; \\builtin export OLDPWD");
    if let Some(oldpwd) = spec
        .env
        .get("OLDPWD")
        .filter(|path| Path::new(path).is_dir())
    {
        add(b"=");
        add(&quoted(oldpwd));
    }
    add(b"; ");
    add(b"SECONDS=0; BASH_EXECUTION_STRING=${__ab[1]-}; ");
    add(b"\0");
    add(spec.script.as_bytes());
    text
}

fn plain_content(spec: &RunSpec) -> Vec<u8> {
    let mut text = Vec::with_capacity(spec.script.len() + 256);
    text.extend_from_slice(b"{ ");
    text.extend(enter(&quoted(spec.cwd.as_os_str()), Reader::Posix));
    text.extend_from_slice(b"; } || exit 125; unset __ab; ");
    text.extend_from_slice(spec.script.as_bytes());
    text
}
