//! The text of a session: what its shell is started with, and the record of a call.

use super::Remembered;
use crate::exports;
use crate::snapshot::Snapshot;
use agent_bash_process::quoted;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The descriptors of the control pipe and of the file with the record inside the shell: high, so that no script has a use
/// for them; closed for each script.
const CONTROL: i32 = 99;
const FILE: i32 = 98;

/// What the shell runs: for every NUL on the control pipe the record in the file is evaluated. A `while read` loop would
/// make `break` and line numbers go wrong. The record is not on the pipe itself, from which bash reads byte by byte. What the
/// loop prints (a trace, a trap between two calls) is nobody's.
pub(super) fn boot(snapshot: Option<&Snapshot>) -> Vec<OsString> {
    let begin = format!(
        r"\command exec {CONTROL}<&0 {FILE}<&{{script_fd}} {{script_fd}}<&- </dev/null >/dev/null 2>&1; "
    );
    let take = format!(
        r#"\builtin mapfile -d "" -n 1 -u {FILE} __ab_record; \builtin eval "${{__ab_record[0]}}""#
    );
    let follow = format!(r"\builtin mapfile -d '' -u {CONTROL} -c 1 -C '{take}' __ab");
    let load = snapshot.map(Snapshot::load_command).unwrap_or_default();
    let text = [begin.into_bytes(), load, follow.into_bytes()].concat();
    let mut words = ["--norc", "--noprofile", "-c"].map(OsString::from).to_vec();
    words.push(OsString::from_vec(text));
    words
}

/// What makes the shell take the record.
pub(super) const COMMIT: &[u8] = b"\0";

/// A record took the call's script, and runs it next.
pub(super) const READY: u8 = b'r';

/// A record could not enter the call's directory; the script does not run.
pub(super) const NO_DIRECTORY: u8 = b'd';

/// What a call's record does.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) script: &'a str,
    /// Directory to enter before the script; `None` stays where the shell is.
    pub(super) cwd: Option<&'a Path>,
    /// Restored first, in a shell that is new.
    pub(super) remembered: Option<&'a Remembered>,
    /// What the shell has loaded, in a shell that is new: options and search path are set with its first script.
    pub(super) snapshot: Option<&'a Snapshot>,
    /// Variables for this call only.
    pub(super) variables: &'a BTreeMap<OsString, Option<OsString>>,
    pub(super) stdout: &'a Path,
    /// `None`: stderr joins stdout.
    pub(super) stderr: Option<&'a Path>,
    pub(super) status: &'a Path,
}

impl Record<'_> {
    /// The record, with the NUL that ends it. What it begins with is undone at once: its own text, and what came over the
    /// control pipe. Behind it `mapfile` puts the index of a line, and the line.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.script.len() + 1024);
        let mut add = |part: &[u8]| text.extend_from_slice(part);
        let status = quoted(self.status.as_os_str());
        add(b"\\builtin unset -v __ab_record; __ab=(); ");
        if let Some(path) = self.snapshot.and_then(Snapshot::path) {
            add(b"\\builtin export PATH=");
            add(&quoted(path));
            add(b"; ");
        }
        if let Some(remembered) = self.remembered {
            add(&remembered.exports);
            add(b"\n\\builtin cd -- ");
            add(&quoted(OsStr::from_bytes(&remembered.cwd)));
            add(b"; ");
        }
        if let Some(cwd) = self.cwd {
            add(b"if ! \\builtin cd -- ");
            add(&quoted(cwd.as_os_str()));
            add(format!("; then \\builtin printf {} >", char::from(NO_DIRECTORY)).as_bytes());
            add(&status);
            add(b"; else ");
        }
        add(&self.variables_set());
        // Said from inside the redirections: whoever hears it can read the FIFOs.
        add(format!("{{ \\builtin printf {} >", char::from(READY)).as_bytes());
        add(&status);
        let options = self.snapshot.map_or(&[][..], Snapshot::option_commands);
        if !options.is_empty() {
            add(b"; { ");
            add(options);
            add(b"} >/dev/null 2>&1");
        }
        add(b"; \\builtin eval -- ");
        add(&quoted(OsStr::new(self.script)));
        add(b"; } >");
        add(&quoted(self.stdout.as_os_str()));
        match self.stderr {
            None => add(b" 2>&1"),
            Some(stderr) => {
                add(b" 2>");
                add(&quoted(stderr.as_os_str()));
            }
        }
        add(format!(" </dev/null {CONTROL}<&- {FILE}<&-; ").as_bytes());
        // `$?` is that of the script; `$!` tells whether it left something in the background. The exports, of which bash
        // prints each by itself, are for the next call: nobody waits for them.
        add(br#"{ \builtin printf '%s\0%s\0%s\0' "$?" "${!-}" "${PWD-}"; "#);
        add(&self.variables_restored());
        add(br"\builtin export -p; \builtin printf '\0'; } >");
        add(&status);
        if self.cwd.is_some() {
            add(b"; fi");
        }
        add(b"; :\0");
        text
    }

    /// Sets the call's variables, and keeps how they were. Assignments in front of `eval` would do without, but bash 5.2 does
    /// not export them to children if the variable was there before.
    fn variables_set(&self) -> Vec<u8> {
        if self.variables.is_empty() {
            return Vec::new();
        }
        let mut text = b"__ab_saved=$(\\builtin declare -p".to_vec();
        self.add_names(&mut text);
        text.extend_from_slice(b"); ");
        text.extend_from_slice(&exports::commands(self.variables));
        text
    }

    fn variables_restored(&self) -> Vec<u8> {
        if self.variables.is_empty() {
            return Vec::new();
        }
        let mut text = b"\\builtin unset -v".to_vec();
        self.add_names(&mut text);
        text.extend_from_slice(
            b"; \\builtin eval \"$__ab_saved\"; \\builtin unset -v __ab_saved; ",
        );
        text
    }

    fn add_names(&self, text: &mut Vec<u8>) {
        for name in self.variables.keys() {
            text.push(b' ');
            text.extend_from_slice(name.as_bytes());
        }
    }
}

/// What a shell says after a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    /// Exit status of the script, 0 to 255.
    pub(super) code: i32,
    /// Pid of the last background command, as text; empty if there was none.
    pub(super) background: Vec<u8>,
    /// The directory that it is in.
    pub(super) cwd: Vec<u8>,
}

/// Takes a report from the beginning of what was said; `None` while it is not whole. What is left are the exports.
pub(super) fn take_report(said: &mut Vec<u8>) -> Option<Report> {
    let mut parts = said.splitn(4, |byte| *byte == 0);
    let (code, background, cwd) = (parts.next()?, parts.next()?, parts.next()?);
    // The third NUL has come if something follows it, be it nothing.
    let rest = parts.next()?.len();
    let report = Report {
        code: std::str::from_utf8(code).ok()?.parse().ok()?,
        background: background.to_vec(),
        cwd: cwd.to_vec(),
    };
    said.drain(..said.len() - rest);
    Some(report)
}

/// Takes the exports, as `export -p` prints them; `None` while they are not whole.
pub(super) fn take_exports(said: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = said.iter().position(|byte| *byte == 0)?;
    let exports = said[..end].to_vec();
    said.drain(..=end);
    Some(exports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_whole_or_none() {
        let whole = b"3\0\0/a\nb\0declare -x A=\"1\"\n\0";
        let mut said = whole.to_vec();
        let report = take_report(&mut said).unwrap();
        assert_eq!((report.code, &report.cwd[..]), (3, &b"/a\nb"[..]));
        assert_eq!(take_exports(&mut said).unwrap(), b"declare -x A=\"1\"\n");
        assert!(said.is_empty());
        let report_length = 8;
        for end in 0..whole.len() {
            let mut said = whole[..end].to_vec();
            let report = take_report(&mut said);
            assert_eq!(report.is_some(), end >= report_length, "{end}");
            if report.is_some() {
                assert_eq!(take_exports(&mut said), None, "{end}");
            }
        }
    }
}
