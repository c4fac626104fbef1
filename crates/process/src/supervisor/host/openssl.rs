//! TLS by the system's program `openssl`, for the proxies of sandboxes. A TLS library would make
//! the program of agent-bash longer for every user, and would need certificates of its own.

use crate::private_directory::{PrivateDirectory, SHELL_PREFIX};
use crate::temporary::{SHARED_DIRECTORY, make_temporary};
use agent_bash_proxy::{Host, StartedTls, TlsProcess, TlsProgram};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
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
    "s_client", "-quiet", "-verify_quiet", "-verify_return_error", "-verify", "9",
];

/// The largest size of the error messages that are read, in bytes.
const MAX_MESSAGE_BYTES: u64 = 8 * 1024;

/// The beginning of the message about an invalid certificate.
const CERTIFICATE_MESSAGE: &str = "verify error:";

/// The name of the socket to which `openssl` connects, in a directory of this user alone.
const SOCKET_NAME: &str = "server";

/// Returns the path of the program `openssl`, which encrypts the requests that get secrets.
pub fn openssl_path() -> Option<&'static Path> {
    let mut paths = PROGRAM_PATHS.into_iter().map(Path::new);
    paths.find(|path| path.exists())
}

/// Starts `openssl`.
#[derive(Debug, Clone)]
pub(super) struct OpenSsl {
    /// The environment of the program.
    env: Vec<(OsString, OsString)>,
    /// The parent of the directories of sockets.
    tmpdir: PathBuf,
}

impl OpenSsl {
    /// Returns the program with the certificates and the temporary directory that `env` names.
    pub(super) fn new(env: &BTreeMap<OsString, OsString>) -> Self {
        let named = |name: &&str| Some(((*name).into(), env.get(OsStr::new(*name))?.clone()));
        let tmpdir = env.get(OsStr::new("TMPDIR")).map(PathBuf::from);
        let tmpdir = tmpdir.filter(|path| path.is_absolute());
        Self {
            env: CERTIFICATE_VARIABLES.iter().filter_map(named).collect(),
            tmpdir: tmpdir.unwrap_or_else(|| SHARED_DIRECTORY.into()),
        }
    }
}

impl TlsProgram for OpenSsl {
    fn start(&self, host: &Host, stream: UnixStream) -> io::Result<StartedTls> {
        let path = openssl_path();
        let path = path.ok_or_else(|| io::Error::other("the program openssl is not installed"))?;
        let (directory, listener) = make_temporary(&self.tmpdir, |parent| {
            let directory = PrivateDirectory::create_in(parent, SHELL_PREFIX)?;
            let listener = UnixListener::bind(directory.path().join(SOCKET_NAME))?;
            Ok((directory, listener))
        })
        .map_err(io::Error::other)?;
        let output = OwnedFd::from(stream.try_clone()?);
        #[expect(
            clippy::disallowed_methods,
            reason = "the proxy has no other way to encrypt"
        )]
        let mut command = Command::new(path);
        command.args(CLIENT_OPTIONS);
        command.arg("-unix").arg(directory.path().join(SOCKET_NAME));
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
        let child = command.spawn()?;
        Ok(StartedTls {
            listener,
            socket_file: Box::new(directory),
            pid: child.id(),
            process: Box::new(OpenSslProcess { child }),
        })
    }
}

/// A running `openssl`.
struct OpenSslProcess {
    child: Child,
}

impl TlsProcess for OpenSslProcess {
    fn end(&mut self) -> String {
        // Without the process, the end of its messages is reached at once.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut messages = Vec::new();
        if let Some(stderr) = self.child.stderr.take() {
            let _ = stderr.take(MAX_MESSAGE_BYTES).read_to_end(&mut messages);
        }
        reason_in(&String::from_utf8_lossy(&messages))
    }
}

impl Drop for OpenSslProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
