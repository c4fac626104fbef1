//! Calls that inherit descriptors or a view of `/proc` from the process that starts the program.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use crate::support::{Home, Run};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::Stdio;

/// Runs a command in a repository of the home with this standard input; returns the result.
fn result(home: &Home, words: &[&str], stdin: impl Into<Stdio>) -> Value {
    let words = [&["run", "--json", "--stdin"], words].concat();
    let mut command = home.command(&words);
    command.current_dir(repository(home)).stdin(stdin);
    let output = command.output().expect("the binary starts");
    serde_json::from_slice(&output.stdout).expect("a result")
}

fn repository(home: &Home) -> std::path::PathBuf {
    home.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    home.path().join("repo")
}

#[test]
fn inherited_network_socket_is_refused_without_network() {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address");
    for (network, is_refused) in [("off", true), ("on", false)] {
        let socket = TcpStream::connect(port).expect("a connection");
        let options = ["--sandbox", "workspace_write", "--network", network, "true"];
        let result = result(&home, &options, OwnedFd::from(socket));
        let reason = result["status"]["reason"].as_str().unwrap_or_default();
        assert_eq!(reason.contains("network socket"), is_refused, "{result}");
        let kind = if is_refused { "not_started" } else { "exited" };
        assert_eq!(result["status"]["kind"], kind, "{result}");
    }
}

/// A process could send by a datagram socket, and connect a socket without a peer, to a process
/// outside. Below an inherited directory, protected files would be writable. A pty master types
/// into a terminal outside.
#[test]
fn inherited_file_is_refused_if_it_leads_out_of_the_sandbox() {
    let home = Home::new();
    let directory = File::open(repository(&home)).expect("a directory");
    let (datagram, _other) = UnixDatagram::pair().expect("a pair");
    let listener = UnixListener::bind(home.path().join("socket")).expect("a socket");
    let (stream, _peer) = UnixStream::pair().expect("a pair");
    let master = File::open("/dev/ptmx").expect("a pty master");
    let files: [(OwnedFd, bool); 5] = [
        (directory.into(), true),
        (master.into(), true),
        (datagram.into(), true),
        (listener.into(), true),
        (stream.into(), false),
    ];
    for (file, is_refused) in files {
        for network in ["off", "on"] {
            let options = ["--sandbox", "workspace_write", "--network", network, "true"];
            let file = file.try_clone().expect("a copy");
            let result = result(&home, &options, file);
            let kind = if is_refused { "not_started" } else { "exited" };
            assert_eq!(result["status"]["kind"], kind, "{network}: {result}");
        }
    }
}

/// By `/proc/self/fd`, a process opens the inherited file anew and changes its permissions.
#[test]
fn inherited_protected_file_stays_read_only() {
    for mode in [&[][..], &["--trial"]] {
        let home = Home::new();
        let path = repository(&home).join(".git/config");
        fs::write(&path, "[one]\n[two]\n").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("permissions");
        let mut file = File::open(&path).expect("a file");
        file.seek(SeekFrom::Start(6)).expect("a position");
        let script = "cat; chmod 777 /proc/self/fd/0; echo x >>/proc/self/fd/0";
        let options = ["--sandbox", "workspace_write", script];
        let result = result(&home, &[mode, &options].concat(), file);
        if result["sandbox"]["enforced"] != "full" {
            return;
        }
        let output = result["text"].as_str().unwrap_or_default();
        assert!(output.starts_with("[two]\n"), "{result}");
        let content = fs::read_to_string(&path).expect("the file");
        assert_eq!(content, "[one]\n[two]\n", "{result}");
        let permissions = fs::metadata(&path).expect("the file").permissions();
        assert_eq!(permissions.mode() & 0o777, 0o600, "{result}");
    }
}

/// Files that the caller opened for writing, and files that the call may write, keep the position
/// that they share with the caller.
#[test]
fn inherited_file_shares_its_position_if_the_call_may_write_it() {
    let home = Home::new();
    let path = repository(&home).join("input");
    fs::write(&path, "one\ntwo\n").expect("a file");
    let mut file = File::open(&path).expect("a file");
    let options = ["--sandbox", "workspace_write", "read -r line; echo $line"];
    let result = result(&home, &options, file.try_clone().expect("a copy"));
    assert_eq!(result["status"]["kind"], "exited", "{result}");
    assert_eq!(file.stream_position().expect("a position"), 4, "{result}");
}

#[test]
fn inherited_file_makes_a_record_inexact_only_if_it_is_open_for_writing() {
    for (is_writable, is_exact) in [(true, false), (false, true)] {
        let home = Home::new();
        let path = repository(&home).join("log");
        fs::write(&path, "").expect("a file");
        let file: File = OpenOptions::new()
            .read(true)
            .write(is_writable)
            .open(&path)
            .expect("a file");
        let result = result(&home, &["--changes=undo", "echo x >new"], file);
        assert_eq!(result["changes"]["counts"]["created"], 1, "{result}");
        assert_eq!(result["changes"]["exact"], is_exact, "{result}");
    }
}

#[test]
fn calls_are_not_recorded_if_proc_shows_another_pid_namespace() {
    let home = Home::new();
    let words = ["run", "--json", "--changes=undo", "echo x >new"];
    let unshared = |program: &str, words: &[&str]| {
        let mut command = home.program("unshare");
        command
            .args(["-r", "--pid", "--fork", "--kill-child", program])
            .args(words)
            .current_dir(repository(&home));
        Run::of(&mut command)
    };
    // Not every machine lets a user create namespaces.
    if unshared("true", &[]).code != Some(0) {
        return;
    }
    let run = unshared(env!("CARGO_BIN_EXE_agent-bash"), &words);
    let result: Value = serde_json::from_str(&run.stdout).expect("a result");
    assert_eq!(result["changes"]["exact"], false, "{result}");
    assert_eq!(result["changes"]["by"], "scan", "{result}");
    assert_eq!(result["changes"]["counts"]["created"], 1, "{result}");
}
