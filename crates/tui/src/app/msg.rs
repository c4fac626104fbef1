//! Results and notifications from outside the interface, and how they change its state.

use super::{App, Effect};
use crate::calls::{CallEnd, denial_hint};
use crate::change_work::ChangeWorkResult;
use crate::complete::{Commands, Completion};
use crate::console::Console;
use crate::functions::Functions;
use crate::jobs_state::JobsState;
use crate::note::{HeldNote, Note};
use crate::pager_source::{LoadedLines, MatchingLine, SearchTicket};
use crate::pager_state::PagerState;
use crate::prompt_directory::PromptDirectory;
use crate::transcript::{Card, EntryId};
use agent_bash::change_sets::ListedChanges;
use agent_bash::core::changes::{Changes, ChangesId};
use agent_bash::core::{Notice, NoticeKind, Timestamp};
use agent_bash::exec::{Job, JobOutput, JobState};
use agent_bash::journals::HistoryEntry;
use agent_bash::pty::PtySession;
use agent_bash::session::BangError;
use agent_bash::sink::FileView;
use agent_bash_render::OutputPage;
use std::sync::Arc;
use std::time::Duration;

/// Something that happened outside the interface.
#[derive(Debug)]
pub(crate) enum Msg {
    Ended {
        entry: EntryId,
        end: CallEnd,
        now: Duration,
    },
    /// The current working directory of the prompt's commands.
    Directory(PromptDirectory),
    Jobs {
        jobs: Vec<Job>,
        now: Timestamp,
        /// The end of the selected job's output.
        printed: Option<Box<JobOutput>>,
    },
    JobKilled(Result<String, String>),
    /// Trials of earlier runs that await a decision, with the name of the state directory of this
    /// run.
    HeldTrialsFound {
        trials: Vec<Changes>,
        state_dir: String,
    },
    /// Trials of earlier runs that still await a decision.
    StillHeld(Vec<ChangesId>),
    /// The present state of trials that awaited a decision, if they still exist.
    Undecided(Vec<(EntryId, Option<Box<Changes>>)>),
    /// Change sets of background processes, by the cards of the commands that started them.
    BackgroundChanges {
        cards: Vec<(EntryId, ChangesId)>,
        sets: Vec<ListedChanges>,
    },
    /// The requested trials (`wanted`). Those that still await a decision become cards.
    HeldTrialsRead {
        wanted: Vec<ChangesId>,
        trials: Vec<Changes>,
    },
    /// The opened text, with its title and its subtitle.
    Opened(Result<(Box<FileView>, String, String), String>),
    /// Lines for the pager; `None` if there are no new ones.
    Loaded(Result<Option<Box<LoadedLines>>, String>),
    PatternFound {
        ticket: SearchTicket,
        found: Result<Option<MatchingLine>, String>,
    },
    /// The result of a completion.
    Completed(Completion),
    /// A completion takes too long.
    CompletionTimedOut,
    Commands(Arc<Commands>),
    /// The result of looking up a program.
    LookedUp {
        path: String,
        is_program: bool,
    },
    /// Aliases of the user's configuration.
    Aliases(Vec<(String, String)>),
    Functions(Functions),
    /// The user's configuration could not be read.
    ConfigurationFailed(String),
    /// The stored history.
    History {
        entries: Vec<HistoryEntry>,
        /// The identifier of this run.
        run: String,
    },
    /// The history cannot be written, for this reason.
    HistoryNotStored(String),
    CardPage {
        entry: EntryId,
        page: Result<Box<OutputPage>, String>,
    },
    /// The result of work on a card's change set.
    Changes {
        entry: EntryId,
        id: ChangesId,
        done: ChangeWorkResult,
        now: Duration,
    },
}

impl App {
    /// Handles the start of a command on a terminal.
    pub(crate) fn console_started(&mut self, session: PtySession, now: Duration) {
        let call = self.call.and_then(|id| self.transcript.get(id));
        let command = call.map_or("", |entry| entry.command());
        self.console = Some(Console::new(session, command, now, self.is_full_screen));
    }

    /// Handles the end of a command.
    fn command_ended(&mut self, entry: EntryId, end: CallEnd, now: Duration) {
        match &end {
            CallEnd::Tool { result, .. } => {
                self.last_status = Some(result.status.clone());
                let is_reset =
                    |notice: &Notice| matches!(notice.kind, NoticeKind::SessionReset { .. });
                if result.notices.iter().any(is_reset) {
                    self.functions.forget_typed();
                }
            }
            CallEnd::Bang(message) => self.last_status = Some(message.status.clone()),
            CallEnd::Refused(_) => {}
        }
        if self.call.or(self.bang) == Some(entry) {
            self.withdraw_quit();
        }
        if self.bang == Some(entry) {
            self.bang = None;
            let is_over = |message: &String| *message == BangError::AlreadyRunning.to_string();
            self.message.take_if(|message| is_over(message));
        }
        let unrecorded = self.journal_gap_lines(&end);
        let sandbox_hint = denial_hint(self.sandbox.escalation, self.is_safe_mode);
        self.transcript.change(entry, |entry| {
            entry.finish();
            end.show_on(entry, sandbox_hint);
            entry.hold_back_survivors();
            if let Some(footer) = entry.card.footer_mut() {
                footer.extend(unrecorded.into_iter().flatten());
            }
        });
        if self.call == Some(entry) {
            self.call_ended(now);
        }
        self.effects.push(Effect::ListJobs);
        self.read_undecided();
    }

    /// Updates the state for a message.
    pub(crate) fn update(&mut self, msg: Msg) {
        match msg {
            Msg::Ended { entry, end, now } => self.command_ended(entry, end, now),
            Msg::Directory(directory) => {
                self.directory = directory;
                self.look_up(true);
            }
            Msg::Jobs { jobs, now, printed } => {
                let runs = |job: &&Job| matches!(job.state, JobState::Running);
                let before = self.running_jobs;
                self.running_jobs = jobs.iter().filter(runs).count();
                self.update_quit_question(before);
                self.transcript.update_jobs(&jobs, now);
                let with_survivors = self.transcript.with_survivors();
                self.awaits_background_changes = !with_survivors.is_empty();
                if self.awaits_background_changes {
                    self.effects
                        .push(Effect::FindBackgroundChanges(with_survivors));
                }
                if let Some(state) = &mut self.jobs {
                    let before = state.selected_id();
                    state.update(&jobs, now);
                    if let Some(end) = printed {
                        state.set_output(&end);
                    }
                    if state.selected_id() != before {
                        self.effects.push(Effect::ListJobs);
                    }
                }
            }
            Msg::JobKilled(result) => {
                if let Some(jobs) = &mut self.jobs {
                    jobs.message = Some(result.unwrap_or_else(|error| error));
                }
                self.effects.push(Effect::ListJobs);
            }
            Msg::HeldTrialsFound { trials, state_dir } => {
                self.held_trials = trials.iter().map(|trial| trial.id).collect();
                if !trials.is_empty() {
                    let note = Note::Held(HeldNote::new(trials, state_dir));
                    self.transcript.add(Card::Note(note), Duration::ZERO);
                }
            }
            Msg::BackgroundChanges {
                cards,
                sets: background,
            } => self.set_background_changes(cards, &background),
            Msg::Undecided(all) => all
                .into_iter()
                .for_each(|(entry, set)| self.trial_read(entry, set)),
            Msg::StillHeld(held) => self.held_trials.retain(|id| held.contains(id)),
            Msg::HeldTrialsRead { wanted, trials } => self.held_trials_read(&wanted, trials),
            Msg::Opened(Ok((view, title, command))) => {
                let mut pager = PagerState::new(*view, title, command);
                let job = self.jobs.as_ref().and_then(JobsState::selected_state);
                pager.follow_job(job);
                self.pager = Some(pager);
            }
            Msg::Opened(Err(error)) => self.message = Some(error),
            Msg::Loaded(loaded) => {
                if let Some(pager) = &mut self.pager {
                    pager.lines_loaded(loaded);
                }
            }
            Msg::PatternFound { ticket, found } => {
                if let Some(pager) = &mut self.pager {
                    let next = pager.search_ended(&ticket, found);
                    self.handle_pager_request(next);
                }
            }
            Msg::Completed(completion) => self.completed(completion),
            Msg::CompletionTimedOut => {
                self.message =
                    Some("completing takes too long: a file system does not answer".to_owned());
            }
            Msg::Commands(commands) => self.commands_read(commands),
            Msg::LookedUp { path, is_program } => self.looked_up(&path, is_program),
            Msg::Aliases(aliases) => self.aliases.add_configured(aliases),
            Msg::Functions(functions) => self.functions.add_configured(functions),
            Msg::ConfigurationFailed(why) => self.message = Some(why),
            Msg::History { entries, run } => self.history_read(entries, &run),
            Msg::HistoryNotStored(error) => {
                self.message = Some(format!("typed commands are not stored: {error}"));
            }
            Msg::CardPage { entry, page } => match page {
                Ok(page) => self.transcript.change(entry, |entry| {
                    if let Card::Tool(card) = &mut entry.card {
                        card.page = Some(*page);
                    }
                }),
                Err(error) => self.message = Some(error),
            },
            Msg::Changes {
                entry,
                id,
                done,
                now,
            } => self.change_work_done(entry, id, done, now),
        }
        self.look_up(false);
    }
}
