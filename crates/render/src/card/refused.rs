//! The rows of a refusal on a card: the reason, the words of the command that led to it, and an
//! alternative.

use crate::Theme;
use crate::text::styled_line::wrapped;
use crate::text::visible_text::shortened;
use ratatui::text::Line;

/// A refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalView {
    /// The text of the refusal.
    pub text: String,
    /// Lines of the command, each with a second line that marks words of the first.
    pub marked: Vec<(String, String)>,
    /// The suggested alternative.
    pub alternative: Option<String>,
    /// True if the command would run as a trial.
    pub can_be_tried: bool,
}

impl RefusalView {
    /// A refusal that has only a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The text, for copying.
    pub fn plain(&self) -> String {
        let instead = self
            .alternative
            .iter()
            .map(|text| format!("\ninstead: {text}"));
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
        if let Some(instead) = &self.alternative {
            rows.extend(wrapped(&format!("instead: {instead}"), width, theme.accent));
        }
        rows
    }
}
