//! Records files that processes have open for writing, or mapped: writing to them needs no traced
//! system call.

use super::named_file::NamedFile;
use super::record::{ChangeRecord, IncompleteReason, TraceContext};
use crate::proc_scan;
use agent_bash_changes::Touch;
use agent_bash_os::read_proc;
use rustix::fs::{FileType, OFlags};
use std::fs::{read_dir, read_link};

/// Records the writable files of these processes. Continues after an error, and returns the first
/// one.
pub(super) fn record(
    pids: &[i32],
    context: &mut TraceContext,
    record: &mut dyn ChangeRecord,
) -> Result<(), IncompleteReason> {
    let mut recorded = Ok(());
    for pid in pids {
        for file in writable_files(*pid) {
            let result = context.touches(&file, Touch::Content, *pid, false, record);
            recorded = recorded.and(result);
        }
    }
    recorded
}

/// Returns the writable files of a process that have names.
fn writable_files(pid: i32) -> Vec<NamedFile> {
    let files = open_for_writing(pid).into_iter().chain(mapped(pid));
    let is_file = |file: &NamedFile| file.kind() == Some(FileType::RegularFile);
    files.filter(is_file).collect()
}

fn open_for_writing(pid: i32) -> Vec<NamedFile> {
    // The process may have ended meanwhile.
    let Ok(entries) = read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = names.filter_map(|name| name.parse().ok());
    let written = numbers.filter(|number| is_open_for_writing(pid, *number));
    written
        .filter_map(|number| NamedFile::from_descriptor(pid, number))
        .collect()
}

/// Returns files with shared mappings, which can be written after the descriptor was closed.
fn mapped(pid: i32) -> Vec<NamedFile> {
    let maps = read_proc(format!("/proc/{pid}/maps")).unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    let mut files = Vec::new();
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(range), Some(access)) = (fields.next(), fields.next()) else {
            continue;
        };
        if access.ends_with('s') && line.contains(" /") {
            files.extend(NamedFile::from_mapping(pid, range));
        }
    }
    files
}

fn is_open_for_writing(pid: i32, number: i32) -> bool {
    // Link targets of sockets and pipes do not begin with a slash.
    let name = read_link(format!("/proc/{pid}/fd/{number}"));
    if name.is_ok_and(|name| !name.is_absolute()) {
        return false;
    }
    let flags = proc_scan::flags_of(pid, number).unwrap_or_default();
    let flags = OFlags::from_bits_retain(flags);
    flags.intersects(OFlags::WRONLY | OFlags::RDWR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn writable_files_excludes_files_open_for_reading() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        let (written, read) = (base.join("written"), base.join("read"));
        fs::write(&read, "x").unwrap();
        let _open = (
            fs::File::create(&written).unwrap(),
            fs::File::open(&read).unwrap(),
        );
        let found = writable_files(std::process::id().cast_signed());
        let found: Vec<_> = found.iter().filter_map(|file| file.path().ok()).collect();
        assert!(found.contains(&written) && !found.contains(&read));
    }
}
