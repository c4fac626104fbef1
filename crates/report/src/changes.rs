//! What a call did to files: their names, and the diffs that are still known.

use crate::given::Diff;
use agent_bash_core::changes::{BY_SCAN, Change, Changes, ChangesBy, ChangesState};
use agent_bash_core::visible;
use agent_bash_render::words::sign;
use maud::{Markup, html};

/// Lines of one diff that are shown.
const MOST_LINES: usize = 400;

pub(crate) fn changes(changes: &Changes, diffs: &[Diff]) -> Markup {
    html! {
        section.changes {
            h3 { "Files" span.note { " · " (state(changes)) " · " (visible::one_line(&changes.root)) } }
            @if diffs.is_empty() {
                ul { @for file in &changes.files {
                    li { span.(class(file.change)) { (sign(file.change)) } " "
                        @if let Some(from) = &file.from { (visible::one_line(from)) " → " }
                        (visible::one_line(&file.name.path)) }
                } }
                @if changes.more > 0 { p.note { "and " (changes.more) " more" } }
            } @else {
                @for diff in diffs { (one(diff)) }
            }
            @if !changes.outside.is_empty() {
                p.note { "Written beyond it:"
                    @for (directory, count) in &changes.outside { " " (count) " in " (visible::one_line(directory)) ";" }
                }
            }
        }
    }
}

fn one(diff: &Diff) -> Markup {
    html! {
        details.diff {
            summary { (visible::one_line(&diff.name)) @if let Some(note) = &diff.note { span.note { " · " (visible::one_line(note)) } } }
            @if let Some(text) = &diff.text {
                pre { @for line in text.lines().take(MOST_LINES) {
                    span.(line_class(line)) { (visible::shown(line)) "\n" }
                }
                @let more = text.lines().count().saturating_sub(MOST_LINES);
                @if more > 0 { span.cut { "… " (more) " lines are not in this report …\n" } } }
            }
        }
    }
}

/// The class of a line of a unified diff.
fn line_class(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
        [b'+', ..] => "add",
        [b'-', ..] => "del",
        [b'@', ..] => "at",
        _ => "same",
    }
}

fn state(changes: &Changes) -> &'static str {
    match (changes.state, changes.by) {
        (ChangesState::Held, _) => "held back when the call ended: nothing was applied",
        (ChangesState::Discarded, _) => "discarded",
        (ChangesState::Undone, _) => "taken back",
        (ChangesState::Interrupted, ChangesBy::Overlay) => "applied in part: whoever did so died",
        (ChangesState::Interrupted, _) => "seen until whoever watched died",
        (_, ChangesBy::Scan) => BY_SCAN,
        _ => "done",
    }
}

fn class(change: Change) -> &'static str {
    match change {
        Change::Created => "add",
        Change::Deleted => "del",
        _ => "at",
    }
}
