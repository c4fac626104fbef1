//! Podman with all its files in one directory, without networks and limits, and its container.

use super::{TargetSettings, image};
use crate::product::{self, CommandResult};
use crate::world::World;
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PROGRAM: &str = "/usr/bin/podman";

/// The runtime that starts containers: the only one that podman allows to run without cgroups.
const RUNTIME: &str = "/usr/bin/crun";

/// The only image.
const IMAGE: &str = "agent-bash-test";

/// A container with bash and busybox. Dropping the value removes the container.
#[derive(Debug)]
pub struct Podman {
    world: World,
    directory: PathBuf,
    /// Podman's run directory: its path may have at most 50 characters.
    running: TempDir,
    /// The id of the container.
    pub id: String,
}

/// Returns why the engine cannot run; `None` if it can.
pub fn cannot_run() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("the tests run podman as root");
    }
    if [PROGRAM, RUNTIME]
        .iter()
        .any(|path| !Path::new(path).exists())
    {
        return Some("no podman; install the packages podman and crun");
    }
    None
}

impl Podman {
    /// Starts the container.
    ///
    /// # Errors
    /// The container cannot be started.
    pub fn start() -> Result<Self> {
        let world = World::new()?;
        let directory = world.home().join("podman");
        let root = directory.join("image");
        fs::create_dir_all(&root)?;
        image::with_bash_only(&world, &root)?;
        let tar = directory.join("image.tar");
        image::pack(&world, &root, &tar)?;
        let mut podman = Self {
            world,
            directory,
            running: tempfile::Builder::new()
                .prefix("podman-")
                .tempdir_in("/run")?,
            id: String::new(),
        };
        podman.must(&["import", &tar.display().to_string(), IMAGE])?;
        podman.id = podman.must(&[
            "run", "--detach", "--cgroups=disabled", "--network=none",
            // Podman's default limits exceed those that a container may set.
            "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", IMAGE, "sleep", "1000000",
        ])?;
        Ok(podman)
    }

    /// Returns podman's path and options. The runtime must see one version of cgroups, so it gets
    /// the newer one on a machine with both.
    fn words(&self) -> Vec<String> {
        let mount_script =
            "umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec \"$@\"";
        let mut words: Vec<String> = [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c", mount_script, "sh", PROGRAM,
            "--runtime", RUNTIME, "--storage-driver=vfs", "--cgroup-manager=cgroupfs",
            "--events-backend=none",
        ]
        .map(str::to_owned)
        .into();
        let running = self.running.path();
        for (option, path) in [
            ("--root", self.directory.join("data")),
            ("--runroot", running.join("run")),
            ("--tmpdir", running.join("tmp")),
        ] {
            words.push(option.to_owned());
            words.push(path.display().to_string());
        }
        words
    }

    /// Runs podman with these arguments.
    ///
    /// # Errors
    /// Podman cannot be started.
    pub fn podman(&self, words: &[&str]) -> Result<CommandResult> {
        product::run(self.command(words), None)
    }

    /// Returns the command of [`Self::podman`].
    pub fn command(&self, words: &[&str]) -> std::process::Command {
        let all = self.words();
        let mut command = self.world.command(&all[0]);
        command.args(&all[1..]).args(words);
        command
    }

    fn must(&self, words: &[&str]) -> Result<String> {
        let ran = self.podman(words)?;
        ensure!(ran.code == 0, "podman {words:?}: {ran:?}");
        Ok(ran.stdout.trim().to_owned())
    }

    /// Runs a command in the container without the product. Returns its output.
    ///
    /// # Errors
    /// The command fails.
    pub fn run(&self, words: &[&str]) -> Result<String> {
        let all = [&["exec", &self.id], words].concat();
        self.must(&all)
    }

    /// Makes the container the target [`super::NAME`] of a world.
    ///
    /// # Errors
    /// The world cannot be written.
    pub fn add_target(&self, world: &World) -> Result<()> {
        let words: Vec<String> = self
            .words()
            .iter()
            .map(|word| format!("'{word}'"))
            .collect();
        world.script("podman", &format!("exec {} \"$@\"\n", words.join(" ")))?;
        TargetSettings {
            transport: "podman",
            to: &self.id,
            ..TargetSettings::default()
        }
        .write(world)
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = self.podman(&["rm", "--force", "--time=0", &self.id]);
    }
}
