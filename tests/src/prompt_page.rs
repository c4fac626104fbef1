//! The page on which the user answers a password prompt: requests as a browser sends them.

use anyhow::{Context, Result};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Sends a request to the page, and returns the whole response.
///
/// # Errors
/// The page does not exist (any more).
pub fn request(url: &str, method: &str, body: &str) -> Result<String> {
    let rest = url.strip_prefix("http://").context("http")?;
    let (host, path) = rest.split_once('/').context("a path")?;
    let mut stream = TcpStream::connect(host)?;
    let length = body.len();
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}
