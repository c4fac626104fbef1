use super::*;
use crate::approvals::Asked;
use crate::calls::CallEnd;
use crate::deeds::Proposed;
use crate::set_work::{Came, Said, Wish};
use crate::transcript::Entry;
use agent_bash::ChangesAct;
use agent_bash::core::changes::{
    Change, Changes, ChangesBy, ChangesState, FileChange, FileName, TrialRequest, Undoable,
};
use agent_bash::core::sandbox::{SandboxLevel, SandboxRequest};
use agent_bash::core::{Status, Timestamp, ToolResult};

pub(super) const NOW: Duration = Duration::ZERO;

pub(super) fn app(terminal: Option<bool>) -> App {
    App::new(
        Theme::plain(),
        terminal,
        Place::for_tests("~"),
        String::new(),
    )
}

pub(super) fn press(app: &mut App, code: KeyCode, held: KeyModifiers) -> Vec<Effect> {
    app.event(&Event::Key(KeyEvent::new(code, held)), NOW);
    let mut effects = app.effects();
    // What is kept of it: `what_is_typed_is_kept`.
    effects.retain(|effect| !matches!(effect, Effect::Typed { .. }));
    effects
}

pub(super) fn ctrl(app: &mut App, c: char) -> Vec<Effect> {
    press(app, KeyCode::Char(c), KeyModifiers::CONTROL)
}

pub(super) fn enters(app: &mut App, text: &str) -> Vec<Effect> {
    app.event(&Event::Paste(text.to_owned()), NOW);
    press(app, KeyCode::Enter, KeyModifiers::NONE)
}

pub(super) fn ended(app: &mut App, entry: EntryId) {
    let end = ended_as(succeeded());
    app.news(News::Ended {
        entry,
        end,
        now: NOW,
    });
}

fn ended_as(result: ToolResult) -> CallEnd {
    CallEnd::Tool {
        result: Box::new(result),
        refused: None,
    }
}

fn succeeded() -> ToolResult {
    ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0))
}

#[test]
fn a_full_output_is_opened_or_it_is_said_why_not() {
    let mut app = app(None);
    enters(&mut app, "ls");
    let call = app.call.unwrap();
    ended(&mut app, call);
    app.effects();
    assert!(ctrl(&mut app, 'f').is_empty());
    assert_eq!(
        app.message.as_deref(),
        Some("all of its output is on the card: ctrl+o expands it")
    );
    let mut result = succeeded();
    result.output.truncated = true;
    app.transcript.change(call, |entry| {
        ended_as(result.clone()).show_on(entry);
    });
    assert!(ctrl(&mut app, 'f').is_empty());
    assert_eq!(app.message.as_deref(), Some("its full output was not kept"));
    app.transcript
        .change(call, |entry| entry.artifact = Some(ArtifactId(3)));
    assert!(matches!(
        ctrl(&mut app, 'f')[..],
        [Effect::Open {
            artifact: ArtifactId(3),
            ..
        }]
    ));
}

#[test]
fn what_is_typed_is_kept_unless_it_begins_with_a_space() {
    for (line, want) in [("ls", Some("ls")), ("!ls", Some("!ls")), (" ls", None)] {
        let mut app = app(None);
        app.event(&Event::Paste(line.to_owned()), NOW);
        app.event(
            &Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)),
            NOW,
        );
        let kept = app.effects().into_iter().find_map(|effect| match effect {
            Effect::Typed { command, .. } => Some(command),
            _ => None,
        });
        assert_eq!(kept.as_deref(), want, "{line:?}");
        assert!(app.prompt.is_empty());
    }
}

#[test]
fn a_script_that_is_not_finished_goes_on_in_another_line() {
    let mut app = app(None);
    for line in ["if true; then", "echo 'a", "b'"] {
        assert!(enters(&mut app, line).is_empty(), "{line}");
    }
    let effects = enters(&mut app, "fi");
    let [Effect::Call { request, .. }] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(request.command, "if true; then\necho 'a\nb'\nfi");
}

#[test]
fn a_line_is_a_call_and_a_mark_makes_it_the_persons_own() {
    let mut app = app(None);
    assert!(enters(&mut app, "  ").is_empty());
    match &enters(&mut app, "ls")[..] {
        [Effect::Call { request, .. }] => {
            assert_eq!((request.command.as_str(), request.pty), ("ls", None));
        }
        other => panic!("{other:?}"),
    }
    match &enters(&mut app, "!!ls")[..] {
        [
            Effect::Bang {
                command, excluded, ..
            },
        ] => assert_eq!((command.as_str(), *excluded), ("ls", true)),
        other => panic!("{other:?}"),
    }
    assert!(app.prompt.is_empty());
}

#[test]
fn escape_and_ctrl_c_cancel_the_persons_own_first_and_never_quit() {
    for key in [
        (KeyCode::Esc, KeyModifiers::NONE),
        (KeyCode::Char('c'), KeyModifiers::CONTROL),
    ] {
        let mut app = app(None);
        enters(&mut app, "sleep 9");
        enters(&mut app, "!sleep 9");
        assert!(matches!(
            press(&mut app, key.0, key.1)[..],
            [Effect::CancelBang]
        ));
        let bang = app.bang.unwrap();
        let end = CallEnd::Refused("x".to_owned());
        app.news(News::Ended {
            entry: bang,
            end,
            now: NOW,
        });
        app.effects();
        assert!(matches!(
            press(&mut app, key.0, key.1)[..],
            [Effect::CancelCall]
        ));
        let call = app.call.unwrap();
        ended(&mut app, call);
        app.effects();
        assert!(press(&mut app, key.0, key.1).is_empty());
    }
}

#[test]
fn ctrl_c_clears_and_ctrl_d_quits_only_an_empty_prompt() {
    let mut app = app(None);
    app.event(&Event::Paste("half".to_owned()), NOW);
    assert!(ctrl(&mut app, 'd').is_empty());
    assert!(ctrl(&mut app, 'c').is_empty());
    assert!(app.prompt.is_empty());
    assert!(ctrl(&mut app, 'c').is_empty());
    assert_eq!(app.message.as_deref(), Some("ctrl+d quits"));
    assert!(matches!(
        ctrl(&mut app, 'd')[..],
        [Effect::Quit { ending: false }]
    ));
    assert!(matches!(ctrl(&mut app, 'z')[..], [Effect::Suspend]));
}

#[test]
fn whoever_quits_is_asked_about_jobs_that_run_if_that_is_wanted() {
    for (on_quit, jobs, answer, wanted) in [
        (OnQuit::Keep, 1, None, Some(false)),
        (OnQuit::End, 1, None, Some(true)),
        (OnQuit::Ask, 0, None, Some(false)),
        (OnQuit::Ask, 2, Some('y'), Some(true)),
        (OnQuit::Ask, 2, Some('n'), Some(false)),
        (OnQuit::Ask, 2, Some('x'), None),
    ] {
        let mut app = app(None);
        (app.on_quit, app.running_jobs) = (on_quit, jobs);
        let mut effects = ctrl(&mut app, 'd');
        if let Some(answer) = answer {
            assert!(effects.is_empty() && app.message.is_some());
            effects = letter(&mut app, answer, NOW);
        }
        let leaves = effects.iter().find_map(|effect| match effect {
            Effect::Quit { ending } => Some(*ending),
            _ => None,
        });
        assert_eq!(leaves, wanted, "{on_quit:?} {answer:?}");
        assert!(app.prompt.is_empty(), "an answer is no text");
    }
}

#[test]
fn help_goes_with_any_key_and_is_no_text() {
    let mut app = app(None);
    press(&mut app, KeyCode::Char('?'), KeyModifiers::NONE);
    assert!(app.help && app.prompt.is_empty());
    press(&mut app, KeyCode::Char('x'), KeyModifiers::NONE);
    assert!(!app.help && app.prompt.is_empty());
    app.event(&Event::Paste("what".to_owned()), NOW);
    press(&mut app, KeyCode::Char('?'), KeyModifiers::NONE);
    assert_eq!((app.help, app.prompt.text().as_str()), (false, "what?"));
}

#[test]
fn an_idle_interface_waits_for_nothing() {
    let mut app = app(None);
    assert!(!app.is_live() && app.deadline().is_none());
    enters(&mut app, "sleep 9");
    assert!(app.is_live());
    let call = app.call.unwrap();
    ended(&mut app, call);
    assert!(!app.is_live());
    assert_eq!(
        app.transcript.current().map(Entry::command),
        Some("sleep 9")
    );
}

fn wish() -> SandboxRequest {
    SandboxRequest {
        level: Some(SandboxLevel::Off),
        network: None,
        writable: Vec::new(),
        reason: "it must".to_owned(),
    }
}

#[test]
fn a_question_is_answered_by_a_key_that_was_meant_for_it() {
    let mut app = app(None);
    let key = |app: &mut App, c, now| {
        let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        app.event(&Event::Key(key), now);
    };
    let early = Duration::from_millis(100);
    let later = Duration::from_secs(1);
    for (answer, allowed) in [('y', true), ('n', false)] {
        let (asked, mut answered) = Asked::of("x", wish());
        app.ask(asked, NOW);
        key(&mut app, answer, early);
        key(&mut app, 'x', later);
        assert!(answered.try_recv().is_err(), "nothing was answered");
        key(&mut app, answer, later);
        assert_eq!(answered.try_recv(), Ok(allowed));
    }
    assert!(app.prompt.is_empty(), "no key went elsewhere");
    // The next one needs its own answer, and what nobody waits for is gone.
    let (first, mut answered) = Asked::of("x", wish());
    let (over, answer_of_over) = Asked::of("x", wish());
    let (last, mut answered_last) = Asked::of("x", wish());
    for asked in [first, over, last] {
        app.ask(asked, NOW);
    }
    drop(answer_of_over);
    key(&mut app, 'y', later);
    key(&mut app, 'y', later);
    assert_eq!(answered.try_recv(), Ok(true));
    assert!(answered_last.try_recv().is_err());
    key(&mut app, 'n', later + later);
    assert_eq!(answered_last.try_recv(), Ok(false));
    key(&mut app, 'z', later + later);
    assert_eq!(app.prompt.text(), "z");
}

#[test]
fn a_call_is_made_again_outside_of_the_sandbox() {
    let again = |app: &mut App| press(app, KeyCode::F(4), KeyModifiers::NONE);
    let mut app = app(None);
    assert!(again(&mut app).is_empty(), "there is none");
    enters(&mut app, "ls");
    let call = app.call.unwrap();
    ended(&mut app, call);
    app.effects();
    assert!(again(&mut app).is_empty(), "it was not in one");
    app.sandbox.level = SandboxLevel::ReadOnly;
    let effects = again(&mut app);
    let [Effect::Call { request, .. }] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(request.command, "ls");
    let wanted = request.sandbox.as_ref().unwrap();
    assert_eq!(wanted.level, Some(SandboxLevel::Off));
}

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
    app.news(News::Ended {
        entry,
        end,
        now: NOW,
    });
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    app.effects();
    (app, entry)
}

pub(super) fn letter(app: &mut App, c: char, now: Duration) -> Vec<Effect> {
    let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
    app.event(&Event::Key(key), now);
    app.effects()
}

fn came(app: &mut App, entry: EntryId, came: Came) {
    let (id, now) = (ChangesId(7), NOW);
    let news = News::Changes {
        entry,
        id,
        came,
        now,
    };
    app.news(news);
}

fn proposed(act: ChangesAct) -> Box<Proposed> {
    let set = set(ChangesState::Done, ChangesBy::Trace);
    Box::new(Proposed {
        act,
        id: set.id,
        partial: false,
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
            assert_eq!(app.prompt.is_empty(), is_its, "{key} is typed otherwise");
        }
    }
    let mut kept = set(ChangesState::Done, ChangesBy::Trace);
    kept.undo = Undoable::No;
    let (mut app, _) = app_with(kept);
    assert!(letter(&mut app, 'u', NOW).is_empty());
}

#[test]
fn keys_are_text_unless_a_card_is_selected_and_nothing_is_typed() {
    let (mut app, _) = app_with(set(ChangesState::Done, ChangesBy::Trace));
    press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    assert!(letter(&mut app, 'u', NOW).is_empty());
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    assert!(letter(&mut app, 'u', NOW).is_empty());
    assert_eq!(app.prompt.text(), "uu");
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
            Came::Looked(Ok(proposed(ChangesAct::Undo))),
        );
        assert!(letter(&mut app, key, Duration::from_millis(500)).is_empty());
        let effects = letter(&mut app, key, later);
        let acts = matches!(&effects[..], [Effect::Changes { wish: Wish::Act(wanted), .. }] if wanted.act == ChangesAct::Undo);
        assert_eq!(acts, is_done, "{effects:?}");
        assert!(app.prompt.is_empty(), "no key went elsewhere");
        let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
        assert_eq!(changes.said, if is_done { &["Undoing…"][..] } else { &[] });
        if is_done {
            let said = Said {
                set: Some(set(ChangesState::Undone, ChangesBy::Trace)),
                lines: vec!["[Undone: 1 file as before call 7.]".to_owned()],
                refused: false,
            };
            came(&mut app, entry, Came::Done(Box::new(said)));
            let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
            assert_eq!(changes.set.state, ChangesState::Undone);
            assert_eq!(changes.said, ["[Undone: 1 file as before call 7.]"]);
            let effects = letter(&mut app, 'r', later);
            assert!(
                matches!(&effects[..], [Effect::Changes { .. }]),
                "{effects:?}"
            );
        }
    }
}

#[test]
fn why_something_cannot_be_done_is_on_the_card() {
    let (mut app, entry) = app_with(set(ChangesState::Held, ChangesBy::Overlay));
    letter(&mut app, 'c', NOW);
    let said = Said {
        set: None,
        lines: vec!["[Trial 7 not applied]".to_owned()],
        refused: true,
    };
    came(&mut app, entry, Came::Looked(Err(Box::new(said))));
    let changes = app.transcript.get(entry).unwrap().card.changes().unwrap();
    assert!(changes.refused && changes.said == ["[Trial 7 not applied]"]);
    assert_eq!(changes.set.state, ChangesState::Held);
    let effects = letter(&mut app, 'd', NOW);
    assert!(
        matches!(&effects[..], [Effect::Changes { .. }]),
        "it can be tried again"
    );
}

#[test]
fn the_diff_of_a_selected_card_is_opened_and_its_keys_are_the_cards() {
    let (mut app, entry) = app_with(set(ChangesState::Done, ChangesBy::Trace));
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert!(
        matches!(
            &effects[..],
            [Effect::Changes {
                wish: Wish::Diff,
                ..
            }]
        ),
        "{effects:?}"
    );
    came(&mut app, entry, Came::Diff(Ok(Vec::new())));
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

#[test]
fn a_line_is_tried_or_the_last_command_again() {
    let tried = |app: &mut App| match &press(app, KeyCode::F(3), KeyModifiers::NONE)[..] {
        [.., Effect::Call { request, entry, .. }] => {
            let tried = (request.command.clone(), request.trial, request.pty);
            ended(app, *entry);
            app.effects();
            Some(tried)
        }
        _ => None,
    };
    let mut app = app(Some(true));
    assert_eq!(tried(&mut app), None, "there is nothing to try");
    app.event(&Event::Paste("rm x".to_owned()), NOW);
    let held = Some(TrialRequest::Hold);
    // What is held back is not on a terminal.
    let want = Some(("rm x".to_owned(), held, Some(false)));
    assert_eq!(tried(&mut app), want);
    assert!(app.prompt.is_empty());
    assert_eq!(tried(&mut app), want, "the last one again");
    app.event(&Event::Paste("!rm x".to_owned()), NOW);
    assert_eq!(tried(&mut app), None);
    assert!(app.message.as_deref().unwrap().contains("`!`"));
    app.prompt.clear();
    enters(&mut app, "sleep 9");
    assert_eq!(tried(&mut app), None, "one at a time");
}
