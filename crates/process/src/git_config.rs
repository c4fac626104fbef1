//! Reads and writes files in git's configuration format by the system's program `git`: its grammar
//! has quotes, continued lines and sections in two notations. Includes are not followed. Which
//! files and keys may be used is decided by the caller.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// The usual paths of the program. `PATH` is not searched, because calls may write in directories
/// of `PATH`.
const PROGRAM_PATHS: [&str; 3] = [
    "/usr/bin/git",
    "/usr/local/bin/git",
    "/run/current-system/sw/bin/git",
];

/// The complete environment: no other configuration, and no repository around the file.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_DIR", "/dev/null"),
    ("HOME", "/dev/null"),
    ("LC_ALL", "C"),
    ("XDG_CONFIG_HOME", "/dev/null"),
];

/// The largest size of a listing in bytes. A short file can have a long listing, because the name
/// of a section is repeated for each key.
const MAX_LISTING_BYTES: u64 = 4 << 20;

/// The values of each key, in the order of the file. A key that stands alone, without `=`, has the
/// value `None`.
pub type GitConfigValues = BTreeMap<Vec<u8>, Vec<Option<Vec<u8>>>>;

/// The program `git`, for files in its configuration format.
#[derive(Debug, Clone, Copy)]
pub struct GitConfigProgram {
    path: &'static str,
}

impl GitConfigProgram {
    /// Returns the installed program.
    pub fn find() -> Option<Self> {
        let mut paths = PROGRAM_PATHS.into_iter();
        let path = paths.find(|path| Path::new(path).exists())?;
        Some(Self { path })
    }

    /// Returns all keys of a file, with sections and names in lower case.
    ///
    /// # Errors
    /// I/O errors; git cannot read the file; or its listing is too long.
    pub fn list(&self, file: &Path) -> io::Result<GitConfigValues> {
        let listing = self.run(file, &["--no-includes", "--null", "--list"])?;
        let mut values = GitConfigValues::new();
        for entry in listing.split_inclusive(|byte| *byte == 0) {
            let entry = entry.strip_suffix(&[0]).unwrap_or(entry);
            let mut parts = entry.splitn(2, |byte| *byte == b'\n');
            let key = parts.next().unwrap_or_default().to_vec();
            let value = parts.next().map(<[u8]>::to_vec);
            values.entry(key).or_default().push(value);
        }
        Ok(values)
    }

    /// Replaces all values of a key; without values, removes the key.
    ///
    /// # Errors
    /// I/O errors, or git cannot write the file.
    pub fn set(&self, file: &Path, key: &str, values: &[String]) -> io::Result<()> {
        let Some((first, further)) = values.split_first() else {
            return self.run(file, &["--unset-all", key]).map(drop);
        };
        self.run(file, &["--replace-all", key, first])?;
        for value in further {
            self.run(file, &["--add", key, value])?;
        }
        Ok(())
    }

    /// Runs `git config` and returns its output.
    fn run(self, file: &Path, args: &[&str]) -> io::Result<Vec<u8>> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is where git is started for its configuration"
        )]
        let mut command = Command::new(self.path);
        let file_option = [OsStr::new("config"), OsStr::new("--file"), file.as_os_str()];
        command.args(file_option).args(args);
        command.env_clear().envs(ENVIRONMENT).current_dir("/");
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut output = Vec::new();
        let read = child.stdout.take().map_or(Ok(0), |stdout| {
            stdout.take(MAX_LISTING_BYTES).read_to_end(&mut output)
        });
        // The closed pipe ends a git that prints more.
        let status = child.wait()?;
        if read? as u64 == MAX_LISTING_BYTES || !status.success() {
            return Err(io::Error::other(format!("git config ended with {status}")));
        }
        Ok(output)
    }
}
