//! Links to this program that stand in for the shell of an agent: creates, checks and probes them.

use crate::process_start::StartContext;
use agent_bash::journals::recordings;
use agent_bash_hooks::take_over::ShellLink;
use anyhow::{Context, bail};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The name of this program on `PATH`.
pub(crate) const PROGRAM_NAME: &str = "agent-bash";

/// The harmless command of a probe, and its output.
const PROBE_COMMAND: &str = "echo ok";
const PROBE_OUTPUT: &[u8] = b"ok\n";

/// How long a probe may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the first executable file of that name in `PATH`.
pub(crate) fn find_on_path(name: &str, start: &StartContext) -> Option<PathBuf> {
    let path = start.host.env.get(&OsString::from("PATH"))?;
    let is_program = |path: &PathBuf| {
        let metadata = path.metadata();
        metadata.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(is_program)
}

/// Returns the path of this program for a link: the one in `PATH`, which survives an update, else
/// the program's file.
pub(crate) fn program(start: &StartContext) -> anyhow::Result<PathBuf> {
    let own = own_path()?;
    let named = find_on_path(PROGRAM_NAME, start);
    Ok(named
        .filter(|path| path.canonicalize().is_ok_and(|it| it == own))
        .unwrap_or(own))
}

/// Returns the path of this program's file, without links.
pub(crate) fn own_path() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("the path of this program is not known")?;
    own.canonicalize()
        .with_context(|| format!("{} does not exist any more", own.display()))
}

/// Makes a link to `program`. An older link is replaced in one step, because an agent may use it.
pub(crate) fn make(link: &Path, program: &Path) -> anyhow::Result<()> {
    let shown = link.display();
    match fs::symlink_metadata(link) {
        Ok(found) if found.is_symlink() => {
            if fs::read_link(link).is_ok_and(|target| target == program) {
                return Ok(());
            }
        }
        Ok(_) => bail!("{shown} exists and is not a link; choose another directory"),
        Err(_) => {}
    }
    let context = || format!("cannot create {shown}");
    let directory = link.parent().with_context(context)?;
    fs::create_dir_all(directory).with_context(context)?;
    let draft = tempfile::tempdir_in(directory).with_context(context)?;
    let new = draft.path().join("link");
    std::os::unix::fs::symlink(program, &new)
        .and_then(|()| fs::rename(&new, link))
        .with_context(context)
}

/// The program that a link leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// This program.
    ThisProgram,
    /// Another program, for example another version of this one.
    Other(PathBuf),
    /// No program; the text says why.
    Nothing(String),
}

impl LinkTarget {
    /// Returns the program that this link leads to.
    pub(crate) fn of(link: &Path) -> Self {
        let Ok(target) = fs::read_link(link) else {
            let reason = if link.exists() {
                "is not a link"
            } else {
                "does not exist"
            };
            return Self::Nothing(reason.to_owned());
        };
        let Ok(found) = link.metadata() else {
            let target = target.display();
            return Self::Nothing(format!("leads to {target}, which does not exist any more"));
        };
        let own = own_path().and_then(|own| Ok(own.metadata()?));
        match own {
            Ok(own) if (own.dev(), own.ino()) == (found.dev(), found.ino()) => Self::ThisProgram,
            _ => Self::Other(target),
        }
    }
}

/// The outcome of a harmless call of a link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LinkProbe {
    /// The command ran, and agent-bash recorded it.
    Recorded,
    /// The command ran. Not recorded: the settings say so, or this process runs in a recorded call.
    Ran,
    /// The command did not run.
    Failed(String),
}

/// Runs a harmless command through a link, as an agent would. Its record goes to a temporary
/// directory.
pub(crate) fn probe(link: &Path, kind: ShellLink, start: &StartContext) -> LinkProbe {
    let state = match tempfile::tempdir_in(start.host.temp_dir()) {
        Ok(state) => state,
        Err(error) => {
            return LinkProbe::Failed(format!("cannot create a temporary directory: {error}"));
        }
    };
    let output = match run(link, kind, state.path()) {
        Ok(output) => output,
        Err(reason) => return LinkProbe::Failed(reason),
    };
    if !output.status.success() || output.stdout != PROBE_OUTPUT {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return LinkProbe::Failed(format!("{}: {}", output.status, stderr.trim()));
    }
    let recorded = recordings(state.path(), None).into_iter().any(|recording| {
        let entries = recording.read().unwrap_or_default().entries;
        entries.iter().any(|entry| entry.command == PROBE_COMMAND)
    });
    if recorded {
        LinkProbe::Recorded
    } else {
        LinkProbe::Ran
    }
}

/// Runs the probe's command through a link and returns the output. Fails after [`PROBE_TIMEOUT`].
fn run(link: &Path, kind: ShellLink, state: &Path) -> Result<Output, String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this process stands in for an agent, which starts the link itself"
    )]
    let mut command = Command::new(link);
    match kind {
        ShellLink::Bash => command.args(["-c", PROBE_COMMAND]),
        ShellLink::Prefix => command
            .arg(claude_code_text(state))
            .env("AI_AGENT", "claude-code_agent"),
    };
    command
        .env("AGENT_BASH_STATE_DIR", state)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| error.to_string())?;
    let (sender, receiver) = mpsc::channel();
    // Not joined: a hanging thread ends with the process.
    let started = thread::Builder::new().spawn(move || sender.send(child.wait_with_output()));
    started.map_err(|error| error.to_string())?;
    let output = receiver.recv_timeout(PROBE_TIMEOUT);
    let output = output.map_err(|_| format!("no answer in {} s", PROBE_TIMEOUT.as_secs()))?;
    output.map_err(|error| error.to_string())
}

/// The script that Claude Code 2.1.332 passes to its shell prefix for [`PROBE_COMMAND`].
fn claude_code_text(directory: &Path) -> String {
    let file = directory.join("claude-0000-cwd").display().to_string();
    let file = shlex::try_quote(&file).unwrap_or_default();
    format!(
        "{{ \\builtin shopt -u extglob || \\builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL \
         NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_RC_QUOTES NO_EQUALS; }} >/dev/null 2>&1 || true \
         && eval '{PROBE_COMMAND}' < /dev/null && pwd -P >| {file}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn link_target_distinguishes_this_program_others_and_broken_links() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        assert!(matches!(
            LinkTarget::of(&at("none")),
            LinkTarget::Nothing(_)
        ));
        make(&at("a/bash"), &own_path().unwrap()).unwrap();
        assert_eq!(LinkTarget::of(&at("a/bash")), LinkTarget::ThisProgram);
        symlink(at("a/bash"), at("link")).unwrap();
        assert_eq!(LinkTarget::of(&at("link")), LinkTarget::ThisProgram);
        make(&at("a/bash"), Path::new("/bin/sh")).unwrap();
        let other = LinkTarget::Other("/bin/sh".into());
        assert_eq!(LinkTarget::of(&at("a/bash")), other);
        make(&at("a/bash"), &at("old/agent-bash")).unwrap();
        let LinkTarget::Nothing(reason) = LinkTarget::of(&at("a/bash")) else {
            panic!("it leads to nothing");
        };
        assert!(reason.contains("old/agent-bash"), "{reason}");
        fs::write(at("file"), "").unwrap();
        assert!(make(&at("file"), Path::new("/bin/sh")).is_err());
        let names = fs::read_dir(at("a")).unwrap().count();
        assert_eq!(names, 1, "no temporary file is left");
    }

    #[test]
    fn text_of_the_probe_is_recognised_as_claude_codes() {
        for directory in ["/tmp/x", "/tmp/a b"] {
            let text = claude_code_text(Path::new(directory));
            let found = agent_bash_hooks::agent_shell::model_command(&text).unwrap();
            assert_eq!(
                (found.agent, &*found.command),
                ("claude-code", PROBE_COMMAND)
            );
        }
    }
}
