//! The diff of a call's changes while it is open.

use crate::change_actions;
use crate::diff_search::DiffSearch;
use crate::scroll_state::{ScrollEvent, ScrollState};
use crate::transcript::EntryId;
use crate::typed_count::times;
use agent_bash::change_sets::{DiffText, FileDiff};
use agent_bash::core::changes::{Change, ChangesId, FileKind, FileName};
use agent_bash::core::plural;
use agent_bash::{ChangeSets, ChangesAct, ChangesRefused};
use agent_bash_render::{CardChanges, DiffLine, DiffView, PagerMove, Theme};
use crossterm::event::{Event, KeyCode, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Maximum number of compared files.
const MAX_FILES: usize = 300;

/// The end of the heading of a diff with more files than are shown.
const FILES_SHOWN_HEADING: &str = "files are shown";

/// Maximum number of shown lines.
const MAX_LINES: usize = 20_000;

/// Maximum number of shown characters per line.
const MAX_LINE_CHARS: usize = 4000;

/// An open diff.
#[derive(Debug)]
pub(crate) struct DiffState {
    /// The card whose changes are shown.
    pub(crate) entry: EntryId,
    title: String,
    command: String,
    lines: Vec<DiffLine>,
    pub(crate) scroll: ScrollState,
    search: Option<DiffSearch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffRequest {
    Nothing,
    Close,
    Act(ChangesAct),
}

impl DiffState {
    pub(crate) fn new(
        entry: EntryId,
        id: ChangesId,
        command: String,
        lines: Vec<DiffLine>,
    ) -> Self {
        Self {
            entry,
            title: id.uri(),
            command,
            scroll: ScrollState::new(lines.len() as u64),
            lines,
            search: None,
        }
    }

    /// `set`: the present changes of the card.
    pub(crate) fn event(&mut self, event: &Event, set: Option<&CardChanges>) -> DiffRequest {
        match self.scroll.event(event) {
            ScrollEvent::Handled => {}
            ScrollEvent::Close => return DiffRequest::Close,
            ScrollEvent::Move(to) => self.scroll.go(to),
            ScrollEvent::Pattern(typed) => self.start_search(&typed),
            ScrollEvent::NextMatch { forward, count, .. } if self.search.is_some() => {
                self.find(forward, count.unwrap_or(1));
            }
            ScrollEvent::NextMatch { letter, count, .. } => {
                (0..times(count)).for_each(|_| self.next_file(letter == 'n'));
            }
            ScrollEvent::Key(key) => {
                if let (KeyCode::Char(pressed), KeyModifiers::NONE) = (key.code, key.modifiers)
                    && let Some(act) = change_actions::action_of_key(pressed)
                {
                    self.scroll.message = change_actions::unavailable_reason(act, set);
                    if self.scroll.message.is_none() {
                        return DiffRequest::Act(act);
                    }
                }
            }
        }
        DiffRequest::Nothing
    }

    /// Scrolls the beginning of the next file, or of the file before, to the top, if enough lines
    /// follow it.
    fn next_file(&mut self, forward: bool) {
        let top = self.scroll.position.first_line;
        let lines = (1..).zip(&self.lines);
        let files = lines.filter(|(_, line)| matches!(line, DiffLine::File(_)));
        let mut files = files.map(|(number, _)| number);
        let line = if forward {
            files.find(|line| *line > top)
        } else {
            files.take_while(|line| *line < top).last()
        };
        if let Some(line) = line {
            let by = line.cast_signed() - top.cast_signed();
            self.scroll.go(PagerMove::Lines(by));
        }
    }

    /// Starts a search. An empty pattern ends the search, and `n` moves between files again.
    fn start_search(&mut self, typed: &str) {
        let before = self.search.take();
        if typed.is_empty() {
            return;
        }
        let found = before.and_then(|search| search.line());
        self.scroll.begin_pattern(found);
        match DiffSearch::new(typed, &self.lines) {
            Ok(search) => {
                self.search = Some(search);
                self.find(!self.scroll.typing.is_backward, 1);
            }
            Err(message) => {
                let is_cut = self
                    .lines
                    .iter()
                    .any(|line| matches!(line, DiffLine::Note(note) if note.ends_with(FILES_SHOWN_HEADING)));
                let among = if is_cut {
                    ", among the files that are shown"
                } else {
                    ""
                };
                self.scroll.message = Some(format!("{message}{among}"));
            }
        }
    }

    /// Moves to the `times`-th next or previous match.
    fn find(&mut self, forward: bool, times: u64) {
        let Some(search) = &mut self.search else {
            return;
        };
        let from = self.scroll.origin(search.line(), forward);
        if let Some((line, has_wrapped)) = search.find(from, forward, times) {
            self.scroll.show_match(line, has_wrapped, forward);
        }
    }

    /// Scrolls sideways until the first match of the found line is visible.
    fn reveal(&mut self, width: usize) {
        let search = self.search.as_ref();
        let Some((search, number)) = search.and_then(|search| Some((search, search.line()?)))
        else {
            return;
        };
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(line) = self.lines.get(at.saturating_sub(1)) else {
            return;
        };
        let text = line.text();
        if let Some(found) = search.pattern.find(&text) {
            let position = &mut self.scroll.position;
            position.reveal(&text, found.range(), line.room(width));
        }
    }

    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        set: Option<&CardChanges>,
        theme: &Theme,
    ) {
        self.scroll.rows = DiffView::page_rows(area);
        if std::mem::take(&mut self.scroll.reveals_match) {
            // The width within the frame.
            self.reveal(usize::from(area.width.saturating_sub(2)));
        }
        let search = self.search.as_ref();
        let keys = set.map(change_actions::keys_text).unwrap_or_default();
        let view = DiffView {
            title: &self.title,
            subtitle: &self.command,
            lines: &self.lines,
            position: &self.scroll.position,
            keys: &keys,
            pattern: search.map(|search| &search.pattern),
            matches: search.and_then(DiffSearch::count),
            found_line: search.and_then(DiffSearch::line),
            typed: self.scroll.typing.typed(),
            count: self.scroll.count.typed(),
            message: self.scroll.message.as_deref(),
        };
        view.render(area, frame.buffer_mut(), theme);
    }
}

/// Returns the lines of the diffs of a call's change sets, up to the limit. Headings mark the
/// change sets of background processes. Blocks.
pub(crate) fn read_all(
    sets: &ChangeSets,
    command_set: ChangesId,
    all: &[ChangesId],
) -> Result<Vec<DiffLine>, ChangesRefused> {
    let mut lines = Vec::new();
    let background_sets: Vec<ChangesId> = all
        .iter()
        .copied()
        .filter(|id| *id != command_set)
        .collect();
    if all.contains(&command_set) {
        lines.extend(read(sets, command_set, &[])?);
    }
    let mut add = |ids: &[ChangesId], diff: Vec<DiffLine>| {
        if diff.is_empty() {
            return;
        }
        if !lines.is_empty() {
            lines.push(DiffLine::Blank);
        }
        let heading = format!(
            "later, by the background process ({}):",
            change_actions::set_names(ids)
        );
        lines.push(DiffLine::Note(heading));
        lines.extend(diff);
    };
    // A file that several change sets touch is shown once.
    let together = if background_sets.len() > 1 {
        sets.diff_together(&background_sets)?
    } else {
        Vec::new()
    };
    add(&background_sets, diff_lines(&together));
    let shown: Vec<FileName> = together.into_iter().map(|diff| diff.file.name).collect();
    for id in background_sets {
        add(&[id], read(sets, id, &shown)?);
    }
    Ok(lines)
}

/// Returns the diff of a change set without the files `excluded`.
fn read(
    sets: &ChangeSets,
    id: ChangesId,
    excluded: &[FileName],
) -> Result<Vec<DiffLine>, ChangesRefused> {
    let root = sets.show(id)?.root;
    let mut files = sets.files(id)?;
    let before = files.len();
    files.retain(|file| !excluded.contains(&file.name));
    if files.is_empty() && before > 0 {
        return Ok(Vec::new());
    }
    let more = files.len().saturating_sub(MAX_FILES);
    let mut paths: Vec<PathBuf> = Vec::new();
    if more > 0 {
        // If there are too many files, prefers changed files: the diff of a created or deleted file
        // says little more than its name.
        files.sort_by_key(|file| {
            let repeats_name = matches!(file.change, Change::Created | Change::Deleted);
            (file.name.is_of_git(), repeats_name)
        });
    }
    if more > 0 || files.len() < before {
        let names = files.iter().filter_map(|file| file.name.bytes());
        let path = |name| Path::new(&root).join(OsString::from_vec(name));
        paths.extend(names.take(MAX_FILES).map(path));
    }
    let mut lines = diff_lines(&sets.diff(id, &paths)?);
    if more > 0 {
        lines.extend([DiffLine::Blank, DiffLine::Note(not_shown(more))]);
        // The limit is named first, because few users scroll to the end.
        let heading = format!("{MAX_FILES} of {} {FILES_SHOWN_HEADING}", files.len());
        lines.splice(0..0, [DiffLine::Note(heading), DiffLine::Blank]);
    }
    Ok(lines)
}

fn diff_lines(diffs: &[FileDiff]) -> Vec<DiffLine> {
    let mut lines = Vec::new();
    for (at, diff) in diffs.iter().enumerate() {
        if lines.len() >= MAX_LINES {
            lines.push(DiffLine::Blank);
            lines.push(DiffLine::Note(not_shown(diffs.len() - at)));
            break;
        }
        if at > 0 {
            lines.push(DiffLine::Blank);
        }
        lines.push(DiffLine::File(diff.file.clone()));
        if let Some((before, after)) = diff.mode {
            lines.push(DiffLine::Note(format!("mode {before:06o} → {after:06o}")));
        }
        let note = |text: &str| DiffLine::Note(text.to_owned());
        if diff.changed_since {
            lines.push(note(
                "changed again since: compared with the file as it is now",
            ));
        }
        if diff.blocks_commit {
            lines.push(note("changed since: this can no longer be committed"));
        }
        match &diff.text {
            DiffText::Unified(text) => {
                let from = lines.len();
                add_hunks(&mut lines, text);
                if diff.file.kind == FileKind::Symlink {
                    // The content of a link is the path of its target: positions in a path mean
                    // nothing.
                    let diff = lines.split_off(from);
                    lines.extend(
                        diff.into_iter()
                            .filter(|line| !matches!(line, DiffLine::Hunk(_))),
                    );
                }
            }
            DiffText::Binary => lines.push(note("binary")),
            DiffText::TooLarge => lines.push(note("too large to be compared")),
            DiffText::Unknown => lines.push(note("its content is not stored")),
            // A directory, an attribute, or a kind that a later version adds.
            _ => {}
        }
        let is_bare = matches!(&diff.text, DiffText::Unified(text) if text.is_empty());
        if is_bare && matches!(diff.file.change, Change::Created | Change::Deleted) {
            lines.push(note("empty"));
        }
    }
    lines
}

fn add_hunks(lines: &mut Vec<DiffLine>, text: &str) {
    // The lines before the first hunk repeat the names in the heading.
    let all: Vec<&str> = text.split('\n').collect();
    let hunks = all.iter().position(|line| line.starts_with("@@"));
    let Some(from) = hunks else { return };
    let to = all.len() - usize::from(all.last() == Some(&""));
    for (at, line) in all[from..to].iter().enumerate() {
        if lines.len() >= MAX_LINES {
            let more = to - from - at;
            let more = plural(more as u64, "more line");
            lines.push(DiffLine::Note(format!("… ({more})")));
            return;
        }
        let mut rest = line.chars();
        let sign = rest.next();
        let rest = rest.as_str();
        lines.push(match sign {
            Some('+') => DiffLine::Added(cut_line(rest)),
            Some('-') => DiffLine::Removed(cut_line(rest)),
            Some('@') => DiffLine::Hunk(cut_line(line)),
            Some('\\') => DiffLine::Note(cut_line(rest.trim_start())),
            // Unchanged lines are shown without their line ending.
            _ => DiffLine::Context(cut_line(rest.strip_suffix('\r').unwrap_or(rest))),
        });
    }
}

fn not_shown(files: usize) -> String {
    let verb = if files == 1 { "is" } else { "are" };
    format!("{} {verb} not shown", plural(files as u64, "more file"))
}

/// The part of a line that is shown.
fn cut_line(line: &str) -> String {
    let Some((end, _)) = line.char_indices().nth(MAX_LINE_CHARS) else {
        return line.to_owned();
    };
    let more = plural(line[end..].chars().count() as u64, "more character");
    format!("{} … ({more})", &line[..end])
}

#[cfg(test)]
#[path = "diff_state_tests.rs"]
mod tests;
