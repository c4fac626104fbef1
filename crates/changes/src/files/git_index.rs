//! The index of a git repository. `git status` rewrites the stat data of an index at any time, so
//! two indexes with equal entries count as equal.

use std::fs::File;
use std::hash::Hasher;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The largest index that is read, in bytes.
const MAX_INDEX_BYTES: u64 = 256 << 20;
/// The number of bytes in an entry before the mode: times, device, inode.
const STAT_BYTES: usize = 24;
/// The number of bytes before the first entry: signature, version, number of entries.
const HEADER_BYTES: usize = 12;
/// The offset of the object name in an entry.
const OBJECT_OFFSET: usize = 40;
/// The offset of the flags in an entry.
const FLAGS_OFFSET: usize = 60;
/// The flag of an entry with two more bytes of flags.
const EXTENDED_FLAG: u16 = 0x4000;

/// The path below the root of the repository's index.
pub(crate) const ROOT_INDEX: &str = ".git/index";
/// The file name of the index's copy from the beginning of a trial, in the change set's directory.
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

/// Returns a digest of an index's entries without their stat data. `None` if the file is not a
/// complete index of a known version.
pub(crate) fn entries_digest(file: OwnedFd) -> Option<u64> {
    let mut bytes = Vec::new();
    File::from(file)
        .take(MAX_INDEX_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    digest(&bytes)
}

fn digest(bytes: &[u8]) -> Option<u64> {
    let number = |offset: usize| -> Option<u32> {
        Some(u32::from_be_bytes(
            bytes.get(offset..offset + 4)?.try_into().ok()?,
        ))
    };
    // Version 4 compresses names. Such an index is rare, and is compared by its bytes.
    if bytes.get(..4)? != b"DIRC" || !matches!(number(4)?, 2 | 3) {
        return None;
    }
    let mut hash = Fnv::default();
    let mut offset = HEADER_BYTES;
    for _ in 0..number(8)? {
        // The digest covers the mode, the object name, the flags and the path, but not user, group
        // and size.
        hash.write(bytes.get(offset + STAT_BYTES..offset + STAT_BYTES + 4)?);
        let flags_offset = offset + FLAGS_OFFSET;
        let flags = u16::from_be_bytes(bytes.get(flags_offset..flags_offset + 2)?.try_into().ok()?);
        hash.write(bytes.get(offset + OBJECT_OFFSET..flags_offset + 2)?);
        let name_offset = flags_offset + if flags & EXTENDED_FLAG == 0 { 2 } else { 4 };
        let length = bytes
            .get(name_offset..)?
            .iter()
            .position(|byte| *byte == 0)?;
        hash.write(bytes.get(flags_offset + 2..name_offset + length)?);
        // Entries are padded with one to eight zeros to a multiple of eight.
        offset += (name_offset + length - offset + 8) & !7;
    }
    Some(hash.finish())
}

/// The hash FNV-1a with 64 bits. Its values are stored on disk, so the algorithm must never change.
/// FNV-1a does not resist attacks.
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
