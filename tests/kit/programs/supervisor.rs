//! The supervisor of a crate's tests: libtest's `main` does not call `init`.
//!
//! With the argument `listen` the program is a server on loopback instead: it writes its port to
//! standard output and answers every connection with the next argument.

use std::io::{Write, stdout};
use std::net::{Ipv4Addr, TcpListener};

fn main() -> std::io::Result<()> {
    let _ = agent_bash_process::supervisor::init();
    let mut arguments = std::env::args().skip(1);
    if arguments.next().is_some_and(|word| word == "listen") {
        listen(&arguments.next().unwrap_or_default())?;
    }
    Ok(())
}

fn listen(answer: &str) -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    writeln!(stdout(), "{}", listener.local_addr()?.port())?;
    loop {
        // A client that disconnected does not need the answer.
        let _ = listener.accept()?.0.write_all(answer.as_bytes());
    }
}
