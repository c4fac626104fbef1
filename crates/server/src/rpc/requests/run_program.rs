//! Serves `program`: runs agent-bash on the worker's machine, with arguments from the host.

use crate::rpc::request_error::ErrorReply;
use agent_bash::Conversation;
use agent_bash::core::Cancel;
use agent_bash::process::Transport;
use agent_bash_protocol::data::ProgramData;
use agent_bash_protocol::file::{Base64Bytes, MAX_PIECE};
use std::ffi::OsString;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

/// The executable of this process, even if its file was replaced after the start.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Maximum number of bytes of stderr. With this and the maximum of stdout ([`MAX_PIECE`]), the
/// answer fits in a line of the protocol.
const MAX_STDERR_BYTES: usize = 256 << 10;

/// Runs agent-bash with the arguments `words` and the stdin `input`, and returns its output. If the
/// request is cancelled, kills the process.
pub(in crate::rpc) async fn run(
    session: &Conversation,
    words: Vec<String>,
    input: Option<Base64Bytes>,
    cancel: &Cancel,
) -> Result<ProgramData, ErrorReply> {
    let host = session.host();
    let command: Vec<OsString> = std::iter::once(THIS_PROGRAM.to_owned())
        .chain(words)
        .map(OsString::from)
        .collect();
    let cannot =
        |error: io::Error| ErrorReply::of_system(&error, "agent-bash cannot be run on the target");
    let Transport {
        input: mut stdin,
        output,
        errors,
        mut process,
    } = Transport::start(&command, &host.env, &host.cwd).map_err(cannot)?;
    let work = async {
        let write_input = async {
            // The program may end without reading all of its input.
            let _ = stdin.write_all(&input.unwrap_or_default().0).await;
            drop(stdin);
        };
        let (out, err, ()) = tokio::join!(
            read_to_end_within(output, MAX_PIECE),
            read_to_end_within(errors, MAX_STDERR_BYTES),
            write_input
        );
        let (out, err) = (out.map_err(cannot)?, err.map_err(cannot)?);
        let (Some(out), Some(err)) = (out, err) else {
            let max_mib = MAX_PIECE >> 20;
            let max_stderr_kib = MAX_STDERR_BYTES >> 10;
            return Err(ErrorReply::from(format!(
                "the program printed more than {max_mib} MiB, or more than {max_stderr_kib} KiB of errors; request a part of the output"
            )));
        };
        let code = process.code().await;
        Ok(ProgramData { code, out, err })
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ErrorReply::from("cancelled".to_owned())),
        done = work => done,
    }
}

/// Reads a stream to its end; `None` if it has more than `max_bytes`.
async fn read_to_end_within(
    stream: impl AsyncRead + Unpin,
    max_bytes: usize,
) -> io::Result<Option<Base64Bytes>> {
    let mut bytes = Vec::new();
    stream
        .take(max_bytes as u64 + 1)
        .read_to_end(&mut bytes)
        .await?;
    Ok((bytes.len() <= max_bytes).then_some(Base64Bytes(bytes)))
}
