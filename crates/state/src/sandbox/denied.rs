//! Finds the files that the sandbox denied to a command. Such a file meets three conditions: an
//! error message names the file, the sandbox forbids the access, and the host itself could access
//! the file. The kernel does not report the accesses that it refused, so the result is marked as
//! inferred. If no message names a file, the result has the refused writes of a trace.

use agent_bash_core::sandbox::{
    Access, DenialBasis, DeniedAccess, Network, Plan, RefusedOperations, Tier,
};
use agent_bash_process::{is_automounter, known_link, known_path};
use agent_bash_sink::SinkReport;
use rustix::fs::{Access as Mode, access};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// The texts of the C library and of common runtimes for EACCES, EPERM, EROFS and EBUSY, without
/// the first letter, whose case varies. Replacing a mount point fails with EBUSY. The texts with
/// `writ` are of programs that ask with `access` before they write, the last one is of Java's tools
/// if the other program cannot create its socket.
const DENIAL_PHRASES: [&str; 9] = [
    "ermission denied", "peration not permitted", "ead-only file system", "EACCES",
    "evice or resource busy", "not writable", "not writeable", "not write-able",
    "nable to open socket file",
];

/// The error for a file below a hidden directory, over which an empty directory is mounted. Root
/// gets this error for hidden secrets.
const NOT_FOUND_PHRASE: &str = "o such file or directory";

/// Maximum number of path components that are followed, including the components of symbolic links.
const MAX_PATH_STEPS: usize = 500;

/// Maximum number of reported files.
const MAX_NAMED_FILES: usize = 20;
/// Maximum number of lines between a path and the error below it, as in cargo's chains of causes.
const CAUSE_LINES: usize = 4;
/// Maximum number of examined messages.
const MAX_MESSAGES: usize = 100;

/// An error message in an output that may be about a refused access.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorMessage {
    /// The paths that the message may be about, the most likely first.
    paths: Vec<String>,
    /// True if the message says that the file does not exist.
    is_absent: bool,
    /// The access that was refused.
    error: RefusedAccess,
}

/// The access that an error message reports as refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusedAccess {
    /// A write: the file system is read-only, or the file is a mount.
    Write,
    /// A read or a write (`EACCES`).
    Access,
    /// Any operation, such as a signal, a mount or a change of a file's permissions (`EPERM`).
    Other,
}

impl RefusedAccess {
    /// Returns the access for a text that begins with a denial phrase.
    fn of(text: &str) -> Self {
        let begins = |phrases: &[&str]| phrases.iter().any(|phrase| text.starts_with(phrase));
        if begins(&["ead-only", "evice or", "not writ", "nable to"]) {
            Self::Write
        } else if begins(&["ermission", "EACCES"]) {
            Self::Access
        } else {
            Self::Other
        }
    }
}

/// Returns the error messages in an output. Accesses no files.
pub fn messages(printed: &[SinkReport]) -> Vec<ErrorMessage> {
    let lines: Vec<&str> = printed.iter().flat_map(SinkReport::shown_lines).collect();
    let found = (0..lines.len()).filter_map(|at| message_of(&lines, at));
    found.take(MAX_MESSAGES).collect()
}

/// Returns the error message that the line `at` ends. A refused mount is no refused access to the
/// directory that mount names.
fn message_of(lines: &[&str], at: usize) -> Option<ErrorMessage> {
    let line = Some(lines[at]).filter(|line| !line.starts_with("mount: "))?;
    in_message(line).or_else(|| in_chain(&lines[at.saturating_sub(CAUSE_LINES)..=at]))
}

/// Words for Unix sockets in error messages and stack traces. The last but one is of Chromium.
const UNIX_SOCKET_WORDS: [&str; 7] = [
    "AF_UNIX", "nix socket", "nix domain socket", "nix-domain socket", "unix_listener",
    "process_singleton", ".sock",
];

/// Maximum number of lines between one of [`UNIX_SOCKET_WORDS`] and the error: a stack trace lies
/// in between.
const SOCKET_TRACE_LINES: usize = 8;

/// True if an error message is about a Unix socket: the error's line or the stack trace before that
/// line names a socket.
pub fn names_refused_socket(printed: &[SinkReport], plan: &Plan) -> bool {
    let lines = printed.iter().flat_map(SinkReport::shown_lines);
    is_socket_refused(lines, plan.has_own_network())
}

/// `has_streams` is true for a sandbox whose processes can connect Unix sockets to each other.
fn is_socket_refused<'a>(lines: impl Iterator<Item = &'a str>, has_streams: bool) -> bool {
    const REFUSED_PHRASES: [&str; 2] = ["ermission denied", "EACCES"];
    /// The last words of a program, such as socat, that expects its pair of datagram sockets.
    const MISSING_PAIR_PHRASE: &str = "bit out of range 0 - FD_SETSIZE on fd_set";
    /// The message of gpg if its agent cannot listen.
    const MISSING_AGENT_PHRASE: &str = "failed to start agent";
    let mut lines_left = 0;
    for line in lines {
        if UNIX_SOCKET_WORDS.iter().any(|word| line.contains(word)) {
            lines_left = SOCKET_TRACE_LINES;
        }
        let names_error = || REFUSED_PHRASES.iter().any(|phrase| line.contains(phrase));
        let is_agent = || !has_streams && line.contains(MISSING_AGENT_PHRASE);
        if line.contains(MISSING_PAIR_PHRASE) || is_agent() || (lines_left > 0 && names_error()) {
            return true;
        }
        lines_left = lines_left.saturating_sub(1);
    }
    false
}

/// The texts of the errors of [`RefusedOperations`], without the first letter. The texts of perf,
/// sudo, Chromium, mount, sysctl and curl differ from those of the C library.
const OPERATION_PHRASES: [(&str, RefusedOperations); 16] = [
    ("peration not permitted", RefusedOperations::Privileged),
    ("EPERM", RefusedOperations::Privileged),
    ("o permission", RefusedOperations::Privileged),
    ("no new privileges", RefusedOperations::Privileged),
    ("o usable sandbox", RefusedOperations::Privileged),
    ("failed mount system call", RefusedOperations::Privileged),
    ("permission denied on key", RefusedOperations::Privileged),
    ("peration not supported", RefusedOperations::FileAttributes),
    ("unction not implemented", RefusedOperations::Unchecked),
    ("ENOSYS", RefusedOperations::Unchecked),
    (
        "ddress family not supported",
        RefusedOperations::SocketFamilies,
    ),
    ("EAFNOSUPPORT", RefusedOperations::SocketFamilies),
    ("onnection refused", RefusedOperations::OutsideServers),
    ("ECONNREFUSED", RefusedOperations::OutsideServers),
    ("onnect to server", RefusedOperations::OutsideServers),
    ("ead-only file system", RefusedOperations::Writes),
];

/// The texts of failed look-ups of names, without the first letter.
const LOOKUP_PHRASES: [&str; 6] = [
    "ould not resolve", "ame or service not known", "ame resolution", "ns error", "EAI_AGAIN",
    "ENOTFOUND",
];

/// Returns the operations whose error the output of a failed command names first.
/// [`Tier::Full`] counts attempts to reach other machines, so only those of [`Tier::Base`] are
/// found.
pub fn refused_operations(printed: &[SinkReport], plan: &Plan) -> Option<RefusedOperations> {
    let mut lines = printed.iter().flat_map(SinkReport::shown_lines);
    lines.find_map(|line| refused_operations_in(line, plan))
}

fn refused_operations_in(line: &str, plan: &Plan) -> Option<RefusedOperations> {
    let is_refused = |of: RefusedOperations| match of {
        RefusedOperations::OutsideServers => plan.has_own_network(),
        RefusedOperations::Writes => plan.tier == Tier::Full && in_message(line).is_none(),
        _ => true,
    };
    let mut phrases = OPERATION_PHRASES.iter();
    let found = phrases.find(|(phrase, of)| line.contains(phrase) && is_refused(*of));
    let looks_up = || LOOKUP_PHRASES.iter().any(|phrase| line.contains(phrase));
    let is_socket = || {
        let is_lookup = plan.network == Network::Off && looks_up();
        plan.tier == Tier::Base && (is_lookup || is_denial_without_file(line))
    };
    let found = found.map(|(_, operations)| *operations);
    found.or_else(|| is_socket().then_some(RefusedOperations::Sockets))
}

/// True if the line says that an access was denied, and names no file.
fn is_denial_without_file(line: &str) -> bool {
    const ACCESS_PHRASES: [&str; 2] = ["ermission denied", "EACCES"];
    let names_file = |message: ErrorMessage| {
        let mut paths = message.paths.iter();
        paths.any(|path| !REFUSED_CALLS.contains(&path.as_str()))
    };
    ACCESS_PHRASES.iter().any(|phrase| line.contains(phrase))
        && !in_message(line).is_some_and(names_file)
}

/// Returns the denied files that `messages` name, in the order of the messages, without duplicates.
/// `refused` are the refused writes of a trace, if there is one.
pub fn denied_files(
    plan: &Plan,
    cwd: &Path,
    messages: &[ErrorMessage],
    refused: &[PathBuf],
) -> Vec<DeniedAccess> {
    let mut reported = BTreeSet::new();
    let denied = messages.iter().filter_map(|message| {
        let denied_access = |path: &String| {
            let (path, access) = forbidden(plan, &named_path(cwd, path, refused))?;
            let is_plausible = match access {
                Access::Read => true,
                Access::Write => !message.is_absent && may_be_a_write(message.error, &path),
            };
            (is_plausible && host_could(access, &path)).then_some((path, access))
        };
        let (path, access) = message.paths.iter().find_map(denied_access)?;
        reported.insert(path.clone()).then(|| DeniedAccess {
            path: path.display().to_string(),
            access,
            basis: DenialBasis::Inferred,
        })
    });
    denied.take(MAX_NAMED_FILES).collect()
}

/// Returns the path that a message means by `name`. After a `cd`, a relative name does not start
/// from `cwd`: then it means the last refused write to a file of this name.
fn named_path(cwd: &Path, name: &str, refused: &[PathBuf]) -> PathBuf {
    let path = cwd.join(name);
    let names = Path::new(name).components();
    let names: PathBuf = names
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect();
    let is_clear = name.starts_with('/') || names.as_os_str().is_empty() || refused.contains(&path);
    let mut latest_first = refused.iter().rev().filter(|_| !is_clear);
    let meant = latest_first.find(|refused| refused.ends_with(&names));
    meant.cloned().unwrap_or(path)
}

/// Returns the refused writes of a trace that the host itself could do, the latest first.
pub fn refused_files(refused: Vec<PathBuf>) -> Vec<DeniedAccess> {
    let denied = refused.into_iter().rev();
    let denied = denied.filter(|path| host_could(Access::Write, path));
    let denied = denied.map(|path| DeniedAccess {
        path: path.display().to_string(),
        access: Access::Write,
        basis: DenialBasis::Observed,
    });
    denied.collect()
}

/// Returns the error message of a line.
fn in_message(line: &str) -> Option<ErrorMessage> {
    let range_of = |phrase: &str| Some((line.find(phrase)?, phrase.len()));
    let denied = DENIAL_PHRASES.into_iter().filter_map(range_of).min();
    let (start, length) = denied.or_else(|| range_of(NOT_FOUND_PHRASE))?;
    let end = start + length;
    // A program may quote the message of another program.
    let quoted_message = line[end..].chars().next().and_then(|quote| {
        let is_quote = ['\'', '"'].contains(&quote);
        let (_, inner) = line[..end].rsplit_once(quote).filter(|_| is_quote)?;
        message_at(
            inner,
            start.checked_sub(end - inner.len())?,
            denied.is_none(),
        )
    });
    quoted_message.or_else(|| message_at(line, start, denied.is_none()))
}

/// Returns the error message of a line, whose error begins at `start`. The paths of the message are
/// the words before or after the error, then all absolute paths, beginning with the last: in
/// messages about copies and moves, the last path is the destination. The program's own path at the
/// beginning of the line is left out if other words name a file.
fn message_at(line: &str, start: usize, is_absent: bool) -> Option<ErrorMessage> {
    let error = RefusedAccess::of(&line[start..]);
    let before_phrase = || Some(&line[..start]).filter(|_| error == RefusedAccess::Write);
    let subject = quoted(&line[start..])
        .or_else(|| path_after(&line[start..]))
        .or_else(|| path_before(&line[..start]))
        .or_else(|| path_before_phrase(before_phrase()?));
    let program = line.split_once(": ").filter(|_| subject.is_some());
    let program = program.map(|(program, _)| program);
    let mut paths: Vec<String> = subject.map(str::to_owned).into_iter().collect();
    paths.extend(absolute_paths(line).filter(|path| Some(path.as_str()) != program));
    (!paths.is_empty()).then_some(ErrorMessage {
        paths,
        is_absent,
        error,
    })
}

/// Returns the error message of a line that is the error alone, with the paths of the lines before
/// it, the last line's first.
fn in_chain(lines: &[&str]) -> Option<ErrorMessage> {
    let (last, before) = lines.split_last()?;
    // Without the first letter.
    let error = last.trim_start().get(1..)?;
    let is_denial = DENIAL_PHRASES
        .iter()
        .any(|phrase| error.starts_with(phrase));
    let paths = before.iter().rev().flat_map(|line| absolute_paths(line));
    let paths: Vec<String> = paths.collect();
    (is_denial && !paths.is_empty()).then_some(ErrorMessage {
        paths,
        is_absent: false,
        error: RefusedAccess::of(error),
    })
}

/// Returns the absolute paths in a line, the last one first.
fn absolute_paths(line: &str) -> impl Iterator<Item = String> + use<> {
    let is_edge = |c: char| c.is_whitespace() || "'\"`‘’“”()<>,;=".contains(c);
    let words = line
        .split(is_edge)
        .map(|word| word.trim_end_matches([':', '.']));
    let absolute = words.filter(|word| word.len() > 1 && word.starts_with('/'));
    let absolute: Vec<String> = absolute.map(str::to_owned).collect();
    absolute.into_iter().rev()
}

/// Returns the file after the error, as zsh prints it: `permission denied: a.txt`; or Ruby:
/// `Permission denied @ rb_sysopen - a.txt (Errno::EACCES)`.
fn path_after(text: &str) -> Option<&str> {
    let of_ruby = text
        .split_once(" @ ")
        .and_then(|(_, call)| call.split_once(" - "));
    if let Some((file, _)) = of_ruby.and_then(|(_, file)| file.rsplit_once(" (Errno::")) {
        return Some(file);
    }
    let (_, last) = text.split_once(": ")?;
    Some(last).filter(|last| !last.contains(' '))
}

/// Returns the file before the error: `a.txt` in `cat: a.txt: P`, where `P` begins the error. A
/// word such as `error` is not a file. In a sentence without quotes, the last word is a file if the
/// sentence is about a new file, or the word has a slash.
fn path_before(text: &str) -> Option<&str> {
    let (before, between) = text.rsplit_once(": ")?;
    // Only the error's first letter or, in Python, its number may be between the file and the
    // error. Otherwise another word is the subject, as in `kill: (1) - Operation not permitted`.
    let is_next = between.chars().count() <= 1 || between.starts_with("[Errno ");
    let before = Some(before).filter(|_| is_next)?;
    let (_, last) = before.rsplit_once(": ").unwrap_or(("", before));
    let is_named = before.len() > last.len() && !last.contains(' ');
    let is_kind = ["error", "fatal", "warning"].contains(&last.to_lowercase().as_str());
    let at_the_end = || last.rsplit(' ').next().filter(|word| word.contains('/'));
    quoted(last)
        .or_else(|| Some(last).filter(|_| is_named && !is_kind))
        .or_else(|| created_file(last))
        .or_else(at_the_end)
}

/// Returns the file at the end of a sentence about a new file: `a` in `cannot create a` (dash),
/// `can't create a` (`BusyBox`, the assembler) and `cannot open output file a` (the linker).
fn created_file(sentence: &str) -> Option<&str> {
    /// Without the first letter, whose case varies.
    const PHRASES: [&str; 3] = ["annot create", "an't create", "utput file"];
    /// Words that say what could not be created, in place of a name.
    const NOUNS: [&str; 6] = ["file", "directory", "folder", "socket", "thread", "process"];
    let (before, file) = sentence.rsplit_once(' ')?;
    let is_new = PHRASES.iter().any(|phrase| before.ends_with(phrase));
    (is_new && !NOUNS.contains(&file)).then_some(file)
}

/// Returns the file before a phrase and the error: `a.tar` in `tar: a.tar: Cannot open: R`.
fn path_before_phrase(text: &str) -> Option<&str> {
    let mut parts = text.rsplit(": ");
    let (between, _phrase, path) = (parts.next()?, parts.next()?, parts.next()?);
    // dash prints the number of the line before the phrase.
    let is_number = path.bytes().all(|byte| byte.is_ascii_digit());
    let is_file = between.chars().count() <= 1 && !path.contains(' ') && !is_number;
    (is_file && parts.next().is_some()).then_some(path)
}

/// Returns the last quoted text.
fn quoted(text: &str) -> Option<&str> {
    let (before, _) = text.rsplit_once(['\'', '"', '`', '’', '”'])?;
    let (_, inner) = before.rsplit_once(['\'', '"', '`', '‘', '“'])?;
    Some(inner)
}

/// Returns the path without symbolic links, cut after the first component that does not exist. Uses
/// only paths in the kernel's cache, which the command has just used. An output must not make this
/// process look up other paths: an automounter could access the network, which the call cannot do.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut path = path;
    let directory = loop {
        let parent = path.parent()?;
        match known_path(parent) {
            Ok(directory) => break directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path = parent,
            Err(_) => return None,
        }
    };
    let missing = directory.join(path.file_name()?);
    match known_path(path) {
        Ok(path) => Some(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(missing),
        // Some file systems do not cache names that do not exist.
        Err(_) => (!is_automounter(&directory) && !missing.is_symlink()).then_some(missing),
    }
}

/// Returns the part of this path that the sandbox forbids, and the forbidden access.
fn forbidden(plan: &Plan, path: &Path) -> Option<(PathBuf, Access)> {
    // The result names the hidden directory, because the call must not learn the names of the files
    // in that directory.
    if let Some(entry) = hidden_entry(plan, path) {
        return Some((entry, Access::Read));
    }
    let path = resolved(path)?;
    if let Some(entry) = plan.hidden.hiding(&path) {
        return Some((entry, Access::Read));
    }
    plan.refuses_write(&path).then_some((path, Access::Write))
}

/// Returns the hidden path that this path equals or leads through. Does not access files below a
/// hidden path.
fn hidden_entry(plan: &Plan, path: &Path) -> Option<PathBuf> {
    let names = |path: &Path| -> Vec<OsString> {
        let names = path.components().rev();
        names.map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut followed = PathBuf::new();
    let mut rest = names(path);
    for _ in 0..MAX_PATH_STEPS {
        let name = rest.pop()?;
        if name == ".." {
            followed.pop();
            continue;
        }
        // The first component of an absolute link target is `/`, which replaces the path.
        followed.push(&name);
        if let Some(entry) = plan.hidden.hiding(&followed) {
            return Some(entry);
        }
        if let Ok(target) = known_link(&followed) {
            followed.pop();
            rest.extend(names(&target));
        }
    }
    None
}

/// True if this process has the wanted access, or could create the missing file.
fn host_could(wanted: Access, path: &Path) -> bool {
    let exists = fs::symlink_metadata(path).is_ok();
    match wanted {
        Access::Read => exists && access(path, Mode::READ_OK).is_ok(),
        Access::Write if exists => access(path, Mode::WRITE_OK).is_ok(),
        Access::Write => path
            .parent()
            .is_some_and(|parent| access(parent, Mode::WRITE_OK).is_ok()),
    }
}

/// System calls that the sandbox refuses with `EACCES`. Programs that use `perror` print the name
/// of the call in the place where other programs print a file.
const REFUSED_CALLS: [&str; 5] = ["socket", "socketpair", "bind", "connect", "sendto"];

/// `f_type` of `/proc`, as in linux/magic.h.
const PROC_MAGIC: agent_bash_os::FsType = 0x9FA0;

/// True if the refused access can have been a write to this file. False if it must have been a read
/// or a system call without a file.
fn may_be_a_write(error: RefusedAccess, path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        // The command tried to create the file. The sandbox never refuses this with `EPERM`.
        let is_call = path
            .file_name()
            .is_some_and(|name| REFUSED_CALLS.iter().any(|call| name == *call));
        return error != RefusedAccess::Other && !is_call;
    };
    let is_process = || rustix::fs::statfs(path).is_ok_and(|stats| stats.f_type == PROC_MAGIC);
    // A socket is connected to, not written.
    let is_file = || !metadata.file_type().is_socket() && !is_process();
    error == RefusedAccess::Write || (is_readable(&metadata) && is_file())
}

/// True if the file's permissions let this user read it without capabilities.
fn is_readable(metadata: &Metadata) -> bool {
    let mode = metadata.mode();
    if metadata.is_symlink() || metadata.uid() == rustix::process::geteuid().as_raw() {
        return metadata.is_symlink() || mode & 0o400 != 0;
    }
    let groups = rustix::process::getgroups().unwrap_or_default();
    let effective = [rustix::process::getegid()];
    let is_member = effective
        .iter()
        .chain(&groups)
        .any(|group| group.as_raw() == metadata.gid());
    mode & if is_member { 0o040 } else { 0o004 } != 0
}

#[cfg(test)]
#[path = "denied_tests.rs"]
mod tests;
