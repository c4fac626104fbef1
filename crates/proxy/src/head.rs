//! Reads the head of a client's request, and writes the head for the server.

use crate::rules::Target;
use agent_bash_core::words;
use httparse::{EMPTY_HEADER, Header, Request, Status};

/// The largest number of header fields.
const MAX_FIELDS: usize = 100;

/// Fields that concern one connection only, and are not forwarded. The proxy writes its own `Host`
/// and `Connection`.
const HOP_FIELDS: &[&str] = words![
    "host connection proxy-connection proxy-authorization keep-alive te upgrade",
    "http2-settings expect",
];

/// A request that the proxy does not serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadRequest;

/// The framing of a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// This number of bytes.
    Length(u64),
    /// Chunks, each with its length.
    Chunked,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestHead {
    /// A tunnel.
    Connect(Target),
    /// A request that is forwarded. `bytes` is the head for the server, which asks the server to
    /// close the connection after its response.
    Forward {
        target: Target,
        bytes: Vec<u8>,
        body: Body,
        /// True if the client waits for `100 Continue` before it sends the body.
        expects_continue: bool,
    },
}

impl RequestHead {
    /// Parses the head at the start of `bytes`. Also returns the length of the head. Returns `None`
    /// if the head is incomplete.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, BadRequest> {
        let mut fields = [EMPTY_HEADER; MAX_FIELDS];
        let mut request = Request::new(&mut fields);
        let length = match request.parse(bytes).map_err(|_| BadRequest)? {
            Status::Complete(length) => length,
            Status::Partial => return Ok(None),
        };
        let (Some(method), Some(uri), Some(version)) =
            (request.method, request.path, request.version)
        else {
            return Err(BadRequest);
        };
        if method == "CONNECT" {
            let target = Target::parse(uri, None).ok_or(BadRequest)?;
            return Ok(Some((Self::Connect(target), length)));
        }
        let (target, path) = split_uri(uri)?;
        let body = body_framing(request.headers, version)?;
        let expectation = single_value(request.headers, "expect")?;
        let expects_continue = match expectation {
            None => false,
            Some(value) if value.eq_ignore_ascii_case(b"100-continue") => true,
            Some(_) => return Err(BadRequest),
        };
        let host = match target.port {
            80 => target.host.to_string(),
            _ => target.to_string(),
        };
        let first_lines =
            format!("{method} {path} HTTP/1.{version}\r\nHost: {host}\r\nConnection: close\r\n");
        let mut head = first_lines.into_bytes();
        let connection_options = connection_options(request.headers);
        for field in request.headers.iter() {
            let name = field.name.to_ascii_lowercase();
            if HOP_FIELDS.contains(&name.as_str()) || connection_options.contains(&name) {
                continue;
            }
            head.extend_from_slice(field.name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(field.value);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        let forward = Self::Forward {
            target,
            bytes: head,
            body,
            expects_continue,
        };
        Ok(Some((forward, length)))
    }
}

/// Splits `http://host[:port]/path?query` into its target and its path. User information, other
/// schemes and paths without a host are refused.
fn split_uri(uri: &str) -> Result<(Target, String), BadRequest> {
    let (scheme, rest) = uri.split_once("://").ok_or(BadRequest)?;
    if !scheme.eq_ignore_ascii_case("http") {
        return Err(BadRequest);
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let target = Target::parse(authority, Some(80)).ok_or(BadRequest)?;
    let path = match path.chars().next() {
        Some('/') => path.to_owned(),
        None => "/".to_owned(),
        Some('?') => format!("/{path}"),
        Some(_) => return Err(BadRequest),
    };
    Ok((target, path))
}

/// Returns the value of a field. Refuses a field that occurs more than once.
fn single_value<'a>(fields: &[Header<'a>], name: &str) -> Result<Option<&'a [u8]>, BadRequest> {
    let mut values = fields
        .iter()
        .filter(|field| field.name.eq_ignore_ascii_case(name));
    let value = values.next().map(|field| field.value);
    match values.next() {
        Some(_) => Err(BadRequest),
        None => Ok(value),
    }
}

/// Returns the framing of the body. Refuses a body that two programs could frame differently.
fn body_framing(fields: &[Header<'_>], version: u8) -> Result<Body, BadRequest> {
    let chunked = single_value(fields, "transfer-encoding")?;
    let length = single_value(fields, "content-length")?;
    match (chunked, length) {
        (None, None) => Ok(Body::Length(0)),
        (Some(value), None) if version == 1 && value.eq_ignore_ascii_case(b"chunked") => {
            Ok(Body::Chunked)
        }
        (None, Some(value)) if value.iter().all(u8::is_ascii_digit) => {
            let text = std::str::from_utf8(value).ok();
            let length = text.and_then(|text| text.parse().ok());
            length.map(Body::Length).ok_or(BadRequest)
        }
        _ => Err(BadRequest),
    }
}

/// Returns the names of the fields that `Connection` lists, which are not forwarded. The fields
/// that frame the body are never among them.
fn connection_options(fields: &[Header<'_>]) -> Vec<String> {
    let connection_fields = fields
        .iter()
        .filter(|field| field.name.eq_ignore_ascii_case("connection"));
    let values = connection_fields.flat_map(|field| field.value.split(|b| *b == b','));
    let names = values.map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase());
    names
        .filter(|name| name != "content-length" && name != "transfer-encoding")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<(RequestHead, usize)>, BadRequest> {
        RequestHead::parse(text.as_bytes())
    }

    fn target(text: &str) -> Target {
        Target::parse(text, None).unwrap()
    }

    #[test]
    fn forwarded_head_has_the_host_of_the_uri_and_no_hop_fields() {
        let text = "GET HTTP://Example.com:8080?q=1 HTTP/1.1\r\nHost: other.example\r\n\
                    Proxy-Authorization: Basic x\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n\
                    Accept: */*\r\nContent-Length: 3\r\n\r\nabcGET";
        let Some((
            RequestHead::Forward {
                target: found,
                bytes,
                body,
                ..
            },
            length,
        )) = parse(text).unwrap()
        else {
            panic!("no request");
        };
        assert_eq!(found, target("example.com:8080"));
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "GET /?q=1 HTTP/1.1\r\nHost: example.com:8080\r\nConnection: close\r\nAccept: */*\r\n\
             Content-Length: 3\r\n\r\n"
        );
        assert_eq!(body, Body::Length(3));
        assert_eq!(&text[length..], "abcGET");
    }

    #[test]
    fn connect_needs_a_host_and_a_port() {
        let head = |uri: &str| parse(&format!("CONNECT {uri} HTTP/1.1\r\n\r\n"));
        for uri in ["a.com:443", "[2606:4700::1111]:443", "1.1.1.1:80"] {
            let (found, _) = head(uri).unwrap().unwrap();
            assert_eq!(found, RequestHead::Connect(target(uri)), "{uri}");
        }
        for uri in [
            "a.com", "user@a.com:443", "http://a.com:443", "a.com:443/", "a.com:", ":443",
            "a.com:443:443", "/", "*", "127.1:443", "a.com@b.com:443", "a.com#b.com:443",
        ] {
            assert_eq!(head(uri), Err(BadRequest), "{uri}");
        }
    }

    #[test]
    fn ambiguous_requests_are_refused() {
        for (uri, fields) in [
            ("/", "Host: a.com\r\n"),
            ("https://a.com/", ""),
            ("http://u:p@a.com/", ""),
            ("http://a.com#x", ""),
            ("http://a.com\\@b.com/", ""),
            ("http:///x", ""),
            (
                "http://a.com/",
                "Content-Length: 1\r\nContent-Length: 1\r\n",
            ),
            ("http://a.com/", "Content-Length: 1, 1\r\n"),
            ("http://a.com/", "Content-Length: +1\r\n"),
            ("http://a.com/", "Content-Length: \r\n"),
            (
                "http://a.com/",
                "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
            ),
            ("http://a.com/", "Transfer-Encoding: gzip, chunked\r\n"),
            (
                "http://a.com/",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n",
            ),
            ("http://a.com/", "Transfer-Encoding : chunked\r\n"),
            ("http://a.com/", "A: b\r\n Transfer-Encoding: chunked\r\n"),
            ("http://a.com/", "Expect: x\r\n"),
        ] {
            let text = format!("POST {uri} HTTP/1.1\r\n{fields}\r\n");
            assert_eq!(parse(&text), Err(BadRequest), "{text}");
        }
        let old = "POST http://a.com/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(parse(old), Err(BadRequest));
        assert_eq!(parse("GET http://a.com/ HT"), Ok(None));
    }
}
