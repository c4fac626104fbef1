//! Every order in malformed form: without its descriptors, out of turn, unparseable. Each is answered or closes the
//! connection; none makes the host wait for ever. Orders are written at the level of bytes, as the host's code
//! never sends such.

use agent_bash_process::supervisor::Supervisor;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A supervisor and its socket.
struct Server {
    socket: UnixStream,
    child: Child,
}

impl Server {
    fn start() -> Self {
        let (socket, theirs) = UnixStream::pair().unwrap();
        socket.set_read_timeout(Some(super::SOON)).unwrap();
        #[expect(clippy::disallowed_methods, reason = "as the host's side starts it")]
        let child = Command::new("/proc/self/exe")
            .arg0("agent-bash-supervisor")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .unwrap();
        let mut server = Self { socket, child };
        assert!(server.event().unwrap()["Hello"].is_object());
        server
    }

    /// Sends bytes, with descriptors attached to the first one.
    fn send(&mut self, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            assert!(ancillary.push(SendAncillaryMessage::ScmRights(fds)));
        }
        let parts = &[IoSlice::new(bytes)];
        let sent = sendmsg(&self.socket, parts, &mut ancillary, SendFlags::NOSIGNAL);
        assert_eq!(sent, Ok(bytes.len()));
    }

    fn order(&mut self, order: &Value, fds: &[BorrowedFd<'_>]) -> Value {
        let count = u8::try_from(fds.len()).unwrap();
        self.send(&framed(order.to_string().as_bytes(), count), fds);
        self.event()
            .unwrap_or_else(|error| panic!("{order}: {error}"))
    }

    /// The next event.
    fn event(&mut self) -> io::Result<Value> {
        let mut header = [0; 5];
        self.socket.read_exact(&mut header)?;
        let [a, b, c, d, _] = header;
        let mut body = vec![0; u32::from_le_bytes([a, b, c, d]) as usize];
        self.socket.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.socket.shutdown(std::net::Shutdown::Both).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

fn framed(body: &[u8], fds: u8) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap();
    [&length.to_le_bytes()[..], &[fds], body].concat()
}

fn shell(inherits_stdin: bool) -> Value {
    let limits = json!(agent_bash_core::Limits::default());
    json!({
        "program": "/nonexistent/shell", "arg0": {"Unix": []}, "args": [], "env_changes": [],
        "inherits_stdin": inherits_stdin, "output": ["merged"], "limits": limits,
    })
}

pub(super) async fn an_order_that_cannot_be_obeyed_is_answered(_: Supervisor) {
    let mut server = Server::start();
    let null = File::open("/dev/null").unwrap();
    let nowhere: Vec<u8> = b"/nonexistent/job".to_vec();
    let nowhere = json!({"Unix": nowhere});
    let detach = json!({"Detach": {
        "directory": nowhere, "commit": "", "limit_ms": 0, "grace_ms": 0, "quota": 0,
    }});
    let on_terminal = json!({"StartOnTerminal": {
        "start": shell(false), "terminal": "/nonexistent/terminal", "commit": "",
    }});
    let adopt = json!({"Adopt": {"files": true, "detach": false, "quota": 0, "job": nowhere}});
    let incomplete = "without its descriptors";
    for (order, count, event, word) in [
        (
            json!("StartAnother"),
            0,
            "StartFailed",
            "no shell was started before",
        ),
        (json!({"Start": shell(true)}), 0, "StartFailed", incomplete),
        (
            json!({"Start": shell(false)}),
            0,
            "StartFailed",
            "/nonexistent/shell",
        ),
        // Now there is a last shell to start another like.
        (
            json!("StartAnother"),
            0,
            "StartFailed",
            "/nonexistent/shell",
        ),
        (on_terminal.clone(), 0, "StartFailed", incomplete),
        (on_terminal, 1, "StartFailed", "No such file"),
        (detach.clone(), 0, "DetachFailed", incomplete),
        (detach.clone(), 1, "DetachFailed", incomplete),
        (detach, 2, "DetachFailed", "No such file"),
        (adopt.clone(), 1, "AdoptFailed", "without its file"),
        (adopt, 3, "AdoptFailed", "without its file"),
    ] {
        let answer = server.order(&order, &vec![null.as_fd(); count]);
        let reason = answer[event]["reason"].as_str();
        let is_meant = reason.is_some_and(|reason| reason.contains(word));
        assert!(is_meant, "{order}: {answer}");
    }
}

pub(super) async fn an_order_out_of_turn_does_nothing(_: Supervisor) {
    let mut server = Server::start();
    let nobody = json!({"Survivors": {"survivors": []}});
    for order in [
        json!({"Terminate": {"grace_ms": 0, "stop_shell": true}}),
        json!({"EndSurvivors": {"grace_ms": 0}}),
    ] {
        server.send(&framed(order.to_string().as_bytes(), 0), &[]);
        // There is nothing whose end could be reported: the next answer is to the next order.
        assert_eq!(server.order(&json!("Survivors"), &[]), nobody, "{order}");
    }
    // Nothing is watched, so it has ended.
    let ended = json!({"SurvivorsEnded": {"withstand": []}});
    assert_eq!(server.order(&json!("WatchSurvivors"), &[]), ended);
    // Without pipes there is nothing to relay.
    let adopt = json!({"Adopt": {"files": false, "detach": false, "quota": 0, "job": null}});
    assert_eq!(server.order(&adopt, &[]), json!("Adopted"));
}

pub(super) async fn an_order_that_cannot_be_read_ends_the_conversation(_: Supervisor) {
    for bytes in [
        framed(br#"{"Fly":{}}"#, 0),
        framed(b"", 0),
        framed(b"{", 0),
        framed(br#"{"Terminate":{"grace_ms":-1,"stop_shell":false}}"#, 0),
        // Its descriptor is missing.
        framed(br#""Survivors""#, 1),
        framed(br#""Survivors""#, 200),
        b"\xff\xff\xff\xff\0".to_vec(),
    ] {
        let mut server = Server::start();
        server.socket.write_all(&bytes).unwrap();
        let error = server.event().unwrap_err();
        // It must be closed; otherwise this would be a timeout.
        let hung_up = [io::ErrorKind::UnexpectedEof, io::ErrorKind::ConnectionReset];
        assert!(hung_up.contains(&error.kind()), "{bytes:?}: {error}");
    }
}
