//! A change to one file of an agent, and the ways in which an agent's file connects it to
//! agent-bash.

use super::file::SettingsFile;
use super::target::{link_text, program};
use crate::commands::shell_link::PROGRAM_NAME;
use crate::output;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash::core::visible;
use agent_bash_hooks::install::{
    BadFile, SettingsScope, applicable, entries, file, mcp_file, shell_file, with_hook, with_mcp,
    with_rewriting_hook, with_shell, without_hook, without_mcp, without_shell,
};
use agent_bash_hooks::take_over::ShellSetting;
use agent_bash_hooks::{Agent, McpAgent};
use similar::TextDiff;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The error if the agent's file, or the links that stand in for its shell, cannot be located.
pub(crate) const NO_HOME: &str = "no home directory is known; set HOME";

/// A way in which an entry in an agent's file connects the agent to agent-bash.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Connection {
    /// A link of ours is the agent's shell.
    Shell(&'static ShellSetting),
    /// The agent asks our hook before each command.
    Hook(&'static Agent),
    /// Our hook replaces each command.
    RewritingHook(&'static Agent),
    /// The agent starts `agent-bash mcp`.
    Mcp(&'static McpAgent),
}

impl Connection {
    /// Returns the connection whose entry fits the settings file that the agent reads.
    pub(crate) fn applicable(self, scope: SettingsScope, start: &StartContext) -> Self {
        match self {
            Self::Hook(agent) => Self::Hook(applicable(agent, scope, &start.host)),
            Self::RewritingHook(agent) => {
                Self::RewritingHook(applicable(agent, scope, &start.host))
            }
            other => other,
        }
    }

    /// Returns the connections whose entries may be in the agent's files: one, or two for an agent
    /// with a preferred settings file.
    pub(crate) fn entries(self) -> impl Iterator<Item = Self> {
        let preferred = match self {
            Self::Hook(agent) => entries(agent).nth(1).map(Self::Hook),
            _ => None,
        };
        [self].into_iter().chain(preferred)
    }

    /// Returns the path of the agent's file. `None` if no home directory is known, or if the agent
    /// reads no settings of a project.
    pub(crate) fn file(self, scope: SettingsScope, start: &StartContext) -> Option<PathBuf> {
        match self {
            Self::Shell(setting) => shell_file(setting, scope, &start.host),
            Self::Hook(agent) | Self::RewritingHook(agent) => file(agent, scope, &start.host),
            Self::Mcp(agent) => mcp_file(agent, &start.host),
        }
    }

    /// Returns the text by which the agent starts this program: the link that is its shell, or the
    /// program's name or path.
    pub(crate) fn target(self, start: &StartContext) -> anyhow::Result<String> {
        match self {
            Self::Shell(setting) => {
                let link = setting.link.path(&start.host);
                let link = link.ok_or_else(|| UsageError(NO_HOME.to_owned()))?;
                Ok(link_text(&link, setting)?.to_owned())
            }
            _ => program(start),
        }
    }

    /// Returns the file's text with an entry that starts `target`, or, without a target, without
    /// the entry. `None` if the file is to be removed.
    pub(crate) fn edit(
        self,
        text: Option<&str>,
        target: Option<&str>,
    ) -> Result<Option<String>, BadFile> {
        match (target, text) {
            (Some(target), text) => match self {
                Self::Shell(setting) => with_shell(setting, text, target),
                Self::Hook(agent) => with_hook(agent, text, target),
                Self::RewritingHook(agent) => with_rewriting_hook(agent, text, target),
                Self::Mcp(agent) => with_mcp(agent, text, target),
            }
            .map(Some),
            (None, Some(text)) => match self {
                Self::Shell(setting) => without_shell(setting, text),
                Self::Hook(agent) | Self::RewritingHook(agent) => without_hook(agent, text),
                Self::Mcp(agent) => without_mcp(agent, text),
            },
            (None, None) => Ok(None),
        }
    }

    /// True if the file has our entry.
    pub(crate) fn is_installed(self, text: &str) -> Result<bool, BadFile> {
        // An unrelated file, which may be invalid, is not parsed.
        if !text.contains(PROGRAM_NAME) {
            return Ok(false);
        }
        Ok(self.edit(Some(text), None)?.as_deref() != Some(text))
    }

    /// Returns a hint for the user after the installation.
    pub(crate) fn install_hint(self) -> Option<&'static str> {
        match self {
            Self::Shell(setting) => Some(setting.install_hint),
            Self::Hook(agent) | Self::RewritingHook(agent) => Some(agent.install_hint),
            Self::Mcp(_) => None,
        }
    }

    /// True if the agent executes the file of this connection.
    fn runs_file(self) -> bool {
        matches!(self, Self::Hook(agent) | Self::RewritingHook(agent) if agent.runs_file())
    }
}

/// The changes to one file, not written yet.
#[derive(Debug)]
pub(crate) struct FileChange {
    /// The file's path, as the agent names it.
    pub(crate) path: PathBuf,
    settings: SettingsFile,
    after: Option<String>,
    /// True if the agent executes the file.
    is_run: bool,
    /// The project's directory, if the file belongs to a project.
    project: Option<PathBuf>,
}

impl FileChange {
    /// Reads the file, which belongs to `project` if there is one. A missing file is not an error.
    pub(crate) fn read(path: PathBuf, project: Option<&Path>) -> anyhow::Result<Self> {
        refuse_outward_link(&path, project)?;
        let settings = SettingsFile::read(&path)?;
        let after = settings.text().map(str::to_owned);
        Ok(Self {
            path,
            settings,
            after,
            is_run: false,
            project: project.map(Path::to_owned),
        })
    }

    /// The text after all edits. `None` if there is no file.
    pub(crate) fn text(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Adds an entry that starts `target`; without a target, removes the entry.
    pub(crate) fn edit(
        &mut self,
        connection: Connection,
        target: Option<&str>,
    ) -> Result<(), BadFile> {
        self.after = connection.edit(self.text(), target)?;
        self.is_run |= connection.runs_file();
        Ok(())
    }

    /// True if the edits change nothing.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.settings.text() == self.text()
    }

    /// Returns the change as a unified diff.
    pub(crate) fn diff(&self) -> String {
        let (before, after) = (self.settings.text(), self.text());
        let name = |text: Option<&str>| match text {
            Some(_) => self.path.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
        let diff = diff
            .unified_diff()
            .header(&name(before), &name(after))
            .to_string();
        visible::shown(&diff).into_owned()
    }

    /// Writes or removes the file, and reports it.
    pub(crate) fn write(&self, start: &StartContext) -> anyhow::Result<()> {
        refuse_outward_link(&self.path, self.project.as_deref())?;
        self.settings.replace(self.text(), self.is_run, start)?;
        let verb = match self.after {
            Some(_) => "wrote",
            None => "removed",
        };
        output::print(&format!("{verb} {}\n", self.path.display()))
    }

    /// Returns the error for this file, which is not changed.
    pub(super) fn usage_error(&self, error: &BadFile) -> UsageError {
        bad_file(&self.path, error)
    }
}

/// Refuses a link in a project that leads out of the project: a project can come from others.
fn refuse_outward_link(path: &Path, project: Option<&Path>) -> Result<(), UsageError> {
    let Some(project) = project else {
        return Ok(());
    };
    let root = project.canonicalize();
    let root = root.unwrap_or_else(|_| project.to_owned());
    let leads_out = |link: &&Path| {
        let is_inside = link.canonicalize().is_ok_and(|it| it.starts_with(&root));
        link.is_symlink() && !is_inside
    };
    let below = path.ancestors().take_while(|it| *it != project);
    match below.filter(leads_out).last() {
        Some(link) => Err(UsageError(format!(
            "{} is a link that leads out of the project, or to no file, so nothing was written; replace it, or change your own settings without --project",
            link.display()
        ))),
        None => Ok(()),
    }
}

/// Returns the error for a file that cannot be edited, and is not changed.
pub(crate) fn bad_file(path: &Path, error: &BadFile) -> UsageError {
    UsageError(format!("{}: {error}", path.display()))
}

/// Asks the user on the terminal, and returns the answer.
pub(crate) fn ask(question: &str) -> anyhow::Result<String> {
    let mut err = io::stderr().lock();
    write!(err, "{question} ").and_then(|()| err.flush())?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Asks the user for confirmation on the terminal.
pub(crate) fn confirm(question: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        let error =
            "stdin is not a terminal, so nothing can be asked; --yes does it without asking";
        return Err(UsageError(error.to_owned()).into());
    }
    let answer = ask(&format!("{question} [y/N]"))?;
    Ok(matches!(&*answer, "y" | "Y" | "yes"))
}
