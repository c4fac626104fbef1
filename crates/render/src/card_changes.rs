//! What a call did to files, as its card shows it: `Δ +2 ~1 −1` in the footer, and lines below the output.

use crate::Theme;
use crate::file_row::style;
use crate::styled_line::wrapped;
use crate::words::{self, counted, sign, split_git};
use agent_bash_core::changes::{BY_SCAN, ChangeCounts, Changes, ChangesBy, ChangesState};
use agent_bash_core::visible;
use agent_bash_core::{Notice, NoticeKind};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// How to get at what is held back.
const HINT: &str = "f6 selects it · enter diff · c commit · d discard";

/// The same where it cannot be committed.
const STALE_HINT: &str = "f6 selects it · enter diff · d discard";

/// The same where that is nothing.
const EMPTY_HINT: &str = "ctrl+↑ selects it · d discard";

/// What a call did to files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardChanges {
    /// The set, as of the last look at it.
    pub set: Changes,
    /// What the command left running has changed since, in their order. True: it may be that an earlier one left it.
    pub background: Vec<(Changes, bool)>,
    /// What was said when something was done with it last, one per line.
    pub outcome: Vec<String>,
    /// What is said beside that: that something is being done now, or was not done.
    pub aside: Vec<String>,
    /// Whether that is about something that was not done.
    pub refused: bool,
}

impl CardChanges {
    /// A set of which nothing was said yet.
    pub fn new(set: Changes) -> Self {
        Self {
            set,
            background: Vec::new(),
            outcome: Vec::new(),
            aside: Vec::new(),
            refused: false,
        }
    }

    /// What is known of a command that has ended, with what its notices say of that; `None` if nothing is.
    pub fn known(set: Option<&Changes>, notices: &[Notice]) -> Option<Self> {
        let mut changes = Self::new(set?.clone());
        let lines = notices.iter().filter_map(|notice| match &notice.kind {
            NoticeKind::Changes { line, .. } => Some(format!("[{line}]")),
            _ => None,
        });
        changes.refused = !changes.set.conflicts.is_empty();
        let said = if changes.refused {
            &mut changes.aside
        } else {
            &mut changes.outcome
        };
        said.extend(lines);
        Some(changes)
    }

    /// All sets: its own, and what it left running has changed.
    pub fn sets(&self) -> impl DoubleEndedIterator<Item = &Changes> {
        std::iter::once(&self.set).chain(self.background.iter().map(|(set, _)| set))
    }

    /// `Δ +2 ~1 −1 →1 m1`, and what has become of it unless it was simply done, and then `later +1`; `None` if there is nothing
    /// to show.
    pub(crate) fn mark(&self, theme: &Theme) -> Option<Vec<Span<'static>>> {
        let late = self
            .background
            .iter()
            .map(|(set, is_unsure)| (set, *is_unsure));
        let late = words::background_summary(late);
        let own = self.own_mark(theme);
        if late.is_empty() {
            return own;
        }
        let has_own = own.is_some();
        let mut spans = own.unwrap_or_else(|| vec![Span::styled("Δ", theme.accent)]);
        for (index, said) in late.into_iter().enumerate() {
            let comma = if has_own || index > 0 { "," } else { "" };
            spans.push(Span::styled(format!("{comma} {said}"), theme.text));
        }
        Some(spans)
    }

    fn own_mark(&self, theme: &Theme) -> Option<Vec<Span<'static>>> {
        let (own, of_git) = split_git(&self.set);
        let counted = counts(&own, theme);
        let outside: u64 = self.set.outside.values().sum();
        if self.set.counts.total() + outside == 0 && self.set.state != ChangesState::Held {
            return None;
        }
        let mut spans = vec![Span::styled("Δ", theme.accent)];
        let mut say = |text: String, style: Style| {
            spans.push(Span::styled(format!(" {text}"), style));
        };
        if self.set.counts.total() + outside == 0 {
            say("0".to_owned(), theme.dim);
        }
        let comma = |follows| if follows { "," } else { "" };
        let last = counted.len().saturating_sub(1);
        for (index, (text, style)) in counted.into_iter().enumerate() {
            let comma = comma(of_git + outside > 0 && index == last);
            say(format!("{text}{comma}"), style);
        }
        if of_git > 0 {
            say(format!("{of_git} in .git{}", comma(outside > 0)), theme.dim);
        }
        if outside > 0 {
            // Nothing of that can be taken back.
            say(format!("{outside} outside"), theme.warning);
        }
        match self.set.by {
            ChangesBy::Scan => say("by scan".to_owned(), theme.warning),
            _ if !self.set.exact => say("inexact".to_owned(), theme.warning),
            _ => {}
        }
        if let Some((word, style)) = self.state(theme) {
            say(word.to_owned(), style);
        }
        Some(spans)
    }

    /// What has become of it; `None` if it was done as any call's.
    fn state(&self, theme: &Theme) -> Option<(&'static str, Style)> {
        let style = match self.set.state {
            ChangesState::Held | ChangesState::Interrupted => theme.warning,
            _ => theme.dim,
        };
        words::fate(&self.set).map(|word| (word, style))
    }

    /// The lines below the output.
    pub(crate) fn rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let beside = if self.refused {
            theme.warning
        } else {
            theme.dim
        };
        let mut rows: Vec<Line<'static>> = Vec::new();
        for (lines, style) in [(&self.outcome, theme.dim), (&self.aside, beside)] {
            for line in lines {
                rows.extend(wrapped(&visible::one_line(line), width, style));
            }
        }
        if self.set.state == ChangesState::Held {
            let why = self.set.in_the_way();
            let hint = match (self.set.counts.total(), &why) {
                (0, _) => EMPTY_HINT,
                (_, Some(_)) => STALE_HINT,
                (_, None) => HINT,
            };
            rows.extend(
                why.iter()
                    .flat_map(|why| wrapped(why, width, theme.warning)),
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

/// How many of each kind there are, of those that there are any of.
fn counts(counts: &ChangeCounts, theme: &Theme) -> Vec<(String, Style)> {
    let some = counted(counts);
    some.map(|(change, number)| (format!("{}{number}", sign(change)), style(change, theme)))
        .collect()
}
