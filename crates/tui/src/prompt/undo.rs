//! Undoing and redoing, in steps of what was done in one go.

use super::Prompt;
use super::steps::Kind;

impl Prompt {
    /// Changes the text, as a step that can be undone.
    pub(super) fn alter(&mut self, kind: Kind, change: impl FnOnce(&mut Self)) {
        let (text, cursor) = (self.text(), self.cursor());
        change(self);
        let after = (&*self.text(), self.cursor());
        self.steps.note(kind, (&text, cursor), after);
    }

    /// Undoes a step, or does it again.
    pub(super) fn go(&mut self, back: bool) {
        if let Some((text, cursor)) = self.steps.go(back, self.text()) {
            self.put(&text);
            if cursor < text.len() {
                self.move_to(cursor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_render::Theme;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn typed(prompt: &mut Prompt, text: &str) {
        for c in text.chars() {
            prompt.key(key(KeyCode::Char(c)));
        }
    }

    /// What is there after each further undo.
    fn undone(prompt: &mut Prompt, want: &[&str]) {
        for want in want {
            prompt.key(KeyEvent::new(KeyCode::Char('_'), KeyModifiers::CONTROL));
            assert_eq!(prompt.text(), *want);
        }
    }

    #[test]
    fn what_was_typed_is_undone_by_words_and_done_again() {
        let mut prompt = Prompt::new(&Theme::plain());
        typed(&mut prompt, "git commit  -m \"häuser 日本\"");
        let steps = [
            "git commit  -m \"häuser ",
            "git commit  -m ",
            "git commit  ",
            "git ",
            "",
        ];
        undone(&mut prompt, &steps);
        undone(&mut prompt, &[""]);
        let redo = KeyEvent::new(KeyCode::Char('_'), KeyModifiers::ALT);
        for want in steps.iter().rev().skip(1) {
            prompt.key(redo);
            assert_eq!(prompt.text(), *want);
        }
        // What is typed then is a step of its own, and there is nothing left to be done again.
        typed(&mut prompt, "x");
        prompt.key(redo);
        assert_eq!(prompt.text(), "git commit  -m \"häuser x");
        undone(&mut prompt, &["git commit  -m \"häuser "]);
    }

    #[test]
    fn a_movement_a_paste_and_another_kind_of_edit_begin_a_step() {
        let mut prompt = Prompt::new(&Theme::plain());
        typed(&mut prompt, "aaa");
        prompt.key(key(KeyCode::Left));
        typed(&mut prompt, "aa");
        undone(&mut prompt, &["aaa"]);
        assert_eq!(prompt.before(), "aa");
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
                "aabbone two\nthr",
                "aabbone two\nthra",
                "aabbone two\nthreeca",
                "aabbone two\nthreea",
                "aabba",
                "aaa",
                "",
            ],
        );
        // Deletions at the cursor are one, and what was selected is part of what took its place.
        prompt.paste("abcdef");
        prompt.key(key(KeyCode::Home));
        prompt.key(key(KeyCode::Delete));
        prompt.key(key(KeyCode::Delete));
        prompt.key(KeyEvent::new(KeyCode::End, KeyModifiers::SHIFT));
        typed(&mut prompt, "xy");
        undone(&mut prompt, &["cdef", "abcdef", ""]);
    }

    #[test]
    fn another_line_has_no_steps_and_what_was_cut_is_kept() {
        let mut prompt = Prompt::new(&Theme::plain());
        prompt.paste("one two");
        prompt.key(KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL));
        undone(&mut prompt, &["one two"]);
        prompt.clear();
        undone(&mut prompt, &[""]);
        prompt.key(KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL));
        assert_eq!(prompt.text(), "two");
    }
}
