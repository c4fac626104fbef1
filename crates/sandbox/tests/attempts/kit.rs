//! The programs of a stage, in one directory that every user can read: the attacker, compiled for
//! the test, the program that starts a sandbox, and this program, as the proxy of a sandbox.

use anyhow::{Context, Result, ensure};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/attempts");

pub(crate) struct Kit {
    directory: TempDir,
    /// The directory of the Rust toolchain.
    pub(crate) rust: Option<String>,
}

impl Kit {
    /// # Errors
    ///
    /// There is no C compiler, so no attempt can be made.
    pub(crate) fn new() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let at = directory.path();
        fs::set_permissions(at, Permissions::from_mode(0o755))?;
        compile(at, "attacker", &["-O1"])?;
        compile(at, "early.so", &["-shared", "-fPIC"])?;
        // Not every machine has a C library for it; the attempts that need it say so.
        let _ = compile(at, "attacker-static", &["-O1", "-static"]);
        fs::copy(env!("CARGO_BIN_EXE_sandboxed"), at.join("sandboxed"))?;
        fs::copy(std::env::current_exe()?, at.join("proxy"))?;
        let rust = Command::new("rustc").args(["--print", "sysroot"]).output();
        let rust = rust.ok().filter(|it| it.status.success());
        let rust = rust.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
        Ok(Self { directory, rust })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// The folder with the sources of `name` has its name, up to the first character that is no letter.
fn compile(at: &Path, name: &str, options: &[&str]) -> Result<()> {
    let folder = name.split(['-', '.']).next().unwrap_or(name);
    let mut sources = Vec::new();
    for entry in fs::read_dir(Path::new(HERE).join(folder))? {
        sources.push(entry?.path());
    }
    sources.retain(|path| path.extension().is_some_and(|end| end == "c"));
    let compiled = Command::new("cc")
        .args(["-w", "-o"])
        .arg(at.join(name))
        .args(options)
        .args(sources)
        .output()
        .context(
            "the attacker is compiled with cc, which this machine lacks: no attempt was made",
        )?;
    let stderr = String::from_utf8_lossy(&compiled.stderr);
    ensure!(compiled.status.success(), "cc: {stderr}");
    Ok(())
}
