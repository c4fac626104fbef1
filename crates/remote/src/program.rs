//! The program that is uploaded: its architecture, its hash, and if it is linked statically.

use agent_bash_core::hex;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// This program, as a local file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    hash: String,
    length: u64,
    machine: String,
    is_static: bool,
}

/// The reason why a file is not a usable program.
#[derive(Debug, thiserror::Error)]
#[error("the program to upload, {}: {reason}", path.display())]
pub struct ProgramError {
    /// The file.
    pub path: PathBuf,
    /// Why the program is not usable.
    pub reason: String,
}

impl Program {
    /// Reads the file completely to compute its hash. Blocks meanwhile.
    ///
    /// # Errors
    /// The file cannot be read, or is no program for Linux.
    pub fn read(path: &Path) -> Result<Self, ProgramError> {
        let failed = |reason: String| ProgramError {
            path: path.to_owned(),
            reason,
        };
        let mut file = File::open(path).map_err(|error| failed(error.to_string()))?;
        let mut read = || -> io::Result<Option<Self>> {
            let Some((machine, is_static)) = read_header(&mut file)? else {
                return Ok(None);
            };
            file.seek(SeekFrom::Start(0))?;
            let mut digest = Sha256::new();
            let mut length = 0;
            let mut piece = vec![0; 256 * 1024];
            loop {
                let read = file.read(&mut piece)?;
                if read == 0 {
                    break;
                }
                digest.update(&piece[..read]);
                length += read as u64;
            }
            Ok(Some(Self {
                path: path.to_owned(),
                hash: hex(&digest.finalize()),
                length,
                machine: machine.to_owned(),
                is_static,
            }))
        };
        match read() {
            Ok(Some(program)) => Ok(program),
            Ok(None) => Err(failed("not a 64-bit program for Linux".to_owned())),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Returns the program's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file's SHA-256, in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the program's length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the architecture of the program, as `uname -m` prints it.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// True if the program is static: it needs only the kernel of a machine.
    pub fn is_static(&self) -> bool {
        self.is_static
    }

    /// Replaces the hash by a wrong one, which a remote host must detect.
    #[doc(hidden)]
    #[must_use]
    pub fn with_hash(mut self, hash: &str) -> Self {
        hash.clone_into(&mut self.hash);
        self
    }
}

/// The header of a 64-bit ELF file (elf(5)): its size, and the offsets of `e_machine`, `e_phoff`,
/// `e_phentsize` and `e_phnum`.
const ELF_HEADER_BYTES: usize = 64;
const MACHINE_OFFSET: usize = 18;
const TABLE_OFFSET: usize = 32;
const ENTRY_SIZE_OFFSET: usize = 54;
const ENTRY_COUNT_OFFSET: usize = 56;
/// The values of `e_machine`, and the names that `uname -m` prints.
const ELF_MACHINES: [(u16, &str); 5] = [
    (0x3e, "x86_64"),
    (0xb7, "aarch64"),
    (0xf3, "riscv64"),
    (0x15, "ppc64le"),
    (0x16, "s390x"),
];
/// The type of the program header that names a loader.
const PT_INTERP: u32 = 3;

/// Returns the architecture, and true if the file names no loader, so that it is static. `None` if
/// the file is not an ELF file of a known architecture.
fn read_header(file: &mut (impl Read + Seek)) -> io::Result<Option<(&'static str, bool)>> {
    let mut header = [0; ELF_HEADER_BYTES];
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    // A 64-bit file with this machine's byte order.
    if !header.starts_with(b"\x7fELF\x02") {
        return Ok(None);
    }
    let two_bytes = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
    let machine = ELF_MACHINES
        .iter()
        .find(|(number, _)| *number == two_bytes(MACHINE_OFFSET));
    let Some((_, machine)) = machine else {
        return Ok(None);
    };
    let mut offset = [0; 8];
    offset.copy_from_slice(&header[TABLE_OFFSET..TABLE_OFFSET + 8]);
    let (size, count) = (
        usize::from(two_bytes(ENTRY_SIZE_OFFSET)),
        usize::from(two_bytes(ENTRY_COUNT_OFFSET)),
    );
    file.seek(SeekFrom::Start(u64::from_ne_bytes(offset)))?;
    let mut entries = vec![0; size * count];
    file.read_exact(&mut entries)?;
    let names_a_loader = entries.chunks(size.max(4)).any(|entry| {
        let kind = entry.first_chunk::<4>();
        kind.is_some_and(|kind| u32::from_ne_bytes(*kind) == PT_INTERP)
    });
    Ok(Some((machine, !names_a_loader)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_has_the_hash_and_machine_of_its_file() {
        let program = Program::read(Path::new("/proc/self/exe")).unwrap();
        assert_eq!(program.machine(), std::env::consts::ARCH);
        assert_eq!(program.hash().len(), 64);
        assert_eq!(
            program.length(),
            std::fs::metadata("/proc/self/exe").unwrap().len()
        );
        assert!(
            !program.is_static(),
            "cargo links tests with the system's libc"
        );
    }

    #[test]
    fn hash_equals_that_of_sha256sum() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        let mut header = vec![0u8; ELF_HEADER_BYTES];
        header[..5].copy_from_slice(b"\x7fELF\x02");
        header[18..20].copy_from_slice(&0x3eu16.to_ne_bytes());
        std::fs::write(&path, &header).unwrap();
        let program = Program::read(&path).unwrap();
        assert!(program.is_static());
        assert_eq!(
            program.hash(),
            "63a0e795182659aff87b2b89bc7bafef98da9858d79d9016609676bfb88dd2cf"
        );
    }

    #[test]
    fn read_refuses_a_file_that_is_no_program() {
        for text in ["", "#!/bin/sh\n", "\u{7f}ELF"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("script");
            std::fs::write(&path, text).unwrap();
            assert!(Program::read(&path).is_err(), "{text:?}");
        }
        assert!(Program::read(Path::new("/nonexistent")).is_err());
    }
}
