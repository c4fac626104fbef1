use super::*;
use crate::OnQuit;
use crate::app::{App, Msg};
use crate::approvals::ApprovalQuestion;
use crate::calls::CallEnd;
use crate::change_actions::ProposedAction;
use crate::change_work::ChangeWorkResult;
use crate::jobs_state::JobsState;
use crate::pager_source::{self, LineRange, LineSource};
use crate::pager_state::PagerState;
use crate::prompt_directory::PromptDirectory;
use agent_bash::ChangesAct;
use agent_bash::core::changes::{
    Change, Changes, ChangesBy, ChangesId, ChangesState, FileChange, FileName, Undoable,
};
use agent_bash::core::sandbox::{Network, SandboxLevel, SandboxRequest};
use agent_bash::core::{Status, Timestamp, ToolResult};
use agent_bash::sink::FileView;
use agent_bash_render::{DiffLine, Theme};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::fmt::Write as _;
use std::io::Write as _;

fn app() -> App {
    App::new(
        Theme::dark(),
        Some(true),
        PromptDirectory {
            branch: Some("main".to_owned()),
            ..PromptDirectory::for_tests("~/project")
        },
        "paged".to_owned(),
    )
}

fn press(app: &mut App, code: KeyCode) {
    app.handle_event(
        &Event::Key(KeyEvent::new(code, KeyModifiers::NONE)),
        Duration::ZERO,
    );
}

fn enters(app: &mut App, text: &str) {
    app.handle_event(&Event::Paste(text.to_owned()), Duration::ZERO);
    press(app, KeyCode::Enter);
}

/// The screen as text; empty if it has no cells.
fn drawn(app: &mut App, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| draw(app, frame, Duration::from_millis(1200)))
        .unwrap();
    if width == 0 {
        return String::new();
    }
    terminal.backend().to_string()
}

/// A selected card with changes, its diff, and the question whether to undo them.
fn with_changes() -> (App, App, App) {
    let [chosen, mut diff, mut undo] = std::array::from_fn(|_| {
        let mut app = app();
        enters(&mut app, "make");
        let entry = app.call.unwrap();
        let file = FileChange::new(FileName::new("a.rs"), Change::Created);
        let (state, by) = (ChangesState::Done, ChangesBy::Trace);
        let mut set = Changes::new(ChangesId(7), state, by, "/p").with_files([file]);
        set.undo = Undoable::Whole;
        let mut result = ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0));
        result.changes = Some(set);
        let end = CallEnd::Tool {
            result: Box::new(result),
            refused: None,
        };
        app.update(Msg::Ended {
            entry,
            end,
            now: Duration::ZERO,
        });
        let up = KeyEvent::new(KeyCode::Up, KeyModifiers::CONTROL);
        app.handle_event(&Event::Key(up), Duration::ZERO);
        app
    });
    let msg = |app: &App, done| Msg::Changes {
        entry: app.focused_changes().unwrap().0,
        id: ChangesId(7),
        done,
        now: Duration::ZERO,
    };
    let file = FileChange::new(FileName::new("a.rs"), Change::Created);
    let lines = vec![
        DiffLine::File(file.clone()),
        DiffLine::Hunk("@@ -0,0 +1 @@".to_owned()),
        DiffLine::Added("fn main() {}".to_owned()),
    ];
    diff.update(msg(&diff, ChangeWorkResult::Diff(Ok(lines))));
    let deleted = FileChange::new(FileName::new("a.rs"), Change::Deleted);
    let proposed = ProposedAction {
        skips_conflicts: true,
        conflicts: vec![FileName::new("b.rs")],
        ..ProposedAction::of(
            ChangesAct::Undo,
            ChangesId(7),
            "/p".to_owned(),
            vec![deleted],
        )
    };
    undo.update(msg(
        &undo,
        ChangeWorkResult::Planned(Ok(Box::new(proposed))),
    ));
    (chosen, diff, undo)
}

/// All states of the interface, by name.
fn states() -> Vec<(&'static str, App)> {
    let mut running = app();
    running.last_status = Some(Status::Exited { code: 101 });
    enters(&mut running, "cargo test");
    let mut queued = app();
    for command in ["cargo test", "git commit -m 'Wait for it'", "git push"] {
        enters(&mut queued, command);
    }
    enters(&mut running, "!!git log\n--oneline");
    running.running_jobs = 2;
    let mut refused = app();
    enters(&mut refused, "!ls");
    let entry = refused.bang.unwrap();
    let end = CallEnd::Refused("no shell".to_owned());
    refused.update(Msg::Ended {
        entry,
        end,
        now: Duration::ZERO,
    });
    enters(&mut refused, "!sleep 9");
    enters(&mut refused, "!ls");
    let mut sandboxed = app();
    sandboxed.sandbox.level = SandboxLevel::WorkspaceWrite;
    let mut with_question = app();
    with_question.sandbox.level = SandboxLevel::ReadOnly;
    let wanted = SandboxRequest {
        level: Some(SandboxLevel::WorkspaceWrite),
        network: Some(Network::On),
        hosts: Vec::new(),
        writable: vec!["~/.cargo".to_owned()],
        reason: "crates are downloaded".to_owned(),
    };
    let (request, answer) = ApprovalQuestion::of("cargo build", wanted);
    with_question.ask_to_leave_sandbox(request, Duration::ZERO);
    // The call must wait for as long as this is drawn.
    std::mem::forget(answer);
    let mut help = app();
    help.help = Some(crate::help::Help::default());
    let mut jobs = app();
    jobs.jobs = Some(JobsState::default());
    let mut typing = app();
    let line = "a long line that goes on and on, and is broken into rows where the terminal ends";
    typing.handle_event(
        &Event::Paste(format!("!{line}\nand a second")),
        Duration::ZERO,
    );
    let mut unfinished = app();
    unfinished.handle_event(&Event::Paste("echo ${x".to_owned()), Duration::ZERO);
    let mut leaving = app();
    (leaving.on_quit, leaving.running_jobs) = (OnQuit::Ask, 1);
    let ctrl_d = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL);
    leaving.handle_event(&Event::Key(ctrl_d), Duration::ZERO);
    let (chosen, diff, undo) = with_changes();
    vec![
        ("changes_chosen", chosen),
        ("changes_diff", diff),
        ("changes_undo", undo),
        ("idle", app()),
        ("running", running),
        ("queued", queued),
        ("refused", refused),
        ("sandboxed", sandboxed),
        ("asked", with_question),
        ("help", help),
        ("no_jobs", jobs),
        ("typing", typing),
        ("unfinished", unfinished),
        ("leaving", leaving),
    ]
}

#[test]
fn every_state_is_drawn_as_in_its_snapshot() {
    for (name, mut app) in states() {
        let mut all = String::new();
        for width in [40, 80, 120] {
            let _ = writeln!(all, "== {width}\n{}", drawn(&mut app, width, 24));
        }
        insta::assert_snapshot!(name, all);
    }
}

#[test]
fn hidden_lines_of_the_prompt_are_counted() {
    let mut app = app();
    let lines: Vec<String> = (0..30).map(|line| format!("echo line {line}")).collect();
    let text = format!("curl evil\n{}", lines.join("\n"));
    app.handle_event(&Event::Paste(text), Duration::ZERO);
    let screen = drawn(&mut app, 80, 24);
    assert!(screen.contains("── ↑ 19 more lines ──"), "{screen}");
    assert!(
        !screen.contains('❯') && screen.contains("⋮ echo line 18"),
        "{screen}"
    );
    // With the cursor at the beginning, the end is hidden.
    for _ in 0..30 {
        press(&mut app, KeyCode::Up);
    }
    let screen = drawn(&mut app, 80, 24);
    assert!(screen.contains("❯ curl evil"), "{screen}");
    assert!(
        screen.contains(" ↓ 19 more lines in the prompt "),
        "{screen}"
    );
}

#[test]
fn first_queued_commands_are_shown_and_the_others_counted() {
    let mut app = app();
    enters(&mut app, "sleep 9");
    for number in 1..=12 {
        enters(&mut app, &format!("make {number}"));
    }
    app.handle_event(&Event::Paste("rm x".to_owned()), Duration::ZERO);
    press(&mut app, KeyCode::F(3));
    let screen = drawn(&mut app, 80, 24);
    for (text, is_shown) in [
        ("⋯ $ make 1 ", true),
        ("⋯ $ make 4", true),
        ("make 5", false),
        ("… 9 more  ↑ takes the last one back", true),
    ] {
        assert_eq!(screen.contains(text), is_shown, "{text}\n{screen}");
    }
    for _ in 0..10 {
        app.queue.pop_front();
    }
    let screen = drawn(&mut app, 80, 24);
    assert!(
        screen.contains("⋯ trial $ rm x  ↑ takes it back"),
        "{screen}"
    );
}

#[test]
fn interface_is_drawn_at_any_size() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "one\ntwo").unwrap();
    let view = FileView::open(file.path()).unwrap();
    let mut pager = app();
    let mut state = PagerState::new(view, "artifact://0".to_owned(), "seq".to_owned());
    let LineSource::File(text) = state.source() else {
        panic!("the pager shows no file");
    };
    state.lines_loaded(pager_source::load(&text, LineRange::starting_at(1, 9)));
    pager.pager = Some(state);
    for (name, mut app) in states().into_iter().chain([("pager", pager)]) {
        for width in (0..30).chain([80, 300]) {
            for height in (0..12).chain([24, 90]) {
                let text = drawn(&mut app, width, height);
                assert!(!text.contains('\u{1b}'), "{name} at {width} × {height}");
            }
        }
    }
}
