//! The compared observations: output, ending, files. Numbers and names that vary between runs are
//! replaced on both sides.

use agent_bash_core::{Outcome, ScriptEnding};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

/// The observation of one run of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Observed {
    pub(crate) end: End,
    pub(crate) out: String,
    pub(crate) err: String,
    /// Path, then type, mode and contents.
    pub(crate) files: BTreeMap<String, String>,
}

/// How a script ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    Signaled(i32),
    /// An ending that bash cannot have.
    Other(String),
}

impl Observed {
    pub(crate) fn of_process(status: ExitStatus, out: &[u8], err: &[u8], dir: &Path) -> Self {
        let end = match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, Some(number)) => End::Signaled(number),
            (None, None) => End::Other(status.to_string()),
        };
        Self::new(end, out, err, dir)
    }

    pub(crate) fn of_call(outcome: &Outcome, out: &[u8], err: &[u8], dir: &Path) -> Self {
        let end = match &outcome.ending {
            ScriptEnding::Exited { code } => End::Exited(*code),
            ScriptEnding::Signaled { number, .. } => End::Signaled(*number),
            other => End::Other(format!("{other:?}")),
        };
        Self::new(end, out, err, dir)
    }

    /// `dir` is the script's directory.
    pub(crate) fn new(end: End, out: &[u8], err: &[u8], dir: &Path) -> Self {
        let mut files = BTreeMap::new();
        list(dir, "", &mut files);
        for content in files.values_mut() {
            *content = normalised(content.as_bytes(), dir);
        }
        Self {
            end,
            out: normalised(out, dir),
            err: normalised(err, dir),
            files,
        }
    }
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |text: &str| -> String { format!("{text:?}").chars().take(1500).collect() };
        write!(
            f,
            "{:?} out {} err {} files {}",
            self.end,
            short(&self.out),
            short(&self.err),
            short(&format!("{:?}", self.files))
        )
    }
}

fn list(dir: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().display());
        let meta = fs::symlink_metadata(&path).unwrap();
        let content = if meta.is_dir() {
            list(&path, &format!("{name}/"), files);
            String::new()
        } else if meta.is_symlink() {
            fs::read_link(&path).unwrap().display().to_string()
        } else if meta.is_file() {
            escaped(&fs::read(&path).unwrap())
        } else {
            String::new()
        };
        files.insert(name, format!("{:o} {content}", meta.mode()));
    }
}

/// A readable, lossless form: invalid UTF-8 is escaped.
fn escaped(bytes: &[u8]) -> String {
    bytes
        .utf8_chunks()
        .flat_map(|chunk| {
            let invalid = chunk.invalid().escape_ascii().to_string();
            [chunk.valid().to_owned(), invalid]
        })
        .collect()
}

/// Replaces the directory's name by `DIR`, and the pid of a process reported as killed by `PID`.
fn normalised(bytes: &[u8], dir: &Path) -> String {
    let text = escaped(bytes).replace(&dir.display().to_string(), "DIR");
    let lines = text.split_inclusive('\n').map(without_pid);
    lines.collect()
}

/// `bash: line 1: 1234 Killed …` is how bash reports the end of a child.
fn without_pid(line: &str) -> String {
    let Some((head, rest)) = line.split_once(": line ") else {
        return line.to_owned();
    };
    let Some((number, rest)) = rest.split_once(": ") else {
        return line.to_owned();
    };
    let message = rest
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    if message.len() == rest.len() || !message.starts_with(' ') {
        return line.to_owned();
    }
    format!("{head}: line {number}: PID{message}")
}
