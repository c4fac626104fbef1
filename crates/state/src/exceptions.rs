//! Exceptions from a rule, which the user gives for one command.
//!
//! A refusal has a code. If the user runs `agent-bash allow CODE`, the refused command may run
//! once, or always, in the directory of the refused call. The codes are in a private file in the
//! state directory.
//!
//! The model also reads the code, so the code alone allows nothing. The process that allows a
//! command must not descend from a process that could run the model's commands
//! ([`RefusedCommand::model_controlled_ancestor`]).

use agent_bash_core::{Clock, Timestamp};
use agent_bash_os::{PrivateDir, lock_file};
use agent_bash_policy::Finding;
use agent_bash_process::{Ancestor, ProcessIdentity, model_callers};
use agent_bash_settings::HostContext;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The rule that refuses commands which give exceptions, such as `agent-bash allow`. This rule has
/// no exceptions.
const SELF_EXCEPTION_RULE: &str = "no_self_exception";

const FILE: &str = "exceptions.json";
const LOCK: &str = "exceptions.lock";

/// How long after its refusal the user can allow a command.
const PENDING_FOR: Duration = Duration::from_secs(60 * 60);

/// How long the permission to run a command once is valid.
pub const ALLOWED_FOR: Duration = Duration::from_secs(10 * 60);

/// How long the agent's shell accepts an allowed command after the command has passed the agent's
/// hook.
const AFTER_HOOK: Duration = Duration::from_secs(30);

/// The maximum number of commands in the file, and the maximum length of each.
const MAX_COMMANDS: usize = 64;
const MAX_COMMAND_BYTES: usize = 16 * 1024;
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The length of a code, and its characters. Letters and digits that look alike are left out.
const CODE_LENGTH: usize = 6;
const CODE_CHARACTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// A command that a rule refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedCommand {
    /// The code that the user types to allow the command.
    pub code: String,
    /// The script.
    pub command: String,
    /// The working directory of the refused call.
    pub cwd: PathBuf,
    /// The name of the rule.
    pub rule: String,
    /// The rule's message.
    pub message: String,
    /// The processes that could run further commands of the model whose command was refused.
    callers: Vec<ProcessIdentity>,
    expires: Timestamp,
    /// The user's permission; `None` while the command is only refused.
    pub allowed: Option<Allowance>,
}

/// How often a command may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowance {
    /// Once, within [`ALLOWED_FOR`].
    Once,
    /// Once, by the call itself: the agent's hook has already accepted the command.
    AfterHook,
    /// Any number of times, until the user revokes the permission.
    Always,
}

/// The program that checks an allowed command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckedBy {
    /// agent-bash, as the last check before it runs the command.
    Call,
    /// An agent's hook. The agent's shell may check the command again.
    Hook,
    /// A hook that replaces the command by a call of `agent-bash shell`, which checks the command
    /// again.
    HookBeforeCall,
}

impl RefusedCommand {
    /// Returns the nearest of these processes that the model could control. `ancestors` begins with
    /// the current process.
    pub fn model_controlled_ancestor<'a>(&self, ancestors: &'a [Ancestor]) -> Option<&'a Ancestor> {
        let own = ancestors.first();
        // A process in another pid namespace cannot see its ancestors outside of it.
        let is_foreign = |caller: &ProcessIdentity| {
            own.is_none_or(|own| caller.namespace != own.identity.namespace)
        };
        if self.callers.iter().any(is_foreign) {
            return own;
        }
        let mut above = ancestors.iter().skip(1);
        above.find(|process| process.is_agent_bash() || self.callers.contains(&process.identity))
    }
}

/// The file of refused and allowed commands.
#[derive(Debug, Clone)]
pub struct Exceptions {
    state: PathBuf,
    clock: Arc<dyn Clock>,
}

impl Exceptions {
    /// Returns the exceptions in a state directory.
    pub fn new(state: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { state, clock }
    }

    /// Adds a refused command, and returns its code. `None` if the command is too long, if the rule
    /// has no exceptions, or if the file cannot be written.
    pub fn add(
        &self,
        command: &str,
        cwd: &Path,
        finding: &Finding,
        host: &HostContext,
    ) -> Option<String> {
        if command.len() > MAX_COMMAND_BYTES || finding.rule == SELF_EXCEPTION_RULE {
            return None;
        }
        let callers = model_callers(&host.processes).map(|process| process.identity.clone());
        let added = self.change(|commands, now| {
            let expires = after(now, PENDING_FOR);
            let is_same = |refused: &&mut RefusedCommand| {
                refused.allowed.is_none() && refused.command == command && refused.cwd == cwd
            };
            if let Some(pending) = commands.iter_mut().find(is_same) {
                pending.expires = expires;
                let known = &mut pending.callers;
                known.extend(callers);
                known.dedup();
                known.drain(..known.len().saturating_sub(MAX_COMMANDS));
                return pending.code.clone();
            }
            let code = code(&format!("{command}\n{}\n{now:?}", cwd.display()));
            commands.push(RefusedCommand {
                code: code.clone(),
                command: command.to_owned(),
                cwd: cwd.to_owned(),
                rule: finding.rule.clone(),
                message: finding.message.clone(),
                callers: callers.collect(),
                expires,
                allowed: None,
            });
            code
        });
        let failed = |error: &io::Error| tracing::warn!(%error, "a refusal gets no code");
        added.inspect_err(failed).ok()
    }

    /// Returns true if the user has allowed the command. Consumes a permission to run the command
    /// once.
    pub fn consume_permission(&self, command: &str, cwd: &Path, check: CheckedBy) -> bool {
        // Avoids the lock in the usual case: the user has allowed no command.
        let is_allowed = |commands: Vec<RefusedCommand>| {
            commands
                .iter()
                .any(|refused| refused.allowed.is_some() && refused.command == command)
        };
        if !self.list().is_ok_and(is_allowed) {
            return false;
        }
        let permitted = self.change(|commands, now| {
            let is_permitted = |refused: &RefusedCommand| {
                let passes = match refused.allowed {
                    None => false,
                    Some(Allowance::AfterHook) => check == CheckedBy::Call,
                    Some(Allowance::Once | Allowance::Always) => true,
                };
                passes && refused.command == command && refused.cwd == cwd
            };
            let Some(index) = commands.iter().position(is_permitted) else {
                return false;
            };
            if commands[index].allowed != Some(Allowance::Always) {
                match check {
                    CheckedBy::Call => drop(commands.remove(index)),
                    CheckedBy::Hook => {
                        commands[index].allowed = Some(Allowance::AfterHook);
                        commands[index].expires = after(now, AFTER_HOOK);
                    }
                    CheckedBy::HookBeforeCall => {}
                }
            }
            true
        });
        permitted.unwrap_or(false)
    }

    /// Returns the refused commands, including the commands that the user has allowed. Leaves out
    /// expired commands.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self) -> io::Result<Vec<RefusedCommand>> {
        match PrivateDir::open(&self.state, &[]) {
            Ok(directory) => self.read(&directory),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Allows the command with this code; `None` removes the command from the file. The caller must
    /// make sure that the user decides. Returns false if no command has the code.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn decide(&self, code: &str, allowance: Option<Allowance>) -> io::Result<bool> {
        self.change(|commands, now| {
            let index = commands.iter().position(|refused| refused.code == code);
            match (index, allowance) {
                (Some(index), Some(allowance)) => {
                    commands[index].allowed = Some(allowance);
                    commands[index].expires = match allowance {
                        Allowance::Always => Timestamp(u64::MAX >> 16),
                        Allowance::Once | Allowance::AfterHook => after(now, ALLOWED_FOR),
                    };
                }
                (Some(index), None) => drop(commands.remove(index)),
                (None, _) => {}
            }
            index.is_some()
        })
    }

    /// Changes the file, with a lock against other processes.
    fn change<T>(
        &self,
        work: impl FnOnce(&mut Vec<RefusedCommand>, Timestamp) -> T,
    ) -> io::Result<T> {
        let directory = PrivateDir::create(&self.state, &[])?;
        let _lock = lock_file(&directory, LOCK)?;
        let mut commands = self.read(&directory)?;
        let value = work(&mut commands, self.clock.wall());
        let is_pending = |refused: &RefusedCommand| refused.allowed.is_none();
        while commands.len() > MAX_COMMANDS
            && let Some(oldest) = commands.iter().position(is_pending)
        {
            commands.remove(oldest);
        }
        let text = serde_json::to_vec(&commands).map_err(io::Error::other)?;
        directory.replace(FILE, &text)?;
        Ok(value)
    }

    /// Reads the commands in the file, without the expired ones.
    fn read(&self, directory: &PrivateDir) -> io::Result<Vec<RefusedCommand>> {
        let mut text = Vec::new();
        match directory.read(FILE) {
            Ok(file) => file.take(MAX_FILE_BYTES).read_to_end(&mut text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        // A file of another version is treated as empty: the user can allow a command again.
        let mut commands: Vec<RefusedCommand> = serde_json::from_slice(&text).unwrap_or_default();
        let now = self.clock.wall();
        commands.retain(|refused| refused.expires > now);
        Ok(commands)
    }
}

/// Returns the time `duration` after `now`.
fn after(now: Timestamp, duration: Duration) -> Timestamp {
    Timestamp(
        now.0
            .saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
    )
}

/// Returns a code for a text. The code need not be secret.
fn code(text: &str) -> String {
    let digest = Sha256::digest(text);
    let letters = digest.iter().take(CODE_LENGTH);
    let letter =
        |byte: &u8| char::from(CODE_CHARACTERS[usize::from(*byte) % CODE_CHARACTERS.len()]);
    letters.map(letter).collect()
}

#[cfg(test)]
#[path = "exceptions_tests.rs"]
mod tests;
