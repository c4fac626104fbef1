//! The start-up text of a shell on a terminal, and the file with its script.
//!
//! As without a terminal, the script is passed by descriptor, byte for byte. The script is not an
//! argument, so it does not show in `ps`, and its length is not limited. The file holds a preamble
//! and the script, each terminated by NUL. The preamble enters the call's directory, closes all
//! internal descriptors and leaves the script in `BASH_EXECUTION_STRING`, as `bash -c` does. Its
//! words are escaped (`\builtin`) against functions in the environment.

use agent_bash_call::{
    NO_DIRECTORY_MARK, POSIX_READ_SCRIPT, ScriptFile, ShellDialect, enter_directory,
    exec_redirections, if_too_old, load_definitions,
};
use agent_bash_core::RunSpec;
use agent_bash_process::{quoted, unnamed_file};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

/// Bash's start-up text. The text waits until the shell is in the terminal's foreground. On EOF, no
/// script runs.
const BOOT_TEXT: &str = concat!(
    // A bash that is too old reports so after its preamble.
    if_too_old!(
        r"IFS= \builtin read -r -d '' -u {control_fd} __ab || \builtin exit 125; ",
        r"while IFS= \builtin read -r -d '' -u {script_fd} __ab; do :; done; ",
        r#"\builtin printf %s "v$BASH_VERSION" >&{script_fd}; \builtin exit 125"#
    ),
    r"IFS= \builtin read -r -d '' -u {control_fd} __ab || \builtin exit 125; ",
    r"\builtin mapfile -d '' -n 2 -u {script_fd} __ab; __ab_fd={script_fd}; ",
    r#"\builtin eval "${__ab[0]}"; "#,
);

/// The part of the start-up text that runs after all internal descriptors are closed.
const RUN_TEXT: &str =
    r#"; \builtin unset -v __ab __ab_fd; : bash; \builtin eval -- "$BASH_EXECUTION_STRING""#;

/// The bytes that commit a script to bash.
const COMMIT_TEXT: &str = "\0";

/// The start-up text for other shells. The text uses only POSIX features, and no descriptors beyond
/// 9; [`POSIX_READ_SCRIPT`] follows.
const PLAIN_BOOT: &str = concat!(
    "read -r __ab </dev/fd/{control_fd} || exit 125; ",
    "case {control_fd} in ?) exec {control_fd}<&- ;; esac; __ab_fd={script_fd}; ",
);

/// The bytes that commit a script to a shell that is not bash.
const PLAIN_COMMIT: &str = "\n";

/// Returns the arguments of the shell, and the bytes that commit its script.
pub(crate) fn boot(spec: &RunSpec) -> (Vec<OsString>, &'static str) {
    let mut args: Vec<OsString> = spec.shell.args.iter().map(OsString::from).collect();
    if !spec.shell.is_any_bash() {
        args.extend(["-c".into(), [PLAIN_BOOT, POSIX_READ_SCRIPT].concat().into()]);
        return (args, PLAIN_COMMIT);
    }
    if spec.shell.is_bash {
        args.extend(["--norc", "--noprofile"].map(OsString::from));
    }
    let text = [
        BOOT_TEXT,
        &exec_redirections("{control_fd}<&- {script_fd}<&-"),
        RUN_TEXT,
    ]
    .concat();
    args.extend(["-c", &text].map(OsString::from));
    (args, COMMIT_TEXT)
}

/// Writes the script of a call into an anonymous file. The shell reads the file. A preamble that
/// fails writes its error into the file.
pub(crate) fn write(spec: &RunSpec) -> io::Result<ScriptFile> {
    let is_bash = spec.shell.is_any_bash();
    let content = if is_bash {
        content(spec)
    } else {
        plain_content(spec)
    };
    let mut file = File::from(unnamed_file("agent-bash-script")?);
    file.write_all(&content)?;
    file.rewind()?;
    Ok(ScriptFile {
        file: file.into(),
        length: content.len() as u64,
        shares_offset: is_bash,
    })
}

/// Returns the contents of the file for bash: the preamble and the script.
fn content(spec: &RunSpec) -> Vec<u8> {
    let mut text = Vec::with_capacity(spec.script.len() + 512);
    let mut add = |part: &[u8]| text.extend_from_slice(part);
    // `{script_fd}` is substituted only in the shell's arguments: the preamble gets the number from
    // `__ab_fd`.
    add(b"{ ");
    add(&enter_directory(
        &quoted(spec.cwd.as_os_str()),
        ShellDialect::Bash,
    ));
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
    let definitions = spec.definitions.as_deref().filter(|_| spec.shell.is_bash);
    if let Some(definitions) = definitions {
        add(&load_definitions(definitions));
    }
    add(b"SECONDS=0; BASH_EXECUTION_STRING=${__ab[1]-}; ");
    if let Some(options) = definitions
        .map(|definitions| &definitions.options)
        .filter(|options| !options.is_empty())
    {
        add(b"{ ");
        add(options);
        add(b"} >/dev/null 2>&1; ");
    }
    add(b"\0");
    add(spec.script.as_bytes());
    text
}

/// Returns the contents of the file for a shell that is not bash, as one text.
fn plain_content(spec: &RunSpec) -> Vec<u8> {
    let mut text = Vec::with_capacity(spec.script.len() + 256);
    text.extend_from_slice(b"{ ");
    text.extend(enter_directory(
        &quoted(spec.cwd.as_os_str()),
        ShellDialect::Posix,
    ));
    // A POSIX shell may not support descriptors of two digits. Then the descriptor stays open and
    // gets no message.
    text.extend_from_slice(b"; } 2>/dev/null || { case $__ab_fd in ?) printf ");
    text.push(NO_DIRECTORY_MARK);
    text.extend_from_slice(b" >&$__ab_fd ;; esac; exit 125; }; ");
    text.extend_from_slice(
        b"case $__ab_fd in ?) eval \"exec $__ab_fd<&-\" ;; esac; unset __ab __ab_fd; ",
    );
    text.extend_from_slice(spec.script.as_bytes());
    text
}
