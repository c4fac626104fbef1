use super::*;
use agent_bash::core::changes::{
    Change, Changes, ChangesBy, ChangesId, ChangesState, FileChange, FileName,
};
use agent_bash::core::{JobId, ScriptEnding, Status, Survivor, Timestamp};
use agent_bash::exec::{Job, JobKind, JobState};
use agent_bash::process::supervisor::JobEnd;
use agent_bash::sink::{LiveKind, LiveOptions};
use agent_bash_render::{BangCard, CardChanges, CardState, FooterLine, ToolCard};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn note(text: &str) -> Card {
    let lines = text.lines().map(|line| Line::from(line.to_owned()));
    Card::Note(Note::Lines(lines.collect()))
}

fn shown(transcript: &mut Transcript, width: u16, height: u16) -> Vec<String> {
    shown_of(transcript, width, height, height)
}

fn shown_of(transcript: &mut Transcript, width: u16, height: u16, window: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let draw = |frame: &mut Frame<'_>| {
        let area = frame.area();
        transcript.draw(frame, area, window, Duration::ZERO, &Theme::plain());
    };
    terminal.draw(draw).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(width));
    rows.map(|row| {
        row.iter()
            .map(ratatui::buffer::Cell::symbol)
            .collect::<String>()
            .trim_end()
            .to_owned()
    })
    .collect()
}

#[test]
fn newest_is_at_the_bottom_and_a_scrolled_view_stays() {
    let mut transcript = Transcript::default();
    for text in ["a", "b\nc", "d"] {
        transcript.add(note(text), Duration::ZERO);
    }
    assert_eq!(
        shown(&mut transcript, 9, 9),
        ["a", "", "b", "c", "", "d", "", "", ""]
    );
    assert_eq!(shown(&mut transcript, 9, 4), ["c", "", "d", ""]);
    transcript.scroll(1);
    assert_eq!(shown(&mut transcript, 9, 4), ["b", "c", "", "d"]);
    transcript.add(note("e"), Duration::ZERO);
    assert_eq!(shown(&mut transcript, 9, 4), ["b", "c", "", "d"]);
    assert_eq!(transcript.rows_below(), 3);
    transcript.go_to_top();
    assert_eq!(shown(&mut transcript, 9, 4), ["a", "", "b", "c"]);
    transcript.scroll(99);
    assert_eq!(shown(&mut transcript, 9, 4), ["a", "", "b", "c"]);
    transcript.go_to_bottom();
    assert_eq!(shown(&mut transcript, 9, 4), ["d", "", "e", ""]);
}

#[test]
fn binary_output_is_not_shown_while_it_arrives() {
    let live = LiveUpdates::new(LiveOptions::new(LiveKind::Raw, 256 << 10));
    let mut transcript = Transcript::default();
    let card = Card::Bang(Box::new(BangCard::new("cat x", false)));
    let id = transcript.start(card, &live, Waker::noop().clone(), Duration::ZERO);
    let mut screen_after = |bytes: &[u8]| {
        live.push(bytes);
        shown(&mut transcript, 40, 7)[2..4]
            .join("|")
            .trim()
            .to_owned()
    };
    // NULs as separators, and an unterminated string sequence.
    assert_eq!(
        screen_after(b"a\0b\x1bPq\n"),
        "a␀b|  running        0ms · esc to cancel"
    );
    let noise: Vec<u8> = (128..=255).collect();
    assert_eq!(
        screen_after(&noise),
        "[Binary output: 135B, not shown]|  running        0ms · esc to cancel"
    );
    // The output was the beginning of a text.
    let text = [b"\n", &[b'x'; 500][..], b"\nend\n"].concat();
    assert!(screen_after(&text).ends_with("x|  end"));
    transcript.change(id, CardEntry::finish);
    assert!(shown(&mut transcript, 40, 20).contains(&"  end".to_owned()));
}

#[test]
fn commands_are_selected_and_notes_are_not() {
    let mut transcript = Transcript::default();
    let tool = |command| Card::Tool(Box::new(ToolCard::new(command)));
    transcript.add(note("hello"), Duration::ZERO);
    let first = transcript.add(tool("one"), Duration::ZERO);
    let second = transcript.add(tool("two"), Duration::ZERO);
    assert_eq!(transcript.current().unwrap().id, second);
    for (backwards, want) in [
        (false, None),
        (true, Some(second)),
        (true, Some(first)),
        (true, Some(first)),
        (false, Some(second)),
        (false, None),
    ] {
        transcript.select(backwards);
        assert_eq!(transcript.selected, want);
    }
    transcript.select(true);
    transcript.select(true);
    assert_eq!(transcript.current().unwrap().command(), "one");
    transcript.clear();
    assert!(transcript.current().is_none());
}

fn tool(command: &str, lines: usize) -> Card {
    let mut card = ToolCard::new(command);
    card.state = CardState::Ended(Status::Exited { code: 0 });
    for line in 1..=lines {
        card.output.push(format!("{command}{line}\n").as_bytes());
    }
    Card::Tool(Box::new(card))
}

fn row_of(screen: &[String], text: &str) -> Option<usize> {
    screen.iter().position(|row| row.contains(text))
}

#[test]
fn visible_cards_stay_in_place_while_heights_change() {
    let mut transcript = Transcript::default();
    let first = transcript.add(tool("first", 30), Duration::ZERO);
    let middle = transcript.add(tool("middle", 3), Duration::ZERO);
    transcript.add(tool("last", 30), Duration::ZERO);
    shown(&mut transcript, 40, 12);
    let toggle = |transcript: &mut Transcript, id| {
        transcript.hold_selected();
        transcript.change(id, |entry| entry.expanded = !entry.expanded);
    };
    // The selected card stays if its beginning is visible, however heights change.
    transcript.select(true);
    transcript.select(true);
    let at = row_of(&shown(&mut transcript, 40, 12), "$ middle");
    assert!(at.is_some());
    for changed in [middle, middle, first, first] {
        toggle(&mut transcript, changed);
        assert_eq!(
            row_of(&shown(&mut transcript, 40, 12), "$ middle"),
            at,
            "{changed:?}"
        );
    }
    // Without a selection, the first visible card stays. A card that becomes too short is shown
    // from its beginning.
    transcript.deselect();
    transcript.go_to_top();
    shown(&mut transcript, 40, 12);
    toggle(&mut transcript, first);
    shown(&mut transcript, 40, 12);
    transcript.scroll(-20);
    let screen = shown(&mut transcript, 40, 12);
    assert_eq!(row_of(&screen, "first20"), Some(0), "{screen:?}");
    toggle(&mut transcript, first);
    assert_eq!(row_of(&shown(&mut transcript, 40, 12), "$ first"), Some(0));
}

#[test]
fn growing_selected_card_is_shown_as_far_as_it_fits() {
    let mut transcript = Transcript::default();
    transcript.add(tool("first", 30), Duration::ZERO);
    let last = transcript.add(tool("last", 6), Duration::ZERO);
    shown(&mut transcript, 40, 12);
    transcript.select(true);
    let before = shown(&mut transcript, 40, 12);
    for _ in 0..2 {
        transcript.hold_selected();
        transcript.change(last, |entry| {
            if let Card::Tool(card) = &mut entry.card {
                card.folded = !card.folded;
            }
        });
        let after = shown(&mut transcript, 40, 12);
        assert!(row_of(&after, "$ last").is_some(), "{after:?}");
    }
    assert_eq!(shown(&mut transcript, 40, 12), before);
    // A card that does not fit is shown from its beginning.
    for (lines, at_top) in [(7, false), (30, true)] {
        transcript.hold_selected();
        transcript.change(last, |entry| {
            entry.card = tool("last", lines);
            entry.expanded = true;
        });
        let after = shown(&mut transcript, 40, 12);
        let at = row_of(&after, "$ last");
        assert_eq!(at == Some(0), at_top, "{after:?}");
        assert!(at.is_some(), "{after:?}");
        assert!(row_of(&after, "last7").is_some(), "{after:?}");
    }
}

#[test]
fn growing_prompt_neither_moves_nor_collapses_cards() {
    let mut transcript = Transcript::default();
    for command in ["first", "middle", "last"] {
        transcript.add(tool(command, 30), Duration::ZERO);
    }
    shown_of(&mut transcript, 40, 20, 20);
    transcript.scroll(9);
    let before = shown_of(&mut transcript, 40, 20, 20);
    for height in [19, 14, 9, 20] {
        let after = shown_of(&mut transcript, 40, height, 20);
        assert_eq!(after, before[..usize::from(height)], "{height}");
    }
}

#[test]
fn dropped_cards_leave_a_notice_and_trials_are_not_dropped() {
    let mut transcript = Transcript::default();
    let file = FileChange::new(FileName::new("a"), Change::Changed);
    let (held, by) = (ChangesState::Held, ChangesBy::Overlay);
    let set = Changes::new(ChangesId(7), held, by, "/p").with_files([file]);
    let mut trial = ToolCard::new("trial");
    trial.changes = Some(CardChanges::new(set));
    let trial = transcript.add(Card::Tool(Box::new(trial)), Duration::ZERO);
    let second = transcript.add(tool("second", 1), Duration::ZERO);
    for _ in 2..MAX_ENTRIES {
        transcript.add(tool("other", 0), Duration::ZERO);
    }
    assert!(transcript.get(second).is_some());
    transcript.add(tool("over", 0), Duration::ZERO);
    assert!(transcript.get(second).is_none());
    assert!(transcript.get(trial).is_some(), "it waits for a decision");
    transcript.go_to_top();
    let screen = shown(&mut transcript, 40, 12);
    assert_eq!(screen[..2], DROPPED_TEXT);
    assert!(screen[3].contains("$ trial"), "{screen:?}");
    transcript.clear();
    assert!(transcript.get(trial).is_some());
    // Large cards count by their size.
    let large = transcript.add(tool("large", 1), Duration::ZERO);
    transcript.change(large, |entry| entry.held_bytes = MAX_OUTPUT_BYTES + 1);
    transcript.add(tool("next", 1), Duration::ZERO);
    assert!(transcript.get(large).is_none());
}

#[test]
fn terminal_is_offered_to_a_command_that_asks_for_one_but_not_to_a_trial() {
    for (is_trial, is_offered) in [(false, true), (true, false)] {
        let live = LiveUpdates::new(LiveOptions::new(LiveKind::Raw, 256 << 10));
        let mut transcript = Transcript::default();
        let card = Card::Tool(Box::new(ToolCard::new("tty")));
        let id = transcript.start(card, &live, Waker::noop().clone(), Duration::ZERO);
        transcript.change(id, |entry| entry.is_trial = is_trial);
        live.push(b"not a tty\n");
        let screen = shown(&mut transcript, 60, 12).join("\n");
        assert_eq!(screen.contains("f5 runs it again"), is_offered, "{screen}");
    }
}

#[test]
fn survivor_is_marked_as_ended() {
    let mut transcript = Transcript::default();
    let survivor = |pid, job| {
        let mut survivor = Survivor::new(pid, "sleep", false);
        survivor.job = Some(JobId(job));
        survivor
    };
    let mut card = BangCard::new("x", false);
    card.state = CardState::Ended(Status::Exited { code: 0 });
    let left = [(5, "1"), (6, "1"), (7, "2"), (8, "3")];
    let left = left.map(|(pid, job)| survivor(pid, job.to_owned()));
    card.footer = FooterLine::survivors(&left[..3]);
    transcript.add(Card::Bang(Box::new(card)), Duration::ZERO);
    let job = |id: &str, state| Job {
        id: JobId(id.to_owned()),
        kind: JobKind::Adopted,
        command: "x".to_owned(),
        cwd: "/".to_owned(),
        pid: 5,
        pgid: 5,
        output: None,
        stdin: false,
        state,
        started_at: Timestamp(0),
        adopted_at: Some(Timestamp(4000)),
        is_asked_to_end: false,
        sandbox: None,
        unrecorded: None,
        remaining: Vec::new(),
        listens_on: Vec::new(),
    };
    let ended = || {
        JobState::Ended(JobEnd {
            ending: ScriptEnding::AllEnded,
            ended_at: Timestamp(5001),
            dropped_bytes: 0,
            has_remaining: false,
            length: 0,
        })
    };
    let footer = |transcript: &mut Transcript| -> Vec<bool> {
        let screen = shown(transcript, 60, 12);
        let rows = ["pid 5", "pid 6", "pid 7"].map(|pid| row_of(&screen, pid).unwrap());
        let has_ended = |row: usize| screen[row].contains("has ended");
        rows.into_iter().map(has_ended).collect()
    };
    let now = Timestamp(9000);
    let runs = [job("1", JobState::Running), job("2", JobState::Running)];
    transcript.update_jobs(&runs, now);
    assert_eq!(footer(&mut transcript), [false; 3]);
    // A job may end before the last of its processes.
    let mut first = job("1", ended());
    first.remaining = vec![survivor(6, "1".to_owned())];
    transcript.update_jobs(&[first, job("2", JobState::Running)], now);
    assert_eq!(footer(&mut transcript), [true, false, false]);
    transcript.update_jobs(&[job("1", ended()), job("2", ended())], now);
    assert_eq!(footer(&mut transcript), [true; 3]);
    // Jobs that ended within a second are hidden. Until that is known, a survivor is hidden too,
    // unless the command itself starts a background process.
    let mut short = job("3", ended());
    if let JobState::Ended(end) = &mut short.state {
        end.ended_at = Timestamp(4999);
    }
    let young = || job("3", JobState::Running);
    for (leaves_jobs, seen, at, want) in [
        (false, young(), 4900, [false, false]),
        (false, short.clone(), 5000, [false, false]),
        (false, young(), 5000, [false, true]),
        (false, job("3", ended()), 6000, [false, true]),
        (true, young(), 4900, [true, true]),
        (true, short, 5000, [true, false]),
    ] {
        let mut transcript = Transcript::default();
        let mut card = BangCard::new("git commit", false);
        card.state = CardState::Ended(Status::Exited { code: 0 });
        card.footer = FooterLine::survivors(&left[3..]);
        let id = transcript.add(Card::Bang(Box::new(card)), Duration::ZERO);
        transcript.change(id, |entry| {
            entry.starts_background_jobs = leaves_jobs;
            entry.hold_back_survivors();
        });
        let mut is_shown = || row_of(&shown(&mut transcript, 60, 20), "pid 8").is_some();
        let before = is_shown();
        transcript.update_jobs(&[seen], Timestamp(at));
        let after = row_of(&shown(&mut transcript, 60, 20), "pid 8").is_some();
        assert_eq!([before, after], want, "{leaves_jobs} {at}");
    }
}
