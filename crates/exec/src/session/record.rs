//! The text of a session: what its shell is started with, and the record of a call.

use super::Remembered;
use super::place::Place;
use crate::exports;
use crate::record::old_directory;
use crate::snapshot::Snapshot;
use agent_bash_core::Stage;
use agent_bash_process::quoted;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The descriptor of the control pipe inside the shell: high, so that no script has a use for it; closed for each script. The
/// file with the record is the shell's stdin, which is another one for each script anyway.
const CONTROL: i32 = 99;

/// Keeps the script's status in `__ab_kept`, and takes a function away that the script has called `builtin`: nothing of ours could
/// be called by its own name any more. In POSIX mode, which a variable switches on, no function stands in for `unset`. Only where
/// the script has that word: bash would parse it with every call.
const KEEP_BUILTIN: &[u8] = br#"__ab_kept=("$?" ''); \builtin printf -v '__ab_kept[1]' x; [[ ${__ab_kept[1]} ]] || { POSIXLY_CORRECT=1; \unset -f builtin; \unset -v POSIXLY_CORRECT; }; "#;

/// What the shell runs: for every NUL on the control pipe the record in the file is evaluated. A `while read` loop would
/// make `break` and line numbers go wrong. The record is not on the pipe itself, from which bash reads byte by byte. What the
/// loop prints (a trace, a trap between two calls) is nobody's.
pub(super) fn boot(snapshot: Option<&Snapshot>) -> Vec<OsString> {
    let begin =
        format!(r"\command exec {CONTROL}<&0 <&{{script_fd}} {{script_fd}}<&- >/dev/null 2>&1; ");
    let take = r#"\builtin mapfile -d "" -n 1 __ab; \builtin eval "$__ab""#;
    let follow = format!(r"\builtin mapfile -d '' -u {CONTROL} -c 1 -C '{take}' __ab");
    let load = snapshot.map(Snapshot::load_command).unwrap_or_default();
    let text = [begin.into_bytes(), load, follow.into_bytes()].concat();
    let mut words = ["--norc", "--noprofile", "-c"].map(OsString::from).to_vec();
    words.push(OsString::from_vec(text));
    words
}

/// What makes the shell take the record.
pub(super) const COMMIT: &[u8] = b"\0";

/// What the shell reads when it is done with its record, and what changes nothing: its loop waits for the NUL all the same.
pub(super) const QUESTION: &[u8] = b".";

/// A record could not enter the call's directory, or the session's; the script does not run.
pub(super) const NO_DIRECTORY: u8 = b'd';

/// What a call's record does.
#[derive(Debug)]
pub(super) struct Record<'a> {
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
    pub(super) stdout: &'a Path,
    /// `None`: stderr joins stdout.
    pub(super) stderr: Option<&'a Path>,
    pub(super) status: &'a Path,
    pub(super) exports: &'a Path,
}

impl Record<'_> {
    /// The record, with the NUL that ends it. What it begins with is undone at once: its own text, and what came over the
    /// control pipe. Behind it `mapfile` puts the index of a line, and the line.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.script.len() + 1024);
        let mut add = |part: &[u8]| text.extend_from_slice(part);
        let status = quoted(self.status.as_os_str());
        add(b"__ab=(); ");
        if let Some(path) = self.snapshot.and_then(Snapshot::path) {
            add(b"\\builtin export PATH=");
            add(&quoted(path));
            add(b"; ");
        }
        let place = self
            .remembered
            .and_then(|remembered| remembered.place.as_ref());
        let place = place.map(Place::enter);
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
            add(b"if ! \\builtin cd -- ");
            add(&quoted(cwd.as_os_str()));
            add(b"; then ");
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
        // That is what `$_` then is, as `bash -c` has it.
        add(b"\\builtin : bash; ");
        if self.last != 0 {
            // As the first of a list it runs no trap for errors.
            add(format!("(\\builtin exit {}) && \\builtin :; ", self.last).as_bytes());
        }
        add(b"{ \\builtin eval -- ");
        if self.stages {
            // In the same text: `eval` resets PIPESTATUS.
            let tail = r#"__ab=("$?" "${PIPESTATUS[@]}")"#;
            add(&quoted(OsStr::new(&format!("{}\n{tail}", self.script))));
        } else {
            add(&quoted(OsStr::new(self.script)));
        }
        add(b"; } >");
        add(&quoted(self.stdout.as_os_str()));
        match self.stderr {
            None => add(b" 2>&1"),
            Some(stderr) => {
                add(b" 2>");
                add(&quoted(stderr.as_os_str()));
            }
        }
        add(format!(" </dev/null {CONTROL}<&-; ").as_bytes());
        // `$?` was that of the script. Each command of ours is
        // redirected by itself: what a trap or a trace of the script's prints before it is not to get into what we say.
        let keeps_builtin = self.script.contains("builtin");
        if keeps_builtin {
            add(KEEP_BUILTIN);
        }
        add(br"\builtin printf '%s\0' ");
        add(if keeps_builtin {
            br#""$__ab_kept""#
        } else {
            br#""$?""#
        });
        add(br#" "${PWD-}""#);
        if self.stages {
            add(br#" "${__ab[@]}""#);
        }
        add(b" . >");
        add(&status);
        add(b"; ");
        if keeps_builtin {
            add(br"\builtin unset -v __ab_kept; ");
        }
        add(&self.variables_restored());
        // Bash prints each by itself. They are for whoever comes after this shell: nobody waits for them, and on a FIFO of
        // their own they wake nobody.
        let exports = quoted(self.exports.as_os_str());
        add(br"\builtin export -p >");
        add(&exports);
        add(br"; \builtin printf '\0' >");
        add(&exports);
        if self.cwd.is_some() || must_be_there {
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
    /// What it calls the directory that it is in.
    pub(super) cwd: Vec<u8>,
    /// The exit status of each stage of the last pipeline, where that was asked for.
    pub(super) stages: Option<Vec<Stage>>,
}

/// Reads a report; `None` while it is not whole.
pub(super) fn read_report(said: &[u8]) -> Option<Report> {
    let mut parts = said.strip_suffix(b"\0.\0")?.split(|byte| *byte == 0);
    let (code, cwd) = (parts.next()?, parts.next()?);
    let status = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<i32>().ok();
    // Where the stages are told the status of the script is, too: what came last before the report was to note them.
    let told: Vec<i32> = parts.map(status).collect::<Option<_>>()?;
    let (code, stages) = match told.split_first() {
        Some((code, stages)) => (*code, Some(stages)),
        None => (status(code)?, None),
    };
    let stages = stages.filter(|stages| stages.len() > 1);
    Some(Report {
        code,
        cwd: cwd.to_vec(),
        stages: stages.map(|codes| codes.iter().map(|code| Stage { code: *code }).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_whole_or_none() {
        for (whole, code, stages) in [
            (&b"3\0/a\nb\0.\0"[..], 3, None),
            (b"0\0/a\nb\x003\x003\0.\0", 3, None),
            (b"0\0/a\nb\x000\x001\x000\0.\0", 0, Some([1, 0])),
        ] {
            let report = read_report(whole).unwrap();
            let stages = stages.map(|codes| codes.map(|code| Stage { code }).to_vec());
            assert_eq!((report.code, report.stages), (code, stages), "{whole:?}");
            assert_eq!(report.cwd, b"/a\nb");
            for end in 0..whole.len() {
                assert_eq!(read_report(&whole[..end]), None, "{end}");
            }
        }
    }
}
