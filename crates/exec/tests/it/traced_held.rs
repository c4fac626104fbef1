//! Files that are already open when a recorded call begins.

use crate::support::cache;
use crate::test_workspace::{SESSION, TestWorkspace};
use agent_bash_core::changes::TraceState;
use agent_bash_core::{RunSpec, SessionName};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_exec-test-changing");

fn in_session(spec: RunSpec) -> RunSpec {
    spec.session(SessionName("a".into())).enter_cwd(false)
}

/// A file that a session's shell opened in one call can be written in the next. While the shell
/// has no file open, its calls are recorded only once they are about to change one.
#[tokio::test(flavor = "multi_thread")]
async fn open_files_of_a_persistent_shell_have_preimages_before_its_next_call() {
    let (workspace, cache) = (TestWorkspace::with(&[("a", "a\n")]), cache());
    let mut calls = Vec::new();
    let scripts = [
        ("exec 3>>a; echo one >&3", 1),
        ("echo two >&3", 1),
        // The number of descriptors stays the same from here on.
        ("exec 3</dev/null", 0),
        ("true", 0),
        ("true", 0),
        ("exec 3>>a; echo three >&3", 1),
        ("echo four >&3", 1),
        ("exec 3>&-", 0),
        ("true", 0),
        ("bash -c 'echo five >>a'", 1),
        ("true", 0),
        ("echo six >>a & wait; true", 1),
    ];
    for (script, changed) in scripts {
        let (ran, call) = workspace.traced_call(&cache, script, in_session).await;
        assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{ran:?}");
        assert_eq!(call.counts.changed, changed, "{script}");
        calls.push(call);
    }
    for call in calls.iter().filter(|call| call.counts.changed == 1).rev() {
        let store = workspace.store();
        store.undo(SESSION, call.id, &[], false).unwrap();
    }
    assert_eq!(workspace.text("a"), "a\n");
}

/// Runs the scripts in one session. Asserts which records are incomplete. `before` is called before
/// each script.
async fn assert_lacking(
    workspace: &TestWorkspace,
    scripts: &[(&str, bool)],
    mut before: impl FnMut(&str),
) {
    let cache = cache();
    for (script, lacks) in scripts {
        before(script);
        let (ran, _) = workspace.traced_call(&cache, script, in_session).await;
        let traced = ran.outcome.traced.as_ref();
        let is_incomplete = traced.map(|it| it.incomplete_reason.is_some());
        assert_eq!(is_incomplete, Some(*lacks), "{script}: {ran:?}");
    }
}

/// A connection that a shell opened in one call can ask its peer for changes in the next.
#[tokio::test(flavor = "multi_thread")]
#[expect(
    clippy::disallowed_methods,
    reason = "the process must not belong to the host"
)]
async fn call_with_an_open_connection_to_an_outside_process_is_not_exact() {
    let workspace = TestWorkspace::with(&[("a", "a\n")]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let fifo = workspace.temp.path().join("fifo");
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, &fifo, FileType::Fifo, mode, 0).unwrap();
    // The host's own FIFOs carry outputs, so another process reads this one.
    let reader = File::options().read(true).write(true).open(&fifo).unwrap();
    let mut reader = Command::new("sleep")
        .arg("60")
        .stdin(reader)
        .spawn()
        .unwrap();
    let connect = format!("exec 5<>/dev/tcp/127.0.0.1/{port}");
    let open_fifo = format!("exec 5>{}", fifo.display());
    let scripts = [
        ("true", false),
        (&*connect, true),
        ("echo request >&5", true),
        ("exec 5>&-", true),
        ("true", false),
        (&*open_fifo, true),
        ("echo request >&5", true),
        ("exec 5>&-", true),
        ("true", false),
        // Pipes of the call itself.
        ("echo a | cat >/dev/stderr; echo b >/proc/$$/fd/1", false),
    ];
    assert_lacking(&workspace, &scripts, |_| {}).await;
    reader.kill().unwrap();
    reader.wait().unwrap();
}

/// After the end of a traced server, an outside process can listen at its address.
#[tokio::test(flavor = "multi_thread")]
async fn call_that_connects_to_the_successor_of_a_traced_server_is_not_exact() {
    let workspace = TestWorkspace::with(&[("a", "a\n")]);
    let path = workspace.temp.path().join("socket");
    // No other process binds this address, so that it stays free in between.
    let own = Ipv4Addr::from_bits(0x7f00_0000 | std::process::id());
    let unused = TcpListener::bind((own, 0)).unwrap();
    let address = unused.local_addr().unwrap();
    drop(unused);
    let listen = format!("{PROGRAM} listen {address}");
    let listen_local = format!("{PROGRAM} listen-local {}", path.display());
    let connect = format!("exec 5<>/dev/tcp/{own}/{}; exec 5>&-", address.port());
    let connect_local = format!("{PROGRAM} connect {}", path.display());
    let scripts = [
        (&*listen, false),
        (&*listen_local, false),
        (&*connect, true),
        (&*connect_local, true),
    ];
    let mut outside = None;
    let serve = |script: &str| {
        if script == connect {
            let internet = TcpListener::bind(address).unwrap();
            let local = UnixListener::bind(&path).unwrap();
            outside = Some(internet);
            std::thread::spawn(move || drop(local.accept()));
        }
    };
    assert_lacking(&workspace, &scripts, serve).await;
    drop(outside);
}
