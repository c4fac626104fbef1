//! Tests with malformed orders: without descriptors, in the wrong state, or unparseable. Each is
//! answered or closes the connection, so that the host never waits forever. The tests write bytes,
//! as the host's code cannot send such orders.

use agent_bash_process::supervisor::{ORDER_NAMES, Supervisor};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde_json::{Value, json};
use std::collections::BTreeSet;
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
        "inherits_stdin": inherits_stdin, "output": ["merged"], "reports": false,
        "limits": limits,
    })
}

/// An order, the number of its descriptors, the event that answers it, and a part of the event's
/// reason.
type Case = (Value, usize, Value, &'static str);

/// For events without a reason: the whole event is compared.
const NONE: &str = "";

/// Orders that can be parsed, but not executed; at least one of each kind.
fn cases() -> Vec<Case> {
    let missing_directory: Vec<u8> = b"/nonexistent/job".to_vec();
    let missing_directory = json!({"Unix": missing_directory});
    let detach = json!({"Detach": {
        "directory": missing_directory, "commit": "", "limit_ms": 0, "grace_ms": 0, "quota": 0,
        "completion_status": false,
    }});
    let on_terminal = json!({"StartOnTerminal": {
        "start": shell(false), "terminal": "/nonexistent/terminal", "commit": "",
    }});
    let directly = json!({"StartDirectly": {
        "start": shell(false), "inherited": [0], "group": 0, "needs_trace": false, "unrecorded": [],
    }});
    let adopt =
        json!({"Adopt": {"files": true, "detach": false, "quota": 0, "job": missing_directory}});
    let no_pipes = json!({"Adopt": {"files": false, "detach": false, "quota": 0, "job": null}});
    let another = || json!("StartAnother");
    let start = |inherits_stdin| json!({"Start": shell(inherits_stdin)});
    let failed = || json!("StartFailed");
    let not_detached = || json!("DetachFailed");
    let no_survivors = || json!({"Survivors": {"survivors": []}});
    let incomplete = "without its descriptors";
    let untraced =
        json!({"Recorded": {"traced": {"incomplete_reason": "this shell is not traced"}}});
    vec![
        (another(), 0, failed(), "no shell was started before"),
        (start(true), 0, failed(), incomplete),
        (start(false), 0, failed(), "/nonexistent/shell"),
        // Now the start of the last shell can be repeated.
        (another(), 0, failed(), "/nonexistent/shell"),
        (on_terminal.clone(), 0, failed(), incomplete),
        (on_terminal, 1, failed(), "No such file"),
        (directly.clone(), 0, failed(), incomplete),
        (directly, 1, failed(), "/nonexistent/shell"),
        (detach.clone(), 0, not_detached(), incomplete),
        (detach.clone(), 1, not_detached(), incomplete),
        (detach, 2, not_detached(), "No such file"),
        (adopt.clone(), 1, json!("AdoptFailed"), "without its file"),
        (adopt, 3, json!("AdoptFailed"), "without its file"),
        // Without pipes there is nothing to relay.
        (no_pipes, 0, json!("Adopted"), NONE),
        // Unexpected descriptors.
        (json!("Survivors"), 3, no_survivors(), NONE),
        // There are no processes to watch, so their end is reported at once.
        (
            json!("WatchSurvivors"),
            1,
            json!({"SurvivorsEnded": {"withstand": []}}),
            NONE,
        ),
        // Without processes, no end is reported: the next event answers the next order.
        (
            json!({"Terminate": {"grace_ms": 0, "stop_shell": true}}),
            1,
            Value::Null,
            NONE,
        ),
        (json!("Survivors"), 0, no_survivors(), NONE),
        (
            json!({"EndSurvivors": {"grace_ms": 0}}),
            1,
            Value::Null,
            NONE,
        ),
        (json!("Survivors"), 0, no_survivors(), NONE),
        // There is no traced shell.
        (
            json!({"Record": {"set": missing_directory, "wants_answer": false}}),
            0,
            Value::Null,
            NONE,
        ),
        (
            json!({"Record": {"set": missing_directory, "wants_answer": true}}),
            0,
            json!({"Recording":{"incomplete_reason":"this shell is not traced"}}),
            NONE,
        ),
        (json!("StopRecording"), 0, untraced, NONE),
        // No shell follows that could finish.
        (
            json!({"LetFinish": {"limit_ms": 0, "grace_ms": 0}}),
            1,
            Value::Null,
            NONE,
        ),
        (json!("Survivors"), 0, no_survivors(), NONE),
        (
            json!({"HoldBack": {"overlay": {"root": "/", "upper": "/", "work": "/"}}}),
            0,
            json!("NoTrial"),
            "no shell waits for a trial",
        ),
    ]
}

pub(super) async fn order_that_cannot_be_executed_is_answered(_: Supervisor) {
    let mut server = Server::start();
    let null = File::open("/dev/null").unwrap();
    let mut tested = BTreeSet::new();
    for (order, count, event, reason) in cases() {
        tested.insert(name_of(&order));
        let fds = vec![null.as_fd(); count];
        if event.is_null() {
            let count = u8::try_from(count).unwrap();
            server.send(&framed(order.to_string().as_bytes(), count), &fds);
            continue;
        }
        let answer = server.order(&order, &fds);
        let is_meant = match reason {
            NONE => answer == event,
            _ => answer[event.as_str().unwrap()]["reason"]
                .as_str()
                .is_some_and(|text| text.contains(reason)),
        };
        assert!(is_meant, "{order}: {answer}");
    }
    let all: BTreeSet<String> = ORDER_NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(tested, all, "an order has no case");
}

/// The name of an order, with or without fields.
fn name_of(order: &Value) -> String {
    let with_fields = || order.as_object()?.keys().next().map(String::as_str);
    order.as_str().or_else(with_fields).unwrap().to_owned()
}

pub(super) async fn unparseable_order_closes_the_connection(_: Supervisor) {
    // Each order with a number instead of its fields.
    let misread = ORDER_NAMES
        .iter()
        .map(|name| framed(json!({ *name: 7 }).to_string().as_bytes(), 0));
    for bytes in [
        framed(br#"{"Fly":{}}"#, 0),
        framed(b"", 0),
        framed(b"{", 0),
        framed(br#"{"Terminate":{"grace_ms":-1,"stop_shell":false}}"#, 0),
        // The descriptor is missing.
        framed(br#""Survivors""#, 1),
        framed(br#""Survivors""#, 200),
        b"\xff\xff\xff\xff\0".to_vec(),
    ]
    .into_iter()
    .chain(misread)
    {
        let mut server = Server::start();
        server.socket.write_all(&bytes).unwrap();
        let error = server.event().unwrap_err();
        // The connection must be closed; otherwise this would be a timeout.
        let hung_up = [io::ErrorKind::UnexpectedEof, io::ErrorKind::ConnectionReset];
        assert!(hung_up.contains(&error.kind()), "{bytes:?}: {error}");
    }
}
