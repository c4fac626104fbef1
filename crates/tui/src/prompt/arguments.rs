//! The last arguments of earlier lines, as bash's `yank-last-arg` inserts them.

use super::Prompt;
use super::prompt_memory::Argument;
use agent_bash_render::syntax::tokens::Tokens;

impl Prompt {
    /// Inserts the last argument of the previous line. A repetition replaces the inserted
    /// argument by the last argument of the line before that.
    pub(super) fn insert_last_argument(&mut self) {
        let before = self.text_before_cursor();
        let last = self.argument.take().filter(|last| last.before == before);
        let (end, start) = match &last {
            Some(last) => (last.entry, last.start),
            None => (self.history.entries().len(), before.len()),
        };
        let shown = &before[start..];
        let earlier = self.history.entries()[..end].iter().enumerate().rev();
        let mut words = earlier.map(|(at, entry)| (at, last_word(&entry.command)));
        let Some((at, word)) = words.find(|(_, word)| !word.is_empty() && *word != shown) else {
            self.argument = last;
            return;
        };
        let word = word.to_owned();
        match last {
            Some(_) => self.replace_word(start, &word),
            None => self.insert(&word),
        }
        // The insertion may have replaced a selection that began further left.
        let before = self.text_before_cursor();
        self.argument = Some(Argument {
            entry: at,
            start: before.len().saturating_sub(word.len()),
            before,
        });
    }
}

/// The last word of a line, as it is written.
fn last_word(command: &str) -> &str {
    let command = command.trim_end();
    let word = Tokens::of(command).last_word;
    let word = word.map(|word| &command[word.start..]);
    // After an operator, and in a heredoc, there is no last argument.
    let word = word.filter(|word| !word.is_empty());
    word.or_else(|| command.split_whitespace().last())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::entry;
    use agent_bash_render::Theme;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    #[test]
    fn last_argument_is_the_last_word_as_written() {
        for (command, want) in [
            ("vim src/main.rs", "src/main.rs"),
            ("cat 'a b' ", "'a b'"),
            ("cat my\\ file", "my\\ file"),
            ("echo $x > out", "out"),
            ("!ls /tmp", "/tmp"),
            ("ls", "ls"),
            ("sleep 5 &", "&"),
            ("cat <<E\nx\nE", "E"),
            ("", ""),
        ] {
            assert_eq!(last_word(command), want, "{command}");
        }
    }

    #[test]
    fn repeated_insertion_takes_the_argument_of_the_line_before() {
        let mut prompt = Prompt::new(&Theme::plain());
        let lines = ["cat one", "cat 'two b'", "vim 'two b'", "cat three"];
        for (at, line) in lines.into_iter().enumerate() {
            prompt.history.add(entry(at as u64, line));
        }
        let alt = KeyEvent::new(KeyCode::Char('.'), KeyModifiers::ALT);
        prompt.paste("é ");
        for want in ["é three", "é 'two b'", "é one", "é one"] {
            prompt.key(alt);
            assert_eq!(prompt.text(), want);
        }
        // A typed character starts again at the previous line.
        prompt.key(KeyEvent::new(KeyCode::Char(' '), KeyModifiers::NONE));
        prompt.key(alt);
        assert_eq!(prompt.text(), "é one three");
    }
}
