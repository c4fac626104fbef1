//! The steps that can be undone: a typed word, a run of deletions, a paste. The editor component's
//! own history has a step per character.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Maximum number of steps, and of bytes in them. The last step is stored in any case.
const MAX_STEPS: usize = 1000;
const MAX_STEP_BYTES: usize = 8 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    /// Characters that were typed.
    Typed,
    /// Characters that were deleted before the cursor.
    DeletedBefore,
    /// Characters that were deleted at the cursor.
    DeletedAt,
    /// A line of the history replaced the typed text.
    Recalled,
    /// A step that is never joined with another one.
    Other,
}

impl StepKind {
    pub(super) fn of(key: KeyEvent) -> Self {
        const PLAIN_MODIFIERS: [KeyModifiers; 2] = [KeyModifiers::NONE, KeyModifiers::SHIFT];
        match (key.code, key.modifiers) {
            (KeyCode::Char(_), held) if PLAIN_MODIFIERS.contains(&held) => Self::Typed,
            (KeyCode::Backspace, held) if PLAIN_MODIFIERS.contains(&held) => Self::DeletedBefore,
            (KeyCode::Char('h'), KeyModifiers::CONTROL) => Self::DeletedBefore,
            (KeyCode::Delete, held) if PLAIN_MODIFIERS.contains(&held) => Self::DeletedAt,
            (KeyCode::Char('d'), KeyModifiers::CONTROL) => Self::DeletedAt,
            _ => Self::Other,
        }
    }
}

/// A part of the text, and its replacement.
#[derive(Debug)]
struct EditStep {
    kind: StepKind,
    /// The byte at which the part begins.
    at: usize,
    removed: String,
    inserted: String,
    /// The cursor's byte before and after the step.
    cursor: (usize, usize),
    /// True if the line was a trial: before the step, and after the step.
    trial: (bool, bool),
}

/// A line, the byte of the cursor, and whether the line is a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PromptLine<T> {
    pub(super) text: T,
    pub(super) cursor: usize,
    pub(super) is_trial: bool,
}

impl EditStep {
    /// The difference between two texts; `None` if they are equal.
    fn between(kind: StepKind, before: PromptLine<&str>, after: PromptLine<&str>) -> Option<Self> {
        let (old, old_cursor) = (before.text, before.cursor);
        let (new, new_cursor) = (after.text, after.cursor);
        if old == new {
            return None;
        }
        let same = |(a, b): &(char, char)| a == b;
        let prefix = old.chars().zip(new.chars()).take_while(same);
        let prefix: usize = prefix.map(|(a, _)| a.len_utf8()).sum();
        // If another `a` is typed into `aa|a`, the one at the cursor is new.
        let at = prefix.min(old_cursor).min(new_cursor);
        let (old, new) = (&old[at..], &new[at..]);
        let suffix = old.chars().rev().zip(new.chars().rev()).take_while(same);
        let suffix: usize = suffix.map(|(a, _)| a.len_utf8()).sum();
        Some(Self {
            kind,
            at,
            removed: old[..old.len() - suffix].to_owned(),
            inserted: new[..new.len() - suffix].to_owned(),
            cursor: (old_cursor, new_cursor),
            trial: (before.is_trial, after.is_trial),
        })
    }

    /// Merges `next` into this step if both belong together; otherwise returns `next`.
    fn join(&mut self, next: Self) -> Option<Self> {
        let is_same = self.kind == next.kind && self.cursor.1 == next.cursor.0;
        let end = self.at + self.inserted.len();
        let begins_word = self.inserted.ends_with(char::is_whitespace)
            && !next.inserted.starts_with(char::is_whitespace);
        match next.kind {
            StepKind::Typed
                if is_same && next.removed.is_empty() && next.at == end && !begins_word =>
            {
                self.inserted.push_str(&next.inserted);
            }
            StepKind::DeletedBefore if is_same && next.at + next.removed.len() == self.at => {
                self.removed.insert_str(0, &next.removed);
                self.at = next.at;
            }
            StepKind::DeletedAt if is_same && next.at == self.at => {
                self.removed.push_str(&next.removed);
            }
            _ => return Some(next),
        }
        self.cursor.1 = next.cursor.1;
        self.trial.1 = next.trial.1;
        None
    }

    fn len(&self) -> usize {
        self.removed.len() + self.inserted.len()
    }
}

#[derive(Debug, Default)]
pub(super) struct EditSteps {
    undoable: Vec<EditStep>,
    /// The undone steps; the next one to redo is the last.
    redoable: Vec<EditStep>,
    /// True if the next step does not join the last one.
    is_closed: bool,
}

impl EditSteps {
    /// Records a change of the text, or a movement of the cursor if the text is the same.
    pub(super) fn record(
        &mut self,
        kind: StepKind,
        before: PromptLine<&str>,
        after: PromptLine<&str>,
    ) {
        let Some(step) = EditStep::between(kind, before, after) else {
            self.is_closed |= before.cursor != after.cursor;
            return;
        };
        self.redoable.clear();
        let is_closed = std::mem::take(&mut self.is_closed);
        let next = match self.undoable.last_mut().filter(|_| !is_closed) {
            Some(last) => last.join(step),
            None => Some(step),
        };
        self.undoable.extend(next);
        let mut bytes: usize = self.undoable.iter().map(EditStep::len).sum();
        let mut dropped = 0;
        while self.undoable.len() - dropped > 1
            && (self.undoable.len() - dropped > MAX_STEPS || bytes > MAX_STEP_BYTES)
        {
            bytes -= self.undoable[dropped].len();
            dropped += 1;
        }
        self.undoable.drain(..dropped);
    }

    /// Undoes or redoes a step. Returns the resulting line.
    pub(super) fn undo_or_redo(
        &mut self,
        is_undo: bool,
        mut text: String,
    ) -> Option<PromptLine<String>> {
        let from = if is_undo {
            &mut self.undoable
        } else {
            &mut self.redoable
        };
        let step = from.pop()?;
        let (old, new, cursor, is_trial) = if is_undo {
            (&step.inserted, &step.removed, step.cursor.0, step.trial.0)
        } else {
            (&step.removed, &step.inserted, step.cursor.1, step.trial.1)
        };
        let end = step.at + old.len();
        text.get(step.at..end)?;
        text.replace_range(step.at..end, new);
        let to = if is_undo {
            &mut self.redoable
        } else {
            &mut self.undoable
        };
        to.push(step);
        self.is_closed = true;
        Some(PromptLine {
            text,
            cursor,
            is_trial,
        })
    }

    /// Drops the last step if it is a recalled line, so that a further recall is part of the same
    /// step. Returns the line before.
    pub(super) fn drop_recalled(&mut self, text: String) -> Option<PromptLine<String>> {
        let last = self.undoable.last()?;
        if last.kind != StepKind::Recalled {
            return None;
        }
        let before = self.undo_or_redo(true, text);
        self.redoable.clear();
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_steps_are_dropped() {
        fn state(text: &str, cursor: usize) -> PromptLine<&str> {
            PromptLine {
                text,
                cursor,
                is_trial: false,
            }
        }
        let mut steps = EditSteps::default();
        for at in 0..MAX_STEPS + 5 {
            let (before, after) = ("x".repeat(at), "x".repeat(at + 1));
            steps.record(StepKind::Other, state(&before, at), state(&after, at + 1));
        }
        assert_eq!(steps.undoable.len(), MAX_STEPS);
        let long = "y".repeat(MAX_STEP_BYTES + 1);
        steps.record(StepKind::Other, state("", 0), state(&long, 1));
        assert_eq!(steps.undoable.len(), 1, "the last step stays");
    }
}
