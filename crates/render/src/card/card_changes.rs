//! A call's changes to files on its card: `Δ +2 ~1 −1` in the footer, and lines below the output.

use crate::Theme;
use crate::call_summary::{self, nonzero_counts, sign, split_git};
use crate::panel::file_row::style;
use crate::text::styled_line::wrapped;
use agent_bash_core::changes::{BY_SCAN, ChangeCounts, Changes, ChangesBy, ChangesState};
use agent_bash_core::visible;
use agent_bash_core::{Notice, NoticeKind};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The keys for held changes.
const HELD_CHANGES_HINT: &str = "f6 selects it · enter diff · c commit · d discard";

/// The keys for held changes that cannot be committed.
const STALE_HINT: &str = "f6 selects it · enter diff · d discard";

/// The keys for a trial without changes.
const EMPTY_HINT: &str = "ctrl+↑ selects it · d discard";

/// A call's changes to files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardChanges {
    /// The change set, as of the last read.
    pub set: Changes,
    /// Change sets of the command's background processes, in order. The flag is true if the process
    /// may belong to an earlier command.
    pub background: Vec<(Changes, bool)>,
    /// The outcome of the last action, one line each.
    pub outcome: Vec<String>,
    /// Lines about an action: the running one, or one that was refused.
    pub action_lines: Vec<String>,
    /// True if `action_lines` are about a refused action.
    pub refused: bool,
}

impl CardChanges {
    /// A change set without an outcome.
    pub fn new(set: Changes) -> Self {
        Self {
            set,
            background: Vec::new(),
            outcome: Vec::new(),
            action_lines: Vec::new(),
            refused: false,
        }
    }

    /// The changes of a command that has ended, with the notices about them; `None` without a
    /// change set.
    pub fn of_ended_call(set: Option<&Changes>, notices: &[Notice]) -> Option<Self> {
        let mut changes = Self::new(set?.clone());
        let lines = notices.iter().filter_map(|notice| match &notice.kind {
            NoticeKind::Changes { line, .. } => Some(format!("[{line}]")),
            _ => None,
        });
        changes.refused = !changes.set.conflicts.is_empty();
        let shown = if changes.refused {
            &mut changes.action_lines
        } else {
            &mut changes.outcome
        };
        shown.extend(lines);
        Some(changes)
    }

    /// All change sets: the command's own, then those of its background processes.
    pub fn sets(&self) -> impl DoubleEndedIterator<Item = &Changes> {
        std::iter::once(&self.set).chain(self.background.iter().map(|(set, _)| set))
    }

    /// `Δ +2 ~1 −1 →1 m1`, then the state unless it is the usual one (made, and not undone), then
    /// `later +1`. `None` if there is nothing to show.
    pub(crate) fn mark(&self, theme: &Theme) -> Option<Vec<Span<'static>>> {
        let background = self
            .background
            .iter()
            .map(|(set, is_unsure)| (set, *is_unsure));
        let background = call_summary::background_summary(background);
        let own = self.own_mark(theme);
        if background.is_empty() {
            return own;
        }
        let has_own = own.is_some();
        let mut spans = own.unwrap_or_else(|| vec![Span::styled("Δ", theme.accent)]);
        for (index, part) in background.into_iter().enumerate() {
            let comma = if has_own || index > 0 { "," } else { "" };
            spans.push(Span::styled(format!("{comma} {part}"), theme.text));
        }
        Some(spans)
    }

    fn own_mark(&self, theme: &Theme) -> Option<Vec<Span<'static>>> {
        let (outside_git, in_git) = split_git(&self.set);
        let counted = counts(&outside_git, theme);
        let outside: u64 = self.set.outside.values().sum();
        if self.set.counts.total() + outside == 0 && self.set.state != ChangesState::Held {
            return None;
        }
        let mut spans = vec![Span::styled("Δ", theme.accent)];
        let mut add = |text: String, style: Style| {
            spans.push(Span::styled(format!(" {text}"), style));
        };
        if self.set.counts.total() + outside == 0 {
            add("0".to_owned(), theme.dim);
        }
        let comma = |follows| if follows { "," } else { "" };
        let last = counted.len().saturating_sub(1);
        for (index, (text, style)) in counted.into_iter().enumerate() {
            let comma = comma(in_git + outside > 0 && index == last);
            add(format!("{text}{comma}"), style);
        }
        if in_git > 0 {
            add(format!("{in_git} in .git{}", comma(outside > 0)), theme.dim);
        }
        if outside > 0 {
            // Changes outside of the recorded directory cannot be undone.
            add(format!("{outside} outside"), theme.warning);
        }
        match self.set.by {
            ChangesBy::Scan => add("by scan".to_owned(), theme.warning),
            _ if !self.set.exact => add("inexact".to_owned(), theme.warning),
            _ => {}
        }
        if let Some((word, style)) = self.state(theme) {
            add(word.to_owned(), style);
        }
        Some(spans)
    }

    /// The state of the changes; `None` for the usual state (made, and not undone).
    fn state(&self, theme: &Theme) -> Option<(&'static str, Style)> {
        let style = match self.set.state {
            ChangesState::Held | ChangesState::Interrupted => theme.warning,
            _ => theme.dim,
        };
        call_summary::state_text(&self.set).map(|word| (word, style))
    }

    /// The lines below the output.
    pub(crate) fn rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let action_style = if self.refused {
            theme.warning
        } else {
            theme.dim
        };
        let mut rows: Vec<Line<'static>> = Vec::new();
        for (lines, style) in [
            (&self.outcome, theme.dim),
            (&self.action_lines, action_style),
        ] {
            for line in lines {
                rows.extend(wrapped(&visible::one_line(line), width, style));
            }
        }
        if self.set.state == ChangesState::Held {
            let obstacle = self.set.commit_obstacle();
            let hint = match (self.set.counts.total(), &obstacle) {
                (0, _) => EMPTY_HINT,
                (_, Some(_)) => STALE_HINT,
                (_, None) => HELD_CHANGES_HINT,
            };
            rows.extend(
                obstacle
                    .iter()
                    .flat_map(|obstacle| wrapped(obstacle, width, theme.warning)),
            );
            rows.extend(wrapped(hint, width, theme.dim));
        }
        if self.set.by == ChangesBy::Scan && self.set.counts.total() > 0 {
            let line = format!("files {BY_SCAN}; cannot be taken back");
            rows.extend(wrapped(&line, width, theme.dim));
        }
        rows
    }
}

/// The counts by kind, without zeros.
fn counts(counts: &ChangeCounts, theme: &Theme) -> Vec<(String, Style)> {
    let nonzero = nonzero_counts(counts);
    nonzero
        .map(|(change, number)| (format!("{}{number}", sign(change)), style(change, theme)))
        .collect()
}
