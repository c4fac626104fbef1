//! Files that processes have open to write to: what they write there later is no call that waits.

use super::paths::{ResolvedPath, opened};
use agent_bash_changes::{ChangesError, KeepOutcome};
use rustix::fs::{FileType, OFlags};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Keeps those of these processes, as they may be written to from now on; nothing of what is in one of `apart`. All are tried: the
/// first error.
pub(super) fn keep(
    pids: &[i32],
    apart: &[PathBuf],
    mut keep: impl FnMut(&Path) -> Result<KeepOutcome, ChangesError>,
) -> Result<(), ChangesError> {
    let paths = pids.iter().flat_map(|pid| by(*pid));
    let paths = paths.filter(|path| !apart.iter().any(|own| path.starts_with(own)));
    let mut kept = Ok(());
    for path in paths {
        kept = kept.and(keep(&path).map(drop));
    }
    kept
}

/// Those of a process, as far as they have names.
fn by(pid: i32) -> Vec<PathBuf> {
    // It may have ended meanwhile.
    let Ok(entries) = read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = names.filter_map(|name| name.parse().ok());
    let written = numbers.filter(|number| is_written(pid, *number));
    let files = written.filter_map(|number| opened(pid, number));
    let is_file = |found: &ResolvedPath| found.kind == Some(FileType::RegularFile);
    files.filter(is_file).map(|found| found.path).collect()
}

fn is_written(pid: i32, number: i32) -> bool {
    let said = read_to_string(format!("/proc/{pid}/fdinfo/{number}")).unwrap_or_default();
    let flags = said.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    let flags = OFlags::from_bits_retain(flags.unwrap_or_default());
    flags.intersects(OFlags::WRONLY | OFlags::RDWR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_open_to_be_written_is_found_and_what_is_read_is_not() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        let (written, read) = (base.join("written"), base.join("read"));
        fs::write(&read, "x").unwrap();
        let _kept = (
            fs::File::create(&written).unwrap(),
            fs::File::open(&read).unwrap(),
        );
        let found = by(std::process::id().cast_signed());
        assert!(found.contains(&written) && !found.contains(&read));
    }
}
