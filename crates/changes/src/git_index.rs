//! The index of a git repository. `git status` rewrites its stat data at any time, so two indexes
//! are equal if their entries are.

use std::fs::File;
use std::hash::Hasher;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The largest index that is read, in bytes.
const MAX_INDEX_BYTES: u64 = 256 << 20;
/// Bytes of an entry before its mode: times, device, inode.
const STAT_BYTES: usize = 24;

/// The index of the repository at the root.
pub(crate) const ROOT_INDEX: &str = ".git/index";
/// The copy of the index from the beginning of a trial, in the change set's directory.
pub(crate) const COPY_NAME: &str = "index";

/// True if a path can name an index.
pub(crate) fn is_index(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "index")
        && path
            .as_os_str()
            .as_bytes()
            .windows(4)
            .any(|part| part == b".git")
}

/// Returns a digest of the entries without stat data; `None` for an unknown version.
pub(crate) fn meaning(file: OwnedFd) -> Option<u64> {
    let mut bytes = Vec::new();
    File::from(file)
        .take(MAX_INDEX_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    digest(&bytes)
}

fn digest(bytes: &[u8]) -> Option<u64> {
    let number = |at: usize| -> Option<u32> {
        Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    // Version 4 compresses names. It is rare, and compared by its bytes.
    if bytes.get(..4)? != b"DIRC" || !matches!(number(4)?, 2 | 3) {
        return None;
    }
    let mut hash = Fnv::default();
    let mut at = 12;
    for _ in 0..number(8)? {
        // The digest covers the mode, the object name, the flags and the path, but not user, group
        // and size.
        hash.write(bytes.get(at + STAT_BYTES..at + STAT_BYTES + 4)?);
        let flags_at = at + 60;
        let flags = u16::from_be_bytes(bytes.get(flags_at..flags_at + 2)?.try_into().ok()?);
        hash.write(bytes.get(at + 40..flags_at + 2)?);
        let name_at = flags_at + if flags & 0x4000 == 0 { 2 } else { 4 };
        let length = bytes.get(name_at..)?.iter().position(|byte| *byte == 0)?;
        hash.write(bytes.get(flags_at + 2..name_at + length)?);
        // Entries are padded with one to eight zeros to a multiple of eight.
        at += (name_at + length - at + 8) & !7;
    }
    Some(hash.finish())
}

/// FNV-1a with 64 bits. It is stored on disk, so it must never change. It is not a protection
/// against attacks.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
