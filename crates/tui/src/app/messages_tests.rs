use super::*;
use crate::app::tests::{NOW, app, ctrl, end_call, ended, enters};
use crate::app::{Effect, Msg};
use agent_bash::core::Timestamp;

#[test]
fn message_expires_and_then_no_timer_runs() {
    let mut app = app(None);
    ctrl(&mut app, 'c');
    app.note_message_time(NOW);
    assert!(app.message.is_some());
    let end = app.deadline().unwrap();
    let before = end.saturating_sub(Duration::from_millis(1));
    app.note_message_time(before);
    app.expire(before);
    assert!(app.message.is_some(), "it was shown too briefly");
    app.expire(end);
    assert_eq!((app.message.as_deref(), app.deadline()), (None, None));
}

#[test]
fn question_stays_until_it_is_answered() {
    let mut app = app(None);
    (app.on_quit, app.running_jobs) = (crate::OnQuit::Ask, 1);
    ctrl(&mut app, 'd');
    app.note_message_time(NOW);
    assert_eq!(app.deadline(), None);
    app.expire(Duration::from_secs(3600));
    assert!(app.message.is_some());
}

#[test]
fn quit_message_disappears_when_its_command_has_ended() {
    let quits = |effects: &[Effect]| matches!(effects, [Effect::Quit { .. }]);
    let mut app = app(None);
    enters(&mut app, "!sleep 9");
    enters(&mut app, "one");
    enters(&mut app, "two");
    assert!(ctrl(&mut app, 'd').is_empty());
    // Another command has ended.
    let own = app.bang.unwrap();
    ended(&mut app, own);
    let message = app.message.as_deref();
    assert_eq!(message, Some("ctrl+d again ends `one` and quits"));
    end_call(&mut app);
    assert_eq!(app.message, None);
    assert!(ctrl(&mut app, 'd').is_empty());
    let message = app.message.as_deref();
    assert_eq!(message, Some("ctrl+d again ends `two` and quits"));
    // An expired message cannot be confirmed.
    app.note_message_time(NOW);
    let end = app.deadline().unwrap();
    app.expire(end);
    assert!(ctrl(&mut app, 'd').is_empty() && app.message.is_some());
    assert!(quits(&ctrl(&mut app, 'd')));
}

#[test]
fn question_about_jobs_follows_their_number() {
    let mut app = app(None);
    (app.on_quit, app.running_jobs) = (crate::OnQuit::Ask, 1);
    ctrl(&mut app, 'd');
    app.update(Msg::Jobs {
        jobs: Vec::new(),
        now: Timestamp(0),
        printed: None,
    });
    let message = app.message.as_deref();
    assert_eq!(message, Some("no job runs any more: ctrl+d quits"));
    // A letter then belongs to the line.
    let key = crossterm::event::KeyCode::Char('e').into();
    app.handle_event(&crossterm::event::Event::Key(key), NOW);
    assert_eq!(app.prompt.text(), "e");
}
