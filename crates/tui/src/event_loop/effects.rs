//! Carries out the interface's effects: running, reading, ending. Slow effects run in tasks that
//! send messages.

use super::EventLoop;
use super::shutdown::JOB_GRACE;
use crate::app::{CARD_PAGE_LINES, Effect, Msg};
use crate::calls::CallExtras;
use crate::change_actions::is_undecided;
use crate::console::size_in;
use crate::interrupt::InterruptibleCommand;
use crate::pager_source::{self, LineRange, LineSource, SharedText, StoredText};
use crate::transcript::EntryId;
use crate::{calls, change_work};
use agent_bash::core::changes::ChangesId;
use agent_bash::core::{ArtifactId, JobId, Request};
use agent_bash::sink::{FileView, LiveUpdates};
use agent_bash_render::OutputPage;
use std::sync::Arc;
use std::time::Duration;

impl EventLoop {
    fn interrupt(&mut self, is_bang: bool) {
        let running = if is_bang { &self.bang } else { &self.call }.clone();
        self.tasks.spawn(running.interrupt(Arc::clone(&self.clock)));
    }

    /// Starts a tool call.
    fn call(&mut self, entry: EntryId, request: Request, live: LiveUpdates, defines: bool) {
        self.call = InterruptibleCommand::new();
        self.prepare_terminal();
        let unlimited = !self.has_time_limit;
        if !unlimited {
            let limit = self.session.tool().profile().timeouts.default;
            self.app
                .transcript
                .change(entry, |entry| entry.set_timeout(limit));
        }
        let (session, running) = (Arc::clone(&self.session), self.call.clone());
        let sender = self.sender.clone();
        let clock = Arc::clone(&self.clock);
        let shell = self.app.shell.clone();
        let (known, definitions) = (
            Arc::clone(&self.known_definitions),
            self.replaced_shell_definitions.take(),
        );
        self.tasks.spawn(async move {
            let mut request = request;
            let call_shell = request.session.clone();
            let definitions = match call_shell {
                None => {
                    let shell = shell.as_ref();
                    let loading =
                        calls::with_shell_state(&session, &mut request, shell, definitions);
                    Box::pin(loading).await
                }
                Some(_) => None,
            };
            let extras = CallExtras {
                unlimited,
                definitions,
            };
            let end = calls::call(&session, request, extras, &live, &running).await;
            running.mark_ended();
            if let Some(shell) = call_shell {
                known.update(&session, &shell, &end, defines).await;
            }
            let now = clock.now();
            let _ = sender.send(Msg::Ended { entry, end, now });
        });
    }

    /// Starts a bang command.
    fn bang(&mut self, entry: EntryId, command: String, excluded: bool, live: LiveUpdates) {
        self.bang = InterruptibleCommand::new();
        let (session, running) = (Arc::clone(&self.session), self.bang.clone());
        let (sender, clock) = (self.sender.clone(), Arc::clone(&self.clock));
        self.tasks.spawn(async move {
            let end = calls::bang(&session, &command, excluded, &live, &running).await;
            running.mark_ended();
            let now = clock.now();
            let _ = sender.send(Msg::Ended { entry, end, now });
        });
    }

    pub(super) fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Call {
                entry,
                request,
                live,
                defines,
            } => self.call(entry, *request, live, defines),
            Effect::Bang {
                entry,
                command,
                excluded,
                live,
            } => self.bang(entry, command, excluded, live),
            Effect::CancelCall => self.call.cancel.cancel(),
            Effect::ReplaceCall { gently } => {
                self.replaced_shell_definitions = self.known_definitions.get();
                if gently {
                    self.interrupt(false);
                } else {
                    self.call.cancel.cancel();
                }
            }
            Effect::CancelBang => self.bang.cancel.cancel(),
            Effect::InterruptCall => self.interrupt(false),
            Effect::InterruptBang => self.interrupt(true),
            Effect::ListJobs => {
                self.list_jobs();
                self.check_held_trials();
            }
            Effect::KillJob(id) => self.kill_job(id),
            Effect::OpenOutput { artifact, command } => {
                let title = artifact.uri();
                let opened = self
                    .artifact(artifact)
                    .map(|view| (Box::new(view), title, command));
                self.app.update(Msg::Opened(opened));
            }
            Effect::OpenFile {
                path,
                title,
                command,
            } => {
                let opened =
                    FileView::open(&path).map_err(|error| format!("{}: {error}", path.display()));
                self.app.update(Msg::Opened(
                    opened.map(|view| (Box::new(view), title, command)),
                ));
            }
            Effect::CardPage {
                entry,
                artifact,
                from,
            } => match self.artifact(artifact) {
                Ok(view) => self.read_in_background(move || Msg::CardPage {
                    entry,
                    page: card_page(&StoredText::of(view), from).map(Box::new),
                }),
                Err(error) => self.app.update(Msg::CardPage {
                    entry,
                    page: Err(error),
                }),
            },
            Effect::FindPattern { text, search } => {
                self.read_in_background(move || Msg::PatternFound {
                    found: pager_source::find(&text, &search),
                    ticket: search.ticket,
                });
            }
            Effect::Changes { entry, id, work } => {
                let (sets, clock) = (self.session.changes(), Arc::clone(&self.clock));
                self.read_in_background(move || Msg::Changes {
                    entry,
                    id,
                    done: change_work::carry_out(&sets, id, &work),
                    now: clock.now(),
                });
            }
            Effect::FindBackgroundChanges(cards) => {
                let sets = self.session.changes();
                // Without a store, there are no change sets.
                self.read_in_background(move || {
                    let calls: Vec<ChangesId> = cards.iter().map(|(_, id)| *id).collect();
                    let sets = sets.background_of(&calls).unwrap_or_default();
                    Msg::BackgroundChanges { cards, sets }
                });
            }
            Effect::ReadUndecided(all) => self.read_undecided(all),
            Effect::ReadHeldTrials(wanted) => {
                let sets = self.session.changes();
                self.read_in_background(move || {
                    let read = wanted.iter().filter_map(|id| sets.show(*id).ok());
                    let trials = read.filter(is_undecided).collect();
                    Msg::HeldTrialsRead { wanted, trials }
                });
            }
            prompt => self.act_on_prompt(prompt),
        }
    }

    /// Reads the state of these trials: another program may have decided about them.
    fn read_undecided(&mut self, all: Vec<(EntryId, ChangesId)>) {
        let sets = self.session.changes();
        self.read_in_background(move || {
            let now = |(entry, id)| (entry, sets.show(id).ok().map(Box::new));
            Msg::Undecided(all.into_iter().map(now).collect())
        });
    }

    /// Configures the next terminal for the command that is about to run.
    fn prepare_terminal(&self) {
        if let Some(terminals) = &self.terminals {
            terminals.set_size(size_in(self.area, self.app.is_full_screen));
            terminals.expect_full_screen(self.app.is_full_screen);
        }
    }

    fn artifact(&self, id: ArtifactId) -> Result<FileView, String> {
        let artifacts = self.session.artifacts();
        let artifacts = artifacts.ok_or_else(|| "no output is stored".to_owned())?;
        artifacts.open(id).map_err(|error| error.to_string())
    }

    /// Runs `read` on a blocking thread, and sends its message.
    pub(super) fn read_in_background(&mut self, read: impl FnOnce() -> Msg + Send + 'static) {
        let sender = self.sender.clone();
        self.tasks.spawn_blocking(move || drop(sender.send(read())));
    }

    /// Loads the lines that the pager shows, unless they are loaded.
    pub(super) fn load_page(&mut self, now: Duration) {
        let Some(pager) = &mut self.app.pager else {
            return;
        };
        if let (Some(range), LineSource::File(text)) = (pager.lines_to_load(now), pager.source()) {
            self.read_in_background(move || Msg::Loaded(pager_source::load(&text, range)));
        }
    }

    fn kill_job(&mut self, id: JobId) {
        let Some(jobs) = self.session.jobs().map(Arc::clone) else {
            return;
        };
        let sender = self.sender.clone();
        self.tasks.spawn(async move {
            let killed = jobs.kill(&id, JOB_GRACE).await;
            let outcome = match killed {
                Ok(killed) if killed.survivors.is_empty() => Ok(format!("job {id} was ended")),
                Ok(killed) => Err(format!(
                    "{} processes of job {id} withstood SIGKILL",
                    killed.survivors.len()
                )),
                Err(error) => Err(error.to_string()),
            };
            let _ = sender.send(Msg::JobKilled(outcome));
        });
    }
}

/// A page of a full output for a card; the last page if `from` is beyond the end.
fn card_page(text: &SharedText, from: u64) -> Result<OutputPage, String> {
    let range = LineRange {
        from: Some(from).filter(|from| *from != u64::MAX),
        count: CARD_PAGE_LINES,
        unless_len: None,
    };
    let loaded = pager_source::load(text, range)?.ok_or("the output is empty")?;
    Ok(OutputPage {
        text: loaded.text,
        first_line: loaded.from,
        total_lines: loaded.total,
    })
}
