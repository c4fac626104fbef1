//! A pattern that is typed after `/`, in the pager and in a diff, and what is said about it.

use agent_bash_render::regex::Regex;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

/// In front of a pattern it ignores case.
const ANY_CASE: &str = "(?i)";

/// What has been typed, while it is being typed.
#[derive(Debug, Default)]
pub(crate) struct PatternInput(Option<String>);

impl PatternInput {
    pub(crate) fn begin(&mut self) {
        self.0 = Some(String::new());
    }

    /// The text so far; `None` while nothing is being typed.
    pub(crate) fn typed(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(typed) = &mut self.0 {
            typed.extend(text.chars().filter(|c| !c.is_control()));
        }
    }

    /// Handles a key. Returns what is to be sought once it is entered.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Option<String> {
        let typed = self.0.as_mut()?;
        match (key.code, key.modifiers) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), KeyModifiers::CONTROL) => self.0 = None,
            (KeyCode::Backspace, _) => {
                let last = typed.grapheme_indices(true).next_back();
                typed.truncate(last.map_or(0, |(at, _)| at));
            }
            (KeyCode::Enter, _) => return self.0.take(),
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

/// What was typed as a regular expression. Without a capital letter it ignores case, as ripgrep's `--smart-case` does.
pub(crate) fn pattern(typed: &str) -> Result<Regex, String> {
    // `\S` and its kind are no letters.
    let mut escaped = false;
    let has_capital = typed.chars().any(|char| {
        let is_letter = !escaped;
        escaped = char == '\\' && !escaped;
        is_letter && char.is_uppercase()
    });
    let case = if has_capital { "" } else { ANY_CASE };
    Regex::new(&format!("{case}{typed}")).map_err(|error| {
        // It draws where over several lines; the last says what.
        let said = error.to_string();
        let last = said.lines().last().unwrap_or_default();
        format!("`{typed}`: {}", last.trim_start_matches("error: "))
    })
}

/// That it was not found.
pub(crate) fn not_found(pattern: Option<&Regex>) -> String {
    let pattern = pattern.map_or("", Regex::as_str);
    let typed = pattern.strip_prefix(ANY_CASE).unwrap_or(pattern);
    format!("`{typed}` is not there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_without_a_capital_ignores_case() {
        for (typed, text, is_found) in [
            ("error", "ERROR", true),
            ("Error", "ERROR", false),
            ("\\S+r", "ERR", true),
            ("\\\\S", "\\s", false),
            ("é", "É", true),
        ] {
            let pattern = pattern(typed).unwrap();
            assert_eq!(pattern.is_match(text), is_found, "{typed} in {text}");
        }
        let said = pattern("(a").unwrap_err();
        assert_eq!(said, "`(a`: unclosed group");
    }
}
