//! OpenSSH's server on the loopback interface, with its own keys and configuration, and its client.

use super::TargetSettings;
use crate::poll;
use crate::product::{self, CommandResult};
use crate::world::World;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

/// The server must be started by its absolute path.
const PROGRAM: &str = "/usr/sbin/sshd";

/// The directory to which a server run by root confines its unauthenticated process.
const PRIVSEP_DIRECTORY: &str = "/run/sshd";

/// The time that the server may take to listen.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(20);

/// Attempts with different ports: another process may bind a port before the server does.
const ATTEMPTS: usize = 5;

/// A server that accepts one key, and the host `box` of the world's `ssh`. A login gets the
/// environment of the world, so that all its processes carry the world's mark.
#[derive(Debug)]
pub struct Sshd {
    child: Child,
    directory: PathBuf,
}

impl Sshd {
    /// Starts a server for this world; `ssh box` and the target [`super::NAME`] lead to it.
    ///
    /// # Errors
    /// The server is not installed, or does not listen.
    pub fn start(world: &World, directory: Option<&Path>) -> Result<Self> {
        Self::with_environment(world, directory, &BTreeMap::new())
    }

    /// Starts a server as [`Self::start`] does, with additional environment variables for logins.
    ///
    /// # Errors
    /// As for [`Self::start`].
    pub fn with_environment(
        world: &World,
        directory: Option<&Path>,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self> {
        ensure!(
            Path::new(PROGRAM).exists(),
            "no {PROGRAM}; install the package openssh-server"
        );
        let files = world.home().join(".sshd");
        fs::create_dir(&files)?;
        for key in ["host", "user"] {
            let mut keygen = world.command("ssh-keygen");
            keygen
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(files.join(key));
            let ran = product::run(keygen, None)?;
            ensure!(ran.code == 0, "ssh-keygen: {ran:?}");
        }
        for _ in 0..ATTEMPTS {
            let port = free_port()?;
            configure(world, environment, &files, port)?;
            if let Some(child) = listening(world, &files)? {
                TargetSettings {
                    transport: "ssh",
                    to: "box",
                    is_shared: true,
                    directory,
                    ..TargetSettings::default()
                }
                .write(world)?;
                return Ok(Self {
                    child,
                    directory: files,
                });
            }
        }
        let log = fs::read_to_string(files.join("log"))?;
        bail!("sshd does not listen: {log}");
    }

    /// The server's log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn log(&self) -> Result<String> {
        Ok(fs::read_to_string(self.directory.join("log"))?)
    }

    /// Runs a command on the server by ssh itself, without the product.
    ///
    /// # Errors
    /// The client cannot be started.
    pub fn run(&self, world: &World, command: &str) -> Result<CommandResult> {
        let mut ssh = world.command("ssh");
        ssh.args(["box", command]);
        product::run(ssh, None)
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        // Stops the server, which closes the connections of open logins.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// Writes the configurations of both ends, and the world's `ssh`.
fn configure(
    world: &World,
    environment: &BTreeMap<String, String>,
    files: &Path,
    port: u16,
) -> Result<()> {
    let path = |name: &str| files.join(name).display().to_string();
    let variables: Vec<String> = world
        .environment()
        .into_iter()
        .chain(environment.clone())
        .map(|(name, value)| format!("\"{name}={value}\""))
        .collect();
    let server = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nPidFile none\nHostKey {}\nAuthorizedKeysFile {}\n\
         StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PermitRootLogin prohibit-password\nMaxStartups 100\nSetEnv {}\n",
        path("host"),
        path("user.pub"),
        variables.join(" "),
    );
    fs::write(files.join("sshd_config"), server)?;
    let key = fs::read_to_string(files.join("host.pub"))?;
    fs::write(
        files.join("known_hosts"),
        format!("[127.0.0.1]:{port} {key}"),
    )?;
    let client = format!(
        "Host box\nHostName 127.0.0.1\nPort {port}\nIdentityFile {}\nIdentitiesOnly yes\nIdentityAgent none\n\
         UserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n",
        path("user"),
        path("known_hosts"),
    );
    fs::write(files.join("ssh_config"), client)?;
    // Ssh finds the user's configuration by the account, not by HOME.
    world.script(
        "ssh",
        &format!("exec /usr/bin/ssh -F {} \"$@\"\n", path("ssh_config")),
    )
}

/// Starts the server and waits until it listens; `None` if it exited.
fn listening(world: &World, files: &Path) -> Result<Option<Child>> {
    let log = files.join("log");
    let is_root = rustix::process::geteuid().is_root();
    let mut command = if is_root && !Path::new(PRIVSEP_DIRECTORY).is_dir() {
        // Only the system's service creates that directory. The test mounts one that is visible
        // only to its server.
        let make = format!(
            "mount -t tmpfs -o mode=755 tmpfs /run && mkdir -m 755 {PRIVSEP_DIRECTORY} && exec \"$@\""
        );
        let mut unshare = world.command("unshare");
        unshare.args(["--mount", "sh", "-c", &make, "sh", PROGRAM]);
        unshare
    } else {
        world.command(PROGRAM)
    };
    command
        .args(["-D", "-e", "-f"])
        .arg(files.join("sshd_config"));
    let mut child = command.stderr(File::create(&log)?).spawn()?;
    let is_listening = poll::until(LISTEN_TIMEOUT, || {
        let log_text = fs::read_to_string(&log).unwrap_or_default();
        match child.try_wait() {
            Ok(None) if log_text.contains("Server listening") => Some(true),
            Ok(None) => None,
            _ => Some(false),
        }
    });
    if is_listening == Some(true) {
        return Ok(Some(child));
    }
    let _ = child.kill();
    child.wait().context("sshd")?;
    Ok(None)
}
