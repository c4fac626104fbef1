//! Edits a text in the user's own editor.

use agent_bash::HostContext;
use agent_bash::process::in_foreground;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// Variables that name the editor, in order of precedence, and the editor if none is set.
const EDITOR_VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];
const DEFAULT_EDITOR: &str = "vi";

/// Limit of bytes of the edited text.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// The environment of an editor.
#[derive(Debug)]
pub(crate) struct Editor<'a> {
    pub(crate) host: &'a HostContext,
    pub(crate) bash: &'a Path,
    pub(crate) directory: &'a Path,
}

impl Editor<'_> {
    /// Runs the editor on a text. The interface must have released the terminal. Dropping the
    /// future ends the editor.
    ///
    /// # Errors
    ///
    /// A sentence that says why the text is unchanged.
    pub(crate) async fn edit(&self, text: &str) -> Result<String, String> {
        let env = &self.host.env;
        let named = |name: &&str| env.get(OsStr::new(name)).filter(|value| !value.is_empty());
        let command = EDITOR_VARIABLES.iter().find_map(named).cloned();
        let command = command.unwrap_or_else(|| OsString::from(DEFAULT_EDITOR));
        let unchanged =
            |why: String| format!("{} has not changed the line: {why}", command.display());
        let failed = |error: io::Error| unchanged(error.to_string());
        let file = tempfile::Builder::new()
            .prefix("agent-bash-")
            .suffix(".sh")
            .tempfile_in(self.host.temp_dir())
            .map_err(failed)?;
        file.as_file()
            .write_all(format!("{text}\n").as_bytes())
            .map_err(failed)?;
        let started = in_foreground(self.bash, &command, file.path(), env, self.directory);
        match started.map_err(failed)?.code().await {
            Some(0) => read(file.path()).map_err(failed),
            Some(127) => Err(unchanged(
                "there is no such command; set VISUAL or EDITOR".to_owned(),
            )),
            Some(code) => Err(unchanged(format!("it ended with exit {code}"))),
            None => Err(unchanged("it was killed".to_owned())),
        }
    }
}

/// Reads the edited text. An editor may have replaced the file by a new one, so this function
/// opens the path again.
fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut file = File::open(path)?.take(MAX_TEXT_BYTES + 1);
    file.read_to_string(&mut text)?;
    if text.len() as u64 > MAX_TEXT_BYTES {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text.trim_end_matches('\n').to_owned())
}
