//! HTTP: tunnels by `CONNECT`, and one plain request per connection.

use crate::dial::{Dialer, NotConnected};
use crate::head::{BadRequest, Body, RequestHead};
use crate::relay::{HEAD_TIMEOUT, copy, idle, relay, with_timeout};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// The largest head of a request.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The longest line with the length of a chunk, and the largest size of all trailers.
const MAX_LINE_BYTES: usize = 8 * 1024;

/// Serves one request, or one tunnel.
pub(crate) async fn serve(dialer: &Dialer, mut client: TcpStream) -> io::Result<()> {
    let mut buffer = Vec::new();
    let clock = &*dialer.clock;
    let head = with_timeout(clock, HEAD_TIMEOUT, read_head(&mut client, &mut buffer)).await?;
    let Ok(head) = head else {
        return respond(&mut client, "400 Bad Request").await;
    };
    let target = match &head {
        RequestHead::Connect(target) | RequestHead::Forward { target, .. } => target,
    };
    let mut server = match dialer.connect(target).await {
        Ok(server) => server,
        Err(NotConnected::Refused(unlisted)) => {
            let mut status = format!("403 Not allowed by sandbox.network: {target}");
            if unlisted != *target {
                let reason = format!(
                    " (its address {unlisted} is of this machine or not public, and not listed)"
                );
                status.push_str(&reason);
            }
            return respond(&mut client, &status).await;
        }
        Err(NotConnected::Failed(error)) => {
            let status = format!("502 Cannot reach {target}: {error}");
            return respond(&mut client, &status).await;
        }
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
            bytes,
            body,
            expects_continue,
            ..
        } => {
            server.write_all(&bytes).await?;
            if expects_continue {
                client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            }
            let (from_client, mut to_client) = client.split();
            let (mut from_server, mut to_server) = server.split();
            let copied_bytes = AtomicU64::new(0);
            let mut from_client = reader_of_both(&buffer, from_client);
            let request = send_body(&mut from_client, &mut to_server, body, &copied_bytes);
            let response = copy(&mut from_server, &mut to_client, &copied_bytes);
            // The end of the response ends the connection. Bytes after the body are never read, so
            // a second request never reaches a server.
            let exchange = async {
                tokio::pin!(response);
                tokio::select! {
                    done = &mut response => return done,
                    sent = request => sent?,
                }
                response.await
            };
            tokio::select! {
                done = exchange => done,
                () = idle(clock, &copied_bytes) => Err(io::ErrorKind::TimedOut.into()),
            }
        }
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
    copied_bytes: &AtomicU64,
) -> io::Result<()> {
    match body {
        Body::Length(length) => copy_exactly(from, to, length, copied_bytes).await,
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
            copy_exactly(from, to, size, copied_bytes).await?;
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
    copied_bytes: &AtomicU64,
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
        copied_bytes.fetch_add(read as u64, Ordering::Relaxed);
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
