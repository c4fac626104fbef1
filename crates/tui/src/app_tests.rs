use super::*;
use crate::approvals::Asked;
use crate::calls::CallEnd;
use crate::transcript::Entry;
use agent_bash::core::sandbox::{SandboxLevel, SandboxRequest};
use agent_bash::core::{Status, Timestamp, ToolResult};

const NOW: Duration = Duration::ZERO;

fn app(terminal: Option<bool>) -> App {
    App::new(Theme::plain(), terminal, "~".to_owned(), String::new())
}

fn press(app: &mut App, code: KeyCode, held: KeyModifiers) -> Vec<Effect> {
    app.event(&Event::Key(KeyEvent::new(code, held)), NOW);
    app.effects()
}

fn ctrl(app: &mut App, c: char) -> Vec<Effect> {
    press(app, KeyCode::Char(c), KeyModifiers::CONTROL)
}

fn enters(app: &mut App, text: &str) -> Vec<Effect> {
    app.event(&Event::Paste(text.to_owned()), NOW);
    press(app, KeyCode::Enter, KeyModifiers::NONE)
}

fn ended(app: &mut App, entry: EntryId) {
    let end = ended_as(succeeded());
    app.news(News::Ended { entry, end });
}

fn ended_as(result: ToolResult) -> CallEnd {
    CallEnd::Tool {
        result: Box::new(result),
        refusal: None,
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
fn one_of_each_runs_at_a_time_and_what_was_typed_stays() {
    let mut app = app(None);
    enters(&mut app, "sleep 9");
    assert!(enters(&mut app, "ls").is_empty());
    assert_eq!(app.prompt.text(), "ls");
    assert_eq!(
        app.message.as_deref(),
        Some("A command is already running. Press Esc to cancel it first.")
    );
    app.prompt.clear();
    enters(&mut app, "!sleep 9");
    assert!(enters(&mut app, "!ls").is_empty());
    assert_eq!(
        app.message.as_deref(),
        Some("A bash command is already running. Press Esc to cancel it first.")
    );
    let call = app.call.unwrap();
    ended(&mut app, call);
    app.prompt.clear();
    assert!(matches!(
        enters(&mut app, "ls")[..],
        [Effect::ListJobs, Effect::Call { .. }]
    ));
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
        app.news(News::Ended { entry: bang, end });
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
    assert!(matches!(ctrl(&mut app, 'd')[..], [Effect::Quit]));
    assert!(matches!(ctrl(&mut app, 'z')[..], [Effect::Suspend]));
}

#[test]
fn calls_say_whether_they_want_a_terminal() {
    let mut app = app(Some(false));
    for want in [Some(false), Some(true)] {
        match &enters(&mut app, "ls")[..] {
            [.., Effect::Call { request, entry, .. }] => {
                assert_eq!(request.pty, want);
                ended(&mut app, *entry);
            }
            other => panic!("{other:?}"),
        }
        ctrl(&mut app, 't');
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
    assert!(again(&mut app).is_empty());
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
