//! The text of a session: what its shell is started with, and the record of a call.

use super::directory::Directory;
use super::remembered::Remembered;
use super::shell_cwd::ShellCwd;
use crate::exports;
use crate::record::{ends_by_itself, old_directory};
use crate::snapshot::Snapshot;
use agent_bash_call::{Reader, enter, exec, if_too_old};
use agent_bash_core::Stage;
use agent_bash_process::quoted;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The descriptor of the control pipe inside the shell: high, so that no script has a use for it; closed for each script. The
/// file with the record is the shell's stdin, which is another one for each script anyway.
const CONTROL: i32 = 99;

/// What stands behind a script that has the word `builtin`: takes a function of that name away, and says the status, which
/// nothing of ours could any more. In POSIX mode, which a variable switches on, no function stands in for `unset`. Only where the
/// script has that word: bash would parse it with every call.
const KEEP_BUILTIN: &str = concat!(
    r#"{ __ab=("$?" ''); \builtin printf -v '__ab[1]' x; "#,
    r"[[ ${__ab[1]} ]] || { POSIXLY_CORRECT=1; \unset -f builtin; \unset -v POSIXLY_CORRECT; }; ",
    r#"\builtin printf '%s\0' "${__ab[0]}" >{status}; \builtin unset -v __ab; } >/dev/null 2>&1"#,
);

/// What stands behind a script whose stages are asked for: in the same text, since `eval` resets `PIPESTATUS`. What is traced of it
/// is nobody's.
const SAY_STAGES: &str =
    r#"{ \builtin printf '%s\0' "$?" "${PIPESTATUS[@]}" >{status}; } 2>/dev/null"#;

/// What is done with each call. A script may look at all that is there, so nothing has a name of ours while it runs (but
/// `__ab`, where the call has variables of its own, for how they were), and nothing is between it and its output: bash traces
/// this `eval`, and runs a trap before it, where the loop prints. It stands here and not in the record, for each `eval` around a
/// script is one more `+` in its trace.
///
/// The record ends by a status, that of the script before; its last word is `bash`, which is what `$_` then is, as `bash -c` has
/// it. The script is kept where `bash -c` has it. No word of it is one of the language, for which an alias could stand in.
const CALL: &str = concat!(
    r#"\builtin mapfile -d "" -n 1 __ab; \builtin eval "${__ab:-:}" bash && \builtin : bash; "#,
    r#"\builtin eval -- "$BASH_EXECUTION_STRING" >{out} 2>{err} </dev/null {control}<&-; "#,
    // Each command of ours is redirected by itself: what a trap or a trace of the script's prints before it is not to get into
    // what we say.
    r#"\builtin printf "%s\0" "${PWD-}" . "$?" >{status}; "#,
    // Where a script ended within `$(` bash 5.2 has closed more quotes than it had opened, and would write before its list of them
    // with the next. An error of syntax sets that right; in POSIX mode it would end the shell. `$_` is the status.
    r#"\builtin test "$_" = 0 || \builtin test -o posix || \builtin eval ")" || \builtin :; "#,
    r#"\builtin test "${DIRSTACK+x}" || \builtin exit; \builtin eval "${__ab-}"; \builtin unset -v __ab; "#,
    // Bash prints each by itself. They are for whoever comes after this shell: nobody waits for them, and on a FIFO of their own
    // they wake nobody.
    r#"\builtin export -p >{exports}; \builtin printf "\0" >{exports}; {rest}; \builtin :"#,
);

/// What stands where the script stands while there is none: where a record could not be read, or was taken back, it says so.
const REST: &str = r"\builtin printf n >{status}";

/// One that is too old says so.
const TOO_OLD: &str =
    if_too_old!(r#"\builtin printf %s "v$BASH_VERSION" >{status}; \builtin exit 125"#);

/// What the shell runs: for every NUL on the control pipe the record in the file is evaluated. A `while read` loop would
/// make `break` and line numbers go wrong. The record is not on the pipe itself, from which bash reads byte by byte. What the
/// loop prints (a trace, a trap between two calls) is nobody's.
///
/// The loop needs an array to read into. The stack of directories is one that is always there, and takes nothing that is far
/// beyond its end. Where a script has taken it away the shell ends behind it: bash would write where there is nothing.
pub(super) fn boot(directory: &Directory, snapshot: Option<&Snapshot>) -> Vec<OsString> {
    let begin = exec(&format!(
        "{CONTROL}<&0 <&{{script_fd}} {{script_fd}}<&- >/dev/null 2>&1"
    ));
    let load = snapshot.map(Snapshot::load_command).unwrap_or_default();
    let follow = format!(r"\builtin mapfile -O 1000000000 -d '' -u {CONTROL} -c 1 -C ");
    let call = quoted(OsStr::from_bytes(&in_place(CALL, directory)));
    let parts: [&[u8]; _] = [
        &in_place(TOO_OLD, directory),
        begin.as_bytes(),
        b"; ",
        &load,
        &in_place("{rest}; ", directory),
        follow.as_bytes(),
        &call,
        b" DIRSTACK",
    ];
    let mut words = ["--norc", "--noprofile", "-c"].map(OsString::from).to_vec();
    words.push(OsString::from_vec(parts.concat()));
    words
}

/// A text with the paths of the session.
fn in_place(text: &str, directory: &Directory) -> Vec<u8> {
    let path = |path: &Path| quoted(path.as_os_str());
    let mut filled = Vec::with_capacity(text.len() + 256);
    let mut parts = text.split('{');
    filled.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let place = part.split_once('}').and_then(|(name, rest)| {
            let place = match name {
                "out" => path(&directory.stdout()),
                "err" => path(&directory.stderr()),
                "status" => path(&directory.status()),
                "exports" => path(&directory.exports()),
                "rest" => {
                    let text = quoted(OsStr::from_bytes(&in_place(REST, directory)));
                    [b"BASH_EXECUTION_STRING=", &*text].concat()
                }
                "control" => CONTROL.to_string().into_bytes(),
                _ => return None,
            };
            Some((place, rest))
        });
        if let Some((place, rest)) = place {
            filled.extend(place);
            filled.extend_from_slice(rest.as_bytes());
        } else {
            filled.push(b'{');
            filled.extend_from_slice(part.as_bytes());
        }
    }
    filled
}

/// What makes the shell take the record.
pub(super) const COMMIT: &[u8] = b"\0";

/// What the shell reads when it is done with its record, and what changes nothing: its loop waits for the NUL all the same.
pub(super) const QUESTION: &[u8] = b".";

/// A record could not enter the call's directory, or the session's; the script does not run. The report follows.
const NO_DIRECTORY: u8 = b'd';

/// The shell could not read the record, see [`REST`].
const UNREAD: u8 = b'n';

/// What a call's record does.
#[derive(Debug)]
pub(super) struct SessionRecord<'a> {
    pub(super) script: &'a str,
    /// Directory to enter before the script; `None` stays where the shell is, or was.
    pub(super) cwd: Option<&'a Path>,
    /// Restored first, in a shell that is new.
    pub(super) remembered: Option<&'a Remembered>,
    /// The shell is new, and has nothing to restore.
    pub(super) is_new: bool,
    /// `OLDPWD` of the environment.
    pub(super) oldpwd: Option<&'a OsStr>,
    /// What the shell has loaded, in a shell that is new: options and search path are set with its first script.
    pub(super) snapshot: Option<&'a Snapshot>,
    /// `$?` when the script begins: that of the script before.
    pub(super) last: i32,
    /// Whether the exit status of each stage of the last pipeline is asked for.
    pub(super) stages: bool,
    /// Variables for this call only.
    pub(super) variables: &'a BTreeMap<OsString, Option<OsString>>,
    /// Where the shell says how it ended.
    pub(super) directory: &'a Directory,
}

impl SessionRecord<'_> {
    /// The record, with the NUL that ends it. What it begins with is undone at once: its own text.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.script.len() + 256);
        let mut add = |part: &[u8]| text.extend_from_slice(part);
        let status = quoted(self.directory.status().as_os_str());
        add(b"\\builtin unset -v __ab; ");
        if let Some(path) = self.snapshot.and_then(Snapshot::path) {
            add(b"\\builtin export PATH=");
            add(&quoted(path));
            add(b"; ");
        }
        let place = self
            .remembered
            .and_then(|remembered| remembered.cwd.as_ref());
        let place = place.map(ShellCwd::enter);
        let refuse = format!("\\builtin printf {} >", char::from(NO_DIRECTORY));
        let refuse = [refuse.as_bytes(), &status, b"; else "].concat();
        // Where the call names a directory of its own it does not matter whether the other is there.
        let must_be_there = self.cwd.is_none() && place.is_some();
        if let Some(place) = place {
            if must_be_there {
                add(b"if ! { ");
                add(&place);
                add(b"; }; then ");
                add(&refuse);
            } else {
                add(&place);
                add(b"; ");
            }
        }
        if let Some(remembered) = self.remembered {
            // `OLDPWD` is among them.
            add(&remembered.exports);
            add(b"\n");
        }
        if let Some(cwd) = self.cwd {
            add(b"if ! { ");
            add(&enter(&quoted(cwd.as_os_str()), Reader::Bash));
            add(b"; }; then ");
            add(&refuse);
        }
        if self.is_new {
            add(b"\\builtin unset -v OLDPWD; \\builtin export OLDPWD; ");
            add(&old_directory(self.oldpwd));
        }
        add(&self.variables_set());
        let options = self.snapshot.map_or(&[][..], Snapshot::option_commands);
        if !options.is_empty() {
            add(b"{ ");
            add(options);
            add(b"} >/dev/null 2>&1; ");
        }
        add(b"BASH_EXECUTION_STRING=");
        add(&self.with_tail());
        // After `set -a` every assignment exports.
        add(br"; \builtin export -n BASH_EXECUTION_STRING; ");
        if self.cwd.is_some() || must_be_there {
            add(b"fi; ");
        }
        match self.last {
            0 => add(b"\\builtin :\0"),
            // As the first of a list it runs no trap for errors.
            last => add(format!("(\\builtin exit {last}) && \\builtin : #\0").as_bytes()),
        }
        text
    }

    /// The script, and what follows it, quoted.
    fn with_tail(&self) -> Vec<u8> {
        let tail = if self.stages {
            SAY_STAGES
        } else if self.script.contains("builtin") && ends_by_itself(self.script) {
            KEEP_BUILTIN
        } else {
            return quoted(OsStr::new(self.script));
        };
        let tail = in_place(tail, self.directory);
        let text = [self.script.as_bytes(), b"\n", &tail].concat();
        quoted(OsStr::from_bytes(&text))
    }

    /// Sets the call's variables, and keeps how they were. Assignments in front of `eval` would do without, but bash 5.2 does
    /// not export them to children if the variable was there before.
    fn variables_set(&self) -> Vec<u8> {
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

/// Whether a script was run, or why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    /// It was.
    Yes,
    /// The call's directory, or the session's, could not be entered.
    NoDirectory,
    /// The shell could not read its record.
    Unread,
}

/// What a shell says after a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    /// Whether the script was run.
    pub(super) run: Run,
    /// Exit status of the script, 0 to 255.
    pub(super) code: i32,
    /// What it calls the directory that it is in.
    pub(super) cwd: Vec<u8>,
    /// The exit status of each stage of the last pipeline, where that was asked for.
    pub(super) stages: Option<Vec<Stage>>,
}

/// Reads a report; `None` while it is not whole.
pub(super) fn read_report(said: &[u8]) -> Option<Report> {
    let (run, said) = match said.strip_suffix(b"\0")? {
        [NO_DIRECTORY, UNREAD, said @ ..] => (Run::NoDirectory, said),
        [UNREAD, said @ ..] => (Run::Unread, said),
        said => (Run::Yes, said),
    };
    let mut parts: Vec<_> = said.split(|byte| *byte == 0).collect();
    let (code, end, cwd) = (parts.pop()?, parts.pop()?, parts.pop()?);
    if end != b"." {
        return None;
    }
    let status = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<i32>().ok();
    // What stands behind a script has said its status, and that of each stage, before: what came last is that.
    let told: Vec<i32> = parts.into_iter().map(status).collect::<Option<_>>()?;
    let (code, stages) = match told.split_first() {
        Some((code, stages)) => (*code, stages),
        None => (status(code)?, &[][..]),
    };
    let stage = |code: &i32| Stage::from(*code);
    Some(Report {
        run,
        code,
        cwd: cwd.to_vec(),
        stages: (stages.len() > 1).then(|| stages.iter().map(stage).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_whole_or_none() {
        for (whole, code, stages) in [
            (&b"/a\nb\0.\x003\0"[..], 3, None),
            (b"3\x003\0/a\nb\0.\x000\0", 3, None),
            (b"0\x001\x000\0/a\nb\0.\x000\0", 0, Some([1, 0])),
        ] {
            let report = read_report(whole).unwrap();
            let stages = stages.map(|codes| codes.map(Stage::from).to_vec());
            assert_eq!((report.code, report.stages), (code, stages), "{whole:?}");
            assert_eq!((report.run, &*report.cwd), (Run::Yes, &b"/a\nb"[..]));
            for end in 0..whole.len() {
                assert_eq!(read_report(&whole[..end]), None, "{end}");
            }
        }
        for (whole, run) in [
            (&b"dn/\0.\x000\0"[..], Run::NoDirectory),
            (b"n/\0.\x000\0", Run::Unread),
        ] {
            assert_eq!(read_report(whole).unwrap().run, run);
        }
    }
}
