//! The diff of a change set, and the questions about one.

use crate::dump::{drawn, dump_at_widths};
use agent_bash_core::changes::{Change, FileChange, FileName};
use agent_bash_render::regex::Regex;
use agent_bash_render::{DiffLine, DiffView, PagerPosition, Question, QuestionPart, Theme};

fn file(name: &str, change: Change) -> FileChange {
    FileChange::new(FileName::new(name), change)
}

fn changed(name: &str, before: u64, after: u64) -> FileChange {
    let mut file = file(name, Change::Changed);
    file.bytes = Some([before, after]);
    file
}

fn files() -> Vec<FileChange> {
    let moved = file("src/there.rs", Change::Created).renamed_from(FileName::new("here.rs"));
    vec![
        file("old\u{1b}[2J.rs", Change::Deleted),
        changed("src/a.rs", 120, 131),
        file("new.rs", Change::Created),
        moved,
        file("run.sh", Change::Mode),
    ]
}

fn lines() -> Vec<DiffLine> {
    let text = str::to_owned;
    let mut lines = Vec::new();
    for file in files() {
        if !lines.is_empty() {
            lines.push(DiffLine::Blank);
        }
        let name = file.name.path.clone();
        lines.push(DiffLine::File(file));
        match name.as_str() {
            "src/a.rs" => lines.extend([
                DiffLine::Hunk(text("@@ -1,3 +1,3 @@ fn main")),
                DiffLine::Context(text("\tlet a = 1;")),
                DiffLine::Removed(text(
                    "\tlet b = \"\u{202e}\"; // a line that is longer than there is room for on it",
                )),
                DiffLine::Added(text("\tlet b = \"\u{1b}[31m你好\";")),
            ]),
            "new.rs" => lines.push(DiffLine::Note(text("binary"))),
            "run.sh" => lines.push(DiffLine::Note(text("mode 100644 → 100755"))),
            _ => {}
        }
    }
    lines
}

fn assert_shown(name: &str, height: u16, draw: impl Fn(&mut ratatui::Frame<'_>)) {
    let all = dump_at_widths(|width| drawn(width, height, &draw));
    insta::assert_snapshot!(name, all);
}

#[test]
fn diff_is_shown_in_colour_from_any_line_and_column() {
    let theme = Theme::dark();
    let lines = lines();
    let view = DiffView {
        title: "changes://7",
        subtitle: "make \u{200b}install",
        lines: &lines,
        position: &PagerPosition::first(),
        keys: "u undo",
        pattern: None,
        matches: None,
        found_line: None,
        typed: None,
        count: None,
        message: None,
    };
    let mut aside = PagerPosition::first();
    (aside.first_line, aside.column) = (3, 12);
    let aside = DiffView {
        position: &aside,
        keys: "",
        ..view
    };
    let with_message = DiffView {
        message: Some("there is nothing to undo"),
        ..view
    };
    let empty = DiffView { lines: &[], ..view };
    let pattern = Regex::new("(?i)a.rs|LET B|n main|from").unwrap();
    let found = DiffView {
        pattern: Some(&pattern),
        matches: Some((3, 5)),
        found_line: Some(6),
        ..view
    };
    let typed = DiffView {
        typed: Some("/let"),
        ..view
    };
    for (name, view, height) in [
        ("diff", view, 19),
        ("diff_aside", aside, 8),
        ("diff_message", with_message, 6),
        ("diff_empty", empty, 4),
        ("diff_found", found, 19),
        ("diff_typed", typed, 4),
    ] {
        assert_shown(name, height, |frame| {
            view.render(frame.area(), frame.buffer_mut(), &theme);
        });
    }
}

#[test]
fn questions_show_the_decision_first() {
    let theme = Theme::dark();
    let all = files();
    let many = vec![file("x", Change::Created); 12];
    let conflict = [FileName::new("b\u{1b}.rs")];
    let change = [["network", "off", "on"], ["writable", "", "~/.cargo"]];
    let change = change.map(|row| row.map(str::to_owned));
    for (name, title, parts) in [
        (
            "ask_commit",
            "Commit what trial 7 held back?",
            &[
                QuestionPart::Summary("1 created, 1 changed, 1 deleted in /home/you/project"),
                QuestionPart::Files(&all, 4),
                QuestionPart::Script("make install"),
            ][..],
        ),
        (
            "ask_undo_the_rest",
            "Undo what can be undone of changes 7?",
            &[
                QuestionPart::Text("Changed since, and left as they are:"),
                QuestionPart::Conflicts(&conflict),
                QuestionPart::Files(&many, 0),
            ],
        ),
        (
            "ask_outside",
            "May this call leave the sandbox?",
            &[
                QuestionPart::Loosened(&change),
                QuestionPart::Text("Why: \u{1b}[8mcrates"),
                QuestionPart::Script("a\nb\nc\nd\ne\nf\ng"),
            ],
        ),
    ] {
        let question = Question {
            title,
            parts,
            yes: "do it",
            no: "leave it",
        };
        assert_shown(name, 20, |frame| {
            question.render(frame.area(), frame.buffer_mut(), &theme);
        });
    }
}
