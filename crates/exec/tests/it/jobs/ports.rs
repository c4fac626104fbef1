//! The addresses on which jobs listen.

use super::world::World;
use crate::support::{SOON, run_with, soon};
use agent_bash_core::sandbox::{Network, Plan, Tier};
use agent_bash_core::{Cancel, SessionName};
use agent_bash_exec::{Job, JobStdin};
use agent_bash_os::network_namespace;
use agent_bash_test_kit::test_workspace::TestWorkspace;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::slice;
use std::sync::Arc;

const SERVER: &str = env!("CARGO_BIN_EXE_exec-test-supervisor");

/// Returns the address that a server wrote to a file.
async fn written(port: &Path) -> SocketAddr {
    assert!(soon(|| fs::read(port).is_ok_and(|text| text.ends_with(b"\n"))).await);
    let port = fs::read_to_string(port).unwrap();
    format!("127.0.0.1:{}", port.trim()).parse().unwrap()
}

async fn ports_of(world: &World, job: &Job) -> Vec<SocketAddr> {
    let mut job = job.clone();
    world.jobs.find_ports(slice::from_mut(&mut job)).await;
    job.listens_on
}

#[tokio::test(flavor = "multi_thread")]
async fn list_with_ports_names_the_addresses_of_a_child_of_the_shell() {
    let world = World::new();
    let job = world.start(&format!("{SERVER} listen >port; true")).await;
    let other = world.start("sleep 1000").await;
    let address = written(&world.dir.path().join("port")).await;
    assert_eq!(ports_of(&world, &job).await, [address]);
    assert_eq!(ports_of(&world, &other).await, []);

    let found = world.again().list_with_ports(Some(address.port())).await;
    let found: Vec<_> = found.unwrap().into_iter().map(|job| job.id).collect();
    assert_eq!(found, slice::from_ref(&job.id));
    let listeners = world.jobs.listeners_of(&job).await;
    assert_eq!(listeners[0].network, network_namespace(std::process::id()));
    assert!(listeners[0].holder.command.contains("listen"));
    let pid = listeners[0].holder.pid.unwrap();
    let found = world.jobs.job_of(pid).await;
    assert_eq!(found.map(|job| job.id), Some(job.id.clone()));

    world.kill(&job.id).await;
    assert_eq!(
        ports_of(&world, &world.jobs.show(&job.id).unwrap()).await,
        []
    );
    assert_eq!(world.jobs.job_of(pid).await, None);
    world.kill(&other.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sandboxed_job_in_its_own_network_namespace_names_its_addresses() {
    let (world, workspace) = (World::new(), TestWorkspace::new());
    let plan = Plan {
        network: Network::Loopback,
        hosts: Vec::new(),
        tier: Tier::Full,
        ..workspace.plan()
    };
    let spec = world.spec(&format!("exec {SERVER} listen >port"));
    let spec = spec
        .cwd(workspace.workspace.clone())
        .sandbox(Arc::new(plan));
    let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
    let address = written(&workspace.workspace.join("port")).await;
    assert_eq!(ports_of(&world, &job).await, [address]);
    let network = world.jobs.listeners_of(&job).await[0].network.clone();
    assert!(network.is_some() && network != network_namespace(std::process::id()));
    world.kill(&job.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ports_of_survivors_of_one_session_belong_to_the_job_of_their_call() {
    let world = World::new();
    let call = async |script: &str| {
        let spec = world.spec(script).session(SessionName("a".into()));
        let cancel = Cancel::new();
        let call = run_with(&world.cache, &spec, &cancel);
        let ran = tokio::time::timeout(SOON, call).await.unwrap().unwrap();
        let id = ran.outcome.survivors[0].job.clone().unwrap();
        world.jobs.show(&id).unwrap()
    };
    let server = call(&format!(
        "{SERVER} listen >port & until [[ -s port ]]; do :; done"
    ))
    .await;
    let other = call("sleep 1000 &").await;
    let address = written(&world.dir.path().join("port")).await;
    assert_eq!(ports_of(&world, &server).await, [address]);
    assert_eq!(ports_of(&world, &other).await, []);
    world.kill(&server.id).await;
    world.kill(&other.id).await;
}
