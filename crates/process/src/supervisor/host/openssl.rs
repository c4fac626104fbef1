//! TLS by the system's program `openssl`, for the proxies of sandboxes. A TLS library would make
//! the program of agent-bash longer for every user, and would need certificates of its own.

use agent_bash_proxy::{Host, TlsProcess, TlsProgram};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The usual paths of the program. `PATH` is not searched, because calls may write in directories
/// of `PATH`.
const PROGRAM_PATHS: [&str; 3] = [
    "/usr/bin/openssl",
    "/usr/local/bin/openssl",
    "/run/current-system/sw/bin/openssl",
];

/// The variables that name the certificates of trusted authorities.
const CERTIFICATE_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The options of `openssl s_client`: no interactive commands, and no connection without a valid
/// certificate.
const CLIENT_OPTIONS: [&str; 6] = [
    "s_client",
    "-quiet",
    "-verify_quiet",
    "-verify_return_error",
    "-verify",
    "9",
];

/// The largest size of the error messages that are read, in bytes.
const MAX_MESSAGE_BYTES: u64 = 8 * 1024;

/// The beginning of the message about an invalid certificate.
const CERTIFICATE_MESSAGE: &str = "verify error:";

/// Starts `openssl`.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenSsl {
    /// The environment of the program.
    env: Vec<(OsString, OsString)>,
}

impl OpenSsl {
    /// Returns the program with the certificates that `env` names.
    pub(super) fn new(env: &BTreeMap<OsString, OsString>) -> Self {
        let named = |name: &&str| Some(((*name).into(), env.get(OsStr::new(*name))?.clone()));
        Self {
            env: CERTIFICATE_VARIABLES.iter().filter_map(named).collect(),
        }
    }
}

impl TlsProgram for OpenSsl {
    fn start(
        &self,
        address: SocketAddr,
        host: &Host,
        stream: UnixStream,
    ) -> io::Result<Box<dyn TlsProcess>> {
        let mut paths = PROGRAM_PATHS.into_iter();
        let path = paths.find(|path| Path::new(path).exists());
        let path = path.ok_or_else(|| io::Error::other("the program openssl is not installed"))?;
        let output = OwnedFd::from(stream.try_clone()?);
        #[expect(
            clippy::disallowed_methods,
            reason = "the proxy has no other way to encrypt"
        )]
        let mut command = Command::new(path);
        command.args(CLIENT_OPTIONS);
        command.args(["-connect", &address.to_string()]);
        match host {
            Host::Name(name) => command.args(["-servername", name, "-verify_hostname", name]),
            Host::Address(address) => {
                command.args(["-noservername", "-verify_ip", &address.to_string()])
            }
        };
        command
            .env_clear()
            .envs(self.env.iter().cloned())
            .current_dir("/")
            .stdin(OwnedFd::from(stream))
            .stdout(output)
            .stderr(Stdio::piped());
        Ok(Box::new(OpenSslProcess(command.spawn()?)))
    }
}

/// A running `openssl`.
struct OpenSslProcess(Child);

impl TlsProcess for OpenSslProcess {
    fn end(&mut self) -> String {
        // Without the process, the end of its messages is reached at once.
        let _ = self.0.kill();
        let _ = self.0.wait();
        let mut messages = Vec::new();
        if let Some(stderr) = self.0.stderr.take() {
            let _ = stderr.take(MAX_MESSAGE_BYTES).read_to_end(&mut messages);
        }
        reason_in(&String::from_utf8_lossy(&messages))
    }
}

impl Drop for OpenSslProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the reason for a failure from the messages of `openssl`.
fn reason_in(messages: &str) -> String {
    let certificate = messages
        .lines()
        .find(|line| line.starts_with(CERTIFICATE_MESSAGE));
    let line = certificate.or(messages.lines().last());
    let line = line.unwrap_or("the server closed the connection");
    let is_shown = |letter: &char| letter.is_ascii_graphic() || *letter == ' ';
    line.chars().filter(is_shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_is_the_invalid_certificate_or_the_last_message() {
        for (messages, want) in [
            (
                "depth=0 CN = a\nverify error:num=62:hostname mismatch\n40F:error:x\n",
                "verify error:num=62:hostname mismatch",
            ),
            ("a\nconnect\r:errno=111\n", "connect:errno=111"),
            ("", "the server closed the connection"),
        ] {
            assert_eq!(reason_in(messages), want);
        }
    }
}
