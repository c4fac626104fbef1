//! A search pattern that is typed after `/` or `?`, in the pager and in a diff, and messages about
//! patterns.

use agent_bash_render::regex::Regex;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

/// The prefix that makes a pattern ignore case.
const ANY_CASE: &str = "(?i)";

/// The sign before a pattern that is searched backwards.
const BACKWARD_SIGN: char = '?';

/// Bytes of the sign before a pattern.
const SIGN_BYTES: usize = 1;

/// The pattern while it is typed.
#[derive(Debug, Default)]
pub(crate) struct PatternInput {
    /// The text with its sign.
    typed: Option<String>,
    /// The pattern that was entered last.
    last: String,
    /// True if the last pattern is searched backwards: `n` then moves back, and `N` forward.
    pub(crate) is_backward: bool,
}

impl PatternInput {
    /// Starts a pattern with the sign `/`, or `?` for a backward search.
    pub(crate) fn begin(&mut self, sign: char) {
        self.typed = Some(sign.to_string());
    }

    /// The text so far with its sign; `None` while nothing is typed.
    pub(crate) fn typed(&self) -> Option<&str> {
        self.typed.as_deref()
    }

    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(typed) = &mut self.typed {
            typed.extend(text.chars().filter(|c| !c.is_control()));
        }
    }

    /// Handles a key. Returns the pattern when it is entered.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Option<String> {
        let typed = self.typed.as_mut()?;
        match (key.code, key.modifiers) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), KeyModifiers::CONTROL) => self.typed = None,
            (KeyCode::Backspace, _) => {
                let last = typed.grapheme_indices(true).next_back();
                typed.truncate(last.map_or(0, |(at, _)| at).max(SIGN_BYTES));
            }
            (KeyCode::Up, _) if typed.len() == SIGN_BYTES => typed.push_str(&self.last),
            (KeyCode::Enter, _) => {
                self.is_backward = typed.starts_with(BACKWARD_SIGN);
                let entered = self.typed.take()?.split_off(SIGN_BYTES);
                if !entered.is_empty() {
                    self.last.clone_from(&entered);
                }
                return Some(entered);
            }
            (KeyCode::Char(c), held)
                if !held.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
            {
                typed.push(c);
            }
            _ => {}
        }
        None
    }
}

/// The regular expression for a typed pattern. A pattern without a capital letter ignores
/// case, as with ripgrep's `--smart-case`.
pub(crate) fn parse_pattern(typed: &str) -> Result<Regex, String> {
    // The letter of a class such as `\S` is not a capital.
    let mut escaped = false;
    let has_capital = typed.chars().any(|char| {
        let is_letter = !escaped;
        escaped = char == '\\' && !escaped;
        is_letter && char.is_uppercase()
    });
    let case = if has_capital { "" } else { ANY_CASE };
    Regex::new(&format!("{case}{typed}")).map_err(|error| {
        // The error marks its position over several lines; the last line has the reason.
        let message = error.to_string();
        let last = message.lines().last().unwrap_or_default();
        format!("`{typed}`: {}", last.trim_start_matches("error: "))
    })
}

/// The message that a pattern was not found.
pub(crate) fn not_found_text(pattern: Option<&Regex>) -> String {
    let pattern = pattern.map_or("", Regex::as_str);
    let typed = pattern.strip_prefix(ANY_CASE).unwrap_or(pattern);
    format!("`{typed}` was not found")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_pattern_comes_back_with_its_sign() {
        let mut input = PatternInput::default();
        input.begin('?');
        let press = |input: &mut PatternInput, code| {
            let entered = input.key(KeyEvent::new(code, KeyModifiers::NONE));
            (input.typed().unwrap_or_default().to_owned(), entered)
        };
        let some = |text: &str| Some(text.to_owned());
        for (code, typed, entered, is_back) in [
            (KeyCode::Up, "?", None, false),
            (KeyCode::Char('a'), "?a", None, false),
            (KeyCode::Backspace, "?", None, false),
            (KeyCode::Backspace, "?", None, false),
            (KeyCode::Char('/'), "?/", None, false),
            (KeyCode::Up, "?/", None, false),
            (KeyCode::Enter, "", some("/"), true),
        ] {
            let message = press(&mut input, code);
            assert_eq!(
                (message, input.is_backward),
                ((typed.to_owned(), entered), is_back)
            );
        }
        input.begin('/');
        assert_eq!(press(&mut input, KeyCode::Esc), (String::new(), None));
        assert!(input.is_backward, "an abandoned pattern has no effect");
        input.begin('/');
        press(&mut input, KeyCode::Up);
        assert_eq!(press(&mut input, KeyCode::Enter).1, some("/"));
        assert!(!input.is_backward);
    }

    #[test]
    fn pattern_without_a_capital_ignores_case() {
        for (typed, text, is_found) in [
            ("error", "ERROR", true),
            ("Error", "ERROR", false),
            ("\\S+r", "ERR", true),
            ("\\\\S", "\\s", false),
            ("é", "É", true),
        ] {
            let pattern = parse_pattern(typed).unwrap();
            assert_eq!(pattern.is_match(text), is_found, "{typed} in {text}");
        }
        let message = parse_pattern("(a").unwrap_err();
        assert_eq!(message, "`(a`: unclosed group");
    }
}
