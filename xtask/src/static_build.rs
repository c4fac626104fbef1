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

/// The targets of the build, the preferred one first. musl starts a program half a millisecond
/// faster: glibc executes `cpuid` some seventy times, which virtual machines trap.
const TARGETS: [&str; 2] = if cfg!(target_arch = "aarch64") {
    ["aarch64-unknown-linux-musl", "aarch64-unknown-linux-gnu"]
} else {
    ["x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"]
};

/// Links statically, without the relocations of a position-independent program (crates/cli/build.rs
/// says why).
const FLAGS: &str = "-C target-feature=+crt-static -C relocation-model=static";

/// Further flags for musl, whose libraries and linker come with rustc.
const MUSL_FLAGS: &str = "-C link-self-contained=yes -C linker=rust-lld";

/// Flags for C code that is compiled for musl with the headers of glibc: without the functions that
/// only glibc has.
const MUSL_C_FLAGS: &str = "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0";

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
    let target = target(tree);
    let mut words = vec!["build", "--locked", "--package", "agent-bash-cli"];
    words.extend([
        "--profile", profile, "--target", target, "--target-dir", &directory,
    ]);
    let command = cargo(tree, &words).env("AGENT_BASH_BUILD", commit);
    let command = if target == TARGETS[0] {
        let suffix = target.replace('-', "_");
        command
            .env("RUSTFLAGS", format!("{FLAGS} {MUSL_FLAGS}"))
            .env(format!("CC_{suffix}"), "cc")
            .env(format!("CFLAGS_{suffix}"), MUSL_C_FLAGS)
    } else {
        command.env("RUSTFLAGS", FLAGS)
    };
    command
        .run()
        .context("building the program without shared libraries (on Debian, those of glibc are in libc6-dev)")?;
    let program = Path::new(&*directory).join(format!("{target}/{profile}/agent-bash"));
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

/// Returns the target with musl if its standard library is installed, else that of glibc.
fn target(tree: &Tree) -> &'static str {
    let [musl, glibc] = TARGETS;
    let libraries = cmd!(tree.shell, "rustc --print target-libdir --target {musl}");
    let libraries = libraries.quiet().ignore_stderr().read();
    if libraries.is_ok_and(|path| Path::new(&path).is_dir()) {
        return musl;
    }
    say(&format!(
        "with glibc, which starts slower: there is no {musl} (`rustup target add {musl}`)"
    ));
    glibc
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
