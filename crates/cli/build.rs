//! How the program is linked. Each call starts it twice, as the host and as its supervisor, so what the dynamic loader
//! does before `main` is paid twice (docs/benchmarks.md has the figures).
//!
//! - At a fixed address: a program that may be anywhere has some 26,000 addresses to be filled in at each start, on pages
//!   that are then its own. Heap, stack and libraries are at random addresses all the same.
//! - With the unwinder of libgcc inside, where there is its static library: one shared library less to load.
//!
//! For glibc on Linux; elsewhere the linker's own way stays.

use std::path::PathBuf;
use std::process::Command;

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what to do by its environment"
)]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let (system, libc) = (
        variable("CARGO_CFG_TARGET_OS"),
        variable("CARGO_CFG_TARGET_ENV"),
    );
    let is_static = variable("CARGO_CFG_TARGET_FEATURE")
        .split(',')
        .any(|feature| feature == "crt-static");
    if (system.as_str(), libc.as_str()) != ("linux", "gnu") || is_static {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // Of another system, our compiler knows nothing.
    if variable("HOST") == variable("TARGET")
        && let Some(library) = found_by_compiler("libgcc_eh.a")
        && let Some(directory) = library.parent()
    {
        println!("cargo::rustc-link-search=native={}", directory.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        // For the test of it.
        println!("cargo::rustc-env=AGENT_BASH_UNWINDER=inside");
    }
}

/// The path of a library that comes with the compiler; it answers with the bare name where there is none.
fn found_by_compiler(library: &str) -> Option<PathBuf> {
    let linker = Some(variable("RUSTC_LINKER")).filter(|linker| !linker.is_empty());
    #[expect(clippy::disallowed_methods, reason = "this is no part of the product")]
    let output = Command::new(linker.as_deref().unwrap_or("cc"))
        .arg(format!("-print-file-name={library}"))
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then_some(path)
}
