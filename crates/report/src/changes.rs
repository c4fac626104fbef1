//! A call's changes to files: one row per file, with its diff if it is still known.

use crate::ansi::shortened_on_paper;
use crate::page_data::{ChangesAction, Diff};
use agent_bash_core::changes::{BY_SCAN, Change, Changes, ChangesBy, ChangesState, FileChange};
use agent_bash_core::{Timestamp, visible};
use agent_bash_render::call_summary::{clock, date, sign};
use maud::{Markup, html};

/// The largest number of lines of a diff on the page.
const MAX_DIFF_LINES: usize = 400;

/// A file, and its diff if that is known.
type FileRow<'a> = (&'a FileChange, Option<&'a Diff>);

/// Later facts about a change set, which are not in its call's journal entry.
#[derive(Clone, Copy)]
pub(crate) struct KnownChanges<'a> {
    /// The diffs of the changed files, as far as they are stored.
    pub(crate) diffs: &'a [Diff],
    /// The actions on the change set, in order of time.
    pub(crate) actions: &'a [ChangesAction],
    /// True if the processes that change the files still run.
    pub(crate) is_running: bool,
    /// When the call started.
    pub(crate) call_start: Timestamp,
}

/// Returns the section for changes of the call itself, or of its job.
pub(crate) fn changes(changes: &Changes, known: KnownChanges<'_>) -> Markup {
    section("Files", changes, known)
}

/// Returns the section for changes of the call's background processes. With `maybe_earlier`, an
/// earlier call may have started the processes instead.
pub(crate) fn background_changes(
    changes: &Changes,
    known: KnownChanges<'_>,
    maybe_earlier: bool,
) -> Markup {
    let title = if maybe_earlier {
        "Files, by background processes of this call or an earlier one"
    } else {
        "Files, by its background processes"
    };
    section(title, changes, known)
}

/// Returns a section with a row per file.
fn section(title: &str, changes: &Changes, known: KnownChanges<'_>) -> Markup {
    let diffs = known.diffs;
    let all: Vec<FileRow<'_>> = if diffs.is_empty() {
        changes.files.iter().map(|file| (file, None)).collect()
    } else {
        diffs.iter().map(|diff| (&diff.file, Some(diff))).collect()
    };
    let (git_files, other_files): (Vec<FileRow<'_>>, Vec<FileRow<'_>>) =
        all.into_iter().partition(|(file, _)| file.name.is_of_git());
    html! {
        section.changes {
            h4 { (title) span.note { @if changes.counts.total() > 0 { " · changes " (changes.id.0) " · " (state_text(changes, known.is_running)) } " · " (visible::one_line(&changes.root)) } }
            @if !known.actions.is_empty() { p.actions { @for action in known.actions { span { (time_text(action.at, known.call_start)) " " (visible::one_line(&action.what)) } } } }
            @for row in &other_files { (file_row(row)) }
            @if !git_files.is_empty() {
                details.diff.git {
                    summary { (git_files.len()) @if git_files.len() == 1 { " file of .git" } @else { " files of .git" } }
                    @for row in &git_files { (file_row(row)) }
                }
            }
            @if diffs.is_empty() && changes.more > 0 { p.note { "and " (changes.more) " more" } }
            @if !changes.outside.is_empty() {
                p.outside { "Files outside of this directory: "
                    @for (index, (directory, count)) in changes.outside.iter().enumerate() {
                        @if index > 0 { ", " } (count) " below " code { (visible::one_line(directory)) }
                    }
                }
            }
        }
    }
}

/// Returns the time of day, with the date if the call started on another day.
fn time_text(at: Timestamp, call_start: Timestamp) -> String {
    let is_same_day = date(at).get(..10) == date(call_start).get(..10);
    if is_same_day { clock(at) } else { date(at) }
}

/// Returns the row of a file: a line, or, if its diff is known, a line that unfolds.
fn file_row((file, diff): &FileRow<'_>) -> Markup {
    let text = diff.and_then(|diff| diff.text.as_deref());
    let lines: Vec<(&str, &str)> = text.map(classify_lines).unwrap_or_default();
    let count = |class| lines.iter().filter(|(kind, _)| *kind == class).count();
    let note = diff.and_then(|diff| diff.note.as_deref());
    let name = html! {
        span.(css_class(file.change)) title=(file.change.word()) { (sign(file.change)) span.unseen { " " (file.change.word()) } } " "
        @if let Some(from) = &file.from { (visible::one_line(from)) " → " }
        (visible::one_line(&file.name.path))
        @if let Some(kind) = file.kind.words() { span.note { " · " (kind) } }
        @if !lines.is_empty() { span.note { " · " (line_counts(count("add"), count("del"))) } }
        @else if text.is_some() && file.change == Change::Renamed { span.note { " · same content" } }
        @else if text.is_some() { span.note { " · no lines" } }
        @if let Some(note) = note { span.note { " · " (visible::one_line(note)) } }
    };
    if lines.is_empty() {
        return html! { p.file-row { (name) } };
    }
    let more = lines.len().saturating_sub(MAX_DIFF_LINES);
    html! {
        details.diff {
            summary { (name) }
            pre {
                (shortened_on_paper(&lines[..lines.len() - more], |(class, line)| html! { span.(class) { (visible::shown(line)) "\n" } }))
                @if more > 0 { span.cut { "… " (more) " lines are not in this report …\n" } }
            }
        }
    }
}

/// Returns the counts as text, such as `+3 −1 lines`.
fn line_counts(added: usize, removed: usize) -> String {
    let parts = [('+', added), ('−', removed)];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(sign, count)| format!("{sign}{count}"))
        .collect();
    let unit = if added + removed == 1 {
        "line"
    } else {
        "lines"
    };
    format!("{} {unit}", parts.join(" "))
}

/// Returns the lines of a unified diff of one file, each with its class. `---` and `+++` are a
/// header only before the first `@@`: a removed SQL comment also begins with `--`.
fn classify_lines(text: &str) -> Vec<(&'static str, &str)> {
    let mut in_header = true;
    text.lines()
        .map(|line| {
            in_header &= !line.starts_with("@@");
            let class = match line.as_bytes() {
                _ if in_header => "file",
                [b'+', ..] => "add",
                [b'-', ..] => "del",
                [b'@', ..] => "at",
                _ => "same",
            };
            (class, line)
        })
        .collect()
}

/// Returns the state of the changes in a few words.
fn state_text(changes: &Changes, is_running: bool) -> &'static str {
    if changes.undone_in_part {
        return match changes.by {
            ChangesBy::Overlay => "committed, and undone in part",
            _ => "undone in part",
        };
    }
    match (changes.state, changes.by) {
        (ChangesState::Running, _) if is_running => "so far: it is still running",
        // The supervisor, which other conversations share, has not closed the change set.
        (ChangesState::Running, _) => "so far as recorded",
        (ChangesState::Held, _) => "held back when the call ended: nothing was applied",
        (ChangesState::Discarded, _) => "discarded",
        (ChangesState::Undone, _) => "undone",
        (ChangesState::Interrupted, ChangesBy::Overlay) => {
            "applied in part: the applying program died"
        }
        (ChangesState::Interrupted, _) => "seen until the recording program died",
        (ChangesState::Done, ChangesBy::Overlay) => "committed",
        (_, ChangesBy::Scan) => BY_SCAN,
        _ => "done",
    }
}

fn css_class(change: Change) -> &'static str {
    match change {
        Change::Created => "add",
        Change::Deleted => "del",
        _ => "at",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(diffs: &[Diff]) -> KnownChanges<'_> {
        KnownChanges {
            diffs,
            actions: &[],
            is_running: false,
            call_start: Timestamp(0),
        }
    }
    use agent_bash_core::changes::{ChangesId, FileName};

    fn file(path: &str, change: Change) -> FileChange {
        FileChange::new(FileName::new(path), change)
    }

    fn set(files: Vec<FileChange>) -> Changes {
        let (state, by) = (ChangesState::Done, ChangesBy::Trace);
        Changes::new(ChangesId(1), state, by, "/w").with_files(files)
    }

    #[test]
    fn dashes_after_the_header_are_not_a_header() {
        let diff = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n same\n--- old comment\n+++ x\n-@@ y\n\\ No newline at end of file\n";
        let classes: Vec<&str> = classify_lines(diff)
            .iter()
            .map(|(class, _)| *class)
            .collect();
        let wanted = ["file", "file", "at", "same", "del", "add", "del", "same"];
        assert_eq!(classes, wanted);
    }

    #[test]
    fn file_row_shows_the_change_and_its_numbers_of_lines() {
        let diffs = [
            Diff {
                text: Some("--- a/x\n+++ b/y\n@@ -1 +1,2 @@\n-a\n+b\n+c\n".to_owned()),
                ..Diff::of(file("y", Change::Created).renamed_from(FileName::new("x")))
            },
            Diff {
                note: Some("not text".to_owned()),
                ..Diff::of(file("blob", Change::Deleted))
            },
            Diff {
                text: Some(String::new()),
                ..Diff::of(file("empty", Change::Created))
            },
        ];
        let html = changes(&set(Vec::new()), of(&diffs)).into_string();
        for part in [
            "→<span class=\"unseen\"> renamed</span></span> x → y<span class=\"note\"> · +2 −1 lines",
            "<p class=\"file-row\"><span class=\"del\" title=\"deleted\">−",
            "blob<span class=\"note\"> · not text",
            "empty<span class=\"note\"> · no lines",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(html.matches("<details").count(), 1, "{html}");
    }

    #[test]
    fn files_of_git_come_last_in_a_group() {
        let files = [".git/index", "a", "sub/.git/HEAD", ".gitignore"];
        let files = files.map(|path| file(path, Change::Changed));
        let html = changes(&set(files.to_vec()), of(&[])).into_string();
        let (own, git_files) = html.split_once("2 files of .git").unwrap();
        assert!(
            own.contains(".gitignore") && !own.contains("index"),
            "{html}"
        );
        assert!(git_files.contains(".git/index") && git_files.contains("sub/.git/HEAD"));
    }

    #[test]
    fn writes_outside_are_not_shown_as_successful() {
        let mut set = set(Vec::new());
        set.outside.insert("/etc".to_owned(), 2);
        set.outside.insert("/tmp/x".to_owned(), 1);
        let html = changes(&set, of(&[])).into_string();
        let wanted = "Files outside of this directory: 2 below <code>/etc</code>, 1 below <code>/tmp/x</code>";
        assert!(html.contains(wanted), "{html}");
    }

    #[test]
    fn committed_trial_says_so() {
        let files = vec![file("a", Change::Created)];
        let mut set = set(files);
        set.by = ChangesBy::Overlay;
        assert!(
            changes(&set, of(&[]))
                .into_string()
                .contains(" · committed · ")
        );
        set.undone_in_part = true;
        let html = changes(&set, of(&[])).into_string();
        assert!(
            html.contains(" · committed, and undone in part · "),
            "{html}"
        );
    }
}
