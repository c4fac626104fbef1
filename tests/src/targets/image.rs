//! Directories that become container images.

use crate::product;
use crate::world::World;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// The names by which busybox is called in the image.
const BUSYBOX_NAMES: [&str; 17] = [
    "sh", "cat", "chmod", "echo", "head", "id", "ls", "mkdir", "mv", "ps", "rm", "seq",
    "sha256sum", "sleep", "true", "uname", "wc",
];

/// Fills the directory of an image: bash, busybox, and the shell that the bootstrap script needs.
pub(super) fn with_bash_only(world: &World, root: &Path) -> Result<()> {
    for name in ["bin", "etc", "root", "tmp"] {
        fs::create_dir_all(root.join(name))?;
    }
    let copy = |from: &Path| -> Result<()> {
        let to = root.join(from.strip_prefix("/")?);
        fs::create_dir_all(to.parent().context("a file is in a directory")?)?;
        fs::copy(from, to).with_context(|| from.display().to_string())?;
        Ok(())
    };
    copy(Path::new("/bin/bash"))?;
    copy(Path::new("/bin/busybox"))?;
    // The libraries of bash, and of the program unless it is linked statically.
    for program in [
        "/bin/bash".into(),
        product::agent_bash()?.display().to_string(),
    ] {
        let mut ldd = world.command("ldd");
        ldd.arg(program);
        for word in product::run(ldd, None)?.stdout.split_whitespace() {
            if word.starts_with('/') {
                copy(Path::new(word))?;
            }
        }
    }
    for name in BUSYBOX_NAMES {
        std::os::unix::fs::symlink("busybox", root.join("bin").join(name))?;
    }
    Ok(fs::write(
        root.join("etc/passwd"),
        "root:x:0:0:root:/root:/bin/sh\n",
    )?)
}

/// Packs the directory as a tar file.
pub(super) fn pack(world: &World, root: &Path, tar: &Path) -> Result<()> {
    let mut pack = world.command("tar");
    pack.arg("-C").arg(root).arg("-cf").arg(tar).arg(".");
    let packed = product::run(pack, None)?;
    ensure!(packed.code == 0, "tar: {packed:?}");
    Ok(())
}
