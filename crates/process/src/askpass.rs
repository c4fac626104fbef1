//! Answers the questions that `ssh`, `sudo -A` and `git` put to an askpass program, for one call.
//!
//! [`Askpass`] is a private directory with a socket and a link to a program that calls
//! [`crate::supervisor::init`]. Started by that link, the program passes its argument (the prompt)
//! to the socket, and prints the answer. [`Askpass::variables`] names the link to the programs, and
//! the socket to the [pinentry](crate::pinentry). The answer is neither stored nor logged.

use crate::pinentry;
use crate::private_directory::{ASKPASS_PREFIX, PrivateDirectory};
use crate::shown_command::shown_command;
use crate::temporary::{NoTemporaryDirectory, make_temporary};
use agent_bash_os::ProcessInfo;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// The name of the link. A program that is started by it is an askpass program.
const LINK_NAME: &str = "agent-bash-askpass";

const SOCKET_NAME: &str = "socket";

/// Maximum length of a prompt in bytes. The rest is not shown.
const MAX_PROMPT_BYTES: usize = 2048;

/// Ends a prompt on the socket.
const PROMPT_END: u8 = 0;

/// Precedes an answer on the socket. Without this mark, the question is declined.
const ANSWER_MARK: u8 = b'1';

/// Maximum number of processes named in a question.
const MAX_ASKERS: usize = 3;

/// Stands for the command line of the shell that runs the call's script.
const CALL_SHELL: &str = "the shell of the call";

/// The variables by which programs find their askpass program.
pub const ASKPASS_VARIABLES: [&str; 3] = ["SSH_ASKPASS", "SUDO_ASKPASS", "GIT_ASKPASS"];

/// The variable that makes `ssh` use its askpass program without a display.
const SSH_REQUIRE: (&str, &str) = ("SSH_ASKPASS_REQUIRE", "force");

/// The askpass program of one call. Dropping it removes the program.
#[derive(Debug)]
pub struct Askpass {
    listener: UnixListener,
    directory: PrivateDirectory,
    program: PathBuf,
    shell: PathBuf,
}

/// A question of a program. Dropping it declines the question.
#[derive(Debug)]
pub struct AskpassPrompt {
    /// The text of the program.
    pub text: String,
    /// The process that asks, and its ancestors.
    pub askers: Vec<Asker>,
    stream: UnixStream,
}

/// A process that asks, as the kernel names it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asker {
    /// The process's id.
    pub pid: u32,
    /// The path of the process's program. If the path cannot be read, the process's short name.
    pub program: String,
    /// The process's command line, which the process can change.
    pub command: String,
}

impl Askpass {
    /// Creates the private directory below `tmpdir`. `program` must call
    /// [`crate::supervisor::init`]. `shell` runs the call's script.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn new(tmpdir: &Path, program: &Path, shell: &Path) -> Result<Self, NoTemporaryDirectory> {
        make_temporary(tmpdir, |parent| {
            let directory = PrivateDirectory::create_in(parent, ASKPASS_PREFIX)?;
            Ok(Self {
                listener: listen_in(directory.path(), program)?,
                directory,
                program: program.to_owned(),
                shell: shell.to_owned(),
            })
        })
    }

    /// Returns the variables that name the askpass program, and the socket to the pinentry.
    pub fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let link = self.directory.path().join(LINK_NAME).into_os_string();
        let named = ASKPASS_VARIABLES.map(|name| (name.into(), link.clone()));
        let (name, value) = SSH_REQUIRE;
        let socket = self.directory.path().join(SOCKET_NAME);
        let user_data = (
            pinentry::USER_DATA_VARIABLE.into(),
            pinentry::user_data(&socket),
        );
        named
            .into_iter()
            .chain([(name.into(), value.into()), user_data])
    }

    /// Waits for the next question. Cancel safe, except that a question may be declined.
    ///
    /// # Errors
    /// The socket does not work.
    pub async fn next(&self) -> io::Result<AskpassPrompt> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            // The directory is closed to other users, except for root.
            let Ok(peer) = stream.peer_cred() else {
                continue;
            };
            let own = rustix::process::geteuid().as_raw();
            if peer.uid() != own && peer.uid() != 0 {
                continue;
            }
            let askers = askers(peer.pid(), &self.program, &self.shell);
            if let Some(prompt) = read_prompt(stream, askers).await {
                return Ok(prompt);
            }
        }
    }
}

impl AskpassPrompt {
    /// Answers the question. A program that has ended meanwhile gets nothing.
    pub async fn answer(mut self, answer: &str) {
        let mut bytes = vec![ANSWER_MARK];
        bytes.extend_from_slice(answer.as_bytes());
        let _ = self.stream.write_all(&bytes).await;
        let _ = self.stream.shutdown().await;
    }

    /// Returns when the program that asks has ended.
    pub async fn abandoned(&mut self) {
        let mut byte = [0];
        // An askpass program sends nothing after the prompt.
        while matches!(self.stream.read(&mut byte).await, Ok(1..)) {}
    }
}

/// True for the socket of an [`Askpass`], on which a host only answers prompts.
pub(crate) fn is_askpass_socket(path: &Path) -> bool {
    let directory = path.parent().and_then(Path::file_name);
    path.file_name() == Some(OsStr::new(SOCKET_NAME))
        && directory.is_some_and(|name| name.as_bytes().starts_with(ASKPASS_PREFIX.as_bytes()))
}

fn listen_in(directory: &Path, program: &Path) -> io::Result<UnixListener> {
    symlink(program, directory.join(LINK_NAME))?;
    let socket = directory.join(SOCKET_NAME);
    let listener = UnixListener::bind(&socket)?;
    fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Reads a prompt. `None` if the process ends before the prompt is complete.
async fn read_prompt(mut stream: UnixStream, askers: Vec<Asker>) -> Option<AskpassPrompt> {
    let mut bytes = Vec::new();
    let mut part = [0; 512];
    loop {
        let length = stream.read(&mut part).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&part[..length]);
        let end = bytes.iter().position(|byte| *byte == PROMPT_END);
        if end.is_some() || bytes.len() > MAX_PROMPT_BYTES {
            bytes.truncate(end.unwrap_or(MAX_PROMPT_BYTES));
            return Some(AskpassPrompt {
                text: String::from_utf8_lossy(&bytes).into_owned(),
                askers,
                stream,
            });
        }
    }
}

/// Returns the process that started the askpass program, and its ancestors up to the next process
/// of our program. A process that uses the socket itself is named itself.
fn askers(peer: Option<i32>, program: &Path, shell: &Path) -> Vec<Asker> {
    let identity = |path: &Path| fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
    let own = identity(program);
    let mut found: Vec<Asker> = Vec::new();
    let mut next = peer;
    while let Some(pid) = next.filter(|pid| *pid > 0 && found.len() < MAX_ASKERS) {
        let file = PathBuf::from(format!("/proc/{pid}/exe"));
        let is_own = own.is_some() && identity(&file) == own;
        if is_own && next != peer {
            // The arguments of a shell below a supervisor are ours, not the user's command. The
            // shell may have replaced itself with the command.
            let is_shell = |asker: &&mut Asker| {
                let shell = identity(shell);
                shell.is_some() && identity(Path::new(&asker.program)) == shell
            };
            if let Some(shell) = found.last_mut().filter(is_shell) {
                CALL_SHELL.clone_into(&mut shell.command);
            }
            break;
        }
        if !is_own {
            found.push(asker(pid, &file));
        }
        next = ProcessInfo::read(pid).map(|process| process.parent);
    }
    found
}

fn asker(pid: i32, file: &Path) -> Asker {
    // The kernel does not show the program of another user's process, such as `sudo`.
    let program = if let Ok(path) = fs::read_link(file) {
        path.display().to_string()
    } else {
        let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        String::from_utf8_lossy(&name).trim_end().to_owned()
    };
    Asker {
        pid: pid.unsigned_abs(),
        program,
        command: shown_command(pid),
    }
}

/// Serves as askpass program or as pinentry and exits, if this process was started by the link of
/// one.
pub(crate) fn exit_if_started_by_link() {
    pinentry::exit_if_started_by_link(ask);
    let mut words = std::env::args_os();
    let Some(link) = words.next().map(PathBuf::from) else {
        return;
    };
    if link.file_name() != Some(OsStr::new(LINK_NAME)) {
        return;
    }
    let prompt = words.next().unwrap_or_default();
    let answer = ask(&link.with_file_name(SOCKET_NAME), &prompt)
        .ok()
        .flatten();
    let is_printed = answer.is_some_and(|answer| print(&answer).is_ok());
    std::process::exit(i32::from(!is_printed));
}

/// Asks the host. Returns the answer; `None` if the question was declined.
fn ask(socket: &Path, prompt: &OsStr) -> io::Result<Option<Vec<u8>>> {
    let mut stream = StdUnixStream::connect(socket)?;
    let prompt = prompt.as_bytes();
    stream.write_all(&prompt[..prompt.len().min(MAX_PROMPT_BYTES)])?;
    stream.write_all(&[PROMPT_END])?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let Some((&ANSWER_MARK, answer)) = answer.split_first() else {
        return Ok(None);
    };
    Ok(Some(answer.to_vec()))
}

fn print(answer: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(answer)?;
    output.write_all(b"\n")?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn askpass(parent: &Path) -> Askpass {
        Askpass::new(parent, Path::new("/proc/self/exe"), Path::new("/bin/sh")).unwrap()
    }

    /// Sends a prompt as an askpass program does, and returns the bytes of the answer.
    async fn ask_as_program(directory: PathBuf, prompt: &'static [u8]) -> Vec<u8> {
        let mut stream = UnixStream::connect(directory.join(SOCKET_NAME))
            .await
            .unwrap();
        stream.write_all(prompt).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn prompt_is_answered_and_the_directory_is_private_and_removed() {
        let temp = tempfile::tempdir().unwrap();
        let askpass = askpass(temp.path());
        let directory = askpass.directory.path().to_owned();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&directory), 0o700);
        assert_eq!(mode(&directory.join(SOCKET_NAME)), 0o600);
        assert!(is_askpass_socket(&directory.join(SOCKET_NAME)));
        assert!(!is_askpass_socket(&directory.join("other")));
        let asking = tokio::spawn(ask_as_program(directory.clone(), b"Passphrase for k: \0"));
        let prompt = askpass.next().await.unwrap();
        assert_eq!(prompt.text, "Passphrase for k: ");
        prompt.answer("s3cret").await;
        assert_eq!(asking.await.unwrap(), b"1s3cret");
        drop(askpass);
        assert!(!directory.exists());
    }

    #[tokio::test]
    async fn dropped_prompt_is_declined_and_long_prompt_is_cut() {
        let temp = tempfile::tempdir().unwrap();
        let askpass = askpass(temp.path());
        let directory = askpass.directory.path().to_owned();
        let asking = tokio::spawn(ask_as_program(directory.clone(), b"Password: \0"));
        drop(askpass.next().await.unwrap());
        assert_eq!(asking.await.unwrap(), b"");
        let mut stream = UnixStream::connect(directory.join(SOCKET_NAME))
            .await
            .unwrap();
        stream
            .write_all(&[b'x'; MAX_PROMPT_BYTES + 1])
            .await
            .unwrap();
        let prompt = askpass.next().await.unwrap();
        assert_eq!(prompt.text.len(), MAX_PROMPT_BYTES);
    }

    #[tokio::test]
    async fn prompt_of_ended_process_is_abandoned() {
        let temp = tempfile::tempdir().unwrap();
        let askpass = askpass(temp.path());
        let mut stream = UnixStream::connect(askpass.directory.path().join(SOCKET_NAME))
            .await
            .unwrap();
        stream.write_all(b"Password: \0").await.unwrap();
        let mut prompt = askpass.next().await.unwrap();
        drop(stream);
        prompt.abandoned().await;
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn process_that_uses_the_socket_itself_is_named() {
        let own = std::process::id();
        let (own_program, other) = (Path::new("/proc/self/exe"), Path::new("/bin/sh"));
        let found = askers(Some(own.cast_signed()), other, other);
        assert_eq!(found[0].pid, own);
        assert!(Path::new(&found[0].program).is_absolute(), "{found:?}");
        assert!(found.len() <= MAX_ASKERS);
        // The process of an askpass program is left out, and its parent is named.
        let found = askers(Some(own.cast_signed()), own_program, other);
        assert_eq!(found[0].pid, std::os::unix::process::parent_id());
    }
}
