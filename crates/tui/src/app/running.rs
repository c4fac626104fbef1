//! Starting commands: where each one runs, the queue, and running commands again.

use super::{App, Effect, NO_COMMAND};
use crate::approvals::outside_request;
use crate::lost_state;
use crate::questions::MIN_SHOWN_TIME;
use crate::queue::QueueTreatment;
use crate::transcript::{Card, CardEntry, EntryId, TRIAL_NOTE};
use agent_bash::Escalation;
use agent_bash::core::Request;
use agent_bash::core::sandbox::SandboxLevel;
use agent_bash::core::visible::one_line;
use agent_bash::policy::{
    Context, Script, TerminalNeed, changes_directory, ends_if_interrupted, in_background,
    needed_terminal, reads_from_top,
};
use agent_bash::session::{BangError, parse_bang};
use agent_bash::sink::{LiveKind, LiveOptions, LiveUpdates};
use agent_bash_render::{BangCard, FooterLine, ToolCard, shortened};
use crossterm::event::Event;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// The reason of a call that F4 runs outside of the sandbox. It is recorded in the journal.
const USER_REASON: &str = "the user at the terminal asked for it (F4)";

/// Shown on the card of a call outside of the sandbox, until the call ends.
const OUTSIDE_NOTE: &str = "outside of the sandbox, as you asked (F4)";

/// Shown on the card of a trial that starts a background command, in front of that command.
const BACKGROUND_TRIAL_NOTE: &str = "background processes end with the trial";

/// Maximum number of columns of the background command after [`BACKGROUND_TRIAL_NOTE`].
const MAX_BACKGROUND_COLUMNS: usize = 40;

/// Maximum number of columns of the variables that a line sets and that are lost.
const MAX_LOST_COLUMNS: usize = 60;

/// Limit of bytes waiting to be shown. Beyond it, the oldest are dropped.
const MAX_LIVE_BYTES: usize = 256 << 10;

impl App {
    /// Runs the typed line.
    pub(super) fn submit(&mut self, now: Duration) {
        let text = self.prompt.text();
        if text.trim().is_empty() {
            self.prompt.clear();
            return;
        }
        if self.prompt.is_trial {
            return self.run_as_trial(now);
        }
        if self.handle_shell_word(text.trim()) {
            self.prompt.clear();
            return;
        }
        if let Some(bang) = parse_bang(&text) {
            if self.bang.is_some() {
                self.message = Some(BangError::AlreadyRunning.to_string());
                return;
            }
            let context = Context::new(&self.directory.directory);
            let script = Script::read(&bang.command, &context);
            let wants = self.needed_terminal(&bang.command);
            if let Some(wants) = wants.filter(|_| self.terminal.is_some()) {
                let program = wants.program;
                self.message = Some(format!(
                    "`{program}` needs a terminal: without ! it gets one"
                ));
                return;
            }
            self.interrupts_bang = ends_if_interrupted(&script);
            let leaves_jobs = starts_jobs(&script);
            let card = BangCard::new(bang.command.clone(), bang.excluded_from_context);
            let live = live_updates();
            let waker = Waker::from(Arc::clone(&self.redraw));
            let entry = self
                .transcript
                .start(Card::Bang(Box::new(card)), &live, waker, now);
            self.transcript
                .change(entry, |entry| entry.starts_background_jobs = leaves_jobs);
            self.bang = Some(entry);
            self.effects.push(Effect::Bang {
                entry,
                command: bang.command,
                excluded: bang.excluded_from_context,
                live,
            });
            self.submitted(self.bang);
        } else {
            let started = self.run(Request::new(text), now);
            self.submitted(started);
        }
    }

    /// Runs a call, or queues it. Returns its card if it has started.
    pub(super) fn run(&mut self, request: Request, now: Duration) -> Option<EntryId> {
        // If only an `exit` is queued, a line typed meanwhile runs before the exit.
        let is_before = self.call.is_none() && self.waits_to_quit();
        if !is_before && (self.call.is_some() || !self.queue.is_empty()) {
            self.queue.push_back(request);
            return None;
        }
        self.start_call(request, now);
        self.call
    }

    /// Handles the end of a call.
    pub(super) fn call_ended(&mut self, now: Duration) {
        self.call = None;
        match std::mem::take(&mut self.queue_on_end) {
            QueueTreatment::Continues => self.start_next(now),
            QueueTreatment::ReturnsToPrompt => while self.edit_last_queued() {},
        }
    }

    /// Starts the first queued command if no call runs. A command that takes the keys does not
    /// start while the user types a line.
    pub(super) fn start_next(&mut self, now: Duration) {
        if self.call.is_some() || self.waits_for_keys() {
            return;
        }
        let Some(next) = self.queue.pop_front() else {
            return;
        };
        if is_exit(&next.command) {
            return self.quit(false);
        }
        let command = next.command.clone();
        self.start_call(next, now);
        self.call_keys_from = Some(now + MIN_SHOWN_TIME);
        self.store_typed(self.call, command);
    }

    /// Returns true if an event belongs to the prompt although a command from the queue runs on a
    /// terminal.
    pub(super) fn is_for_prompt(&self, event: &Event, now: Duration) -> bool {
        let is_typed = matches!(event, Event::Key(_) | Event::Paste(_));
        is_typed && self.call_keys_from.is_some_and(|from| now < from)
    }

    /// Returns true if the next command waits only because the user uses the keys for a line, a
    /// card, a panel or a question.
    pub(crate) fn waits_for_keys(&self) -> bool {
        let uses = [
            !self.prompt.is_empty(),
            self.focused_card().is_some(),
            self.has_question() || self.asks_about_jobs || self.confirms_quit,
            self.has_panel() || self.help.is_some() || self.candidates.is_some(),
        ];
        let next = self.queue.front().filter(|_| self.call.is_none());
        uses.contains(&true)
            && next.is_some_and(|next| {
                // Quitting would lose the line that is being written.
                is_exit(&next.command) || {
                    let wants = self.needed_terminal(&next.command);
                    self.on_terminal(next, wants.is_some()) == Some(true)
                }
            })
    }

    /// Returns true if an `exit` waits for the keys.
    pub(crate) fn waits_to_quit(&self) -> bool {
        let next = self.queue.front();
        next.is_some_and(|next| is_exit(&next.command)) && self.waits_for_keys()
    }

    /// Returns why a line needs a terminal, after expanding its aliases and the bodies of its
    /// functions.
    fn needed_terminal(&self, command: &str) -> Option<TerminalNeed> {
        let context = Context::new(&self.directory.directory);
        let line = self.aliases.expand(command);
        needed_terminal(&Script::read(
            &self.functions.with_definitions(&line),
            &context,
        ))
    }

    /// Returns whether a call gets a terminal; `None` if terminals are not available.
    fn on_terminal(&self, request: &Request, needs_terminal: bool) -> Option<bool> {
        // A command on a terminal shows its effects and cannot be a trial.
        let is_trial = request.trial.is_some();
        let asks = request.pty == Some(true) || needs_terminal;
        self.terminal.map(|always| (always || asks) && !is_trial)
    }

    /// Handles commands such as `exit` that have a meaning only in an interactive shell, not in the
    /// shell of a call. Returns true if the line is such a command.
    fn handle_shell_word(&mut self, line: &str) -> bool {
        let notice = match line {
            // As in a shell, `exit` runs after the commands before it.
            _ if is_exit(line) && (self.call.is_some() || !self.queue.is_empty()) => {
                self.queue.push_back(Request::new(line));
                return true;
            }
            _ if is_exit(line) => {
                self.quit(false);
                return true;
            }
            "clear" => {
                self.transcript.clear();
                return true;
            }
            "history" => "ctrl+r searches the history, ↑ goes back in it",
            "jobs" | "fg" | "bg" => "ctrl+g shows the background jobs",
            "!" => "!command runs in a shell of your own, without checks",
            "!!" => "!!command is your own, and hidden from the model; ↑ is the last line",
            _ => return false,
        };
        self.message = Some(notice.to_owned());
        true
    }

    /// Moves the last queued command back into the prompt, in front of the line. Returns true if
    /// there was one. A trial stays a trial, together with the added text.
    pub(super) fn edit_last_queued(&mut self) -> bool {
        let Some(last) = self.queue.pop_back() else {
            return false;
        };
        let is_trial = last.trial.is_some() || self.prompt.is_trial;
        let typed = self.prompt.text();
        let text = if typed.trim().is_empty() {
            last.command
        } else {
            format!("{}\n{typed}", last.command)
        };
        self.prompt.replace(&text, is_trial);
        true
    }

    fn start_call(&mut self, mut request: Request, now: Duration) {
        let context = Context::new(&self.directory.directory);
        let script = Script::read(&request.command, &context);
        let wants = self.needed_terminal(&request.command);
        let is_trial = request.trial.is_some();
        let is_outside = request.sandbox.is_some();
        let on_terminal = self.on_terminal(&request, wants.is_some());
        self.call_keys_from = None;
        self.is_full_screen =
            on_terminal == Some(true) && wants.as_ref().is_some_and(|wants| wants.draws);
        request.pty = on_terminal;
        let one_shot_reason = if on_terminal == Some(true) {
            request.env.clone_from(&self.terminal_env);
            Some("a command on a terminal has a shell of its own")
        } else if is_trial {
            Some("a trial has a shell of its own")
        } else if is_outside {
            Some("outside of the sandbox it has a shell of its own")
        } else if self.shell.is_none() {
            Some("under this profile every line has a shell of its own")
        } else {
            None
        };
        let defines = self.functions.may_change(&script);
        let mut card = ToolCard::new(request.command.trim());
        card.on_terminal = on_terminal == Some(true);
        card.from_top = reads_from_top(&script);
        if is_trial {
            card.host_lines
                .push(FooterLine::Notice(TRIAL_NOTE.to_owned()));
            if let Some(left) = in_background(&script) {
                let left = shortened(&one_line(left), MAX_BACKGROUND_COLUMNS);
                card.host_lines.push(FooterLine::Notice(format!(
                    "{BACKGROUND_TRIAL_NOTE}: {left}"
                )));
            }
        }
        if is_outside {
            card.host_lines
                .push(FooterLine::Notice(OUTSIDE_NOTE.to_owned()));
        }
        if let Some(why) = one_shot_reason {
            request.cwd = self.directory.start().to_str().map(str::to_owned);
            let reads = wants.as_ref().is_some_and(|wants| wants.program == "read");
            let set = lost_state::state_set_by(&script.parsed).join(", ");
            let set = shortened(&one_line(&set), MAX_LOST_COLUMNS);
            let is_lost = [
                (
                    changes_directory(&script),
                    "the directory changes".to_owned(),
                ),
                (reads, "`read` takes effect".to_owned()),
                (!set.is_empty(), format!("`{set}` takes effect")),
            ];
            for (_, what) in is_lost.iter().filter(|(is_needed, _)| *is_needed) {
                let notice = format!("{what} for this line only: {why}");
                card.host_lines.push(FooterLine::Notice(notice));
            }
        } else {
            request.session.clone_from(&self.shell);
            // A shell stays in its working directory if that exists.
            let fallback = self.directory.fallback.as_ref();
            request.cwd = fallback.and_then(|fallback| fallback.to_str().map(str::to_owned));
            self.add_functions(script.parsed.functions());
            self.aliases.apply_script(&script);
            self.functions.apply_script(&script);
        }
        if let Some(fallback) = &self.directory.fallback {
            let (directory, fallback) = (self.directory.directory.display(), fallback.display());
            let notice = format!("{directory} cannot be entered: this starts in {fallback}");
            card.host_lines.push(FooterLine::Notice(notice));
        }
        let live = live_updates();
        let waker = Waker::from(Arc::clone(&self.redraw));
        let entry = self
            .transcript
            .start(Card::Tool(Box::new(card)), &live, waker, now);
        let leaves_jobs = starts_jobs(&script);
        let set = |entry: &mut CardEntry| {
            entry.is_trial = is_trial;
            entry.starts_background_jobs = leaves_jobs;
        };
        self.transcript.change(entry, set);
        self.call = Some(entry);
        // A one-shot shell may end with its command, so only the persistent shell is worth an
        // interrupt.
        self.interrupts_call = request.session.is_some() && ends_if_interrupted(&script);
        self.effects.push(Effect::Call {
            entry,
            request: Box::new(request),
            live,
            defines,
        });
    }

    /// Runs the line, or else the selected call again, outside of the sandbox.
    pub(super) fn run_outside(&mut self, now: Duration) {
        let Some(command) = self.command_for_key(
            "run outside of the sandbox",
            "a trial cannot run outside of the sandbox: it needs its own view of the files",
        ) else {
            return;
        };
        if self.sandbox.level == SandboxLevel::Off {
            self.message = Some("calls run without a sandbox".to_owned());
            return;
        }
        if self.sandbox.escalation == Escalation::Never {
            let why = if self.is_safe_mode {
                "in safe mode no call leaves the sandbox"
            } else {
                "no call may leave the sandbox: `sandbox.escalation = \"ask\"` lets you decide"
            };
            self.message = Some(why.to_owned());
            return;
        }
        let mut request = Request::new(command);
        request.sandbox = Some(outside_request(USER_REASON));
        self.run_command_for_key(request, now);
    }

    /// Runs the line, or else the selected call again, on a terminal. If that call is still
    /// running, cancels it first.
    pub(super) fn run_on_terminal(&mut self, now: Duration) {
        let Some(command) = self.command_for_key(
            "run on a terminal",
            "a trial has no terminal: f3 tries it again",
        ) else {
            return;
        };
        if self.terminal.is_none() {
            self.message = Some("terminals are not offered here".to_owned());
            return;
        }
        let request = Request::new(command).pty(Some(true));
        let is_running = self.transcript.current().map(|entry| entry.id) == self.call;
        if is_running && self.call.is_some() && self.prompt.is_empty() {
            self.queue.push_front(request);
            let gently = std::mem::take(&mut self.interrupts_call);
            self.effects.push(Effect::ReplaceCall { gently });
            self.message = Some("the call is ended first, then it starts on a terminal".to_owned());
            self.transcript.deselect();
        } else {
            self.run_command_for_key(request, now);
        }
    }

    /// Returns the command that a key acts on: the line, or else the command of the selected or
    /// last card. Without a command, sets a message: `action` in it names what cannot be done.
    /// `trial` is the message for a trial, on which this key does not act.
    fn command_for_key(&mut self, action: &str, trial: &str) -> Option<String> {
        let text = self.prompt.text();
        let is_typed = !text.trim().is_empty();
        let current = self.transcript.current().filter(|_| !is_typed);
        let is_trial = current.map_or(self.prompt.is_trial, |entry| entry.is_trial);
        let command = match current.map(|entry| &entry.card) {
            Some(Card::Tool(card)) => Some(card.command.clone()),
            Some(_) => None,
            None => Some(text.clone()).filter(|_| is_typed),
        };
        let is_bang = parse_bang(&text).is_some() || (current.is_some() && command.is_none());
        let why = if is_bang {
            format!("Only tool calls can be {action}: leave out the `!`.")
        } else if is_trial {
            trial.to_owned()
        } else if command.is_none() {
            NO_COMMAND.to_owned()
        } else {
            return command;
        };
        self.message = Some(why);
        None
    }

    /// Runs a command from [`Self::command_for_key`], or a trial. Clears the prompt if the line
    /// ran. Otherwise ends the selection, because the new card may move the selected one out of
    /// sight.
    pub(super) fn run_command_for_key(&mut self, request: Request, now: Duration) {
        let is_typed = !self.prompt.text().trim().is_empty();
        if !is_typed {
            self.transcript.deselect();
        }
        let started = self.run(request, now);
        if is_typed {
            self.submitted(started);
        }
    }

    pub(super) fn toggle_terminal(&mut self) {
        match &mut self.terminal {
            Some(always) => {
                *always = !*always;
                let how = if *always {
                    "every command runs on a terminal of its own"
                } else {
                    "commands run without a terminal, unless they need one"
                };
                self.message = Some(how.to_owned());
            }
            None => self.message = Some("terminals are not offered here".to_owned()),
        }
    }
}

/// Returns true if a line starts a background command at its top level.
fn starts_jobs(script: &Script<'_>) -> bool {
    let mut entries = script.parsed.list.entries.iter();
    entries.any(|entry| entry.background)
}

/// Returns true if a line leaves the interface, as `exit` leaves a shell.
fn is_exit(line: &str) -> bool {
    matches!(line, "exit" | "logout")
}

fn live_updates() -> LiveUpdates {
    LiveUpdates::new(LiveOptions::new(LiveKind::Raw, MAX_LIVE_BYTES))
}

#[cfg(test)]
#[path = "running_tests.rs"]
pub(super) mod tests;
