//! Packages that tests install from registries, once below `target/`.

use crate::product::CommandResult;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the directory for packages below `target`, which is the caller's `CARGO_TARGET_TMPDIR`.
/// The name depends on the packages and versions, so another version gets another directory.
pub fn cached_packages(target: &Path, name: &str, packages: &[&str]) -> PathBuf {
    let packages = packages.join("+").replace(['/', '@', '='], "-");
    target.join(format!("{name}-{packages}"))
}

/// Fills `directory` once. A marker file says that the directory is complete. Without the marker,
/// as after an interrupted run, the directory is filled again.
///
/// # Errors
/// `make` failed.
pub fn made_once(directory: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let marker = directory.join("is-whole");
    if marker.is_file() {
        return Ok(());
    }
    if directory.is_dir() {
        std::fs::remove_dir_all(directory)?;
    }
    std::fs::create_dir_all(directory)?;
    make(directory)?;
    Ok(std::fs::write(marker, "")?)
}

/// Runs an installed tool with the environment of the test program, which may name proxies and
/// package indexes.
///
/// # Errors
/// The tool cannot be started, or fails.
#[expect(
    clippy::disallowed_methods,
    reason = "what tests need is made by the machine's own tools"
)]
pub fn install(program: &str, words: &[&str], directory: &Path) -> Result<()> {
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(directory)
        .stdin(Stdio::null());
    let ran: CommandResult = command
        .output()
        .with_context(|| format!("{program} cannot be started"))?
        .into();
    if ran.code != 0 {
        bail!(
            "`{program} {}` failed: {}",
            words.join(" "),
            ran.stderr.trim()
        );
    }
    Ok(())
}

/// Installs npm packages into `directory`.
///
/// # Errors
/// The packages cannot be installed.
pub fn npm(directory: &Path, options: &[&str], packages: &[&str]) -> Result<()> {
    std::fs::write(
        directory.join("package.json"),
        "{\"private\": true, \"type\": \"module\"}",
    )?;
    let words = [
        "install", "--loglevel=error", "--fetch-retries=1", "--no-audit", "--no-fund",
    ];
    install("npm", &[&words[..], options, packages].concat(), directory)
}

/// Makes `directory` a virtual environment of Python with packages from `PyPI`. The programs of
/// the packages are in `bin`.
///
/// # Errors
/// The packages cannot be installed.
pub fn python(directory: &Path, packages: &[&str]) -> Result<()> {
    install("python3", &["-m", "venv", "."], directory)?;
    let pip = [
        "-m", "pip", "install", "--quiet", "--retries=1", "--disable-pip-version-check",
    ];
    install("bin/python", &[&pip[..], packages].concat(), directory)
}
