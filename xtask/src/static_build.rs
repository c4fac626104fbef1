//! `cargo xtask static`: builds the program without any shared library, for machines and containers
//! that have none.
//!
//! The build has its own directory below `target`, so that it neither invalidates nor waits for
//! other builds.

use crate::cargo_command::cargo;
use crate::{Tree, no_arguments, say};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The target of the build: the system's own, as the musl target is not installed everywhere.
const TARGET: &str = if cfg!(target_arch = "aarch64") {
    "aarch64-unknown-linux-gnu"
} else {
    "x86_64-unknown-linux-gnu"
};

/// Links statically, without the relocations of a position-independent program (crates/cli/build.rs
/// says why).
const FLAGS: &str = "-C target-feature=+crt-static -C relocation-model=static";

/// `cargo xtask static`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    no_arguments(arguments)?;
    let program = build(tree, "release")?;
    let size = std::fs::metadata(&program)?.len();
    say(&format!(
        "{} ({:.1} MB)",
        program.display(),
        size as f64 / 1_000_000.0
    ));
    Ok(())
}

/// Builds the program with a profile and strips it; returns its path. The build information names
/// the commit.
pub(crate) fn build(tree: &Tree, profile: &str) -> Result<PathBuf> {
    let shell = &tree.shell;
    let directory = tree.root.join("target/static");
    let commit = cmd!(shell, "git describe --always --dirty").quiet().read();
    let commit = commit.unwrap_or_else(|_| "unknown".to_owned());
    let directory = directory.to_string_lossy();
    let mut words = vec!["build", "--locked", "--package", "agent-bash-cli"];
    words.extend([
        "--profile", profile, "--target", TARGET, "--target-dir", &directory,
    ]);
    cargo(tree, &words)
        .env("RUSTFLAGS", FLAGS)
        .env("AGENT_BASH_BUILD", commit)
        .run()
        .context("building the program without shared libraries (on Debian, those of glibc are in libc6-dev)")?;
    let program = Path::new(&*directory).join(format!("{TARGET}/{profile}/agent-bash"));
    let bytes = std::fs::read(&program)?;
    ensure!(
        !is_interpreted(&bytes),
        "{} needs a dynamic linker",
        program.display()
    );
    ensure!(
        !has_symbols(&bytes),
        "{} has symbols; its package needs `strip = true` in profile.{profile}.package",
        program.display()
    );
    Ok(program)
}

/// True if a 64-bit ELF file names a dynamic linker (`PT_INTERP`).
fn is_interpreted(elf: &[u8]) -> bool {
    const PT_INTERP: u64 = 3;
    header_types(elf, [0x20, 0x36, 0x38], 0).contains(&PT_INTERP)
}

/// True if a 64-bit ELF file has a table of symbols (`SHT_SYMTAB`).
fn has_symbols(elf: &[u8]) -> bool {
    const SHT_SYMTAB: u64 = 2;
    // The type of a section is the second field of its header.
    header_types(elf, [0x28, 0x3A, 0x3C], 4).contains(&SHT_SYMTAB)
}

/// Returns the types in a table of headers. `table` has the offsets of the table's offset, of the
/// size of a header and of their number; `type_offset` is that of the type in a header.
fn header_types(elf: &[u8], table: [u64; 3], type_offset: u64) -> Vec<u64> {
    let [headers, size, count] = table;
    let (headers, size) = (number(elf, headers, 8), number(elf, size, 2));
    (0..number(elf, count, 2))
        .map(|index| number(elf, headers + index * size + type_offset, 4))
        .collect()
}

/// Returns the little-endian number at an offset; 0 beyond the end.
fn number(elf: &[u8], offset: u64, length: usize) -> u64 {
    let bytes = usize::try_from(offset)
        .ok()
        .and_then(|offset| elf.get(offset..)?.get(..length))
        .unwrap_or_default();
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dynamically_linked_program_is_detected() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(is_interpreted(&own), "tests are linked dynamically");
        assert!(!is_interpreted(b"\x7fELF"));
    }

    #[test]
    fn symbols_of_a_program_are_detected() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(has_symbols(&own), "tests have symbols");
        assert!(!has_symbols(b"\x7fELF"));
    }
}
