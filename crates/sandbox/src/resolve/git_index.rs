//! Finds paths in git's index that lead into a repository or out of the tree. Git adds no such path
//! to an index, so another program has written it.

use super::paths::text;
use agent_bash_os::read_regular;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The maximum number of bytes of all indexes that are read after a call.
pub(super) const MAX_INDEX_BYTES: u64 = 64 << 20;

/// The size of the header: the signature, the version and the number of entries.
const HEADER_BYTES: usize = 12;

/// The size of the first fields of an entry, which come from `stat`.
const STAT_BYTES: usize = 40;

/// The offset of an entry's mode.
const MODE_OFFSET: usize = 24;

/// The bits of a mode that are the type of a file, and the type of a submodule.
const TYPE_BITS: usize = 0o170_000;
const SUBMODULE_TYPE: usize = 0o160_000;

/// The maximum number of submodules in an index, and the maximum length of their paths.
const MAX_SUBMODULES: usize = 1000;
const MAX_PATH_BYTES: usize = 4096;

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

/// True if a path of the index of `git_dir` leads into a repository or out of the tree. A file that
/// is longer than `remaining` bytes or is not an index counts as well, a missing one does not.
pub(super) fn leads_into_repository(index: &Path, git_dir: &Path, remaining: &mut u64) -> bool {
    bytes_of(index, *remaining).is_some_and(|bytes| {
        let index = Index::limited(&bytes, git_dir, remaining);
        index.is_none_or(|index| index.has_unsafe_path)
    })
}

/// Returns the paths of the submodules in an index. `None` for a missing file, one that is longer
/// than `remaining` bytes or is not an index, and for too many submodules.
pub(super) fn submodules(
    index: &Path,
    git_dir: &Path,
    remaining: &mut u64,
) -> Option<Vec<PathBuf>> {
    let bytes = bytes_of(index, *remaining)?;
    let submodules = Index::limited(&bytes, git_dir, remaining)?.submodules;
    (submodules.len() <= MAX_SUBMODULES).then_some(submodules)
}

/// Returns the bytes of an index, or no bytes if it is longer than `max_bytes`: sparse files can
/// have any length. `None` for a missing file.
fn bytes_of(index: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let is_too_long = index.metadata().is_ok_and(|it| it.len() > max_bytes);
    read_regular(index, if is_too_long { 0 } else { max_bytes + 1 })
}

/// Returns the size of the object names of a repository, as its configuration says: that of SHA-1
/// or of SHA-256. An index can be valid with both sizes.
fn object_name_bytes(git_dir: &Path) -> usize {
    let common = text(&git_dir.join("commondir")).unwrap_or_default();
    let config = git_dir.join(common.trim()).join("config");
    let config = text(&config).unwrap_or_default().to_ascii_lowercase();
    let is_sha256 = config.contains("objectformat") && config.contains("sha256");
    if is_sha256 { 32 } else { 20 }
}

/// The bytes of an index.
struct Index<'a> {
    bytes: &'a [u8],
    version: usize,
    object_name_bytes: usize,
    /// The cost that is left.
    remaining: usize,
    /// True if a path leads into a repository or out of the tree.
    has_unsafe_path: bool,
    /// The paths of submodules, at most one more than [`MAX_SUBMODULES`].
    submodules: Vec<PathBuf>,
}

impl<'a> Index<'a> {
    /// Reads the index of `git_dir`, unless it has more than `remaining` bytes.
    fn limited(bytes: &'a [u8], git_dir: &Path, remaining: &mut u64) -> Option<Self> {
        *remaining = remaining.checked_sub(bytes.len() as u64)?;
        Self::read(bytes, object_name_bytes(git_dir))
    }

    /// Returns `None` if the bytes are no index with object names of this size, as git writes it.
    fn read(bytes: &'a [u8], object_name_bytes: usize) -> Option<Self> {
        let version = number(bytes, 4)?;
        if !bytes.starts_with(b"DIRC") || !(2..=4).contains(&version) {
            return None;
        }
        let mut index = Self {
            bytes,
            version,
            object_name_bytes,
            remaining: bytes.len().saturating_mul(MAX_COST),
            has_unsafe_path: false,
            submodules: Vec::new(),
        };
        index.read_block(HEADER_BYTES, number(bytes, 8)?)?;
        for (at, count) in index.blocks().unwrap_or_default() {
            index.read_block(at, count)?;
        }
        Some(index)
    }

    /// Reads `count` entries at this offset.
    fn read_block(&mut self, mut at: usize, count: usize) -> Option<()> {
        let mut path: Vec<u8> = Vec::new();
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
                let length = rest.iter().position(|byte| *byte == 0)?;
                path.clear();
                path.extend(&rest[..length]);
                (0, (path_at + length + 8) & !7)
            };
            // For a wrong length, git would read other paths.
            if usize::from(flags & LENGTH_FLAGS) != path.len().min(LENGTH_FLAGS.into()) {
                return None;
            }
            at += entry_bytes;
            // Names that end in the common bytes were compared before.
            let start = common.saturating_sub(REPOSITORY_NAME.len() + 1);
            let is_within_name = start > 0 && path[start - 1] != b'/';
            let names = path[start..].split(|byte| *byte == b'/');
            let mut names = names.skip(usize::from(is_within_name));
            self.has_unsafe_path |= path.first() == Some(&b'/') || names.any(is_unsafe_name);
            let is_submodule = number(entry, MODE_OFFSET)? & TYPE_BITS == SUBMODULE_TYPE;
            // The kernel opens no longer path.
            if is_submodule
                && path.len() < MAX_PATH_BYTES
                && self.submodules.len() <= MAX_SUBMODULES
            {
                self.submodules.push(OsStr::from_bytes(&path).into());
            }
            let cost = path.len() - start + ENTRY_COST;
            self.remaining = self.remaining.checked_sub(cost)?;
        }
        Some(())
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

/// True for a name that leads into a repository, or that no path of a tree has.
fn is_unsafe_name(name: &[u8]) -> bool {
    matches!(name, b"." | b"..") || name.eq_ignore_ascii_case(REPOSITORY_NAME)
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

    /// Makes the first entry of an index a submodule.
    pub(in super::super) fn with_submodule(mut bytes: Vec<u8>) -> Vec<u8> {
        let mode = 0o160_000_u32.to_be_bytes();
        bytes[HEADER_BYTES + MODE_OFFSET..][..4].copy_from_slice(&mode);
        bytes
    }

    #[test]
    fn submodules_are_found_in_every_version_of_an_index() {
        for version in 2..=4 {
            let submodules = |bytes: &[u8]| Index::read(bytes, 20).map(|index| index.submodules);
            let bytes = index(version, 20, &["lib", "src/a"]);
            assert_eq!(submodules(&bytes), Some(Vec::new()), "{version}");
            let bytes = with_submodule(bytes);
            assert_eq!(submodules(&bytes), Some(vec!["lib".into()]), "{version}");
        }
    }

    /// Writes an index into a repository with object names of this size.
    fn leads(bytes: &[u8], size: usize) -> bool {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        std::fs::write(&path, bytes).unwrap();
        if size == 32 {
            let config = "[extensions]\n\tobjectFormat = sha256\n";
            std::fs::write(temp.path().join("config"), config).unwrap();
        }
        leads_into_repository(&path, temp.path(), &mut MAX_INDEX_BYTES.clone())
    }

    #[test]
    fn unsafe_paths_are_found_in_every_version_of_an_index() {
        for version in 2..=4 {
            for size in [20, 32] {
                for (paths, is_found) in [
                    (&[][..], false),
                    (&["a", "store.git/HEAD", "store.git/config"], false),
                    (&[".gitattributes", ".gitignore", "src/.github/x"], false),
                    (&[".gi", ".git/x", "a"], true),
                    (&["a", "lib/.GIT/config"], true),
                    (&["dir/.gia", "dir/.git/x"], true),
                    (&["dir/x.git/a", "dir/x.git/b", "dir/x.git0"], false),
                    (&["directory/.git", "directory/.git/x"], true),
                    (&["../.bashrc"], true),
                    (&["/home/user/.bashrc", "a"], true),
                    (&["directory/a/..", "directory/a/../../../x"], true),
                    (&["a/./x"], true),
                    (&[".../x", "..a/x", "a../..b", "a./.b", "sparse/"], false),
                ] {
                    let found = leads(&index(version, size, paths), size);
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
        let leads = [(); 2].map(|()| leads_into_repository(&path, temp.path(), &mut remaining));
        assert_eq!((leads, remaining), ([false, true], 1));
        assert_eq!(bytes_of(&path, 1), Some(Vec::new()));
    }

    #[test]
    fn long_paths_and_invalid_indexes_are_read_to_their_end() {
        let long = "d/".repeat(0x900);
        let mut bytes = index(2, 20, &[&*long, "a/.git/x"]);
        bytes[HEADER_BYTES + STAT_BYTES + 20..][..2].copy_from_slice(&LENGTH_FLAGS.to_be_bytes());
        assert!(leads(&bytes, 20));
        let valid = index(2, 20, &["a", "b"]);
        assert!(!leads(&valid, 20));
        for invalid in [&valid[..100], &[], &index(5, 20, &["a"])[..]] {
            assert!(leads(invalid, 20));
        }
    }

    /// Git would read other paths: it looks for the next entry after the length of a path.
    #[test]
    fn index_with_a_wrong_length_or_of_another_repository_is_found() {
        for version in 2..=4 {
            let mut bytes = index(version, 20, &["a", "b"]);
            assert!(!leads(&bytes, 20) && leads(&bytes, 32), "{version}");
            bytes[HEADER_BYTES + STAT_BYTES + 21] = 9;
            assert!(leads(&bytes, 20), "{version}");
        }
    }

    /// Git reads the blocks and not the entries in front of them.
    #[test]
    fn paths_of_blocks_are_found() {
        for (version, is_found) in [(2, false), (2, true), (4, false), (4, true)] {
            let [mut bytes, other] = ["b", ".git/x"].map(|path| index(version, 20, &[path]));
            bytes.truncate(bytes.len() - 20);
            let at = if is_found { bytes.len() } else { HEADER_BYTES };
            bytes.extend(&other[HEADER_BYTES..other.len() - 20]);
            let extensions = bytes.len();
            bytes.extend(b"IEOT");
            for number in [12, 1, at, 1] {
                bytes.extend(u32::try_from(number).unwrap().to_be_bytes());
            }
            bytes.extend(b"EOIE");
            for number in [24, extensions] {
                bytes.extend(u32::try_from(number).unwrap().to_be_bytes());
            }
            bytes.extend([0; 40]);
            let found = Index::read(&bytes, 20).map(|index| index.has_unsafe_path);
            assert_eq!(found, Some(is_found), "{version} {at}");
        }
    }
}
