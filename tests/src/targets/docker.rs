//! A Docker daemon for the tests alone, without networks, and its containers.

use super::{TargetSettings, image, stop};
use crate::poll;
use crate::product::{self, CommandResult};
use crate::world::World;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

/// The daemon. Its directory is not in the PATH of users.
const PROGRAM: &str = "/usr/sbin/dockerd";

/// The time that the daemon may take to answer.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The time that the daemon may take to stop its containers and exit.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// The only image.
const IMAGE: &str = "agent-bash-test";

/// A daemon with all its files in one directory.
#[derive(Debug)]
pub struct Docker {
    world: World,
    child: Child,
    directory: PathBuf,
}

/// Returns why the engine cannot run; `None` if it can.
pub fn cannot_run() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("dockerd needs root");
    }
    let is_there = |path: &str| Path::new(path).exists();
    let has_client = is_there("/usr/bin/docker") || is_there("/usr/local/bin/docker");
    if !is_there(PROGRAM) || !has_client {
        return Some("no dockerd; install the package docker.io");
    }
    None
}

impl Docker {
    /// Starts the daemon.
    ///
    /// # Errors
    /// The daemon does not answer.
    pub fn start() -> Result<Self> {
        let world = World::new()?;
        let directory = world.home().join("docker");
        fs::create_dir(&directory)?;
        let path = |name: &str| directory.join(name);
        let log = File::create(path("log"))?;
        let mut command = world.command(PROGRAM);
        command
            .args(["--iptables=false", "--ip6tables=false", "--bridge=none"])
            // The daemon would enable forwarding for the whole machine.
            .arg("--ip-forward=false")
            // This driver works on every file system.
            .args(["--storage-driver=vfs", "--host"])
            .arg(format!("unix://{}", path("socket").display()))
            .arg("--data-root")
            .arg(path("data"))
            .arg("--exec-root")
            .arg(path("run"))
            .arg("--pidfile")
            .arg(path("pid"))
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .stdout(log.try_clone()?)
            .stderr(log);
        let child = command.spawn()?;
        let mut daemon = Self {
            world,
            child,
            directory,
        };
        let answers = poll::until(START_TIMEOUT, || {
            if !matches!(daemon.child.try_wait(), Ok(None)) {
                return Some(false);
            }
            let ran = daemon.docker(&["version"]).ok()?;
            (ran.code == 0).then_some(true)
        });
        if answers != Some(true) {
            let log = fs::read_to_string(daemon.directory.join("log"))?;
            bail!("dockerd does not answer: {log}");
        }
        Ok(daemon)
    }

    /// Runs the docker client.
    ///
    /// # Errors
    /// The client cannot be started.
    pub fn docker(&self, words: &[&str]) -> Result<CommandResult> {
        let mut command = self.world.command("docker");
        command.arg("--host").arg(self.host()).args(words);
        product::run(command, None)
    }

    fn host(&self) -> String {
        format!("unix://{}", self.directory.join("socket").display())
    }

    /// Runs the docker client and returns its output. Fails if the client fails.
    fn must(&self, words: &[&str]) -> Result<String> {
        let ran = self.docker(words)?;
        ensure!(ran.code == 0, "docker {words:?}: {ran:?}");
        Ok(ran.stdout.trim().to_owned())
    }

    /// Makes an image of a directory.
    fn import(&self, root: &Path) -> Result<()> {
        let tar = self.directory.join("image.tar");
        image::pack(&self.world, root, &tar)?;
        let tar = tar.display().to_string();
        self.must(&["import", &tar, IMAGE]).map(drop)
    }

    /// Starts a container with this machine's programs. Its first process sleeps and does not
    /// reap children.
    /// The shared directories have the same paths as on the machine.
    ///
    /// # Errors
    /// The container cannot be started.
    pub fn with_our_programs(self: &Arc<Self>, shared: &[&Path]) -> Result<Container> {
        let root = self.directory.join("image");
        for name in ["usr", "etc", "root", "tmp", "proc", "dev"] {
            fs::create_dir_all(root.join(name))?;
        }
        for name in ["bin", "sbin", "lib", "lib64"] {
            let path_here = Path::new("/").join(name);
            match fs::read_link(&path_here) {
                Ok(to) => std::os::unix::fs::symlink(to, root.join(name))?,
                Err(_) => fs::create_dir_all(root.join(name))?,
            }
        }
        fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/bash\n")?;
        self.import(&root)?;
        // The rights that a sandbox in the container needs. `--privileged` would need rights that
        // the test may not have.
        let mut words = vec![
            "run",
            "--detach",
            "--network=none",
            "--cap-add=SYS_ADMIN",
            "--cap-add=SYS_PTRACE",
            "--security-opt=seccomp=unconfined",
            "--security-opt=systempaths=unconfined",
        ];
        let mut volumes: Vec<String> = vec!["--volume=/usr:/usr:ro".to_owned()];
        for directory in shared {
            let directory = directory.display();
            volumes.push(format!("--volume={directory}:{directory}"));
        }
        words.extend(volumes.iter().map(String::as_str));
        words.extend([IMAGE, "/usr/bin/sleep", "infinity"]);
        Ok(Container {
            id: self.must(&words)?,
            docker: Arc::clone(self),
        })
    }

    /// Starts a container with bash, busybox, and the shell that the bootstrap script needs.
    ///
    /// # Errors
    /// The container cannot be started.
    pub fn with_bash_only(self: &Arc<Self>) -> Result<Container> {
        let root = self.directory.join("small");
        image::with_bash_only(&self.world, &root)?;
        self.import(&root)?;
        let words = [
            "run", "--detach", "--network=none", IMAGE, "sleep", "1000000",
        ];
        Ok(Container {
            id: self.must(&words)?,
            docker: Arc::clone(self),
        })
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        let _ = stop(&mut self.child, STOP_TIMEOUT);
    }
}

/// A container. Dropping the value removes the container.
#[derive(Debug)]
pub struct Container {
    /// The id of the container.
    pub id: String,
    docker: Arc<Docker>,
}

impl Container {
    /// Makes the container the target [`super::NAME`] of a world. With an environment, commands in
    /// the container are in that world, too, with these additional variables.
    ///
    /// # Errors
    /// The world cannot be written.
    pub fn add_target(
        &self,
        world: &World,
        environment: Option<&BTreeMap<String, String>>,
        directory: Option<&Path>,
    ) -> Result<()> {
        let client = ["/usr/local/bin/docker", "/usr/bin/docker"];
        let client = client.into_iter().find(|path| Path::new(path).exists());
        let client = client.context("no docker; install the package docker.io")?;
        world.script(
            "docker",
            &format!("exec {client} --host {} \"$@\"\n", self.docker.host()),
        )?;
        let is_shared = environment.is_some();
        let env = environment.map(|more| {
            let mut all = world.environment();
            all.extend(more.clone());
            all
        });
        TargetSettings {
            transport: "docker",
            to: &self.id,
            is_shared,
            env: env.unwrap_or_default(),
            directory,
        }
        .write(world)
    }

    /// Runs a command in the container without the product. Returns its output.
    ///
    /// # Errors
    /// The command fails.
    pub fn run(&self, words: &[&str]) -> Result<String> {
        let all = [&["exec", &self.id], words].concat();
        self.docker.must(&all)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.docker.docker(&["rm", "--force", &self.id]);
    }
}
