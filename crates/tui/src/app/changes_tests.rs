use super::super::tests::{NOW, app, ended_as, enters, letter, press, succeeded};
use super::super::*;
use crate::action_outcome::ActionOutcome;
use crate::change_actions::{self, Proposed};
use crate::set_work::{SetWorkDone, Wish};
use agent_bash::ChangesAct;
use agent_bash::core::changes::{
    Change, Changes, ChangesBy, ChangesState, FileChange, FileName, Undoable,
};
use crossterm::event::{KeyCode, KeyModifiers};

fn set(state: ChangesState, by: ChangesBy) -> Changes {
    let file = FileChange::new(FileName::new("a"), Change::Changed);
    let mut set = Changes::new(ChangesId(7), state, by, "/p").with_files([file]);
    set.undo = Undoable::Whole;
    set
}

/// With a card, selected, whose changes are these.
fn app_with(set: Changes) -> (App, EntryId) {
    let mut app = app(Some(true));
    enters(&mut app, "make");
    let entry = app.call.unwrap();
    let mut result = succeeded();
    result.changes = Some(set);
    let end = ended_as(result);
    app.update(Msg::Ended {
        entry,
        end,
        now: NOW,
    });
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    app.effects();
    (app, entry)
}

fn came(app: &mut App, entry: EntryId, came: SetWorkDone) {
    let (id, now) = (ChangesId(7), NOW);
    let news = Msg::Changes {
        entry,
        id,
        done: came,
        now,
    };
    app.update(news);
}

fn proposed(act: ChangesAct) -> Box<Proposed> {
    let set = set(ChangesState::Done, ChangesBy::Trace);
    Box::new(Proposed {
        act,
        id: set.id,
        then: Vec::new(),
        partial: false,
        is_late: false,
        between: Vec::new(),
        root: set.root,
        counts: set.counts,
        files: set.files,
        more: 0,
        conflicts: Vec::new(),
    })
}

const ACTS: [(char, ChangesAct); 4] = [
    ('c', ChangesAct::Commit),
    ('d', ChangesAct::Discard),
    ('u', ChangesAct::Undo),
    ('r', ChangesAct::Redo),
];

#[test]
fn keys_of_a_selected_card_do_what_can_be_done_with_its_changes() {
    for (state, by, keys) in [
        (ChangesState::Held, ChangesBy::Overlay, "cd"),
        (ChangesState::Done, ChangesBy::Overlay, "u"),
        (ChangesState::Done, ChangesBy::Trace, "u"),
        (ChangesState::Interrupted, ChangesBy::Trace, "u"),
        (ChangesState::Undone, ChangesBy::Trace, "r"),
        (ChangesState::Discarded, ChangesBy::Overlay, ""),
        (ChangesState::Listed, ChangesBy::Trace, ""),
    ] {
        for (key, act) in ACTS {
            let (mut app, _) = app_with(set(state, by));
            let effects = letter(&mut app, key, NOW);
            let is_its = keys.contains(key);
            let looks = matches!(&effects[..], [Effect::Changes { wish: Wish::Look(wanted), .. }] if *wanted == act);
            assert_eq!(looks, is_its, "{key} {state:?}: {effects:?}");
            assert!(app.prompt.is_empty(), "{key} is not typed");
            assert_eq!(
                app.message.is_none(),
                is_its,
                "{key} {state:?}: {:?}",
                app.message
            );
        }
    }
    let mut kept = set(ChangesState::Done, ChangesBy::Trace);
    kept.undo = Undoable::No;
    let (mut app, _) = app_with(kept);
    assert!(letter(&mut app, 'u', NOW).is_empty());
}

#[test]
fn what_cannot_be_done_with_changes_is_said() {
    let empty = |state, by| Changes::new(ChangesId(7), state, by, "/p");
    let mut elsewhere = empty(ChangesState::Done, ChangesBy::Trace);
    elsewhere.outside.insert("/tmp".to_owned(), 2);
    for (set, key, said) in [
        (
            set(ChangesState::Held, ChangesBy::Overlay),
            'u',
            "nothing to undo: what it would change is held back",
        ),
        (
            empty(ChangesState::Held, ChangesBy::Overlay),
            'c',
            "nothing to commit: it changed no file",
        ),
        (
            set(ChangesState::Undone, ChangesBy::Trace),
            'u',
            "nothing to undo: that is undone already",
        ),
        (
            set(ChangesState::Listed, ChangesBy::Scan),
            'u',
            "nothing to undo: only the names of the files are known",
        ),
        (
            empty(ChangesState::Done, ChangesBy::Trace),
            'u',
            "nothing to undo: no change of files is known",
        ),
        (
            elsewhere,
            'u',
            "nothing to undo: it wrote only elsewhere (2 below /tmp), and nothing of that is kept",
        ),
    ] {
        let (mut app, _) = app_with(set);
        assert!(letter(&mut app, key, NOW).is_empty());
        assert_eq!(app.message.as_deref(), Some(said));
    }
}

#[test]
fn keys_are_text_unless_a_card_is_selected_also_with_a_line_on_the_prompt() {
    let (mut app, _) = app_with(set(ChangesState::Done, ChangesBy::Trace));
    press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    assert!(letter(&mut app, 'u', NOW).is_empty());
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    let looks = letter(&mut app, 'u', NOW);
    assert!(matches!(&looks[..], [Effect::Changes { .. }]), "{looks:?}");
    // What would take the place of the line does not.
    assert!(letter(&mut app, 'e', NOW).is_empty());
    let said = "that takes the place of the line: ctrl+c clears it";
    assert_eq!(app.message.as_deref(), Some(said));
    let diff = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert!(matches!(&diff[..], [Effect::Changes { .. }]), "{diff:?}");
    assert_eq!(app.prompt.text(), "u");
    // Anything else goes on with it.
    assert!(letter(&mut app, 'x', NOW).is_empty());
    assert_eq!(
        (app.prompt.text().as_str(), app.chosen_card()),
        ("ux", None)
    );
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert!(matches!(&effects[..], [Effect::Call { .. }]), "{effects:?}");
}

#[test]
fn nothing_is_done_with_changes_before_it_was_shown_and_allowed() {
    let later = Duration::from_secs(1);
    for (key, is_done) in [('y', true), ('n', false)] {
        let (mut app, entry) = app_with(set(ChangesState::Done, ChangesBy::Trace));
        letter(&mut app, 'u', NOW);
        // While it is looked at, and until it has been there for a while, nothing answers.
        assert!(letter(&mut app, 'u', NOW).is_empty(), "one at a time");
        app.prompt.clear();
        came(
            &mut app,
            entry,
            SetWorkDone::Looked(Ok(proposed(ChangesAct::Undo))),
        );
        assert!(letter(&mut app, key, Duration::from_millis(500)).is_empty());
        let effects = letter(&mut app, key, later);
        let acts = matches!(&effects[..], [Effect::Changes { wish: Wish::Act(wanted), .. }] if wanted.act == ChangesAct::Undo);
        assert_eq!(acts, is_done, "{effects:?}");
        assert!(app.prompt.is_empty(), "no key went elsewhere");
        let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
        assert_eq!(changes.aside, if is_done { &["Undoing…"][..] } else { &[] });
        if is_done {
            let said = ActionOutcome {
                sets: vec![set(ChangesState::Undone, ChangesBy::Trace)],
                lines: vec!["[Undone: 1 file as before call 7.]".to_owned()],
                refused: false,
                ..ActionOutcome::default()
            };
            came(&mut app, entry, SetWorkDone::Done(Box::new(said)));
            let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
            assert_eq!(changes.set.state, ChangesState::Undone);
            assert_eq!(changes.outcome, ["[Undone: 1 file as before call 7.]"]);
            let effects = letter(&mut app, 'r', later);
            assert!(
                matches!(&effects[..], [Effect::Changes { .. }]),
                "{effects:?}"
            );
        }
    }
}

/// Of what is undone in part, the rest can be undone, and the part be done again; and that it was undone stays on the card
/// while something else is said.
#[test]
fn what_is_undone_in_part_is_said_until_something_else_is_done() {
    let (mut app, entry) = app_with(set(ChangesState::Done, ChangesBy::Trace));
    let said = |app: &mut App, line: &str, refused| {
        let mut set = set(ChangesState::Done, ChangesBy::Trace);
        set.undone_in_part = true;
        let said = ActionOutcome {
            sets: vec![set],
            lines: vec![line.to_owned()],
            refused,
            ..ActionOutcome::default()
        };
        let came_of_it = if refused {
            SetWorkDone::Looked(Err(Box::new(said)))
        } else {
            SetWorkDone::Done(Box::new(said))
        };
        came(app, entry, came_of_it);
        let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
        (changes.outcome.clone(), changes.aside.clone())
    };
    let line = |text: &str| vec![text.to_owned()];
    let (undone, not) = ("[Undone: 5 files]", "[Not undone: b was changed since.]");
    assert_eq!(said(&mut app, undone, false), (line(undone), vec![]));
    for act in [ChangesAct::Undo, ChangesAct::Redo] {
        let key = change_actions::key(act);
        let effects = letter(&mut app, key, NOW);
        let looks = matches!(&effects[..], [Effect::Changes { wish: Wish::Look(wanted), .. }] if *wanted == act);
        assert!(looks, "{key}: {effects:?}");
        assert_eq!(said(&mut app, not, true), (line(undone), line(not)));
    }
    let again = "[Done again: 5 files]";
    assert_eq!(said(&mut app, again, false), (line(again), vec![]));
}

#[test]
fn why_something_cannot_be_done_is_on_the_card() {
    let (mut app, entry) = app_with(set(ChangesState::Held, ChangesBy::Overlay));
    letter(&mut app, 'c', NOW);
    let said = ActionOutcome {
        sets: Vec::new(),
        lines: vec!["[Trial 7 not applied]".to_owned()],
        refused: true,
        is_stale: true,
        ..ActionOutcome::default()
    };
    came(&mut app, entry, SetWorkDone::Looked(Err(Box::new(said))));
    let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
    assert!(changes.refused);
    assert_eq!(changes.aside, ["[Trial 7 not applied]", super::TRY_AGAIN]);
    assert_eq!(changes.set.state, ChangesState::Held);
    let effects = letter(&mut app, 'd', NOW);
    assert!(
        matches!(&effects[..], [Effect::Changes { .. }]),
        "it can be tried again"
    );
}

/// What came later is taken back before what was first, and done again after it.
#[test]
fn the_keys_of_a_card_are_for_what_it_left_running_did_as_well() {
    let late = |id, state| {
        let mut late = set(state, ChangesBy::Trace);
        late.id = ChangesId(id);
        (late, false)
    };
    let wanted = |effects: &[Effect]| match effects {
        [
            Effect::Changes {
                id,
                wish: Wish::Look(_),
                ..
            },
        ] => vec![id.0],
        [
            Effect::Changes {
                id,
                wish: Wish::LookLater(_, all),
                ..
            },
        ] => {
            assert_eq!(all[0], *id);
            all.iter().map(|id| id.0).collect()
        }
        _ => Vec::new(),
    };
    let (done, undone) = (ChangesState::Done, ChangesState::Undone);
    let other = |id, state| {
        let file = FileChange::new(FileName::new("b"), Change::Changed);
        (late(id, state).0.with_files([file]), false)
    };
    let running = ChangesState::Running;
    let (both, none) = (vec![late(8, done), late(9, done)], vec![]);
    for (own, sets, undo, redo) in [
        (done, both, vec![9, 8], none.clone()),
        // Its own, which has not changed these.
        (done, vec![other(8, running)], vec![7], none.clone()),
        (
            done,
            vec![late(8, done), other(9, running)],
            vec![8],
            none.clone(),
        ),
        // What is changed by what still runs as well.
        (
            done,
            vec![late(8, done), late(9, running)],
            none.clone(),
            none.clone(),
        ),
        (
            done,
            vec![late(8, undone), late(9, undone)],
            vec![7],
            vec![8, 9],
        ),
        (
            undone,
            vec![late(8, undone), late(9, undone)],
            none,
            vec![7],
        ),
    ] {
        for (key, ids) in [('u', undo), ('r', redo)] {
            let (mut app, entry) = app_with(set(own, ChangesBy::Trace));
            app.transcript.late_is(entry, sets.clone());
            assert_eq!(wanted(&letter(&mut app, key, NOW)), ids, "{key} {sets:?}");
        }
    }
    // One that changed nothing itself has a diff, and its question names what it is about.
    let empty = Changes::new(ChangesId(7), done, ChangesBy::Trace, "/p");
    let (mut app, entry) = app_with(empty);
    assert!(press(&mut app, KeyCode::Enter, KeyModifiers::NONE).is_empty());
    app.transcript.late_is(entry, vec![late(8, done)]);
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    let is_its = matches!(&effects[..], [Effect::Changes { wish: Wish::Diff(late), .. }] if *late == [ChangesId(8)]);
    assert!(is_its, "{effects:?}");
    let said = ActionOutcome {
        sets: vec![late(8, undone).0],
        lines: Vec::new(),
        ..ActionOutcome::default()
    };
    came(&mut app, entry, SetWorkDone::Done(Box::new(said)));
    let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
    assert_eq!(
        (changes.set.id.0, changes.background[0].0.state),
        (7, undone)
    );
}

/// What may go on to change files is ended first, and where that is found out by a refusal, it says so.
#[test]
fn what_goes_on_is_ended_before_it_is_taken_back() {
    let (done, running) = (ChangesState::Done, ChangesState::Running);
    let late = |id, state| {
        let mut late = set(state, ChangesBy::Trace);
        late.id = ChangesId(id);
        (late, false)
    };
    let other = |id, state| {
        let file = FileChange::new(FileName::new("b"), Change::Changed);
        (late(id, state).0.with_files([file]), false)
    };
    let empty = Changes::new(ChangesId(7), done, ChangesBy::Trace, "/p");
    let (mut app, entry) = app_with(empty);
    let going_on = vec![late(8, ChangesState::Running)];
    app.transcript.late_is(entry, going_on);
    assert!(letter(&mut app, 'u', NOW).is_empty());
    let said = app.message.unwrap_or_default();
    assert!(said.contains("goes on (ctrl+g ends it)"), "{said}");
    let (mut app, entry) = app_with(set(done, ChangesBy::Trace));
    for (sets, is_said) in [
        (vec![late(8, done)], false),
        (vec![late(8, done), other(9, running)], true),
    ] {
        app.transcript.late_is(entry, sets);
        letter(&mut app, 'u', NOW);
        let said = ActionOutcome {
            lines: vec!["[Not undone: b was changed since.]".to_owned()],
            refused: true,
            ..ActionOutcome::default()
        };
        came(&mut app, entry, SetWorkDone::Looked(Err(Box::new(said))));
        let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
        let is_there = changes
            .aside
            .iter()
            .any(|line| line == change_actions::MAY_GO_ON);
        assert_eq!(is_there, is_said, "{:?}", changes.aside);
    }
}

#[test]
fn the_diff_of_a_selected_card_is_opened_and_its_keys_are_the_cards() {
    let (mut app, entry) = app_with(set(ChangesState::Done, ChangesBy::Trace));
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert!(
        matches!(
            &effects[..],
            [Effect::Changes {
                wish: Wish::Diff(late),
                ..
            }] if *late == [ChangesId(7)]
        ),
        "{effects:?}"
    );
    came(&mut app, entry, SetWorkDone::Diff(Ok(Vec::new())));
    assert!(letter(&mut app, 'x', NOW).is_empty() && app.diff.is_some());
    let effects = letter(&mut app, 'u', NOW);
    assert!(
        matches!(
            &effects[..],
            [Effect::Changes {
                wish: Wish::Look(_),
                ..
            }]
        ),
        "{effects:?}"
    );
    letter(&mut app, 'q', NOW);
    assert!(app.diff.is_none() && app.prompt.is_empty());
    // What is gone has none.
    let (mut app, _) = app_with(set(ChangesState::Discarded, ChangesBy::Overlay));
    assert!(press(&mut app, KeyCode::Enter, KeyModifiers::NONE).is_empty());
    assert_eq!(
        app.message.as_deref(),
        Some("what it changed was discarded")
    );
}

/// One question for all of them; where that ends at one of them, the card says what was done, and what was not.
#[test]
fn several_sets_by_what_went_on_are_one_thing() {
    let mut proposed = *proposed(ChangesAct::Undo);
    (proposed.id, proposed.then) = (ChangesId(123), vec![ChangesId(121), ChangesId(119)]);
    proposed.is_late = true;
    let asked = "Undo what went on did later (changes 119, 121, 123)?";
    assert_eq!(proposed.title(), asked);
    proposed.partial = true;
    let asked = "Undo the rest of what went on did later (changes 119, 121, 123)?";
    assert_eq!(proposed.title(), asked);
    let late = |id, state| {
        let mut late = set(state, ChangesBy::Trace);
        late.id = ChangesId(id);
        late
    };
    let (done, undone) = (ChangesState::Done, ChangesState::Undone);
    let (mut app, entry) = app_with(set(done, ChangesBy::Trace));
    let all = [119, 121].map(|id| (late(id, done), false)).to_vec();
    app.transcript.late_is(entry, all);
    let line = |text: &str| vec![text.to_owned()];
    let (said, not_done) = ("[Undone: 1 file]", "[Not undone: a was changed since.]");
    let of_both = ActionOutcome {
        sets: vec![late(121, undone), late(119, done)],
        lines: line(said),
        not_done: line(not_done),
        ..ActionOutcome::default()
    };
    came(&mut app, entry, SetWorkDone::Done(Box::new(of_both)));
    let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
    let states: Vec<_> = changes.sets().map(|set| set.state).collect();
    assert_eq!(states, [done, done, undone]);
    assert_eq!(
        (&changes.outcome, &changes.aside),
        (&line(said), &line(not_done))
    );
    assert!(changes.refused);
}

/// By another program, or by the same one as a command here.
#[test]
fn trial_decided_elsewhere_is_updated() {
    let held = || set(ChangesState::Held, ChangesBy::Overlay);
    let looks = |effects: Vec<Effect>| -> Vec<u64> {
        let looked = effects.into_iter().filter_map(|effect| match effect {
            Effect::LookAtUndecided(all) => Some(all),
            _ => None,
        });
        looked.flatten().map(|(_, id)| id.0).collect()
    };
    for (state, said) in [
        (ChangesState::Done, "[Trial 7 was committed elsewhere.]"),
        (
            ChangesState::Discarded,
            "[Trial 7 was discarded elsewhere.]",
        ),
    ] {
        let (mut app, entry) = app_with(held());
        // Whenever a command has ended, and when it is selected.
        press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
        enters(&mut app, "agent-bash changes");
        let call = app.call.unwrap();
        let (end, now) = (ended_as(succeeded()), NOW);
        app.update(Msg::Ended {
            entry: call,
            end,
            now,
        });
        assert_eq!(looks(app.effects()), [7]);
        let f6 = press(&mut app, KeyCode::F(6), KeyModifiers::NONE);
        assert_eq!(looks(f6), [7]);
        let news = |set| Msg::Undecided(vec![(entry, set)]);
        let now = || Some(Box::new(set(state, ChangesBy::Overlay)));
        // One that is not there any more, and one that waits still.
        app.update(news(None));
        app.update(news(Some(Box::new(held()))));
        assert_eq!(app.transcript.undecided().count(), 1);
        app.update(news(now()));
        assert_eq!(app.transcript.undecided().count(), 0);
        let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
        assert_eq!(
            (changes.set.state, &changes.outcome[..]),
            (state, &[said.to_owned()][..])
        );
        let message = app.message.take().unwrap_or_default();
        assert!(said.contains(&message) && !message.is_empty(), "{message}");
        // An older look does not bring it back, nor does one while it is being decided here.
        app.update(news(Some(Box::new(held()))));
        assert_eq!(app.transcript.undecided().count(), 0);
        let (mut app, entry) = app_with(held());
        letter(&mut app, 'c', NOW);
        app.update(Msg::Undecided(vec![(entry, now())]));
        assert_eq!(app.transcript.undecided().count(), 1);
    }
}
