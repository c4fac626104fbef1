//! Questions to the user, one after the other: calls that want more than the sandbox allows, and
//! actions on a call's changes.

use crate::approvals::ApprovalQuestion;
use crate::change_actions::ProposedAction;
use crate::transcript::EntryId;
use agent_bash::SandboxSettings;
use agent_bash::core::sandbox::SandboxLevel;
use agent_bash_render::{Question, QuestionPart, Theme};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a question must be shown before a key answers it: an earlier key was meant for
/// something else. A program that starts from the queue gets no keys for the same time.
pub(crate) const MIN_SHOWN_TIME: Duration = Duration::from_millis(600);

/// The open questions. The first one is shown.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    waiting: VecDeque<OpenQuestion>,
    /// When the first question appeared.
    shown_since: Duration,
}

#[derive(Debug)]
pub(crate) enum OpenQuestion {
    /// May this call leave the sandbox?
    Call(ApprovalQuestion),
    /// May this action on a card's changes be carried out?
    Changes {
        entry: EntryId,
        command: String,
        proposed: Box<ProposedAction>,
    },
}

/// The result of an event.
#[derive(Debug)]
pub(crate) enum QuestionOutcome {
    /// There is no question; another part of the interface handles the event.
    NotAsked,
    /// The event was for a question and is handled.
    Answered,
    /// The call is permitted, and runs.
    Allowed,
    /// The action is permitted.
    ActionConfirmed(EntryId, Box<ProposedAction>),
}

impl OpenQuestion {
    /// True if the question is obsolete because its call was cancelled.
    fn is_withdrawn(&self) -> bool {
        matches!(self, Self::Call(question) if question.is_withdrawn())
    }

    fn answer(self, yes: bool) -> QuestionOutcome {
        match self {
            Self::Call(question) => {
                question.answer(yes);
                if yes {
                    return QuestionOutcome::Allowed;
                }
            }
            Self::Changes {
                entry, proposed, ..
            } if yes => return QuestionOutcome::ActionConfirmed(entry, proposed),
            Self::Changes { .. } => {}
        }
        QuestionOutcome::Answered
    }
}

impl Questions {
    /// Passes an event to the first question, if there is one.
    pub(crate) fn event(&mut self, event: &Event, now: Duration) -> QuestionOutcome {
        self.drop_withdrawn(now);
        let Some(first) = self.waiting.pop_front() else {
            return QuestionOutcome::NotAsked;
        };
        let answer = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => answer_of(*key),
            _ => None,
        };
        if let Some(yes) = answer
            && now.saturating_sub(self.shown_since) >= MIN_SHOWN_TIME
        {
            self.shown_since = now;
            return first.answer(yes);
        }
        self.waiting.push_front(first);
        QuestionOutcome::Answered
    }

    pub(crate) fn push(&mut self, waiting: OpenQuestion, now: Duration) {
        self.drop_withdrawn(now);
        if self.waiting.is_empty() {
            self.shown_since = now;
        }
        self.waiting.push_back(waiting);
    }

    fn drop_withdrawn(&mut self, now: Duration) {
        if self.waiting.front().is_some_and(OpenQuestion::is_withdrawn) {
            self.shown_since = now;
        }
        self.waiting.retain(|waiting| !waiting.is_withdrawn());
    }

    /// True if a question awaits its answer.
    pub(crate) fn has_question(&self) -> bool {
        self.waiting.iter().any(|waiting| !waiting.is_withdrawn())
    }

    pub(crate) fn draw(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        current: &SandboxSettings,
        theme: &Theme,
    ) {
        let mut waiting = self
            .waiting
            .iter()
            .filter(|waiting| !waiting.is_withdrawn());
        let buffer = frame.buffer_mut();
        match waiting.next() {
            None => {}
            Some(OpenQuestion::Call(question)) => {
                let reason = format!("Why: {}", question.reason);
                let question = Question {
                    title: "May this call leave the sandbox?",
                    parts: &[
                        QuestionPart::Loosened(&question.loosened_settings(current)),
                        QuestionPart::Text(&reason),
                        QuestionPart::Script(&question.command),
                    ],
                    yes: "allow it once",
                    no: "deny",
                };
                question.render(area, buffer, theme);
            }
            Some(OpenQuestion::Changes {
                command, proposed, ..
            }) => {
                let question = Question {
                    title: &proposed.title(),
                    parts: &[
                        QuestionPart::Summary(&proposed.summary()),
                        QuestionPart::Files(&proposed.files, proposed.more),
                        QuestionPart::Text(proposed.conflicts_heading()),
                        QuestionPart::Conflicts(&proposed.conflicts),
                        QuestionPart::Text(&proposed.between_text()),
                        QuestionPart::Script(command),
                    ],
                    yes: proposed.act.verb(),
                    no: "leave it",
                };
                question.render(area, buffer, theme);
            }
        }
    }
}

fn answer_of(key: KeyEvent) -> Option<bool> {
    match (key.code, key.modifiers) {
        (KeyCode::Char('y' | 'Y'), _) => Some(true),
        (KeyCode::Char('n' | 'N') | KeyCode::Esc, _)
        | (KeyCode::Char('c'), KeyModifiers::CONTROL) => Some(false),
        _ => None,
    }
}

/// The sandbox, for the status line; `None` without a sandbox.
pub(crate) fn sandbox_summary(sandbox: &SandboxSettings) -> Option<String> {
    let SandboxSettings { level, network, .. } = sandbox;
    (*level != SandboxLevel::Off).then(|| format!("{level}, network {network}"))
}
