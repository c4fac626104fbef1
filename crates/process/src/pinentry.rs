//! Serves as the pinentry of gpg-agent: the program that gpg-agent starts to ask for a passphrase.
//!
//! The user names a link to this program as `pinentry-program`. For a gpg in a call whose prompts
//! the user answers, the pinentry asks the host of the call. Any other gpg gets the usual pinentry.
//! The protocol is Assuan: a line for each command, and a line for each answer.

use percent_encoding::percent_decode_str;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the link. A program that is started by it is a pinentry.
const LINK_NAME: &str = "pinentry-agent-bash";

/// The name of the usual pinentry, which is started for other gpgs.
const USUAL_PROGRAM: &str = "pinentry";

/// The variable that gpg passes to its pinentry.
pub(crate) const USER_DATA_VARIABLE: &str = "PINENTRY_USER_DATA";

/// Begins the variable's value in a call. The path of the socket follows.
const SOCKET_PREFIX: &str = "agent-bash:";

/// The answer if the user declines: the code of a cancelled operation, from the pinentry.
const CANCELLED: &str = "ERR 83886179 Operation cancelled <Pinentry>";

/// Maximum length of a command in bytes, which Assuan sets.
const MAX_LINE_BYTES: u64 = 1002;

/// Returns the variable's value for the socket of a call.
pub(crate) fn user_data(socket: &Path) -> OsString {
    let mut value = OsString::from(SOCKET_PREFIX);
    value.push(socket);
    value
}

/// Serves as pinentry and exits, if this process was started by the link. `ask` puts a question to
/// the socket of a call, and returns the answer.
pub(crate) fn exit_if_started_by_link(ask: impl Fn(&Path, &OsStr) -> io::Result<Option<Vec<u8>>>) {
    let link = std::env::args_os().next().map(PathBuf::from);
    if link.as_deref().and_then(Path::file_name) != Some(OsStr::new(LINK_NAME)) {
        return;
    }
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let value = |name: &str| environment.iter().find(|(known, _)| known == name);
    let user_data = value(USER_DATA_VARIABLE).and_then(|(_, value)| value.to_str());
    let socket = user_data.and_then(|value| value.strip_prefix(SOCKET_PREFIX));
    let Some(socket) = socket.map(Path::new).filter(|socket| socket.exists()) else {
        let path = value("PATH").map(|(_, path)| path.as_os_str());
        std::process::exit(become_usual(path.unwrap_or_default()));
    };
    let ask = |prompt: &str| ask(socket, OsStr::new(prompt)).ok().flatten();
    let served = serve(io::stdin().lock(), io::stdout().lock(), ask);
    std::process::exit(i32::from(served.is_err()));
}

/// Replaces this process by the usual pinentry, with the same arguments. Returns the exit code if
/// that fails.
fn become_usual(path: &OsStr) -> i32 {
    let identity = |path: &Path| path.metadata().ok().map(|file| (file.dev(), file.ino()));
    let own = identity(Path::new("/proc/self/exe"));
    let mut candidates = std::env::split_paths(path).map(|directory| directory.join(USUAL_PROGRAM));
    let is_other = |program: &PathBuf| identity(program).is_some_and(|found| Some(found) != own);
    if let Some(program) = candidates.find(is_other) {
        #[expect(
            clippy::disallowed_methods,
            reason = "this process becomes the other pinentry; it starts none"
        )]
        let mut command = Command::new(program);
        let _ = command.args(std::env::args_os().skip(1)).exec();
    }
    1
}

/// Serves the commands until the end of the input or `BYE`.
fn serve(
    mut input: impl BufRead,
    mut output: impl Write,
    ask: impl Fn(&str) -> Option<Vec<u8>>,
) -> io::Result<()> {
    writeln!(output, "OK agent-bash")?;
    output.flush()?;
    let (mut error, mut description, mut prompt) = (String::new(), String::new(), String::new());
    loop {
        let mut line = Vec::new();
        io::Read::take(&mut input, MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        let (command, argument) = line.split_once(' ').unwrap_or((line.as_str(), ""));
        let argument = percent_decode_str(argument)
            .decode_utf8_lossy()
            .into_owned();
        let command = command.to_ascii_uppercase();
        let mut answer = "OK";
        match command.as_str() {
            "SETDESC" => description = argument,
            "SETPROMPT" => prompt = argument,
            "SETERROR" => error = argument,
            "GETPIN" => {
                let parts = [&error, &description, &prompt].map(|part| part.trim());
                let parts = parts.into_iter().filter(|part| !part.is_empty());
                let text = parts.collect::<Vec<_>>().join("\n");
                error.clear();
                if let Some(passphrase) = ask(&text) {
                    output.write_all(b"D ")?;
                    output.write_all(&encoded(&passphrase))?;
                    output.write_all(b"\n")?;
                } else {
                    answer = CANCELLED;
                }
            }
            // The user is asked for passphrases only, so nothing is confirmed.
            "CONFIRM" => answer = CANCELLED,
            "GETINFO" if argument == "pid" => writeln!(output, "D {}", std::process::id())?,
            _ => {}
        }
        writeln!(output, "{answer}")?;
        output.flush()?;
        if command == "BYE" {
            return Ok(());
        }
    }
}

/// Returns data with the bytes encoded that a line cannot have.
fn encoded(data: &[u8]) -> Vec<u8> {
    let encode = |byte: &u8| match byte {
        b'%' => b"%25".to_vec(),
        b'\r' => b"%0D".to_vec(),
        b'\n' => b"%0A".to_vec(),
        byte => vec![*byte],
    };
    data.iter().flat_map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Serves these commands. Returns the prompts and the output.
    fn served(commands: &str, answer: Option<&str>) -> (Vec<String>, String) {
        let prompts = RefCell::new(Vec::new());
        let mut output = Vec::new();
        let ask = |prompt: &str| {
            prompts.borrow_mut().push(prompt.to_owned());
            answer.map(|answer| answer.as_bytes().to_vec())
        };
        serve(commands.as_bytes(), &mut output, ask).unwrap();
        (prompts.into_inner(), String::from_utf8(output).unwrap())
    }

    #[test]
    fn passphrase_is_asked_for_with_its_description_and_returned_encoded() {
        let commands = "OPTION grab\nSETDESC Unlock%0Athe key 5%25\nSETPROMPT Passphrase:\n\
                        SETERROR Bad Passphrase (try 2 of 3)\nGETPIN\nGETPIN\nBYE\nGETPIN\n";
        let (prompts, output) = served(commands, Some("50%\nä"));
        assert_eq!(
            prompts,
            [
                "Bad Passphrase (try 2 of 3)\nUnlock\nthe key 5%\nPassphrase:",
                "Unlock\nthe key 5%\nPassphrase:"
            ]
        );
        assert_eq!(
            output,
            "OK agent-bash\nOK\nOK\nOK\nOK\nD 50%25%0Aä\nOK\nD 50%25%0Aä\nOK\nOK\n"
        );
    }

    #[test]
    fn declined_passphrase_and_confirmation_are_cancelled() {
        let (prompts, output) = served("getpin\nCONFIRM\n", None);
        assert_eq!(prompts, [""]);
        assert_eq!(output, format!("OK agent-bash\n{CANCELLED}\n{CANCELLED}\n"));
    }

    #[test]
    fn invalid_encoding_is_kept() {
        let (prompts, _) = served("SETDESC %4 %zz%41%\nGETPIN\n", None);
        assert_eq!(prompts, ["%4 %zzA%"]);
    }
}
