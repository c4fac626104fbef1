use super::*;
use crate::app::App;
use crate::prompt_directory::PromptDirectory;
use agent_bash::core::Status;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn app(shown: &str, branch: &str) -> App {
    let directory = PromptDirectory {
        branch: Some(branch.to_owned()),
        ..PromptDirectory::for_tests(shown)
    };
    let mut app = App::new(Theme::plain(), None, directory, String::new());
    app.last_status = Some(Status::Exited { code: 0 });
    app
}

fn drawn(app: &App, width: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, 1)).unwrap();
    terminal
        .draw(|frame| draw_status(app, frame, frame.area()))
        .unwrap();
    let cells = terminal.backend().buffer().content();
    let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn long_names_are_shortened_before_parts_are_dropped() {
    let long = "/home/you/a/very/long/way/down/to/a/directory/and/one-more";
    for (shown, branch, width, wanted) in [
        (
            "~/p",
            "main",
            60,
            "~/p · ⎇ main · ✓ exit 0 ? help ctrl+d quit",
        ),
        (
            long,
            "main",
            80,
            "…/down/to/a/directory/and/one-more · ⎇ main · ✓ exit 0 ? help ctrl+d quit",
        ),
        (
            "~/p",
            "a-branch/with-a-name/that-is-longer-than-the-line-has-room-for",
            60,
            "~/p · ⎇ a-branch/with-a… · ✓ exit 0 ? help ctrl+d quit",
        ),
        (long, "main", 40, "…/and/one-more · ⎇ main · ✓ exit 0"),
        (long, "main", 12, "…/one-more"),
    ] {
        assert_eq!(drawn(&app(shown, branch), width), wanted);
    }
}

/// The parts about running jobs and held trials are dropped last.
#[test]
fn narrow_windows_show_waiting_trials_in_a_sandbox() {
    let mut app = app("/tmp/some/of/ledger", "main");
    app.sandbox.level = agent_bash::core::sandbox::SandboxLevel::WorkspaceWrite;
    app.held_trials = vec![agent_bash::core::changes::ChangesId(1)];
    app.running_jobs = 2;
    for (width, wanted) in [
        (
            100,
            "/tmp/some/of/ledger · ⎇ main · ✓ exit 0 · workspace_write, network off · 1 trial waits · 2 jobs",
        ),
        (
            80,
            "…/of/ledger · ⎇ main · ✓ exit 0 · workspace_write · 1 trial waits · 2 jobs",
        ),
        (60, "…/of/ledger · workspace_write · 1 trial waits · 2 jobs"),
        (40, "…/of/ledger · 1 trial waits · 2 jobs"),
        (30, "…/of/ledger · 1 trial waits"),
    ] {
        assert_eq!(drawn(&app, width), wanted, "{width}");
    }
    let line = drop_parts(
        state_parts(&app),
        USEFUL_DIRECTORY_COLUMNS - 1,
        &Theme::plain(),
    );
    assert_eq!(line.width(), 0);
}

#[test]
fn shorten_directories_keeps_the_end_of_each_directory() {
    for (columns, wanted) in [
        (40, "~/work/project/src · ! ~/other/place"),
        (30, "~/work/project/src · ! …/place"),
        (20, "…/src · ! …/place"),
    ] {
        let shown = shorten_directories("~/work/project/src · ! ~/other/place", columns);
        assert_eq!(shown, wanted);
    }
}

#[test]
fn status_shows_the_keys_that_apply_to_the_prompt() {
    let mut app = app("~", "main");
    app.is_safe_mode = true;
    assert!(drawn(&app, 80).contains("· safe mode"));
    app.prompt.replace("! ls", false);
    assert!(!drawn(&app, 80).contains("f3"));
    app.prompt.replace("!", false);
    assert!(
        !drawn(&app, 80).contains("f3"),
        "a bare `!` offers no trial"
    );
    app.prompt.replace("rm x", false);
    assert!(drawn(&app, 80).contains("f3 try it"));
    app.prompt.is_trial = true;
    assert!(drawn(&app, 80).contains("enter runs it as a trial"));
}
