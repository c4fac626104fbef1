use super::CUT_COMMAND_MESSAGE;
use crate::action_outcome::ActionOutcome;
use crate::app::tests::{NOW, app, ended_as, ended_with, enters, letter, press, succeeded};
use crate::app::*;
use crate::change_work::{ChangeWork, ChangeWorkResult};
use crate::transcript::CardEntry;
use agent_bash::core::changes::{Change, Changes, ChangesBy, ChangesState, FileChange, FileName};
use crossterm::event::{KeyCode, KeyModifiers};

fn trial(id: u64) -> Changes {
    let file = FileChange::new(FileName::new("a"), Change::Created);
    let (state, by) = (ChangesState::Held, ChangesBy::Overlay);
    let mut trial = Changes::new(ChangesId(id), state, by, "/p").with_files([file]);
    trial.command = Some(format!("echo {id} > a"));
    trial
}

/// An app at its start, with this number of trials of earlier runs.
fn app_with_trials(count: u64) -> App {
    let mut app = app(Some(true));
    let (trials, state_dir) = ((1..=count).map(trial).collect(), "tui-p".to_owned());
    app.update(Msg::HeldTrialsFound { trials, state_dir });
    app.take_effects();
    app
}

/// Presses F6, and reads the requested trials. Returns their number.
fn f6(app: &mut App) -> usize {
    let effects = press(app, KeyCode::F(6), KeyModifiers::NONE);
    let read = effects.into_iter().find_map(|effect| match effect {
        Effect::ReadHeldTrials(wanted) => Some(wanted),
        _ => None,
    });
    let Some(wanted) = read else {
        // Only the selected trial is examined.
        return 0;
    };
    let trials: Vec<Changes> = wanted.iter().map(|id| trial(id.0)).collect();
    let count = trials.len();
    app.update(Msg::HeldTrialsRead { wanted, trials });
    app.take_effects();
    count
}

fn selected(app: &App) -> Option<&str> {
    app.transcript.selected_entry().map(CardEntry::command)
}

#[test]
fn f6_makes_cards_of_earlier_trials_and_selects_the_newest() {
    let mut app = app_with_trials(2);
    assert_eq!(f6(&mut app), 2);
    assert_eq!(selected(&app), Some("echo 2 > a"));
    assert_eq!(
        (app.held_trials.len(), app.transcript.undecided().count()),
        (0, 2)
    );
    assert_eq!(f6(&mut app), 0);
    assert_eq!(selected(&app), Some("echo 1 > a"));
    assert_eq!(f6(&mut app), 0);
    assert_eq!(selected(&app), Some("echo 2 > a"), "and so on");
    // The card has the keys of any held trial.
    let effects = letter(&mut app, 'c', NOW);
    assert!(
        matches!(
            &effects[..],
            [Effect::Changes {
                id: ChangesId(2),
                ..
            }]
        ),
        "{effects:?}"
    );
}

/// The user may press a key for that card next.
#[test]
fn trial_of_this_run_is_selected_at_once() {
    let mut app = app_with_trials(1);
    enters(&mut app, "make");
    let mut result = succeeded();
    result.changes = Some(trial(2));
    let entry = app.call.unwrap();
    ended_with(&mut app, entry, ended_as(result));
    let effects = press(&mut app, KeyCode::F(6), KeyModifiers::NONE);
    assert_eq!(selected(&app), Some("make"));
    let wanted = vec![ChangesId(1)];
    let question = |it: &Effect| matches!(it, Effect::ReadHeldTrials(ids) if *ids == wanted);
    assert!(effects.iter().any(question), "{effects:?}");
    let trials = vec![trial(1)];
    app.update(Msg::HeldTrialsRead { wanted, trials });
    assert_eq!(selected(&app), Some("make"), "it stays selected");
    assert_eq!(f6(&mut app), 0);
    assert_eq!(selected(&app), Some("echo 1 > a"));
}

#[test]
fn newest_of_many_trials_become_cards_first() {
    let mut app = app_with_trials(45);
    assert_eq!(f6(&mut app), 20);
    assert_eq!(selected(&app), Some("echo 45 > a"));
    let message = app.message.clone().unwrap_or_default();
    assert!(message.starts_with("20 of 45 trials"), "{message}");
    for _ in 0..19 {
        assert_eq!(f6(&mut app), 0);
    }
    assert_eq!(selected(&app), Some("echo 26 > a"));
    assert_eq!(f6(&mut app), 20);
    assert_eq!(selected(&app), Some("echo 25 > a"));
    assert_eq!(
        (app.held_trials.len(), app.transcript.undecided().count()),
        (5, 40)
    );
}

/// The names at the start fit, also after a change of the terminal's size.
#[test]
fn earlier_trials_are_named_in_the_available_width() {
    let mut app = app(Some(true));
    let mut trial = trial(7);
    trial.command = Some("echo ".to_owned() + &"long ".repeat(12) + "end > a");
    let (trials, state_dir) = (vec![trial], "tui-p".to_owned());
    app.update(Msg::HeldTrialsFound { trials, state_dir });
    for (width, wanted) in [
        (100, "end > a · Δ +1"),
        (50, "long l… · Δ +1"),
        (100, "end > a · Δ +1"),
    ] {
        let backend = ratatui::backend::TestBackend::new(width, 30);
        let mut terminal = ratatui::Terminal::new(backend).unwrap();
        let drawn = |frame: &mut ratatui::Frame<'_>| crate::draw::draw(&mut app, frame, NOW);
        terminal.draw(drawn).unwrap();
        let screen = terminal.backend().to_string();
        assert!(screen.contains(wanted), "{width}: {screen}");
    }
}

/// The stored command is cut, on one line, and without secrets.
#[test]
fn command_of_an_earlier_trial_is_not_run_again() {
    let mut app = app_with_trials(1);
    f6(&mut app);
    for key in ['R', 'e'] {
        app.message = None;
        let effects = letter(&mut app, key, NOW);
        assert_eq!(
            (effects.len(), app.message.as_deref()),
            (0, Some(CUT_COMMAND_MESSAGE)),
            "{key}"
        );
        assert!(app.prompt.is_empty() && app.call.is_none());
    }
    for key in [KeyCode::F(3), KeyCode::F(4), KeyCode::F(5)] {
        let effects = press(&mut app, key, KeyModifiers::NONE);
        assert!(
            effects.is_empty() && app.call.is_none(),
            "{key:?}: {effects:?}"
        );
    }
}

/// After a refused commit, the hint names actions that the card offers.
#[test]
fn refused_commit_of_an_earlier_trial_hints_at_available_keys() {
    let mut app = app_with_trials(1);
    f6(&mut app);
    let entry = app.transcript.selected_entry().unwrap().id;
    let message = ActionOutcome {
        lines: vec!["[Trial 1 not applied]".to_owned()],
        refused: true,
        is_stale: true,
        ..ActionOutcome::default()
    };
    app.update(Msg::Changes {
        entry,
        id: ChangesId(1),
        done: ChangeWorkResult::Planned(Err(Box::new(message))),
        now: NOW,
    });
    let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
    let wanted = [
        "[Trial 1 not applied]",
        "→ `Y` copies its command, `d` discards it",
    ];
    assert_eq!(changes.action_lines, wanted);
    let effects = letter(&mut app, 'd', NOW);
    let asks = matches!(&effects[..], [Effect::Changes { work: ChangeWork::Plan(act), .. }] if *act == agent_bash::ChangesAct::Discard);
    assert!(asks, "{effects:?}");
    let effects = letter(&mut app, 'Y', NOW);
    let copies = matches!(&effects[..], [Effect::Copy(command)] if command == "echo 1 > a");
    assert!(copies, "{effects:?}");
}

#[test]
fn trial_decided_elsewhere_becomes_no_card() {
    let mut app = app_with_trials(1);
    let effects = press(&mut app, KeyCode::F(6), KeyModifiers::NONE);
    assert!(matches!(&effects[..], [Effect::ReadHeldTrials(wanted)] if wanted.len() == 1));
    let wanted = vec![ChangesId(1)];
    app.update(Msg::HeldTrialsRead {
        wanted,
        trials: Vec::new(),
    });
    assert_eq!(
        app.message.as_deref(),
        Some("no trial waits for your decision")
    );
    assert!(app.held_trials.is_empty());
}

#[test]
fn conflicts_of_a_selected_trial_are_shown() {
    let mut app = app_with_trials(1);
    f6(&mut app);
    let effects = press(&mut app, KeyCode::F(6), KeyModifiers::NONE);
    let [Effect::ReadUndecided(all)] = &effects[..] else {
        panic!("{effects:?}");
    };
    let mut now = trial(1);
    now.conflicts = vec![FileName::new("a")];
    app.update(Msg::Undecided(vec![(all[0].0, Some(Box::new(now)))]));
    let why = app
        .focused_changes()
        .and_then(|(_, changes)| changes.set.commit_obstacle());
    let want = "1 file was changed since: it can no longer be committed";
    assert_eq!(why.as_deref(), Some(want));
    // Because of the conflict, the card does not offer a commit.
    let keys = app
        .focused_changes()
        .map(|(_, set)| crate::change_actions::keys_text(set));
    assert_eq!(keys.as_deref(), Some("d discard"));
}
