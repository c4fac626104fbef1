//! Podman with everything of its in one directory, without networks and limits of its own, and a container of it.

use super::{Written, image};
use crate::product::{self, CommandResult};
use crate::world::World;
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PROGRAM: &str = "/usr/bin/podman";

/// What it starts containers with: the only one that it lets do without cgroups.
const RUNTIME: &str = "/usr/bin/crun";

/// The only image.
const IMAGE: &str = "agent-bash-test";

/// A container with bash and busybox. Dropping it removes it.
#[derive(Debug)]
pub struct Podman {
    world: World,
    directory: PathBuf,
    /// What it keeps of what runs: it takes no longer path than 50 characters.
    running: TempDir,
    /// Its id.
    pub id: String,
}

/// Whether it can run here; otherwise why not.
pub fn cannot_run() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("it is run as root");
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
    /// It cannot be started.
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
            "run",
            "--detach",
            "--cgroups=disabled",
            "--network=none",
            // Its own are more than a container may have.
            "--ulimit=nofile=1024:1024",
            "--ulimit=nproc=1024:1024",
            IMAGE,
            "sleep",
            "1000000",
        ])?;
        Ok(podman)
    }

    /// The command in front of its own words. What starts containers asks for one kind of cgroups: it sees the newer one,
    /// though this machine may have both.
    fn words(&self) -> Vec<String> {
        let alone =
            "umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec \"$@\"";
        let mut words: Vec<String> = [
            "/usr/bin/unshare",
            "--mount",
            "/bin/sh",
            "-c",
            alone,
            "sh",
            PROGRAM,
            "--runtime",
            RUNTIME,
            "--storage-driver=vfs",
            "--cgroup-manager=cgroupfs",
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

    /// Runs it with these words.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn podman(&self, words: &[&str]) -> Result<CommandResult> {
        product::run(self.command(words), None)
    }

    /// The same as a command.
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

    /// Runs a command in it without the product. Returns what it printed.
    ///
    /// # Errors
    /// It fails.
    pub fn run(&self, words: &[&str]) -> Result<String> {
        let all = [&["exec", &self.id], words].concat();
        self.must(&all)
    }

    /// Makes it the target [`super::NAME`] of a world.
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
        Written {
            transport: "podman",
            to: &self.id,
            ..Written::default()
        }
        .write(world)
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = self.podman(&["rm", "--force", "--time=0", &self.id]);
    }
}
