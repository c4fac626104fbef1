//! Finds paths in git's index that lead into a repository. Git adds no such path to an index, but
//! writes its file, such as a hook, if the path is there (`git checkout .`).

use agent_bash_os::read_regular;
use std::path::Path;

/// The maximum number of bytes of all indexes that are read after a call.
pub(super) const MAX_INDEX_BYTES: u64 = 64 << 20;

/// The sizes of the object names in an index: those of SHA-1 and of SHA-256.
const OBJECT_NAME_BYTES: [usize; 2] = [20, 32];

/// The size of the header: the signature, the version and the number of entries.
const HEADER_BYTES: usize = 12;

/// The size of the first fields of an entry, which come from `stat`.
const STAT_BYTES: usize = 40;

/// This flag of an entry announces two more bytes of flags.
const EXTENDED_FLAG: u16 = 0x4000;

/// The flags that have the length of an entry's path. If all are set, the path is longer.
const LENGTH_FLAGS: u16 = 0x0FFF;

/// The cost of reading an entry, in bytes of its path, and the maximum cost per byte of an index.
/// Git itself may read each entry twice.
const ENTRY_COST: usize = 64;
const MAX_COST: usize = 4;

/// The name of a repository in its tree. Some file systems do not distinguish cases.
const REPOSITORY_NAME: &[u8] = b".git";

/// True for the names of an index, and of the index that several others share.
pub(super) fn is_index_name(name: &str) -> bool {
    name == "index" || name.starts_with("sharedindex.")
}

/// True if a path of the index leads into a repository. A file that is longer than `remaining`
/// bytes or is not an index counts as well, a missing one does not.
pub(super) fn leads_into_repository(index: &Path, remaining: &mut u64) -> bool {
    read_regular(index, *remaining + 1).is_some_and(|bytes| {
        let Some(rest) = remaining.checked_sub(bytes.len() as u64) else {
            return true;
        };
        *remaining = rest;
        let found = OBJECT_NAME_BYTES.map(|size| Index::leads_into_repository(&bytes, size));
        found.contains(&Some(true)) || found == [None; 2]
    })
}

/// The bytes of an index.
struct Index<'a> {
    bytes: &'a [u8],
    version: usize,
    object_name_bytes: usize,
    /// The cost that is left.
    remaining: usize,
}

impl<'a> Index<'a> {
    /// Returns `None` if the bytes are no index with object names of this size.
    fn leads_into_repository(bytes: &'a [u8], object_name_bytes: usize) -> Option<bool> {
        let version = number(bytes, 4)?;
        if !bytes.starts_with(b"DIRC") || !(2..=4).contains(&version) {
            return None;
        }
        let mut index = Self {
            bytes,
            version,
            object_name_bytes,
            remaining: bytes.len().saturating_mul(MAX_COST),
        };
        let mut found = index.block_leads(HEADER_BYTES, number(bytes, 8)?)?;
        for (at, count) in index.blocks().unwrap_or_default() {
            found |= index.block_leads(at, count)?;
        }
        Some(found)
    }

    /// True if one of `count` entries at this offset leads into a repository.
    fn block_leads(&mut self, mut at: usize, count: usize) -> Option<bool> {
        let mut path: Vec<u8> = Vec::new();
        let mut found = false;
        for _ in 0..count {
            let entry = self.bytes.get(at..)?;
            let flags_at = STAT_BYTES + self.object_name_bytes;
            let flags = u16::from_be_bytes(*entry.get(flags_at..)?.first_chunk()?);
            let path_at = flags_at + if flags & EXTENDED_FLAG == 0 { 2 } else { 4 };
            let rest = entry.get(path_at..)?;
            // The number of bytes that the path has in common with the one before, and the size of
            // the entry.
            let (common, entry_bytes) = if self.version == 4 {
                let (removed, digits) = variable_number(rest)?;
                let end = rest.get(digits..)?;
                let end = &end[..end.iter().position(|byte| *byte == 0)?];
                path.truncate(path.len().saturating_sub(removed));
                let common = path.len();
                path.extend(end);
                (common, path_at + digits + end.len() + 1)
            } else {
                let length = match flags & LENGTH_FLAGS {
                    LENGTH_FLAGS => rest.iter().position(|byte| *byte == 0)?,
                    length => usize::from(length),
                };
                path.clear();
                path.extend(rest.get(..length)?);
                (0, (path_at + length + 8) & !7)
            };
            at += entry_bytes;
            // Names that end in the common bytes were compared before.
            let start = common.saturating_sub(REPOSITORY_NAME.len() + 1);
            let is_within_name = start > 0 && path[start - 1] != b'/';
            let names = path[start..].split(|byte| matches!(byte, b'/' | 0));
            let mut names = names.skip(usize::from(is_within_name));
            found |= names.any(|name| name.eq_ignore_ascii_case(REPOSITORY_NAME));
            let cost = path.len() - start + ENTRY_COST;
            self.remaining = self.remaining.checked_sub(cost)?;
        }
        Some(found)
    }

    /// Returns the offsets and sizes of the blocks in which git reads a large index on several
    /// processors. The extension `IEOT` lists the blocks, and `EOIE` at the end has the offset of
    /// the extensions.
    fn blocks(&self) -> Option<Vec<(usize, usize)>> {
        let end = self.bytes.len().checked_sub(self.object_name_bytes)?;
        let last = end.checked_sub(12 + self.object_name_bytes)?;
        let is_extension =
            |at: usize, name: &[u8]| self.bytes.get(at..)?.starts_with(name).then_some(());
        is_extension(last, b"EOIE")?;
        let mut at = number(self.bytes, last + 8)?;
        while is_extension(at, b"IEOT").is_none() {
            at = at
                .checked_add(8)?
                .checked_add(number(self.bytes, at + 4)?)?;
        }
        // The fields are the signature, the size, the version, and two numbers per block.
        let blocks = number(self.bytes, at + 4)?.checked_sub(4)? / 8;
        let block = |index: usize| {
            let at = at + 12 + index * 8;
            Some((number(self.bytes, at)?, number(self.bytes, at + 4)?))
        };
        (0..blocks).map(block).collect()
    }
}

/// Returns the number at this offset.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_be_bytes(*word)).ok()
}

/// Returns the number that the bytes begin with, in git's format of variable length, and the number
/// of its bytes.
fn variable_number(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (index, byte) in bytes.iter().enumerate() {
        value = value
            .checked_mul(128)?
            .checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some((value, index + 1));
        }
        value = value.checked_add(1)?;
    }
    None
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns an index with these paths.
    pub(in super::super) fn index(version: u32, size: usize, paths: &[&str]) -> Vec<u8> {
        let count = u32::try_from(paths.len()).unwrap();
        let mut bytes = [&b"DIRC"[..], &version.to_be_bytes(), &count.to_be_bytes()].concat();
        let mut previous = "";
        for path in paths {
            let start = bytes.len();
            bytes.resize(start + STAT_BYTES + size, b'/');
            let length = u16::try_from(path.len()).unwrap();
            bytes.extend(length.to_be_bytes());
            if version == 4 {
                let pairs = previous.bytes().zip(path.bytes());
                let equal = pairs.take_while(|(one, other)| one == other).count();
                bytes.push(u8::try_from(previous.len() - equal).unwrap());
                bytes.extend(&path.as_bytes()[equal..]);
                bytes.push(0);
            } else {
                bytes.extend(path.as_bytes());
                let end = start + ((bytes.len() - start + 8) & !7);
                bytes.resize(end, 0);
            }
            previous = path;
        }
        bytes.resize(bytes.len() + size, 0);
        bytes
    }

    fn leads(bytes: &[u8]) -> bool {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        std::fs::write(&path, bytes).unwrap();
        leads_into_repository(&path, &mut MAX_INDEX_BYTES.clone())
    }

    #[test]
    fn paths_in_a_repository_are_found_in_every_version_of_an_index() {
        for version in 2..=4 {
            for size in OBJECT_NAME_BYTES {
                for (paths, is_found) in [
                    (&[][..], false),
                    (&["a", "store.git/HEAD", "store.git/config"], false),
                    (&[".gitattributes", ".gitignore", "src/.github/x"], false),
                    (&[".gi", ".git/hooks/post-checkout", "a"], true),
                    (&["a", "lib/.GIT/config"], true),
                    (&["dir/.gia", "dir/.git/x"], true),
                    (&["dir/x.git/a", "dir/x.git/b", "dir/x.git0"], false),
                    (&["directory/.git", "directory/.git/x"], true),
                ] {
                    let found = leads(&index(version, size, paths));
                    assert_eq!(found, is_found, "{version} {size} {paths:?}");
                }
            }
        }
    }

    #[test]
    fn index_that_is_longer_than_the_remaining_bytes_is_not_read() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let bytes = index(2, 20, &["a"]);
        std::fs::write(&path, &bytes).unwrap();
        let mut remaining = bytes.len() as u64 + 1;
        let leads = [(); 2].map(|()| leads_into_repository(&path, &mut remaining));
        assert_eq!((leads, remaining), ([false, true], 1));
    }

    #[test]
    fn long_paths_and_invalid_indexes_are_read_to_their_end() {
        let long = "d/".repeat(0x900);
        let mut bytes = index(2, 20, &[&*long, "a/.git/x"]);
        bytes[HEADER_BYTES + STAT_BYTES + 20..][..2].copy_from_slice(&LENGTH_FLAGS.to_be_bytes());
        assert!(leads(&bytes));
        let valid = index(2, 20, &["a", "b"]);
        assert!(!leads(&valid));
        assert!(leads(&valid[..100]) && leads(b"") && leads(&index(5, 20, &["a"])));
    }

    /// Git reads the blocks and not the entries in front of them.
    #[test]
    fn paths_of_blocks_are_found() {
        for (version, at, is_found) in [(2, 12_u32, false), (4, 12, false), (4, 77, true)] {
            // The second entry is `b.git/x`, as the end `.git/x` of the path after `b`.
            let mut bytes = index(version, 20, &["b", "b.git/x"]);
            bytes.truncate(bytes.len() - 20);
            let extensions = u32::try_from(bytes.len()).unwrap();
            bytes.extend(b"IEOT");
            for number in [12, 1, at, 1] {
                bytes.extend(number.to_be_bytes());
            }
            bytes.extend(b"EOIE");
            bytes.extend(24_u32.to_be_bytes());
            bytes.extend(extensions.to_be_bytes());
            bytes.extend([0; 40]);
            assert_eq!(leads(&bytes), is_found, "{version} {at}");
        }
    }
}
