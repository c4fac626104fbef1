//! A page on loopback on which the user answers one password prompt. MCP forbids a server to ask
//! for a password with a form: the client would see it. With a page, only this process does.
//!
//! The page's address has a random token, which only the client gets. Serves one page and its form,
//! nothing else of HTTP.

use super::random_token::random_token;
use agent_bash::core::Clock;
use httparse::{EMPTY_HEADER, Request, Status};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Maximum length of a request in bytes.
const MAX_REQUEST_BYTES: usize = 16 * 1024;

/// Maximum number of header fields of a request. Browsers send about 20.
const MAX_FIELDS: usize = 100;

/// Maximum number of connections at a time. Browsers open some in advance.
const MAX_CONNECTIONS: usize = 16;

/// How long a browser may take for one request. It opens connections that it does not use.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The name of the form's text field, and of the button that refuses.
const ANSWER_FIELD: &str = "answer";
const REFUSE_FIELD: &str = "refuse";

/// Headers of every response. The page loads nothing, is not stored, and is in no frame.
const HEADERS: &str = "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\n\
    Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
    frame-ancestors 'none'\r\nConnection: close\r\n";

/// The page of one question.
#[derive(Debug)]
pub(super) struct PromptPage {
    listener: TcpListener,
    page: Arc<ServedPage>,
}

#[derive(Debug)]
struct ServedPage {
    /// `127.0.0.1:PORT`, as in the `Host` header of a browser that has the address.
    host: String,
    /// The path with the token.
    path: String,
    html: String,
}

/// The user's decision on the page.
#[derive(PartialEq, Eq)]
enum Submission {
    Answer(String),
    Refused,
}

impl PromptPage {
    /// Begins to listen. `question` is the text of the page.
    pub(super) async fn open(question: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let host = listener.local_addr()?.to_string();
        let path = format!("/{}", random_token()?);
        let html = page(question, &path);
        let page = Arc::new(ServedPage { host, path, html });
        Ok(Self { listener, page })
    }

    /// Returns the address of the page.
    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.page.host, self.page.path)
    }

    /// Serves the page until the user has answered. `None` if the user refuses.
    pub(super) async fn answer(&self, clock: &Arc<dyn Clock>) -> Option<String> {
        let (submitted, mut submissions) = mpsc::channel(1);
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                submission = submissions.recv() => {
                    return match submission? {
                        Submission::Answer(answer) => Some(answer),
                        Submission::Refused => None,
                    };
                }
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                    let Ok((stream, _)) = accepted else { continue };
                    let (page, submitted) = (Arc::clone(&self.page), submitted.clone());
                    let clock = Arc::clone(clock);
                    connections.spawn(async move {
                        let submission = tokio::select! {
                            biased;
                            submission = page.serve(stream) => submission,
                            () = clock.sleep(REQUEST_TIMEOUT) => None,
                        };
                        if let Some(submission) = submission {
                            // A second answer is not needed.
                            let _ = submitted.send(submission).await;
                        }
                    });
                }
            }
        }
    }
}

impl ServedPage {
    /// Serves one request. Returns what the user sent with the form.
    async fn serve(&self, mut stream: TcpStream) -> Option<Submission> {
        let request = read_request(&mut stream).await?;
        let (status, html, submission) = self.respond(&request);
        let response = format!(
            "HTTP/1.1 {status}\r\n{HEADERS}Content-Length: {}\r\n\r\n{html}",
            html.len()
        );
        let _ = stream.write_all(response.as_bytes()).await;
        let _ = stream.shutdown().await;
        submission
    }

    fn respond(&self, request: &HttpRequest) -> (&'static str, &str, Option<Submission>) {
        // Another host name would be a page of another site that resolves to this address.
        if request.path != self.path || request.host != self.host {
            return ("404 Not Found", "", None);
        }
        match request.method.as_str() {
            "GET" => ("200 OK", &self.html, None),
            "POST" => match submission(&request.body) {
                Some(submission) => ("200 OK", DONE_PAGE, Some(submission)),
                None => ("400 Bad Request", "", None),
            },
            _ => ("405 Method Not Allowed", "", None),
        }
    }
}

/// The parts of a request that matter here.
struct HttpRequest {
    method: String,
    path: String,
    host: String,
    body: Vec<u8>,
}

/// Reads a request. `None` if it is invalid, too long, or incomplete at its end.
async fn read_request(stream: &mut TcpStream) -> Option<HttpRequest> {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let length = stream.read(&mut part).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&part[..length]);
        if bytes.len() > MAX_REQUEST_BYTES {
            return None;
        }
        if let Some(request) = parse_request(&bytes).ok()? {
            return Some(request);
        }
    }
}

/// Parses a request; `Ok(None)` if more bytes are needed.
fn parse_request(bytes: &[u8]) -> Result<Option<HttpRequest>, httparse::Error> {
    let mut fields = [EMPTY_HEADER; MAX_FIELDS];
    let mut head = Request::new(&mut fields);
    let Status::Complete(head_length) = head.parse(bytes)? else {
        return Ok(None);
    };
    let field = |wanted: &str| {
        let found = head
            .headers
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case(wanted));
        found.map(|field| String::from_utf8_lossy(field.value))
    };
    let length = field("content-length").map_or(Ok(0), |text| text.parse::<usize>());
    let length = length.map_err(|_| httparse::Error::HeaderValue)?;
    let Some(body) = bytes[head_length..].get(..length) else {
        return Ok(None);
    };
    Ok(Some(HttpRequest {
        method: head.method.unwrap_or_default().to_owned(),
        path: head.path.unwrap_or_default().to_owned(),
        host: field("host")
            .ok_or(httparse::Error::HeaderName)?
            .into_owned(),
        body: body.to_vec(),
    }))
}

/// Reads the fields of a form.
fn submission(body: &[u8]) -> Option<Submission> {
    let fields = std::str::from_utf8(body).ok()?.split('&');
    let fields: Vec<(&str, &str)> = fields.filter_map(|field| field.split_once('=')).collect();
    if fields.iter().any(|(name, _)| *name == REFUSE_FIELD) {
        return Some(Submission::Refused);
    }
    let answer = fields.iter().find(|(name, _)| *name == ANSWER_FIELD)?;
    Some(Submission::Answer(decoded(answer.1)?))
}

/// Decodes a value of a form (`application/x-www-form-urlencoded`).
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

const STYLE: &str = "<!doctype html><meta charset=utf-8><title>agent-bash: a command asks</title>\
    <style>body{font:16px sans-serif;max-width:44em;margin:3em auto;padding:0 1em}\
    pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8882;padding:1em}\
    input{font:inherit;width:100%;box-sizing:border-box;margin:.5em 0}</style>";

/// The page after an answer.
const DONE_PAGE: &str = "<!doctype html><meta charset=utf-8><title>agent-bash</title>\
    <p>The command has been told. You can close this page.";

fn page(question: &str, path: &str) -> String {
    let question = escaped(question);
    format!(
        "{STYLE}<h1>A command asks for a password</h1><pre>{question}</pre>\
         <p>The command gets what you type. The model and its client do not see it, unless the command prints it.\
         <form method=post action=\"{path}\" autocomplete=off>\
         <input type=password name={ANSWER_FIELD} autofocus autocomplete=off>\
         <button>Answer</button> <button name={REFUSE_FIELD} value=1>Refuse</button></form>"
    )
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::process::SystemClock;

    async fn sent(page: &PromptPage, request: &str) -> String {
        let mut stream = TcpStream::connect(&page.page.host).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    /// Sends requests while the page is served. Returns the responses and the user's answer.
    async fn served(make: impl Fn(&str, &str) -> Vec<String>) -> (Vec<String>, Option<String>) {
        let page = PromptPage::open("Passphrase for <key>:").await.unwrap();
        let requests = make(&page.page.host, &page.page.path);
        let sending = async {
            let mut responses = Vec::new();
            for request in requests {
                responses.push(sent(&page, &request).await);
            }
            responses
        };
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let (answer, responses) = tokio::join!(page.answer(&clock), sending);
        (responses, answer)
    }

    fn post(host: &str, path: &str, body: &str) -> String {
        let length = body.len();
        format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}")
    }

    #[tokio::test]
    async fn form_is_shown_escaped_and_its_answer_is_decoded() {
        let (responses, answer) = served(|host, path| {
            vec![
                format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
                post(host, path, "answer=a+b%26%C3%A9%25"),
            ]
        })
        .await;
        assert!(responses[0].contains("<pre>Passphrase for &lt;key&gt;:</pre>"));
        assert!(responses[1].starts_with("HTTP/1.1 200 OK\r\n"));
        assert_eq!(answer.as_deref(), Some("a b&é%"));
    }

    #[tokio::test]
    async fn other_path_and_other_host_are_refused() {
        let (responses, answer) = served(|host, path| {
            vec![
                format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"),
                post(host, "/0123", "answer=wrong"),
                post("evil.example", path, "answer=wrong"),
                post(host, path, "other=wrong"),
                post(host, path, "answer=typed&refuse=1"),
            ]
        })
        .await;
        for (response, status) in responses.iter().zip(["404", "404", "404", "400", "200"]) {
            assert_eq!(response.split(' ').nth(1), Some(status), "{response}");
        }
        assert_eq!(answer, None);
    }
}
