//! Calls' changes to files, and their denied accesses, on cards; and the diff.

use crate::dump::{dump_at_widths, of_rows};
use agent_bash_core::changes::{
    Change, Changes, ChangesBy, ChangesId, ChangesState, FileChange, FileName,
};
use agent_bash_core::sandbox::{
    Access, DenialBasis, DeniedAccess, Network, SandboxLevel, Sandboxed,
};
use agent_bash_core::{Notice, NoticeKind, Status, Timestamp, ToolResult};
use agent_bash_render::{BangCard, CardChanges, CardState, Theme, ToolCard};
use std::time::Duration;

fn set(state: ChangesState, by: ChangesBy, files: &[(Change, &str)]) -> Changes {
    let set = Changes::new(ChangesId(7), state, by, "/home/you/project");
    let file = |(change, name): &(Change, &str)| FileChange::new(FileName::new(name), *change);
    set.with_files(files.iter().map(file))
}

const SOME: &[(Change, &str)] = &[
    (Change::Created, "new.rs"),
    (Change::Created, "src/newer.rs"),
    (Change::Changed, "src/a.rs"),
    (Change::Deleted, "old.rs"),
];

/// All states by name: the change set, and the lines about it.
fn states() -> Vec<(&'static str, CardChanges)> {
    let done = set(ChangesState::Done, ChangesBy::Trace, SOME);
    let of = |state, by| CardChanges::new(set(state, by, SOME));
    let with_line = |mut changes: CardChanges, line: &str, refused| {
        let lines = if refused {
            &mut changes.action_lines
        } else {
            &mut changes.outcome
        };
        *lines = vec![line.to_owned()];
        changes.refused = refused;
        changes
    };
    let held = set(ChangesState::Held, ChangesBy::Overlay, SOME);
    let line = "[Trial 7: nothing applied yet. 2 created, 1 changed, 1 deleted: old.rs. Details: changes://7]";
    let every = [
        (Change::Renamed, "there"),
        (Change::Mode, "run.sh"),
        (Change::Mode, "configure"),
    ];
    let mut inexact = set(ChangesState::Done, ChangesBy::Trace, SOME);
    inexact.exact = false;
    vec![
        ("done", CardChanges::new(done.clone())),
        (
            "of_git",
            CardChanges::new(set(
                ChangesState::Done,
                ChangesBy::Trace,
                &[
                    (Change::Changed, "a"),
                    (Change::Changed, ".git/index"),
                    (Change::Created, ".git/objects/1"),
                ],
            )),
        ),
        (
            "held",
            with_line(CardChanges::new(held.clone()), line, false),
        ),
        (
            "held_nothing",
            CardChanges::new(set(ChangesState::Held, ChangesBy::Overlay, &[])),
        ),
        (
            "conflict",
            with_line(
                CardChanges::new(held),
                "[Trial 7 not applied: src/a.rs was changed by another process meanwhile.]",
                true,
            ),
        ),
        (
            "committed",
            with_line(
                of(ChangesState::Done, ChangesBy::Overlay),
                "[Trial 7 applied: 2 created, 1 changed, 1 deleted.]",
                false,
            ),
        ),
        ("discarded", of(ChangesState::Discarded, ChangesBy::Overlay)),
        (
            "undone",
            with_line(
                of(ChangesState::Undone, ChangesBy::Trace),
                "[Undone: 4 files as before call 7.]",
                false,
            ),
        ),
        (
            "interrupted",
            of(ChangesState::Interrupted, ChangesBy::Trace),
        ),
        ("listed", of(ChangesState::Listed, ChangesBy::Trace)),
        ("by_scan", of(ChangesState::Listed, ChangesBy::Scan)),
        ("inexact", CardChanges::new(inexact)),
        (
            "renamed_and_modes",
            CardChanges::new(set(ChangesState::Done, ChangesBy::Trace, &every)),
        ),
        (
            "no_files",
            CardChanges::new(set(ChangesState::Done, ChangesBy::Trace, &[])),
        ),
    ]
}

fn result(status: Status) -> ToolResult {
    let mut result = ToolResult::new(status, "", Timestamp(0));
    result.duration_ms = 1234.5;
    result
}

fn assert_shown(name: &str, rows: impl Fn(u16) -> Vec<ratatui::text::Line<'static>>) {
    let all = dump_at_widths(|width| of_rows(&rows(width), width));
    insta::assert_snapshot!(name, all);
}

fn card(changes: CardChanges, status: Status) -> ToolCard {
    let mut card = ToolCard::new("make install");
    card.timeout = Some(Duration::from_secs(300));
    card.output.push(b"done\n");
    card.finish(&result(status), None);
    card.changes = Some(changes);
    card
}

#[test]
fn change_set_is_drawn_as_in_its_snapshots() {
    let theme = Theme::dark();
    for (name, changes) in states() {
        let card = card(changes, Status::Exited { code: 0 });
        assert_shown(name, |width| card.rows(width, false, 0, usize::MAX, &theme));
    }
}

#[test]
fn result_sets_the_changes_of_its_card() {
    let mut of = result(Status::Exited { code: 0 });
    let set = set(ChangesState::Done, ChangesBy::Trace, SOME);
    let line = "Files: 1 deleted, 3 changed: old.rs (deleted) changes://7".to_owned();
    let id = set.id;
    of.changes = Some(set);
    of.notices = vec![Notice::from(NoticeKind::Changes { id, line })];
    let mut card = ToolCard::new("make");
    card.finish(&of, None);
    let rows = card.rows(80, false, 0, 99, &Theme::plain());
    let text: Vec<String> = rows.iter().map(ToString::to_string).collect();
    let with_line = "│ [Files: 1 deleted, 3 changed: old.rs (deleted) changes://7]";
    let times = text.iter().filter(|row| *row == with_line).count();
    assert_eq!(times, 1, "{text:#?}");
    assert_eq!(text.last().unwrap(), "╰ exit 0        1.2s · Δ +2 ~1 −1");
}

#[test]
fn outcome_stays_longest_in_narrow_cards() {
    let (_, changes) = states().swap_remove(0);
    let mut card = card(changes, Status::TimedOut { after_ms: 300_000 });
    card.elapsed = Duration::from_secs(300);
    let footer = |width: u16| {
        let rows = card.rows(width, false, 0, 99, &Theme::plain());
        rows.last().unwrap().to_string()
    };
    for (width, want) in [
        (52, "╰ timed out   5m 00s · Δ +2 ~1 −1 · Timeout: 5m 00s"),
        (44, "╰ timed out   5m 00s · Δ +2 ~1 −1"),
        (30, "╰ timed out   5m 00s"),
        (8, "╰ timed…"),
    ] {
        assert_eq!(footer(width), want, "at {width}");
    }
}

#[test]
fn bang_card_shows_its_changes_too() {
    let theme = Theme::dark();
    let (_, changes) = states().swap_remove(0);
    let mut card = BangCard::new("make install", false);
    card.state = CardState::Ended(Status::Exited { code: 2 });
    card.changes = Some(changes);
    assert_shown("bang_changes", |width| {
        card.rows(width, false, 0, usize::MAX, &theme)
    });
}

#[test]
fn denied_accesses_are_listed() {
    let theme = Theme::dark();
    let mut of = result(Status::Exited { code: 1 });
    let paths = ["/etc/hosts", "~/.ssh/id_\u{1b}[8m", "/usr/a", "/usr/b"];
    let access = |at| if at == 1 { Access::Read } else { Access::Write };
    let mut sandboxed = Sandboxed::new(SandboxLevel::WorkspaceWrite, Network::Off, None);
    sandboxed.denied = paths
        .iter()
        .enumerate()
        .map(|(at, path)| DeniedAccess {
            path: (*path).to_owned(),
            access: access(at),
            basis: DenialBasis::Inferred,
        })
        .collect();
    of.sandbox = Some(sandboxed);
    // Network connections are denied as files are, and are not shown among other notices.
    of.notices = vec![Notice::from(NoticeKind::SandboxNetwork {
        refused: 4,
        network: Network::Off,
    })];
    let mut card = ToolCard::new("make install");
    card.finish(&of, None);
    assert_shown("denied", |width| {
        card.rows(width, false, 0, usize::MAX, &theme)
    });
    of.sandbox = None;
    of.notices.clear();
    card.finish(&of, None);
    let rows = card.rows(80, false, 0, 99, &theme);
    let says = |row: &ratatui::text::Line| row.to_string().contains('⊘');
    assert!(!rows.iter().any(says), "{rows:?}");
}
