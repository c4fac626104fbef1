use super::*;
use crate::approvals::{ApprovalQuestion, outside_request};
use crate::calls::CallEnd;
use crate::transcript::CardEntry;
use agent_bash::Escalation;
use agent_bash::core::changes::TrialRequest;
use agent_bash::core::sandbox::SandboxLevel;
use agent_bash::core::{ArtifactId, Status, Timestamp, ToolResult};
use agent_bash_render::{CardState, ToolCard};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub(super) const NOW: Duration = Duration::ZERO;

pub(super) fn app(terminal: Option<bool>) -> App {
    App::new(
        Theme::plain(),
        terminal,
        PromptDirectory::for_tests("~"),
        String::new(),
    )
}

pub(super) fn press(app: &mut App, code: KeyCode, held: KeyModifiers) -> Vec<Effect> {
    app.handle_event(&Event::Key(KeyEvent::new(code, held)), NOW);
    let mut effects = app.take_effects();
    // Stored commands: `typed_line_is_stored_unless_it_begins_with_a_blank`.
    effects.retain(|effect| !matches!(effect, Effect::StoreTyped { .. }));
    effects
}

pub(super) fn ctrl(app: &mut App, c: char) -> Vec<Effect> {
    press(app, KeyCode::Char(c), KeyModifiers::CONTROL)
}

pub(super) fn enters(app: &mut App, text: &str) -> Vec<Effect> {
    app.handle_event(&Event::Paste(text.to_owned()), NOW);
    press(app, KeyCode::Enter, KeyModifiers::NONE)
}

pub(super) fn ended(app: &mut App, entry: EntryId) {
    ended_with(app, entry, ended_as(succeeded()));
}

pub(super) fn ended_with(app: &mut App, entry: EntryId, end: CallEnd) {
    let now = NOW;
    app.update(Msg::Ended { entry, end, now });
}

/// Ends the running call; returns the effects.
pub(super) fn end_call(app: &mut App) -> Vec<Effect> {
    let call = app.call.unwrap();
    ended(app, call);
    app.take_effects()
}

/// The request of the only call among these effects, which have nothing else.
pub(super) fn request_of(effects: &[Effect]) -> &Request {
    match effects {
        [Effect::Call { request, .. }] => request,
        _ => panic!("{effects:?}"),
    }
}

/// The card of the last command.
pub(super) fn current_card(app: &App) -> &ToolCard {
    match &app.transcript.current().unwrap().card {
        Card::Tool(card) => card,
        _ => panic!("it has another card"),
    }
}

pub(super) fn ended_as(result: ToolResult) -> CallEnd {
    CallEnd::Tool {
        result: Box::new(result),
        refused: None,
    }
}

pub(super) fn letter(app: &mut App, c: char, now: Duration) -> Vec<Effect> {
    let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
    app.handle_event(&Event::Key(key), now);
    app.take_effects()
}

pub(super) fn succeeded() -> ToolResult {
    ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0))
}

#[test]
fn full_output_is_opened_or_a_message_says_why_not() {
    let mut app = app(None);
    enters(&mut app, "ls");
    let call = app.call.unwrap();
    // While the command runs, the pager shows the end as it grows.
    assert!(ctrl(&mut app, 'f').is_empty());
    assert!(app.pager.as_ref().is_some_and(PagerState::is_live));
    press(&mut app, KeyCode::Up, KeyModifiers::NONE);
    assert!(app.pager.as_ref().is_some_and(|pager| !pager.is_live()));
    press(&mut app, KeyCode::Char('q'), KeyModifiers::NONE);
    ended(&mut app, call);
    app.take_effects();
    assert!(ctrl(&mut app, 'f').is_empty());
    assert_eq!(app.message.as_deref(), Some("the command printed nothing"));
    let mut result = succeeded();
    result.text = "a line\n".to_owned();
    result.output.total_bytes = 7;
    app.transcript.change(call, |entry| {
        ended_as(result.clone()).show_on(entry, None);
    });
    assert!(ctrl(&mut app, 'f').is_empty());
    assert!(app.pager.as_ref().is_some_and(|pager| !pager.is_live()));
    press(&mut app, KeyCode::Char('q'), KeyModifiers::NONE);
    app.transcript
        .change(call, |entry| entry.artifact = Some(ArtifactId(3)));
    assert!(matches!(
        ctrl(&mut app, 'f')[..],
        [Effect::OpenOutput {
            artifact: ArtifactId(3),
            ..
        }]
    ));
}

#[test]
fn typed_line_is_stored_unless_it_begins_with_a_blank() {
    for (line, want) in [("ls", Some("ls")), ("!ls", Some("!ls")), (" ls", None)] {
        let mut app = app(None);
        app.handle_event(&Event::Paste(line.to_owned()), NOW);
        app.handle_event(&Event::Key(KeyCode::Enter.into()), NOW);
        let mut effects = app.take_effects().into_iter();
        let stored = effects.find_map(|effect| match effect {
            Effect::StoreTyped { command, .. } => Some(command),
            _ => None,
        });
        assert_eq!(stored.as_deref(), want, "{line:?}");
        assert!(app.prompt.is_empty());
    }
}

#[test]
fn unfinished_script_continues_on_another_line() {
    let mut app = app(None);
    for line in ["if true; then", "echo 'a", "b'"] {
        assert!(enters(&mut app, line).is_empty(), "{line}");
    }
    let effects = enters(&mut app, "fi");
    let command = &request_of(&effects).command;
    assert_eq!(command, "if true; then\necho 'a\nb'\nfi");
}

#[test]
fn line_is_a_call_and_a_leading_mark_makes_it_a_bang_command() {
    let mut app = app(None);
    assert!(enters(&mut app, "  ").is_empty());
    let effects = enters(&mut app, "ls");
    let request = request_of(&effects);
    assert_eq!((request.command.as_str(), request.pty), ("ls", None));
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
fn escape_and_ctrl_c_cancel_the_bang_command_first_and_never_quit() {
    for key in [
        (KeyCode::Esc, KeyModifiers::NONE),
        (KeyCode::Char('c'), KeyModifiers::CONTROL),
    ] {
        let mut app = app(None);
        enters(&mut app, "sleep 9");
        enters(&mut app, "!sleep 9");
        // The shell survives if the interrupt ends the command.
        assert!(matches!(
            press(&mut app, key.0, key.1)[..],
            [Effect::InterruptBang]
        ));
        assert!(matches!(
            press(&mut app, key.0, key.1)[..],
            [Effect::CancelBang]
        ));
        let bang = app.bang.unwrap();
        ended_with(&mut app, bang, CallEnd::Refused("x".to_owned()));
        app.take_effects();
        assert!(matches!(
            press(&mut app, key.0, key.1)[..],
            [Effect::CancelCall]
        ));
        end_call(&mut app);
        assert!(press(&mut app, key.0, key.1).is_empty());
    }
}

#[test]
fn selection_ends_before_anything_is_cancelled() {
    let mut app = app(None);
    enters(&mut app, "sleep 9");
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    assert!(app.focused_card().is_some());
    assert!(press(&mut app, KeyCode::Esc, KeyModifiers::NONE).is_empty());
    assert_eq!(app.focused_card(), None);
    let effects = press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    assert!(matches!(effects[..], [Effect::CancelCall]));
}

#[test]
fn ctrl_c_clears_the_line_before_it_cancels() {
    let mut app = app(None);
    enters(&mut app, "sleep 9");
    app.handle_event(&Event::Paste("half".to_owned()), NOW);
    assert!(ctrl(&mut app, 'c').is_empty());
    assert!(app.prompt.is_empty());
    assert!(matches!(ctrl(&mut app, 'c')[..], [Effect::CancelCall]));
    // Undo brings a cleared line back.
    ctrl(&mut app, '_');
    assert_eq!(app.prompt.text(), "half");
}

#[test]
fn keys_for_commands_say_that_nothing_has_run() {
    let keys = [
        (KeyCode::F(3), KeyModifiers::NONE),
        (KeyCode::F(4), KeyModifiers::NONE),
        (KeyCode::F(5), KeyModifiers::NONE),
        (KeyCode::Char('o'), KeyModifiers::CONTROL),
        (KeyCode::Char('f'), KeyModifiers::CONTROL),
    ];
    for (key, held) in keys {
        let mut app = app(Some(false));
        assert!(press(&mut app, key, held).is_empty());
        assert_eq!(app.message.as_deref(), Some(NO_COMMAND), "{key:?}");
    }
}

#[test]
fn shell_words_act_as_in_a_shell_or_name_the_key() {
    for (line, part) in [
        ("history", "ctrl+r"),
        ("jobs", "ctrl+g"),
        (" fg ", "ctrl+g"),
        ("!!", "!!command"),
    ] {
        let mut app = app(None);
        assert!(enters(&mut app, line).is_empty(), "{line}");
        let message = app.message.clone().unwrap_or_default();
        assert!(message.contains(part), "{line}: {message}");
        assert!(app.prompt.is_empty());
    }
    for line in ["exit", "logout"] {
        let effects = enters(&mut app(None), line);
        assert!(matches!(effects[..], [Effect::Quit { .. }]), "{line}");
    }
    let mut app = app(None);
    assert!(enters(&mut app, "clear").is_empty());
    assert!(app.transcript.is_empty());
    // `exit` with further words is a command.
    assert!(matches!(
        enters(&mut app, "exit 3")[..],
        [Effect::Call { .. }]
    ));
}

#[test]
fn queued_commands_are_in_the_history_at_exit() {
    let mut app = app(None);
    for line in ["sleep 9", "make", " secret"] {
        enters(&mut app, line);
    }
    assert!(ctrl(&mut app, 'd').is_empty());
    let key = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL);
    app.handle_event(&Event::Key(key), NOW);
    let effects = app.take_effects();
    let [Effect::StoreTyped { command, .. }, Effect::Quit { .. }] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(command, "make");
}

#[test]
fn message_that_is_no_longer_true_disappears() {
    let mut app = app(None);
    enters(&mut app, "!sleep 9");
    enters(&mut app, "!ls");
    assert!(app.message.is_some());
    let entry = app.bang.unwrap();
    ended_with(&mut app, entry, CallEnd::Refused("x".to_owned()));
    assert_eq!(app.message, None);
}

#[test]
fn ctrl_c_clears_and_ctrl_d_quits_only_an_empty_prompt() {
    let mut app = app(None);
    app.handle_event(&Event::Paste("half".to_owned()), NOW);
    assert!(ctrl(&mut app, 'd').is_empty());
    assert!(ctrl(&mut app, 'c').is_empty());
    assert!(app.prompt.is_empty());
    assert!(ctrl(&mut app, 'c').is_empty());
    assert_eq!(app.message.as_deref(), Some("ctrl+d quits"));
    assert!(matches!(
        ctrl(&mut app, 'd')[..],
        [Effect::Quit { ends_jobs: false }]
    ));
    assert!(matches!(ctrl(&mut app, 'z')[..], [Effect::Suspend]));
}

#[test]
fn quitting_asks_about_running_jobs_if_configured() {
    for (on_quit, jobs, answer, wanted) in [
        (OnQuit::Keep, 1, None, Some(false)),
        (OnQuit::End, 1, None, Some(true)),
        (OnQuit::Ask, 0, None, Some(false)),
        (OnQuit::Ask, 2, Some('e'), Some(true)),
        (OnQuit::Ask, 2, Some('k'), Some(false)),
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
            Effect::Quit { ends_jobs } => Some(*ends_jobs),
            _ => None,
        });
        assert_eq!(leaves, wanted, "{on_quit:?} {answer:?}");
        assert!(app.prompt.is_empty(), "an answer is no text");
    }
}

#[test]
fn quitting_first_names_the_command_that_it_would_end() {
    for (line, message) in [
        ("make test", "ctrl+d again ends `make test` and quits"),
        ("!make it", "ctrl+d again ends `make it` and quits"),
    ] {
        let mut app = app(None);
        enters(&mut app, line);
        let quits = |effects: &[Effect]| matches!(effects, [Effect::Quit { .. }]);
        assert!(ctrl(&mut app, 'd').is_empty());
        assert_eq!(app.message.as_deref(), Some(message));
        // Any other key cancels the confirmation.
        press(&mut app, KeyCode::PageUp, KeyModifiers::NONE);
        assert!(ctrl(&mut app, 'd').is_empty());
        assert!(quits(&ctrl(&mut app, 'd')));
        // The word `exit` is queued.
        assert!(enters(&mut app, "exit").is_empty());
        if let Some(call) = app.call {
            assert_eq!(app.queue.len(), 1);
            ended(&mut app, call);
            let effects = app.take_effects();
            let leaves = |it: &Effect| matches!(it, Effect::Quit { .. });
            assert!(effects.iter().any(leaves), "{effects:?}");
        } else {
            assert!(quits(&ctrl(&mut app, 'd')));
        }
    }
}

#[test]
fn help_closes_with_any_key_and_the_key_is_no_text() {
    let mut app = app(None);
    press(&mut app, KeyCode::Char('?'), KeyModifiers::NONE);
    assert!(app.help.is_some() && app.prompt.is_empty());
    press(&mut app, KeyCode::Char('x'), KeyModifiers::NONE);
    assert!(app.help.is_none() && app.prompt.is_empty());
    app.handle_event(&Event::Paste("what".to_owned()), NOW);
    press(&mut app, KeyCode::Char('?'), KeyModifiers::NONE);
    assert!(app.help.is_none());
    assert_eq!(app.prompt.text(), "what?");
}

#[test]
fn idle_interface_has_no_timer() {
    let mut app = app(None);
    assert!(!app.is_live() && app.deadline().is_none());
    enters(&mut app, "sleep 9");
    assert!(app.is_live());
    let call = app.call.unwrap();
    ended(&mut app, call);
    assert!(!app.is_live());
    assert_eq!(
        app.transcript.current().map(CardEntry::command),
        Some("sleep 9")
    );
}

#[test]
fn question_is_answered_only_by_a_key_meant_for_it() {
    let mut app = app(None);
    let early = Duration::from_millis(100);
    let later = Duration::from_secs(1);
    for (answer, allowed) in [('y', true), ('n', false)] {
        let (question, mut answered) = ApprovalQuestion::of("x", outside_request("it must"));
        app.ask_to_leave_sandbox(question, NOW);
        letter(&mut app, answer, early);
        letter(&mut app, 'x', later);
        assert!(answered.try_recv().is_err(), "nothing was answered");
        letter(&mut app, answer, later);
        assert_eq!(answered.try_recv(), Ok(allowed));
    }
    assert!(app.prompt.is_empty(), "no key went elsewhere");
    // The next question needs its own answer, and a question of a cancelled call disappears.
    let (first, mut answered) = ApprovalQuestion::of("x", outside_request("it must"));
    let (over, answer_of_over) = ApprovalQuestion::of("x", outside_request("it must"));
    let (last, mut answered_last) = ApprovalQuestion::of("x", outside_request("it must"));
    for question in [first, over, last] {
        app.ask_to_leave_sandbox(question, NOW);
    }
    drop(answer_of_over);
    letter(&mut app, 'y', later);
    letter(&mut app, 'y', later);
    assert_eq!(answered.try_recv(), Ok(true));
    assert!(answered_last.try_recv().is_err());
    letter(&mut app, 'n', later + later);
    assert_eq!(answered_last.try_recv(), Ok(false));
    letter(&mut app, 'z', later + later);
    assert_eq!(app.prompt.text(), "z");
}

#[test]
fn call_does_not_run_before_its_answer_and_its_time_starts_then() {
    for (answer, goes_on) in [
        ('y', CardState::Running),
        ('n', CardState::WaitingForAnswer),
    ] {
        let mut app = app(None);
        enters(&mut app, "curl x");
        let (question, _answered) = ApprovalQuestion::of("curl x", outside_request("it must"));
        app.ask_to_leave_sandbox(question, NOW);
        let seen = |app: &mut App, now| {
            let call = app.call.unwrap();
            app.transcript.change(call, |entry| entry.refresh(now));
            match &app.transcript.get(call).unwrap().card {
                Card::Tool(card) => (card.state.clone(), card.elapsed),
                _ => panic!("it has another card"),
            }
        };
        let at = Duration::from_secs;
        let waits = (CardState::WaitingForAnswer, NOW);
        assert_eq!(seen(&mut app, at(20)), waits, "it does not run");
        letter(&mut app, 'x', at(21));
        assert_eq!(seen(&mut app, at(22)), waits, "the key was no answer");
        letter(&mut app, answer, at(23));
        let duration = if answer == 'y' { at(2) } else { NOW };
        assert_eq!(seen(&mut app, at(25)), (goes_on, duration), "{answer}");
    }
}

#[test]
fn call_is_run_again_outside_of_the_sandbox() {
    let again = |app: &mut App| press(app, KeyCode::F(4), KeyModifiers::NONE);
    let mut app = app(None);
    assert!(again(&mut app).is_empty(), "no command has run");
    enters(&mut app, "ls");
    end_call(&mut app);
    assert!(again(&mut app).is_empty(), "calls have no sandbox");
    app.sandbox.level = SandboxLevel::ReadOnly;
    for (is_safe_mode, message) in [(false, "escalation"), (true, "safe mode")] {
        app.is_safe_mode = is_safe_mode;
        assert!(again(&mut app).is_empty(), "it would be refused");
        assert!(app.message.as_deref().unwrap().contains(message));
    }
    app.is_safe_mode = false;
    app.sandbox.escalation = Escalation::Ask;
    // A line on the prompt takes precedence over the last command.
    app.handle_event(&Event::Paste("id".to_owned()), NOW);
    let effects = again(&mut app);
    let request = request_of(&effects);
    assert!(request.command == "id" && request.sandbox.is_some());
    assert!(app.prompt.is_empty());
    assert_eq!(
        current_card(&app).host_lines.len(),
        1,
        "the card says that the call ran outside"
    );
    end_call(&mut app);
    enters(&mut app, "ls");
    end_call(&mut app);
    let effects = again(&mut app);
    let request = request_of(&effects);
    assert_eq!(request.command, "ls");
    let wanted = request.sandbox.as_ref().unwrap();
    assert_eq!(wanted.level, Some(SandboxLevel::Off));
}

#[test]
fn line_or_the_last_command_runs_as_a_trial() {
    let tried = |app: &mut App| match &press(app, KeyCode::F(3), KeyModifiers::NONE)[..] {
        [.., Effect::Call { request, entry, .. }] => {
            let tried = (request.command.clone(), request.trial, request.pty);
            ended(app, *entry);
            app.take_effects();
            Some(tried)
        }
        _ => None,
    };
    let mut app = app(Some(true));
    assert_eq!(tried(&mut app), None, "there is nothing to try");
    app.handle_event(&Event::Paste("rm x".to_owned()), NOW);
    let held = Some(TrialRequest::Hold);
    // A trial is not on a terminal.
    let want = Some(("rm x".to_owned(), held, Some(false)));
    assert_eq!(tried(&mut app), want);
    assert!(app.prompt.is_empty());
    assert_eq!(tried(&mut app), want, "the last one again");
    app.handle_event(&Event::Paste("!rm x".to_owned()), NOW);
    assert_eq!(tried(&mut app), None);
    assert!(app.message.as_deref().unwrap().contains("`!`"));
    app.prompt.clear();
    enters(&mut app, "sleep 9");
    assert_eq!(tried(&mut app), None, "one at a time");
}
