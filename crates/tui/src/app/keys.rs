//! Keys while no panel is open.

use super::{App, Effect, NO_COMMAND};
use crate::OnQuit;
use crate::help::{self, Help};
use crate::jobs_state::JobsState;
use crate::queue::QueueTreatment;
use agent_bash_render::shortened;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use std::time::Duration;

/// Maximum number of columns of a running command in a message.
const MAX_COMMAND_COLUMNS: usize = 40;

impl App {
    /// Leaves the interface. If that would end a command, a message says so first. If jobs run,
    /// asks what happens to them. `again`: the message was shown before.
    pub(super) fn quit(&mut self, again: bool) {
        let running = self.call.or(self.bang).filter(|_| !again);
        if let Some(running) = running.and_then(|id| self.transcript.get(id)) {
            let command = shortened(running.command(), MAX_COMMAND_COLUMNS);
            self.message = Some(format!("ctrl+d again ends `{command}` and quits"));
            self.confirms_quit = true;
            return;
        }
        if self.on_quit == OnQuit::Ask && self.running_jobs > 0 {
            self.asks_about_jobs = true;
            self.message = Some(self.quit_question());
        } else {
            self.quit_now(self.on_quit == OnQuit::End);
        }
    }

    /// Stores queued commands in the history: they were typed, and will not run.
    pub(crate) fn store_queued_commands(&mut self) {
        for request in std::mem::take(&mut self.queue) {
            self.store_typed(None, request.command);
        }
    }

    fn quit_now(&mut self, ends_jobs: bool) {
        self.store_queued_commands();
        self.effects.push(Effect::Quit { ends_jobs });
    }

    /// Handles a key that no panel consumed.
    pub(super) fn key(&mut self, key: KeyEvent, now: Duration) {
        const CTRL: KeyModifiers = KeyModifiers::CONTROL;
        if std::mem::take(&mut self.asks_about_jobs) {
            match key.code {
                KeyCode::Char('e' | 'E') => self.quit_now(true),
                KeyCode::Char('k' | 'K') => self.quit_now(false),
                _ => {}
            }
            return;
        }
        let is_quitting = std::mem::take(&mut self.confirms_quit);
        if std::mem::take(&mut self.ctrl_x_pressed) && key.code == KeyCode::Char('e') {
            self.effects.push(Effect::Edit(self.prompt.text()));
            return;
        }
        match (key.code, key.modifiers) {
            (KeyCode::Char('x'), CTRL) => {
                self.ctrl_x_pressed = true;
                self.message = Some("ctrl+x: ctrl+e edits the line in your editor".to_owned());
            }
            (KeyCode::Char('c'), CTRL) => {
                // As in a shell, Ctrl+C clears the line first.
                if !self.prompt.is_empty() {
                    self.prompt.wipe();
                } else if !self.cancel() {
                    self.message = Some("ctrl+d quits".to_owned());
                }
            }
            (KeyCode::Esc, _) => {
                if self.transcript.selected.is_some() {
                    self.transcript.deselect();
                } else if !self.cancel() {
                    self.transcript.go_to_bottom();
                }
            }
            (KeyCode::Char('d'), CTRL) if self.prompt.is_empty() => self.quit(is_quitting),
            (KeyCode::Char('z'), CTRL) => self.effects.push(Effect::Suspend),
            (KeyCode::Char('t'), CTRL) => self.toggle_terminal(),
            (KeyCode::Char('o' | 'f'), CTRL) if self.transcript.current().is_none() => {
                self.message = Some(NO_COMMAND.to_owned());
            }
            (KeyCode::Char('o'), CTRL) => self.toggle_expanded(),
            (KeyCode::Char('f'), CTRL) => self.open_pager(),
            (KeyCode::Char('g'), CTRL) | (KeyCode::F(2), _) => {
                self.jobs = Some(JobsState::default());
                self.effects.push(Effect::ListJobs);
            }
            (KeyCode::Char('r'), CTRL) => self.effects.push(Effect::OpenSearch),
            (KeyCode::Tab, KeyModifiers::NONE) => self.complete(),
            (KeyCode::Char('l'), CTRL) => self.transcript.clear(),
            (KeyCode::F(3), _) => self.run_as_trial(now),
            (KeyCode::F(4), _) => self.run_outside(now),
            (KeyCode::F(5), _) => self.run_on_terminal(now),
            (KeyCode::F(6), _) => self.go_to_next_trial(),
            (KeyCode::F(1), _) => self.help = Some(Help::default()),
            (KeyCode::Char('?'), _) if self.prompt.is_empty() => {
                self.help = Some(Help::default());
            }
            (KeyCode::PageUp, CTRL) => self.load_page(false),
            (KeyCode::PageDown, CTRL) => self.load_page(true),
            (KeyCode::PageUp, _) => self.transcript.scroll_pages(1),
            (KeyCode::PageDown, _) => self.transcript.scroll_pages(-1),
            (KeyCode::Home, CTRL) => self.transcript.go_to_top(),
            (KeyCode::End, CTRL) => self.transcript.go_to_bottom(),
            (KeyCode::Up, CTRL) => self.transcript.select(true),
            (KeyCode::Down, CTRL) => self.transcript.select(false),
            (KeyCode::Char(pressed), KeyModifiers::NONE) if self.act_on_key(pressed) => {}
            (KeyCode::Char('U'), KeyModifiers::NONE | KeyModifiers::SHIFT)
                if self.undo_since_card() => {}
            (KeyCode::Char(pressed), KeyModifiers::NONE | KeyModifiers::SHIFT)
                if self.card_key(pressed, now) => {}
            (KeyCode::Enter, held) if held.is_empty() => {
                if !self.show_diff() && !self.prompt.continue_line() {
                    self.submit(now);
                }
            }
            (KeyCode::Up, KeyModifiers::NONE)
                if self.prompt.is_empty() && self.edit_last_queued() => {}
            _ => {
                self.prompt.key(key);
                self.leave_card();
            }
        }
    }

    /// Passes an event to the help. Returns true if it is consumed. The help is above everything
    /// but consoles and questions, and F1 opens it everywhere.
    pub(super) fn handle_help_event(&mut self, event: &Event) -> bool {
        let key = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => Some(*key),
            _ => None,
        };
        if let Some(help) = &mut self.help {
            match event {
                Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollDown => help.wheel(true),
                Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollUp => help.wheel(false),
                _ => {}
            }
            if key.is_some_and(|key| !help.key(key)) {
                self.help = None;
            }
            return key.is_some() || matches!(event, Event::Mouse(_));
        }
        let Some(key) = key else { return false };
        let about = if self.search.is_some() {
            help::HISTORY_TITLE
        } else if self.diff.is_some() || self.pager.is_some() {
            help::PAGER_TITLE
        } else if self.jobs.is_some() {
            help::JOBS_TITLE
        } else {
            return false;
        };
        // In the pager and the diff, `?` searches; in the search of the history, it is part of the
        // query.
        let is_asked = key.code == KeyCode::F(1)
            || (key.code == KeyCode::Char('?') && about == help::JOBS_TITLE);
        if is_asked {
            self.help = Some(Help::open_at(about));
        }
        is_asked
    }

    /// Selects a trial that awaits a decision.
    fn go_to_next_trial(&mut self) {
        let reads = self.read_held_trials();
        // A trial that has a card is selected at once: the next key may be meant for it.
        let has_card = !self.transcript.has_earlier() && self.transcript.undecided().count() > 0;
        self.selects_trial_when_read = reads && !has_card;
        if !self.selects_trial_when_read {
            self.select_next_trial();
        }
    }

    /// Cancels the running bang command, or else the running call or the queue. Returns false if
    /// there is nothing to cancel.
    fn cancel(&mut self) -> bool {
        if self.bang.is_some() {
            let gently = std::mem::take(&mut self.interrupts_bang);
            self.effects.push(if gently {
                Effect::InterruptBang
            } else {
                Effect::CancelBang
            });
        } else if self.call.is_some() {
            self.queue_on_end = QueueTreatment::ReturnsToPrompt;
            let gently = std::mem::take(&mut self.interrupts_call);
            self.effects.push(if gently {
                Effect::InterruptCall
            } else {
                Effect::CancelCall
            });
        } else if !self.queue.is_empty() {
            // The queued command waits only for the user to finish the line.
            while self.edit_last_queued() {}
        } else {
            return false;
        }
        true
    }
}
