//! Why a call was refused, as its card says it: the reason, the words that led to it, what to do instead.

use crate::Theme;
use crate::styled_line::wrapped;
use crate::visible_text::shortened;
use ratatui::text::Line;

/// A refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refused {
    /// What was said.
    pub text: String,
    /// Lines of the command, each with the marks under its words.
    pub marked: Vec<(String, String)>,
    /// What to do instead.
    pub instead: Option<String>,
    /// Whether it would run as a trial.
    pub can_be_tried: bool,
}

impl Refused {
    /// Without more than what was said.
    pub fn new(said: impl Into<String>) -> Self {
        Self {
            text: said.into(),
            ..Self::default()
        }
    }

    /// Its text, for copying.
    pub fn plain(&self) -> String {
        let instead = self.instead.iter().map(|text| format!("\ninstead: {text}"));
        format!("Blocked: {}{}\n", self.text, instead.collect::<String>())
    }

    pub(crate) fn rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = wrapped(&format!("Blocked: {}", self.text), width, theme.text);
        for (line, mark) in &self.marked {
            rows.push(Line::styled(
                shortened(&format!("  {line}"), width),
                theme.title,
            ));
            rows.push(Line::styled(
                shortened(&format!("  {mark}"), width),
                theme.warning,
            ));
        }
        if let Some(instead) = &self.instead {
            rows.extend(wrapped(&format!("instead: {instead}"), width, theme.accent));
        }
        rows
    }
}
