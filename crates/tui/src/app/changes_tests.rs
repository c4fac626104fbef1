use super::super::tests::{
    NOW, app, end_call, ended_as, ended_with, enters, letter, press, succeeded,
};
use super::super::*;
use crate::action_outcome::ActionOutcome;
use crate::change_actions::{self, ProposedAction};
use crate::change_work::{ChangeWork, ChangeWorkResult};
use agent_bash::ChangesAct;
use agent_bash::change_sets::ChangesScope;
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

/// An app with a selected card that has these changes.
fn app_with(set: Changes) -> (App, EntryId) {
    let mut app = app(Some(true));
    enters(&mut app, "make");
    let entry = app.call.unwrap();
    let mut result = succeeded();
    result.changes = Some(set);
    ended_with(&mut app, entry, ended_as(result));
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    app.take_effects();
    (app, entry)
}

fn receive(app: &mut App, entry: EntryId, done: ChangeWorkResult) {
    let (id, now) = (ChangesId(7), NOW);
    let msg = Msg::Changes {
        entry,
        id,
        done,
        now,
    };
    app.update(msg);
}

/// Receives the outcome of an action: refused in its plan, or carried out.
fn receive_outcome(app: &mut App, entry: EntryId, outcome: ActionOutcome) {
    let outcome = Box::new(outcome);
    let done = if outcome.refused {
        ChangeWorkResult::Planned(Err(outcome))
    } else {
        ChangeWorkResult::ActionDone(outcome)
    };
    receive(app, entry, done);
}

/// The action that these effects plan.
fn planned(effects: &[Effect]) -> Option<ChangesAct> {
    match effects {
        [
            Effect::Changes {
                work: ChangeWork::Plan(act),
                ..
            },
        ] => Some(*act),
        _ => None,
    }
}

/// A change set of a background process of the card's command.
fn background(id: u64, state: ChangesState) -> (Changes, bool) {
    let mut background = set(state, ChangesBy::Trace);
    background.id = ChangesId(id);
    (background, false)
}

/// A change set of a background process that changed another file than the command.
fn other_file(id: u64, state: ChangesState) -> (Changes, bool) {
    let file = FileChange::new(FileName::new("b"), Change::Changed);
    (background(id, state).0.with_files([file]), false)
}

fn proposed(act: ChangesAct) -> Box<ProposedAction> {
    let set = set(ChangesState::Done, ChangesBy::Trace);
    Box::new(ProposedAction {
        counts: set.counts,
        ..ProposedAction::of(act, set.id, set.root, set.files)
    })
}

const ACTS: [(char, ChangesAct); 4] = [
    ('c', ChangesAct::Commit),
    ('d', ChangesAct::Discard),
    ('u', ChangesAct::Undo),
    ('r', ChangesAct::Redo),
];

#[test]
fn keys_of_a_selected_card_carry_out_available_actions() {
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
            let looks = planned(&effects) == Some(act);
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
    let mut stored = set(ChangesState::Done, ChangesBy::Trace);
    stored.undo = Undoable::No;
    let (mut app, _) = app_with(stored);
    assert!(letter(&mut app, 'u', NOW).is_empty());
}

#[test]
fn unavailable_action_says_why() {
    let empty = |state, by| Changes::new(ChangesId(7), state, by, "/p");
    let mut elsewhere = empty(ChangesState::Done, ChangesBy::Trace);
    elsewhere.outside.insert("/tmp".to_owned(), 2);
    for (set, key, outcome) in [
        (
            set(ChangesState::Held, ChangesBy::Overlay),
            'u',
            "changes 7 cannot be undone: nothing of them was applied yet",
        ),
        (
            empty(ChangesState::Held, ChangesBy::Overlay),
            'c',
            "nothing to commit: it changed no file",
        ),
        (
            set(ChangesState::Undone, ChangesBy::Trace),
            'u',
            "changes 7 cannot be undone: they were undone",
        ),
        (
            set(ChangesState::Listed, ChangesBy::Scan),
            'u',
            "changes 7 cannot be undone: they were scanned, not traced, so only names are known",
        ),
        (
            empty(ChangesState::Done, ChangesBy::Trace),
            'u',
            "nothing to undo: no changes are recorded",
        ),
        (
            elsewhere,
            'u',
            "nothing to undo: it wrote only outside of the recorded directory (2 below /tmp)",
        ),
    ] {
        let (mut app, _) = app_with(set);
        assert!(letter(&mut app, key, NOW).is_empty());
        assert_eq!(app.message.as_deref(), Some(outcome));
    }
}

#[test]
fn keys_are_text_unless_a_card_is_selected_even_with_a_line_on_the_prompt() {
    let (mut app, _) = app_with(set(ChangesState::Done, ChangesBy::Trace));
    press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    assert!(letter(&mut app, 'u', NOW).is_empty());
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    let looks = letter(&mut app, 'u', NOW);
    assert!(matches!(&looks[..], [Effect::Changes { .. }]), "{looks:?}");
    // A key that would replace the line does not act.
    assert!(letter(&mut app, 'e', NOW).is_empty());
    let outcome = "the command would replace the line: ctrl+c clears the line";
    assert_eq!(app.message.as_deref(), Some(outcome));
    let diff = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert!(matches!(&diff[..], [Effect::Changes { .. }]), "{diff:?}");
    assert_eq!(app.prompt.text(), "u");
    // Any other key continues the line.
    assert!(letter(&mut app, 'x', NOW).is_empty());
    assert_eq!(
        (app.prompt.text().as_str(), app.focused_card()),
        ("ux", None)
    );
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert!(matches!(&effects[..], [Effect::Call { .. }]), "{effects:?}");
}

#[test]
fn action_is_carried_out_only_after_its_question_was_shown_and_confirmed() {
    let later = Duration::from_secs(1);
    for (key, is_done) in [('y', true), ('n', false)] {
        let (mut app, entry) = app_with(set(ChangesState::Done, ChangesBy::Trace));
        letter(&mut app, 'u', NOW);
        // While the plan is made, and until the question was shown for a while, no key answers.
        assert!(letter(&mut app, 'u', NOW).is_empty(), "one at a time");
        app.prompt.clear();
        let plan = ChangeWorkResult::Planned(Ok(proposed(ChangesAct::Undo)));
        receive(&mut app, entry, plan);
        assert!(letter(&mut app, key, Duration::from_millis(500)).is_empty());
        let effects = letter(&mut app, key, later);
        let acts = matches!(&effects[..], [Effect::Changes { work: ChangeWork::Act(wanted), .. }] if wanted.act == ChangesAct::Undo);
        assert_eq!(acts, is_done, "{effects:?}");
        assert!(app.prompt.is_empty(), "no key went elsewhere");
        let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
        assert_eq!(
            changes.action_lines,
            if is_done { &["Undoing…"][..] } else { &[] }
        );
        if is_done {
            let outcome = ActionOutcome {
                sets: vec![set(ChangesState::Undone, ChangesBy::Trace)],
                lines: vec!["[Undone: 1 file as before call 7.]".to_owned()],
                refused: false,
                ..ActionOutcome::default()
            };
            receive_outcome(&mut app, entry, outcome);
            let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
            assert_eq!(changes.set.state, ChangesState::Undone);
            assert_eq!(changes.outcome, ["[Undone: 1 file as before call 7.]"]);
            let effects = letter(&mut app, 'r', later);
            assert_eq!(planned(&effects), Some(ChangesAct::Redo), "{effects:?}");
        }
    }
}

/// A partly undone change set allows an undo of the rest and a redo of the part. The card shows
/// that it was undone until another action.
#[test]
fn partial_undo_is_shown_until_another_action() {
    let (mut app, entry) = app_with(set(ChangesState::Done, ChangesBy::Trace));
    let outcome = |app: &mut App, line: &str, refused| {
        let mut set = set(ChangesState::Done, ChangesBy::Trace);
        set.undone_in_part = true;
        let outcome = ActionOutcome {
            sets: vec![set],
            lines: vec![line.to_owned()],
            refused,
            ..ActionOutcome::default()
        };
        receive_outcome(app, entry, outcome);
        let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
        (changes.outcome.clone(), changes.action_lines.clone())
    };
    let line = |text: &str| vec![text.to_owned()];
    let (undone, not) = ("[Undone: 5 files]", "[Not undone: b was changed since.]");
    assert_eq!(outcome(&mut app, undone, false), (line(undone), vec![]));
    for act in [ChangesAct::Undo, ChangesAct::Redo] {
        let key = change_actions::key(act);
        let effects = letter(&mut app, key, NOW);
        assert_eq!(planned(&effects), Some(act), "{key}: {effects:?}");
        assert_eq!(outcome(&mut app, not, true), (line(undone), line(not)));
    }
    let again = "[Done again: 5 files]";
    assert_eq!(outcome(&mut app, again, false), (line(again), vec![]));
}

#[test]
fn refusal_is_shown_on_the_card() {
    let (mut app, entry) = app_with(set(ChangesState::Held, ChangesBy::Overlay));
    letter(&mut app, 'c', NOW);
    let outcome = ActionOutcome {
        sets: Vec::new(),
        lines: vec!["[Trial 7 not applied]".to_owned()],
        refused: true,
        is_stale: true,
        ..ActionOutcome::default()
    };
    receive_outcome(&mut app, entry, outcome);
    let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
    assert!(changes.refused);
    assert_eq!(
        changes.action_lines,
        ["[Trial 7 not applied]", super::TRY_AGAIN_HINT]
    );
    assert_eq!(changes.set.state, ChangesState::Held);
    let again = planned(&letter(&mut app, 'd', NOW));
    assert_eq!(again, Some(ChangesAct::Discard), "it can be tried again");
}

/// Later changes are undone before the first ones, and redone after them.
#[test]
fn keys_of_a_card_include_the_changes_of_its_background_processes() {
    let wanted = |effects: &[Effect]| match effects {
        [
            Effect::Changes {
                id,
                work: ChangeWork::Plan(_),
                ..
            },
        ] => vec![id.0],
        [
            Effect::Changes {
                id,
                work: ChangeWork::PlanForBackground(_, all),
                ..
            },
        ] => {
            assert_eq!(all[0], *id);
            all.iter().map(|id| id.0).collect()
        }
        _ => Vec::new(),
    };
    let (done, undone) = (ChangesState::Done, ChangesState::Undone);
    let running = ChangesState::Running;
    let (both, none) = (vec![background(8, done), background(9, done)], vec![]);
    for (own, sets, undo, redo) in [
        (done, both, vec![9, 8], none.clone()),
        // The call's own change set, which touches other files than the running process.
        (done, vec![other_file(8, running)], vec![7], none.clone()),
        (
            done,
            vec![background(8, done), other_file(9, running)],
            vec![8],
            none.clone(),
        ),
        // Files that a running process changes as well.
        (
            done,
            vec![background(8, done), background(9, running)],
            none.clone(),
            none.clone(),
        ),
        (
            done,
            vec![background(8, undone), background(9, undone)],
            vec![7],
            vec![8, 9],
        ),
        (
            undone,
            vec![background(8, undone), background(9, undone)],
            none,
            vec![7],
        ),
    ] {
        for (key, ids) in [('u', undo), ('r', redo)] {
            let (mut app, entry) = app_with(set(own, ChangesBy::Trace));
            app.transcript.set_background_changes(entry, sets.clone());
            assert_eq!(wanted(&letter(&mut app, key, NOW)), ids, "{key} {sets:?}");
        }
    }
    // A call without changes of its own has a diff, and its question names the later change sets.
    let empty = Changes::new(ChangesId(7), done, ChangesBy::Trace, "/p");
    let (mut app, entry) = app_with(empty);
    assert!(press(&mut app, KeyCode::Enter, KeyModifiers::NONE).is_empty());
    app.transcript
        .set_background_changes(entry, vec![background(8, done)]);
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    let is_its = matches!(&effects[..], [Effect::Changes { work: ChangeWork::Diff(background), .. }] if *background == [ChangesId(8)]);
    assert!(is_its, "{effects:?}");
    let outcome = ActionOutcome {
        sets: vec![background(8, undone).0],
        lines: Vec::new(),
        ..ActionOutcome::default()
    };
    receive_outcome(&mut app, entry, outcome);
    let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
    assert_eq!(
        (changes.set.id.0, changes.background[0].0.state),
        (7, undone)
    );
}

/// A process that may still change files is ended first. If only a refusal reveals it, the card
/// says so.
#[test]
fn running_process_must_end_before_an_undo() {
    let (done, running) = (ChangesState::Done, ChangesState::Running);
    let empty = Changes::new(ChangesId(7), done, ChangesBy::Trace, "/p");
    let (mut app, entry) = app_with(empty);
    let with_survivors = vec![background(8, ChangesState::Running)];
    app.transcript.set_background_changes(entry, with_survivors);
    assert!(letter(&mut app, 'u', NOW).is_empty());
    let outcome = app.message.unwrap_or_default();
    assert!(outcome.contains("still runs (ctrl+g ends it)"), "{outcome}");
    let (mut app, entry) = app_with(set(done, ChangesBy::Trace));
    for (sets, is_shown) in [
        (vec![background(8, done)], false),
        (vec![background(8, done), other_file(9, running)], true),
    ] {
        app.transcript.set_background_changes(entry, sets);
        letter(&mut app, 'u', NOW);
        let outcome = ActionOutcome {
            lines: vec!["[Not undone: b was changed since.]".to_owned()],
            refused: true,
            ..ActionOutcome::default()
        };
        receive_outcome(&mut app, entry, outcome);
        let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
        let is_hint_shown = changes
            .action_lines
            .iter()
            .any(|line| line == change_actions::MAY_STILL_RUN_HINT);
        assert_eq!(is_hint_shown, is_shown, "{:?}", changes.action_lines);
    }
}

#[test]
fn diff_of_a_selected_card_opens_and_has_the_keys_of_the_card() {
    let (mut app, entry) = app_with(set(ChangesState::Done, ChangesBy::Trace));
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert!(
        matches!(
            &effects[..],
            [Effect::Changes {
                work: ChangeWork::Diff(background),
                ..
            }] if *background == [ChangesId(7)]
        ),
        "{effects:?}"
    );
    receive(&mut app, entry, ChangeWorkResult::Diff(Ok(Vec::new())));
    assert!(letter(&mut app, 'x', NOW).is_empty() && app.diff.is_some());
    let effects = letter(&mut app, 'u', NOW);
    assert_eq!(planned(&effects), Some(ChangesAct::Undo), "{effects:?}");
    letter(&mut app, 'q', NOW);
    assert!(app.diff.is_none() && app.prompt.is_empty());
    // Discarded changes have no diff.
    let (mut app, _) = app_with(set(ChangesState::Discarded, ChangesBy::Overlay));
    assert!(press(&mut app, KeyCode::Enter, KeyModifiers::NONE).is_empty());
    assert_eq!(app.message.as_deref(), Some("its changes were discarded"));
}

/// All change sets are one question. If one is refused, the card lists the completed and the
/// refused actions.
#[test]
fn several_background_change_sets_are_one_action() {
    let mut proposed = *proposed(ChangesAct::Undo);
    (proposed.id, proposed.further_ids) = (ChangesId(123), vec![ChangesId(121), ChangesId(119)]);
    proposed.is_background = true;
    let question = "Undo the later changes of the background process (changes 119, 121, 123)?";
    assert_eq!(proposed.title(), question);
    proposed.skips_conflicts = true;
    let question =
        "Undo the other later changes of the background process (changes 119, 121, 123)?";
    assert_eq!(proposed.title(), question);
    let (done, undone) = (ChangesState::Done, ChangesState::Undone);
    let (mut app, entry) = app_with(set(done, ChangesBy::Trace));
    let all = [119, 121].map(|id| background(id, done)).to_vec();
    app.transcript.set_background_changes(entry, all);
    let line = |text: &str| vec![text.to_owned()];
    let (outcome, not_done) = ("[Undone: 1 file]", "[Not undone: a was changed since.]");
    let of_both = ActionOutcome {
        sets: vec![background(121, undone).0, background(119, done).0],
        lines: line(outcome),
        not_done: line(not_done),
        ..ActionOutcome::default()
    };
    receive_outcome(&mut app, entry, of_both);
    let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
    let states: Vec<_> = changes.sets().map(|set| set.state).collect();
    assert_eq!(states, [done, done, undone]);
    assert_eq!(
        (&changes.outcome, &changes.action_lines),
        (&line(outcome), &line(not_done))
    );
    assert!(changes.refused);
}

/// Another program, or `agent-bash changes` at the prompt, decides the trial.
#[test]
fn trial_decided_elsewhere_is_no_longer_undecided() {
    let held = || set(ChangesState::Held, ChangesBy::Overlay);
    let looks = |effects: Vec<Effect>| -> Vec<u64> {
        let looked = effects.into_iter().filter_map(|effect| match effect {
            Effect::ReadUndecided(all) => Some(all),
            _ => None,
        });
        looked.flatten().map(|(_, id)| id.0).collect()
    };
    for (state, outcome) in [
        (ChangesState::Done, "[Trial 7 was committed elsewhere.]"),
        (
            ChangesState::Discarded,
            "[Trial 7 was discarded elsewhere.]",
        ),
    ] {
        let (mut app, entry) = app_with(held());
        // After every command, and when the card is selected.
        press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
        enters(&mut app, "agent-bash changes");
        assert_eq!(looks(end_call(&mut app)), [7]);
        let f6 = press(&mut app, KeyCode::F(6), KeyModifiers::NONE);
        assert_eq!(looks(f6), [7]);
        let msg = |set| Msg::Undecided(vec![(entry, set)]);
        let now = || Some(Box::new(set(state, ChangesBy::Overlay)));
        // Messages about a trial that no longer exists, and about one that is still undecided.
        app.update(msg(None));
        app.update(msg(Some(Box::new(held()))));
        assert_eq!(app.transcript.undecided().count(), 1);
        app.update(msg(now()));
        assert_eq!(app.transcript.undecided().count(), 0);
        let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
        assert_eq!(
            (changes.set.state, &changes.outcome[..]),
            (state, &[outcome.to_owned()][..])
        );
        let message = app.message.take().unwrap_or_default();
        assert!(
            outcome.contains(&message) && !message.is_empty(),
            "{message}"
        );
        // An older result does not make it undecided again, nor does one that arrives during a
        // decision.
        app.update(msg(Some(Box::new(held()))));
        assert_eq!(app.transcript.undecided().count(), 0);
        let (mut app, entry) = app_with(held());
        letter(&mut app, 'c', NOW);
        app.update(Msg::Undecided(vec![(entry, now())]));
        assert_eq!(app.transcript.undecided().count(), 1);
    }
}

#[test]
fn shift_u_undoes_or_redoes_all_since_the_card() {
    for (state, act) in [
        (ChangesState::Done, ChangesAct::Undo),
        (ChangesState::Undone, ChangesAct::Redo),
    ] {
        let (mut app, entry) = app_with(set(state, ChangesBy::Trace));
        let effects = press(&mut app, KeyCode::Char('U'), KeyModifiers::SHIFT);
        let planned = matches!(&effects[..], [Effect::Changes { id: ChangesId(7), work: ChangeWork::PlanSince(wanted), .. }] if *wanted == act);
        assert!(planned, "{effects:?}");
        let proposed = Box::new(ProposedAction {
            scope: Some(ChangesScope::From(ChangesId(7))),
            further_ids: vec![ChangesId(9)],
            ..*proposed(act)
        });
        receive(&mut app, entry, ChangeWorkResult::Planned(Ok(proposed)));
        assert!(letter(&mut app, 'x', Duration::from_millis(500)).is_empty());
        let effects = letter(&mut app, 'y', Duration::from_secs(1));
        let acts = matches!(&effects[..], [Effect::Changes { work: ChangeWork::Act(wanted), .. }] if wanted.scope.is_some());
        assert!(acts, "{effects:?}");
    }
    let (mut app, _) = app_with(set(ChangesState::Held, ChangesBy::Overlay));
    let effects = press(&mut app, KeyCode::Char('U'), KeyModifiers::SHIFT);
    assert!(effects.is_empty(), "{effects:?}");
    let expected = Some("changes 7 cannot be undone: nothing of them was applied yet");
    assert_eq!(app.message.as_deref(), expected);
}
