//! Targets as interfaces: every case is checked here and runs on the target of a real engine.

use agent_bash_tests::conformance::{RpcOn, TargetSetup};
use agent_bash_tests::targets::{Container, Docker, Sshd, docker};
use agent_bash_tests::world::World;
use anyhow::{Result, anyhow};
use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

/// Only one case in this many runs on a target by default: each case connects anew.
const EVERY: usize = 12;

/// True if the case with this number runs by default.
pub(crate) fn is_in_sample(number: usize) -> bool {
    number.is_multiple_of(EVERY)
}

/// A directory for the program on all targets: the first case uploads it, and the others find it.
pub(crate) fn programs() -> Result<TempDir> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut named = tempfile::Builder::new();
    Ok(named.prefix("programs-").tempdir_in(target)?)
}

/// Over OpenSSH.
pub(crate) fn by_ssh(programs: &TempDir) -> RpcOn {
    RpcOn {
        name: "rpc-ssh",
        engine: Box::new(Ssh(programs.path().to_owned())),
    }
}

/// Over `docker exec`; returns why docker cannot run, if so.
pub(crate) fn by_docker(programs: &TempDir) -> Result<RpcOn, &'static str> {
    match docker::cannot_run() {
        Some(why) => Err(why),
        None => Ok(RpcOn {
            name: "rpc-docker",
            engine: Box::new(Exec {
                programs: programs.path().to_owned(),
                container: OnceLock::new(),
            }),
        }),
    }
}

/// A server for each case.
#[derive(Debug)]
struct Ssh(PathBuf);

impl TargetSetup for Ssh {
    fn connect(
        &self,
        world: &World,
        environment: &BTreeMap<String, String>,
    ) -> Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(Sshd::with_environment(
            world,
            Some(&self.0),
            environment,
        )?))
    }
}

/// One container for the worlds of all cases.
#[derive(Debug)]
struct Exec {
    programs: PathBuf,
    container: OnceLock<Result<Container, String>>,
}

impl Exec {
    fn start(&self) -> Result<Container> {
        let worlds = std::env::temp_dir().canonicalize()?;
        let built = Path::new(env!("CARGO_BIN_EXE_misbehave")).parent();
        let shared = [Some(&*worlds), built, Some(&*self.programs)];
        let shared: Vec<&Path> = shared.into_iter().flatten().collect();
        Arc::new(Docker::start()?).with_our_programs(&shared)
    }
}

impl TargetSetup for Exec {
    fn connect(
        &self,
        world: &World,
        environment: &BTreeMap<String, String>,
    ) -> Result<Box<dyn Any + Send + Sync>> {
        let started = self
            .container
            .get_or_init(|| self.start().map_err(|error| format!("{error:#}")));
        let container = started.as_ref().map_err(|error| anyhow!("{error}"))?;
        container.add_target(world, Some(environment), Some(&self.programs))?;
        Ok(Box::new(()))
    }
}
