//! Runs completions on a thread, because a file system may block. The interface waits only briefly
//! for the result.

use super::EventLoop;
use crate::app::Msg;
use crate::complete::{Commands, CompletionInput, complete, typed_variable};
use crate::functions::Functions;
use agent_bash::Conversation;
use agent_bash::core::SessionName;
use agent_bash::exec::ConfiguredNames;
use agent_bash::session::{USER_SHELL, parse_bang};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// How long keys typed after Tab wait for the completion, so that they follow the completed word,
/// as in a shell.
const TYPE_AHEAD_WAIT: Duration = Duration::from_millis(200);

/// How long a completion may take.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(2);

impl EventLoop {
    /// Looks for completions of the text in front of the cursor.
    pub(super) fn look_for_completions(&mut self, before: String) {
        if self.session.remote_host().is_some() {
            self.app.message = Some("completion is not available on a remote host".to_owned());
            return;
        }
        if self.completing.swap(true, Ordering::AcqRel) {
            self.app.message = Some("still looking for the last completion".to_owned());
            return;
        }
        self.input_paused_until = Some(self.clock.now() + TYPE_AHEAD_WAIT);
        let directory = self.directory_of(&before);
        let shell = match parse_bang(&before) {
            Some(_) => Some(SessionName(USER_SHELL.to_owned())),
            None => self.app.shell.clone(),
        };
        let is_variable = typed_variable(&before).is_some();
        let known = self.app.prompt.commands.as_deref();
        let mut input = CompletionInput {
            before,
            directory,
            home: self.session.host().home.clone(),
            path: known.map_or_else(|| self.path(), |known| known.path.clone()),
            defined: known.map_or_else(Vec::new, |known| known.defined.clone()),
            variables: Vec::new(),
        };
        let busy = Arc::clone(&self.completing);
        let session = Arc::clone(&self.session);
        let found = tokio::spawn(async move {
            if is_variable {
                input.variables = variables(&session, shell.as_ref()).await;
            }
            let look = move || {
                let completion = complete(&input);
                busy.store(false, Ordering::Release);
                completion
            };
            tokio::task::spawn_blocking(look).await
        });
        let (sender, clock) = (self.sender.clone(), Arc::clone(&self.clock));
        tokio::spawn(async move {
            let msg = tokio::select! {
                found = found => match found {
                    Ok(Ok(completion)) => Msg::Completed(completion),
                    // The thread panicked.
                    _ => return,
                },
                () = clock.sleep(COMPLETION_TIMEOUT) => Msg::CompletionTimedOut,
            };
            let _ = sender.send(msg);
        });
    }

    /// Checks whether a path is a program. Only one lookup runs at a time, so that a blocked file
    /// system gets no second request.
    pub(super) fn look_up(&self, path: String) {
        if self.session.remote_host().is_some() || self.looking_up.swap(true, Ordering::AcqRel) {
            return;
        }
        let directory = self.directory_of(&self.app.prompt.text());
        let home = self.session.host().home.clone();
        let (busy, sender) = (Arc::clone(&self.looking_up), self.sender.clone());
        tokio::task::spawn_blocking(move || {
            let file = match (path.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => directory.join(&path),
            };
            // A directory is the beginning of a path that is still being typed.
            let is_program = fs::metadata(file)
                .is_ok_and(|found| found.is_dir() || found.permissions().mode() & 0o111 != 0);
            busy.store(false, Ordering::Release);
            let _ = sender.send(Msg::LookedUp { path, is_program });
        });
    }

    /// Reads the names of all commands, and once more after the user's configuration has been read.
    pub(super) fn read_commands(&self) {
        if self.session.remote_host().is_some() {
            return;
        }
        let (session, path, sender) = (Arc::clone(&self.session), self.path(), self.sender.clone());
        read_into(sender.clone(), path.clone(), Vec::new());
        tokio::spawn(async move {
            match session.configured().await {
                Ok(ConfiguredNames {
                    names,
                    aliases,
                    path: configured_path,
                }) if !names.is_empty() || configured_path.is_some() => {
                    let _ = sender.send(Msg::Aliases(aliases));
                    let configured_path =
                        configured_path.map(|path| std::env::split_paths(&path).collect());
                    read_into(sender.clone(), configured_path.unwrap_or(path), names);
                    if let Some(definitions) = session.configured_definitions().await {
                        let text = String::from_utf8_lossy(&definitions.text);
                        let _ = sender.send(Msg::Functions(Functions::read(&text)));
                    }
                }
                Ok(_) => {}
                Err(notice) => drop(sender.send(Msg::ConfigurationFailed(notice.text))),
            }
        });
    }

    /// The working directory of a typed line.
    pub(super) fn directory_of(&self, line: &str) -> PathBuf {
        match parse_bang(line) {
            Some(_) => self.session.user_cwd(),
            None => self.app.directory.directory.clone(),
        }
    }

    /// The directories of the host's `PATH`.
    fn path(&self) -> Vec<PathBuf> {
        let host = self.session.host();
        let path = host.env.get(&OsString::from("PATH"));
        let path = path.map(|path| std::env::split_paths(path).collect());
        path.unwrap_or_default()
    }
}

/// Returns the names of a shell's exported variables: the initial ones, and the ones that the shell
/// has exported since.
async fn variables(session: &Conversation, shell: Option<&SessionName>) -> Vec<String> {
    let initial = session.tool().environment().variables.keys();
    let initial = initial.filter_map(|name| name.to_str().map(str::to_owned));
    let mut names: BTreeSet<String> = initial.collect();
    if let Some(shell) = shell {
        for (name, value) in session.shell_exports(shell).await {
            match value {
                Some(_) => drop(names.insert(name)),
                None => drop(names.remove(&name)),
            }
        }
    }
    names.into_iter().collect()
}

/// Reads the names of all commands on a thread, because a file system may block.
fn read_into(sender: UnboundedSender<Msg>, path: Vec<PathBuf>, defined: Vec<String>) {
    tokio::task::spawn_blocking(move || {
        let _ = sender.send(Msg::Commands(Arc::new(Commands::read(path, defined))));
    });
}
