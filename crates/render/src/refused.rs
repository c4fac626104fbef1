//! The reason of a refused call on its card: the reason, the words that led to it, and an
//! alternative.

use crate::Theme;
use crate::styled_line::wrapped;
use crate::visible_text::shortened;
use ratatui::text::Line;

/// A refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalView {
    /// The text of the refusal.
    pub text: String,
    /// Lines of the command, each with the marks under its words.
    pub marked: Vec<(String, String)>,
    /// The suggested alternative.
    pub instead: Option<String>,
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
