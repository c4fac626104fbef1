//! Undoing and redoing in steps.

use super::Prompt;
use super::edit_steps::{PromptLine, StepKind};

impl Prompt {
    fn state<T>(&self, text: T) -> PromptLine<T> {
        PromptLine {
            text,
            cursor: self.cursor(),
            is_trial: self.is_trial,
        }
    }

    /// Changes the text as a step that can be undone. An empty line is no longer a trial.
    pub(super) fn change_as_step(&mut self, kind: StepKind, change: impl FnOnce(&mut Self)) {
        let text = self.text();
        let before = self.state(text.as_str());
        change(self);
        self.is_trial &= !self.is_empty();
        let text = self.text();
        let after = self.state(text.as_str());
        self.steps.record(kind, before, after);
    }

    /// Replaces the line.
    pub(crate) fn replace(&mut self, text: &str, is_trial: bool) {
        self.history.end_recall();
        self.change_as_step(StepKind::Other, |prompt| {
            prompt.set_text(text);
            prompt.is_trial = is_trial;
        });
    }

    /// Shows an older or newer line of the history, or the typed text after the newest. All recalls
    /// in a row are one step, as in fish.
    pub(super) fn recall(&mut self, older: bool) {
        let continues = self.history.is_recalling();
        let Some(text) = self.history.recall(older, &self.text()) else {
            return;
        };
        if continues && let Some(typed) = self.steps.drop_recalled(self.text()) {
            self.set_state(&typed);
        }
        if self.text() != text {
            self.change_as_step(StepKind::Recalled, |prompt| {
                prompt.set_text(&text);
                prompt.is_trial = false;
            });
        }
    }

    /// Undoes or redoes a step.
    pub(super) fn undo_or_redo(&mut self, is_undo: bool) {
        if let Some(state) = self.steps.undo_or_redo(is_undo, self.text()) {
            self.set_state(&state);
        }
    }

    fn set_state(&mut self, state: &PromptLine<String>) {
        self.set_text(&state.text);
        if state.cursor < state.text.len() {
            self.move_to(state.cursor);
        }
        self.is_trial = state.is_trial;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::entry;
    use crate::prompt::tests::{alt, ctrl, key, typed};
    use agent_bash_render::Theme;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    /// Undoes repeatedly, and compares the text after each step.
    fn undone(prompt: &mut Prompt, want: &[&str]) {
        for want in want {
            prompt.key(ctrl('_'));
            assert_eq!(prompt.text(), *want);
        }
    }

    #[test]
    fn typed_text_is_undone_and_redone_by_words() {
        let mut prompt = Prompt::new(&Theme::plain());
        typed(&mut prompt, "git commit  -m \"häuser 日本\"");
        let steps = [
            "git commit  -m \"häuser ", "git commit  -m ", "git commit  ", "git ", "",
        ];
        undone(&mut prompt, &steps);
        undone(&mut prompt, &[""]);
        let redo = alt('_');
        for want in steps.iter().rev().skip(1) {
            prompt.key(redo);
            assert_eq!(prompt.text(), *want);
        }
        // Text typed after an undo is a step of its own, and nothing can be redone.
        typed(&mut prompt, "x");
        prompt.key(redo);
        assert_eq!(prompt.text(), "git commit  -m \"häuser x");
        undone(&mut prompt, &["git commit  -m \"häuser "]);
    }

    #[test]
    fn movement_paste_and_another_kind_of_edit_begin_a_step() {
        let mut prompt = Prompt::new(&Theme::plain());
        typed(&mut prompt, "aaa");
        prompt.key(key(KeyCode::Left));
        typed(&mut prompt, "aa");
        undone(&mut prompt, &["aaa"]);
        assert_eq!(prompt.text_before_cursor(), "aa");
        typed(&mut prompt, "bb");
        prompt.paste("one two\nthree");
        typed(&mut prompt, "c");
        prompt.key(key(KeyCode::Backspace));
        prompt.key(key(KeyCode::Backspace));
        prompt.key(key(KeyCode::Backspace));
        prompt.key(key(KeyCode::Delete));
        prompt.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT));
        undone(
            &mut prompt,
            &[
                "aabbone two\nthr", "aabbone two\nthra", "aabbone two\nthreeca",
                "aabbone two\nthreea", "aabba", "aaa", "",
            ],
        );
        // Deletions at the cursor are one step, and a selection is part of its replacement's step.
        prompt.paste("abcdef");
        prompt.key(key(KeyCode::Home));
        prompt.key(key(KeyCode::Delete));
        prompt.key(key(KeyCode::Delete));
        prompt.key(KeyEvent::new(KeyCode::End, KeyModifiers::SHIFT));
        typed(&mut prompt, "xy");
        undone(&mut prompt, &["cdef", "abcdef", ""]);
    }

    #[test]
    fn new_line_has_no_steps_and_the_yank_buffer_stays() {
        let mut prompt = Prompt::new(&Theme::plain());
        prompt.paste("one two");
        prompt.key(ctrl('w'));
        undone(&mut prompt, &["one two"]);
        prompt.clear();
        undone(&mut prompt, &[""]);
        prompt.key(ctrl('y'));
        assert_eq!(prompt.text(), "two");
    }

    #[test]
    fn replaced_line_is_one_step() {
        let mut prompt = Prompt::new(&Theme::plain());
        typed(&mut prompt, "git log");
        prompt.replace("git show", false);
        typed(&mut prompt, "x");
        prompt.replace("", false);
        undone(&mut prompt, &["git showx", "git show", "git log"]);
        undone(&mut prompt, &["git ", "", ""]);
    }

    #[test]
    fn undo_restores_whether_the_line_is_a_trial() {
        let mut prompt = Prompt::new(&Theme::plain());
        prompt.history.add(entry(0, "rm z"));
        typed(&mut prompt, "rm x");
        prompt.is_trial = true;
        // Each with whether it is a trial.
        let states = [
            ("rm x", true),
            ("rm y", false),
            ("rm y2", true),
            ("", false),
            ("rm z", false),
        ];
        prompt.replace("rm y", false);
        prompt.replace("rm y2", true);
        for _ in 0..5 {
            prompt.key(key(KeyCode::Backspace));
        }
        prompt.key(key(KeyCode::Up));
        let is = |prompt: &Prompt| (prompt.text(), prompt.is_trial);
        let wanted = |at: usize| (states[at].0.to_owned(), states[at].1);
        assert_eq!(is(&prompt), wanted(4));
        for at in (0..4).rev() {
            prompt.key(ctrl('_'));
            assert_eq!(is(&prompt), wanted(at));
        }
        for at in 1..5 {
            prompt.key(alt('_'));
            assert_eq!(is(&prompt), wanted(at));
        }
    }

    #[test]
    fn recall_of_several_entries_is_one_step() {
        let mut prompt = Prompt::new(&Theme::plain());
        for (at, line) in ["ab 1", "ab 2", "ab 3"].into_iter().enumerate() {
            prompt.history.add(entry(at as u64, line));
        }
        typed(&mut prompt, "x ab");
        prompt.key(key(KeyCode::Home));
        prompt.key(key(KeyCode::Delete));
        prompt.key(key(KeyCode::Delete));
        prompt.is_trial = true;
        let walk = |prompt: &mut Prompt, codes: &[KeyCode]| {
            for code in codes {
                prompt.key(key(*code));
            }
            prompt.text()
        };
        let (up, down) = (KeyCode::Up, KeyCode::Down);
        // A movement within a line does not end the recall.
        let keys = [up, up, KeyCode::Left, up, down];
        assert_eq!(walk(&mut prompt, &keys), "ab 2");
        assert!(!prompt.is_trial);
        undone(&mut prompt, &["ab"]);
        assert_eq!((&*prompt.text_before_cursor(), prompt.is_trial), ("", true));
        undone(&mut prompt, &["x ab"]);
        prompt.key(alt('_'));
        prompt.is_trial = true;
        // Returning to the typed text is not a step.
        assert_eq!(walk(&mut prompt, &[up, up, down, down]), "ab");
        assert!(prompt.is_trial);
        undone(&mut prompt, &["x ab"]);
        // Undoing an edit of a line of the history first restores that line.
        prompt.wipe();
        assert_eq!(walk(&mut prompt, &[up]), "ab 3");
        typed(&mut prompt, "!");
        undone(&mut prompt, &["ab 3", "", "x ab"]);
    }
}
