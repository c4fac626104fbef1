//! Linker settings of the program. Each call starts it twice, as host and as supervisor, so the
//! work before `main` is paid for twice (figures in docs/benchmarks.md).
//!
//! - Not position independent: a PIE has some 26,000 relocations to apply at each start, which also
//!   turns the pages they are on into private ones. Heap and stack are still randomised.
//! - Statically linked, if glibc's static libraries exist: there are no libraries to load and no
//!   symbols to look up. The program uses nothing of glibc that a static program would load later
//!   (users, host names, locales).
//! - Otherwise with libgcc's unwinder linked statically, if that library exists: one shared library
//!   less to load.
//!
//! On Linux with glibc only; elsewhere the linker's defaults stay.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

#[expect(
    clippy::disallowed_methods,
    reason = "cargo passes the parameters of a build script in its environment"
)]
fn env_variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let (system, libc) = (
        env_variable("CARGO_CFG_TARGET_OS"),
        env_variable("CARGO_CFG_TARGET_ENV"),
    );
    let is_static = env_variable("CARGO_CFG_TARGET_FEATURE")
        .split(',')
        .any(|feature| feature == "crt-static");
    if (system.as_str(), libc.as_str()) != ("linux", "gnu") || is_static {
        return Ok(());
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // When cross compiling, this machine's compiler does not know the target's libraries.
    if env_variable("HOST") != env_variable("TARGET") {
        return Ok(());
    }
    let libraries: Option<Vec<PathBuf>> = LIBRARIES
        .map(|name| library_path(&format!("lib{name}.a")))
        .into_iter()
        .collect();
    if let Some(libraries) = libraries {
        link_statically(&libraries)?;
        // Tests read this to check how the program was linked.
        println!("cargo::rustc-env=AGENT_BASH_LIBRARIES=inside");
    } else if let Some(unwinder) = library_path("libgcc_eh.a")
        && let Some(directory) = unwinder.parent()
    {
        println!("cargo::rustc-link-search=native={}", directory.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        println!("cargo::rustc-env=AGENT_BASH_UNWINDER=inside");
    }
    Ok(())
}

/// The libraries that Rust's standard library links, and the parts of `gcc_s`.
const LIBRARIES: [&str; 8] = ["c", "m", "util", "rt", "pthread", "dl", "gcc_eh", "gcc"];

/// Links these libraries statically. Rust requests shared libraries by name (`-Bdynamic -lc`); the
/// linker finds the linker scripts written here first.
fn link_statically(libraries: &[PathBuf]) -> io::Result<()> {
    let out = PathBuf::from(env_variable("OUT_DIR"));
    // The libraries depend on each other.
    let all: Vec<String> = libraries
        .iter()
        .map(|library| format!("\"{}\"", library.display()))
        .collect();
    let group = format!("GROUP ( {} )\n", all.join(" "));
    for name in LIBRARIES.iter().chain(&["gcc_s"]) {
        fs::write(out.join(format!("lib{name}.a")), &group)?;
    }
    // For the program only: tests keep Rust's defaults.
    println!("cargo::rustc-link-arg-bins=-L{}", out.display());
    println!("cargo::rustc-link-arg-bins=-static");
    Ok(())
}

/// Returns the path of a library that comes with the compiler; `None` if the compiler prints only
/// the bare name.
fn library_path(library: &str) -> Option<PathBuf> {
    let linker = Some(env_variable("RUSTC_LINKER")).filter(|linker| !linker.is_empty());
    #[expect(
        clippy::disallowed_methods,
        reason = "a build script is not part of the product"
    )]
    let output = Command::new(linker.as_deref().unwrap_or("cc"))
        .arg(format!("-print-file-name={library}"))
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then_some(path)
}
