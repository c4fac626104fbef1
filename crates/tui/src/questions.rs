//! Calls that wait for the person's answer, one after the other.

use crate::approvals::Asked;
use agent_bash::SandboxSettings;
use agent_bash::core::sandbox::SandboxLevel;
use agent_bash_render::{Question, Theme};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::time::Duration;

/// No key answers a question that has not been there for this long: it was meant for something else.
const AT_LEAST: Duration = Duration::from_millis(600);

/// The questions that wait, the first one is shown.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    waiting: VecDeque<Asked>,
    /// Since when the first one is shown.
    since: Duration,
}

impl Questions {
    /// Whether an event is for a question.
    pub(crate) fn event(&mut self, event: &Event, now: Duration) -> bool {
        self.forget_over(now);
        let Some(asked) = self.waiting.pop_front() else {
            return false;
        };
        let answer = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => answer_of(*key),
            _ => None,
        };
        match answer.filter(|_| now.saturating_sub(self.since) >= AT_LEAST) {
            Some(allowed) => {
                asked.answer(allowed);
                self.since = now;
            }
            None => self.waiting.push_front(asked),
        }
        true
    }

    pub(crate) fn push(&mut self, asked: Asked, now: Duration) {
        self.forget_over(now);
        if self.waiting.is_empty() {
            self.since = now;
        }
        self.waiting.push_back(asked);
    }

    /// Of a cancelled call nobody wants to know any more.
    fn forget_over(&mut self, now: Duration) {
        if self.waiting.front().is_some_and(Asked::is_over) {
            self.since = now;
        }
        self.waiting.retain(|asked| !asked.is_over());
    }

    pub(crate) fn draw(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        own: &SandboxSettings,
        theme: &Theme,
    ) {
        let mut waiting = self.waiting.iter().filter(|asked| !asked.is_over());
        if let Some(asked) = waiting.next() {
            Question {
                command: &asked.command,
                changes: &asked.changes(own),
                reason: &asked.reason,
            }
            .render(area, frame.buffer_mut(), theme);
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
