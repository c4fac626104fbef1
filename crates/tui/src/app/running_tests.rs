use super::*;
use crate::app::Msg;
use crate::app::tests::{NOW, app, ctrl, current_card, end_call, ended, enters, press, request_of};
use crate::complete::Commands;
use agent_bash::core::SessionName;
use crossterm::event::{Event, KeyCode, KeyModifiers};

/// The commands that these effects start.
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
fn calls_queue_behind_the_running_one_and_can_be_taken_back() {
    let mut app = app(None);
    enters(&mut app, "sleep 9");
    for waits in ["one", "two", "three"] {
        assert!(enters(&mut app, waits).is_empty());
        assert!(app.prompt.is_empty());
    }
    // The last queued command returns to the prompt, and does not run.
    press(&mut app, KeyCode::Up, KeyModifiers::NONE);
    assert_eq!((app.prompt.text().as_str(), app.queue.len()), ("three", 2));
    app.prompt.clear();
    assert_eq!(starts(&end_call(&mut app)), ["one"]);
    // After a cancel, the other commands return to the prompt, in order.
    enters(&mut app, "four");
    app.handle_event(&Event::Paste("typed".to_owned()), NOW);
    press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    assert!(starts(&end_call(&mut app)).is_empty() && app.queue.is_empty());
    assert_eq!(app.prompt.text(), "two\nfour\ntyped");
}

#[test]
fn command_that_takes_the_keys_does_not_start_in_the_middle_of_a_line() {
    let mut app = app(Some(false));
    let end = |app: &mut App| starts(&end_call(app)).join(",");
    enters(&mut app, "sleep 3");
    enters(&mut app, "vim a");
    enters(&mut app, "ls");
    app.handle_event(&Event::Paste("echo he".to_owned()), NOW);
    assert_eq!((end(&mut app).as_str(), app.queue.len()), ("", 2));
    // The line queues behind the waiting command, even if the command waits only for the line.
    app.handle_event(&Event::Paste("llo".to_owned()), NOW);
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(starts(&effects), ["vim a"]);
    assert_eq!(end(&mut app), "ls");
    assert_eq!(end(&mut app), "echo hello");
    assert_eq!(end(&mut app), "");
    // A cleared line releases the command, too. Esc returns the command to the prompt.
    for (key, held, started) in [
        (KeyCode::Char('c'), KeyModifiers::CONTROL, "vim a"),
        (KeyCode::Esc, KeyModifiers::NONE, ""),
    ] {
        enters(&mut app, "sleep 3");
        enters(&mut app, "vim a");
        app.handle_event(&Event::Paste("x".to_owned()), NOW);
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
    // The command does not start over a panel, a card that has the keys, or the help either.
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
    // Keys that follow its start immediately still belong to the line.
    let key = Event::Key(KeyCode::Char('x').into());
    let moment = MIN_SHOWN_TIME;
    enters(&mut app, "sleep 3");
    enters(&mut app, "vim a");
    assert!(!app.is_for_prompt(&key, NOW));
    assert_eq!(end(&mut app), "vim a");
    assert!(app.is_for_prompt(&key, NOW) && !app.is_for_prompt(&key, NOW + moment));
    end(&mut app);
    enters(&mut app, "vim a");
    assert!(!app.is_for_prompt(&key, NOW));
    end(&mut app);
    // A command that needs no keys does not wait.
    enters(&mut app, "sleep 3");
    enters(&mut app, "ls");
    app.handle_event(&Event::Paste("x".to_owned()), NOW);
    assert_eq!(end(&mut app), "ls");
    assert!(!app.waits_for_keys());
}

#[test]
fn queued_exit_does_not_leave_in_the_middle_of_a_line() {
    let leaves = |effects: &[Effect]| {
        let mut effects = effects.iter();
        effects.any(|effect| matches!(effect, Effect::Quit { .. }))
    };
    let held = || {
        let mut app = app(None);
        enters(&mut app, "sleep 3");
        enters(&mut app, "exit");
        app.handle_event(&Event::Paste("echo dra".to_owned()), NOW);
        assert!(!leaves(&end_call(&mut app)) && app.waits_to_quit());
        assert_eq!(app.prompt.text(), "echo dra");
        app
    };
    // If the line is entered, it runs first.
    let mut app = held();
    app.handle_event(&Event::Paste("ft".to_owned()), NOW);
    let effects = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(starts(&effects), ["echo draft"]);
    assert!(!leaves(&effects));
    // A line entered meanwhile queues behind the `exit`, because it was typed later.
    enters(&mut app, "echo later");
    assert!(leaves(&end_call(&mut app)));
    // After the line is cleared, there is nothing left to wait for.
    assert!(leaves(&ctrl(&mut held(), 'c')));
    // The interface does not quit over an open panel either.
    let mut app = self::app(None);
    enters(&mut app, "sleep 3");
    enters(&mut app, "exit");
    press(&mut app, KeyCode::F(1), KeyModifiers::NONE);
    assert!(!leaves(&end_call(&mut app)));
    assert!(leaves(&press(&mut app, KeyCode::Esc, KeyModifiers::NONE)));
}

#[test]
fn second_bang_command_is_refused_and_stays_in_the_prompt() {
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
fn bang_command_that_needs_a_terminal_names_the_way_to_get_one() {
    let mut app = app(Some(false));
    assert!(enters(&mut app, "!vim notes").is_empty());
    assert_eq!(app.prompt.text(), "!vim notes");
    let message = "`vim` needs a terminal: without ! it gets one";
    assert_eq!(app.message.as_deref(), Some(message));
    app.prompt.clear();
    assert!(matches!(
        enters(&mut app, "!vim --version")[..],
        [Effect::Bang { .. }]
    ));
}

/// Starts and ends a command. Returns its request, and whether it is a known full-screen program.
fn started(app: &mut App, command: &str) -> (Request, bool) {
    let mut effects = enters(app, command);
    let Some(Effect::Call { request, entry, .. }) = effects.pop() else {
        panic!("{command} did not start");
    };
    ended(app, entry);
    app.take_effects();
    (*request, app.is_full_screen)
}

#[test]
fn command_that_needs_a_terminal_gets_one() {
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
    // Without terminals, none is requested.
    let mut app = self::app(None);
    assert_eq!(started(&mut app, "vim a").0.pty, None);
}

#[test]
fn command_is_run_again_on_a_terminal_even_while_it_runs() {
    let mut app = app(Some(false));
    enters(&mut app, "ls");
    let effects = press(&mut app, KeyCode::F(5), KeyModifiers::NONE);
    assert!(matches!(
        effects[..],
        [Effect::ReplaceCall { gently: false }]
    ));
    let effects = end_call(&mut app);
    let [Effect::Call { request, .. }, ..] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!((request.command.as_str(), request.pty), ("ls", Some(true)));
}

#[test]
fn line_is_run_on_a_terminal_rather_than_the_last_command() {
    let mut app = app(Some(false));
    started(&mut app, "ls");
    app.handle_event(&Event::Paste("top".to_owned()), NOW);
    let effects = press(&mut app, KeyCode::F(5), KeyModifiers::NONE);
    let request = request_of(&effects);
    assert_eq!((request.command.as_str(), request.pty), ("top", Some(true)));
    assert!(app.prompt.is_empty());
    // Another line queues meanwhile, and does not cancel the command.
    app.handle_event(&Event::Paste("htop".to_owned()), NOW);
    assert!(press(&mut app, KeyCode::F(5), KeyModifiers::NONE).is_empty());
    assert_eq!(app.queue.len(), 1);
    app.handle_event(&Event::Paste("!top".to_owned()), NOW);
    assert!(press(&mut app, KeyCode::F(5), KeyModifiers::NONE).is_empty());
    assert!(app.message.as_deref().unwrap().contains("`!`"));
}

#[test]
fn queued_trial_stays_a_trial_when_taken_back() {
    let mut app = app(None);
    enters(&mut app, "sleep 9");
    app.handle_event(&Event::Paste("rm x".to_owned()), NOW);
    press(&mut app, KeyCode::F(3), KeyModifiers::NONE);
    press(&mut app, KeyCode::Up, KeyModifiers::NONE);
    assert_eq!(app.prompt.text(), "rm x");
    // After the editor, the line is still a trial.
    app.editor_ended(Ok("rm y".to_owned()));
    assert!(press(&mut app, KeyCode::Enter, KeyModifiers::NONE).is_empty());
    let trials = |app: &App| app.queue.iter().filter(|it| it.trial.is_some()).count();
    assert_eq!((app.queue.len(), trials(&app)), (1, 1));
    // A line of the history is no trial, nor is a new line.
    press(&mut app, KeyCode::Up, KeyModifiers::NONE);
    ctrl(&mut app, 'c');
    enters(&mut app, "ls");
    assert_eq!((app.queue.len(), trials(&app)), (1, 0));
    // After a cancel, all queued commands are one text, which runs as a trial.
    app.handle_event(&Event::Paste("rm x".to_owned()), NOW);
    press(&mut app, KeyCode::F(3), KeyModifiers::NONE);
    press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    end_call(&mut app);
    assert!(app.prompt.is_trial && app.prompt.text() == "ls\nrm x");
}

/// A background process ends with the trial, whose view of the files is removed.
#[test]
fn card_of_a_trial_says_that_background_processes_end_with_it() {
    let message = |line: &str, key: KeyCode| {
        let mut app = app(Some(false));
        app.handle_event(&Event::Paste(line.to_owned()), NOW);
        press(&mut app, key, KeyModifiers::NONE);
        current_card(&app).host_lines.clone()
    };
    let line = "sleep 60 & echo bg > bg.txt";
    let left = format!("{BACKGROUND_TRIAL_NOTE}: sleep 60");
    let left = FooterLine::Notice(left);
    assert!(message(line, KeyCode::F(3)).contains(&left));
    assert!(!message(line, KeyCode::Enter).contains(&left));
    assert_eq!(message("sleep 60", KeyCode::F(3)).len(), 1);
}

#[test]
fn commands_use_the_persistent_shell_or_say_why_not() {
    let message = |app: &App| current_card(app).host_lines.clone();
    let mut app = app(Some(false));
    started(&mut app, "cd src");
    assert_eq!(message(&app).len(), 1, "without a shell that stays");
    app.shell = Some(SessionName("prompt".to_owned()));
    let (request, _) = started(&mut app, "cd src");
    assert_eq!((request.session, request.cwd), (app.shell.clone(), None));
    assert!(message(&app).is_empty());
    // A command with its own shell runs in the directory of the persistent shell.
    for (command, is_shown) in [("vim a", false), ("cd src && vim a", true)] {
        let (request, _) = started(&mut app, command);
        assert_eq!(
            (request.session, request.cwd.as_deref()),
            (None, Some("/p"))
        );
        assert_eq!(!message(&app).is_empty(), is_shown, "{command}");
    }
}

#[test]
fn commands_start_in_a_parent_of_a_missing_directory() {
    let mut app = app(Some(false));
    app.directory.fallback = Some("/".into());
    for shell in [None, Some(SessionName("prompt".to_owned()))] {
        app.shell.clone_from(&shell);
        let (request, _) = started(&mut app, "cd /tmp");
        assert_eq!(
            (request.session, request.cwd.as_deref()),
            (shell, Some("/"))
        );
        let message = FooterLine::Notice("/p cannot be entered: this starts in /".to_owned());
        let lines = &current_card(&app).host_lines;
        assert!(lines.contains(&message), "{lines:?}");
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
    // Also after the configuration is read. A list read without the configuration then arrives too
    // late.
    for _ in 0..2 {
        app.update(read(&["configured"]));
        app.update(read(&[]));
        assert!(is_known(&app, "greet") && is_known(&app, "configured"));
    }
    // A function of a one-shot shell ends with it.
    app.shell = None;
    started(&mut app, "other() { :; }");
    assert!(!is_known(&app, "other"));
}

#[test]
fn expansion_of_an_alias_decides_about_a_terminal() {
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
        assert_eq!(app.is_full_screen, wanted, "{line}");
    }
    // Bang commands get no terminal.
    assert!(enters(&mut app, "!own a").is_empty());
    let message = app.message.unwrap_or_default();
    assert!(message.contains("needs a terminal"), "{message}");
}

#[test]
fn typed_path_is_looked_up_and_again_after_a_command() {
    let looks = |effects: &[Effect]| {
        let look = |effect: &Effect| match effect {
            Effect::LookUp(path) => Some(path.clone()),
            _ => None,
        };
        effects.iter().find_map(look)
    };
    let mut app = app(None);
    app.handle_event(&Event::Paste("./a x".to_owned()), NOW);
    assert_eq!(looks(&app.take_effects()).as_deref(), Some("./a"));
    let effects = press(&mut app, KeyCode::Char('y'), KeyModifiers::NONE);
    assert_eq!(looks(&effects), None);
    app.update(Msg::Directory(app.directory.clone()));
    assert_eq!(looks(&app.take_effects()).as_deref(), Some("./a"));
}

/// The persistent shell loses no state, a one-shot shell loses all of it.
#[test]
fn lost_shell_state_is_reported_if_the_shell_is_not_persistent() {
    let message = |line: &str| {
        let mut app = app(Some(false));
        app.shell = Some(SessionName("prompt".to_owned()));
        enters(&mut app, line);
        let lines = current_card(&app).host_lines.iter();
        let message = lines.filter_map(|line| match line {
            FooterLine::Notice(message) => message.split_once(" for this line only: "),
            _ => None,
        });
        let message: Vec<&str> = message.map(|(what, _)| what).collect();
        message.join("; ")
    };
    for (line, want) in [
        (
            "export DB=prod; cd x; sqlite3 y.db",
            "the directory changes; `DB` takes effect",
        ),
        (
            ". .venv/bin/activate && python3",
            "`. .venv/bin/activate` takes effect",
        ),
        ("x=1; read line", "`read` takes effect; `x` takes effect"),
        ("A=1 vim a", ""),
        ("export DB=prod; alias x=y; ls", ""),
    ] {
        assert_eq!(message(line), want, "{line}");
    }
}
