//! Finds messages about an address in use, and the port that such a message names.

/// The texts of the C library and of common runtimes and tools. A first letter whose case varies is
/// left out.
const PHRASES: [&str; 8] = [
    "EADDRINUSE", "ddress already in use", "ddress is already in use", "ddress in use",
    "AddrInUse", "already allocated", "onnection in use", "already running on port",
];

/// The text of tools that check a port before they use that port. Counts only in a line that also
/// has the word `port`.
const PORT_PHRASE: &str = "in use";

/// Number of lines around a message in which `port` and a number are searched. Node prints the
/// fields of an error after its stack.
const NEAR_LINES: usize = 16;

/// A message about an address in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortMessage {
    /// The message names this port.
    Port(u16),
    /// The message names no port.
    Unnamed,
}

/// A number that may be a port, and its position in a line.
#[derive(Debug, Clone, Copy)]
struct NumberInLine {
    port: u16,
    at: usize,
    /// True for `port 80`; false for `host:80` and `("host", 80)`.
    follows_port: bool,
}

/// Returns the first message with a port in an output. If no message has a port, returns
/// [`PortMessage::Unnamed`].
pub fn port_in_use(lines: &[&str]) -> Option<PortMessage> {
    let mut message = None;
    for (index, line) in lines.iter().enumerate() {
        let Some(phrase) = phrase_in(line) else {
            continue;
        };
        let near = || {
            let start = index.saturating_sub(NEAR_LINES);
            let end = lines.len().min(index + 1 + NEAR_LINES);
            let after = lines[index + 1..end].iter();
            let mut near = after.chain(lines[start..index].iter().rev());
            near.find_map(|line| ports(line).into_iter().find(|port| port.follows_port))
        };
        match nearest(line, phrase).or_else(|| Some(near()?.port)) {
            Some(port) => return Some(PortMessage::Port(port)),
            None => message = Some(PortMessage::Unnamed),
        }
    }
    message
}

/// Returns the numbers in a script that may be ports. One digit is too short for a port.
pub fn possible_ports(script: &str) -> Vec<u16> {
    digit_runs(script)
        .map(|(_, _, port)| port)
        .filter(|port| *port >= 10)
        .collect()
}

/// Returns the position of a phrase about an address in use.
fn phrase_in(line: &str) -> Option<usize> {
    let phrase = PHRASES.iter().find_map(|phrase| line.find(phrase));
    phrase.or_else(|| {
        let at = line.find(PORT_PHRASE)?;
        (line.contains("port") || line.contains("Port")).then_some(at)
    })
}

/// Returns the port next to the phrase at this position: the last port before the phrase, or the
/// first port after it.
fn nearest(line: &str, phrase: usize) -> Option<u16> {
    let ports = ports(line);
    let before = ports.iter().rfind(|port| port.at < phrase);
    before.or(ports.first()).map(|port| port.port)
}

/// Returns the numbers in a line that are ports, as the text around the number shows.
fn ports(line: &str) -> Vec<NumberInLine> {
    let runs = digit_runs(line);
    runs.filter_map(|(at, end, port)| {
        let before = &line[..at];
        let follows_port = follows_port(before);
        let is_port = follows_port
            || before.strip_suffix(':').is_some_and(ends_in_host) && !is_column(&line[end..])
            || ["', ", "\", "].iter().any(|end| before.ends_with(end));
        is_port.then_some(NumberInLine {
            port,
            at,
            follows_port,
        })
    })
    .collect()
}

/// True if a text ends in `port`, followed by at most a few separators.
fn follows_port(text: &str) -> bool {
    let word = text.trim_end_matches([' ', ':', '=', '"', '\'', '#', '(']);
    let separators = text.len() - word.len();
    (1..=3).contains(&separators)
        && word.len() >= 4
        && word.is_char_boundary(word.len() - 4)
        && word[word.len() - 4..].eq_ignore_ascii_case("port")
}

/// True if the end of a text may precede `:PORT`: a host name, an address, `*`, or nothing. The
/// hours of a time may not.
fn ends_in_host(text: &str) -> bool {
    let is_host = |c: char| c.is_ascii_alphanumeric() || "._-*:[]".contains(c);
    let host = &text[text.trim_end_matches(is_host).len()..];
    let is_time = host.chars().all(|c| c.is_ascii_digit() || c == ':') && !host.contains("::");
    host.is_empty() || host == ":" || !is_time
}

/// True if a further number follows, as in `file.js:10:5`.
fn is_column(rest: &str) -> bool {
    let after = rest.strip_prefix(':').unwrap_or_default();
    after.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the start, the end and the value of each number that is not part of a word or of a
/// longer number.
fn digit_runs(text: &str) -> impl Iterator<Item = (usize, usize, u16)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text.get(at..)?.find(|c: char| c.is_ascii_digit())?;
            let rest = &text[start..];
            let length = rest.find(|c: char| !c.is_ascii_digit());
            let end = start + length.unwrap_or(rest.len());
            at = end;
            let joins = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let is_end_of_sentence =
                text[end..].starts_with('.') && !text[end + 1..].starts_with(char::is_alphanumeric);
            let is_word = text[..start].ends_with(joins)
                || text[end..].starts_with(joins) && !is_end_of_sentence;
            match text[start..end].parse() {
                Ok(port) if port > 0 && !is_word => return Some((start, end, port)),
                _ => {}
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of many programs, after their ports.
    const MESSAGES: &[&str] = &[
        "3000 Error: listen EADDRINUSE: address already in use :::3000",
        "5173 Error: listen EADDRINUSE: address already in use 127.0.0.1:5173",
        "3001 Error: listen EADDRINUSE\n    at Server.setupListenHandle [as _listen2] (node:net:1817:16)\n  code: 'EADDRINUSE',\n  errno: -98,\n  port: 3001\n}",
        "8000 [Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): address already in use",
        "5000 Address already in use\nPort 5000 is in use by another program. Either",
        "8000 [2026-11-28 07:22:10 +0000] [99] [ERROR] Connection in use: ('0.0.0.0', 8000)",
        "8080 2026/11/28 07:22:10 main.go:22: listen tcp :8080: bind: address already in use",
        "8081 listen tcp4 0.0.0.0:8081: bind: address already in use",
        "8082 panic: listen tcp [::1]:8082: bind: address already in use",
        "80 2026/11/28 07:22:10 [emerg] 12#12: bind() to 0.0.0.0:80 failed (98: Address already in use)",
        "80 nginx: [emerg] bind() to [::]:80 failed (98: Address already in use)",
        "8083 Bind for 0.0.0.0:8083 failed: port is already allocated.",
        "8084 Web server failed to start. Port 8084 was already in use.",
        "5174 Error: Port 5174 is already in use",
        "3002 error: Failed to start server. Is port 3002 in use?\n code: \"EADDRINUSE\"",
        "3003 Something is already running on port 3003.",
        "6379 Could not create server TCP listening socket *:6379: bind: Address already in use",
        "3004 Address already in use - bind(2) for \"127.0.0.1\" port 3004 (Errno::EADDRINUSE)",
        "8085 Failed to listen on localhost:8085 (reason: Address already in use)",
        "8086 bind(5, {AF=2 0.0.0.0:8086}, 16): Address already in use",
        "2222 Bind to port 2222 on 0.0.0.0 failed: Address already in use.",
        "8087 bind [127.0.0.1]:8087: Address already in use",
        "5432 could not bind IPv4 address \"127.0.0.1\": Address already in use\nHINT:  Is another postmaster already running on port 5432? If not, wait",
        "8088 (98)Address already in use: AH00072: make_sock: could not bind to address [::]:8088",
        "25565 java.net.BindException: Failed to bind to /0.0.0.0:25565: Address already in use",
        "7000 thread 'main' panicked at src/main.rs:4:55:\ncould not bind port=7000: Os { code: 98, kind: AddrInUse, message: \"Address already in use\" }",
    ];

    #[test]
    fn port_in_use_returns_the_port_of_messages_of_many_programs() {
        for row in MESSAGES {
            let (port, output) = row.split_once(' ').unwrap();
            let lines: Vec<&str> = output.lines().collect();
            let expected = PortMessage::Port(port.parse().unwrap());
            assert_eq!(port_in_use(&lines), Some(expected), "{output}");
        }
    }

    #[test]
    fn message_without_port_is_unnamed() {
        for output in [
            "OSError: [Errno 98] Address already in use",
            "java.net.BindException: Address already in use",
            "thread 'main' panicked at src/main.rs:4:55:\nOs { code: 98, kind: AddrInUse, message: \"Address already in use\" }",
            "07:22:10 nc: Address already in use",
        ] {
            let lines: Vec<&str> = output.lines().collect();
            assert_eq!(port_in_use(&lines), Some(PortMessage::Unnamed), "{output}");
        }
    }

    #[test]
    fn other_messages_are_ignored() {
        for line in [
            "",
            "connect ECONNREFUSED 127.0.0.1:80",
            "the name is in use",
            "import x from",
        ] {
            assert_eq!(port_in_use(&[line]), None, "{line}");
        }
    }

    #[test]
    fn possible_ports_of_a_script_are_its_whole_words() {
        let script = "python3 -m http.server 8000 --x=81 v1.2.3 a9000 99999; sleep 2";
        assert_eq!(possible_ports(script), [8000, 81]);
    }
}
