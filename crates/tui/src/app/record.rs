//! The record of what runs, which `agent-bash log` and `report` show: that it has a hole is said once, on the card where that begins.

use super::App;
use crate::calls::CallEnd;
use agent_bash::core::NoticeKind;
use agent_bash::journals::FULL;
use agent_bash_render::FooterLine;

/// What can be done about it.
const IF_FULL: &str =
    "`journal.max_mb` in the settings gives it more; a new run begins another record";
const IF_UNWRITABLE: &str = "the state directory has to have room and to be writable (`agent-bash doctor` names it); `journal.level = \"off\"` keeps no record";

impl App {
    /// What is to be said of a command that is not in the record, unless that was said of those before it.
    pub(super) fn unrecorded(&mut self, end: &CallEnd) -> Option<[FooterLine; 2]> {
        let notices = match end {
            CallEnd::Tool { result, .. } => &result.notices,
            CallEnd::Bang(message) => &message.notices,
            CallEnd::Refused(_) => return None,
        };
        let why = notices.iter().find_map(|notice| match &notice.kind {
            NoticeKind::JournalFailed { reason } => Some(reason.clone()),
            _ => None,
        });
        let before = std::mem::replace(&mut self.record_fails, why.clone());
        let why = why.filter(|why| before.as_ref() != Some(why))?;
        let hint = if why == FULL { IF_FULL } else { IF_UNWRITABLE };
        let said = format!(
            "from here on, what runs is missing in `agent-bash log` and `report`, as the record takes nothing more: {why}"
        );
        Some([FooterLine::Notice(said), FooterLine::Offer(hint.to_owned())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Msg;
    use crate::app::tests::{NOW, app, enters};
    use crate::transcript::Card;
    use agent_bash::core::{Status, Timestamp, ToolResult};

    #[test]
    fn a_hole_in_the_record_is_said_once_with_what_can_be_done() {
        let mut app = app(None);
        for (why, want) in [
            (None, None),
            (Some("No space left on device"), Some(IF_UNWRITABLE)),
            (Some("No space left on device"), None),
            (Some(FULL), Some(IF_FULL)),
            // It is written again, and then not.
            (None, None),
            (Some(FULL), Some(IF_FULL)),
        ] {
            enters(&mut app, "x");
            let entry = app.call.unwrap();
            let mut result = ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0));
            let failed = why.map(|why| NoticeKind::JournalFailed {
                reason: why.to_owned(),
            });
            result.notices.extend(failed.map(Into::into));
            let end = CallEnd::Tool {
                result: Box::new(result),
                refused: None,
            };
            let now = NOW;
            app.update(Msg::Ended { entry, end, now });
            let Card::Tool(card) = &app.transcript.get(entry).unwrap().card else {
                panic!("it has another card");
            };
            let offered = card.remarks.iter().find_map(|remark| match remark {
                FooterLine::Offer(text) => Some(text.as_str()),
                _ => None,
            });
            assert_eq!(offered, want, "{why:?}");
            assert_eq!(card.remarks.len(), if want.is_some() { 2 } else { 0 });
        }
    }
}
