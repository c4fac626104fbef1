//! One program in the pod, and its connection by `v5.channel.k8s.io`. The first byte of a message
//! is its channel.

use super::cluster::{ConnectionEvent, InputMode, Pod};
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use serde_json::{Value, json};
use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tokio::sync::mpsc::{Sender, channel};

/// The protocol's name.
pub(super) const PROTOCOL: &str = "v5.channel.k8s.io";

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;

/// The exit status of the program.
const STATUS: u8 = 3;

/// Closes the channel named by its only byte.
const CLOSE: u8 = 255;

/// The number of messages that may be queued in each direction.
const WAITING: usize = 16;

/// The events of the program.
enum ProgramEvent {
    Output(u8, Vec<u8>),
    Ended(i32),
}

/// Runs the program, and passes its streams on.
pub(super) async fn carry(mut socket: WebSocket, words: Vec<String>, pod: Arc<Pod>) {
    let Ok(mut child) = start(&words, &pod) else {
        return close(&mut socket, 126).await;
    };
    pod.begun(child.id());
    let mut input = feed(&mut child);
    let (sender, mut parts) = channel(WAITING);
    watch(child, sender);
    let mut is_frozen = pod.is_frozen.subscribe();
    loop {
        let carries = !*is_frozen.borrow_and_update();
        tokio::select! {
            printed = socket.recv() => match printed {
                Some(Ok(Message::Binary(printed))) if carries => match printed.split_first() {
                    Some((&STDIN, bytes)) => {
                        if let Some(input) = &input {
                            // A program may exit without reading all input.
                            let _ = input.send(bytes.to_vec()).await;
                        }
                    }
                    Some((&CLOSE, [STDIN])) => {
                        pod.record(ConnectionEvent::EndOfInput);
                        if pod.input_mode == InputMode::Faithful {
                            input = None;
                        }
                    }
                    _ => {}
                },
                Some(Ok(_)) => {}
                None | Some(Err(_)) => {
                    pod.record(ConnectionEvent::Disconnected);
                    break;
                }
            },
            part = parts.recv(), if carries => match part {
                Some(ProgramEvent::Output(channel, bytes)) => {
                    let _ = socket.send(message(channel, &bytes)).await;
                }
                Some(ProgramEvent::Ended(code)) => {
                    pod.record(ConnectionEvent::Ended(code));
                    close(&mut socket, code).await;
                    break;
                }
                None => break,
            },
            () = pod.ends.notified() => {
                close(&mut socket, 0).await;
                break;
            }
            _ = is_frozen.changed() => {}
        }
    }
    if pod.input_mode == InputMode::KnowsNoEndOfInput {
        // As long as the program runs.
        while parts.recv().await.is_some() {}
    }
    drop(input);
}

#[expect(
    clippy::disallowed_methods,
    reason = "it plays a machine on which programs are started"
)]
fn start(words: &[String], pod: &Pod) -> std::io::Result<Child> {
    let (program, rest) = words
        .split_first()
        .ok_or(std::io::ErrorKind::InvalidInput)?;
    Command::new(program)
        .args(rest)
        .env_clear()
        .envs(&pod.environment)
        .current_dir(&pod.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Writes messages to the program's stdin, and closes it with the sender.
fn feed(child: &mut Child) -> Option<Sender<Vec<u8>>> {
    let mut stdin = child.stdin.take()?;
    let (sender, mut pieces) = channel::<Vec<u8>>(WAITING);
    std::thread::spawn(move || {
        while let Some(piece) = pieces.blocking_recv() {
            if stdin.write_all(&piece).is_err() {
                return;
            }
        }
    });
    Some(sender)
}

/// Reads the program's output, then waits for its exit.
fn watch(mut child: Child, sender: Sender<ProgramEvent>) {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::spawn(move || {
        let errors = sender.clone();
        let reading =
            std::thread::spawn(move || stderr.map(|stderr| read(stderr, STDERR, &errors)));
        if let Some(stdout) = stdout {
            read(stdout, STDOUT, &sender);
        }
        let _ = reading.join();
        let code = child.wait().ok().and_then(|status| status.code());
        let _ = sender.blocking_send(ProgramEvent::Ended(code.unwrap_or(137)));
    });
}

fn read(mut from: impl Read, channel: u8, sender: &Sender<ProgramEvent>) {
    let mut buffer = vec![0; 32 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        // The output is read even without a reader, so that the program does not block.
        let _ = sender.blocking_send(ProgramEvent::Output(channel, buffer[..length].to_vec()));
    }
}

/// Reports the exit status, and waits until kubectl has received it.
async fn close(socket: &mut WebSocket, code: i32) {
    let normal = CloseFrame {
        code: close_code::NORMAL,
        reason: "".into(),
    };
    let _ = socket.send(status(code)).await;
    let _ = socket.send(Message::Close(Some(normal))).await;
    while let Some(Ok(_)) = socket.recv().await {}
}

fn message(channel: u8, bytes: &[u8]) -> Message {
    Message::Binary([&[channel], bytes].concat().into())
}

/// In a kubelet's format.
fn status(code: i32) -> Message {
    let status: Value = if code == 0 {
        json!({"metadata": {}, "status": "Success"})
    } else {
        json!({
            "metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
            "message": format!("command terminated with exit code {code}"),
            "details": {"causes": [{"reason": "ExitCode", "message": code.to_string()}]},
        })
    };
    message(STATUS, status.to_string().as_bytes())
}
