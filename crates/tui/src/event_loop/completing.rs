//! Looks for what completes a word, on a thread that may hang in a file system that does not answer: nobody waits for it
//! for long.

use super::EventLoop;
use crate::app::News;
use crate::complete::{Commands, Wanted, complete};
use agent_bash::exec::Configured;
use agent_bash::session::parse_bang;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// How long a completion may take.
const PATIENCE: Duration = Duration::from_secs(2);

impl EventLoop {
    /// Looks for what completes the text in front of the cursor.
    pub(super) fn look_for_completions(&mut self, before: String) {
        if self.session.place().is_some() {
            self.app.message =
                Some("nothing is completed on a target: its files are not here".to_owned());
            return;
        }
        if self.completing.swap(true, Ordering::AcqRel) {
            self.app.message = Some("still looking for the last completion".to_owned());
            return;
        }
        let directory = if parse_bang(&before).is_some() {
            self.session.user_cwd()
        } else {
            self.app.place.directory.clone()
        };
        let known = self.app.prompt.commands.as_deref();
        let wanted = Wanted {
            before,
            directory,
            home: self.session.host().home.clone(),
            path: known.map_or_else(|| self.path(), |known| known.path.clone()),
            defined: known.map_or_else(Vec::new, |known| known.defined.clone()),
        };
        let busy = Arc::clone(&self.completing);
        let found = tokio::task::spawn_blocking(move || {
            let completion = complete(&wanted);
            busy.store(false, Ordering::Release);
            completion
        });
        let (tell, clock) = (self.tell.clone(), Arc::clone(&self.clock));
        tokio::spawn(async move {
            let news = tokio::select! {
                found = found => match found {
                    Ok(completion) => News::Completed(completion),
                    // It has panicked.
                    Err(_) => return,
                },
                () = clock.sleep(PATIENCE) => News::NotCompleted,
            };
            let _ = tell.send(news);
        });
    }

    /// Reads which commands there are, and once more when the person's configuration has been read.
    pub(super) fn read_commands(&self) {
        if self.session.place().is_some() {
            return;
        }
        let (session, path, tell) = (Arc::clone(&self.session), self.path(), self.tell.clone());
        read_into(tell.clone(), path.clone(), Vec::new());
        tokio::spawn(async move {
            match session.configured().await {
                Ok(Configured { names, path: own }) if !names.is_empty() || own.is_some() => {
                    let own = own.map(|own| std::env::split_paths(&own).collect());
                    read_into(tell, own.unwrap_or(path), names);
                }
                Ok(_) => {}
                Err(notice) => drop(tell.send(News::NotConfigured(notice.text))),
            }
        });
    }

    /// The directories of the host's `PATH`.
    fn path(&self) -> Vec<PathBuf> {
        let host = self.session.host();
        let path = host.env.get(&OsString::from("PATH"));
        let path = path.map(|path| std::env::split_paths(path).collect());
        path.unwrap_or_default()
    }
}

/// Reads which commands there are, on a thread that a file system may hold up.
fn read_into(tell: UnboundedSender<News>, path: Vec<PathBuf>, defined: Vec<String>) {
    tokio::task::spawn_blocking(move || {
        let _ = tell.send(News::Commands(Arc::new(Commands::read(path, defined))));
    });
}
