//! Runs this program with other words, for a host: what a command line of ours does is done where
//! the data is.

use super::refused::ErrorReply;
use agent_bash::Conversation;
use agent_bash::core::Cancel;
use agent_bash::process::Transport;
use agent_bash_protocol::data::ProgramData;
use agent_bash_protocol::file::{Base64Bytes, MAX_PIECE};
use std::ffi::OsString;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

/// This program, whatever became of its file since it was started.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Most bytes of what it says on stderr. With the longest output it still fits a line.
const MAX_STDERR_BYTES: usize = 256 << 10;

/// Runs it to its end, or until it is cancelled, which kills it.
pub(super) async fn run(
    session: &Conversation,
    words: Vec<String>,
    input: Option<Base64Bytes>,
    cancel: &Cancel,
) -> Result<ProgramData, ErrorReply> {
    let host = session.host();
    let words: Vec<OsString> = std::iter::once(THIS_PROGRAM.to_owned())
        .chain(words)
        .map(OsString::from)
        .collect();
    let cannot =
        |error: io::Error| ErrorReply::of_system(&error, "our program cannot be run there");
    let Transport {
        input: mut stdin,
        output,
        errors,
        mut carrier,
    } = Transport::start(&words, &host.env, &host.cwd).map_err(cannot)?;
    let work = async {
        let feed = async {
            // The program may end without reading all of its input.
            let _ = stdin.write_all(&input.unwrap_or_default().0).await;
            drop(stdin);
        };
        let (out, err, ()) = tokio::join!(
            whole(output, MAX_PIECE),
            whole(errors, MAX_STDERR_BYTES),
            feed
        );
        let (out, err) = (out.map_err(cannot)?, err.map_err(cannot)?);
        let (Some(out), Some(err)) = (out, err) else {
            let most = MAX_PIECE >> 20;
            return Err(ErrorReply::from(format!(
                "it printed more than {most} MiB; ask for a part of it"
            )));
        };
        let code = carrier.code().await;
        Ok(ProgramData { code, out, err })
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ErrorReply::from("cancelled".to_owned())),
        done = work => done,
    }
}

/// All that comes; `None` if it is more than that.
async fn whole(stream: impl AsyncRead + Unpin, most: usize) -> io::Result<Option<Base64Bytes>> {
    let mut bytes = Vec::new();
    stream.take(most as u64 + 1).read_to_end(&mut bytes).await?;
    Ok((bytes.len() <= most).then_some(Base64Bytes(bytes)))
}
