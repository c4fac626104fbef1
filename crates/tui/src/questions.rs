//! What waits for the person's answer, one after the other: calls that want more than the sandbox allows, and what is about
//! to be done with a call's changes.

use crate::approvals::ApprovalQuestion;
use crate::change_actions::Proposed;
use crate::transcript::EntryId;
use agent_bash::SandboxSettings;
use agent_bash::core::sandbox::SandboxLevel;
use agent_bash_render::{Question, QuestionPart, Theme};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::time::Duration;

/// No key answers a question that has not been there for this long: it was meant for something else. Nor goes one to a
/// program that has started by itself.
pub(crate) const AT_LEAST: Duration = Duration::from_millis(600);

/// The questions that wait, the first one is shown.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    waiting: VecDeque<Waiting>,
    /// Since when the first one is shown.
    since: Duration,
}

/// Something that waits for an answer.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// A call: may it have more?
    Call(ApprovalQuestion),
    /// The changes of a card: is this to be done?
    Changes {
        entry: EntryId,
        command: String,
        proposed: Box<Proposed>,
    },
}

/// What became of an event.
#[derive(Debug)]
pub(crate) enum QuestionOutcome {
    /// There is no question; the event is for somebody else.
    NotAsked,
    /// It was for a question, and nobody else has to do anything.
    Answered,
    /// The call may have more, and runs.
    Allowed,
    /// This is to be done.
    Yes(EntryId, Box<Proposed>),
}

impl Waiting {
    /// Of a cancelled call nobody wants to know any more.
    fn is_over(&self) -> bool {
        matches!(self, Self::Call(asked) if asked.is_over())
    }

    fn answered(self, yes: bool) -> QuestionOutcome {
        match self {
            Self::Call(asked) => {
                asked.answer(yes);
                if yes {
                    return QuestionOutcome::Allowed;
                }
            }
            Self::Changes {
                entry, proposed, ..
            } if yes => return QuestionOutcome::Yes(entry, proposed),
            Self::Changes { .. } => {}
        }
        QuestionOutcome::Answered
    }
}

impl Questions {
    /// An event, which is for a question if there is one.
    pub(crate) fn event(&mut self, event: &Event, now: Duration) -> QuestionOutcome {
        self.forget_over(now);
        let Some(first) = self.waiting.pop_front() else {
            return QuestionOutcome::NotAsked;
        };
        let answer = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => answer_of(*key),
            _ => None,
        };
        if let Some(yes) = answer
            && now.saturating_sub(self.since) >= AT_LEAST
        {
            self.since = now;
            return first.answered(yes);
        }
        self.waiting.push_front(first);
        QuestionOutcome::Answered
    }

    pub(crate) fn push(&mut self, waiting: Waiting, now: Duration) {
        self.forget_over(now);
        if self.waiting.is_empty() {
            self.since = now;
        }
        self.waiting.push_back(waiting);
    }

    fn forget_over(&mut self, now: Duration) {
        if self.waiting.front().is_some_and(Waiting::is_over) {
            self.since = now;
        }
        self.waiting.retain(|waiting| !waiting.is_over());
    }

    /// Whether one waits for its answer.
    pub(crate) fn is_asked(&self) -> bool {
        self.waiting.iter().any(|waiting| !waiting.is_over())
    }

    pub(crate) fn draw(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        own: &SandboxSettings,
        theme: &Theme,
    ) {
        let mut waiting = self.waiting.iter().filter(|waiting| !waiting.is_over());
        let buffer = frame.buffer_mut();
        match waiting.next() {
            None => {}
            Some(Waiting::Call(asked)) => {
                let reason = format!("Why: {}", asked.reason);
                let question = Question {
                    title: "May this call leave the sandbox?",
                    parts: &[
                        QuestionPart::Loosened(&asked.changes(own)),
                        QuestionPart::Text(&reason),
                        QuestionPart::Script(&asked.command),
                    ],
                    yes: "allow it once",
                    no: "deny",
                };
                question.render(area, buffer, theme);
            }
            Some(Waiting::Changes {
                command, proposed, ..
            }) => {
                let question = Question {
                    title: &proposed.title(),
                    parts: &[
                        QuestionPart::Weighty(&proposed.summary()),
                        QuestionPart::Files(&proposed.files, proposed.more),
                        QuestionPart::Text(proposed.of_conflicts()),
                        QuestionPart::Conflicts(&proposed.conflicts),
                        QuestionPart::Text(&proposed.of_between()),
                        QuestionPart::Script(command),
                    ],
                    yes: proposed.yes(),
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

/// The sandbox in the status line; `None` if there is none.
pub(crate) fn said_of(sandbox: &SandboxSettings) -> Option<String> {
    let SandboxSettings { level, network, .. } = sandbox;
    (*level != SandboxLevel::Off).then(|| format!("{level}, network {network}"))
}
