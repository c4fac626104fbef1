//! The suggestion for a line: the rest of the newest line of the history with this beginning, as in
//! fish. It is not part of the text until it is accepted.

use super::Prompt;
use agent_bash::journals::HistoryEnd;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The exit code of a shell that did not find a command.
const NOT_FOUND: HistoryEnd = HistoryEnd::Exit(127);

impl Prompt {
    /// Returns the suggestion to show after the cursor.
    pub(super) fn suggestion(&self) -> Option<&str> {
        let line = match self.area.lines() {
            [line] if !line.trim().is_empty() => line.as_str(),
            _ => return None,
        };
        let is_at_end = self.area.cursor().1 == line.chars().count();
        if !is_at_end || self.area.is_selecting() || self.history.is_recalling() {
            return None;
        }
        let entries = self.history.entries().iter().rev();
        // A misspelt command would be suggested instead of the right one.
        let mut lines = entries.filter(|entry| entry.end != Some(NOT_FOUND));
        lines.find_map(|entry| {
            let rest = entry.command.strip_prefix(line)?;
            (!rest.trim().is_empty() && !rest.contains('\n')).then_some(rest)
        })
    }

    /// Accepts the suggestion, or its first word, if `key` is a key for that. Returns true in that
    /// case.
    pub(super) fn accept_suggestion(&mut self, key: KeyEvent) -> bool {
        let takes_word = match (key.code, key.modifiers) {
            (KeyCode::Right | KeyCode::End, KeyModifiers::NONE)
            | (KeyCode::Char('e'), KeyModifiers::CONTROL) => false,
            (KeyCode::Right, KeyModifiers::CONTROL) | (KeyCode::Char('f'), KeyModifiers::ALT) => {
                true
            }
            _ => return false,
        };
        let Some(rest) = self.suggestion() else {
            return false;
        };
        let accepted = if takes_word { first_word(rest) } else { rest };
        let accepted = accepted.to_owned();
        self.insert(&accepted);
        true
    }
}

/// Returns the first word with the blanks before it; the first component, if the word is a path.
fn first_word(rest: &str) -> &str {
    let blanks = rest.len() - rest.trim_start().len();
    let end = rest[blanks..].find(|c: char| c == '/' || c.is_whitespace());
    match end.map(|at| blanks + at) {
        Some(at) if rest[at..].starts_with('/') => &rest[..=at],
        Some(at) => &rest[..at],
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::entry;
    use crate::prompt::tests::key;
    use agent_bash::journals::HistoryEntry;
    use agent_bash_render::Theme;

    /// A prompt with a history, and this text.
    fn prompt(text: &str) -> Prompt {
        let mut prompt = Prompt::new(&Theme::plain());
        let lines = [
            "git commit -m old", "git commit -m new", "for x in 1\ndo :; done", "git",
            "cat src/bin/main.rs notes",
        ];
        for (at, line) in lines.into_iter().enumerate() {
            prompt.history.add(entry(at as u64, line));
        }
        prompt.history.add(HistoryEntry {
            end: Some(NOT_FOUND),
            ..entry(9, "git comit")
        });
        prompt.paste(text);
        prompt
    }

    #[test]
    fn newest_line_with_the_same_beginning_is_suggested() {
        for (text, want) in [
            ("git", Some(" commit -m new")),
            ("git com", Some("mit -m new")),
            ("git commit -m o", Some("ld")),
            ("git commit -m new", None),
            ("for", None),
            ("", None),
            (" ", None),
            ("git\nca", None),
            ("x", None),
        ] {
            assert_eq!(prompt(text).suggestion(), want, "{text:?}");
        }
        // Only at the end, without a selection, and not during a recall.
        let mut at = prompt("git");
        at.key(key(KeyCode::Left));
        assert_eq!(at.suggestion(), None);
        let mut selected = prompt("git");
        selected.key(KeyEvent::new(KeyCode::Left, KeyModifiers::SHIFT));
        selected.key(KeyEvent::new(KeyCode::Right, KeyModifiers::SHIFT));
        assert_eq!(selected.suggestion(), None);
        let mut recalled = prompt("gi");
        for _ in 0..2 {
            recalled.key(key(KeyCode::Up));
        }
        assert_eq!(recalled.text(), "git");
        assert_eq!(recalled.suggestion(), None);
        recalled.key(key(KeyCode::Right));
        assert_eq!(recalled.text(), "git");
    }

    #[test]
    fn suggestion_is_part_of_the_text_only_once_accepted() {
        let control = |code| KeyEvent::new(code, KeyModifiers::CONTROL);
        for taking in [
            key(KeyCode::Right),
            key(KeyCode::End),
            control(KeyCode::Char('e')),
        ] {
            let mut prompt = prompt("git com");
            assert_eq!(
                (&*prompt.text(), &*prompt.text_before_cursor()),
                ("git com", "git com")
            );
            prompt.key(taking);
            assert_eq!(prompt.text(), "git commit -m new", "{taking:?}");
            prompt.key(control(KeyCode::Char('_')));
            assert_eq!(prompt.text(), "git com", "{taking:?}");
        }
        let alt = KeyEvent::new(KeyCode::Char('f'), KeyModifiers::ALT);
        for taking in [alt, control(KeyCode::Right)] {
            let mut prompt = prompt("ca");
            for want in ["cat", "cat src/", "cat src/bin/", "cat src/bin/main.rs"] {
                prompt.key(taking);
                assert_eq!(prompt.text(), want, "{taking:?}");
            }
        }
    }
}
