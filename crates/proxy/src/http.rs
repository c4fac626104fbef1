//! HTTP: tunnels by `CONNECT`, and one plain request per connection.

use crate::dial::{Dialer, NotConnected};
use crate::head::{BadRequest, Body, RequestHead};
use crate::relay::{HEAD_TIMEOUT, Progress, relay, with_timeout};
use crate::rules::Target;
use crate::secrets::{FilledHead, Replacement, Secrets, Upstream};
use agent_bash_core::Clock;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// The largest head of a request.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The longest line with the length of a chunk, and the largest size of all trailers.
const MAX_LINE_BYTES: usize = 8 * 1024;

/// The size of the buffer for responses: more than the longest value and a chunk.
const RESPONSE_BUFFER_BYTES: usize = 2 * MAX_HEAD_BYTES;

/// The field of each response, as not all servers say that they close the connection. Without the
/// field, the client may send its next request on a connection that ends.
const CLOSE_FIELD: &[u8] = b"Connection: close\r\n";

/// Serves one request, or one tunnel.
pub(crate) async fn serve(
    dialer: &Dialer,
    secrets: &Secrets,
    mut client: TcpStream,
) -> io::Result<()> {
    let mut buffer = Vec::new();
    let clock = &*dialer.clock;
    let head = with_timeout(clock, HEAD_TIMEOUT, read_head(&mut client, &mut buffer)).await?;
    let Ok(head) = head else {
        return respond(&mut client, "400 Bad Request").await;
    };
    let upstream = match &head {
        RequestHead::Connect(target) => Upstream {
            target: target.clone(),
            is_encrypted: false,
        },
        RequestHead::Forward { target, .. } => secrets.upstream(target),
    };
    let mut server = match dialer.connect(&upstream.target).await {
        Ok(server) => server,
        Err(error) => return respond(&mut client, &status_of(&upstream.target, &error)).await,
    };
    match head {
        RequestHead::Connect(_) => {
            client
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await?;
            server.write_all(&buffer).await?;
            relay(&mut client, &mut server, clock).await
        }
        RequestHead::Forward {
            target,
            bytes,
            body,
            expects_continue,
        } => {
            let head = secrets.fill(&target, bytes);
            for variable in &head.unfilled {
                dialer.refusals.add(&target, Some(variable.clone()));
            }
            let request = ForwardedRequest {
                head,
                expects_continue,
                body,
                body_start: buffer,
            };
            let has_response = AtomicBool::new(false);
            if !upstream.is_encrypted {
                forward(&mut client, &mut server, request, clock, &has_response).await?;
                return client.shutdown().await;
            }
            let status = |reason: String| format!("502 Cannot reach {target} by TLS: {reason}");
            let mut tls = match secrets.encrypt(server, &target.host) {
                Ok(tls) => tls,
                Err(error) => return respond(&mut client, &status(error.to_string())).await,
            };
            let forwarded =
                forward(&mut client, &mut tls.stream, request, clock, &has_response).await;
            if !has_response.load(Ordering::Relaxed) {
                return respond(&mut client, &status(tls.end())).await;
            }
            forwarded?;
            client.shutdown().await
        }
    }
}

/// Returns the status for a target without a connection.
fn status_of(target: &Target, error: &NotConnected) -> String {
    match error {
        NotConnected::Refused(unlisted) => {
            let status = format!("403 Not allowed by sandbox.network: {target}");
            if unlisted == target {
                return status;
            }
            format!(
                "{status} (its address {unlisted} is of this machine or not public, and not listed)"
            )
        }
        NotConnected::Failed(error) => format!("502 Cannot reach {target}: {error}"),
    }
}

/// A request for a server.
struct ForwardedRequest {
    head: FilledHead,
    /// True if the client waits for `100 Continue` before it sends the body.
    expects_continue: bool,
    body: Body,
    /// The bytes after the head that were already received.
    body_start: Vec<u8>,
}

/// Sends the request to `server` and the response to `client`. Sets `has_response` when the server
/// has begun to respond.
async fn forward<S: AsyncRead + AsyncWrite + Unpin>(
    client: &mut TcpStream,
    server: &mut S,
    request: ForwardedRequest,
    clock: &dyn Clock,
    has_response: &AtomicBool,
) -> io::Result<()> {
    server.write_all(&request.head.bytes).await?;
    if request.expects_continue {
        client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let (from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let progress = Progress::default();
    let mut from_client = reader_of_both(&request.body_start, from_client);
    let send_request = async {
        send_body(&mut from_client, &mut to_server, request.body, &progress).await?;
        // Bytes after the body are dropped, so a second request never reaches a server.
        let _ = tokio::io::copy(&mut from_client, &mut tokio::io::sink()).await;
        progress.half_close();
        pending().await
    };
    let response = copy_response(
        &mut from_server, &mut to_client, &request.head.replacements, has_response, &progress,
    );
    // The end of the response ends the connection.
    tokio::select! {
        done = response => done,
        failed = send_request => failed,
        () = progress.idle(clock) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Copies a response until its end, with [`CLOSE_FIELD`], and with placeholders in place of the
/// values that the server returns.
async fn copy_response(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    replacements: &[Replacement],
    has_response: &AtomicBool,
    progress: &Progress,
) -> io::Result<()> {
    let mut buffer = vec![0; RESPONSE_BUFFER_BYTES];
    let mut is_start = true;
    // The bytes at the start of the buffer that may be the beginning of a value.
    let mut held = 0;
    loop {
        let read = from.read(&mut buffer[held..]).await?;
        let filled = held + read;
        let partial = Replacement::hide_all(replacements, &mut buffer[..filled]);
        held = if read == 0 { 0 } else { partial };
        let mut ready = &buffer[..filled - held];
        let line_end = ready.iter().position(|byte| *byte == b'\n');
        let is_response = std::mem::take(&mut is_start) && ready.starts_with(b"HTTP/1.");
        if let Some(line_end) = line_end.filter(|_| is_response) {
            let (status_line, rest) = ready.split_at(line_end + 1);
            to.write_all(status_line).await?;
            to.write_all(CLOSE_FIELD).await?;
            ready = rest;
        }
        to.write_all(ready).await?;
        if read == 0 {
            return Ok(());
        }
        has_response.store(true, Ordering::Relaxed);
        buffer.copy_within(filled - held..filled, 0);
        progress.add(read);
    }
}

/// Returns a reader of `first` and then `rest`.
fn reader_of_both<'a>(
    first: &'a [u8],
    rest: impl AsyncRead + Unpin + 'a,
) -> impl AsyncRead + Unpin + 'a {
    first.chain(rest)
}

/// Reads the head of a request. Afterwards, `buffer` has the bytes that follow the head.
async fn read_head(
    client: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> io::Result<Result<RequestHead, BadRequest>> {
    loop {
        if client.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match RequestHead::parse(buffer) {
            Ok(Some((head, length))) => {
                buffer.drain(..length);
                return Ok(Ok(head));
            }
            Ok(None) if buffer.len() < MAX_HEAD_BYTES => {}
            Ok(None) | Err(BadRequest) => return Ok(Err(BadRequest)),
        }
    }
}

/// Sends a response of the proxy itself, with the status as its text.
async fn respond(client: &mut TcpStream, status: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{status}\n",
        status.len() + 1
    );
    client.write_all(head.as_bytes()).await?;
    client.shutdown().await
}

/// Copies the body of a request and nothing after it.
async fn send_body(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    body: Body,
    progress: &Progress,
) -> io::Result<()> {
    match body {
        Body::Length(length) => copy_exactly(from, to, length, progress).await,
        Body::Chunked => loop {
            let line = read_line(from).await?;
            let size = chunk_size(&line)?;
            to.write_all(format!("{size:x}\r\n").as_bytes()).await?;
            if size == 0 {
                // Trailers are dropped.
                let mut total = 0;
                loop {
                    let line = read_line(from).await?;
                    total += line.len();
                    if line.is_empty() {
                        return to.write_all(b"\r\n").await;
                    }
                    if total > MAX_LINE_BYTES {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                }
            }
            copy_exactly(from, to, size, progress).await?;
            if !read_line(from).await?.is_empty() {
                return Err(io::ErrorKind::InvalidData.into());
            }
            to.write_all(b"\r\n").await?;
        },
    }
}

/// Copies `length` bytes.
async fn copy_exactly(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut length: u64,
    progress: &Progress,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    while length > 0 {
        let chunk_bytes = usize::try_from(length).map_or(buffer.len(), |it| it.min(buffer.len()));
        let read = from.read(&mut buffer[..chunk_bytes]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        to.write_all(&buffer[..read]).await?;
        length -= read as u64;
        progress.add(read);
    }
    Ok(())
}

/// Reads a line that ends with CRLF, byte by byte. Returns the line without the CRLF.
async fn read_line(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    while line.len() <= MAX_LINE_BYTES {
        line.push(from.read_u8().await?);
        if line.ends_with(b"\r\n") {
            line.truncate(line.len() - 2);
            return Ok(line);
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// Parses the hexadecimal length of a chunk; extensions are dropped.
fn chunk_size(line: &[u8]) -> io::Result<u64> {
    let digits = line.split(|b| *b == b';').next().unwrap_or_default();
    let text = std::str::from_utf8(digits.trim_ascii_end()).unwrap_or_default();
    let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
    let size = u64::from_str_radix(text, 16).ok().filter(|_| is_plain);
    size.ok_or(io::ErrorKind::InvalidData.into())
}
