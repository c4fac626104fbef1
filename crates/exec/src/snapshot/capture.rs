//! Reads a configuration in a shell of its own below a supervisor, so that whatever it starts or
//! turns into is ended with it. Then has another shell load the definitions, and keeps those that
//! it reports unchanged.

use super::compose;
use super::dump::{AFTER_RC, Definition, Dump, READ_PARTS, READ_RC};
use super::filter;
use super::options::SnapshotOptions;
use super::skipped::Skipped;
use agent_bash_call::launch;
use agent_bash_core::{Clock, Shell};
use agent_bash_process::quoted;
use agent_bash_process::supervisor::{
    Disconnected, Event, ShellEnd, ShellFds, ShellStart, StartError, Supervised, Supervisor,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of a configuration's definitions in bytes. Every waiting shell reads all of them.
const MAX_DUMP_BYTES: u64 = 4 << 20;

/// The file to read, and the options.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) supervisor: &'a Supervisor,
    pub(super) clock: &'a Arc<dyn Clock>,
    pub(super) shell: &'a Shell,
    pub(super) base: &'a BTreeMap<OsString, OsString>,
    pub(super) options: &'a SnapshotOptions,
}

/// How to start the shell that reads the configuration.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// Interactively: many configurations do nothing otherwise.
    Interactive,
    /// Non-interactively, though with a prompt: for configurations that replace an interactive
    /// shell (`exec tmux`).
    Plain,
}

/// Tried in this order; the second only if the first shell reported nothing.
const CAPTURE_WAYS: [Way; 2] = [Way::Interactive, Way::Plain];

impl Reader<'_> {
    /// Reads the configuration within the time limit. Nothing that it started is left in any case.
    pub(super) async fn read(&self) -> Result<Dump, Skipped> {
        let rc = &self.options.rc;
        check_readable(rc).map_err(|source| Skipped::Unreadable {
            rc: rc.clone(),
            source,
        })?;
        tokio::select! {
            biased;
            dump = self.read_all() => dump,
            () = self.clock.sleep(self.options.limit) => Err(Skipped::Slow {
                rc: rc.clone(),
                limit: self.options.limit,
            }),
        }
    }

    async fn read_all(&self) -> Result<Dump, Skipped> {
        let mut supervised = launch(self.supervisor, self.base, self.clock, true).await?;
        let mut dump = self.read_rc(&mut supervised).await?;
        let secrets = self.options.secrets.as_ref();
        for list in [&mut dump.functions, &mut dump.aliases] {
            list.retain(|definition| filter::may_stay(definition, secrets));
        }
        let again = self
            .read_parts(&mut supervised, &dump.functions, &dump.aliases)
            .await?;
        keep_same(&mut dump.functions, &again.functions);
        keep_same(&mut dump.aliases, &again.aliases);
        Ok(dump)
    }

    async fn read_rc(&self, supervised: &mut Supervised) -> Result<Dump, Skipped> {
        let mut ended = ShellEnd::Exited(0);
        for way in CAPTURE_WAYS {
            let fds = self.start(supervised, way.args(&self.options.rc)).await?;
            ended = until_gone(supervised).await?;
            if let Some(dump) = Dump::parse(&read_from(fds.script, 0)?) {
                return Ok(dump);
            }
        }
        Err(Skipped::Ended {
            rc: self.options.rc.clone(),
            how: how_it_ended(ended),
        })
    }

    /// The definitions as reported by another shell that has loaded them.
    async fn read_parts(
        &self,
        supervised: &mut Supervised,
        functions: &[Definition],
        aliases: &[Definition],
    ) -> Result<Dump, Skipped> {
        let functions = functions.iter().map(compose::function);
        let aliases = aliases.iter().map(compose::alias);
        let mut parts = Vec::new();
        for mut part in functions.chain(aliases) {
            parts.append(&mut part);
            parts.push(0);
        }
        let args = ["--norc", "--noprofile", "-c", READ_PARTS].map(OsString::from);
        let fds = self.start(supervised, args.into()).await?;
        let script = File::from(fds.script);
        // `write_all_at` does not move the file offset, which the shell shares.
        script.write_all_at(&parts, 0).map_err(Skipped::Transfer)?;
        File::from(fds.control)
            .write_all(b"\0")
            .map_err(Skipped::Transfer)?;
        let ended = until_gone(supervised).await?;
        let told = read_from(script.into(), parts.len() as u64)?;
        Dump::parse(&told).ok_or_else(|| Skipped::Ended {
            rc: self.options.rc.clone(),
            how: how_it_ended(ended),
        })
    }

    async fn start(
        &self,
        supervised: &mut Supervised,
        args: Vec<OsString>,
    ) -> Result<ShellFds, StartError> {
        let start = ShellStart::of(self.shell, args);
        supervised.start(start, None).await
    }
}

impl Way {
    fn args(self, rc: &Path) -> Vec<OsString> {
        let (first, before): (&[&str], &str) = match self {
            Self::Interactive => (&["--norc", "--noprofile", "-i", "-c"], ""),
            Self::Plain => (
                &["--norc", "--noprofile", "-c"],
                r"PS1='$ '; \builtin shopt -s expand_aliases; ",
            ),
        };
        let mut text = before.as_bytes().to_vec();
        text.extend_from_slice(READ_RC.as_bytes());
        text.extend(quoted(rc.as_os_str()));
        text.extend_from_slice(AFTER_RC.as_bytes());
        let mut args: Vec<OsString> = first.iter().map(OsString::from).collect();
        args.push(OsString::from_vec(text));
        args
    }
}

/// Checks that the path is a regular file that can be opened. Opened non-blocking, as opening a
/// FIFO would wait for a writer.
fn check_readable(rc: &Path) -> io::Result<()> {
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits();
    let file = File::options()
        .read(true)
        .custom_flags(nonblock.cast_signed())
        .open(rc)?;
    if file.metadata()?.is_file() {
        return Ok(());
    }
    Err(io::Error::other("it is no regular file"))
}

/// Waits for the shell's end and ends all other processes, so that the supervisor can start another
/// shell.
async fn until_gone(supervised: &mut Supervised) -> Result<ShellEnd, Skipped> {
    let mut ended = None;
    loop {
        match supervised.event().await {
            Ok((Event::Ended { end, empty, .. }, _)) => {
                if empty {
                    return Ok(end);
                }
                ended = Some(end);
                supervised
                    .link()
                    .terminate(Duration::ZERO)
                    .map_err(|_| StartError::Disconnected)?;
            }
            Ok((Event::Empty, _)) => {
                if let Some(end) = ended {
                    return Ok(end);
                }
            }
            Ok((Event::Stuck { .. }, _)) => return Err(Skipped::Stuck),
            Ok(_) => {}
            Err(Disconnected) => return Err(StartError::Disconnected.into()),
        }
    }
}

fn read_from(file: OwnedFd, at: u64) -> Result<Vec<u8>, Skipped> {
    use std::io::Seek;
    let mut file = File::from(file);
    let mut bytes = Vec::new();
    file.seek(io::SeekFrom::Start(at))
        .and_then(|_| file.take(MAX_DUMP_BYTES + 1).read_to_end(&mut bytes))
        .map_err(Skipped::Transfer)?;
    if bytes.len() as u64 > MAX_DUMP_BYTES {
        return Err(Skipped::TooLong);
    }
    Ok(bytes)
}

/// Keeps the definitions that the other shell reported identically.
fn keep_same(list: &mut Vec<Definition>, again: &[Definition]) {
    let again: BTreeMap<&str, &[u8]> = again
        .iter()
        .map(|definition| (definition.name.as_str(), definition.text.as_slice()))
        .collect();
    list.retain(|definition| {
        let name = definition.name.as_str();
        let same = again.get(name) == Some(&definition.text.as_slice());
        if !same {
            tracing::debug!(name, "left out of the snapshot: bash cannot read it again");
        }
        same
    });
}

fn how_it_ended(end: ShellEnd) -> String {
    match end {
        ShellEnd::Exited(code) => format!("exit code {code}"),
        ShellEnd::Signaled(number) => agent_bash_process::signal_name(number),
    }
}

/// The search path, if it is set, changed, and contains no secret.
pub(super) fn changed_path(dump: &Dump, options: &SnapshotOptions) -> Option<OsString> {
    let path = &dump.after.path;
    let secret = options
        .secrets
        .as_ref()
        .is_some_and(|filter| filter.is_secret(OsStr::new("PATH"), path));
    let usable = !path.as_bytes().is_empty() && *path != dump.before.path && !secret;
    usable.then(|| path.clone())
}
