//! The supervisor of a crate's own tests: they run under libtest's `main`, which does not call `init`.
//!
//! With the word `listen` it is a server on loopback instead: it writes its port to standard output, and answers every
//! connection.

use std::io::{Write, stdout};
use std::net::{Ipv4Addr, TcpListener};

fn main() -> std::io::Result<()> {
    let _ = agent_bash_process::supervisor::init();
    if std::env::args().nth(1).is_some_and(|word| word == "listen") {
        listen()?;
    }
    Ok(())
}

fn listen() -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    writeln!(stdout(), "{}", listener.local_addr()?.port())?;
    loop {
        // Whoever went away does not want it.
        let _ = listener.accept()?.0.write_all(b"answered\n");
    }
}
