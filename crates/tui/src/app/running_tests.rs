use super::*;
use crate::app::Msg;
use crate::app::tests::{NOW, app, ctrl, ended, enters, press};
use crate::complete::Commands;
use agent_bash::core::SessionName;
use crossterm::event::{Event, KeyCode, KeyModifiers};

/// The commands that start, of these effects.
pub(in crate::app) fn starts(effects: &[Effect]) -> Vec<&str> {
    let mut started = Vec::new();
    for effect in effects {
        if let Effect::Call { request, .. } = effect {
            started.push(request.command.as_str());
        }
    }
    started
}

#[test]
fn calls_wait_for_the_one_that_runs_and_can_be_taken_back() {
    let mut app = app(None);
    enters(&mut app, "sleep 9");
    for waits in ["one", "two", "three"] {
        assert!(enters(&mut app, waits).is_empty());
        assert!(app.prompt.is_empty());
    }
    // The last one comes back, and is not run.
    press(&mut app, KeyCode::Up, KeyModifiers::NONE);
    assert_eq!((app.prompt.text().as_str(), app.queue.len()), ("three", 2));
    app.prompt.clear();
    let call = app.call.unwrap();
    ended(&mut app, call);
    assert_eq!(starts(&app.effects()), ["one"]);
    // Whoever cancels gets the others back, in order.
    enters(&mut app, "four");
    app.event(&Event::Paste("typed".to_owned()), NOW);
    press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    let call = app.call.unwrap();
    ended(&mut app, call);
    assert!(starts(&app.effects()).is_empty() && app.queue.is_empty());
    assert_eq!(app.prompt.text(), "two\nfour\ntyped");
}

#[test]
fn what_takes_the_keys_does_not_start_in_the_middle_of_a_line() {
    let mut app = app(Some(false));
    let end = |app: &mut App| {
        let call = app.call.unwrap();
        ended(app, call);
        starts(&app.effects()).join(",")
    };
    enters(&mut app, "sleep 3");
    enters(&mut app, "vim a");
    enters(&mut app, "ls");
    app.event(&Event::Paste("echo he".to_owned()), NOW);
    assert_eq!((end(&mut app).as_str(), app.queue.len()), ("", 2));
    // The line goes behind what waits, also if that is all that it waits for.
    app.event(&Event::Paste("llo".to_owned()), NOW);
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(starts(&effects), ["vim a"]);
    assert_eq!(end(&mut app), "ls");
    assert_eq!(end(&mut app), "echo hello");
    assert_eq!(end(&mut app), "");
    // So does one that is cleared; Esc takes back what waits.
    for (key, held, started) in [
        (KeyCode::Char('c'), KeyModifiers::CONTROL, "vim a"),
        (KeyCode::Esc, KeyModifiers::NONE, ""),
    ] {
        enters(&mut app, "sleep 3");
        enters(&mut app, "vim a");
        app.event(&Event::Paste("x".to_owned()), NOW);
        assert_eq!(end(&mut app), "");
        let effects = press(&mut app, key, held);
        assert_eq!(starts(&effects).join(","), started);
        assert!(app.queue.is_empty());
        if !started.is_empty() {
            end(&mut app);
        }
    }
    assert_eq!(app.prompt.text(), "vim a\nx");
    app.prompt.clear();
    // Nor over a panel, a card that has the keys, or the help.
    for (open, held) in [
        (KeyCode::F(2), KeyModifiers::NONE),
        (KeyCode::F(1), KeyModifiers::NONE),
        (KeyCode::Up, KeyModifiers::CONTROL),
    ] {
        enters(&mut app, "sleep 3");
        enters(&mut app, "vim a");
        press(&mut app, open, held);
        assert_eq!(end(&mut app), "", "{open:?}");
        let effects = press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(starts(&effects), ["vim a"], "{open:?}");
        end(&mut app);
    }
    // Keys that come right after it has started by itself are still the line's.
    let key = Event::Key(KeyCode::Char('x').into());
    let moment = AT_LEAST;
    enters(&mut app, "sleep 3");
    enters(&mut app, "vim a");
    assert!(!app.is_for_line(&key, NOW));
    assert_eq!(end(&mut app), "vim a");
    assert!(app.is_for_line(&key, NOW) && !app.is_for_line(&key, NOW + moment));
    end(&mut app);
    enters(&mut app, "vim a");
    assert!(!app.is_for_line(&key, NOW));
    end(&mut app);
    // What needs no keys does not wait.
    enters(&mut app, "sleep 3");
    enters(&mut app, "ls");
    app.event(&Event::Paste("x".to_owned()), NOW);
    assert_eq!(end(&mut app), "ls");
    assert!(!app.waits_for_keys());
}

#[test]
fn an_exit_that_waits_does_not_leave_in_the_middle_of_a_line() {
    let leaves = |effects: &[Effect]| {
        let mut effects = effects.iter();
        effects.any(|effect| matches!(effect, Effect::Quit { .. }))
    };
    let held = || {
        let mut app = app(None);
        enters(&mut app, "sleep 3");
        enters(&mut app, "exit");
        app.event(&Event::Paste("echo dra".to_owned()), NOW);
        let call = app.call.unwrap();
        ended(&mut app, call);
        assert!(!leaves(&app.effects()) && app.waits_to_quit());
        assert_eq!(app.prompt.text(), "echo dra");
        app
    };
    // Entered, the line comes first.
    let mut app = held();
    app.event(&Event::Paste("ft".to_owned()), NOW);
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(starts(&effects), ["echo draft"]);
    assert!(!leaves(&effects));
    // What is entered while that runs comes behind the `exit`, as it was typed later.
    enters(&mut app, "echo later");
    let call = app.call.unwrap();
    ended(&mut app, call);
    assert!(leaves(&app.effects()));
    // Cleared, there is nothing left to wait for.
    assert!(leaves(&ctrl(&mut held(), 'c')));
    // Nor is it asked in the middle of a panel.
    let mut app = self::app(None);
    enters(&mut app, "sleep 3");
    enters(&mut app, "exit");
    press(&mut app, KeyCode::F(1), KeyModifiers::NONE);
    let call = app.call.unwrap();
    ended(&mut app, call);
    assert!(!leaves(&app.effects()));
    assert!(leaves(&press(&mut app, KeyCode::Esc, KeyModifiers::NONE)));
}

#[test]
fn one_command_of_the_persons_own_runs_at_a_time_and_what_was_typed_stays() {
    let mut app = app(None);
    enters(&mut app, "!sleep 9");
    assert!(enters(&mut app, "!ls").is_empty());
    assert_eq!(app.prompt.text(), "!ls");
    assert_eq!(
        app.message.as_deref(),
        Some("A bash command is already running. Press Esc to cancel it first.")
    );
    app.prompt.clear();
    assert_eq!(starts(&enters(&mut app, "ls")), ["ls"]);
}

#[test]
fn a_command_of_the_persons_own_that_needs_a_terminal_says_how_it_gets_one() {
    let mut app = app(Some(false));
    assert!(enters(&mut app, "!vim notes").is_empty());
    assert_eq!(app.prompt.text(), "!vim notes");
    let said = "`vim` needs a terminal: without ! it gets one";
    assert_eq!(app.message.as_deref(), Some(said));
    app.prompt.clear();
    assert!(matches!(
        enters(&mut app, "!vim --version")[..],
        [Effect::Bang { .. }]
    ));
}

/// Starts a command and ends it: its request, and whether it is known to draw.
fn started(app: &mut App, command: &str) -> (Request, bool) {
    let mut effects = enters(app, command);
    let Some(Effect::Call { request, entry, .. }) = effects.pop() else {
        panic!("{command} did not start");
    };
    ended(app, entry);
    app.effects();
    (request, app.draws)
}

#[test]
fn a_command_that_needs_a_terminal_gets_one() {
    let mut app = app(Some(false));
    for (command, terminal, draws) in [
        ("ls", false, false),
        ("vim a", true, true),
        ("git commit -m x", false, false),
        ("python3", true, false),
    ] {
        let (request, drew) = started(&mut app, command);
        assert_eq!((request.pty, drew), (Some(terminal), draws), "{command}");
    }
    ctrl(&mut app, 't');
    assert_eq!(started(&mut app, "ls").0.pty, Some(true));
    // Where there are no terminals, nothing is asked for.
    let mut app = self::app(None);
    assert_eq!(started(&mut app, "vim a").0.pty, None);
}

#[test]
fn a_command_is_run_again_on_a_terminal_also_while_it_runs() {
    let mut app = app(Some(false));
    enters(&mut app, "ls");
    let effects = press(&mut app, KeyCode::F(5), KeyModifiers::NONE);
    assert!(matches!(
        effects[..],
        [Effect::ReplaceCall { gently: false }]
    ));
    let call = app.call.unwrap();
    ended(&mut app, call);
    let effects = app.effects();
    let [Effect::Call { request, .. }, ..] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!((request.command.as_str(), request.pty), ("ls", Some(true)));
}

#[test]
fn the_line_is_run_on_a_terminal_rather_than_the_last_command() {
    let mut app = app(Some(false));
    started(&mut app, "ls");
    app.event(&Event::Paste("top".to_owned()), NOW);
    let effects = press(&mut app, KeyCode::F(5), KeyModifiers::NONE);
    let [Effect::Call { request, .. }] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!((request.command.as_str(), request.pty), ("top", Some(true)));
    assert!(app.prompt.is_empty());
    // Meanwhile another one waits, and does not cancel it.
    app.event(&Event::Paste("htop".to_owned()), NOW);
    assert!(press(&mut app, KeyCode::F(5), KeyModifiers::NONE).is_empty());
    assert_eq!(app.queue.len(), 1);
    app.event(&Event::Paste("!top".to_owned()), NOW);
    assert!(press(&mut app, KeyCode::F(5), KeyModifiers::NONE).is_empty());
    assert!(app.message.as_deref().unwrap().contains("`!`"));
}

#[test]
fn a_trial_that_waits_is_one_still_when_it_is_taken_back() {
    let mut app = app(None);
    enters(&mut app, "sleep 9");
    app.event(&Event::Paste("rm x".to_owned()), NOW);
    press(&mut app, KeyCode::F(3), KeyModifiers::NONE);
    press(&mut app, KeyCode::Up, KeyModifiers::NONE);
    assert_eq!(app.prompt.text(), "rm x");
    // Nor does an editor make it another.
    app.edited(Ok("rm y".to_owned()));
    assert!(press(&mut app, KeyCode::Enter, KeyModifiers::NONE).is_empty());
    let trials = |app: &App| app.queue.iter().filter(|it| it.trial.is_some()).count();
    assert_eq!((app.queue.len(), trials(&app)), (1, 1));
    // Neither is it what comes from the history, nor another line.
    press(&mut app, KeyCode::Up, KeyModifiers::NONE);
    ctrl(&mut app, 'c');
    enters(&mut app, "ls");
    assert_eq!((app.queue.len(), trials(&app)), (1, 0));
    // Cancelled, all that waited is one text, and none of it is run for real.
    app.event(&Event::Paste("rm x".to_owned()), NOW);
    press(&mut app, KeyCode::F(3), KeyModifiers::NONE);
    press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    let call = app.call.unwrap();
    ended(&mut app, call);
    assert!(app.prompt.is_trial && app.prompt.text() == "ls\nrm x");
}

/// It does not outlive its view, which is gone then.
#[test]
fn what_a_trial_has_in_the_background_is_said_to_end_with_it() {
    let said = |line: &str, key: KeyCode| {
        let mut app = app(Some(false));
        app.event(&Event::Paste(line.to_owned()), NOW);
        press(&mut app, key, KeyModifiers::NONE);
        match &app.transcript.current().unwrap().card {
            Card::Tool(card) => card.asides.clone(),
            _ => Vec::new(),
        }
    };
    let line = "sleep 60 & echo bg > bg.txt";
    let left = format!("{ENDS_WITH_IT}: sleep 60");
    let left = FooterLine::Notice(left);
    assert!(said(line, KeyCode::F(3)).contains(&left));
    assert!(!said(line, KeyCode::Enter).contains(&left));
    assert_eq!(said("sleep 60", KeyCode::F(3)).len(), 1);
}

#[test]
fn commands_keep_their_shell_or_say_why_not() {
    let said = |app: &App| match &app.transcript.current().unwrap().card {
        Card::Tool(card) => card.asides.clone(),
        _ => Vec::new(),
    };
    let mut app = app(Some(false));
    started(&mut app, "cd src");
    assert_eq!(said(&app).len(), 1, "without a shell that stays");
    app.shell = Some(SessionName("prompt".to_owned()));
    let (request, _) = started(&mut app, "cd src");
    assert_eq!((request.session, request.cwd), (app.shell.clone(), None));
    assert!(said(&app).is_empty());
    // A command of its own runs where that shell stands.
    for (command, is_said) in [("vim a", false), ("cd src && vim a", true)] {
        let (request, _) = started(&mut app, command);
        assert_eq!(
            (request.session, request.cwd.as_deref()),
            (None, Some("/p"))
        );
        assert_eq!(!said(&app).is_empty(), is_said, "{command}");
    }
}

#[test]
fn where_the_directory_is_gone_commands_start_above_it() {
    let mut app = app(Some(false));
    app.directory.instead = Some("/".into());
    for shell in [None, Some(SessionName("prompt".to_owned()))] {
        app.shell.clone_from(&shell);
        let (request, _) = started(&mut app, "cd /tmp");
        assert_eq!(
            (request.session, request.cwd.as_deref()),
            (shell, Some("/"))
        );
        let Card::Tool(card) = &app.transcript.current().unwrap().card else {
            panic!("it has another card");
        };
        let said = FooterLine::Notice("/p cannot be entered: this starts in /".to_owned());
        assert!(card.asides.contains(&said), "{:?}", card.asides);
    }
}

#[test]
fn functions_typed_at_the_prompt_are_known() {
    let mut app = app(Some(false));
    app.shell = Some(SessionName("prompt".to_owned()));
    let is_known = |app: &App, name| {
        let commands = app.prompt.commands.as_ref();
        commands.is_some_and(|commands| commands.contains(name))
    };
    let read = |defined: &[&str]| {
        let defined = defined.iter().map(ToString::to_string).collect();
        Msg::Commands(Arc::new(Commands::read(Vec::new(), defined)))
    };
    app.update(read(&[]));
    started(
        &mut app,
        "greet() { echo hello; }; (lost() { :; }); echo greet",
    );
    assert!(is_known(&app, "greet") && !is_known(&app, "lost"));
    // Also when the configuration is read later; what was read without it comes too late then.
    for _ in 0..2 {
        app.update(read(&["configured"]));
        app.update(read(&[]));
        assert!(is_known(&app, "greet") && is_known(&app, "configured"));
    }
    // One in a shell of its own is gone with it.
    app.shell = None;
    started(&mut app, "other() { :; }");
    assert!(!is_known(&app, "other"));
}

#[test]
fn what_an_alias_stands_for_decides_about_a_terminal() {
    let mut app = app(Some(false));
    app.shell = Some(SessionName("prompt".to_owned()));
    let own = ("own".to_owned(), "vim".to_owned());
    app.update(Msg::Aliases(vec![own]));
    for (line, wanted) in [
        ("v a", false),
        ("own a", true),
        ("alias v='vim -R' x=cat", false),
        ("v a", true),
        ("x a", false),
        ("unalias v", false),
        ("v a", false),
    ] {
        started(&mut app, line);
        assert_eq!(app.draws, wanted, "{line}");
    }
    // Nor do one's own commands get one.
    assert!(enters(&mut app, "!own a").is_empty());
    let said = app.message.unwrap_or_default();
    assert!(said.contains("needs a terminal"), "{said}");
}

#[test]
fn a_path_that_is_typed_is_looked_up_and_again_after_a_command() {
    let looks = |effects: &[Effect]| {
        let look = |effect: &Effect| match effect {
            Effect::LookUp(path) => Some(path.clone()),
            _ => None,
        };
        effects.iter().find_map(look)
    };
    let mut app = app(None);
    app.event(&Event::Paste("./a x".to_owned()), NOW);
    assert_eq!(looks(&app.effects()).as_deref(), Some("./a"));
    let effects = press(&mut app, KeyCode::Char('y'), KeyModifiers::NONE);
    assert_eq!(looks(&effects), None);
    app.update(Msg::Directory(app.directory.clone()));
    assert_eq!(looks(&app.effects()).as_deref(), Some("./a"));
}

/// Of the shell that stays nothing is lost, and of another one all of it.
#[test]
fn what_a_line_sets_is_said_to_be_lost_where_its_shell_is_another() {
    let said = |line: &str| {
        let mut app = app(Some(false));
        app.shell = Some(SessionName("prompt".to_owned()));
        enters(&mut app, line);
        let entry = app.transcript.current();
        let Some(Card::Tool(card)) = entry.map(|entry| &entry.card) else {
            panic!("no card");
        };
        let said = card.asides.iter().filter_map(|aside| match aside {
            FooterLine::Notice(said) => said.split_once(" for this line only: "),
            _ => None,
        });
        let said: Vec<&str> = said.map(|(what, _)| what).collect();
        said.join("; ")
    };
    for (line, want) in [
        (
            "export DB=prod; cd x; sqlite3 y.db",
            "the directory changes; what is set (DB) is known",
        ),
        (
            ". .venv/bin/activate && python3",
            "what is set (. .venv/bin/activate) is known",
        ),
        (
            "x=1; read line",
            "what is read is known; what is set (x) is known",
        ),
        ("A=1 vim a", ""),
        ("export DB=prod; alias x=y; ls", ""),
    ] {
        assert_eq!(said(line), want, "{line}");
    }
}
