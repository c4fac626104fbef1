//! Gaps in the journal, which `agent-bash log` and `report` show. The card at which a gap begins
//! reports it once.

use super::App;
use crate::calls::CallEnd;
use agent_bash::core::NoticeKind;
use agent_bash::journals::FULL_REASON;
use agent_bash_render::FooterLine;

/// Hints for a journal that accepts no more entries.
const JOURNAL_FULL_HINT: &str =
    "`journal.max_mb` in the settings gives it more; a new run begins another record";
const UNWRITABLE_HINT: &str = "the state directory has to have room and to be writable (`agent-bash doctor` names it); `journal.level = \"off\"` keeps no record";

impl App {
    /// Returns the lines about a command that is missing in the journal. `None` if an earlier card
    /// has reported the same error.
    pub(super) fn journal_gap_lines(&mut self, end: &CallEnd) -> Option<[FooterLine; 2]> {
        let notices = match end {
            CallEnd::Tool { result, .. } => &result.notices,
            CallEnd::Bang(message) => &message.notices,
            CallEnd::Refused(_) => return None,
        };
        let why = notices.iter().find_map(|notice| match &notice.kind {
            NoticeKind::JournalFailed { reason } => Some(reason.clone()),
            _ => None,
        });
        let before = std::mem::replace(&mut self.reported_journal_error, why.clone());
        let why = why.filter(|why| before.as_ref() != Some(why))?;
        let hint = if why == FULL_REASON {
            JOURNAL_FULL_HINT
        } else {
            UNWRITABLE_HINT
        };
        let text = format!(
            "from here on, what runs is missing in `agent-bash log` and `report`, as the journal accepts no more entries: {why}"
        );
        Some([FooterLine::Notice(text), FooterLine::Offer(hint.to_owned())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tests::{app, current_card, ended_as, ended_with, enters, succeeded};

    #[test]
    fn gap_in_the_journal_is_reported_once_with_a_hint() {
        let mut app = app(None);
        for (why, want) in [
            (None, None),
            (Some("No space left on device"), Some(UNWRITABLE_HINT)),
            (Some("No space left on device"), None),
            (Some(FULL_REASON), Some(JOURNAL_FULL_HINT)),
            // The journal accepts entries again, and then fails again.
            (None, None),
            (Some(FULL_REASON), Some(JOURNAL_FULL_HINT)),
        ] {
            enters(&mut app, "x");
            let entry = app.call.unwrap();
            let mut result = succeeded();
            let failed = why.map(|why| NoticeKind::JournalFailed {
                reason: why.to_owned(),
            });
            result.notices.extend(failed.map(Into::into));
            ended_with(&mut app, entry, ended_as(result));
            let footer = &current_card(&app).footer;
            let offered = footer.iter().find_map(|line| match line {
                FooterLine::Offer(text) => Some(text.as_str()),
                _ => None,
            });
            assert_eq!(offered, want, "{why:?}");
            assert_eq!(footer.len(), if want.is_some() { 2 } else { 0 });
        }
    }
}
