//! `cargo xtask dist`: builds the installable packages, with their sizes and digests. The static
//! program is in a tarball with its manual and completions, in a wheel, and in packages for npm.
//!
//! Hatchling builds the wheel and `wheel` sets its tags, both from `PyPI`. The program needs no C
//! library, so the wheel fits every Linux of its processor.

use super::packages::{link_packages, node_packages, venv};
use crate::cargo_command::check;
use crate::{Tree, layers, say, static_build};
use anyhow::{Context, Result, bail, ensure};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use xshell::cmd;

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The processor of the program, as Rust and wheels name it, and as Node does.
const PROCESSOR: [&str; 2] = if cfg!(target_arch = "aarch64") {
    ["aarch64", "arm64"]
} else {
    ["x86_64", "x64"]
};

/// Maximum size of a package.
pub(super) const MAX_PACKAGE_BYTES: u64 = 8 << 20;

/// The packages that build the wheel.
const BUILDERS: &[&str] = &[
    "build==1.6.1", "hatchling==1.33.0", "wheel==0.48.0", "zopfli==0.4.3",
];

/// The script that compresses a wheel by 4 % more, in half a minute.
const RECOMPRESS: &str = "xtask/src/clients/recompress.py";

/// `cargo xtask dist [--program FILE]`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    match arguments {
        [] => {
            let program = static_build::build(tree, "dist")?;
            pack(tree, &program, Some(MAX_PACKAGE_BYTES)).map(drop)
        }
        [option, program] if option == "--program" => {
            pack(tree, Path::new(program), None).map(drop)
        }
        _ => {
            bail!("usage: cargo xtask dist [--program FILE]; FILE is packed instead of a new build")
        }
    }
}

/// The results of [`pack`].
pub(super) struct PackedFiles {
    pub(super) wheel: PathBuf,
    /// The package for npm, and the package with the program.
    pub(super) npm: [PathBuf; 2],
}

/// Packs `program` in every way, into `target/dist`.
pub(super) fn pack(tree: &Tree, program: &Path, max_bytes: Option<u64>) -> Result<PackedFiles> {
    let target = layers::target_directory(tree)?;
    let out = target.join("dist");
    tree.shell.remove_path(&out)?;
    tree.shell.create_dir(&out)?;
    let tarball = tarball(tree, program, &out)?;
    let wheel = wheel(tree, program, &target, &out)?;
    if max_bytes.is_some() {
        let (python, script) = (
            venv(&target, "wheel", BUILDERS)?,
            tree.root.join(RECOMPRESS),
        );
        check(&cmd!(tree.shell, "{python} {script} {wheel}").quiet())?;
    }
    let npm = npm(tree, program, &target, &out)?;
    for path in [&tarball, &wheel].into_iter().chain(&npm) {
        let length = std::fs::metadata(path)?.len();
        let digest = cmd!(tree.shell, "sha256sum {path}").quiet().read()?;
        let digest = digest.split(' ').next().unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        say(&format!(
            "{:>6.2} MiB  {digest}  {name}",
            length as f64 / f64::from(1 << 20)
        ));
        ensure!(
            max_bytes.is_none_or(|max_bytes| length <= max_bytes),
            "{name} is longer than a package may be: {length} bytes of {MAX_PACKAGE_BYTES}"
        );
    }
    Ok(PackedFiles { wheel, npm })
}

/// A directory with the program, its manual and its completions, as a tarball.
fn tarball(tree: &Tree, program: &Path, out: &Path) -> Result<PathBuf> {
    let shell = &tree.shell;
    let name = format!("agent-bash-{VERSION}-{}-linux", PROCESSOR[0]);
    let directory = out.join(&name);
    copy_program(program, &directory.join("bin/agent-bash"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        shell.copy_file(tree.root.join(file), &directory)?;
    }
    let pages = directory.join("share/man/man1");
    shell.create_dir(&pages)?;
    check(&cmd!(shell, "{program} man --out {pages}").quiet())?;
    for (kind, path) in [
        ("bash", "share/bash-completion/completions/agent-bash"),
        ("zsh", "share/zsh/site-functions/_agent-bash"),
        ("fish", "share/fish/vendor_completions.d/agent-bash.fish"),
    ] {
        let text = cmd!(shell, "{program} completions {kind}").quiet().read()?;
        shell.write_file(directory.join(path), text + "\n")?;
    }
    let file = out.join(format!("{name}.tar.xz"));
    check(&cmd!(shell, "tar --create --xz --owner=0 --group=0 --sort=name --file {file} --directory {out} {name}").quiet())?;
    Ok(file)
}

/// The wheel: the sources in Python, and the program among its scripts.
fn wheel(tree: &Tree, program: &Path, target: &Path, out: &Path) -> Result<PathBuf> {
    let shell = &tree.shell;
    let python = venv(target, "wheel", BUILDERS)?;
    let sources = tree.root.join("clients/python");
    copy_program(program, &sources.join("program/agent-bash"))?;
    let built = cmd!(
        shell,
        "{python} -m build --quiet --wheel --no-isolation --outdir {out} {sources}"
    );
    let built = check(&built.quiet().ignore_stdout());
    shell.remove_path(sources.join("program"))?;
    built?;
    let plain = out.join(format!("agent_bash-{VERSION}-py3-none-any.whl"));
    // No C library is needed, neither glibc nor musl.
    let platforms = format!("manylinux_2_17_{0}.musllinux_1_1_{0}", PROCESSOR[0]);
    let tags = cmd!(
        shell,
        "{python} -m wheel tags --remove --platform-tag {platforms} {plain}"
    );
    let name = tags.quiet().read()?;
    Ok(out.join(name.trim()))
}

/// Packs the package for npm, and the package with the program, which is an optional dependency of
/// the first package.
fn npm(tree: &Tree, program: &Path, target: &Path, out: &Path) -> Result<[PathBuf; 2]> {
    let shell = &tree.shell;
    let sources = tree.root.join("clients/typescript");
    link_packages(tree, &node_packages(target)?)?;
    shell.remove_path(sources.join("dist"))?;
    {
        let _in_sources = shell.push_dir(&sources);
        check(&cmd!(shell, "node_modules/.bin/tsc --project tsconfig.json").quiet())?;
    }
    let platform = format!("linux-{}", PROCESSOR[1]);
    let carrier = out.join(&platform);
    copy_program(program, &carrier.join("bin/agent-bash"))?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        shell.copy_file(tree.root.join(file), &carrier)?;
    }
    let manifest = serde_json::json!({
        "name": format!("@agent-bash/{platform}"),
        "version": VERSION,
        "description": format!("The program of the package agent-bash, for {platform}"),
        "license": "(MIT OR Apache-2.0)",
        "os": ["linux"],
        "cpu": [PROCESSOR[1]],
        "preferUnplugged": true,
    });
    shell.write_file(
        carrier.join("package.json"),
        serde_json::to_string_pretty(&manifest)?,
    )?;
    let pack = |directory: &Path| -> Result<PathBuf> {
        let packed = cmd!(
            shell,
            "npm pack --silent --pack-destination {out} {directory}"
        );
        let name = packed.quiet().read()?;
        let file = out.join(name.lines().last().unwrap_or_default());
        // npm compresses 2 % worse.
        let script =
            "gunzip -c \"$1\" > \"$1.tar\" && gzip -9nc \"$1.tar\" > \"$1\" && rm \"$1.tar\"";
        check(&cmd!(shell, "sh -c {script} sh {file}").quiet())?;
        Ok(file)
    };
    Ok([pack(&sources)?, pack(&carrier)?])
}

/// Copies a program, and makes the copy executable for all users.
fn copy_program(program: &Path, to: &Path) -> Result<()> {
    if let Some(directory) = to.parent() {
        std::fs::create_dir_all(directory)?;
    }
    std::fs::copy(program, to).with_context(|| format!("copying {}", program.display()))?;
    Ok(std::fs::set_permissions(
        to,
        std::fs::Permissions::from_mode(0o755),
    )?)
}
