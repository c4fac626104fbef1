//! Linker settings of the program. Each call starts it twice, as host and as supervisor, so the work of the dynamic
//! loader before `main` is paid for twice (figures in docs/benchmarks.md).
//!
//! - Not position independent: a PIE has some 26,000 relocations to apply at each start, which also turns the pages
//!   they are on into private ones. Heap, stack and libraries are still randomised.
//! - With libgcc's unwinder linked statically, if the static library exists: one shared library less to load.
//!
//! On Linux with glibc only; elsewhere the linker's defaults stay.

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
    // When cross compiling, our compiler knows nothing of the target's libraries.
    if variable("HOST") == variable("TARGET")
        && let Some(library) = found_by_compiler("libgcc_eh.a")
        && let Some(directory) = library.parent()
    {
        println!("cargo::rustc-link-search=native={}", directory.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        // So that a test can check it.
        println!("cargo::rustc-env=AGENT_BASH_UNWINDER=inside");
    }
}

/// The path of a library that comes with the compiler. The compiler prints the bare name if there is none.
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
