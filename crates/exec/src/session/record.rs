//! The start-up text of a session's shell, and the record of a call: a file with the shell commands
//! that prepare, run and report one script.

use super::directory::{STDERR_FIFO, STDOUT_FIFO, SessionDirectory};
use super::remembered::RememberedState;
use super::shell_cwd::ShellCwd;
use crate::exports;
use crate::record::{ends_by_itself, old_directory};
use crate::snapshot::Snapshot;
use agent_bash_call::{ShellDialect, enter_directory, exec_redirections, if_too_old};
use agent_bash_core::Stage;
use agent_bash_process::{quoted, random_bytes};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The descriptor of the control pipe inside the shell: a high number that scripts do not use. It
/// is closed for each script. The shell's stdin is the file with the record; each script gets
/// another stdin.
const CONTROL_FD: i32 = 99;

/// The descriptor of the socket for reports, also closed for each script.
const STATUS_FD: i32 = 98;

/// The descriptor of the socket for exports, also closed for each script.
const EXPORTS_FD: i32 = 97;

/// The tail of a script that contains the word `builtin`. It stores the status, and removes a
/// function named `builtin`, because later commands of the record use the builtin of that name.
/// Setting `POSIXLY_CORRECT` enables POSIX mode, in which a function cannot replace `unset`. Other
/// scripts do not get this tail, because bash would parse it with every call.
const RESTORE_BUILTIN_TEXT: &str = concat!(
    r#"{ __ab_s=("$?" ''); \builtin printf -v '__ab_s[1]' x; "#,
    r"[[ ${__ab_s[1]} ]] || { POSIXLY_CORRECT=1; \unset -f builtin; \unset -v POSIXLY_CORRECT; }; ",
    r#"__ab_s=("${__ab_s[0]}"); } >/dev/null 2>&1"#,
);

/// The tail of a script if the statuses of its stages are requested. The tail is in the same text
/// as the script, because `eval` resets `PIPESTATUS`. Its `set -x` output is discarded.
const STAGES_TEXT: &str = r#"{ __ab_s=("$?" "${PIPESTATUS[@]}"); } 2>/dev/null"#;

/// Appends the following text to the script, unless the shell has `set -v`.
const ADD_UNLESS_VERBOSE: &str =
    r#"; \builtin test "${-#*v}" = "$-" && BASH_EXECUTION_STRING=$BASH_EXECUTION_STRING"#;

/// The commands that run each call. A script can inspect its shell, so none of the `__ab_…`
/// variables is set while it runs. `__ab` is set only if the call sets variables, and has the
/// commands that restore their former values. The `set -x` line of this `eval`, and a trap's output
/// before it, go to `/dev/null`. The `eval` is here and not in the record, because each `eval`
/// around a script adds a `+` to its trace.
///
/// The last command of the record sets `$?` to the exit status of the previous script. Its last
/// word is `bash`, so `$_` is `bash`, as with `bash -c`. The script is in `BASH_EXECUTION_STRING`,
/// as with `bash -c`. None of these commands uses a reserved word, which an alias could replace.
///
/// For each line of the control pipe, see [`run_record_line`], `mapfile` appends the array index
/// and the quoted line: `…; __ab_n=' INDEX 'NONCE;…`. The first quote of the line closes the open
/// one, so the line is part of the program. While the script runs, the call's nonce is therefore in
/// no variable, file or descriptor, only in the parsed program.
const CALL_TEXT: &str = concat!(
    r#"\builtin mapfile -d "" -n 1 __ab; \builtin eval "${__ab:-:}" bash && \builtin : bash; "#,
    r#"\builtin eval -- "${BASH_EXECUTION_STRING-}" >{out} 2>{err} </dev/null {control}<&- {status}>&- {exports}>&-; "#,
    r#"__ab_c=$?; "#,
    // If a script ends within `$(`, bash 5.2 pops its stack of delimiters once too often, and the
    // next quote writes outside of it. A syntax error resets that stack.
    // In POSIX mode, a syntax error would end the shell.
    r#"\builtin test "$__ab_c" = 0 || \builtin test -o posix || \builtin eval ")" || \builtin :; "#,
    "__ab_t='{conclude}'; __ab_n='",
);

/// The program that follows a script, once the nonce is in `__ab_n`. Must not contain single
/// quotes, because [`CALL_TEXT`] puts this text in single quotes.
const CONCLUDE_TEXT: &str = concat!(
    // A restricted shell cannot run another script and must not report.
    r#"\builtin test "${-#*r}" = "$-" && "#,
    // Each command is redirected separately, so that the output of the script's traps and traces is
    // not part of the report. No file is opened: a recorded shell would wait for the recorder.
    r#"\builtin printf "%s\0" "$__ab_n" ${__ab_s+"${__ab_s[@]}"} "${__ab+${__ab:0:64}}" "${PWD-}" "$__ab_c" "$__ab_n" "#,
    r#">&{status}; \builtin test "${DIRSTACK+x}" || \builtin exit; \builtin eval "${__ab-}"; {forget}; "#,
    // Bash writes each export separately. The call does not wait for them: on a separate socket
    // they do not wake the host.
    r#"\builtin export -p >&{exports}; \builtin printf "\0" >&{exports}; \builtin :"#,
);

/// Removes all variables of this file, and the script.
const FORGET_TEXT: &str =
    r"\builtin unset -v __ab __ab_n __ab_s __ab_c __ab_t BASH_EXECUTION_STRING";

/// Makes a bash that is too old report its version and exit.
const REPORT_TOO_OLD: &str =
    if_too_old!(r#"\builtin printf %s "v$BASH_VERSION" >&{status_fd}; \builtin exit 125"#);

/// Returns the arguments of the shell. For every NUL on the control pipe, the shell evaluates the
/// record in the file. A `while read` loop instead would give `break` and line numbers another
/// meaning. The record is not on the pipe, from which bash reads byte by byte. Output of the loop
/// (a trace, a trap between two calls) is discarded.
///
/// `mapfile` needs an array to read into. `DIRSTACK` exists in every shell, and ignores elements
/// far beyond its end. If a script has unset it, the shell exits after that script: bash would
/// write to an array that does not exist.
pub(super) fn shell_arguments(directory: &SessionDirectory, load: &[u8]) -> Vec<OsString> {
    let begin = exec_redirections(&format!(
        "{CONTROL_FD}<&0 <&{{script_fd}} {{script_fd}}<&- {STATUS_FD}>&{{status_fd}} {{status_fd}}>&- \
         {EXPORTS_FD}>&{{exports_fd}} {{exports_fd}}>&- >/dev/null 2>&1"
    ));
    let follow = format!(r"\builtin mapfile -O 1000000000 -d '' -u {CONTROL_FD} -c 1 -C ");
    let call = quoted(OsStr::from_bytes(&filled_in(CALL_TEXT, directory)));
    let parts: [&[u8]; _] = [
        REPORT_TOO_OLD.as_bytes(),
        begin.as_bytes(),
        b"; ",
        load,
        FORGET_TEXT.as_bytes(),
        b"; ",
        follow.as_bytes(),
        &call,
        b" DIRSTACK",
    ];
    let mut words = ["--norc", "--noprofile", "-c"].map(OsString::from).to_vec();
    words.push(OsString::from_vec(parts.concat()));
    words
}

/// Fills the placeholders of a text with the paths and descriptors of the session.
fn filled_in(text: &str, directory: &SessionDirectory) -> Vec<u8> {
    let path = |path: &Path| quoted(path.as_os_str());
    let number = |number: i32| number.to_string().into_bytes();
    let mut filled = Vec::with_capacity(text.len() + 256);
    let mut parts = text.split('{');
    filled.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let value = part.split_once('}').and_then(|(name, rest)| {
            let value = match name {
                "out" => path(&directory.shell_path(STDOUT_FIFO)),
                "err" => path(&directory.shell_path(STDERR_FIFO)),
                "control" => number(CONTROL_FD),
                "status" => number(STATUS_FD),
                "exports" => number(EXPORTS_FD),
                "conclude" => filled_in(CONCLUDE_TEXT, directory),
                "forget" => FORGET_TEXT.into(),
                _ => return None,
            };
            Some((value, rest))
        });
        if let Some((value, rest)) = value {
            filled.extend(value);
            filled.extend_from_slice(rest.as_bytes());
        } else {
            filled.push(b'{');
            filled.extend_from_slice(part.as_bytes());
        }
    }
    filled
}

/// A random word that no process can guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nonce(String);

impl Nonce {
    /// The 64 characters that a shell takes literally everywhere.
    const NONCE_CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    /// Returns a new random nonce.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub(super) fn random() -> io::Result<Self> {
        // Short, because bash reads the control pipe byte by byte.
        let bytes = random_bytes::<12>()?;
        let character = |byte: &u8| char::from(Self::NONCE_CHARACTERS[usize::from(byte % 64)]);
        Ok(Self(bytes.iter().map(character).collect()))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Returns the line that makes the shell run the record: the end of the program that [`CALL_TEXT`]
/// begins.
pub(super) fn run_record_line(nonce: &Nonce) -> Vec<u8> {
    format!("{};\\builtin eval \"$__ab_t\" #\0", nonce.0).into_bytes()
}

/// A byte that the shell reads once it has finished its record, by which the host sees that the
/// shell is idle. The byte has no effect, because the loop still waits for a NUL.
pub(super) const PROBE_BYTE: &[u8] = b".";

/// The start of a record. This text remains in `__ab` if bash cannot parse the record. The record's
/// nonce follows.
const UNPARSED_MARK: &str = r"\builtin : u";

/// The contents of `__ab` after a record that could not enter its directory. The record's nonce
/// follows.
const NO_DIRECTORY_MARK: &str = r"\builtin : d";

/// The contents of a call's record.
#[derive(Debug)]
pub(super) struct SessionRecord<'a> {
    pub(super) script: &'a str,
    /// The directory to enter before the script; `None` stays in the session's directory.
    pub(super) cwd: Option<&'a Path>,
    /// The state that a new shell restores first.
    pub(super) remembered: Option<&'a RememberedState>,
    /// True if the shell is new and has no state to restore.
    pub(super) is_new: bool,
    /// `OLDPWD` of the environment.
    pub(super) oldpwd: Option<&'a OsStr>,
    /// The snapshot that a new shell has loaded: its options and search path are set with the first
    /// script.
    pub(super) snapshot: Option<&'a Snapshot>,
    /// The commands by which managers choose the versions of the directory in which the last script
    /// has ended, each followed by `; `.
    pub(super) missed_hooks: &'a [u8],
    /// The commands that bring a used shell, or the remembered exports, to another snapshot, each
    /// followed by `; `.
    pub(super) changes: &'a [u8],
    /// The commands by which managers choose the versions of the entered directory, each followed
    /// by `; `.
    pub(super) hooks: &'a [u8],
    /// `$?` when the script begins: the exit status of the previous script.
    pub(super) last_status: i32,
    /// True if the exit status of each stage of the last pipeline is requested.
    pub(super) wants_stages: bool,
    /// Variables for this call only.
    pub(super) variables: &'a BTreeMap<OsString, Option<OsString>>,
    /// Marks the values that this record sets in `__ab`, so that the script cannot forge them.
    pub(super) nonce: &'a Nonce,
}

impl SessionRecord<'_> {
    /// Returns the record, terminated by NUL. The record first unsets `__ab`, which contains the
    /// record's text.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.script.len() + 256);
        let mut add = |part: &[u8]| text.extend_from_slice(part);
        add(UNPARSED_MARK.as_bytes());
        add(self.nonce.as_bytes());
        add(b"; \\builtin unset -v __ab; ");
        if let Some(path) = self.snapshot.and_then(Snapshot::path) {
            add(b"\\builtin export PATH=");
            add(&quoted(path));
            add(b"; ");
        }
        add(self.missed_hooks);
        if self.remembered.is_none() {
            add(self.changes);
        }
        let enter_cwd = self
            .remembered
            .and_then(|remembered| remembered.cwd.as_ref());
        let enter_cwd = enter_cwd.map(ShellCwd::enter);
        let refuse = format!("__ab='{NO_DIRECTORY_MARK}{}'; else ", self.nonce.0);
        let refuse = refuse.as_bytes();
        // If the call names a directory, the session's directory need not exist.
        let must_exist = self.cwd.is_none() && enter_cwd.is_some();
        if let Some(enter_cwd) = enter_cwd {
            if must_exist {
                add(b"if ! { ");
                add(&enter_cwd);
                add(b"; }; then ");
                add(refuse);
            } else {
                add(&enter_cwd);
                add(b"; ");
            }
        }
        if let Some(remembered) = self.remembered {
            // The remembered exports include `OLDPWD`.
            add(&remembered.exports);
            add(b"\n");
            add(self.changes);
        }
        if let Some(cwd) = self.cwd {
            add(b"if ! { ");
            add(&enter_directory(
                &quoted(cwd.as_os_str()),
                ShellDialect::Bash,
            ));
            add(b"; }; then ");
            add(refuse);
        }
        add(self.hooks);
        if self.is_new {
            add(b"\\builtin unset -v OLDPWD; \\builtin export OLDPWD; ");
            add(&old_directory(self.oldpwd));
        }
        add(&self.set_variables());
        let options = self.snapshot.map_or(&[][..], Snapshot::option_commands);
        if !options.is_empty() {
            add(b"{ ");
            add(options);
            add(b"} >/dev/null 2>&1; ");
        }
        add(b"BASH_EXECUTION_STRING=");
        add(&self.script_with_tail());
        // After `set -a` every assignment exports.
        add(br"; \builtin export -n BASH_EXECUTION_STRING; ");
        if self.cwd.is_some() || must_exist {
            add(b"fi; ");
        }
        match self.last_status {
            0 => add(b"\\builtin :\0"),
            // A command in front of `&&` does not run the `ERR` trap.
            status => add(format!("(\\builtin exit {status}) && \\builtin : #\0").as_bytes()),
        }
        text
    }

    /// Returns the script and its tail, quoted. A shell with `set -v` would print the tail for
    /// statuses, so there the script gets no such tail.
    fn script_with_tail(&self) -> Vec<u8> {
        let script = |tail: &str| quoted(OsStr::new(&[self.script, tail].concat()));
        match self.tail() {
            None => script(""),
            Some(STAGES_TEXT) => {
                let mut text = script("");
                text.extend_from_slice(ADD_UNLESS_VERBOSE.as_bytes());
                text.extend(quoted(OsStr::new(&["\n", STAGES_TEXT].concat())));
                text
            }
            Some(tail) => script(&["\n", tail].concat()),
        }
    }

    /// Returns the commands that follow the script, if any.
    fn tail(&self) -> Option<&'static str> {
        if self.wants_stages {
            Some(STAGES_TEXT)
        } else if self.script.contains("builtin") && ends_by_itself(self.script) {
            Some(RESTORE_BUILTIN_TEXT)
        } else {
            None
        }
    }

    /// True if a tail that stores statuses follows the script.
    pub(super) fn has_tail(&self) -> bool {
        self.tail().is_some()
    }

    /// Returns the commands that set the call's variables and store their former values.
    /// Assignments before `eval` would be simpler, but bash 5.2 does not export them to children if
    /// the variable existed before.
    fn set_variables(&self) -> Vec<u8> {
        if self.variables.is_empty() {
            return Vec::new();
        }
        let mut names = Vec::new();
        for name in self.variables.keys() {
            names.push(b' ');
            names.extend_from_slice(name.as_bytes());
        }
        let mut text = b"__ab=\"\\builtin unset -v".to_vec();
        text.extend_from_slice(&names);
        text.extend_from_slice(b"; $(\\builtin declare -p");
        text.extend_from_slice(&names);
        text.extend_from_slice(b")\"; ");
        text.extend_from_slice(&exports::commands(self.variables));
        text
    }
}

/// Whether a script was run, or the reason why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptRun {
    /// The script was run.
    Yes,
    /// The call's directory, or the session's, could not be entered.
    NoDirectory,
    /// The shell could not read its record.
    Unread,
}

/// The report of a shell after a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellReport {
    /// Whether the script was run.
    pub(super) run: ScriptRun,
    /// Exit status of the script, 0 to 255.
    pub(super) code: i32,
    /// The path of the current directory, according to the shell.
    pub(super) cwd: Vec<u8>,
    /// The exit status of each stage of the last pipeline, if requested.
    pub(super) stages: Option<Vec<Stage>>,
}

/// The properties that identify a report of this call.
#[derive(Clone, Debug)]
pub(super) struct ExpectedReport {
    /// The nonce at the report's beginning and end.
    pub(super) call: Nonce,
    /// The record's nonce.
    pub(super) record: Nonce,
    /// True if a tail that stores statuses follows the script.
    pub(super) has_tail: bool,
}

impl ExpectedReport {
    /// Returns the properties of a report with new nonces, of a script without a tail.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub(super) fn random() -> io::Result<Self> {
        Ok(Self {
            call: Nonce::random()?,
            record: Nonce::random()?,
            has_tail: false,
        })
    }

    /// Parses a report; `None` while it is incomplete. Ignores bytes before the report, and reports
    /// with other nonces.
    pub(super) fn read_report(&self, reported: &[u8]) -> Option<ShellReport> {
        let mut parts: Vec<_> = reported
            .strip_suffix(b"\0")?
            .split(|byte| *byte == 0)
            .collect();
        // Bash puts the index, and the earlier probe bytes, before the nonce.
        let is_nonce = |part: &&[u8]| part.ends_with(self.call.as_bytes());
        parts.pop().filter(is_nonce)?;
        let begin = parts.iter().position(is_nonce)?;
        let mut parts = parts.split_off(begin + 1);
        let (code, cwd, flag) = (parts.pop()?, parts.pop()?, parts.pop()?);
        let status = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<i32>().ok();
        let mut code = status(code)?;
        let mut stages = None;
        if self.has_tail
            && let Some(statuses) = parts.into_iter().map(status).collect::<Option<Vec<_>>>()
            && let Some((status, statuses)) = statuses.split_first()
        {
            code = *status;
            let to_stages = || statuses.iter().copied().map(Stage::from).collect();
            stages = (statuses.len() > 1).then(to_stages);
        }
        let has_mark = |mark: &str| {
            let nonce = flag.strip_prefix(mark.as_bytes());
            nonce.is_some_and(|rest| rest.starts_with(self.record.as_bytes()))
        };
        Some(ShellReport {
            run: if has_mark(NO_DIRECTORY_MARK) {
                ScriptRun::NoDirectory
            } else if has_mark(UNPARSED_MARK) {
                ScriptRun::Unread
            } else {
                ScriptRun::Yes
            },
            code,
            cwd: cwd.to_vec(),
            stages,
        })
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
