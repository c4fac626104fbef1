use super::*;
use crate::app::tests::{NOW, app, ctrl};

#[test]
fn a_message_goes_by_itself_and_then_nothing_is_waited_for() {
    let mut app = app(None);
    ctrl(&mut app, 'c');
    app.note_message(NOW);
    assert!(app.message.is_some());
    let end = app.deadline().unwrap();
    let before = end.saturating_sub(Duration::from_millis(1));
    app.note_message(before);
    app.expire(before);
    assert!(app.message.is_some(), "it was not there for long");
    app.expire(end);
    assert_eq!((app.message.as_deref(), app.deadline()), (None, None));
}

#[test]
fn a_question_stays_until_it_is_answered() {
    let mut app = app(None);
    (app.on_quit, app.running_jobs) = (crate::OnQuit::Ask, 1);
    ctrl(&mut app, 'd');
    app.note_message(NOW);
    assert_eq!(app.deadline(), None);
    app.expire(Duration::from_secs(3600));
    assert!(app.message.is_some());
}
